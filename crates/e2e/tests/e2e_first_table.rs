//! The tutorials, line by line, as their readers type them.
//!
//! Must not know more than the tutorials of docs/, except for the changes that make their runs short.
//! Invariant: a command of a page that fails, or a file of it that cannot be run, fails the test.

use std::path::Path;

use loadline_e2e::k6::repository;
use loadline_e2e::target::Target;
use loadline_e2e::{loadline_under, run_to_end};

/// The port on 127.0.0.1 of the service that the reader has started.
const PORT: &str = "8080";
/// Changes that make the page's runs short, in files and in command lines.
const SHORTER: [(&str, &str); 7] = [
    (
        "suite init http",
        "suite init --vus 10 --duration 1s --repeat 1 http",
    ),
    ("duration: 10s", "duration: 200ms"),
    ("repeat: 3", "repeat: 1"),
    ("-z 10s", "-z 1s"),
    ("--probe 10s", "--probe 1s"),
    ("--to 1000", "--to 100"),
    ("duration: '10s'", "duration: '1s'"),
];

/// Fenced blocks of a page with their languages.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

fn shortened(text: &str, target: &Target) -> String {
    let url = target.url("");
    let port = url.trim_end_matches('/').rsplit(':').next();
    let text = text.replace(PORT, port.expect("a port"));
    let short = SHORTER.iter();
    short.fold(text, |text, (long, short)| text.replace(long, short))
}

/// Runs a line in a shell in which `loadline` is the binary under test.
fn typed(line: &str, folder: &Path) -> String {
    let script = format!("bin=$0; loadline() {{ \"$bin\" \"$@\"; }}; {line}");
    let mut command = loadline_under(&script);
    command
        .current_dir(folder)
        .env("LOADLINE_OBSERVE_BASELINE", "200ms")
        .env("LOADLINE_OBSERVE_TAIL", "200ms");
    let output = run_to_end(command);
    let told = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0), "{line}\n{told}");
    told
}

/// The file name in a file's first line, in a comment of its language.
fn file_name<'a>(text: &'a str, language: &str) -> &'a str {
    let (begin, end) = match language {
        "js" => ("//", ""),
        "xml" => ("<!--", "-->"),
        _ => ("#", ""),
    };
    let line = text.lines().next().expect("a first line");
    let name = line
        .strip_prefix(begin)
        .and_then(|line| line.strip_suffix(end));
    name.expect("a file's name").trim()
}

/// Follows a page's instructions in `folder`, and returns the output of its commands.
fn followed(page: &str, folder: &Path) -> String {
    let page = repository().join(page);
    let page = std::fs::read_to_string(page).expect("the tutorial is there");
    let target = Target::start(&[]);
    let mut told = String::new();
    for (language, text) in blocks(&page) {
        let text = shortened(text, &target);
        match language {
            "yaml" | "js" | "xml" => {
                let name = file_name(&text, language);
                std::fs::write(folder.join(name), &text).expect("there is room");
            }
            "sh" => {
                // The command in the background is the service, which is already running.
                let lines = text.lines().filter(|line| !line.ends_with('&'));
                lines.for_each(|line| told += &typed(line, folder));
            }
            other => panic!("nobody tries blocks of {other:?}"),
        }
    }
    told
}

/// The number of rows in the table of a document.
fn rows_of(document: &str, folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join(document)).expect("it was written");
    let lines = text.lines().filter(|line| line.starts_with('|')).count();
    lines.checked_sub(2).expect("a head of two lines")
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_test_leads_to_a_report() {
    let folder = tempfile::tempdir().expect("there is room");
    let told = followed("docs/first-test.md", folder.path());
    assert!(told.contains("Goodput"), "{told}");
    assert!(told.contains("Service and response time"), "{told}");
    let report = std::fs::read_to_string(folder.path().join("report.html"));
    assert!(
        report.expect("it was written").contains("Over time"),
        "no charts"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_leads_to_a_document() {
    let folder = tempfile::tempdir().expect("there is room");
    let told = followed("docs/from-script-to-document.md", folder.path());
    assert!(told.contains("status is 200"), "{told}");
    assert_eq!(rows_of("RESULTS.md", folder.path()), 1, "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_plan_leads_to_a_document() {
    let folder = tempfile::tempdir().expect("there is room");
    let told = followed("docs/from-jmeter-plan.md", folder.path());
    assert!(told.contains("summary ="), "{told}");
    assert!(!told.contains("warning"), "{told}");
    assert_eq!(rows_of("RESULTS.md", folder.path()), 1, "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_search_leads_to_the_capacity() {
    let folder = tempfile::tempdir().expect("there is room");
    let told = followed("docs/first-capacity.md", folder.path());
    assert!(told.contains("capacity: "), "{told}");
    assert!(folder.path().join("capacity.json").exists(), "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_tutorial_leads_to_its_tables() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let told = followed("docs/first-table.md", folder);
    for (document, rows) in [("RESULTS.md", 1), ("SHOP.md", 2)] {
        assert_eq!(rows_of(document, folder), rows, "{told}");
    }
    assert!(told.contains("expression: run.rps"), "{told}");
    assert!(folder.join("replicas/testbed.yaml").exists(), "{told}");
}
