//! The route of connections, how long they are kept, and what happens if a kept one has ended.

use std::rc::Rc;

use loadline_model::ClientPlan;
use loadline_model::client::ProxyPlan;
use loadline_model::script_settings::ScriptSettings;

use super::server::{Act, Server};
use super::{Bench, origin, request};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_connection_serves_again() {
    super::in_runtime(async {
        let server = Server::answering(OK).await;
        let bench = Bench::plain();
        let first = bench.answer(&server.origin).await;
        let again = bench.answer(&server.origin).await;
        assert_eq!(server.connections(), 1);
        assert_eq!((again.times.blocked, again.times.connecting), (0, 0));
        let (sent, _) = bench.worker_bytes.take();
        assert_eq!((first.sent_bytes, again.sent_bytes), (sent / 2, sent / 2));
        assert!(sent > 0);
        bench.client.end_of_iteration();
        bench.answer(&server.origin).await;
        assert_eq!(
            server.connections(),
            1,
            "it lives on from iteration to iteration"
        );
        bench.client.pool.close();
        bench.answer(&server.origin).await;
        assert_eq!(server.connections(), 2);
    });
}

#[test]
fn connections_end_where_options_say_so() {
    super::in_runtime(async {
        let server = Server::answering(OK).await;
        let plan = ClientPlan {
            keep_alive: false,
            ..ClientPlan::default()
        };
        let bench = Bench::new(&plan, &ScriptSettings::default());
        bench.answer(&server.origin).await;
        bench.answer(&server.origin).await;
        assert_eq!(server.connections(), 2);
        assert!(server.requests()[0].ends_with("Connection: close\r\n\r\n"));

        let server = Server::answering(OK).await;
        let mut script = ScriptSettings::default();
        script.http.closes_after_iteration = true;
        let bench = Bench::new(&ClientPlan::default(), &script);
        bench.answer(&server.origin).await;
        bench.client.end_of_iteration();
        bench.answer(&server.origin).await;
        assert_eq!(server.connections(), 2);
    });
}

#[test]
fn requests_at_a_time_have_connections_of_their_own() {
    super::in_runtime(async {
        let server = Server::answering(OK).await;
        let mut script = ScriptSettings::default();
        script.http.batch_per_host = 2;
        let bench = Bench::new(&ClientPlan::default(), &script);
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let client = Rc::clone(&bench.client);
                let get = request("GET", &server.origin, None);
                tokio::task::spawn_local(async move { client.exchange(&get).await })
            })
            .collect();
        for task in tasks {
            let outcome = task.await.expect("no panic").expect("nothing is cut");
            assert_eq!(outcome.expect("an answer").body, b"ok");
        }
        assert_eq!(server.connections(), 3);
        assert_eq!(
            bench.client.pool.idle_count(),
            2,
            "no more are kept to one host"
        );
    });
}

#[test]
fn a_kept_connection_that_ends_silently_is_replaced() {
    super::in_runtime(async {
        let dying = vec![Act::Read, Act::Send(OK.as_bytes()), Act::Read];
        for (method, body, again) in [
            ("GET", None, true),
            ("GET", Some("x"), true),
            ("POST", Some("x"), false),
        ] {
            let lists = [dying.clone(), vec![Act::Answer(OK)]];
            let server = Server::start(lists).await;
            let bench = Bench::plain();
            bench.answer(&server.origin).await;
            let second = request(method, &server.origin, body);
            let outcome = bench.client.exchange(&second).await;
            let outcome = outcome.expect("nothing is cut");
            assert_eq!(outcome.is_ok(), again, "{method}");
            if let Err(failure) = outcome {
                assert_eq!((failure.code, failure.tag.as_str()), (1000, "EOF"));
            }
        }
    });
}

#[test]
fn a_connection_seen_to_have_ended_is_not_used() {
    super::in_runtime(async {
        let lists = [
            vec![Act::Read, Act::Send(OK.as_bytes())],
            vec![Act::Answer(OK)],
        ];
        let server = Server::start(lists).await;
        let bench = Bench::plain();
        bench.answer(&server.origin).await;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        let post = request("POST", &server.origin, Some("x"));
        let outcome = bench.client.exchange(&post).await.expect("nothing is cut");
        assert_eq!(outcome.expect("an answer").body, b"ok");
        assert_eq!(server.connections(), 2);
    });
}

#[test]
fn connections_come_from_the_virtual_users_own_address() {
    super::in_runtime(async {
        let server = Server::answering(OK).await;
        let mut script = ScriptSettings::default();
        let range = "127.0.0.77-127.0.0.78".parse().expect("the test's range");
        script.names.local_addresses = vec![range];
        let bench = Bench::new(&ClientPlan::default(), &script);
        bench.answer(&server.origin).await;
        let peer = server.last_peer().expect("a connection came");
        assert_eq!(peer.ip().to_string(), "127.0.0.77");
    });
}

#[test]
fn a_proxy_is_asked_for_what_is_elsewhere() {
    super::in_runtime(async {
        let server = Server::answering(OK).await;
        let plan = ClientPlan {
            proxy: Some(ProxyPlan {
                host: server.address.ip().to_string(),
                port: server.address.port(),
                authorization: Some("Basic x".to_owned()),
                except: Vec::new(),
                for_http: true,
                for_https: true,
            }),
            ..ClientPlan::default()
        };
        let bench = Bench::new(&plan, &ScriptSettings::default());
        bench.answer(&origin("http://elsewhere.test/")).await;
        let seen = server.requests().remove(0);
        assert!(
            seen.starts_with("GET http://elsewhere.test/ HTTP/1.1\r\n"),
            "{seen}"
        );
        assert!(seen.contains("Proxy-Authorization: Basic x\r\n"), "{seen}");
        bench.answer(&server.origin).await;
        let direct = server.requests().remove(1);
        assert!(direct.starts_with("GET / HTTP/1.1\r\n"), "{direct}");
    });
}
