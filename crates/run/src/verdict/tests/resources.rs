//! Each kind of observation, alone in a clean run.

use std::sync::Arc;

use loadline_model::observation::{
    GAP_NOTE, OOM_NOTE, ObservationLog, Observations, ObserverNote, Phases, ResourceSample, Span,
};
use loadline_model::verdict::{Gravity, Limit};

use super::builder::{Run, arrivals, codes, constant_vus, found};
use crate::verdict::Code;

const S: i64 = 1_000_000_000;
/// Seconds of load, with the same duration before and after it.
const LOAD_S: i64 = 20;
const MIB: f64 = 1024.0 * 1024.0;

/// One series: observer, component, metric, and its value at each second.
type Told<'a> = (&'a str, &'a str, &'a str, &'a dyn Fn(i64) -> f64);

fn seen(told: &[Told<'_>]) -> Observations {
    let mut log = ObservationLog::default();
    for (observer, component, metric, value) in told {
        for second in -3..LOAD_S + 3 {
            log.add(&ResourceSample {
                at_ns: second * S,
                observer: Arc::from(*observer),
                component: Arc::from(*component),
                metric: Arc::from(*metric),
                value: value(second),
            });
        }
    }
    let span = |from: i64, to: i64| Span {
        from_ns: from * S,
        to_ns: to * S,
    };
    log.finish(Some(Phases {
        baseline: span(-10, 0),
        warm_up: span(0, 0),
        load: span(0, LOAD_S),
        steady: span(1, LOAD_S),
        tail: span(LOAD_S, 100),
    }))
}

/// A closed loop at the target's pace, with observations.
fn busy(told: &[Told<'_>]) -> Run {
    let mut run = Run::new(constant_vus(10, 20), 20.0, 20_000, 10.0);
    run.observations = seen(told);
    run
}

/// An open model whose load was delivered, with observations.
fn delivered(told: &[Told<'_>]) -> Run {
    let mut run = Run::new(arrivals(500, 20, 50), 20.0, 10_000, 10.0);
    run.observations = seen(told);
    run
}

fn text_of(run: &mut Run, code: Code) -> Option<String> {
    found(&run.judge(), code).map(|finding| finding.text.clone())
}

#[test]
fn a_processor_at_its_limit_is_named_in_the_headline() {
    let mut run = busy(&[
        ("pods", "api-1", "cpu_cores", &|_| 2.9),
        ("pods", "api-1", "cpu_limit_cores", &|_| 3.0),
    ]);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    assert!(
        verdict
            .headline
            .ends_with(": pods api-1 used 2.90 of 3.00 cores"),
        "{}",
        verdict.headline
    );
    let text = text_of(&mut run, Code::ResourceAtLimit);
    assert_eq!(
        text.as_deref(),
        Some("pods api-1 used 2.90 of 3.00 cores (96.7 %)")
    );
}

#[test]
fn what_was_as_busy_before_the_load_has_no_part_in_it() {
    let mut run = busy(&[("batch", "batch", "cpu_cores", &|_| 0.99)]);
    let verdict = run.judge();
    assert!(!verdict.headline.contains("batch"), "{}", verdict.headline);
    let text = text_of(&mut run, Code::OneCoreFull).expect("it is told all the same");
    assert!(text.contains("about as much before the load"), "{text}");
    let mut run = busy(&[("api", "api", "cpu_cores", &|second| {
        if second < 0 { 0.02 } else { 0.99 }
    })]);
    assert!(run.judge().headline.contains("api used"));
}

#[test]
fn a_processor_with_room_left_is_not_told() {
    let mut run = busy(&[
        ("pods", "api-1", "cpu_cores", &|_| 2.5),
        ("pods", "api-1", "cpu_limit_cores", &|_| 3.0),
    ]);
    assert_eq!(text_of(&mut run, Code::ResourceAtLimit), None);
    assert_eq!(text_of(&mut run, Code::OneCoreFull), None);
}

#[test]
fn of_two_components_the_fuller_one_is_the_culprit() {
    let mut run = busy(&[
        ("api", "api", "cpu_cores", &|_| 0.93),
        ("api", "api", "cpu_limit_cores", &|_| 1.0),
        ("gateway", "gateway", "cpu_cores", &|_| 2.0),
        ("gateway", "gateway", "cpu_limit_cores", &|_| 2.0),
    ]);
    assert!(
        run.judge()
            .headline
            .ends_with("gateway used 2.00 of 2.00 cores")
    );
}

#[test]
fn one_full_core_is_one_thread() {
    let under_load = |second| if second < 0 { 0.02 } else { 0.99 };
    let mut run = busy(&[("api", "api", "cpu_cores", &under_load)]);
    assert!(
        run.judge()
            .headline
            .contains("api used 0.99 cores throughout")
    );
    run.environment.cores = 1.0;
    assert_eq!(text_of(&mut run, Code::OneCoreFull), None);
}

#[test]
fn a_sum_is_no_thread_and_a_supervisor_no_replica() {
    let told: &[Told<'_>] = &[
        ("api", "api", "cpu_cores", &|_| 0.99),
        ("api", "api", "processes", &|_| 4.0),
    ];
    assert_eq!(text_of(&mut busy(told), Code::OneCoreFull), None);
    let told: &[Told<'_>] = &[
        ("api", "api", "cpu_cores", &|_| 1.4),
        ("api", "api", "processes", &|_| 4.0),
        ("api", "api", "cpu_busiest_process_cores", &|_| 0.98),
    ];
    let text = text_of(&mut busy(told), Code::OneCoreFull).unwrap_or_default();
    assert!(
        text.starts_with("a process of api used 0.98 cores"),
        "{text}"
    );
    let told: &[Told<'_>] = &[
        ("api", "1", "cpu_cores", &|_| 0.0),
        ("api", "1", "supervised_workers", &|_| 2.0),
        ("api", "2", "cpu_cores", &|_| 0.6),
        ("api", "3", "cpu_cores", &|_| 0.5),
    ];
    let mut run = busy(told);
    assert_eq!(text_of(&mut run, Code::IdleReplica), None);
}

#[test]
fn a_full_machine_is_told_and_is_not_the_targets_limit() {
    let mut run = busy(&[
        ("host", "host", "cpu_cores", &|_| 1.95),
        ("host", "host", "cpu_limit_cores", &|_| 2.0),
        ("host", "host", "run_queue", &|_| 9.0),
    ]);
    assert!(!run.judge().headline.contains("host"));
    let text = text_of(&mut run, Code::MachineFull).unwrap_or_default();
    assert!(
        text.starts_with("host used 1.95 of 2 cores (97.5 %)"),
        "{text}"
    );
    assert_eq!(text_of(&mut run, Code::ResourceAtLimit), None);
    assert!(!text.contains("not observed"), "{text}");
    let mut run = busy(&[
        ("host", "host", "cpu_cores", &|_| 1.95),
        ("host", "host", "cpu_limit_cores", &|_| 2.0),
        ("host", "host", "run_queue", &|_| 9.0),
        ("api", "api", "cpu_cores", &|_| 0.2),
    ]);
    let text = text_of(&mut run, Code::MachineFull).unwrap_or_default();
    assert!(
        text.contains("by processes that are not observed"),
        "{text}"
    );
}

#[test]
fn sums_and_containers_are_no_replicas() {
    let mut run = busy(&[
        ("pods", "api-1", "cpu_cores", &|_| 2.0),
        ("pods", "api-1/app", "cpu_cores", &|_| 1.99),
        ("pods", "api-1/proxy", "cpu_cores", &|_| 0.01),
        ("pods", "api-2", "cpu_cores", &|_| 2.0),
        ("pods", "total", "cpu_cores", &|_| 4.0),
    ]);
    assert_eq!(text_of(&mut run, Code::IdleReplica), None);
    assert_eq!(text_of(&mut run, Code::UnevenReplicas), None);
}

#[test]
fn a_sum_over_replicas_is_no_full_core() {
    let mut run = busy(&[
        ("api", "api[1]", "cpu_cores", &|_| 0.48),
        ("api", "api[2]", "cpu_cores", &|_| 0.48),
        ("api", "total", "cpu_cores", &|_| 0.96),
    ]);
    assert_eq!(text_of(&mut run, Code::OneCoreFull), None);
}

#[test]
fn the_generator_is_no_component_of_the_target() {
    let mut run = busy(&[("K6", "K6", "cpu_cores", &|_| 1.0)]);
    assert!(text_of(&mut run, Code::OneCoreFull).is_some());
    run.observations.of_generator = vec!["K6".to_owned()];
    assert_eq!(text_of(&mut run, Code::OneCoreFull), None);
}

#[test]
fn memory_is_judged_by_its_peak() {
    let mut run = busy(&[
        ("api", "api", "memory_bytes", &|t| {
            if t == 7 { 95.0 * MIB } else { 30.0 * MIB }
        }),
        ("api", "api", "memory_limit_bytes", &|_| 100.0 * MIB),
    ]);
    let text = text_of(&mut run, Code::ResourceAtLimit);
    assert_eq!(
        text.as_deref(),
        Some("api used 95.0 MiB of 100 MiB memory (95.0 %)")
    );
}

#[test]
fn a_leak_grows_along_a_line_and_does_not_end() {
    let leak = |t: i64| (50.0 + 2.0 * t as f64) * MIB;
    let mut run = delivered(&[("api", "api", "memory_bytes", &leak)]);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Nobody);
    let text = text_of(&mut run, Code::LeakSeen).unwrap_or_default();
    assert!(
        text.starts_with("the memory of api grew by 28.0 MiB in 14 s, steadily"),
        "{text}"
    );

    let fills_up = |t: i64| (50.0 + 40.0 * (1.0 - (-t as f64 / 3.0).exp())) * MIB;
    let mut run = delivered(&[("api", "api", "memory_bytes", &fills_up)]);
    assert_eq!(text_of(&mut run, Code::LeakSeen), None);
}

#[test]
fn an_idle_replica_explains_a_slow_target() {
    let mut run = busy(&[
        ("api", "api-1", "cpu_cores", &|_| 2.94),
        ("api", "api-2", "cpu_cores", &|_| 0.01),
    ]);
    assert!(
        run.judge()
            .headline
            .ends_with(": 1 of 2 replicas were idle")
    );
    // A replica with one busy thread is the consequence.
    let mut run = busy(&[
        ("api", "api-1", "cpu_cores", &|_| 0.97),
        ("api", "api-2", "cpu_cores", &|_| 0.01),
    ]);
    assert!(
        run.judge()
            .headline
            .ends_with(": 1 of 2 replicas were idle")
    );
    assert!(text_of(&mut run, Code::OneCoreFull).is_some());
    let mut run = busy(&[
        ("api", "api-1", "cpu_cores", &|_| 3.0),
        ("api", "api-2", "cpu_cores", &|_| 1.5),
    ]);
    assert!(text_of(&mut run, Code::UnevenReplicas).is_some());
    assert_eq!(text_of(&mut run, Code::IdleReplica), None);
    // Different services need not be equally busy.
    let mut run = busy(&[
        ("api", "api", "cpu_cores", &|_| 3.0),
        ("db", "db", "cpu_cores", &|_| 0.01),
    ]);
    assert_eq!(text_of(&mut run, Code::IdleReplica), None);
}

#[test]
fn the_slow_replica_is_the_one_far_from_the_others() {
    let mut run = busy(&[
        ("api", "api-1", "p95_seconds", &|_| 0.01),
        ("api", "api-2", "p95_seconds", &|_| 0.08),
        ("api", "api-3", "p95_seconds", &|_| 0.011),
    ]);
    let text = text_of(&mut run, Code::SlowReplica).unwrap_or_default();
    assert!(text.starts_with("api api-2 answers in 80"), "{text}");
}

#[test]
fn a_quota_that_stops_the_target_is_told() {
    let mut run = busy(&[("api", "api", "throttled_ratio", &|_| 0.4)]);
    assert!(
        run.judge()
            .headline
            .contains("the CPU quota throttled api for 40.0 % of the time")
    );
}

#[test]
fn a_kill_counts_under_load_alone() {
    let note = |at_ns| ObserverNote {
        at_ns,
        observer: "api".to_owned(),
        component: "api-1".to_owned(),
        kind: OOM_NOTE.to_owned(),
        text: "exit code 137".to_owned(),
    };
    let mut run = delivered(&[]);
    run.observations.notes = vec![note(-S)];
    assert_eq!(text_of(&mut run, Code::TargetOom), None);
    run.observations.notes = vec![note(-S), note(3 * S), note(9 * S)];
    let verdict = run.judge();
    let finding = found(&verdict, Code::TargetOom).expect("a kill is told");
    assert_eq!(finding.gravity, Gravity::Alarm);
    assert_eq!(
        finding.text,
        "api api-1 was OOM-killed 3 s after the start, 2 times in all: exit code 137"
    );
}

#[test]
fn a_kill_that_two_sources_tell_is_told_once() {
    let mut run = busy(&[("api", "api", "oom_kills", &|t| {
        if t < 5 { 0.0 } else { 1.0 }
    })]);
    let count = |run: &mut Run| {
        let verdict = run.judge();
        let codes = codes(&verdict);
        codes
            .iter()
            .filter(|it| **it == Code::TargetOom.name())
            .count()
    };
    assert_eq!(count(&mut run), 1);
    run.observations.notes = vec![ObserverNote {
        at_ns: 5 * S,
        observer: "api".to_owned(),
        component: "api".to_owned(),
        kind: OOM_NOTE.to_owned(),
        text: "exit code 137".to_owned(),
    }];
    assert_eq!(count(&mut run), 1);
}

#[test]
fn an_observer_that_never_read_is_a_caution_with_the_reason() {
    let note = |observer: &str| ObserverNote {
        at_ns: S,
        observer: observer.to_owned(),
        component: observer.to_owned(),
        kind: GAP_NOTE.to_owned(),
        text: "there is no cpuacct.usage".to_owned(),
    };
    for (observer, gravity, text) in [
        (
            "db",
            Gravity::Caution,
            "db read nothing: there is no cpuacct.usage",
        ),
        (
            "api",
            Gravity::Note,
            "api could not read for a while (1 gap): there is no cpuacct.usage",
        ),
    ] {
        let mut run = busy(&[("api", "api", "cpu_cores", &|_| 0.2)]);
        run.observations.notes = vec![note(observer)];
        let verdict = run.judge();
        let gap = found(&verdict, Code::ObserverGap).expect("a gap is told");
        assert_eq!((gap.gravity, gap.text.as_str()), (gravity, text));
    }
}

#[test]
fn a_cold_start_lasts_until_there_is_a_replica() {
    let mut run = busy(&[("api", "api", "replicas", &|t| if t < 5 { 0.0 } else { 1.0 })]);
    assert!(run.judge().headline.ends_with("api had no replica for 5 s"));
}

#[test]
fn scaling_is_late_while_fewer_run_than_are_wanted() {
    let mut run = busy(&[
        ("api", "api", "replicas", &|t| if t < 9 { 1.0 } else { 4.0 }),
        ("api", "api", "replicas_wanted", &|t| {
            if t < 3 { 1.0 } else { 4.0 }
        }),
    ]);
    let text = text_of(&mut run, Code::ScaledLate).unwrap_or_default();
    assert_eq!(text, "api had fewer replicas than desired for 6 s (1 to 4)");
}

#[test]
fn replicas_that_are_added_under_load_come_late() {
    let mut run = busy(&[("api", "api", "replicas", &|t| if t < 9 { 1.0 } else { 4.0 })]);
    let text = text_of(&mut run, Code::ScaledLate).unwrap_or_default();
    assert_eq!(
        text,
        "api grew from 1 to 4 replicas, the last 9 s after the load began"
    );
    let mut run = busy(&[("api", "api", "replicas", &|_| 3.0)]);
    assert_eq!(text_of(&mut run, Code::ScaledLate), None);
}

#[test]
fn a_pipeline_that_falls_behind_is_the_targets_doing_though_all_was_delivered() {
    let told: &[Told<'_>] = &[
        ("sink", "ingest", "rate_per_s", &|_| 500.0),
        ("sink", "acked", "rate_per_s", &|_| 95.0),
        ("sink", "sink", "backlog", &|t| 405.0 * t.max(0) as f64),
    ];
    let verdict = delivered(told).judge();
    assert_eq!(verdict.limit, Limit::Target);
    let finding = found(&verdict, Code::SlowestStage).expect("the stage is told");
    assert!(
        finding
            .text
            .starts_with("sink acked processed 95/s of 500/s received: 7,695 waited"),
        "{}",
        finding.text
    );

    let keeps_up: &[Told<'_>] = &[
        ("sink", "ingest", "rate_per_s", &|_| 500.0),
        ("sink", "acked", "rate_per_s", &|_| 498.0),
        ("sink", "sink", "backlog", &|t| f64::from(t as i32 % 5)),
    ];
    assert_eq!(delivered(keeps_up).judge().limit, Limit::Nobody);
}

#[test]
fn time_before_the_handler_is_a_queue_or_the_way() {
    let told: &[Told<'_>] = &[("own", "own", "mean_seconds", &|_| 0.001)];
    // All responses take equally long, including the fastest.
    let verdict = busy(told).judge();
    assert_eq!(verdict.limit, Limit::Network);
    let mut direct = busy(told);
    direct.observations.read_at = [("own".to_owned(), "127.0.0.1:8080".to_owned())].into();
    let peers = &mut direct.totals.seen.peers;
    peers.row("127.0.0.1:8080".to_owned()).answered = 20_000;
    let verdict = direct.judge();
    assert_eq!(verdict.limit, Limit::Target, "nothing lies between");
    assert!(found(&verdict, Code::OnTheWay).is_some());
    let mut queued = busy(told);
    queued.answer(20_000, &[(0.1, 1_200_000), (0.9, 11_000_000)]);
    let verdict = queued.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let text = &found(&verdict, Code::OnTheWay).expect("told").text;
    assert!(
        text.starts_with("requests wait ") && text.contains("before own handles them"),
        "{text}"
    );
}

#[test]
fn a_queue_that_the_service_reports_makes_it_the_limit() {
    let waiting = |second: i64| if second < 0 { 0.0 } else { 7.0 };
    let mut run = busy(&[("app", "app", "value", &waiting)]);
    assert!(found(&run.judge(), Code::QueueReported).is_none());
    run.observations.scraped = [("app".to_owned(), "pool_waiting".to_owned())].into();
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    assert!(
        verdict
            .headline
            .ends_with("app reports 7 waiting (pool_waiting)"),
        "{}",
        verdict.headline
    );
    // Of several metrics, each is a component.
    let mut run = busy(&[("app", "jobs_queued", "value", &waiting)]);
    let text = text_of(&mut run, Code::QueueReported).expect("told");
    assert!(
        text.starts_with("app reported 7.0 waiting on average (jobs_queued)"),
        "{text}"
    );
    // As many waited before the load.
    let mut run = busy(&[("app", "jobs_queued", "value", &|_| 7.0)]);
    assert!(found(&run.judge(), Code::QueueReported).is_none());
    // Work that is done later holds no request.
    let later = |second: i64| if second < 0 { 0.0 } else { 4_000.0 };
    let mut run = busy(&[("app", "jobs_queued", "value", &later)]);
    assert!(found(&run.judge(), Code::QueueReported).is_none());
    let mut run = busy(&[
        ("work", "sink", "backlog", &waiting),
        ("work", "sink", "ratio", &|_| 0.9),
    ]);
    assert!(found(&run.judge(), Code::QueueReported).is_none());
    // Only a few of those in flight wait.
    let mut run = busy(&[("app", "jobs_queued", "value", &|second| {
        if second < 0 { 0.0 } else { 2.5 }
    })]);
    assert!(found(&run.judge(), Code::QueueReported).is_none());
}

#[test]
fn a_reported_queue_settles_whether_more_users_would_help() {
    let waiting = |second: i64| if second < 0 { 0.0 } else { 30.0 };
    let mut run = delivered(&[("app", "jobs_queued", "value", &waiting)]);
    run.plan.scenarios[0].executor = arrivals(5_000, 20, 50);
    run.totals.asked = Some(100_000);
    run.totals.never_started = 90_000;
    run.totals.active_vus_max = 50;
    run.answer(10_000, &[(1.0, 100_000_000)]);
    run.series.iter_mut().for_each(|row| row.active_vus = 50);
    assert_eq!(run.judge().limit, Limit::Target);
    run.observations = Observations::default();
    assert_eq!(run.judge().limit, Limit::Plan);
}
