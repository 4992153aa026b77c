//! Sums of series, and the inbox before them.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use loadline_metric::{
    Aggregated, BuiltIn, Measurements, MetricRegistry, MetricType, SeriesPlan, TagSet,
};
use loadline_model::RunEvent;
use loadline_model::observation::ResourceSample;
use loadline_model::script_settings::ScriptSettings;

use super::{Inbox, SeriesState};
use crate::fixture;

fn total(state: &SeriesState, name: &str) -> f64 {
    let of_name = state
        .iter()
        .filter(|(_, series)| &*series.family.name == name);
    of_name
        .map(|(_, series)| match &series.value {
            Aggregated::Counter(counter) => counter.total(),
            other => panic!("{other:?}"),
        })
        .sum()
}

#[test]
fn seconds_of_a_run_without_a_script_sum_to_its_counts() {
    let mut state = SeriesState::default();
    assert_eq!((state.started_unix_ms(), state.is_empty()), (None, true));
    state.add(&fixture::started());
    for number in 0..5 {
        state.add(&fixture::second(number));
    }
    let sum: u64 = (0..5).map(|number| 9 + number).sum();
    assert_eq!(total(&state, "http_reqs"), sum as f64);
    let durations = state.iter().find_map(|(_, series)| match &series.value {
        Aggregated::Times(trend) if &*series.family.name == "http_req_duration" => {
            Some(trend.count())
        }
        _ => None,
    });
    assert_eq!(durations, Some(sum));
    assert_eq!(state.until_unix_ms(), 1_700_000_005_000);
    let own = state.iter().filter(|(_, series)| series.family.is_own);
    assert!(own.count() >= 4);
}

#[test]
fn every_series_carries_the_tags_of_the_run() {
    let mut state = SeriesState::default();
    state.add(&fixture::started());
    state.add(&fixture::second(0));
    state.add(&fixture::resource(5));
    assert!(state.len() > 6);
    for (tags, series) in state.iter() {
        assert_eq!(
            tags.get("testid"),
            Some("fixture"),
            "{}",
            series.family.name
        );
    }
}

/// A second in which a script's worker counts requests, each under its own name.
fn names(worker: &mut Measurements, names: std::ops::Range<u32>) -> RunEvent {
    for name in names {
        let tags = TagSet::new()
            .with("name", name.to_string())
            .with("testid", "fixture");
        worker.count(BuiltIn::HttpReqs, 1, 0, &tags);
        worker.count(
            BuiltIn::DataSent,
            1,
            0,
            &TagSet::new().with("testid", "fixture"),
        );
    }
    let series = worker.take().take_series();
    RunEvent::Series(Arc::new(series.expect("they were asked for")))
}

#[test]
fn requests_that_are_counted_by_tags_are_counted_once() {
    let mut state = SeriesState::default();
    state.add(&fixture::started());
    let series = SeriesPlan {
        by_all_tags: true,
        ..fixture::plan().series()
    };
    let mut worker = Measurements::new(&series, Arc::new(MetricRegistry::new()));
    for second in 0..2 {
        state.add(&names(&mut worker, 0..3));
        state.add(&fixture::second(second));
    }
    assert_eq!(total(&state, "http_reqs"), 6.0);
}

#[test]
fn what_all_workers_see_beyond_the_limit_is_one_series_of_its_metric() {
    let mut state = SeriesState::default();
    let mut plan = fixture::plan();
    let mut script = ScriptSettings::default();
    script.series.series_max = 10;
    plan.script = Some(Arc::new(script));
    state.add(&RunEvent::Started {
        plan: Arc::new(plan.clone()),
        environment: Arc::default(),
        started_unix_ms: 1,
    });
    let series = SeriesPlan {
        by_all_tags: true,
        ..plan.series()
    };
    let worker = || Measurements::new(&series, Arc::new(MetricRegistry::new()));
    for part in [0..8, 6..14] {
        state.add(&names(&mut worker(), part));
    }
    let of = |name: &str| {
        let found = state
            .iter()
            .filter(|(_, series)| &*series.family.name == name);
        found.map(|(tags, _)| tags.clone()).collect::<Vec<_>>()
    };
    let overflow = TagSet::new()
        .with("overflow", "true")
        .with("testid", "fixture");
    assert_eq!(
        (of("http_reqs").len(), total(&state, "http_reqs")),
        (11, 16.0)
    );
    assert!(of("http_reqs").contains(&overflow));
    assert_eq!(of("data_sent"), [TagSet::new().with("testid", "fixture")]);
    let explosion = state.new_explosion().expect("there was one");
    assert_eq!(state.new_explosion(), None, "once is enough");
    assert!(
        explosion.contains("http_reqs") && explosion.contains("`name`"),
        "{explosion}"
    );
}

#[test]
fn a_series_keeps_its_number_and_knows_when_it_changed() {
    let mut state = SeriesState::default();
    state.add(&fixture::started());
    let known = |state: &SeriesState| {
        let mut known: Vec<_> = state
            .iter()
            .map(|(tags, series)| {
                let name = format!("{}{tags}", series.family.name);
                (series.number, name, series.changed)
            })
            .collect();
        known.sort();
        known
    };
    state.add(&fixture::second(0));
    let before = known(&state);
    state.add(&fixture::second(1));
    let after = known(&state);
    assert_eq!(before.len(), state.len());
    for ((number, name, changed), (number2, name2, changed2)) in before.iter().zip(&after) {
        assert_eq!((number, name), (number2, name2));
        assert_eq!((*changed, *changed2), (1, 2));
    }
    let gauges = state
        .iter()
        .filter(|(_, series)| series.family.kind == MetricType::Gauge);
    assert!(gauges.count() > 0);
}

#[test]
fn what_is_told_is_taken_once_and_in_order() {
    let inbox = Inbox::default();
    let teller = {
        let inbox = inbox.clone();
        thread::spawn(move || {
            // More than there is room for: the sender waits for the receiver.
            for number in 0..2_000 {
                inbox.tell(&fixture::second(number));
            }
            inbox.end();
        })
    };
    let mut next = 0;
    loop {
        let taken = inbox.take(Duration::from_secs(60));
        for event in taken.events {
            let RunEvent::Second { row, delta } = event else {
                panic!("only seconds were told");
            };
            assert_eq!(
                (row, delta),
                (fixture::row(next), Arc::new(fixture::delta(next)))
            );
            next += 1;
        }
        if taken.has_ended {
            break;
        }
    }
    teller.join().expect("it told everything");
    assert_eq!(next, 2_000);
}

#[test]
fn what_observers_read_under_load_is_a_gauge_of_its_own() {
    let mut state = SeriesState::default();
    state.add(&fixture::started());
    let sample = |at_ns, component: &str, value| {
        RunEvent::Resource(ResourceSample {
            at_ns,
            observer: Arc::from("pods"),
            component: Arc::from(component),
            metric: Arc::from("cpu_cores"),
            value,
        })
    };
    for (at_ns, component, value) in [(-1, "a", 9.0), (5, "a", 1.0), (6, "b", 2.0), (7, "a", 3.0)] {
        state.add(&sample(at_ns, component, value));
    }
    let told: Vec<String> = state
        .iter()
        .map(|(tags, series)| {
            let Aggregated::Gauge(gauge) = &series.value else {
                panic!("{series:?}");
            };
            format!(
                "{} {tags:?} {:?} {}",
                series.family.name,
                gauge.last(),
                series.changed
            )
        })
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("observed_cpu_cores") && told[0].contains("Some(3.0)"),
        "{told:?}"
    );
    assert!(told[1].contains("Some(2.0)"), "{told:?}");
}
