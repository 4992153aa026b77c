//! `loadline compare` on results of real runs.
//!
//! Must not know the statistics. Invariant: a run that is known to be slower is reported as worse, and the exit
//! code shows it.

use std::path::Path;
use std::process::Output;

use loadline_e2e::process::{Running, loadline};
use loadline_e2e::run;
use loadline_e2e::target::Target;

use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Starts a run that has nine whole seconds after the first.
fn start(folder: &Path, name: &str, url: &str) -> Running {
    let mut command = loadline();
    command.args([
        "bench",
        "-q",
        "--no-journal",
        "-r",
        "100",
        "-c",
        "10",
        "-z",
        "10s",
        "--label",
    ]);
    command.arg(format!("build={name}"));
    command
        .arg("--json")
        .arg(folder.join(format!("{name}.json")))
        .arg(url);
    Running::start(command)
}

fn compare(folder: &Path, names: &[&str], options: &[&str]) -> Output {
    let mut words: Vec<String> = vec!["compare".to_owned()];
    words.extend(
        names
            .iter()
            .map(|name| folder.join(name).display().to_string()),
    );
    words.extend(options.iter().map(|&option| option.to_owned()));
    run(words)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_slower_target_is_worse_and_fails_the_pipeline() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let runs = [
        start(folder.path(), "quick", &target.url("/delay/0.01")),
        start(folder.path(), "slow", &target.url("/delay/0.03")),
    ];
    for output in runs.map(Running::finish) {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let names = ["quick.json", "slow.json"];
    let plain = compare(folder.path(), &names, &["--fail-if", "p50 +500%"]);
    assert_eq!(plain.status.code(), Some(0), "{}", text(&plain.stderr));
    let told = text(&plain.stdout);
    assert!(told.contains("requests.0.target"), "{told}");
    assert!(
        told.contains("The tests differ in load or environment"),
        "{told}"
    );
    assert!(
        told.find("requests.0.target") < told.find("Goodput"),
        "{told}"
    );

    let json = compare(folder.path(), &names, &["--json"]);
    let data: Value = serde_json::from_slice(&json.stdout).expect("JSON and nothing else");
    let rows = data["rows"].as_array().expect("rows");
    let p50 = rows
        .iter()
        .find(|row| row["id"] == "response_time.p50")
        .expect("p50");
    assert_eq!(p50["changes"][0]["test"]["outcome"], "worse", "{p50}");

    let failed = compare(
        folder.path(),
        &names,
        &["--fail-if", "p50 +50%", "--fail-if", "goodput -50%"],
    );
    assert_eq!(failed.status.code(), Some(99));
    let crossed = text(&failed.stderr);
    assert_eq!(crossed.lines().count(), 1, "{crossed}");
    assert!(
        crossed.starts_with("crossed: p50 +50%: quick.json has "),
        "{crossed}"
    );

    let itself = compare(
        folder.path(),
        &["quick.json", "quick.json"],
        &["--group-by", "build"],
    );
    assert_eq!(
        itself.status.code(),
        Some(104),
        "one build is nothing to compare"
    );
    let page = folder.path().join("page.html");
    let html = compare(
        folder.path(),
        &names,
        &["--html", &page.display().to_string()],
    );
    assert_eq!(html.status.code(), Some(0), "{}", text(&html.stderr));
    let page = std::fs::read_to_string(page).expect("it was written");
    assert_eq!(page.matches("<svg").count(), 5);
    let markdown = compare(folder.path(), &names, &["--markdown"]);
    assert!(text(&markdown.stdout).starts_with("# slow.json against quick.json\n"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_is_no_result_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |name: &str, content: &str| {
        std::fs::write(folder.path().join(name), content).expect("the folder can be written to");
    };
    write("other.json", "{\"schema\":\"loadline/result/v999\"}");
    write("torn.json", "{\"schema\":\"loadline/result/v1\",\"plan\":{");
    write("list.json", "[1]");
    for (name, part) in [
        ("other.json", "loadline/result/v999"),
        ("torn.json", "not JSON"),
        ("list.json", "not a loadline result"),
        ("absent.json", "cannot be read"),
    ] {
        let output = compare(folder.path(), &[name, name], &[]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(104), "{told}");
        assert!(told.contains(name) && told.contains(part), "{told}");
    }
    let output = compare(folder.path(), &["list.json"], &["--fail-if", "p98 +10%"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(104));
    assert!(
        told.contains("column 1") && told.contains("goodput, rps, p50"),
        "{told}"
    );
}
