//! Inputs nested 100,000 levels deep and inputs of 50 MB, for every kind of input of the binary.
//!
//! Must not know parsers. Invariant: whatever a file contains, the process ends with a documented exit code,
//! names the file, and takes little more memory than the file.

use std::fs;
use std::path::Path;

use loadline_e2e::loadline;
use loadline_e2e::process::Running;

/// Levels of nested inputs.
const DEEP: usize = 100_000;
/// Bytes of long inputs.
const LONG: usize = 50_000_000;
/// Maximum memory of any of these in bytes; the binary itself takes a tenth.
const MEMORY_MAX: u64 = 400 << 20;

/// A file that the binary reads.
struct Door {
    file: &'static str,
    /// The words of the command line before the file's name.
    before: &'static [&'static str],
    /// Those after it.
    after: &'static [&'static str],
    /// The possible contents of the file.
    inputs: &'static [Input],
}

/// The content of a file, with its name.
type Input = (&'static str, fn() -> String);

const YAML: &[Input] = &[
    ("flow", || "[".repeat(DEEP)),
    ("maps", || "{a: ".repeat(DEEP)),
    ("lists", || format!("{}x", "- ".repeat(DEEP))),
    ("keys", || "? ".repeat(DEEP)),
    ("aliases", aliases),
    ("long", || "a: 1\n".repeat(LONG / 5)),
];

const TOML: &[Input] = &[
    ("arrays", || format!("a = {}", "[".repeat(DEEP))),
    ("tables", || format!("a = {}", "{a=".repeat(DEEP))),
    ("dots", || format!("a{} = 1", ".a".repeat(DEEP))),
    ("long", || format!("a = [{}1]", "1,".repeat(LONG / 2))),
];

const JSON: &[Input] = &[
    ("arrays", || "[".repeat(DEEP)),
    ("objects", || "{\"a\":".repeat(DEEP)),
    ("unknown", || {
        format!("{{\"a\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP))
    }),
    ("blank", || " ".repeat(LONG)),
];

const JAVASCRIPT: &[Input] = &[
    ("arrays", || format!("const a = {}", "[".repeat(DEEP))),
    ("templates", || format!("const a = {}", "`${".repeat(DEEP))),
    ("groups", || {
        format!("RegExp({:?})", "(?:".repeat(DEEP) + &")".repeat(DEEP))
    }),
    ("text", || format!("const a = '{}' +", "x".repeat(LONG))),
    ("arrows", || format!("const a = {}1;", "a => ".repeat(DEEP))),
    ("branches", || "if (0) {} else ".repeat(DEEP) + ";"),
    ("functions", || {
        format!(
            "{}1{}",
            "(function(){return ".repeat(4_900),
            "})()".repeat(4_900)
        )
    }),
    ("parameters", || {
        format!("f = ({}) => 1;", "a = 1, ".repeat(DEEP))
    }),
    ("blocks", || "{ let a = 1; }".repeat(DEEP)),
];

const DOORS: &[Door] = &[
    Door {
        file: "suite.yaml",
        before: &["suite", "plan"],
        after: &[],
        inputs: YAML,
    },
    Door {
        file: "bench.yaml",
        before: &["target", "--config"],
        after: &[],
        inputs: YAML,
    },
    Door {
        file: "routes.toml",
        before: &["target", "--listen", "127.0.0.1:0", "--routes"],
        after: &[],
        inputs: TOML,
    },
    Door {
        file: "result.json",
        before: &["report"],
        after: &[],
        inputs: JSON,
    },
    Door {
        file: "result.json",
        before: &["compare"],
        after: &["result.json"],
        inputs: JSON,
    },
    Door {
        file: "config.json",
        before: &["run", "-q", "--config"],
        after: &["script.js"],
        inputs: JSON,
    },
    Door {
        file: "script.js",
        before: &["run", "-q"],
        after: &[],
        inputs: JAVASCRIPT,
    },
    Door {
        file: "script.ts",
        before: &["run", "-q"],
        after: &[],
        inputs: JAVASCRIPT,
    },
];

/// Each alias expands to ten of the previous one.
fn aliases() -> String {
    let first = "a0: &a0 [x]\n".to_owned();
    (1..12).fold(first, |text, n| {
        let tenfold = format!("*a{},", n - 1).repeat(10);
        format!("{text}a{n}: &a{n} [{tenfold}]\n")
    })
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn deep_and_long_files_are_refused_in_little_memory() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("script.js"), SCRIPT).expect("there is room");
    for door in DOORS {
        for (input, text) in door.inputs {
            let path = folder.path().join(door.file);
            fs::write(&path, text()).expect("there is room");
            let words = [door.before, &[door.file], door.after].concat();
            refuses(folder.path(), &words, input, door.file);
        }
        fs::write(folder.path().join("script.js"), SCRIPT).expect("there is room");
    }
}

const SCRIPT: &str = "export default function () {}";

fn refuses(folder: &Path, words: &[&str], input: &str, file: &str) {
    let (code, said, rss_max) = ended(folder, words);
    let what = format!("{words:?}, {input}: exit code {code:?}\n{said:.400}");
    assert!(matches!(code, Some(104 | 107 | 255)), "{what}");
    assert!(said.contains(file), "{what}");
    assert!(rss_max < MEMORY_MAX, "{rss_max} bytes of memory: {what}");
}

/// The words of a command line, its nested last one, and the text that its refusal must name.
type NestedOption = (&'static [&'static str], fn() -> String, &'static str);

const OPTIONS: &[NestedOption] = &[
    (&["bench", "--threshold"], brackets, "--threshold"),
    (
        &["bench", "--expect"],
        || format!("body~{}", groups()),
        "body~",
    ),
    (
        &["bench", "--expect"],
        || format!("json:{}", brackets()),
        "json:",
    ),
    (
        &["bench", "--observe"],
        || format!("log:none.log;match={}", groups()),
        "--observe",
    ),
    (&["hey", "-n", "1", "-c", "1", "-o"], actions, "nested"),
    (
        &["bombardier", "-n", "1", "-o"],
        || format!("path:{DEEP_TEMPLATE}"),
        "nested",
    ),
];

/// A file with template actions.
const DEEP_TEMPLATE: &str = "deep.template";
/// Number of levels that fit into a command line.
const DEEP_WORD: usize = 10_000;

fn brackets() -> String {
    "[(".repeat(DEEP_WORD)
}

fn groups() -> String {
    "(".repeat(DEEP_WORD) + &")".repeat(DEEP_WORD)
}

fn actions() -> String {
    "{{if 1}}".repeat(DEEP_WORD)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn nested_options_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join(DEEP_TEMPLATE), actions()).expect("there is room");
    for (words, value, named) in OPTIONS {
        let value = value();
        let words = [words, &[&*value, "http://127.0.0.1:1/"][..]].concat();
        let (code, said, rss_max) = ended(folder.path(), &words);
        let what = format!("{:.60?}: exit code {code:?}\n{said:.400}", words);
        assert!(matches!(code, Some(1 | 104)), "{what}");
        assert!(said.contains(named), "{what}");
        assert!(rss_max < MEMORY_MAX, "{rss_max} bytes of memory: {what}");
    }
}

