//! Outputs of `--out` against receivers that are there, late, gone for a while, slow, or never there,
//! and against a full disk: what arrives, what is told, and the exit code.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadline_e2e::server::{Server, Stop};
use loadline_e2e::web::{self, Request};
use loadline_e2e::{clock, loadline, run_to_end};
use tempfile::TempDir;

/// Requests of each run, and the values that `bench` tells of one.
const REQUESTS: usize = 200;
const VALUES: usize = 10;

/// What a receiver of points was given, each line once.
type Points = Arc<Mutex<HashSet<String>>>;

fn keep(points: &Points, request: &Request) {
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let mut points = points.lock().expect("no thread panics with this lock");
    points.extend(body.lines().map(str::to_owned));
}

fn target() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")))
}

/// A receiver of points that does something before it answers each post; `false`: it hangs up.
fn receiver(
    address: SocketAddr,
    points: &Points,
    before: impl Fn(&Stop) -> bool + Send + Sync + 'static,
) -> Server {
    let points = Arc::clone(points);
    Server::start_at(address, move |mut stream, stop| {
        while let Some(request) = Request::read(&mut stream)? {
            if !before(stop) {
                break;
            }
            keep(&points, &request);
            std::io::Write::write_all(
                &mut stream,
                b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
            )?;
        }
        Ok(())
    })
}

fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// An address that nothing listens on.
fn nowhere() -> SocketAddr {
    let listener = TcpListener::bind(anywhere()).expect("there is a port");
    listener.local_addr().expect("a listener has an address")
}

/// `bench` with an output, and what it ended with.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(target: &Server, arguments: &[&str]) -> Command {
    let mut command = loadline();
    command.args(["bench", "-q", "--no-journal", "-c", "4"]);
    command.args(arguments).arg(target.url("/"));
    command
}

