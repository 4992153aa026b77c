//! The script client against servers in the same thread that do one thing each.
//!
//! Invariant under test: this client reports each fault as k6 v2.2.0 does, and keeps a connection exactly as long as
//! Go does.

mod failures;
mod keeping;
mod server;
mod tls;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loadline_model::script_settings::ScriptSettings;
use loadline_model::url::{Origin, parse};
use loadline_model::{ClientPlan, Nanos};
use loadline_script::hop::{HopAnswer, HopFailure, HopOutcome, HopRequest};

use self::server::{Act, Server};
use super::{Cut, ScriptClient, ScriptClientPlan, ScriptClientSettings, WorkerParts};
use crate::clock::Clock;
use crate::connections_seen::ConnectionsSeen;
use crate::net::{Kept, Resolver, WireBytes};
use crate::slot::VuSlot;

/// A client with its surroundings.
struct Bench {
    client: Rc<ScriptClient>,
    slot: Rc<VuSlot>,
    clock: Clock,
    worker_bytes: Rc<WireBytes>,
    connections: Rc<ConnectionsSeen>,
}

impl Bench {
    fn new(plan: &ClientPlan, script: &ScriptSettings) -> Bench {
        let clock = Clock::start();
        let worker_bytes = Rc::new(WireBytes::default());
        let connections = Rc::new(ConnectionsSeen::default());
        let parts = WorkerParts {
            clock,
            resolver: Resolver::start(clock, Kept::found(None)).expect("a thread can be made"),
            bytes: Rc::clone(&worker_bytes),
            connections: Rc::clone(&connections),
            seed: 1,
            number: 0,
        };
        let plan = ScriptClientPlan::new(plan, script).expect("the test's settings");
        let settings = ScriptClientSettings::new(plan, parts);
        let slot = Rc::new(VuSlot::new(0, 0));
        slot.begin_iteration(Nanos::MAX);
        Bench {
            client: Rc::new(ScriptClient::new(0, Rc::clone(&slot), settings)),
            slot,
            clock,
            worker_bytes,
            connections,
        }
    }

    fn plain() -> Bench {
        Bench::new(&ClientPlan::default(), &ScriptSettings::default())
    }

    async fn get(&self, origin: &Arc<Origin>) -> HopOutcome {
        let outcome = self.client.exchange(&request("GET", origin, None)).await;
        outcome.expect("nothing is cut")
    }

    async fn answer(&self, origin: &Arc<Origin>) -> HopAnswer {
        self.get(origin).await.expect("an answer")
    }

    async fn failure(&self, origin: &Arc<Origin>) -> HopFailure {
        self.get(origin).await.expect_err("a failure")
    }
}

fn origin(url: &str) -> Arc<Origin> {
    Arc::new(parse(url).expect("the test's URL").origin)
}

fn request(method: &str, origin: &Arc<Origin>, body: Option<&'static str>) -> HopRequest {
    HopRequest {
        method: Arc::from(method),
        origin: Arc::clone(origin),
        target: "/".to_owned(),
        headers: vec![(Arc::from("Host"), origin.authority())],
        body: body.map(|text| Bytes::from_static(text.as_bytes())),
        deadline: Nanos::MAX,
        follows: false,
        keep_body: true,
        leads_on: false,
    }
}

fn in_runtime(test: impl Future<Output = ()>) {
    crate::runtime::local()
        .expect("a runtime can be made")
        .block_on(test);
}

#[test]
fn an_answer_comes_whole() {
    in_runtime(async {
        let server = Server::start([vec![
            Act::Read,
            Act::Send(
                b"HTTP/1.0 299 My Thing\r\nX-One: 1\r\nx-two:  2 \r\nContent-Length: 3\r\n\r\nabc",
            ),
        ]])
        .await;
        let bench = Bench::plain();
        let answer = bench.answer(&server.origin).await;
        assert_eq!(
            (answer.status, answer.reason.as_deref()),
            (299, Some("My Thing"))
        );
        assert_eq!(answer.protocol.name(), "HTTP/1.0");
        assert_eq!(answer.body, b"abc");
        let fields: Vec<_> = answer.headers.iter().take(2).collect();
        assert_eq!(fields, [(&b"X-One"[..], &b"1"[..]), (b"x-two", b"2")]);
        assert_eq!(answer.remote, Some(server.address));
        let times = answer.times;
        assert!(times.connecting > 0 && times.blocked >= times.connecting);
        assert!(times.sending > 0 && times.waiting > 0);
        assert_eq!((times.tls_handshaking, answer.tls), (0, None));
    });
}

