//! Files to which results are written: checked before a run, and written independently after it.
//!
//! Must not know their content. Invariant: a refused command has sent nothing, and losses are named.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use loadline_e2e::server::Server;
use loadline_e2e::{loadline, run_to_end, web};

/// Runs a command in a folder; returns its exit code, its messages, and the number of requests to the server.
fn ran(folder: &std::path::Path, words: &[&str]) -> (i32, String, u64) {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    fs::write(
        folder.join("script.js"),
        "import http from 'k6/http';\nexport default () => { http.get(__ENV.URL); };\n",
    )
    .expect("written");
    let mut command = loadline();
    command.current_dir(folder).args(words);
    match words[0] {
        "bench" => command.args(["-c", "1", "-n", "3"]),
        _ => command.args(["-i", "3", "-u", "1", "script.js", "-e"]),
    };
    match words[0] {
        "bench" => command.arg(server.url("/")),
        _ => command.arg(format!("URL={}", server.url("/"))),
    };
    let output = run_to_end(command);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), told, server.accepted())
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_output_that_fails_keeps_no_other_from_being_written() {
    let folder = tempfile::tempdir().expect("there is room");
    let words = [
        "bench",
        "--json",
        "s.json",
        "--csv",
        "/dev/full",
        "--report",
        "/dev/full",
    ];
    let (code, told, asked) = ran(folder.path(), &words);
    assert_eq!((code, asked > 0), (255, true), "{told}");
    for lost in ["--report: cannot write /dev/full", "--csv: "] {
        assert!(told.contains(lost), "{lost} is not named: {told}");
    }
    let json = fs::read_to_string(folder.path().join("s.json")).expect("it is written");
    assert!(json.contains("\"completed\""), "{json}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_answer_on_a_full_disk_is_no_success() {
    for words in ["suite schema", "completion bash", "--help"] {
        let full = fs::File::options().write(true).open("/dev/full");
        let mut command = loadline();
        command.args(words.split(' '));
        command.stdout(full.expect("Linux has it"));
        let output = command.output().expect("it can be run");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(255), "{words}: {told}");
        assert!(told.contains("standard output cannot be written"), "{told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_file_for_two_outputs_is_refused_before_the_load() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("x"), "before").expect("written");
    for (words, named) in [
        (
            &["bench", "--json", "x", "--csv", "./x"][..],
            "--json and --csv",
        ),
        (
            &["bench", "--json", "x", "-o", "json=x"],
            "--json and --out json",
        ),
        (
            &["bench", "--report", "y", "--journal", "y"],
            "--report and --journal",
        ),
        (
            &["run", "-q", "--json", "x", "-o", "csv=x"],
            "--json and --out csv",
        ),
        (
            &["run", "-q", "--json", "x", "--summary-export", "x"],
            "--json and --summary-export",
        ),
        (
            &["run", "-q", "--report", "script.js"],
            "the script and --report",
        ),
        (
            &["run", "-q", "-o", "csv=./script.js"],
            "the script and --out csv",
        ),
        (
            &["bench", "-D", "x", "--json", "x"],
            "--body-file and --json",
        ),
    ] {
        let (code, told, asked) = ran(folder.path(), words);
        assert_eq!((code, asked), (104, 0), "{words:?}: {told}");
        assert!(told.contains(named), "{words:?}: {told}");
    }
    let left = fs::read_to_string(folder.path().join("x")).expect("it is there");
    assert_eq!(left, "before");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_file_that_cannot_be_written_is_refused_before_the_load() {
    let folder = tempfile::tempdir().expect("there is room");
    for command in ["bench", "run"] {
        for (option, file) in [
            ("--json", "no/such.json"),
            ("--report", "no/such.html"),
            ("--report", "-"),
            ("--journal", "-"),
            // Nobody can create files there.
            ("--json", "/proc/x.json"),
        ] {
            let (code, told, asked) = ran(folder.path(), &[command, "-q", option, file]);
            assert_eq!((code, asked), (104, 0), "{command} {option} {file}: {told}");
            assert!(told.contains(option), "{command} {option} {file}: {told}");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_result_is_read_from_standard_input() {
    let folder = tempfile::tempdir().expect("there is room");
    let (code, told, _) = ran(folder.path(), &["bench", "-q", "--json", "r.json"]);
    assert_eq!(code, 0, "{told}");
    let result = folder.path().join("r.json");
    for words in [&["report", "-"][..], &["compare", "r.json", "-"]] {
        let mut command = loadline();
        command.current_dir(folder.path()).args(words);
        command.stdin(fs::File::open(&result).expect("it is there"));
        let output = command.output().expect("it can be started");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
        assert!(!output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_pipe_is_as_good_as_a_file_whatever_is_stored() {
    let folder = tempfile::tempdir().expect("there is room");
    let words = ["run", "-q", "--json", "r", "--journal", "j", "-o", "jtl=t"];
    let (code, told, _) = ran(folder.path(), &words);
    assert_eq!(code, 0, "{told}");
    for stored in ["r", "j", "t"] {
        let report = |name: &str| {
            let mut command = loadline();
            command.current_dir(folder.path()).args(["report", name]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut running = command.spawn().expect("it can be started");
            let bytes = fs::read(folder.path().join(stored)).expect("it is there");
            // If a file is given, piped input is not read.
            let _ = running.stdin.take().expect("it is piped").write_all(&bytes);
            let output = running.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(0), "{stored} as {name}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let of_file = report(stored);
        assert!(!of_file.is_empty(), "{stored}");
        for pipe in ["/dev/stdin", "-"] {
            assert_eq!(report(pipe), of_file, "{stored}");
        }
    }
}
