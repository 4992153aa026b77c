//! Targets with one fault each: each failure is counted in its class and reported with its next step, the run
//! continues to its end, nothing is lost, and memory stays constant.
//!
//! Must not know how the client distinguishes classes. Invariant: every server here fails every request.

use loadline_e2e::faults::Fault;
use loadline_e2e::ran::in_one_line;
use loadline_e2e::server::{Server, free_port};
use loadline_e2e::target::Target;
use loadline_e2e::{FullQueue, Ran, bench, bench_by, clock, loadline_under, run, skip, web};

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// The exit code of a run in which nothing succeeded.
const NOTHING_SUCCEEDED: i32 = 1;
/// Memory that no run against a faulty target may exceed, in MiB: far more than a good one takes, far less than
/// storing the responses would.
const MEMORY_MAX: u64 = 64;
const REQUESTS: u64 = 12;

/// Runs three virtual users against a fault and asserts what all faults have in common.
fn assert_counted(fault: Fault, class: &str, arguments: &[&str]) -> Ran {
    let server = fault.serve();
    let ran = bench_some(&server.url("/"), arguments);
    assert_all_failed(&ran, class, &format!("{fault:?}"));
    ran
}

fn bench_some(url: &str, arguments: &[&str]) -> Ran {
    let requests = REQUESTS.to_string();
    let load = ["-c", "3", "-n", &requests, "-q"];
    bench(&[&load, arguments, &[url]].concat())
}

fn assert_all_failed(ran: &Ran, class: &str, what: &str) {
    assert_eq!(
        ran.failures(),
        [(class, REQUESTS)],
        "{what}: {:?}",
        ran.messages()
    );
    assert_eq!(ran.count("started"), REQUESTS, "{what}");
    assert_eq!(ran.at("/totals/stop"), "finished", "{what}");
    ran.assert_named(class);
    ran.assert_code(NOTHING_SUCCEEDED);
    ran.assert_memory_below(MEMORY_MAX);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn answers_that_break_off_or_break_the_rules() {
    for (fault, class) in [
        (Fault::ResetsWhileRead, "reset-reading"),
        (Fault::ClosesUnanswered, "closed"),
        (Fault::TruncatedHead, "truncated"),
        (Fault::TruncatedChunks, "truncated"),
        (Fault::ContentLengthTooLong, "truncated"),
        (Fault::BadChunkSize, "malformed"),
        (Fault::BadChunkEnd, "malformed"),
        (Fault::NoHead, "malformed"),
        (Fault::EndlessHeaders, "too-large"),
        (Fault::HugeHeader, "too-large"),
        (Fault::InterimStorm, "too-large"),
    ] {
        assert_counted(fault, class, &[]);
    }
}

/// Bytes after a response could be mistaken for the next one.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn bytes_behind_an_answer_end_its_connection_alone() {
    let server = Fault::ContentLengthTooShort.serve();
    let ran = bench_some(&server.url("/"), &[]);
    assert_eq!(ran.failures(), [], "{:?}", ran.messages());
    assert_eq!(ran.count("completed"), REQUESTS);
    assert_eq!(ran.number("/totals/seen/connections/opened"), REQUESTS);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_request_that_is_reset_while_it_is_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let body = folder.path().join("body");
    std::fs::write(&body, vec![b'x'; 8 << 20]).expect("it can be written to");
    let body = body.to_str().expect("a path of text");
    assert_counted(Fault::ResetsWhileSent, "reset-sending", &["-D", body]);
    assert_counted(
        Fault::ResetsWhileSent,
        "reset-sending",
        &["-D", body, "--stream"],
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn nobody_listens() {
    let url = format!("http://127.0.0.1:{}/", free_port());
    assert_all_failed(&bench_some(&url, &[]), "refused", "a closed port");
    let ran = bench_some("http://localhost/", &["--unix-socket", "no-such-socket"]);
    assert_all_failed(&ran, "refused", "no socket");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_name_that_does_not_exist() {
    let ran = bench_some(
        "http://no-such-host.invalid/",
        &["--connect-timeout", "50s"],
    );
    assert_all_failed(&ran, "dns", "a name under .invalid");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn clear_text_and_tls_mixed_up() {
    let ran = assert_counted(Fault::TlsRecord, "malformed", &[]);
    assert!(ran.report().contains("use https://"), "{}", ran.out);
    let server = Fault::PlainAnswer.serve();
    let url = format!("https://{}/", server.address());
    assert_all_failed(&bench_some(&url, &[]), "tls", "https to a plain port");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn targets_that_are_too_slow() {
    for (fault, stage) in [
        (
            Fault::NeverAnswers,
            "while waiting for the response headers",
        ),
        (
            Fault::OneByteASecond,
            "while waiting for the response headers",
        ),
    ] {
        let ran = assert_counted(fault, "timeout", &["--timeout", "250ms"]);
        assert!(ran.messages()[0].contains(stage), "{:?}", ran.messages());
    }
    // More than the kernels of both ends buffer for a peer that reads nothing.
    let mut body = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    body.write_all(&vec![b'x'; 16 << 20])
        .expect("it can be written to");
    let name = body.path().to_str().expect("a path of text");
    let arguments = ["--timeout", "250ms", "-D", name, "--stream"];
    let ran = assert_counted(Fault::NeverAnswers, "timeout", &arguments);
    let stage = "while sending the request";
    assert!(ran.messages()[0].contains(stage), "{:?}", ran.messages());
}

/// Nobody accepts connections from a full accept queue, so further ones are never established.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_full_accept_queue() {
    let queue = FullQueue::listen();
    let url = queue.url();
    let ran = bench_some(&url, &["--connect-timeout", "250ms"]);
    assert_all_failed(&ran, "connect-timeout", "a full accept queue");
}

/// The file from which a body is streamed is removed during the run.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_body_file_that_vanishes() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let body = folder.path().join("body");
    std::fs::write(&body, "text").expect("it can be written to");
    let name = body.to_str().expect("a path of text");
    let load = ["-r", "100", "-c", "4", "-z", "1s", "-q"];
    let url = target.url("/post");
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            clock::pause(Duration::from_millis(500));
            std::fs::remove_file(&body).expect("it is there");
        });
        bench(&[&load[..], &["-D", name, "--stream", &url]].concat())
    });
    assert_eq!(ran.count("started"), 100);
    assert!(ran.failed("request") > 10, "{:?}", ran.failures());
    assert!(ran.count("good") > 10, "{:?}", ran.messages());
    ran.assert_named("request");
    ran.assert_code(0);
}