/// Each delay of the server shows in its phase: a body read late, a response sent late, a body sent late.
#[test]
fn phases_are_what_the_server_staged() {
    use Act::{Pause, Read, Send};
    const STAGED: Duration = Duration::from_millis(120);
    const BODY_BYTES: usize = 24 << 20;
    in_runtime(async {
        let server = Server::start([
            vec![
                Pause(STAGED),
                Read,
                Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ],
            vec![
                Read,
                Pause(STAGED),
                Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ],
            vec![
                Read,
                Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
                Pause(STAGED),
                Send(b"k"),
            ],
        ])
        .await;
        let body: &'static str = "x".repeat(BODY_BYTES).leak();
        let staged = STAGED.as_nanos() as u64;
        for (sent, phase) in [(Some(body), 0), (None, 1), (None, 2)] {
            let bench = Bench::plain();
            let asked = request("POST", &server.origin, sent);
            let outcome = bench.client.exchange(&asked).await.expect("nothing is cut");
            let times = outcome.expect("an answer").times;
            let phases = [times.sending, times.waiting, times.receiving];
            assert!(phases[phase] >= staged, "phase {phase}: {times:?}");
            // How long reading a long body takes depends on the machine.
            let longest = phases.into_iter().max();
            assert!(
                sent.is_some() || longest == Some(phases[phase]),
                "{times:?}"
            );
            assert!(times.connecting <= times.blocked, "{times:?}");
        }
    });
}

