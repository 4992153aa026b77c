//! `loadline target --config`: real processes with known costs, whose counts are exact whatever ends them.
//!
//! Must not know how the processes are controlled. Invariant: everything here is observed from outside: by TCP,
//! files, and PIDs.

use loadline_e2e::testbed::{Connection, Testbed, cpu_time, is_running};
use loadline_e2e::{clock, run};

use std::net::TcpListener;
use std::time::Duration;

/// How late a wait may be on a busy machine.
const LATE: Duration = Duration::from_millis(400);

fn timed<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let begun = clock::now();
    let result = action();
    (result, begun.elapsed())
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn components_are_told_and_answer() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { replicas: 2 } }\n  front: { balancer: { to: api } }\n",
    );
    let ready: serde_json::Value = serde_json::from_str(&testbed.file("ready.json")).expect("JSON");
    assert_eq!(&ready, testbed.table());
    let (api, front) = (testbed.component("api"), testbed.component("front"));
    assert_eq!(api["kind"], "service");
    assert_eq!(front["sends_to"][0], "api");
    assert_eq!(api["replicas"].as_array().map(Vec::len), Some(2));
    let (first, second) = (testbed.replica("api", 0), testbed.replica("api", 1));
    assert_eq!(
        (&first["state"], &second["state"]),
        (&"ready".into(), &"ready".into())
    );
    assert_ne!(
        (&first["pid"], &first["port"]),
        (&second["pid"], &second["port"])
    );
    assert_eq!(testbed.processes().len(), 3);
    assert_eq!(testbed.get("front", "/get", 3), 3);
    let metrics = Connection::to(&testbed.url("api")).ask("GET", "/metrics", "");
    for part in [
        "loadline_target_requests_total",
        "process_cpu_seconds_total",
        "le=\"0.001\"",
    ] {
        assert!(metrics.body.contains(part), "{part}: {}", metrics.body);
    }
    let all = testbed.control("GET", "/metrics");
    assert!(
        all.body
            .contains("testbed_requests_total{component=\"api\",replica=\"0\"} 3"),
        "{}",
        all.body
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn counts_survive_kills_and_restarts() {
    let testbed = Testbed::start("components:\n  api: { service: { restart: 100ms } }\n");
    let (address, pid) = (testbed.url("api"), testbed.pid("api", 0));
    assert_eq!(testbed.get("api", "/get", 30), 30);
    assert_eq!(testbed.get("api", "/status/404", 5), 0);
    let bytes = testbed.count("api", "bytes_in");
    loadline_e2e::testbed::kill(pid);
    testbed.wait_until("it runs again", |testbed| {
        let replica = testbed.replica("api", 0);
        replica["state"] == "ready" && replica["pid"] != pid
    });
    assert_eq!(testbed.url("api"), address, "the address stays");
    assert_eq!(testbed.replica("api", 0)["last_end"], "killed by signal 9");
    assert_eq!(testbed.get("api", "/get", 20), 20);
    assert_eq!(
        testbed.control("POST", "/components/api/restart").status,
        200
    );
    assert_eq!(testbed.get("api", "/get", 7), 7);
    let truth = testbed.truth("api");
    assert_eq!(truth["requests"], 62);
    assert_eq!(truth["answered"], serde_json::json!({"200": 57, "404": 5}));
    assert_eq!((&truth["restarts"], &truth["ooms"]), (&2.into(), &0.into()));
    assert!(testbed.count("api", "bytes_in") > bytes);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn too_much_memory_ends_a_process_as_the_kernel_does() {
    let testbed = Testbed::start(
        "components:\n  api:\n    service:\n      memory: { leak: 2MB, cap: 90MB }\n      restart: 100ms\n",
    );
    let pid = testbed.pid("api", 0);
    let mut connection = Connection::to(&testbed.url("api"));
    let answered = (0..200)
        .take_while(|_| connection.try_ask("GET", "/ok", "").is_ok())
        .count();
    assert!((5..60).contains(&answered), "{answered} requests of 2 MB");
    testbed.wait_until("it runs again", |testbed| {
        let replica = testbed.replica("api", 0);
        replica["state"] == "ready" && replica["pid"] != pid
    });
    let replica = testbed.replica("api", 0);
    assert_eq!(replica["last_end"], "out of memory: killed, exit code 137");
    assert_eq!(
        (
            testbed.count("api", "ooms"),
            testbed.count("api", "restarts")
        ),
        (1, 1)
    );
    assert_eq!(testbed.get("api", "/ok", 3), 3);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn scaling_and_orders_that_cannot_be() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { replicas: 1, restart: never } }\n  \
         front: { balancer: { to: api, level: http } }\n",
    );
    let status = |path: &str| testbed.control("POST", path).status;
    assert_eq!(status("/components/api/scale?replicas=3"), 200);
    assert_eq!(testbed.get("front", "/ok", 30), 30);
    let requests = |replica: usize| testbed.truth("api")["replicas"][replica]["requests"].clone();
    assert_eq!([requests(0), requests(1), requests(2)], [10, 10, 10]);
    assert_eq!(status("/components/api/scale?replicas=1"), 200);
    assert_eq!(testbed.processes().len(), 2);
    assert_eq!(testbed.get("front", "/ok", 10), 10);
    assert_eq!(
        testbed.count("api", "requests"),
        40,
        "replicas that are gone count"
    );
    assert_eq!(status("/components/api/cold"), 200);
    assert_eq!(
        Connection::to(&testbed.url("front"))
            .ask("GET", "/ok", "")
            .status,
        503
    );
    assert_eq!(status("/components/api/scale?replicas=1"), 200);
    assert_eq!(testbed.get("front", "/ok", 1), 1);
    for (path, code, part) in [
        ("/components/nobody/cold", 404, "api, front"),
        ("/components/front/scale?replicas=2", 409, "no replicas"),
        ("/components/front/degrade?factor=2", 409, "behind it"),
        ("/components/api/scale", 400, "scale?replicas=2"),
        ("/components/api/scale?replicas=x", 400, "not a number"),
        ("/components/api/scale?replicas=1000", 409, "at most"),
        ("/components/api/degrade?factor=0", 400, "degrade?factor=3"),
        (
            "/components/api/degrade?factor=2&replica=9",
            404,
            "no replica 9",
        ),
        ("/components/api/explode", 404, "not an order"),
    ] {
        let answer = testbed.control("POST", path);
        assert_eq!(answer.status, code, "{path}: {}", answer.body);
        assert!(answer.body.contains(part), "{path}: {}", answer.body);
    }
    assert_eq!(testbed.control("GET", "/components/api/cold").status, 405);
    loadline_e2e::testbed::kill(testbed.pid("api", 0));
    testbed.wait_until("it is not started again", |testbed| {
        testbed.replica("api", 0)["state"] == "ended"
    });
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_process_outlives_the_supervisor() {
    for (signal, code) in [
        (libc::SIGKILL, None),
        (libc::SIGINT, Some(0)),
        (libc::SIGTERM, Some(0)),
    ] {
        let mut testbed = Testbed::start(
            "components:\n  api: { service: { replicas: 2, cpu: 1ms } }\n  sink: { queue: { rate: 1 } }\n  \
             far: { network: { to: api } }\n  front: { autoscaler: { to: gate, min: 1 } }\n  \
             gate: { gateway: { to: far } }\n",
        );
        let processes = testbed.processes();
        assert_eq!(processes.len(), 6, "{}", testbed.table());
        assert!(processes.iter().all(|pid| is_running(*pid)));
        assert_eq!(testbed.end_by(signal), code);
        let gone = clock::wait_for(Duration::from_secs(5), || {
            processes.iter().all(|pid| !is_running(*pid)).then_some(())
        });
        assert!(
            gone.is_some(),
            "after signal {signal} of {processes:?} some are left"
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn cpu_is_burnt_as_told_and_slowed_down() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { replicas: 2, cpu: 5ms, workers: 1, slow: { replica: 1, factor: 3 } } }\n  \
         front: { balancer: { to: api, level: http } }\n",
    );
    assert_eq!(testbed.get("front", "/ok", 100), 100);
    for (replica, told) in [(0, 250), (1, 750)] {
        let burnt = testbed.truth("api")["replicas"][replica]["cpu_burnt_ns"].clone();
        assert_eq!(burnt, told * 1_000_000);
        let used = cpu_time(testbed.pid("api", replica))
            .expect("/proc tells")
            .as_millis();
        let told = u128::try_from(told).expect("positive");
        // It also includes starting, HTTP and the tick of the clock.
        assert!(
            (told - 10..told + 150).contains(&used),
            "replica {replica}: {used} ms for {told}"
        );
    }
    assert_eq!(
        testbed.control("POST", "/components/api/recover").status,
        200
    );
    assert_eq!(
        testbed
            .control("POST", "/components/api/degrade?factor=4&replica=0")
            .status,
        200
    );
    assert_eq!(testbed.get("front", "/ok", 20), 20);
    let burnt = |replica: usize| testbed.truth("api")["replicas"][replica]["cpu_burnt_ns"].as_u64();
    assert_eq!((burnt(0), burnt(1)), (Some(450_000_000), Some(900_000_000)));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_queue_acknowledges_at_its_rate_and_logs_each() {
    let testbed = Testbed::start(
        "components:\n  sink: { queue: { consumers: 3, rate: 150, backlog: 200, log: { file: acks.log } } }\n",
    );
    let mut connection = Connection::to(&testbed.url("sink"));
    let (statuses, _) = timed(|| {
        (0..230)
            .map(|_| connection.ask("POST", "/", "m").status)
            .collect::<Vec<_>>()
    });
    let taken = statuses.iter().filter(|status| **status == 202).count() as u64;
    assert_eq!(
        statuses.len() as u64 - taken,
        testbed.count("sink", "refused")
    );
    assert!(
        (200..230).contains(&taken),
        "{taken} of 230 with room for 200"
    );
    let (before, begun) = (testbed.count("sink", "acknowledged"), clock::now());
    clock::pause(Duration::from_millis(800));
    let after = testbed.count("sink", "acknowledged") - before;
    let expected = 150.0 * begun.elapsed().as_secs_f64();
    assert!(
        (after as f64 - expected).abs() <= 9.0,
        "{after} for {expected}"
    );
    testbed.wait_until("all are acknowledged", |testbed| {
        testbed.count("sink", "backlog") == 0
    });
    assert_eq!(testbed.count("sink", "acknowledged"), taken);
    assert_eq!(testbed.file("acks.log").lines().count() as u64, taken);
    assert!(
        testbed
            .file("acks.log")
            .ends_with(&format!(" acked {taken}\n"))
    );
    let metrics = connection.ask("GET", "/metrics", "").body;
    assert!(
        metrics.contains(&format!("queue_messages_acknowledged_total {taken}\n")),
        "{metrics}"
    );
    assert_eq!(testbed.count("sink", "scrapes"), 1);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_autoscaler_begins_at_zero_and_comes_back_to_it() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { time: 20ms, workers: 2 } }\n  \
         front: { autoscaler: { to: api, target: 2, max: 3, cold: 600ms, lag: 300ms, idle: 1s } }\n",
    );
    assert_eq!(testbed.replica("api", 0), serde_json::Value::Null);
    let (good, first) = timed(|| testbed.get("front", "/ok", 1));
    let cold = Duration::from_millis(600);
    assert!(
        good == 1 && first >= cold && first < cold + 2 * LATE,
        "{first:?}"
    );
    let (good, second) = timed(|| testbed.get("front", "/ok", 1));
    assert!(good == 1 && second < cold, "{second:?}");
    let refused = testbed.control("POST", "/components/api/scale?replicas=2");
    assert!(
        refused.status == 409 && refused.body.contains("autoscaler"),
        "{}",
        refused.body
    );
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(testbed.get("front", "/ok", 60), 60));
        }
        testbed.wait_until("replicas are added", |testbed| {
            testbed.component("api")["wanted"] == 3
        });
    });
    testbed.wait_until("nobody is left", |testbed| {
        testbed.component("api")["wanted"] == 0 && testbed.processes().len() == 1
    });
    assert_eq!(testbed.count("api", "requests"), 482);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn balancers_place_connections_or_requests() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { replicas: 3 } }\n  \
         pinned: { balancer: { to: api, policy: pinned, pattern: [1, 2] } }\n  \
         turns: { balancer: { to: api } }\n  \
         fewest: { balancer: { to: api, policy: least-connections, level: http } }\n",
    );
    let requests = || {
        let replicas = testbed.truth("api")["replicas"].clone();
        [0, 1, 2].map(|replica| replicas[replica]["requests"].as_u64().unwrap_or(0))
    };
    for _ in 0..4 {
        assert_eq!(testbed.get("pinned", "/ok", 5), 5);
    }
    assert_eq!(requests(), [0, 10, 10]);
    assert_eq!(
        testbed.get("turns", "/ok", 6),
        6,
        "a connection stays where it was put"
    );
    assert_eq!(requests(), [6, 10, 10]);
    assert_eq!(testbed.get("fewest", "/ok", 30), 30);
    assert_eq!(requests().iter().sum::<u64>(), 56);
    assert_eq!(testbed.count("fewest", "requests"), 30);
    assert_eq!(
        (
            testbed.count("pinned", "connections"),
            testbed.count("turns", "connections")
        ),
        (4, 1)
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_gateway_costs_what_it_is_told_and_tells_its_own_time() {
    let testbed = Testbed::start(
        "components:\n  api: { service: { time: 30ms } }\n  gate:\n    gateway:\n      to: api\n      cpu: 1ms\n      \
         routes: [{ path: /heavy, rewrite: /anything, cpu: 2ms, cpu_per_kb: 1ms }]\n",
    );
    let mut connection = Connection::to(&testbed.url("gate"));
    for _ in 0..10 {
        let answer = connection.ask("POST", "/heavy/x", &"x".repeat(3_000));
        assert_eq!(answer.status, 200);
        assert!(
            answer.json()["url"]
                .as_str()
                .is_some_and(|url| url.ends_with("/anything/x"))
        );
        assert_eq!(connection.ask("GET", "/status/418", "").status, 418);
    }
    assert_eq!(
        testbed.count("gate", "cpu_burnt_ns"),
        10 * (5_000_000 + 1_000_000)
    );
    assert_eq!(
        testbed.truth("gate")["answered"],
        serde_json::json!({"200": 10, "418": 10})
    );
    assert_eq!(testbed.count("api", "requests"), 20);
    let metrics = connection.ask("GET", "/metrics", "").body;
    let sum = |name: &str| {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&format!("{name}_sum{{route=\"/heavy\"}}")));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("{name}: {metrics}"))
    };
    let (own, upstream, total) = (
        sum("proxy_latency_seconds"),
        sum("upstream_latency_seconds"),
        sum("request_latency_seconds"),
    );
    // Lower bounds: a busy machine takes longer.
    assert!(own >= 0.05, "ten times 5 ms: {own}");
    assert!(upstream >= 0.3, "ten times 30 ms: {upstream}");
    assert!((own + upstream - total).abs() < 1e-6);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_line_delays_cuts_and_limits() {
    let testbed = Testbed::start(
        "components:\n  api: { service: {} }\n  far: { network: { to: api, delay: 50ms } }\n  \
         cut: { network: { to: api, reset: 1 } }\n  narrow: { network: { to: api, bandwidth: 100kB } }\n",
    );
    let mut connection = Connection::to(&testbed.url("far"));
    let (_, first) = timed(|| connection.ask("GET", "/ok", ""));
    let (_, second) = timed(|| connection.ask("GET", "/ok", ""));
    let trip = Duration::from_millis(100);
    assert!(
        first >= 2 * trip && first < 2 * trip + LATE,
        "with the handshake: {first:?}"
    );
    assert!(second >= trip && second < trip + LATE, "{second:?}");
    let error = Connection::to(&testbed.url("cut"))
        .try_ask("GET", "/ok", "")
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let (_, took) = timed(|| testbed.get("narrow", "/bytes/50000", 1));
    assert!(
        took >= Duration::from_millis(500) && took < Duration::from_millis(500) + LATE,
        "{took:?}"
    );
    assert_eq!(testbed.count("cut", "resets"), 1);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_cannot_be_started_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("testbed.yaml");
    let file = path.to_str().expect("a path is text");
    let start = |text: &str| {
        std::fs::write(&path, text).expect("a file can be written");
        let output = run(["target", "--config", file]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told)
    };
    let (code, told) = start("components:\n  api:\n    service: { workers: none }\n");
    assert_eq!(code, Some(104), "{told}");
    assert!(
        told.contains("testbed.yaml:3:") && told.contains(';'),
        "{told}"
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let (code, told) = start(&format!(
        "components:\n  api: {{ service: {{ port: {port} }} }}\n"
    ));
    assert_eq!(code, Some(255), "{told}");
    assert!(
        told.contains("api: ") && told.contains(&port.to_string()),
        "{told}"
    );
    let (code, told) = start(&format!(
        "control: {port}\ncomponents:\n  api: {{ service: {{}} }}\n"
    ));
    assert_eq!(code, Some(106), "{told}");
    assert!(told.contains("control port"), "{told}");
}
