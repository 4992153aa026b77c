//! Functions that a module declares again, which k6's engine lets it do: the last one holds.
//!
//! Must not know files. Invariant: what stays keeps its line and column.

use std::collections::HashMap;

use oxc::ast::ast::{Declaration, ExportDefaultDeclarationKind, Function, Program, Statement};
use oxc::span::{GetSpan, Span};

/// A function at the top of a module.
struct Declared<'a> {
    name: &'a str,
    /// Of the whole statement.
    span: Span,
    /// What exports the name once the function is gone; empty: nothing does.
    export: String,
}

/// The text of a module without the functions that a later one of the same name replaces; `None`: there are none.
pub(super) fn without_replaced(program: &Program<'_>, text: &str) -> Option<String> {
    if !program.source_type.is_module() {
        return None;
    }
    let declared: Vec<Declared<'_>> = program.body.iter().filter_map(declared).collect();
    let last: HashMap<&str, Span> = declared.iter().map(|one| (one.name, one.span)).collect();
    let replaced = declared.iter().filter(|one| last[one.name] != one.span);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut left = None;
    for Declared { span, export, .. } in replaced {
        let left = left.get_or_insert_with(|| text.as_bytes().to_vec());
        let place = &mut left[span.start as usize..span.end as usize];
        // Where a line ends between the export's keywords, it is told that the name is there twice.
        if place.iter().take(export.len()).any(is_end) {
            return None;
        }
        for byte in place.iter_mut().filter(|byte| !is_end(byte)) {
            *byte = b' ';
        }
        place
            .get_mut(..export.len())?
            .copy_from_slice(export.as_bytes());
    }
    left.and_then(|left| String::from_utf8(left).ok())
}

fn declared<'a>(statement: &'a Statement<'_>) -> Option<Declared<'a>> {
    let (function, export) = match statement {
        Statement::FunctionDeclaration(function) => (&**function, ""),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::FunctionDeclaration(function) => (&**function, "name"),
            _ => return None,
        },
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => (&**function, "default"),
            _ => return None,
        },
        _ => return None,
    };
    let name = plain_name(function)?;
    Some(Declared {
        name,
        span: statement.span(),
        export: match export {
            "" => String::new(),
            "name" => format!("export{{{name}}};"),
            _ => format!("export{{{name} as default}};"),
        },
    })
}

/// The name of a function that k6's engine lets a module declare again.
fn plain_name<'a>(function: &'a Function<'_>) -> Option<&'a str> {
    let name = function.id.as_ref()?.name.as_str();
    (!function.r#async && !function.generator).then_some(name)
}