/// The exit code, the messages, and the maximum memory of a finished command.
fn ended(folder: &Path, words: &[&str]) -> (Option<i32>, String, u64) {
    let mut command = loadline();
    command.current_dir(folder).args(words);
    let (output, rss_max) = Running::start(command).finish_measured();
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code(), said, rss_max)
}

/// A file opened by a script is held once by the process and once by the virtual user that opened it; so is a
/// file opened from an archive.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn files_and_archives_are_held_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let script = format!(
        "const data = open('data.bin', 'b');
         export default function () {{ if (data.byteLength !== {LONG}) throw 'it is cut' }}"
    );
    fs::write(folder.path().join("script.js"), script).expect("there is room");
    fs::write(folder.path().join("data.bin"), vec![b'x'; LONG]).expect("there is room");
    let (_, _, alone) = ended(folder.path(), &["run", "-q", "missing.js"]);
    for words in [
        &["run", "-q", "script.js"][..],
        &["archive", "-O", "script.tar", "script.js"],
        &["run", "-q", "script.tar"],
        &["inspect", "script.tar"],
    ] {
        let (code, said, rss_max) = ended(folder.path(), words);
        assert_eq!(code, Some(0), "{words:?}: {said}");
        let own = rss_max.saturating_sub(alone);
        let most = LONG as u64 * 5 / 2;
        assert!(own < most, "{words:?}: {own} bytes");
    }
}
