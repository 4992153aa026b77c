//! Runs against a real nginx: the requests sent according to the result are those received according to the
//! server's log.
//!
//! Must not know the engine. Invariant: each test has its own nginx and log; without nginx the tests are
//! skipped.

use loadline_e2e::certificates::{Authority, Validity};
use loadline_e2e::nginx::{Logged, Nginx, Options};
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench, skip};

use std::collections::BTreeSet;

fn nginx(test: &str, options: &Options<'_>) -> Option<Nginx> {
    Nginx::start(options).map_err(|why| skip(test, &why)).ok()
}

/// Runs, and checks that every request is in the log with a response.
fn logged(nginx: &Nginx, arguments: &[&str]) -> (Ran, Vec<Logged>) {
    let ran = bench(&[&["-q"], arguments].concat());
    let sent = ran.count("started") + ran.number("/totals/seen/warm_up/started");
    let good = ran.count("good") + ran.number("/totals/seen/warm_up/good");
    assert_eq!(
        sent,
        good,
        "{arguments:?}: {:?} {:?}",
        ran.failures(),
        ran.messages()
    );
    ran.assert_code(0);
    let log = nginx.log_of(sent);
    (ran, log)
}

fn connections(log: &[Logged]) -> u64 {
    let distinct: BTreeSet<u64> = log.iter().map(|line| line.connection).collect();
    distinct.len() as u64
}