fn ended(command: Command) -> Ended {
    let output = run_to_end(command);
    Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn count(points: &Points) -> usize {
    points
        .lock()
        .expect("no thread panics with this lock")
        .len()
}

fn bench_into(receiver: SocketAddr, more: &[&str]) -> Ended {
    let target = target();
    let out = format!("influxdb=http://user:geheim@{receiver}/db");
    let requests = REQUESTS.to_string();
    let mut arguments = vec!["-n", &requests, "-o", &out];
    arguments.extend(more);
    ended(command(&target, &arguments))
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_value_arrives_as_a_point() {
    let points = Points::default();
    let server = receiver(anywhere(), &points, |_| true);
    let ended = bench_into(server.address(), &["--strict-outputs"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(count(&points), REQUESTS * VALUES);
    let points = points.lock().expect("no thread panics with this lock");
    let requests = points.iter().filter(|line| line.starts_with("http_reqs,"));
    assert_eq!(requests.count(), REQUESTS);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_receiver_that_is_late_gets_everything() {
    let (points, address) = (Points::default(), nowhere());
    let late = {
        let points = Arc::clone(&points);
        std::thread::spawn(move || {
            clock::pause(Duration::from_millis(700));
            receiver(address, &points, |_| true)
        })
    };
    let ended = bench_into(address, &["--strict-outputs"]);
    drop(late.join().expect("it starts"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(
        ended.err.matches("is in trouble").count(),
        1,
        "{}",
        ended.err
    );
    assert_eq!(count(&points), REQUESTS * VALUES);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_receiver_that_is_away_for_a_while_gets_everything() {
    let (points, target) = (Points::default(), target());
    let began: Mutex<Option<Instant>> = Mutex::new(None);
    // Away from half a second after the first post on, for a second.
    let away = Duration::from_millis(500)..Duration::from_millis(1_500);
    let server = receiver(anywhere(), &points, move |_| {
        let mut began = began.lock().expect("no thread panics with this lock");
        let began = *began.get_or_insert_with(clock::now);
        !away.contains(&clock::now().duration_since(began))
    });
    let out = format!("influxdb=http://{}/db?pushInterval=100ms", server.address());
    let arguments = ["-r", "200", "-z", "2500ms", "--strict-outputs", "-o", &out];
    let ended = ended(command(&target, &arguments));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(
        ended.err.matches("is in trouble").count(),
        1,
        "{}",
        ended.err
    );
    assert_eq!(count(&points), 500 * VALUES);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_receiver_that_is_slow_gets_everything() {
    let points = Points::default();
    let server = receiver(anywhere(), &points, |stop| {
        stop.pause(Duration::from_millis(400))
    });
    let ended = bench_into(server.address(), &["--strict-outputs"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(count(&points), REQUESTS * VALUES);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_receiver_that_is_never_there_is_told_of_and_fails_a_strict_run_alone() {
    let lost = format!("lost {} values", REQUESTS * VALUES);
    for (more, code) in [([].as_slice(), 0), (&["--strict-outputs"], 255)] {
        let ended = bench_into(nowhere(), more);
        assert_eq!(ended.code, Some(code), "{}", ended.err);
        assert_eq!(
            ended.err.matches("is in trouble").count(),
            1,
            "{}",
            ended.err
        );
        assert!(ended.err.contains(&lost), "{}", ended.err);
        assert!(!ended.err.contains("geheim"), "{}", ended.err);
        assert!(ended.out.contains("Verdict"), "{}", ended.out);
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_full_disk_is_told_of_and_fails_a_strict_run_alone() {
    let target = target();
    for (more, code) in [([].as_slice(), 0), (&["--strict-outputs"], 255)] {
        let arguments = [["-n", "50", "-o", "json=/dev/full"].as_slice(), more].concat();
        let ended = ended(command(&target, &arguments));
        assert_eq!(ended.code, Some(code), "{}", ended.err);
        assert!(ended.err.contains("lost 500 values"), "{}", ended.err);
    }
    let missing = ended(command(
        &target,
        &["-n", "5", "-o", "csv=/no/such/folder/a"],
    ));
    assert_eq!(missing.code, Some(104), "{}", missing.err);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn files_of_every_kind_hold_every_request() {
    let (target, folder) = (target(), TempDir::new().expect("there is room"));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (jtl, junit, packed) = (path("a.jtl"), path("a.xml"), path("a.ndjson.zst"));
    let outs = [
        format!("jtl={jtl}"),
        format!("junit={junit}"),
        packed.clone(),
    ];
    let mut arguments = vec!["-n", "50", "--threshold", "goodput>1000000000"];
    for out in &outs {
        arguments.extend(["-o", out]);
    }
    let ended = ended(command(&target, &arguments));
    assert_eq!(ended.code, Some(99), "{}", ended.err);
    let read = |path: &str| std::fs::read(path).expect("it was written");
    let rows = String::from_utf8(read(&jtl)).expect("rows are text");
    assert_eq!(rows.lines().count(), 51);
    assert!(
        rows.lines()
            .skip(1)
            .all(|row| row.contains(",200,OK,default 1-1,text,true,,5,")),
        "{rows}"
    );
    let tests = String::from_utf8(read(&junit)).expect("XML is text");
    assert!(tests.contains("tests=\"2\" failures=\"1\""), "{tests}");
    let packed = read(&packed);
    assert!(
        packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
        "it is Zstandard"
    );
    assert!(packed.len() < 20_000, "{} bytes", packed.len());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn values_go_to_standard_output_alone() {
    let target = target();
    let ended = ended(command(&target, &["-n", "20", "-o", "json"]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let points = ended.out.lines().filter(|line| line.contains("\"Point\""));
    assert_eq!(points.count(), 20 * VALUES);
    assert!(
        ended.out.lines().all(|line| line.starts_with('{')),
        "{}",
        ended.out
    );
    assert!(ended.err.contains("Verdict"), "{}", ended.err);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn messages_of_dogstatsd_arrive() {
    let (target, socket) = (
        target(),
        UdpSocket::bind(anywhere()).expect("there is a port"),
    );
    let address = socket.local_addr().expect("it has one");
    socket
        .set_read_timeout(Some(Duration::from_secs(2)))
        .expect("it can be set");
    let out = format!("dogstatsd={address}");
    let ended = ended(command(&target, &["-n", "10", "-o", &out]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let (mut messages, mut datagram) = (Vec::new(), [0; 2_000]);
    while messages.len() < 10 * VALUES {
        let length = socket.recv(&mut datagram).expect("more was sent");
        let text = String::from_utf8_lossy(&datagram[..length]).into_owned();
        messages.extend(text.lines().map(str::to_owned));
    }
    let is_request = |line: &&String| line.starts_with("k6.http_reqs:1|c|#expected_response:true,");
    assert_eq!(messages.iter().filter(is_request).count(), 10);
}
