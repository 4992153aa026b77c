//! Every way of ending a k6 test early, in every situation: the observation of k6, and that of the binary under
//! test.
//!
//! Must not know any flag except those of both tools. Invariant: a cell of the table contains what a user can
//! see when ending a test: how soon it ends, how its iterations ended, what still ran, and the exit code.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::k6::root;
use crate::process::{Running, neutral};
use crate::rest::RestApi;
use crate::server::Server;
use crate::{clock, web};

/// The tool from which the table was recorded.
pub const PEER: &str = "k6 v2.2.0";
/// Duration of everything in a test that is not interrupted.
const LONG: Duration = Duration::from_secs(12);
/// A test that ended sooner than this after the order did not wait for its iterations: k6 checks thresholds
/// every 2 s.
const AT_ONCE: Duration = Duration::from_secs(5);
/// Time from the first request to the order: every virtual user is busy by then.
const SETTLED: Duration = Duration::from_millis(700);
/// Number of cells observed concurrently: they mostly wait.
const SIDE_BY_SIDE: usize = 6;

/// A test and the phase in which it is ended.
struct Situation {
    name: &'static str,
    scenario: &'static str,
    /// Statements of an iteration.
    iteration: &'static str,
    /// Statements of `setup()`; empty: there is none.
    setup: &'static str,
    /// Statements of `teardown()`.
    teardown: &'static str,
    orders: &'static [&'static str],
}

const SCENARIO: &str = "executor: 'constant-vus', vus: 2, duration: '40s'";
const ONE: &str = "executor: 'shared-iterations', vus: 1, iterations: 1";
/// By signal, by a threshold, by the script, through the API.
const ALL: &[&str] = &["SIGINT", "abortOnFail", "test.abort", "REST"];

const USUAL: Situation = Situation {
    name: "sleep",
    scenario: SCENARIO,
    iteration: "sleep(12)",
    setup: "",
    teardown: "",
    orders: ALL,
};

const SITUATIONS: &[Situation] = &[
    Situation {
        orders: &["SIGINT", "SIGTERM", "abortOnFail", "test.abort", "REST"],
        ..USUAL
    },
    Situation {
        name: "endless loop",
        iteration: "while (true) {}",
        ..USUAL
    },
    Situation {
        name: "request",
        iteration: "http.get(BASE + '/slow')",
        ..USUAL
    },
    Situation {
        name: "batch",
        iteration: "http.batch([BASE + '/slow?1', BASE + '/slow?2', BASE + '/slow?3'])",
        ..USUAL
    },
    Situation {
        name: "promise",
        iteration: "return new Promise((resolve) => setTimeout(resolve, 12000))",
        ..USUAL
    },
    Situation {
        name: "shared-iterations",
        scenario: "executor: 'shared-iterations', vus: 2, iterations: 5",
        ..USUAL
    },
    Situation {
        name: "per-vu-iterations",
        scenario: "executor: 'per-vu-iterations', vus: 2, iterations: 5",
        ..USUAL
    },
    Situation {
        name: "ramping-vus",
        scenario: "executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '40s', target: 2 }]",
        ..USUAL
    },
    Situation {
        name: "constant-arrival-rate",
        scenario: "executor: 'constant-arrival-rate', rate: 20, duration: '40s', preAllocatedVUs: 2",
        ..USUAL
    },
    Situation {
        name: "ramping-arrival-rate",
        scenario: "executor: 'ramping-arrival-rate', startRate: 20, preAllocatedVUs: 2, \
                   stages: [{ duration: '40s', target: 20 }]",
        ..USUAL
    },
    Situation {
        name: "gracefulStop",
        scenario: "executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '30s'",
        ..USUAL
    },
    Situation {
        name: "before startTime",
        scenario: "executor: 'constant-vus', vus: 2, duration: '20s', startTime: '30s'",
        ..USUAL
    },
    Situation {
        name: "setup",
        setup: "if (ORDER === 'test.abort') exec.test.abort('bye'); sleep(12)",
        orders: &["SIGINT", "SIGTERM", "test.abort"],
        ..USUAL
    },
    Situation {
        name: "endless setup",
        setup: "while (true) {}",
        orders: &["SIGINT", "REST"],
        ..USUAL
    },
    Situation {
        name: "teardown",
        scenario: ONE,
        iteration: "",
        teardown: "http.get(BASE + '/'); if (ORDER === 'test.abort') exec.test.abort('bye'); \
                   if (ORDER === 'abortOnFail') bad.add(1); sleep(8)",
        orders: &[
            "SIGINT",
            "abortOnFail",
            "test.abort",
            "REST",
            "SIGINT twice",
        ],
        ..USUAL
    },
    Situation {
        name: "teardown that throws",
        teardown: "throw new Error('oops')",
        ..USUAL
    },
    Situation {
        name: "paused",
        orders: &["SIGINT", "SIGTERM", "REST"],
        ..USUAL
    },
];

impl Situation {
    /// Whether iterations run when the order is given, so that another scenario can give it.
    fn is_iterating(&self) -> bool {
        self.setup.is_empty() && !matches!(self.name, "teardown" | "paused")
    }