fn opened(ran: &Ran) -> u64 {
    ran.number("/totals/seen/connections/opened")
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_number_of_requests() {
    let Some(nginx) = nginx("a_number_of_requests", &Options::default()) else {
        return;
    };
    let (ran, log) = logged(&nginx, &["-c", "10", "-n", "5000", &nginx.url("/")]);
    assert_eq!((ran.count("started"), ran.status(200)), (5000, 5000));
    assert_eq!((connections(&log), opened(&ran)), (10, 10));
    assert_eq!(ran.at("/totals/stop"), "finished");
    assert!(
        ran.report()
            .contains("planned 5,000 · sent 5,000 · answered 5,000 · failed 0")
    );
    assert_eq!(ran.number("/metrics/service_time_ns/count"), 5000);
    ran.assert_memory_below(40);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn memory_does_not_grow_with_the_number_of_requests() {
    let quiet = Options {
        quiet: true,
        ..Options::default()
    };
    let test = "memory_does_not_grow_with_the_number_of_requests";
    let Some(nginx) = nginx(test, &quiet) else {
        return;
    };
    let memory = |requests| {
        let ran = bench(&["-q", "-c", "20", "-n", requests, &nginx.url("/")]);
        assert_eq!(
            ran.count("good"),
            ran.count("started"),
            "{:?}",
            ran.failures()
        );
        ran.number("/totals/rss_max_bytes")
    };
    let (few, many) = (memory("10k"), memory("100k"));
    assert!(many < few + (2 << 20), "{few} and {many} bytes");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_time() {
    let Some(nginx) = nginx("a_time", &Options::default()) else {
        return;
    };
    let (ran, log) = logged(&nginx, &["-c", "4", "-z", "600ms", &nginx.url("/")]);
    assert!(ran.count("started") > 100, "{}", ran.count("started"));
    assert_eq!(connections(&log), 4);
    let elapsed = ran.number("/totals/elapsed_ns");
    assert!((600_000_000..2_000_000_000).contains(&elapsed), "{elapsed}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_arrival_rate() {
    let Some(nginx) = nginx("an_arrival_rate", &Options::default()) else {
        return;
    };
    let load = ["-r", "300", "-c", "5", "-z", "1s"];
    let (ran, _) = logged(&nginx, &[&load[..], &[&nginx.url("/")]].concat());
    assert_eq!(
        (ran.count("started"), ran.number("/totals/asked")),
        (300, 300)
    );
    assert_eq!(ran.at("/verdict/delivery"), "delivered", "{}", ran.out);
    assert_eq!(ran.number("/metrics/response_time_ns/count"), 300);
    assert!(ran.number("/metrics/schedule_lag_ns/count") > 0);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn stages_of_users_and_of_rates() {
    let Some(nginx) = nginx("stages_of_users_and_of_rates", &Options::default()) else {
        return;
    };
    let stages = ["-c", "1", "--stages", "500ms:8,300ms:2"];
    let pacing = ["--pacing", "5ms", &nginx.url("/")];
    let (_, users) = logged(&nginx, &[&stages[..], &pacing].concat());
    assert!(
        (6..=8).contains(&connections(&users)),
        "{} users",
        connections(&users)
    );
}

/// A ramp from 0 to 200/s in one second has 100 starts, whatever the machine does.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_ramp_of_the_rate() {
    let Some(nginx) = nginx("a_ramp_of_the_rate", &Options::default()) else {
        return;
    };
    let (ran, log) = logged(
        &nginx,
        &["-c", "5", "--stages", "1s:200/s", &nginx.url("/")],
    );
    assert_eq!(ran.number("/totals/asked"), log.len() as u64);
    assert!((99..=100).contains(&log.len()), "{}", log.len());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn connections_that_are_not_kept() {
    let Some(nginx) = nginx("connections_that_are_not_kept", &Options::default()) else {
        return;
    };
    let (ran, log) = logged(
        &nginx,
        &["-c", "4", "-n", "60", "--no-keepalive", &nginx.url("/")],
    );
    assert_eq!((connections(&log), opened(&ran)), (60, 60));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn connections_that_are_replaced() {
    let Some(nginx) = nginx("connections_that_are_replaced", &Options::default()) else {
        return;
    };
    let load = [
        "-c",
        "3",
        "-n",
        "100",
        "--max-requests-per-connection",
        "10",
    ];
    let (ran, log) = logged(&nginx, &[&load[..], &[&nginx.url("/")]].concat());
    let longest = log.iter().map(|line| line.request).max();
    assert_eq!(longest, Some(10));
    assert_eq!(connections(&log), opened(&ran));
    assert!(
        (10..=12).contains(&opened(&ran)),
        "{} connections",
        opened(&ran)
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn bodies_of_every_size() {
    let Some(nginx) = nginx("bodies_of_every_size", &Options::default()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut sent = 0;
    for size in [0_u64, 1, 11_000, 1 << 20] {
        let path = folder.path().join(size.to_string());
        std::fs::write(&path, vec![b'x'; size as usize]).expect("it can be written to");
        let path = path.to_str().expect("a path of text");
        let ran = bench(&[
            "-q",
            "-c",
            "2",
            "-n",
            "10",
            "-m",
            "POST",
            "-D",
            path,
            &nginx.url("/"),
        ]);
        assert_eq!(ran.count("good"), 10, "{size}: {:?}", ran.messages());
        assert!(ran.count("bytes_sent") >= 10 * size, "{size}");
        sent += 10;
        let log = nginx.log_of(sent);
        let last = &log[log.len() - 10..];
        let whole = |line: &Logged| line.body_bytes == size && line.method == "POST";
        assert!(last.iter().all(whole), "{size}: {last:?}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn several_urls_with_templates() {
    let Some(nginx) = nginx("several_urls_with_templates", &Options::default()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let urls = folder.path().join("urls");
    let text = format!(
        "# two more\nPUT {}\n\n{}\n",
        nginx.url("/c"),
        nginx.url("/d?n={{counter}}")
    );
    std::fs::write(&urls, text).expect("it can be written to");
    let urls = urls.to_str().expect("a path of text");
    let (a, b) = (nginx.url("/a/{{counter}}"), nginx.url("/b/{{hex 8}}"));
    let load = ["-c", "2", "-n", "40", "--urls", urls];
    let (_, log) = logged(&nginx, &[&load[..], &[&a, &b]].concat());
    let of = |start: &str| -> BTreeSet<&str> {
        let uris = log.iter().map(|line| line.uri.as_str());
        uris.filter(|uri| uri.starts_with(start)).collect()
    };
    assert_eq!(
        (of("/a/").len(), of("/d?n=").len()),
        (10, 10),
        "the counter repeats itself"
    );
    assert!(
        of("/b/").iter().all(|uri| uri.len() == "/b/12345678".len()),
        "{:?}",
        of("/b/")
    );
    let put = log
        .iter()
        .filter(|line| line.uri == "/c" && line.method == "PUT");
    assert_eq!(put.count(), 10);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_unix_socket() {
    let options = Options {
        unix_socket: true,
        ..Options::default()
    };
    let Some(nginx) = nginx("a_unix_socket", &options) else {
        return;
    };
    let socket = nginx.unix_socket();
    let socket = socket.to_str().expect("a path of text");
    let load = [
        "-c",
        "3",
        "-n",
        "30",
        "--unix-socket",
        socket,
        "http://shop.test/x",
    ];
    let (_, log) = logged(&nginx, &load);
    assert!(
        log.iter()
            .all(|line| line.remote == "unix:" && line.host == "shop.test"),
        "{log:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn http2_with_prior_knowledge() {
    let options = Options {
        h2c: true,
        ..Options::default()
    };
    let Some(nginx) = nginx("http2_with_prior_knowledge", &options) else {
        return;
    };
    let load = ["--h2c", "-c", "2", "--streams", "5", "-n", "200"];
    let post = ["-b", "{{counter}} and more", &nginx.url("/")];
    let (ran, log) = logged(&nginx, &[&load[..], &post].concat());
    assert!(
        log.iter().all(|line| line.protocol == "HTTP/2.0"),
        "{log:?}"
    );
    assert_eq!((connections(&log), opened(&ran)), (2, 2));
    assert_eq!(ran.number("/totals/seen/connections/http2"), 2);
}

/// More virtual users share a connection than the server allows streams on it: nobody waits for a stream.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn http2_with_fewer_streams_than_users() {
    let target = Target::start(&[]);
    let slow = format!(
        "http2_max_concurrent_streams 2; location /slow {{ proxy_pass {}; }}",
        target.url("/delay/50ms")
    );
    let options = Options {
        h2c: true,
        server: &slow,
        ..Options::default()
    };
    let Some(nginx) = nginx("http2_with_fewer_streams_than_users", &options) else {
        return;
    };
    let load = ["--h2c", "-c", "1", "--streams", "8", "-n", "64"];
    let (ran, log) = logged(&nginx, &[&load[..], &[&nginx.url("/slow")]].concat());
    assert_eq!((connections(&log), opened(&ran)), (4, 4));
}

/// A port that only supports HTTP/2 with HTTP/1.1 requests, and the reverse.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn http_versions_mixed_up() {
    let test = "http_versions_mixed_up";
    let h2c = Options {
        h2c: true,
        ..Options::default()
    };
    let (Some(new), Some(old)) = (nginx(test, &h2c), nginx(test, &Options::default())) else {
        return;
    };
    let ran = bench(&["-q", "-c", "2", "-n", "6", &new.url("/")]);
    assert_eq!(ran.failures(), [("malformed", 6)], "{:?}", ran.messages());
    assert!(
        ran.messages()[0].contains("ask with HTTP/2"),
        "{:?}",
        ran.messages()
    );
    let ran = bench(&["-q", "--h2c", "-c", "2", "-n", "6", &old.url("/")]);
    assert_eq!(ran.failures(), [("http2", 6)], "{:?}", ran.messages());
    ran.assert_named("http2");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn tls_and_what_alpn_decides() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let authority = Authority::new("authority");
    let ca = authority.save(folder.path(), "ca.pem");
    let identity = authority.sign("localhost", Validity::Now);
    let options = Options {
        tls: Some(&identity),
        ..Options::default()
    };
    let Some(nginx) = nginx("tls_and_what_alpn_decides", &options) else {
        return;
    };
    let url = format!("https://localhost:{}/", nginx.tls_port());
    let load = ["--cacert", &ca, "-4", "-c", "2", "-n", "20", &url];
    let (ran, log) = logged(&nginx, &load);
    assert!(
        log.iter().all(|line| line.protocol == "HTTP/1.1"),
        "{log:?}"
    );
    assert_eq!(ran.number("/totals/seen/connections/tls/count"), 2);
    let ran = bench(&[&["-q", "--http2", "--streams", "4"], &load[..]].concat());
    assert_eq!(ran.count("good"), 20, "{:?}", ran.messages());
    let log = nginx.log_of(40);
    assert!(
        log[20..].iter().all(|line| line.protocol == "HTTP/2.0"),
        "{log:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn detours_and_addresses_by_hand() {
    let Some(nginx) = nginx("detours_and_addresses_by_hand", &Options::default()) else {
        return;
    };
    let port = nginx.port();
    let detour = format!("shop.test:80:127.0.0.1:{port}");
    let entry = format!("shop.test:{port}:127.0.0.1");
    let url = format!("http://shop.test:{port}/");
    for (arguments, host) in [
        (["--connect-to", &detour, "http://shop.test/"], "shop.test"),
        (["--resolve", &entry, &url], &format!("shop.test:{port}")),
        (["--host", "bakery.test", &nginx.url("/")], "bakery.test"),
        (["-H", "host: cafe.test", &nginx.url("/")], "cafe.test"),
    ] {
        let before = nginx.log().len();
        let ran = bench(&[&["-q", "-c", "2", "-n", "10"][..], &arguments].concat());
        assert_eq!(ran.count("good"), 10, "{arguments:?}: {:?}", ran.messages());
        let log = nginx.log_of(before as u64 + 10);
        let asked = |line: &Logged| line.host == host;
        assert!(
            log[before..].iter().all(asked),
            "{arguments:?}: {:?}",
            log.last()
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn source_addresses_in_turn() {
    let Some(nginx) = nginx("source_addresses_in_turn", &Options::default()) else {
        return;
    };
    let sources = ["--source", "127.0.0.2", "--source", "127.0.0.3"];
    let load = ["-c", "4", "-n", "40", "--workers", "1", &nginx.url("/")];
    let (_, log) = logged(&nginx, &[&sources[..], &load].concat());
    let from: BTreeSet<&str> = log.iter().map(|line| line.remote.as_str()).collect();
    assert_eq!(from, BTreeSet::from(["127.0.0.2", "127.0.0.3"]));
}

/// Two addresses for one name: connections are spread over both, and each has its row.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_table_by_remote_address() {
    let Some(nginx) = nginx("a_table_by_remote_address", &Options::default()) else {
        return;
    };
    let port = nginx.port();
    let entry = format!("shop.test:{port}:127.0.0.1,127.0.0.2");
    let url = format!("http://shop.test:{port}/");
    let load = [
        "-c",
        "6",
        "-n",
        "60",
        "--workers",
        "1",
        "--resolve",
        &entry,
        &url,
    ];
    let (ran, _) = logged(&nginx, &load);
    let rows = ran.rows("/totals/seen/peers");
    let answered = |row: &serde_json::Value| row["answered"].as_u64().unwrap_or(0);
    let sum: u64 = rows.iter().map(|(_, row)| answered(row)).sum();
    assert_eq!((rows.len(), sum), (2, 60), "{rows:?}");
    assert!(
        rows.iter().all(|(_, row)| answered(row) > 0),
        "one replica is idle: {rows:?}"
    );
    for host in ["127.0.0.1", "127.0.0.2"] {
        assert!(
            ran.report().contains(&format!("{host}:{port}")),
            "{host}: {}",
            ran.out
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_warm_up_is_left_out() {
    let Some(nginx) = nginx("the_warm_up_is_left_out", &Options::default()) else {
        return;
    };
    let load = ["-r", "200", "-c", "4", "-z", "1s", "--warm-up", "500ms"];
    let (ran, log) = logged(&nginx, &[&load[..], &[&nginx.url("/")]].concat());
    assert_eq!(log.len(), 200);
    let warm_up = ran.number("/totals/seen/warm_up/started");
    assert!((95..=105).contains(&warm_up), "{warm_up} in the warm-up");
    assert_eq!(ran.number("/metrics/service_time_ns/count"), 200 - warm_up);
    assert!(ran.report().contains("in the warm-up"), "{}", ran.out);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_sample_as_csv() {
    let Some(nginx) = nginx("every_sample_as_csv", &Options::default()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("samples.csv");
    let name = path.to_str().expect("a path of text");
    let (ran, _) = logged(
        &nginx,
        &["-c", "4", "-n", "2000", "--csv", name, &nginx.url("/")],
    );
    let csv = std::fs::read_to_string(&path).expect("it was written");
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| columns.iter().position(|column| column.contains(name));
    let status = column("status").expect("a column of statuses");
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len() as u64, ran.count("completed"));
    assert!(
        rows.iter()
            .all(|row| row.len() == columns.len() && row[status] == "200")
    );
}
