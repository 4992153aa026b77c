//! Tests of running observers, on threads, against this process and a small server.
//!
//! Must not know the details of a kind. Invariant: every wait is bounded.

use std::net::TcpListener;
use std::sync::atomic::Ordering::Release;
use std::sync::mpsc::{Receiver, sync_channel};

use loadline_model::observation::Reading;

use super::*;
use crate::spec::ObserverSpecs;
use crate::web::tests::server;

const PATIENCE: Duration = Duration::from_secs(20);

fn specs(lines: &[&str]) -> Vec<ObserverSpec> {
    let specs = lines
        .iter()
        .flat_map(|line| ObserverSpec::parse(line).expect(line));
    ObserverSpecs::new(specs.collect()).unwrap().into_vec()
}

fn start(lines: &[&str]) -> (Result<Observers, ObserveError>, Receiver<Observed>) {
    let (sender, receiver) = sync_channel(10_000);
    let setup = ObserverSetup::of_this_process(Duration::from_millis(150));
    (Observers::start(&specs(lines), &setup, &sender), receiver)
}

/// Waits for a reading of a metric.
fn reading(receiver: &Receiver<Observed>, observer: &str, metric: &str) -> Reading {
    loop {
        match receiver.recv_timeout(PATIENCE).expect("a reading comes") {
            Observed::Reading(reading)
                if &*reading.series.observer == observer && &*reading.series.metric == metric =>
            {
                return reading;
            }
            _ => {}
        }
    }
}

const WINDOW: RunWindow = RunWindow {
    start_unix_ns: 1,
    end_unix_ns: 2,
    steady_unix_ns: None,
};

#[cfg(target_os = "linux")]
#[test]
fn observers_look_until_the_tail_is_over() {
    let (observers, receiver) = start(&["self;interval=100ms", "host;interval=100ms"]);
    let observers = observers.unwrap();
    assert!(reading(&receiver, "self", "cpu_cores").value >= 0.0);
    assert!(reading(&receiver, "host", "memory_bytes").value > 0.0);
    assert!(!observers.is_drained());
    observers.load_ended();
    let deadline = observers.clock.unix_ns() + 20_000_000_000;
    while !observers.is_drained() && observers.clock.unix_ns() < deadline {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert!(observers.is_drained());
    observers.stop();
}

#[test]
fn a_required_observer_that_cannot_start_is_named() {
    let (address, _asked) = server(vec!["503|no".to_owned()]);
    let line = format!("depth=http:http://{address}/;required=true");
    let (observers, _receiver) = start(&[&line]);
    let error = observers.unwrap_err();
    assert_eq!(error.observer, "depth");
    assert!(error.to_string().contains("503"), "{error}");
}

#[test]
fn one_that_is_not_required_is_a_gap() {
    let line = "q=prometheus:https://h;query=a;ca=no/such/file";
    let (observers, receiver) = start(&[line]);
    let observers = observers.unwrap();
    let Observed::Remark(remark) = receiver.recv_timeout(PATIENCE).unwrap() else {
        panic!("it is a remark");
    };
    assert_eq!(remark.kind, GAP_NOTE);
    assert!(remark.text.contains("no/such/file"), "{}", remark.text);
    assert!(observers.is_drained());
    assert_eq!(observers.conclude(WINDOW), []);
    let (observers, _receiver) = start(&[&format!("{line};required=true")]);
    assert!(observers.is_err());
}

#[test]
fn what_is_asked_after_the_run_is_concluded() {
    let answer = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"4"]}]}}"#;
    let (address, _asked) = server(vec![answer.to_owned()]);
    let line = format!("q=prometheus:http://{address};query=x[{{{{window}}}}];as=p95_seconds");
    let (observers, _receiver) = start(&[&line]);
    let said = observers.unwrap().conclude(WINDOW);
    let [Observed::Reading(reading)] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert_eq!(
        (&*reading.series.metric, reading.value),
        ("p95_seconds", 4.0)
    );
}