#[test]
fn a_body_that_nobody_wants_is_read_and_dropped() {
    in_runtime(async {
        let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc").await;
        let bench = Bench::plain();
        let mut unwanted = request("GET", &server.origin, None);
        unwanted.keep_body = false;
        let answer = bench.client.exchange(&unwanted).await;
        let answer = answer.expect("nothing is cut").expect("an answer");
        assert_eq!(answer.body.capacity(), 0);
        assert_eq!(bench.answer(&server.origin).await.body, b"abc");
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn of_a_redirect_that_is_followed_no_more_is_read_than_keeps_the_connection() {
    in_runtime(async {
        use Act::{Hold, Read, Send};
        const HEAD: &str = "HTTP/1.1 302 Found\r\nLocation: /next\r\n";
        let head = |rest: &str| HEAD.to_owned() + rest;
        let bodies = [
            (head("Content-Length: 3\r\n\r\nabc"), true),
            (head("Content-Length: 5000\r\n\r\nabc"), false),
            (head("\r\n") + &"x".repeat(5_000), false),
            (head("Transfer-Encoding: chunked\r\n\r\nno\r\n"), false),
        ];
        for (text, is_kept) in bodies {
            let text: &'static str = text.leak();
            let acts = vec![
                Read,
                Send(text.as_bytes()),
                Read,
                Send(text.as_bytes()),
                Hold,
            ];
            let server = Server::start([acts]).await;
            let bench = Bench::plain();
            for _ in 0..2 {
                let mut asked = request("GET", &server.origin, None);
                asked.leads_on = true;
                let outcome = bench.client.exchange(&asked).await;
                let answer = outcome.expect("nothing is cut").expect("an answer");
                assert_eq!(answer.status, 302);
            }
            assert_eq!(server.connections() == 1, is_kept, "{text:.80}");
        }
    });
}

#[test]
fn long_bodies_are_sent_whole() {
    in_runtime(async {
        let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let body: &'static str = "x".repeat(300_000).leak();
        let sent = Bench::plain()
            .client
            .exchange(&request("POST", &server.origin, Some(body)))
            .await;
        assert_eq!(
            sent.expect("nothing is cut").expect("an answer").status,
            200
        );
        let seen = server.requests();
        assert!(seen[0].contains("Content-Length: 300000\r\n"));
        assert_eq!(server.body_bytes(), 300_000);
    });
}

/// More than the kernels of both ends buffer for a peer that reads nothing.
fn endless_body() -> &'static str {
    "x".repeat(32 << 20).leak()
}

#[test]
fn an_answer_that_comes_before_the_whole_request_is_one() {
    in_runtime(async {
        let refusal = b"HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbig";
        let server = Server::start([vec![Act::Send(refusal), Act::Hold]]).await;
        let bench = Bench::plain();
        for connections in [1, 2] {
            let asked = request("POST", &server.origin, Some(endless_body()));
            let outcome = bench.client.exchange(&asked).await;
            let answer = outcome.expect("nothing is cut").expect("an answer");
            assert_eq!((answer.status, &answer.body[..]), (413, &b"big"[..]));
            assert_eq!(server.connections(), connections, "half a request is on it");
        }
        assert_eq!(bench.connections.take().half_sent, 2);
    });
}

#[test]
fn a_peer_that_reads_nothing_until_it_is_read_gets_the_whole_request() {
    in_runtime(async {
        const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n";
        let answer: &'static str = format!("{HEAD}{}", endless_body()).leak();
        let acts = vec![Act::Send(answer.as_bytes()), Act::Read, Act::Hold];
        let server = Server::start([acts]).await;
        let bench = Bench::plain();
        let asked = request("POST", &server.origin, Some(endless_body()));
        let outcome = bench.client.exchange(&asked).await;
        let answer = outcome.expect("nothing is cut").expect("an answer");
        assert_eq!((answer.status, answer.body.len()), (200, 32 << 20));
    });
}

#[test]
fn bytes_count_for_the_virtual_user_and_for_its_worker() {
    in_runtime(async {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        let server = Server::answering(text).await;
        let bench = Bench::plain();
        bench.answer(&server.origin).await;
        let sent = server.requests()[0].len() as u64;
        let counted = (sent, text.len() as u64);
        assert_eq!(bench.client.take_bytes(), counted);
        assert_eq!(bench.client.take_bytes(), (0, 0));
        assert_eq!(bench.worker_bytes.take(), counted);
    });
}

#[test]
fn a_cut_ends_whatever_is_under_way() {
    in_runtime(async {
        let server = Server::start([vec![Act::Read, Act::Hold]]).await;
        let bench = Bench::plain();
        let slot = Rc::clone(&bench.slot);
        let asked = server.first_request();
        tokio::task::spawn_local(async move {
            asked.await;
            slot.cut();
        });
        let outcome = bench
            .client
            .exchange(&request("GET", &server.origin, None))
            .await;
        assert_eq!(outcome.err(), Some(Cut));
        assert_eq!(bench.client.take_cut().len(), 1);
        assert_eq!(bench.client.take_cut().len(), 0);
    });
}

#[test]
fn each_hop_has_a_deadline_of_its_own() {
    in_runtime(async {
        let silent = Server::start([vec![Act::Read, Act::Hold]]).await;
        let bench = Bench::plain();
        let mut first = request("GET", &silent.origin, None);
        first.deadline = bench.clock.now() + Duration::from_secs(3_600);
        let client = Rc::clone(&bench.client);
        let timed_out = tokio::task::spawn_local(async move { client.exchange(&first).await });
        let client = Rc::clone(&bench.client);
        let patient = request("GET", &silent.origin, None);
        let patient = tokio::task::spawn_local(async move { client.exchange(&patient).await });
        silent.first_request().await;
        bench
            .slot
            .sweep(bench.clock.now() + Duration::from_secs(4_000));
        let failure = timed_out.await.expect("no panic").expect("nothing is cut");
        let failure = failure.expect_err("no response came");
        assert_eq!(
            (failure.code, failure.tag.as_str()),
            (1050, "request timeout")
        );
        assert_eq!(failure.remote, Some(silent.address));
        assert!(!patient.is_finished());
        bench.slot.cut();
        assert_eq!(patient.await.expect("no panic").err(), Some(Cut));
        assert_eq!(
            bench.client.take_cut().len(),
            1,
            "the one that timed out came to an end"
        );
    });
}

#[test]
fn short_timeouts_need_no_sweep() {
    in_runtime(async {
        let silent = Server::start([vec![Act::Read, Act::Hold]]).await;
        let bench = Bench::plain();
        let mut brief = request("GET", &silent.origin, None);
        brief.deadline = bench.clock.now() + Duration::from_millis(5);
        let outcome = bench.client.exchange(&brief).await.expect("nothing is cut");
        assert_eq!(outcome.expect_err("no response came").code, 1050);
    });
}

#[test]
fn requests_keep_the_pace() {
    in_runtime(async {
        let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let mut script = ScriptSettings::default();
        script.http.requests_per_second = Some(100);
        let bench = Bench::new(&ClientPlan::default(), &script);
        let begun = bench.clock.now();
        for _ in 0..3 {
            bench.answer(&server.origin).await;
        }
        assert!(bench.clock.now().since(begun) >= 20_000_000);
    });
}