/// Ten gigabytes are announced and sent until the timeout; none of them is stored.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_answer_of_ten_gigabytes() {
    let server = Fault::EndlessBody.serve();
    let ran = bench(&["-c", "2", "-n", "2", "-t", "1500ms", "-q", &server.url("/")]);
    assert_eq!(ran.failures(), [("timeout", 2)]);
    assert!(
        ran.count("bytes_received") > 50 << 20,
        "{}",
        ran.count("bytes_received")
    );
    assert!(
        ran.messages()[0].contains("while reading the response body"),
        "{:?}",
        ran.messages()
    );
    ran.assert_named("timeout");
    ran.assert_memory_below(MEMORY_MAX);
}

/// The same with a limit on reading, and with a check that needs the body.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_limit_on_the_body() {
    let server = Fault::EndlessBody.serve();
    let limits = ["--body-read-max", "30MiB", "--body-kept-max", "1MiB"];
    let load = [
        "-c",
        "2",
        "-n",
        "4",
        "-q",
        "--expect",
        "body~^.",
        &server.url("/"),
    ];
    let ran = bench(&[&limits[..], &load[..]].concat());
    assert_eq!((ran.count("completed"), ran.count("good")), (4, 4));
    assert!(
        ran.count("body_bytes") >= 120 << 20,
        "{}",
        ran.count("body_bytes")
    );
    ran.assert_memory_below(MEMORY_MAX);
}

