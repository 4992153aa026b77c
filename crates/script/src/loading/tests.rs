//! Loading, against files in memory.
//!
//! Must not touch a disk or a network. Invariant under test: names, files and errors are handled as in k6.

use std::collections::BTreeMap;
use std::sync::Arc;

use url::Url;

use super::{Bytes, Fetch, FetchError, Libraries, Sources, entry_url};
use crate::program::ModuleSources;
use crate::testing::{Rehearsal, bare};
use crate::vu::Ending;

mod encoding;
mod limits;

struct Memory(BTreeMap<&'static str, &'static str>);

impl Fetch for Memory {
    fn read(&self, url: &Url) -> Result<Bytes, FetchError> {
        match self.0.get(url.as_str()) {
            Some(&"(folder)") => Err(FetchError::IsDirectory),
            Some(text) => Ok(text.as_bytes().to_vec().into()),
            None if url.scheme() == "https" => Err(FetchError::Failed("no route".to_owned())),
            None => Err(FetchError::NotFound),
        }
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).expect("it is an address")
}

fn sources(files: &[(&'static str, &'static str)]) -> Sources {
    let fetch = Memory(files.iter().copied().collect());
    Sources::new(
        Box::new(fetch),
        url(files[0].0),
        url("file:///here/"),
        Libraries::Embedded,
    )
}

/// The error from loading a script with this text.
pub(super) fn complaint(name: &'static str, text: &'static str) -> String {
    let error = sources(&[(name, text)]).load_entry();
    error.expect_err("it does not load").message
}

/// The console output of a script with these files.
fn console(script: &str, files: &[(&str, &str)]) -> Vec<String> {
    let rehearsal = files
        .iter()
        .fold(Rehearsal::new(script), |rehearsal, (name, text)| {
            rehearsal.file(name, text)
        });
    let rehearsed = rehearsal.run();
    let failures = rehearsed.endings.iter().filter_map(|ending| match ending {
        Ending::Failed(failure) => Some(failure.to_string()),
        Ending::Done(_) | Ending::Cancelled => None,
    });
    let lines = rehearsed.log();
    let lines = lines.iter().map(|line| bare(line).to_owned());
    lines.chain(failures).collect()
}

#[test]
fn names_are_resolved_as_k6_does() {
    let sources = sources(&[("file:///a/b/main.js", "")]);
    let from = |base: &str, name: &str| match sources.resolve(base, name) {
        Ok(found) => found,
        Err(error) => error.message,
    };
    let entry = "file:///a/b/main.js";
    assert_eq!(from(entry, "./x.js"), "file:///a/b/x.js");
    assert_eq!(from(entry, "../x.js"), "file:///a/x.js");
    assert_eq!(from(entry, "/x.js"), "file:///x.js");
    assert_eq!(from(entry, "./x.js?a#b"), "file:///a/b/x.js%3Fa%23b");
    assert_eq!(from(entry, "./x%20y.js"), "file:///a/b/x%20y.js");
    assert_eq!(from(entry, "./x\\y.js"), "file:///a/b/x%5Cy.js");
    assert_eq!(from(entry, "file:///x/../y.js"), "file:///y.js");
    assert_eq!(
        from("https://h/a/m.js", "./n.js?v=1"),
        "https://h/a/n.js?v=1"
    );
    assert_eq!(from("https://h/a/m.js", "/n.js"), "https://h/n.js");
    assert_eq!(from(entry, "k6"), "k6");
    assert_eq!(
        from(entry, "http://h/x.js"),
        "only supported schemes for imports are file and https, http://h/x.js has `http`"
    );
    assert_eq!(
        from(entry, "lodash"),
        "The moduleSpecifier \"lodash\" couldn't be recognised as something k6 supports."
    );
    assert!(from(entry, "github.com/a/b.js").starts_with("github.com 'special' urls"));
    assert_eq!(from(entry, ""), "local or remote path required");
}

