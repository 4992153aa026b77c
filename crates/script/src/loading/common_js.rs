//! A CommonJS file as a module.
//!
//! Must not know where it came from. Invariant: the file keeps its line numbers, so that stack traces name the
//! right ones.

use std::collections::BTreeSet;

/// The export that holds `module.exports` itself.
pub(crate) const WHOLE: &str = "__exports";

/// Inserted before the file on its first line.
pub(super) const BEFORE: &str = "const $m=import.meta.module();(function(module,exports,require){";

/// The file name of the lines around the file in stack traces: not an address, so that traces omit them.
pub(super) const AROUND: &str = "CommonJS";

/// The module of a CommonJS file.
///
/// It exports `module.exports` as [`WHOLE`]; as `default`, like k6, its property `default` or, without one, the
/// whole; and those of its other properties that are in `names`. `import.meta.module()` returns the object that
/// is its `module`, and so registers it for files that require it in a cycle.
pub(super) fn as_module<'a>(code: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut exports = String::new();
    for (number, name) in names.filter(|name| is_exportable(name)).enumerate() {
        exports.push_str(&format!(
            "const $n{number}=$x?.{name};export {{$n{number} as {name}}};"
        ));
    }
    format!(
        "{BEFORE}{code}\n}})\
         .call($m.exports,$m,$m.exports,import.meta.require);\
         const $x=$m.exports;export {{$x as {WHOLE}}};\
         export default $x!==null&&typeof $x==='object'&&'default' in $x?$x.default:$x;{exports}"
    )
}

/// What is added to a module that stands for a CommonJS file: what is asked of it and `exports` lacks is
/// undefined, and without a `default` it is its own.
pub(super) fn lacking<'a>(
    full_name: &str,
    exports: &BTreeSet<String>,
    names: impl Iterator<Item = &'a str>,
) -> String {
    let mut code = "\n".to_owned();
    if !exports.contains("default") {
        code.push_str(&format!(
            "import * as $whole from {full_name:?};export default $whole;"
        ));
    }
    let lacks = |name: &&str| is_exportable(name) && !exports.contains(*name);
    for (number, name) in names.filter(lacks).enumerate() {
        code.push_str(&format!("let $n{number};export {{$n{number} as {name}}};"));
    }
    code
}

fn is_exportable(name: &str) -> bool {
    let mut letters = name.chars();
    let is_name = letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$'))
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
    is_name && !matches!(name, "default" | WHOLE)
}