/// Starts an observer; nothing waits for it once the flag is set.
fn start_hurried(line: &str) -> (Observers, Arc<AtomicBool>) {
    let (sender, _) = sync_channel(10_000);
    let setup = ObserverSetup::of_this_process(Duration::ZERO);
    let observers = Observers::start(&specs(&[line]), &setup, &sender).expect(line);
    (observers, setup.is_hurried)
}

/// Concludes while the flag is set; returns what was reported, within a time limit.
fn concluded(observers: Observers, is_hurried: Arc<AtomicBool>) -> Vec<Observed> {
    let clock = Arc::clone(&observers.clock);
    let begun = clock.unix_ns();
    let signal = std::thread::spawn(move || {
        std::thread::park_timeout(Duration::from_millis(100));
        is_hurried.store(true, Release);
    });
    let said = observers.conclude(WINDOW);
    signal.join().expect("it only sets a flag");
    let took = Duration::from_nanos(clock.unix_ns().saturating_sub(begun));
    assert!(took < PATIENCE, "{took:?}");
    said
}

#[test]
fn who_is_in_a_hurry_waits_for_no_look() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let (observers, is_hurried) = start_hurried(&format!("q=http:http://{address}/;timeout=90s"));
    let _held = listener.accept().expect("it looks at once");
    let said = concluded(observers, is_hurried);
    let [Observed::Remark(remark)] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert!(
        remark.text.contains("did not stop in time"),
        "{}",
        remark.text
    );
}

#[test]
fn who_is_in_a_hurry_waits_for_no_query_after_the_run() {
    let line = "q=prometheus:http://127.0.0.1:9;query=a;mode=once;settle=90s";
    let (observers, is_hurried) = start_hurried(line);
    assert_eq!(concluded(observers, is_hurried), []);
}

/// The texts of gaps reported by observers whose wait a person ended, and how long that took.
fn cut_short(mut observers: Observers) -> (Vec<String>, Duration) {
    let clock = Arc::clone(&observers.clock);
    observers.load_ended();
    observers.cut_short();
    let begun = clock.unix_ns();
    let said = observers.conclude(WINDOW);
    let took = Duration::from_nanos(clock.unix_ns().saturating_sub(begun));
    let texts = said.into_iter().map(|item| match item {
        Observed::Remark(remark) => remark.text,
        other => panic!("{other:?}"),
    });
    (texts.collect(), took)
}

#[test]
fn a_person_who_ends_the_wait_waits_a_moment_for_what_hangs() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let (observers, _) = start_hurried(&format!("q=http:http://{address}/;timeout=90s"));
    let _held = listener.accept().expect("it looks at once");
    let (texts, took) = cut_short(observers);
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains("did not stop in time"), "{}", texts[0]);
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn a_person_who_ends_the_wait_is_told_of_queries_without_an_answer() {
    let line = "q=prometheus:http://127.0.0.1:9;query=a;mode=once;settle=90s";
    let (observers, _) = start_hurried(line);
    let (texts, took) = cut_short(observers);
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains("before its queries"), "{}", texts[0]);
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn a_look_that_never_comes_back_is_not_waited_for() {
    let (mut observers, _is_hurried) = start_hurried("self;timeout=100ms");
    observers.shared.lane_begins();
    observers.threads.push(Thread {
        name: "away".to_owned(),
        has_ended: Arc::default(),
        handle: std::thread::spawn(|| {
            loop {
                std::thread::park();
            }
        }),
    });
    observers.at_work_max = Duration::from_millis(50);
    observers.patience = PATIENCE;
    std::thread::park_timeout(Duration::from_millis(60));
    assert!(!observers.is_drained(), "the load goes on");
    observers.load_ended();
    let deadline = observers.clock.unix_ns() + nanoseconds(PATIENCE);
    while !observers.is_drained() && observers.clock.unix_ns() < deadline {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert!(observers.is_drained());
    let begun = observers.clock.unix_ns();
    let clock = Arc::clone(&observers.clock);
    let said = observers.conclude(WINDOW);
    assert!(
        clock.unix_ns() - begun < nanoseconds(PATIENCE / 2),
        "it is not waited for once more"
    );
    let [Observed::Remark(remark)] = said.as_slice() else {
        panic!("{said:?}");
    };
    assert_eq!(&*remark.observer, "away");
}