#[test]
fn a_script_from_standard_input_sees_the_working_directory() {
    let sources = sources(&[
        ("file:///-", "import './x.js'"),
        ("file:///here/x.js", "export const a = 1"),
    ]);
    assert_eq!(sources.load_entry(), Ok(()));
}

#[test]
fn entries_are_named_by_path_address_or_dash() {
    let folder = url("file:///here/");
    let named = |name: &str| entry_url(&folder, name).map(String::from);
    assert_eq!(named("-").as_deref(), Ok("file:///-"));
    assert_eq!(named("a.js").as_deref(), Ok("file:///here/a.js"));
    assert_eq!(named("../a b.js").as_deref(), Ok("file:///a%20b.js"));
    assert_eq!(named("a%20b.js").as_deref(), Ok("file:///here/a%2520b.js"));
    assert_eq!(named("a\\b?.js").as_deref(), Ok("file:///here/a%5Cb%3F.js"));
    assert_eq!(
        named(" a\n.js\t").as_deref(),
        Ok("file:///here/%20a%0A.js%09")
    );
    assert_eq!(named("//x/a.js").as_deref(), Ok("file:///x/a.js"));
    assert_eq!(named("/x/a.js").as_deref(), Ok("file:///x/a.js"));
    assert_eq!(named("https://h/a.js").as_deref(), Ok("https://h/a.js"));
    assert!(named("ftp://h/a.js").is_err());
}

#[test]
fn each_character_of_a_path_that_is_opened_means_itself() {
    let script =
        "for (const path of ['./a%20b.csv', './100%.csv', './c\\\\d.csv']) console.log(open(path));
        export default function () {}";
    let files = [
        ("a%2520b.csv", "escaped"),
        ("100%25.csv", "percent"),
        ("c%5Cd.csv", "backslash"),
    ];
    let said = console(script, &files);
    assert_eq!(said, ["escaped", "percent", "backslash"]);
}

#[test]
fn what_is_missing_is_told_in_k6s_words() {
    let missing = complaint("file:///a.js", "import './nope.js'");
    assert!(
        missing.starts_with("The moduleSpecifier \"./nope.js\" couldn't be found on local disk.")
    );
    let remote = complaint("file:///a.js", "import 'https://h/x.js'");
    assert_eq!(
        remote,
        "The moduleSpecifier \"https://h/x.js\" couldn't be retrieved from the resolved url \
         \"https://h/x.js\". Error : \"no route\""
    );
    let folder = sources(&[("file:///a.js", "import './x'"), ("file:///x", "(folder)")]);
    let error = folder.load_entry().expect_err("x is a folder");
    assert_eq!(error.message, "read /x: is a directory");
}

#[test]
fn syntax_errors_name_line_and_column_as_k6_does() {
    let cases = [
        (
            "export default function(){\n  let x = ;\n}",
            "2:11 Unexpected token ;",
        ),
        ("const a: number = 1;", "1:8 Unexpected token :"),
        (
            "export default function(){ foo bar; }",
            "1:32 Unexpected identifier",
        ),
        (
            "export default function(){ \n",
            "2:1 Unexpected end of input",
        ),
        ("var a = \"abc\nx", "1:9 Unexpected token ILLEGAL"),
        (
            "export default function(){ if (x { } }",
            "1:34 Unexpected token {",
        ),
    ];
    for (text, wanted) in cases {
        let wanted = format!("file:///a.js: Line {wanted}");
        assert_eq!(complaint("file:///a.js", text), wanted, "{text}");
    }
    let cases = [
        (
            "export default function(): void {\n  let x: number = ;\n}",
            "2:18 Unexpected \";\"",
        ),
        ("const a = \"x\n", "1:10 Unterminated string literal"),
    ];
    for (text, wanted) in cases {
        let wanted = format!("file:///a.ts: Line {wanted}");
        assert_eq!(complaint("file:///a.ts", text), wanted, "{text}");
    }
}

