//! Command lines of hey and bombardier under their dialects, held against what was seen of the tools.
//!
//! Must not know what a line is about. Invariant: the tools themselves are wanted for recording alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loadline_e2e::dialects::{Tool, hold};
use loadline_e2e::process::Running;
use loadline_e2e::server::Server;
use loadline_e2e::{clock, loadline, web};

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

/// Both tools report what there is, and end with 0; a request under way is waited for and counted.
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
