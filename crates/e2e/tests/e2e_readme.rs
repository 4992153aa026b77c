//! The terminal sessions in the README, compared with the output of their command lines.
//!
//! Must not know the meaning of a line. Invariants: numbers, units of time and footnote marks differ between
//! runs, everything else equals the README; the text of a verdict on a run is compared with the stored run
//! shown in the README.

use std::fs;
use std::path::Path;

use loadline_e2e::k6::repository;
use loadline_e2e::target::Target;
use loadline_e2e::{loadline, loadline_under, run_to_end};
use regex::Regex;

/// The port on 127.0.0.1 of the service that the reader has started.
const PORT: &str = "8080";
/// Changes that make runs short, in command lines and in the file that one of them makes.
const SHORTER: [(&str, &str); 4] = [
    ("-z 5s", "-z 1s"),
    ("--duration 2s", "--duration 1s"),
    ("duration: '30s'", "duration: '1s'"),
    ("sleep(1)", "sleep(0.1)"),
];
/// Represents omitted text.
const LEFT_OUT: char = '…';
/// From here on the output depends on the run only.
const VERDICT: &str = "Verdict";

/// The terminal sessions of the README: command lines, each with the lines below it.
fn sessions() -> Vec<Vec<(String, Vec<String>)>> {
    let text = fs::read_to_string(repository().join("README.md")).expect("the README");
    let fenced = text.split("\n```").skip(1).step_by(2);
    let blocks = fenced.filter_map(|block| block.strip_prefix('\n'));
    let blocks = blocks.filter(|block| block.starts_with("$ "));
    blocks.map(session).collect()
}

fn session(block: &str) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut lines = block.lines();
    while let Some(line) = lines.next() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => {
                let mut command = command.to_owned();
                while command.ends_with('\\') {
                    command.pop();
                    command.push_str(lines.next().expect("it goes on").trim_start());
                }
                all.push((command, Vec::new()));
            }
            (None, Some((_, printed))) => printed.push(line.to_owned()),
            (None, None) => panic!("printed by nothing: {line}"),
        }
    }
    all
}

fn shortened(text: &str, target: &Target) -> String {
    let url = target.url("");
    let port = url.trim_end_matches('/').rsplit(':').next();
    let text = text.replace(PORT, port.expect("a port"));
    let short = SHORTER.iter();
    short.fold(text, |text, (long, short)| text.replace(long, short))
}

/// The output of a command line on a terminal.
fn printed(line: &str, folder: &Path) -> String {
    let script = format!("bin=$0; loadline() {{ \"$bin\" \"$@\"; }}; {{ {line}; }} 2>&1");
    let mut command = loadline_under(&script);
    command
        .current_dir(folder)
        .env("LOADLINE_OBSERVE_BASELINE", "200ms")
        .env("LOADLINE_OBSERVE_TAIL", "200ms");
    let output = run_to_end(command);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{line}\n{told}");
    told
}

/// A line without the parts that differ between runs.
fn shape(line: &str) -> String {
    let replace = |text: &str, what: &str, by: &str| {
        let what = Regex::new(what).expect("an expression");
        what.replace_all(text, by).into_owned()
    };
    let line = replace(line, "[¹²³⁴⁵⁶⁷⁸⁹⁰]", "");
    let line = replace(&line, r"\b\d[\d,.]*[KM]?", "#");
    let line = replace(&line, r"#( ?)(ns|µs|ms|s)\b", "#${1}t");
    let line = replace(&line, r"\.{3,}", "...");
    replace(&line, r"\s+", " ").trim().to_owned()
}

/// Whether a printed line matches a line of the README, which may omit parts.
fn is_as(printed: &str, wanted: &str) -> bool {
    let wanted = shape(wanted);
    let mut parts = wanted.split(LEFT_OUT).map(str::trim);
    let printed = shape(printed);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty() || wanted.ends_with(LEFT_OUT)
}

/// Lines about the run itself, which may differ.
fn is_of_the_run(line: &str) -> bool {
    line.starts_with(|c: char| "¹²³⁴⁵⁶⁷⁸⁹".contains(c))
}

/// Asserts that the lines shown in the README are printed, in order.
fn assert_prints(command: &str, shown: &[String], told: &str) {
    let mut lines = told.lines();
    let shown = shown.iter().map(|line| line.trim_end());
    for wanted in shown {
        if wanted.trim() == LEFT_OUT.to_string() || is_of_the_run(wanted) {
            continue;
        }
        let found = lines.any(|line| is_as(line, wanted));
        assert!(
            found,
            "{command} does not print {wanted:?} (any more):\n{told}"
        );
        if wanted == VERDICT {
            return;
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_the_readme_shows_is_printed() {
    let sessions = sessions();
    assert_eq!(sessions.len(), 4, "{sessions:#?}");
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    // The last one shows a service with its own law, and a stored run.
    for (command, shown) in sessions.iter().take(3).flatten() {
        let line = shortened(command, &target);
        let told = printed(&line, folder.path());
        assert_prints(&line, shown, &told);
        if command == "loadline new" {
            let script = folder.path().join("script.js");
            let text = fs::read_to_string(&script).expect("it was made");
            fs::write(&script, shortened(&text, &target)).expect("there is room");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_verdict_of_the_readme_is_that_of_its_picture() {
    let sessions = sessions();
    let (command, shown) = &sessions.last().expect("sessions")[0];
    let made = fs::read_to_string(repository().join("docs/images/README.md")).expect("a page");
    let url = command.split('\'').nth(1).expect("a URL in quotes");
    assert!(made.contains(url), "{url} is not what the picture is of");
    let mut report = loadline();
    report
        .args(["report", "--rejudge"])
        .arg(repository().join("crates/e2e/pages/ramp.json"));
    let output = run_to_end(report);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    // Lines may be broken in other places.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: Vec<&str> = shown.iter().map(|line| line.trim()).collect();
    let shown = shown.join("\n");
    let parts = shown
        .split(LEFT_OUT)
        .map(words)
        .filter(|part| !part.is_empty());
    for part in parts {
        assert!(words(&told).contains(&part), "{part}\nis not in\n{told}");
    }
}

#[test]
fn numbers_and_footnotes_make_no_shape() {
    assert!(is_as(
        "   50   1,234.5 (1 to 2) ¹  0.48 ms  9 8  0.00%",
        "   10   76891 (39520 to 118345) ² ³  7 µs … 1.00%"
    ));
    assert!(is_as("  p99   2.67 ms", "  p99     357 µs"));
    assert!(!is_as("  p99   2.67 ms", "  p50     357 µs"));
    assert!(!is_as("Goodput  1/s  complete", "Goodput  2/s"));
    assert!(is_as("http_reqs.......: 3", "http_reqs...: 300"));
}
