//! Invalid input: refused before anything is sent, with exit code 104 and a message that names it.
//!
//! Must not know parsers. Invariant: the target of every refused command got no connection.

use loadline_e2e::ran::in_one_line;
use loadline_e2e::server::Server;
use loadline_e2e::{run, web};

use std::path::Path;

const REFUSED: i32 = 104;

/// Files that refused commands name.
fn files(folder: &Path) {
    for (name, text) in [
        ("empty", ""),
        ("no-pem", "not a certificate\n"),
        (
            "bad-pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
        ("urls", "GET http://localhost/\nhttp://[bad\n"),
    ] {
        std::fs::write(folder.join(name), text).expect("the temporary folder can be written to");
    }
}

/// Arguments, and the texts that the message must contain. `URL` is replaced by that of a listening target.
const BAD: &[(&[&str], &[&str])] = &[
    (&[], &["URL"]),
    (&["--no-such-option", "URL"], &["--no-such-option"]),
    (&["--conections", "5", "URL"], &["--connections"]),
    (&["-c", "0", "URL"], &["--connections", "0"]),
    (&["-c", "many", "URL"], &["--connections", "many"]),
    (&["-n", "0", "URL"], &["--requests", "above zero"]),
    (&["-n", "-5", "URL"], &["-5"]),
    (&["-z", "soon", "URL"], &["--duration", "soon"]),
    (&["-r", "0", "URL"], &["-r", "zero"]),
    (&["-r", "fast", "URL"], &["--rate", "fast"]),
    (&["--max-vus", "5", "URL"], &["--max-vus", "-r"]),
    (&["--stages", "30s", "URL"], &["--stages", "30s"]),
    (&["--timeout=-1s", "URL"], &["--timeout", "-1s"]),
    (&["-m", "GE T", "URL"], &["GE T"]),
    (&["-H", "no colon", "URL"], &["no colon"]),
    (&["-H", "Bad Name: x", "URL"], &["Bad Name"]),
    (&["-u", "nobody", "URL"], &["-u", "USER:PASSWORD"]),
    (
        &["--expect", "status=abc", "URL"],
        &["--expect", "status=abc"],
    ),
    (&["--audit", "URL"], &["--audit", "prometheus-rw"]),
    (&["--expect", "body~[", "URL"], &["--expect", "body~["]),
    (&["--expect", "json:a.b", "URL"], &["--expect", "json:a.b"]),
    (
        &["--threshold", "p(99)<", "URL"],
        &["--threshold", "p(99)<"],
    ),
    (
        &["--threshold", "no_such_metric:p(9)<1", "URL"],
        &["no_such_metric"],
    ),
    (&["--by", "weather", "URL"], &["--by", "header:NAME"]),
    (&["-b", "{{nonsense}}", "URL"], &["nonsense"]),
    (&["-b", "{{counter", "URL"], &["{{counter"]),
    (&["-b", "{{random 9 1}}", "URL"], &["random"]),
    (&["-b", "{{line no-such-file}}", "URL"], &["no-such-file"]),
    (
        &["-b", "x", "-D", "empty", "URL"],
        &["--body", "--body-file"],
    ),
    (&["-D", "no-such-file", "URL"], &["no-such-file"]),
    (&["-D", ".", "URL"], &["."]),
    (
        &["--multipart", "f=@no-such-file", "URL"],
        &["no-such-file"],
    ),
    (&["--urls", "no-such-file"], &["--urls", "no-such-file"]),
    (&["--urls", "empty"], &["--urls", "empty"]),
    (&["--urls", "urls"], &["--urls", "line 2"]),
    (
        &["--cacert", "no-such-file", "URL"],
        &["--cacert", "no-such-file"],
    ),
    (&["--cacert", "no-pem", "URL"], &["--cacert", "no-pem"]),
    (&["--cacert", "bad-pem", "https://localhost/"], &["bad-pem"]),
    (&["--cert", "no-pem", "URL"], &["--cert", "no-pem"]),
    (
        &["--cert", "no-such-file", "URL"],
        &["--cert", "no-such-file"],
    ),
    (&["--key", "no-pem", "URL"], &["--cert"]),
    (
        &["--tls-min", "1.3", "--tls-max", "1.2", "URL"],
        &["--tls-min"],
    ),
    (&["--tls-min", "0.9", "URL"], &["0.9"]),
    (&["--connect-to", "a:1", "URL"], &["--connect-to", "a:1"]),
    (&["--resolve", "h:80:name", "URL"], &["--resolve", "name"]),
    (&["--source", "here", "URL"], &["--source", "here"]),
    (&["-x", "socks5://localhost", "URL"], &["-x", "socks5"]),
    (&["--warm-up", "10s", "-z", "5s", "URL"], &["--warm-up"]),
    (
        &["--json", "no-such-folder/x.json", "URL"],
        &["--json", "no-such-folder"],
    ),
    (&["--json", "-", "--csv", "-", "URL"], &["--json", "--csv"]),
    (
        &["--csv", "no-such-folder/x.csv", "URL"],
        &["--csv", "no-such-folder"],
    ),
    (
        &["--journal", "no-such-folder/x", "URL"],
        &["--journal", "no-such-folder"],
    ),
    (&["ftp://localhost/"], &["ftp"]),
    (&["http://"], &["http://"]),
    (&["http://localhost:99999/"], &["99999"]),
    (&["http://local host/"], &["local host"]),
    (&["http://localhost/{{counter"], &["{{counter"]),
    (&["http://{{counter}}/"], &["cannot contain templates"]),
];

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn nothing_is_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    files(folder.path());
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let url = server.url("/");
    for (arguments, named) in BAD {
        let mut command = loadline_e2e::loadline();
        command.current_dir(folder.path()).arg("bench");
        command.args(
            arguments
                .iter()
                .map(|word| if *word == "URL" { &url } else { *word }),
        );
        let output = loadline_e2e::run_to_end(command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(REFUSED), "{arguments:?}: {said}");
        assert!(
            output.stdout.is_empty(),
            "{arguments:?} wrote to standard output"
        );
        for word in *named {
            assert!(
                in_one_line(&said).contains(word),
                "{arguments:?}: {word} is not in: {said}"
            );
        }
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert_eq!(server.accepted(), 0, "something was sent");
}

/// The other commands refuse in the same way.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn other_commands_refuse_too() {
    for (arguments, code) in [
        (["target", "--listen", "nowhere"].as_slice(), REFUSED),
        (&["target", "--routes", "no-such-file"], REFUSED),
        (&["target", "--listen", "192.0.2.1:80"], 106),
        (&["report"], REFUSED),
        (&["report", "no-such-file"], REFUSED),
        (&["report", "/dev/null"], REFUSED),
        (&["no-such-command"], REFUSED),
        (
            &["sweep", "--rates", "1", "--csv", "x", "--json", "./x", "h"],
            REFUSED,
        ),
        (&["sweep", "--rates", "1", "-k", "s.js"], REFUSED),
        (&["sweep", "--rates", "1", "-H", "a: b", "p.jmx"], REFUSED),
        (
            &["sweep", "--rates", "1", "s.js", "--", "--agents", "2"],
            REFUSED,
        ),
        (
            &["sweep", "--rates", "1", "s.js", "--", "-o", "csv=x"],
            REFUSED,
        ),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            output.stdout.is_empty(),
            "{arguments:?} wrote to standard output"
        );
        assert!(!said.is_empty(), "{arguments:?} was refused without a word");
    }
}

/// The dialects keep their tools' exit codes.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn dialects_refuse_as_their_tools_do() {
    for (arguments, code) in [
        (["hey"].as_slice(), 1),
        (&["hey", "-no-such-flag", "http://localhost/"], 2),
        (&["hey", "-c", "5", "-n", "1", "http://localhost/"], 1),
        (&["bombardier"], 1),
        (&["bombardier", "--no-such-flag", "http://localhost/"], 1),
        (&["bombardier", "-c", "0", "http://localhost/"], 1),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn more_virtual_users_than_any_machine_holds_are_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("s.js");
    std::fs::write(&script, "export default () => {};\n").expect("written");
    let script = script.display().to_string();
    let words = ["run", "--vus", "1000000000", "--duration", "1s", &script];
    let output = run(words);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(104), "{told}");
    assert!(told.contains("1000000000 virtual users"), "{told}");
}
