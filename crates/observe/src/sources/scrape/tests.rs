//! Tests of pages of metrics, from the page to the readings.
//!
//! Must not know how a page is parsed. Invariant: time is set by the test; pages come from a real socket.

use std::sync::Arc;

use loadline_model::observation::Observed;

use super::super::counters::Odometers;
use super::*;
use crate::clock::tests::TestClock;
use crate::spec::{ObserverKind, ObserverSpec};
use crate::web::tests::server;

const TIMEOUT: Duration = Duration::from_secs(5);

fn settings(pages: &[&str], rest: &str) -> ScrapeSettings {
    let (address, asked) = server(pages.iter().map(|page| (*page).to_owned()).collect());
    // The server ends when nobody listens; the test does not ask what it was asked.
    drop(std::thread::spawn(move || asked.iter().count()));
    let text = format!("s=scrape:http://{address}/metrics;{rest}");
    match ObserverSpec::parse(&text).unwrap().remove(0).kind {
        ObserverKind::Scrape(settings) => settings,
        other => panic!("{other:?}"),
    }
}

/// Scrapes once per second and returns the readings of each scrape.
fn looks(pages: &[&str], rest: &str) -> Vec<(Readings, Result<(), Gap>)> {
    let mut source = ScrapeSource::new(&settings(pages, rest), TIMEOUT).unwrap();
    let clock = TestClock::default();
    let looks = (0..pages.len()).map(|second| {
        clock.set_seconds(100.0 + second as f64);
        let mut readings = Readings::new(&Arc::from("s"), 0);
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        let result = source.read(&tick, &mut readings);
        (readings, result)
    });
    looks.collect()
}

fn value(look: &(Readings, Result<(), Gap>), component: &str, metric: &str) -> Option<f64> {
    look.0.value(component, metric)
}

#[test]
fn counters_are_rates_summed_over_series_and_new_beginnings() {
    let pages = [
        "# TYPE a_total counter\na_total{c=\"1\"} 10\na_total{c=\"2\"} 100\n",
        "a_total{c=\"1\"} 15\na_total{c=\"2\"} 120\n",
        "a_total{c=\"1\"} 3\na_total{c=\"2\"} 120\na_total{c=\"3\"} 4\n",
    ];
    let all = looks(&pages, "metric=a_total");
    assert_eq!(value(&all[0], "s", "rate_per_s"), None);
    assert_eq!(value(&all[1], "s", "rate_per_s"), Some(25.0));
    assert_eq!(value(&all[2], "s", "rate_per_s"), Some(7.0));
}

#[test]
fn labels_filter_and_make_components() {
    let page = "q{a=\"x\",b=\"1\"} 5\nq{a=\"y\",b=\"1\"} 6\nq{a=\"y\",b=\"2\"} 7\nr 9\n";
    let all = looks(&[page], "metric=q;by=a");
    assert_eq!(value(&all[0], "x", "value"), Some(5.0));
    assert_eq!(value(&all[0], "y", "value"), Some(13.0));
    let all = looks(&[page], "metric=q;label=b=~1|3");
    assert_eq!(value(&all[0], "s", "value"), Some(11.0));
    let all = looks(&[page], "metric=q;metric=r;by=*");
    assert_eq!(value(&all[0], "q a=y,b=2", "value"), Some(7.0));
    assert_eq!(value(&all[0], "r", "value"), Some(9.0));
}

#[test]
fn histograms_give_quantiles_of_the_interval_in_seconds() {
    let pages = [
        "# TYPE d_ms histogram\nd_ms_bucket{le=\"100\"} 5\nd_ms_bucket{le=\"200\"} 5\nd_ms_bucket{le=\"+Inf\"} 5\nd_ms_sum 50\nd_ms_count 5\n",
        "d_ms_bucket{le=\"100\"} 5\nd_ms_bucket{le=\"200\"} 15\nd_ms_bucket{le=\"+Inf\"} 15\nd_ms_sum 1550\nd_ms_count 15\n",
    ];
    let all = looks(&pages, "metric=d_ms");
    let close = |metric: &str, to: f64| {
        let value = value(&all[1], "s", metric).unwrap();
        assert!((value - to).abs() < 1e-9, "{metric}: {value}");
    };
    close("p50_seconds", 0.15);
    close("p95_seconds", 0.195);
    close("mean_seconds", 0.15);
    close("rate_per_s", 10.0);
}

