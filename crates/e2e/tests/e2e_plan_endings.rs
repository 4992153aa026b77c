//! Ending a JMeter plan early: by one signal or two, and by JMeter's control messages, whatever its threads are
//! doing.
//!
//! Must not know how orders are delivered. Invariant: written rows are complete, and the plan ends soon.

use std::net::UdpSocket;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use loadline_e2e::clock::{self, wait_for};
use loadline_e2e::jmx::{element, group, http, plan, threads};
use loadline_e2e::loadline;
use loadline_e2e::process::Running;
use loadline_e2e::target::Target;

/// Maximum duration of an ending, doubled for a busy machine.
const SOON: Duration = Duration::from_secs(3);
/// Timeout of the first row.
const FIRST_ROW: Duration = Duration::from_secs(20);
/// The text before the port for control messages.
const LISTENS: &str = "message on port ";

/// A plan whose threads are busy for a long time; the first sample finishes at once.
struct Situation {
    name: &'static str,
    plan: String,
}

fn situations() -> Vec<Situation> {
    let home = http("Home", "/get", "");
    let hanging = http("Hanging", "/delay/50", "");
    let both = |inside: &str| threads("Users", 2, -1, &format!("{home}{inside}"));
    let timer = element("ConstantTimer", "T", &["ConstantTimer.delay=50000"], "");
    let gathering = element("SyncTimer", "S", &["groupSize=3", "timeoutInMs=0"], "");
    let flow = [
        "ActionProcessor.action=1",
        "ActionProcessor.target=0",
        "ActionProcessor.duration=50000",
    ];
    let script = element(
        "JSR223Sampler",
        "Script",
        &["scriptLanguage=javascript", "script=while (true) {}"],
        "",
    );
    let sleeper = element(
        "JSR223Sampler",
        "Sleeper",
        &["scriptLanguage=groovy", "script=Thread.sleep(50000)"],
        "",
    );
    let of_ramp = ["ThreadGroup.num_threads=100", "ThreadGroup.ramp_time=5000"];
    let after = format!(
        "{}{}",
        group(
            "SetupThreadGroup",
            "First",
            1,
            &["ThreadGroup.num_threads=1"],
            &format!("{home}{hanging}")
        ),
        threads("Users", 2, 1, &home)
    );
    let of = |name, groups: String| Situation {
        name,
        plan: plan(&groups),
    };
    vec![
        of("samples", both(&http("Next", "/delay/0.05", ""))),
        of("an answer", both(&hanging)),
        of("a timer", both(&http("Later", "/get", &timer))),
        of("a pause", both(&element("TestAction", "Pause", &flow, ""))),
        of("a gathering", both(&http("Together", "/get", &gathering))),
        of("a script", both(&script)),
        of("a script that sleeps", both(&sleeper)),
        of("a ramp", group("ThreadGroup", "Users", 1, &of_ramp, &home)),
        of("a setUp group", after),
    ]
}

/// A running plan in its own folder.
struct AtWork {
    folder: tempfile::TempDir,
    running: Running,
}

impl AtWork {
    /// Starts the plan, and waits for its first row.
    fn start(situation: &Situation, url: &str, words: &[&str]) -> AtWork {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(
            folder.path().join("plan.jmx"),
            with_target(&situation.plan, url),
        )
        .expect("there is room");
        let mut command = loadline();
        command
            .args(words)
            .args(["-l", "rows.jtl", "-Jjmeter.save.saveservice.autoflush=true"])
            .current_dir(folder.path());
        let running = Running::start(command);
        let rows = folder.path().join("rows.jtl");
        let has_row = || {
            let rows = std::fs::read_to_string(&rows).unwrap_or_default();
            (rows.lines().count() > 1).then_some(())
        };
        let begun = wait_for(FIRST_ROW, has_row);
        assert!(
            begun.is_some(),
            "{}: {}",
            situation.name,
            running.errors_so_far()
        );
        AtWork { folder, running }
    }

    /// The port for control messages.
    fn port(&self) -> u16 {
        let found = wait_for(SOON, || {
            let told = self.running.output_so_far();
            let rest = told.split_once(LISTENS)?.1;
            rest.split_whitespace().next()?.parse().ok()
        });
        found.expect("it says where it listens")
    }