/// Code that only looks like a repeated declaration.
#[test]
fn names_may_be_used_again_where_the_language_says_so() {
    for text in [
        "var a; var a; export const b = a;",
        "export function f(a) { var a; { let a; } try {} catch (a) { var a; } }",
        "module.exports = { a: 1, a: 2 }; function f() {} function f() {} var f, exports;",
        "export class A { a() {} a() {} static a() {} }",
        "import k6, { check } from 'k6'; { const check = 1, k6 = 2; } export const f = (check) => check;",
        "{ function g() {} function g() {} }",
        "if (module) { return; }",
        "export const f = () => { return () => { return 1; }; }, o = { get a() { return 1; } };",
    ] {
        let sources = sources(&[("file:///a.js", text)]);
        assert_eq!(sources.load_entry(), Ok(()), "{text}");
    }
}

#[test]
fn no_module_is_read_after_the_seal() {
    let entry = "file:///a/main.js";
    let sources = sources(&[
        (entry, "import './one.js'"),
        ("file:///a/one.js", ""),
        ("file:///a/two.js", ""),
    ]);
    assert_eq!(sources.load_entry(), Ok(()));
    let load = |specifier: &str| {
        let name = sources.resolve(entry, specifier)?;
        sources.load(&name).map(drop)
    };
    let missing = load("./missing.js").expect_err("there is none");
    sources.seal();
    assert_eq!(load("./missing.js"), Err(missing));
    assert_eq!(load("./one.js"), Ok(()));
    assert_eq!(
        load("./two.js").expect_err("it is too late").message,
        "the module \"./two.js\" was not previously resolved during initialization (__VU==0)"
    );
    assert_eq!(sources.recorded().files.len(), 2);
}