#[test]
fn an_interval_without_a_count_has_no_quantile() {
    let page = "d_seconds_bucket{le=\"1\"} 5\nd_seconds_bucket{le=\"+Inf\"} 5\nd_seconds_count 5\n";
    let all = looks(&[page, page], "metric=d_seconds");
    assert_eq!(value(&all[1], "s", "p95_seconds"), None);
    assert_eq!(value(&all[1], "s", "rate_per_s"), Some(0.0));
}

#[test]
fn the_whole_run_has_quantiles_too() {
    let page = |n: u32| {
        format!(
            "d_seconds_bucket{{le=\"1\"}} {n}\nd_seconds_bucket{{le=\"2\"}} {}\nd_seconds_bucket{{le=\"+Inf\"}} {}\n",
            2 * n,
            2 * n
        )
    };
    let pages: Vec<String> = (0..5).map(|n| page(n * 10)).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let mut source = ScrapeSource::new(&settings(&pages, "metric=d_seconds"), TIMEOUT).unwrap();
    let clock = TestClock::default();
    let mut readings = Readings::new(&Arc::from("s"), 0);
    for second in 0..5 {
        clock.set_seconds(100.0 + f64::from(second));
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        source.read(&tick, &mut readings).unwrap();
    }
    let mut said = Readings::new(&Arc::from("s"), 0);
    let window = RunWindow {
        start_unix_ns: 101_000_000_000,
        end_unix_ns: 104_000_000_000,
        steady_unix_ns: None,
    };
    source.conclude(&window, &mut said).unwrap();
    assert_eq!(said.value("s", "window_p50_seconds"), Some(1.0));
    assert_eq!(said.value("s", "steady_p95_seconds"), Some(1.9));
    let times = said.into_items().into_iter().map(|item| match item {
        Observed::Reading(reading) => reading.at_unix_ns,
        other => panic!("{other:?}"),
    });
    assert!(times.into_iter().all(|at| at == 103_999_999_999));
}

#[test]
fn what_appears_on_a_page_during_the_run_began_at_zero() {
    let pages = [
        "a 1\n",
        "d_seconds_bucket{le=\"1\"} 10\nd_seconds_bucket{le=\"2\"} 10\nd_seconds_bucket{le=\"+Inf\"} 10\n",
        "d_seconds_bucket{le=\"1\"} 10\nd_seconds_bucket{le=\"2\"} 20\nd_seconds_bucket{le=\"+Inf\"} 20\n",
    ];
    let mut source = ScrapeSource::new(&settings(&pages, "metric=d_seconds"), TIMEOUT).unwrap();
    let clock = TestClock::default();
    let mut readings = Readings::new(&Arc::from("s"), 0);
    for second in 0..3 {
        clock.set_seconds(100.0 + f64::from(second));
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        let read = source.read(&tick, &mut readings);
        assert_eq!(read.is_err(), second == 0);
    }
    let mut said = Readings::new(&Arc::from("s"), 0);
    let window = RunWindow {
        start_unix_ns: 100_500_000_000,
        end_unix_ns: 102_000_000_000,
        steady_unix_ns: None,
    };
    source.conclude(&window, &mut said).unwrap();
    let p95 = said.value("s", "window_p95_seconds");
    assert!(
        p95.is_some_and(|p95| (p95 - 1.9).abs() < 1e-9),
        "all twenty count: {p95:?}"
    );
}

#[test]
fn what_the_page_does_not_have_is_a_gap() {
    let all = looks(&["a 1\n"], "metric=b");
    assert!(all[0].1.as_ref().unwrap_err().0.contains("no metric b"));
    let all = looks(&["a 1\n"], "metric=b;metric=a");
    assert_eq!(all[0].1, Ok(()));
    assert_eq!(all[0].0.remarks(crate::readings::MISSING_NOTE).len(), 1);
    let all = looks(&["<html>no</html>"], "metric=b");
    assert!(all[0].1.is_err());
}

#[test]
fn a_stage_counts_on_over_new_beginnings_and_series_that_appear_later() {
    let pages = [
        "b 1\n",
        "a{x=\"1\"} 10\n",
        "a{x=\"1\"} 15\nb 1\n",
        "a{x=\"2\"} 2\nb 1\n",
    ];
    let mut counter =
        ScrapeCounter::new(&settings(&pages, "metric=a;type=counter"), TIMEOUT).unwrap();
    let clock = TestClock::default();
    let tick = Tick {
        clock: &clock,
        load_ended_unix_ns: None,
    };
    let mut odometers = Odometers::default();
    let totals = [0; 4].map(|_| odometers.advance(counter.totals(&tick).unwrap()));
    assert_eq!(totals, [None, Some(10.0), Some(15.0), Some(17.0)]);
}