    /// Sends signals, half a second apart.
    fn signal(&self, signals: &[i32]) {
        for (place, signal) in signals.iter().enumerate() {
            if place > 0 {
                clock::pause(Duration::from_millis(500));
            }
            self.running.signal(*signal);
        }
    }

    /// Waits for the end, which must come soon; checks the rows.
    fn finish(self, name: &str) -> Output {
        let asked = clock::now();
        let output = self.running.finish();
        assert!(
            asked.elapsed() < SOON,
            "{name}: it took {:?}",
            asked.elapsed()
        );
        assert_whole(&self.folder.path().join("rows.jtl"), name);
        output
    }
}

/// The plan with a host and a port for all requests.
fn with_target(plan: &str, url: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let (host, port) = address.split_once(':').expect("a host and a port");
    let target = format!(
        "<stringProp name=\"HTTPSampler.domain\">{host}</stringProp><stringProp name=\"HTTPSampler.port\">{port}</stringProp>"
    );
    plan.replace(
        "</HTTPSamplerProxy>",
        &format!("{target}</HTTPSamplerProxy>"),
    )
}

fn assert_whole(rows: &Path, name: &str) {
    let rows = std::fs::read_to_string(rows).expect("rows were written");
    assert!(rows.ends_with('\n'), "{name}: {rows}");
    // A comma between quotes, in every second piece, does not separate fields.
    let fields = |line: &str| {
        let outside = line.split('"').step_by(2);
        outside
            .map(|piece| piece.matches(',').count())
            .sum::<usize>()
    };
    let heading = rows.lines().next().map(fields);
    let odd = rows.lines().find(|line| Some(fields(line)) != heading);
    assert_eq!(odd, None, "{name}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_signal_ends_a_plan_whatever_its_threads_are_at() {
    let target = Target::start(&[]);
    let url = target.url("");
    for situation in situations() {
        let name = situation.name;
        let jmeter = ["jmeter", "-n", "-t", "plan.jmx"];
        for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
            let at_work = AtWork::start(&situation, &url, &jmeter);
            at_work.signal(&[signal]);
            let output = at_work.finish(name);
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(code), "{name}: {told}");
            assert!(told.contains("summary ="), "{name}: {told}");
        }
        let at_work = AtWork::start(&situation, &url, &["run", "plan.jmx", "--json", "r.json"]);
        at_work.signal(&[libc::SIGINT]);
        let json = at_work.folder.path().join("r.json");
        let output = at_work.running.finish();
        assert_eq!(output.status.code(), Some(105), "{name}");
        assert!(json.is_file(), "{name}: what was measured is kept");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_signal_ends_a_plan_at_once() {
    let target = Target::start(&[]);
    let url = target.url("");
    for situation in situations() {
        for words in [
            &["jmeter", "-n", "-t", "plan.jmx"][..],
            &["run", "plan.jmx"],
        ] {
            let at_work = AtWork::start(&situation, &url, words);
            at_work.signal(&[libc::SIGTERM, libc::SIGTERM]);
            let output = at_work.finish(situation.name);
            assert_ne!(output.status.code(), Some(0), "{}", situation.name);
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_row_is_written_while_scripts_compute() {
    let target = Target::start(&[]);
    let situations = situations();
    let scripts = situations.iter().find(|one| one.name == "a script");
    let scripts = scripts.expect("it is one of them");
    let jmeter = ["jmeter", "-n", "-t", "plan.jmx"];
    let at_work = AtWork::start(scripts, &target.url(""), &jmeter);
    let rows = at_work.folder.path().join("rows.jtl");
    let rows = std::fs::read_to_string(rows).expect("there is a row");
    assert!(rows.contains(",Home,"), "{rows}");
    assert!(!rows.contains(",Script,"), "it is not over yet: {rows}");
    at_work.signal(&[libc::SIGTERM]);
    at_work.finish(scripts.name);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn messages_end_a_plan_as_in_jmeter() {
    let target = Target::start(&[]);
    let url = target.url("");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    for situation in situations() {
        let name = situation.name;
        // `Shutdown` waits for what is running, which takes long here.
        let takes_long = [
            "an answer",
            "a script",
            "a script that sleeps",
            "a setUp group",
        ];
        let soon_over = !takes_long.contains(&name);
        for message in ["Shutdown", "StopTestNow"] {
            if message == "Shutdown" && !soon_over {
                continue;
            }
            let at_work = AtWork::start(&situation, &url, &["jmeter", "-n", "-t", "plan.jmx"]);
            let port = at_work.port();
            socket
                .send_to(message.as_bytes(), ("127.0.0.1", port))
                .expect("it is there");
            let output = at_work.finish(&format!("{name}, {message}"));
            assert_eq!(output.status.code(), Some(0), "{name}, {message}");
            let told = format!("Command: {message} received from /127.0.0.1\n");
            let console = String::from_utf8_lossy(&output.stdout);
            assert!(console.contains(&told), "{name}: {console}");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn messages_end_a_tear_down_group_that_runs() {
    let target = Target::start(&[]);
    let url = target.url("");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    for (message, delay) in [("Shutdown", "1"), ("StopTestNow", "50")] {
        let inside = format!(
            "{}{}{}",
            http("Tear", "/get", ""),
            http("Slow", &format!("/delay/{delay}"), ""),
            http("Never", "/get", "")
        );
        let one = ["ThreadGroup.num_threads=1"];
        let groups = format!(
            "{}{}",
            threads("Users", 1, 1, &http("Home", "/get", "")),
            group("PostThreadGroup", "Last", 1, &one, &inside)
        );
        let spared = "<TestPlan testname=\"Plan\">\
             <boolProp name=\"TestPlan.tearDown_on_shutdown\">true</boolProp></TestPlan>";
        let situation = Situation {
            name: "a tearDown group",
            plan: plan(&groups).replacen("<TestPlan testname=\"Plan\"/>", spared, 1),
        };
        assert!(situation.plan.contains(spared), "{}", situation.plan);
        let at_work = AtWork::start(&situation, &url, &["jmeter", "-n", "-t", "plan.jmx"]);
        let port = at_work.port();
        let rows = at_work.folder.path().join("rows.jtl");
        let read = || std::fs::read_to_string(&rows).unwrap_or_default();
        let is_there = wait_for(FIRST_ROW, || read().contains(",Tear,").then_some(()));
        assert!(is_there.is_some(), "{message}");
        socket
            .send_to(message.as_bytes(), ("127.0.0.1", port))
            .expect("it is there");
        let ended = wait_for(SOON, || read().contains(",Slow,").then_some(()));
        assert!(ended.is_some(), "{message}: {}", read());
        let output = at_work.running.finish();
        assert_eq!(output.status.code(), Some(0), "{message}");
        let rows = read();
        assert!(!rows.contains(",Never,"), "{message}: {rows}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_transaction_whose_last_sampler_is_left_is_told() {
    let target = Target::start(&[]);
    let url = target.url("");
    let timer = element("ConstantTimer", "T", &["ConstantTimer.delay=50000"], "");
    let last = http("Last", "/get", &timer);
    let home = http("Home", "/get", "");
    let inner = element(
        "TransactionController",
        "Inner",
        &[],
        &(home.clone() + &last),
    );
    let outer = element("TransactionController", "Outer", &[], &(inner + &home));
    let situation = Situation {
        name: "transactions",
        plan: plan(&threads("Users", 1, -1, &outer)),
    };
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    for message in ["Shutdown", "StopTestNow"] {
        let at_work = AtWork::start(&situation, &url, &["jmeter", "-n", "-t", "plan.jmx"]);
        let port = at_work.port();
        socket
            .send_to(message.as_bytes(), ("127.0.0.1", port))
            .expect("it is there");
        let rows = at_work.folder.path().join("rows.jtl");
        let gone = wait_for(SOON, || {
            let rows = std::fs::read_to_string(&rows).unwrap_or_default();
            rows.contains(",Inner,").then_some(rows)
        });
        let rows = gone.expect("it is told");
        assert!(!rows.contains(",Outer,"), "it has samplers yet: {rows}");
        at_work.finish(message);
    }
}