/// Users search these reports for Go's words; the classes are in the verdict below.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn dialects_word_failures_as_go_does() {
    let closing = Fault::ClosesUnanswered.serve();
    let silent = Fault::NeverAnswers.serve();
    let nowhere = format!("http://127.0.0.1:{}/", free_port());
    for (url, words, class) in [
        (nowhere, "connect: connection refused", "refused 4"),
        (closing.url("/"), "EOF", "closed 4"),
        (silent.url("/"), "context deadline exceeded", "timeout 4"),
    ] {
        let output = run(["hey", "-n", "4", "-c", "2", "-t", "1", &url]);
        let report = in_one_line(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(0), "{report}");
        assert!(report.contains(&format!("Get \"{url}\": ")), "{report}");
        assert!(report.contains(words), "{words}: {report}");
        assert!(
            report.contains(&format!("answered 0 · failed 4 ({class})")),
            "{report}"
        );
        let load = ["bombardier", "--http1", "-n", "4", "-c", "2", "-t", "1s"];
        let output = run([&load[..], &[&url]].concat());
        let report = in_one_line(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(0), "{report}");
        assert!(report.contains("others - 4"), "{report}");
        assert!(report.contains(words), "{words}: {report}");
    }
}

/// There are very many failures, and neither they nor their messages accumulate.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn many_failures_take_no_more_memory_than_few() {
    let url = format!("http://127.0.0.1:{}/{{{{counter}}}}", free_port());
    let ran = bench(&["-c", "10", "-n", "50k", "-q", &url]);
    assert_eq!(ran.failures(), [("refused", 50_000)]);
    assert!(ran.rows("/totals/seen/errors").len() <= 64);
    ran.assert_memory_below(MEMORY_MAX);
}

/// A healthy target that dies, stays away and returns on its port.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_target_that_dies_and_comes_back() {
    let healthy = || |stream: &TcpStream, _: &_| web::serve(stream, |_| web::ok("ok"));
    let server = Server::start(healthy());
    let address = server.address();
    let server = Mutex::new(Some(server));
    let url = format!("http://{address}/");
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            clock::pause(Duration::from_millis(700));
            *server.lock().expect("nobody panics") = None;
            clock::pause(Duration::from_millis(600));
            *server.lock().expect("nobody panics") = Some(Server::start_at(address, healthy()));
        });
        bench(&["-r", "200", "-c", "10", "-z", "2500ms", "-q", &url])
    });
    assert_eq!(ran.count("started"), 500);
    assert!(ran.failed("refused") > 50, "{:?}", ran.failures());
    assert!(ran.count("good") > 250, "{:?}", ran.failures());
    let last = ran
        .at("/series")
        .as_array()
        .and_then(|rows| rows.last())
        .cloned();
    let last = last.expect("there are rows");
    assert!(
        last["completed"].as_u64() > Some(0),
        "it was not found again: {last}"
    );
    ran.assert_named("refused");
    ran.assert_code(0);
}

/// In a network of its own, where datagrams to the name server vanish.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_silent_name_server_is_named() {
    let place = "ip link add void type veth peer name far && ip addr add 10.9.0.1/24 dev void && ip link set void up && \
        ip link set far up && ip neigh add 10.9.0.53 lladdr 02:00:00:00:00:53 dev void && \
        echo nameserver 10.9.0.53 > resolv.conf && mount --bind resolv.conf /etc/resolv.conf";
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut probe = Command::new("unshare");
    let probe = probe
        .args(["-n", "-m", "sh", "-c", place])
        .current_dir(folder.path());
    if !probe.output().is_ok_and(|output| output.status.success()) {
        return skip(
            "a_silent_name_server_is_named",
            "no namespace can be made: not root, no unshare or no ip",
        );
    }
    let mut command = loadline_under(&format!(
        "exec unshare -n -m sh -c '{place} && exec \"$0\" \"$@\"' \"$0\" \"$@\""
    ));
    command.current_dir(folder.path());
    let load = ["-c", "2", "-n", "2", "-q", "--connect-timeout", "1s"];
    let ran = bench_by(
        command,
        &[&load[..], &["http://nowhere.example:8080/"]].concat(),
    );
    let messages = ran.messages().concat();
    assert_eq!(ran.failures(), [("dns", 2)], "{messages}");
    assert!(
        messages.contains("the name server does not answer"),
        "{messages}"
    );
}
