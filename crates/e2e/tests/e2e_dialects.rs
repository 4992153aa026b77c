//! Command lines of hey and bombardier under their dialects, compared with the recordings of the tools.
//!
//! Must not know the topic of a line. Invariant: the tools themselves are only needed for recording.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loadline_e2e::dialects::{Tool, hold};
use loadline_e2e::process::Running;
use loadline_e2e::server::Server;
use loadline_e2e::web::{self, Request};
use loadline_e2e::{clock, loadline};

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn hey_is_spoken_as_hey_speaks_it() {
    hold(Tool::Hey);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn bombardier_is_spoken_as_bombardier_speaks_it() {
    hold(Tool::Bombardier);
}

/// Both tools report the results so far, and end with 0; requests in flight are awaited and counted.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_interrupt_ends_the_load_and_not_the_report() {
    for (words, counted, also) in [
        (
            ["hey", "-n"],
            r"\[200\]\t(\d+) responses",
            "Latency distribution:",
        ),
        (["bombardier", "-n"], r"2xx - (\d+)", "Done!\nStatistics "),
    ] {
        let answered = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&answered);
        let server = Server::start(move |stream, stop| {
            web::serve(stream, |_| {
                stop.pause(Duration::from_millis(20));
                count.fetch_add(1, Ordering::Relaxed);
                web::ok("ok")
            })
        });
        let mut command = loadline();
        command
            .args(words)
            .args(["100000", "-c", "2", &server.url("/")]);
        let running = Running::start(command);
        let enough = || (answered.load(Ordering::Relaxed) > 20).then_some(());
        clock::wait_for(Duration::from_secs(30), enough).expect("the run begins");
        running.signal(libc::SIGINT);
        let output = running.finish();
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains(also), "{told}");
        let pattern = regex::Regex::new(counted).expect("it is one");
        let counted = pattern.captures(&told).expect("a count")[1].parse::<u64>();
        assert_eq!(counted, Ok(answered.load(Ordering::Relaxed)), "{told}");
    }
}

/// As in both tools the first signal waits for requests in flight; here a second one does not.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_second_interrupt_waits_for_nothing() {
    for words in [&["hey", "-n"][..], &["bombardier", "-t", "40s", "-n"]] {
        let server = Server::start(|stream, stop| {
            web::serve(stream, |_| {
                stop.pause(Duration::from_secs(30));
                web::ok("ok")
            })
        });
        let mut command = loadline();
        command
            .args(words)
            .args(["100", "-c", "2", &server.url("/")]);
        let running = Running::start(command);
        let begun = || (server.accepted() >= 2).then_some(());
        clock::wait_for(Duration::from_secs(30), begun).expect("the run begins");
        running.signal(libc::SIGINT);
        clock::pause(Duration::from_millis(800));
        let said = running.errors_so_far();
        assert!(said.contains("waiting for requests in flight"), "{said}");
        let asked = clock::now();
        running.signal(libc::SIGINT);
        drop(running.finish());
        assert!(asked.elapsed() < Duration::from_secs(3), "{words:?}");
    }
}

/// A server that responds to twenty requests on one connection at a time, and disappears at the next.
fn dying() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    std::thread::spawn(move || {
        let mut left = 20;
        while let Ok((mut stream, _)) = listener.accept() {
            while let Ok(Some(_)) = Request::read(&mut stream) {
                if left == 0 {
                    drop(listener);
                    return;
                }
                left -= 1;
                // A client that is gone sends no more requests.
                let _ = stream.write_all(&web::ok("ok"));
            }
        }
    });
    address
}

/// The output of the tools themselves; `docs/dialects.md` describes where bombardier's second client differs.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_server_that_dies_is_told_of_as_the_tools_do() {
    let refused = "dial tcp $ADDR: connect: connection refused";
    let get = "Get \"http://$ADDR/\":";
    for (words, told) in [
        (
            &["hey"][..],
            format!("  [200]\t20 responses\n\nError distribution:\n  [20]\t{get} {refused}\n"),
        ),
        (
            &["hey", "-disable-keepalive"],
            format!(
                "  [200]\t20 responses\n\nError distribution:\n  [1]\t{get} EOF\n  [19]\t{get} {refused}\n"
            ),
        ),
        (
            &["bombardier", "-p", "r"],
            format!(
                "2xx - 20, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 20\n  Errors:\n    {refused} - 20\n"
            ),
        ),
        (
            &["bombardier", "-p", "r", "--http1"],
            format!("others - 20\n  Errors:\n    {get} {refused} - 20\n"),
        ),
    ] {
        let address = dying().to_string();
        let mut command = loadline();
        command.args(words).args(["-n", "40", "-c", "1"]);
        command.arg(format!("http://{address}/"));
        let output = Running::start(command).finish();
        let out = String::from_utf8_lossy(&output.stdout).replace(&address, "$ADDR");
        assert!(out.contains(&told), "{words:?}: {told}\n{out}");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {out}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_at_once_do_not_meet() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let folder = tempfile::tempdir().expect("there is room");
    let start = |tool: &str| {
        let mut command = loadline();
        command
            .current_dir(folder.path())
            .args([tool, "-n", "400", "-c", "4", &server.url("/")]);
        Running::start(command)
    };
    let both = ["hey", "bombardier", "hey", "bombardier"].map(|tool| (tool, start(tool)));
    for (tool, running) in both {
        let output = running.finish();
        let out = String::from_utf8_lossy(&output.stdout);
        let told = match tool {
            "hey" => "[200]\t400 responses",
            _ => "2xx - 400,",
        };
        assert!(out.contains(told), "{out}");
        assert_eq!(output.status.code(), Some(0), "{out}");
    }
    let left = std::fs::read_dir(folder.path())
        .expect("it is there")
        .count();
    assert_eq!(left, 0, "files where they were started");
}