#[test]
fn files_are_opened_from_the_folder_of_the_entry_and_only_before_the_seal() {
    let sources = sources(&[
        ("file:///a/main.js", ""),
        ("file:///a/one.txt", "1"),
        ("file:///a/two.txt", "2"),
        ("file:///a/sub/one.txt", "sub"),
        ("file:///a/folder", "(folder)"),
    ]);
    let open = |path: &str| match sources.open(None, path) {
        Ok(file) => String::from_utf8_lossy(&file.bytes).into_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(open("one.txt"), "1");
    assert_eq!(open("/a/one.txt"), "1");
    let below = sources.open(Some("file:///a/sub/x.js"), "./one.txt");
    assert_eq!(
        below.as_ref().map(|file| &*file.bytes),
        Ok(b"sub".as_slice())
    );
    let foreign = |asking: &str, path: &str| sources.foreign_folder(None, asking, path);
    let warned = Some("file:///a/".to_owned());
    assert_eq!(foreign("file:///a/sub/x.js", "./one.txt"), warned);
    assert_eq!(foreign("file:///a/main.js", "./one.txt"), None);
    assert_eq!(foreign("file:///a/beside.js", "sub/one.txt"), None);
    assert_eq!(foreign("file:///a/sub/x.js", "/a/one.txt"), None);
    assert_eq!(open("no.txt"), "stat /a/no.txt: no such file or directory");
    assert_eq!(
        open("folder"),
        "open() can't be used with directories, path: \"/a/folder\""
    );
    sources.seal();
    assert_eq!(foreign("file:///a/sub/x.js", "./one.txt"), None);
    assert_eq!(open("file:///a/one.txt"), "1");
    assert_eq!(
        open("two.txt"),
        "open() can't be used with files that weren't previously opened during initialization \
         (__VU==0), path: \"/a/two.txt\""
    );
    let recorded: Vec<_> = sources
        .recorded()
        .files
        .into_keys()
        .map(String::from)
        .collect();
    assert_eq!(recorded, ["file:///a/one.txt", "file:///a/sub/one.txt"]);
}

#[test]
fn typescript_keeps_its_lines_and_columns() {
    let text = "enum Color { Red, Green = 'g' }\n\
                interface P {\n  a: number;\n}\n\
                class A<T> { constructor(private readonly q: number) {} get(): number { return this.q } }\n\
                import type { Q } from './types.ts';\n\
                import { Unused } from './unused.ts';\n\
                const p = ({ a: `x${ 1 as number }\n  y` } as unknown) as P;\n\
                export const seen: string = [Color.Red, Color.Green, new A<P>(4).get(), p!.a].join();\n\
                throw new Error('at');";
    let loaded = sources(&[("file:///a.ts", text)]);
    let code: Arc<str> = loaded.load("file:///a.ts").expect("it is TypeScript");
    let lines: Vec<&str> = code.lines().collect();
    assert!(lines[7].starts_with("const p="), "{code}");
    assert!(lines[9].starts_with("export const seen="), "{code}");
    assert_eq!(lines[10].find("Error"), Some("throw new ".len()), "{code}");
    assert!(!code.contains("unused.ts"), "{code}");
}

#[test]
fn typescript_runs() {
    let lines = console(
        "import { seen } from './lib.ts'; console.log(seen); export default function() {}",
        &[(
            "lib.ts",
            "namespace N { export const a = 1 } enum E { X, Y }\n\
             class B { constructor(public v: number) {} }\n\
             export const seen: string = `${N.a} ${E.Y} ${E[0]} ${new B(3).v}`;",
        )],
    );
    assert_eq!(lines, ["1 1 X 3"]);
}

#[test]
fn common_js_is_imported_in_every_way() {
    let lines = console(
        "import d from './c.js'; import * as c from './c.js'; import { a, nope } from './c.js';\n\
         import { a as again } from './c.js'; import f from './f.js';\n\
         console.log(d, c.a, c.default, a, nope, again, typeof f, require('./c.js') === c);\n\
         export default function() {}",
        &[
            ("c.js", "module.exports = { a: 1, default: 7 }"),
            ("f.js", "module.exports = function() {}; return;"),
        ],
    );
    assert_eq!(lines, ["7 1 7 1 undefined 1 function true"]);
}

#[test]
fn require_sees_the_file_that_it_is_written_in_and_runs_a_file_once() {
    let lines = console(
        "import { n } from './once.js'; const sub = require('./sub/a.js');\n\
         console.log(n, require('./once.js').n, sub.own, sub.load('./b.js').name);\n\
         export default function() {}",
        &[
            ("once.js", "console.log('ran'); export const n = {}.x ?? 5;"),
            (
                "sub/a.js",
                "exports.own = require('./b.js').name; exports.load = (n) => require(n);",
            ),
            ("sub/b.js", "exports.name = 'sub/b';"),
        ],
    );
    assert_eq!(lines, ["ran", "5 5 sub/b sub/b"]);
}

#[test]
fn files_that_require_each_other_see_what_is_there_so_far() {
    let lines = console(
        "const a = require('./a.js'); console.log(a.early, a.seen, a.late); exports.default = () => {};",
        &[
            (
                "a.js",
                "exports.early = 1; exports.seen = require('./b.js').seen; exports.late = 2;",
            ),
            (
                "b.js",
                "const a = require('./a.js'); exports.seen = `${a.early} ${a.late}`;",
            ),
        ],
    );
    assert_eq!(lines, ["1 1 undefined 2"]);
}

#[test]
fn json_is_imported_and_required() {
    let lines = console(
        "import d from './d.json'; console.log(d.a, require('./d.json').a); export default () => {};",
        &[("d.json", "{\"a\": [1]}")],
    );
    assert_eq!(lines, ["[ 1 ] [ 1 ]"]);
    let error = complaint("file:///d.json", "{\"a\"");
    assert!(error.starts_with("file:///d.json is not JSON:"), "{error}");
}

#[test]
fn open_looks_from_the_module_that_is_being_run() {
    let lines = console(
        "import { here, own } from './sub/m.js'; console.log(here(), own, require('./sub/c.js').own);\n\
         export default function() {}",
        &[
            ("f.txt", "root"),
            ("sub/f.txt", "sub"),
            (
                "sub/m.js",
                "export function here() { return open('f.txt') } export const own = here();",
            ),
            ("sub/c.js", "exports.own = open('./f.txt')"),
        ],
    );
    let warned =
        "warning open() was used and is currently relative to 'file:///', but in the future it";
    assert!(lines[0].starts_with(warned), "{lines:?}");
    assert_eq!(lines[1..], ["root sub sub"]);
}

/// As under k6, whose engine lets a module do that; places stay.
#[test]
fn a_function_that_is_declared_again_replaces_the_first() {
    for script in [
        "function a() { return 1; }\nfunction a() { return 2; }\n",
        "export function a() { return 1; }\nfunction a() { return 2; }\n",
        "function a() {\n return 1; } export function a() { return 2; }\n",
    ] {
        let script = format!("console.log(a());\n{script}export default () => {{}};");
        assert_eq!(console(&script, &[]), ["2"], "{script}");
    }
    let text = "import 'k6/http'; function a() {}\n async function a() {}";
    let told = complaint("file:///a.js", text);
    let place = "SyntaxError: Identifier 'a' has already been declared at file:///a.js:2:";
    assert!(told.starts_with(place), "{told}");
    let twice = "export function a() {} export function a() {}";
    let told = "SyntaxError: Duplicate export name a";
    assert_eq!(complaint("file:///a.js", twice), told);
}

#[test]
fn module_in_an_ecmascript_module_is_refused() {
    let lines = console(
        "try { module.exports = 1 } catch (e) { console.log(e.message.slice(0, 46)) }\n\
         export default function() {}",
        &[],
    );
    assert_eq!(lines, ["you are trying to access identifier \"module\", "]);
}

/// Debug builds need more stack than others: what passes here passes there.
#[test]
fn deep_scripts_are_read_and_deeper_ones_refused() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("let x = {}1{};", open.repeat(levels), close.repeat(levels))
    };
    let texts = [
        nested("(", ")", 9_000),
        nested("{a:", "}", 4_900),
        nested("[", "]", 9_000),
        nested("`${", "}`", 4_000),
        nested("!", "", 9_000),
        nested("a=>", "", 3_000),
        nested("0?1:", "", 4_500),
        nested("1+", "", 20_000),
        format!("{}1;", "if(1)".repeat(5_000)),
        format!("{}{}", "{".repeat(9_000), "}".repeat(9_000)),
    ];
    for text in texts {
        for name in ["deep.js", "deep.ts"] {
            let begin = &text[..40];
            let script =
                format!("import './{name}'; export default function () {{ console.log(1) }}");
            let text = format!("{text} export {{}};");
            let said = console(&script, &[(name, &text)]);
            assert_eq!(said, ["1"], "{name} {begin}");
        }
    }
    let text = nested("(", ")", 20_000);
    for name in ["deep.js", "deep.ts"] {
        let said = console(&format!("import './{name}'"), &[(name, &text)]);
        assert!(said[0].contains("/deep."), "{said:?}");
        assert!(
            said[0].contains("Line 1:10008 the code is nested more than 10000"),
            "{said:?}"
        );
    }
}

#[test]
fn a_name_that_a_module_lacks_is_told_in_k6s_words() {
    let files = [
        ("lib.js", "export const a = 1;"),
        (
            "b.js",
            "export * from './lib.js'; export * from './lib2.js';",
        ),
        ("lib2.js", "export const a = 2;"),
    ];
    let told = |script: &str| console(script, &files).join("; ");
    for (script, why) in [
        (
            "import { nope } from './lib.js'; export default function () {}",
            "The requested module \"./lib.js\" does not provide an export named \"nope\"",
        ),
        (
            "import { a } from './b.js'; export default function () {}",
            "The requested module \"./b.js\" contains conflicting star exports for name \"a\"",
        ),
        (
            "let a = 1; let a = 2; export default function () {}",
            "Identifier 'a' has already been declared",
        ),
    ] {
        assert!(told(script).contains(why), "{}", told(script));
    }
}