    fn script(&self, order: &str) -> String {
        let Situation {
            scenario,
            iteration,
            teardown,
            ..
        } = self;
        let by_script = matches!(order, "abortOnFail" | "test.abort");
        let more = match by_script && self.is_iterating() {
            true => "order: { executor: 'shared-iterations', exec: 'order', startTime: '1s' },",
            false => "",
        };
        let setup = match self.setup {
            "" => String::new(),
            setup => format!("export function setup() {{ http.get(BASE + '/'); {setup}; }}"),
        };
        // For a long teardown, the mark is made there.
        let begun = match self.name {
            "teardown" => "",
            _ => "http.get(BASE + '/');",
        };
        format!(
            "import {{ sleep }} from 'k6';
            import http from 'k6/http';
            import exec from 'k6/execution';
            import {{ Counter }} from 'k6/metrics';
            const bad = new Counter('bad'), BASE = __ENV.BASE, ORDER = '{order}';
            export const options = {{
                thresholds: {{ bad: [{{ threshold: 'count<1', abortOnFail: true }}] }},
                scenarios: {{ main: {{ {scenario} }}, {more} }},
            }};
            {setup}
            export default function () {{ {begun} {iteration}; }}
            export function order() {{
                if (ORDER === 'test.abort') exec.test.abort('bye');
                bad.add(1);
            }}
            export function teardown() {{ console.log('torn down'); {teardown}; }}
            export function handleSummary() {{ console.log('summed up'); return {{}}; }}"
        )
    }
}

/// How a test ended, by situation and order.
///
/// # Panics
/// The binary cannot be started, or does not end.
#[must_use]
pub fn observe(binary: &OsStr, words: &[&str]) -> Value {
    let cells: Vec<(&Situation, &str)> = SITUATIONS
        .iter()
        .flat_map(|situation| {
            situation
                .orders
                .iter()
                .map(move |order| (situation, *order))
        })
        .collect();
    let mut table = Map::new();
    for some in cells.chunks(SIDE_BY_SIDE) {
        let seen: Vec<Value> = std::thread::scope(|scope| {
            let threads: Vec<_> = some
                .iter()
                .map(|(situation, order)| scope.spawn(|| see(situation, order, binary, words)))
                .collect();
            let seen = threads.into_iter().map(|thread| thread.join());
            seen.map(|seen| seen.expect("the test ends")).collect()
        });
        for ((situation, order), seen) in some.iter().zip(seen) {
            table.insert(format!("{}: {order}", situation.name), seen);
        }
    }
    Value::Object(table)
}

/// The path of k6's table.
#[must_use]
pub fn golden() -> PathBuf {
    root().join("stops.json")
}

/// Records the table of k6.
///
/// # Panics
/// As [`observe`]; or the table cannot be written.
pub fn record(peer: &OsStr) {
    let table = json!({ "peer": PEER, "seen": observe(peer, &["run"]) });
    fs::write(golden(), format!("{table:#}\n")).expect("the table can be written");
}

fn see(situation: &Situation, order: &str, binary: &OsStr, words: &[&str]) -> Value {
    let server = Server::start(|stream, stop| {
        web::serve(stream, |request| {
            if request.word(1).starts_with("/slow") {
                stop.pause(LONG);
            }
            web::ok("ok")
        })
    });
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    fs::write(&script, situation.script(order)).expect("there is room");
    let api = RestApi::free();
    let mut command = neutral(Command::new(binary));
    command.args(words).args(["--address", api.address()]);
    command.args(["-e", &format!("BASE=http://{}", server.address())]);
    if situation.name == "paused" {
        command.arg("--paused");
    }
    let running = {
        command.arg(script);
        Running::start(command)
    };
    match situation.name {
        "paused" => api.wait_for("status", 4),
        "before startTime" => api.wait_for("status", 7),
        _ => {
            let begun = clock::wait_for(Duration::from_secs(20), || {
                (server.accepted() > 0).then_some(())
            });
            begun.expect("the test begins");
        }
    }
    clock::pause(SETTLED);
    let ordered = clock::now();
    match order {
        "SIGINT" => running.signal(libc::SIGINT),
        "SIGTERM" => running.signal(libc::SIGTERM),
        "SIGINT twice" => {
            running.signal(libc::SIGINT);
            clock::pause(SETTLED);
            running.signal(libc::SIGINT);
        }
        "REST" => assert_eq!(api.change(r#"{"stopped":true}"#).status, 200),
        _ => {}
    }
    let output = running.finish();
    seen_of(&output, ordered.elapsed() < AT_ONCE)
}

fn seen_of(output: &Output, is_at_once: bool) -> Value {
    let (out, err) = (&output.stdout, &output.stderr);
    let told = String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(err);
    let counts = regex::Regex::new(r"(\d+) complete and (\d+) interrupted").expect("it is one");
    let last = counts.captures_iter(&told).last();
    // If no iteration could start, only one of the tools shows that there were none.
    let count = |which| {
        let text = last.as_ref().and_then(|found| found.get(which));
        text.map_or(0, |text| text.as_str().parse::<u64>().expect("digits"))
    };
    json!({
        "at once": is_at_once,
        "complete": count(1),
        "interrupted": count(2),
        "torn down": told.contains("torn down"),
        "summed up": told.contains("summed up"),
        "code": output.status.code(),
    })
}
