//! Scripts that cannot be loaded, logs with other destinations, and the name `k6`.
//!
//! Must not know how a script is read. Invariant: the lines of the log were recorded from k6 v2.2.0.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use loadline_e2e::certificates::{Authority, Validity};
use loadline_e2e::process::binary;
use loadline_e2e::{loadline, run_to_end};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room")
}

/// Runs it in a folder, with nothing on standard output that was not requested.
fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = loadline();
    command
        .current_dir(folder)
        .args(["run", "--quiet", "--summary-mode", "disabled"])
        .args(arguments);
    run_to_end(command)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_cannot_be_loaded_is_told_as_under_k6() {
    let folder = folder();
    let path = fs::canonicalize(folder.path()).expect("it is there");
    let shown = path.display();
    fs::create_dir(path.join("folder")).expect("there is room");
    fs::write(path.join("empty.js"), "").expect("there is room");
    let bad = "import http from \"k6/http\"\nlet x = ;\nexport default function(){}";
    fs::write(path.join("bad.js"), bad).expect("there is room");
    fs::write(path.join("binary.js"), [0xff_u8, 0, 0xfe, 7]).expect("there is room");
    for (script, code, told) in [
        (
            "missing.js",
            255,
            "The moduleSpecifier \\\"missing.js\\\" couldn't be found on local disk.".to_owned(),
        ),
        (
            "folder",
            255,
            format!("msg=\"read {shown}/folder: is a directory\""),
        ),
        (
            "empty.js",
            255,
            format!(
                "msg=\"could not initialize 'empty.js': could not load JS test \
                 'file://{shown}/empty.js': no exported functions in script\""
            ),
        ),
        (
            "bad.js",
            107,
            format!("'file://{shown}/bad.js': file://{shown}/bad.js: Line 2:9 Unexpected token ;"),
        ),
        (
            "binary.js",
            107,
            format!("file://{shown}/binary.js: Line 1:1 "),
        ),
        (
            "github.com/x/y.js",
            255,
            "github.com 'special' urls are no longer supported".to_owned(),
        ),
        (
            "http://127.0.0.1:1/x.js",
            255,
            "only supported schemes for imports are file and https".to_owned(),
        ),
        (
            "https://127.0.0.1:1/x.js",
            255,
            "dial tcp 127.0.0.1:1: connect: connection refused".to_owned(),
        ),
    ] {
        let output = run_in(&path, &[script]);
        let log = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{script}: {log}");
        assert!(log.contains(&told), "{script}: {told} is not in\n{log}");
        assert!(
            output.stdout.is_empty(),
            "{script}: {}",
            text(&output.stdout)
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_log_goes_where_it_is_sent() {
    let folder = folder();
    let path = folder.path();
    let script = "export const options = { unknownThing: 1 };
        export default function () { console.log('said'); console.debug('quietly'); }";
    fs::write(path.join("script.js"), script).expect("there is room");
    let log_of = |arguments: &[&str]| {
        let output = run_in(path, &[arguments, &["script.js"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        (text(&output.stdout), text(&output.stderr))
    };
    let (out, err) = log_of(&["--log-output=none"]);
    assert_eq!((out.as_str(), err.as_str()), ("", ""));
    let (out, err) = log_of(&["--log-output=stdout"]);
    assert!(
        out.contains("msg=said source=console") && err.is_empty(),
        "{out}{err}"
    );
    let (_, err) = log_of(&["--log-format=raw"]);
    assert!(err.ends_with("\nsaid\n"), "{err}");
    let (_, err) = log_of(&["--log-format=json", "--verbose"]);
    assert!(
        err.contains("{\"level\":\"debug\",\"msg\":\"quietly\","),
        "{err}"
    );
    let (_, err) = log_of(&[
        "--log-output=file=a.log,level=warn",
        "--console-output=b.log",
    ]);
    let (log, console) = (path.join("a.log"), path.join("b.log"));
    let log = fs::read_to_string(log).expect("it was written");
    let console = fs::read_to_string(console).expect("it was written");
    assert!(
        log.contains("unknown fields") && !log.contains("said"),
        "{log}"
    );
    assert!(
        console.ends_with("level=info msg=said\n") && err.is_empty(),
        "{console}{err}"
    );
    for (wrong, code, told) in [
        ("--log-output=foo", 255, "unsupported log output 'foo'"),
        (
            "--log-output=file=x,level=foo",
            255,
            "unknown log level foo",
        ),
        (
            "--log-output=file=/nope/x",
            255,
            "provided directory '/nope' does not exist",
        ),
        ("--log-output=loki", 104, "loki is not supported"),
    ] {
        let output = run_in(path, &[wrong, "script.js"]);
        let log = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{wrong}: {log}");
        assert!(log.contains(told), "{wrong}: {log}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_link_named_k6_takes_its_command_lines() {
    let folder = folder();
    let link = folder.path().join("k6");
    std::os::unix::fs::symlink(binary(), &link).expect("there is room");
    let script = "export const options = { vus: 3, iterations: 3 };
        export default function () { console.log('ran'); }";
    fs::write(folder.path().join("script.js"), script).expect("there is room");
    let run_as = |arguments: &[&str]| {
        let mut command = loadline_e2e::process::neutral(Command::new(&link));
        command.current_dir(folder.path()).args(arguments);
        let output = run_to_end(command);
        let code = output.status.code();
        (code, text(&output.stdout), text(&output.stderr))
    };
    let (code, out, _) = run_as(&["version"]);
    assert!(code == Some(0) && out.starts_with("k6 v2.2.0 ("), "{out}");
    let (code, out, _) = run_as(&["inspect", "script.js"]);
    assert!(
        code == Some(0) && out.contains("\"iterations\": 3"),
        "{out}"
    );
    let half = [
        "run",
        "--address",
        "",
        "--execution-segment",
        "1/2",
        "script.js",
    ];
    let (code, out, log) = run_as(&half);
    assert_eq!(
        (code, log.matches("msg=ran").count()),
        (Some(0), 2),
        "{log}"
    );
    for line in [
        "scenarios: (50.00%) 1 scenario, 2 max VUs, 10m30s max duration (incl. graceful stop):",
        "* default: 2 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
    ] {
        assert!(out.contains(line), "{line} is not in\n{out}");
    }
    let (code, _, log) = run_as(&["cloud", "script.js"]);
    assert!(
        code == Some(255) && log.contains("cloud is not supported"),
        "{log}"
    );
}

/// As printed by `sha256sum`.
fn sha256(path: &Path) -> String {
    let mut command = Command::new("sha256sum");
    command.arg(path);
    let told = text(&run_to_end(command).stdout);
    let digest = told.split(' ').next().expect("a word");
    assert_eq!(digest.len(), 64, "{told}");
    digest.to_owned()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_archive_of_the_web_is_held_against_its_digest() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("part.js"), "export const word = 'imported';").expect("there is room");
    let script = "import { word } from './part.js'; console.log('begun');
        export default function () { console.log(word); }";
    fs::write(path.join("script.js"), script).expect("there is room");
    let mut command = loadline();
    command
        .current_dir(path)
        .args(["archive", "-O", "script.tar", "script.js"]);
    assert_eq!(run_to_end(command).status.code(), Some(0));
    let archive = path.join("script.tar");
    let body = fs::read_to_string(&archive).expect("its parts are ASCII");
    let authority = Authority::new("a test");
    let trusted = authority.save(path, "authority");
    let server = authority.sign("localhost", Validity::Now).serve_text(&body);
    let port = server.address().port();
    let run = |digest: &str| {
        let mut command = loadline();
        let address = format!("https://localhost:{port}/script.tar#sha256={digest}");
        command.current_dir(path).args(["run", "--quiet", &address]);
        let output = {
            command.env("SSL_CERT_FILE", &trusted);
            run_to_end(command)
        };
        (output.status.code(), text(&output.stderr))
    };
    let digest = sha256(&archive);
    let (code, log) = run(&digest);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("msg=imported"), "{log}");
    let (code, log) = run(&sha256(&path.join("script.js")));
    assert_eq!(code, Some(104), "{log}");
    assert!(log.contains(&format!("its SHA-256 is {digest}")), "{log}");
    assert!(!log.contains("begun"), "nothing of it runs: {log}");
    assert!(run("abc").1.contains("64 hexadecimal digits"));
}
