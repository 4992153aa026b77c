//! Outputs of `--out` with receivers that are present, late, temporarily unavailable, slow, or absent, and with
//! a full disk: the received data, the reports, and the exit code.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadline_e2e::server::{Server, Stop};
use loadline_e2e::web::{self, Request};
use loadline_e2e::{clock, loadline, run_to_end};
use tempfile::TempDir;

/// Requests of each run, and the values that `bench` sends for each of them.
const REQUESTS: usize = 200;
const VALUES: usize = 10;

/// The lines that a receiver of points got, without duplicates.
type Points = Arc<Mutex<HashSet<String>>>;

fn keep(points: &Points, request: &Request) {
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let mut points = points.lock().expect("no thread panics with this lock");
    points.extend(body.lines().map(str::to_owned));
}

fn target() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")))
}

/// A receiver of points that calls a function before it responds to each post; `false`: it closes the
/// connection.
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

/// `bench` with an output, and its outcome.
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
        ended.err.matches(" is failing: ").count(),
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
    // Unavailable for one second, starting half a second after the first post.
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
        ended.err.matches(" is failing: ").count(),
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
            ended.err.matches(" is failing: ").count(),
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
fn receivers_that_never_answer_keep_no_run_from_its_end() {
    let silent = Server::start(|mut stream, _| {
        std::io::copy(&mut stream, &mut std::io::sink())?;
        Ok(())
    });
    let target = target();
    let address = silent.address();
    let outputs = ["influxdb", "prometheus-rw", "opentelemetry"];
    let outputs = outputs.map(|kind| format!("{kind}=http://{address}"));
    let mut arguments = vec!["-z", "2s"];
    arguments.extend(outputs.iter().flat_map(|output| ["-o", output]));
    let began = clock::now();
    let ended = ended(command(&target, &arguments));
    let took = clock::now() - began;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(
        ended.err.matches(" is failing: ").count(),
        3,
        "{}",
        ended.err
    );
    assert!(took < Duration::from_secs(15), "{took:?}");
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
    let why =
        "could not create the 'csv' output: open /no/such/folder/a: no such file or directory";
    assert!(missing.err.contains(why), "{}", missing.err);
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

/// Two scenarios whose virtual users wait for one another, so that one of them sees all five busy.
const TOGETHER: &str = "
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
const scenario = (vus) => ({ executor: 'per-vu-iterations', vus, iterations: 1 });
export const options = { scenarios: { two: scenario(2), three: scenario(3) } };
export default function () {
  while (exec.instance.vusActive < 5) sleep(0.01);
  http.get(__ENV.URL);
  sleep(1);
}
";

/// The maximum numbers of virtual users of the scenario and of the run in rows of a thread with this prefix.
fn most_at_work(jtl: &str, thread: &str) -> (u32, u32) {
    let rows = jtl.lines().skip(1).map(|row| row.split(',').collect());
    let of_thread = rows.filter(|row: &Vec<&str>| row[5].starts_with(thread));
    let counts = of_thread.map(|row| [11, 12].map(|at| row[at].parse().expect("a number")));
    counts.fold((0, 0), |most: (u32, u32), [of_group, all]| {
        assert!((1..=all).contains(&of_group), "{jtl}");
        (most.0.max(of_group), most.1.max(all))
    })
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn rows_tell_who_was_at_work_when_the_request_ended() {
    let (target, folder) = (target(), TempDir::new().expect("there is room"));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (jtl, script) = (path("a.jtl"), path("a.js"));
    std::fs::write(&script, TOGETHER).expect("there is room");
    let mut run = loadline();
    run.args(["run", "-q", "-e", &format!("URL={}", target.url("/"))]);
    run.args(["-o", &format!("jtl={jtl}"), &script]);
    let output = run_to_end(run);
    assert!(output.status.success(), "{output:?}");
    let rows = std::fs::read_to_string(&jtl).expect("it was written");
    assert_eq!(most_at_work(&rows, "two 1-"), (2, 5), "{rows}");
    assert_eq!(most_at_work(&rows, "three 1-"), (3, 5), "{rows}");
    let ended = ended(command(&target, &["-n", "50", "-o", &format!("jtl={jtl}")]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let rows = std::fs::read_to_string(&jtl).expect("it was written");
    let (of_group, all) = most_at_work(&rows, "default 1-");
    assert!(of_group == all && all <= 4, "{rows}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_run_that_is_refused_leaves_files_as_they_are() {
    let folder = TempDir::new().expect("there is room");
    let (script, out) = (folder.path().join("a.js"), folder.path().join("a.json"));
    let text = "export const options = { thresholds: { nope: ['count>1'] } };
export default function () {}";
    std::fs::write(&script, text).expect("there is room");
    std::fs::write(&out, "kept").expect("there is room");
    let mut run = loadline();
    run.args(["run", "-q", "-o", &format!("json={}", out.display())]);
    run.arg(&script);
    let output = run_to_end(run);
    assert_eq!(output.status.code(), Some(104), "{output:?}");
    assert_eq!(std::fs::read(&out).expect("it is there"), b"kept");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn infinite_values_are_told_of_once() {
    let folder = TempDir::new().expect("there is room");
    let script = folder.path().join("a.js");
    let text = "import { Trend } from 'k6/metrics'; const trend = new Trend('lengths');
export default function () { trend.add(Infinity); trend.add(2); trend.add(-Infinity); }";
    std::fs::write(&script, text).expect("there is room");
    let mut run = loadline();
    run.args(["run", "-q", "-u", "2", "-i", "8"]).arg(&script);
    let output = run_to_end(run);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(err.matches("'lengths' is infinite").count(), 1, "{err}");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("lengths") && out.contains("max=2"), "{out}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_header_names_standard_output_as_k6_does() {
    let folder = TempDir::new().expect("there is room");
    let script = folder.path().join("a.js");
    std::fs::write(&script, "export default function () {}").expect("there is room");
    let mut run = loadline();
    run.args(["run", "-o", "json"]).arg(&script);
    let output = run_to_end(run);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("        output: json(stdout)\n"), "{out}");
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
