//! The tutorial, line by line, as its reader types it.
//!
//! Must not know more than docs/first-table.md says, but for what makes its runs short. Invariant: a command of the page
//! that fails, or a file of it that cannot be run, fails the test.

use std::path::Path;

use loadline_e2e::k6::repository;
use loadline_e2e::target::Target;
use loadline_e2e::{loadline_under, run_to_end};

/// The service that the page's reader has started.
const ADDRESS: &str = "http://127.0.0.1:8080";
/// What makes the page's runs short, in files and in command lines.
const SHORTER: [(&str, &str); 3] = [
    (
        "suite init http",
        "suite init --vus 10 --duration 1s --repeat 1 http",
    ),
    ("duration: 10s", "duration: 200ms"),
    ("repeat: 3", "repeat: 1"),
];

/// Fenced blocks of a page with their language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

fn shortened(text: &str, target: &Target) -> String {
    let text = text.replace(ADDRESS, target.url("").trim_end_matches('/'));
    let port = target.url("");
    let port = port
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .expect("a port");
    let text = text.replace("port: 8080", &format!("port: {port}"));
    let short = SHORTER.iter();
    short.fold(text, |text, (long, short)| text.replace(long, short))
}

/// Types a line into a shell in which `loadline` is the binary under test.
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

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_tutorial_leads_to_its_tables() {
    let page = repository().join("docs/first-table.md");
    let page = std::fs::read_to_string(page).expect("the tutorial is there");
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let mut told = String::new();
    for (language, text) in blocks(&page) {
        let text = shortened(text, &target);
        match language {
            "yaml" => {
                let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
                std::fs::write(folder.join(name.expect("a file's name")), &text)
                    .expect("there is room");
            }
            "sh" => {
                // What goes on in the background is the service, which is there.
                let lines = text.lines().filter(|line| !line.ends_with('&'));
                lines.for_each(|line| told += &typed(line, folder));
            }
            other => panic!("nobody tries blocks of {other:?}"),
        }
    }
    for (document, rows) in [("RESULTS.md", 1), ("SHOP.md", 2)] {
        let text = std::fs::read_to_string(folder.join(document)).expect("it was written");
        let table = text.lines().filter(|line| line.starts_with('|'));
        assert_eq!(table.count(), rows + 2, "{text}");
    }
    assert!(told.contains("expression: run.rps"), "{told}");
    assert!(folder.join("replicas/testbed.yaml").exists(), "{told}");
}
