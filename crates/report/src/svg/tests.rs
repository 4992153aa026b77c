//! Charts of results made by hand.
//!
//! Invariant: every chart is read back by an XML parser.

use std::sync::Arc;

use loadline_metric::TimeTrend;
use loadline_model::ErrorClass;
use loadline_model::heat::Heat;
use loadline_model::observation::{ObservationLog, ResourceSample};
use loadline_model::result::{GeneratorUse, Percentiles, Row};
use proptest::prelude::*;

use super::*;
use crate::compare::testing;

fn filled(seconds: u64) -> RunResult {
    let mut run = testing::run(seconds, 1_000, 250_000, 1);
    let mut times = TimeTrend::new();
    (1..100).for_each(|n| times.record(n * n * 1_000));
    for row in &mut run.series {
        row.heat = Heat::of(&times);
        row.offered = Some(1_000);
    }
    run.environment.cores = 2.0;
    run
}

/// The elements of an SVG document; refuses what is not well-formed.
fn elements(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(root.attribute("role"), Some("img"));
    root.descendants()
        .filter(|node| node.is_element())
        .map(|node| node.tag_name().name().to_owned())
        .collect()
}

#[test]
fn a_run_has_four_charts_that_tell_what_they_are() {
    let drawn = charts(&filled(30), &Palette::PAPER);
    let names: Vec<&str> = drawn.iter().map(|drawing| drawing.name).collect();
    assert_eq!(names, ["throughput", "percentiles", "heatmap", "generator"]);
    for drawing in &drawn {
        let elements = elements(&drawing.svg);
        assert_eq!(elements[1..3], ["title", "desc"], "{}", drawing.name);
        assert!(
            elements.iter().filter(|name| *name == "path").count() > 5,
            "{}",
            drawing.name
        );
    }
    assert!(drawn[0].svg.contains("requests per second"));
    assert!(drawn[0].svg.contains("/s answered"));
    assert!(drawn[2].svg.contains("30 s"));
}

#[test]
fn failures_have_a_line_each_and_the_rare_ones_one_together() {
    let mut run = filled(30);
    for (second, row) in run.series.iter_mut().enumerate() {
        let classes = ErrorClass::ALL.iter().copied().enumerate();
        row.failures = classes
            .filter(|(place, _)| *place < 7 && second % (place + 1) == 0)
            .map(|(_, class)| (class, 10))
            .collect();
    }
    let drawn = charts(&run, &Palette::PAPER);
    let names: Vec<&str> = drawn.iter().map(|drawing| drawing.name).collect();
    assert_eq!(names[..2], ["throughput", "failures"]);
    let svg = &drawn[1].svg;
    elements(svg);
    assert!(
        svg.contains("300 dns, 150 refused, 100 unreachable"),
        "{svg}"
    );
    for name in ErrorClass::ALL[..5].iter().map(|class| class.name()) {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    assert!(svg.contains(">other classes</text>") && !svg.contains(">proxy</text>"));
}

#[test]
fn a_run_without_seconds_has_no_chart() {
    assert_eq!(charts(&testing::run(0, 0, 1, 1), &Palette::PAPER), []);
}

#[test]
fn an_hour_stays_small() {
    for drawing in charts(&filled(3_600), &Palette::PAPER) {
        assert!(
            drawing.svg.len() < 250_000,
            "{}: {}",
            drawing.name,
            drawing.svg.len()
        );
    }
}

#[test]
fn thresholds_and_marks_are_drawn_as_on_the_page() {
    let mut run = filled(30);
    run.plan.thresholds = ["p(95)<400us", "p(99)<50h", "goodput>500"]
        .map(|text| text.parse().expect("a threshold"))
        .to_vec();
    run.events.push(loadline_model::event::Mark {
        at_ns: 5_000_000_000,
        kind: loadline_model::event::CROSSED_MARK.to_owned(),
        text: "goodput>500".to_owned(),
    });
    let drawn = charts(&run, &Palette::PAPER);
    let named = |name: &str| {
        let found = drawn.iter().find(|drawing| drawing.name == name);
        &found.expect("it is drawn").svg
    };
    let (rates, times) = (named("throughput"), named("percentiles"));
    for text in [
        "good &gt; 500/s",
        "threshold good &gt; 500/s",
        "crossed: goodput&gt;500",
    ] {
        assert!(
            rates.contains(&format!(">{text}</text>")),
            "{text}: {rates}"
        );
    }
    for text in [
        "p95 &lt; 400 µs",
        "threshold p99 &lt; 50h 00m, above what is drawn",
    ] {
        assert!(
            times.contains(&format!(">{text}</text>")),
            "{text}: {times}"
        );
    }
    assert!(!times.contains(">p99 &lt; 50h 00m</text>"), "it is far off");
}

#[test]
fn texts_of_a_result_are_no_markup() {
    let mut run = filled(10);
    run.events.push(loadline_model::event::Mark {
        at_ns: 5,
        kind: "stop".to_owned(),
        text: "</svg><script>\"&\u{1}".to_owned(),
    });
    for drawing in charts(&run, &Palette::PAGE) {
        assert!(!elements(&drawing.svg).contains(&"script".to_owned()));
    }
}

proptest! {
    #[test]
    fn whatever_the_rows_hold_charts_are_well_formed(
        rows in proptest::collection::vec((any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<f64>()), 0..20),
    ) {
        let mut run = testing::run(1, 1, 1, 1);
        run.series = rows.iter().map(|(at, span, count, time, cores)| Row {
            at_ns: at >> 6,
            span_ns: u64::from(*span),
            completed: count >> 20,
            good: count >> 21,
            service_time_ns: Some(Percentiles { p50: *time, p90: *time, p95: None, p99: *time }),
            generator: GeneratorUse { cpu_cores: *cores, rss_bytes: *count, ..GeneratorUse::default() },
            heat: Heat::of(&{ let mut times = TimeTrend::new(); times.record(*time); times }),
            ..Row::default()
        }).collect();
        for drawing in charts(&run, &Palette::PAPER) {
            elements(&drawing.svg);
            prop_assert!(!drawing.svg.contains("NaN") && !drawing.svg.contains("inf\""));
        }
    }
}

#[test]
fn what_was_observed_has_a_chart_with_a_line_for_each_component() {
    let mut run = filled(30);
    let mut log = ObservationLog::default();
    for second in -2..32_i64 {
        for (metric, value) in [
            ("cpu_cores", 1.5),
            ("cpu_limit_cores", 2.0),
            ("memory_bytes", 3e7),
        ] {
            log.add(&ResourceSample {
                at_ns: second * 1_000_000_000,
                observer: Arc::from("api"),
                component: Arc::from("api-1"),
                metric: Arc::from(metric),
                value,
            });
        }
    }
    run.observations = log.finish(None);
    let drawn = charts(&run, &Palette::PAPER);
    let named = |name: &str| drawn.iter().find(|drawing| drawing.name == name);
    for (chart, texts) in [
        ("cpu", &["api api-1", "api api-1 limit", "CPU, cores"][..]),
        ("memory", &["api api-1", "memory"][..]),
    ] {
        let svg = &named(chart).expect("it is drawn").svg;
        elements(svg);
        for text in texts {
            assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
        }
    }
}

#[test]
fn a_time_of_zero_does_not_stretch_the_axis() {
    let drawn = |times: [f64; 3]| {
        let points = times.into_iter().zip(1_u8..);
        let points = points.map(|(time, second)| (f64::from(second), Some(time)));
        let series = Series {
            name: "99 %".to_owned(),
            points: points.collect(),
        };
        let titles = ("Times", "response time");
        let drawing = over_time("times", titles, Unit::Span, 3.0, vec![series]);
        drawing.expect("a chart").svg
    };
    let far_apart = drawn([0.0, 3e6, 400e6]);
    assert!(far_apart.contains(">100 ms<") && far_apart.contains(">10 ms<"));
    for svg in [far_apart, drawn([0.0, 9e6, 9e6]), drawn([0.0, 0.0, 0.0])] {
        assert!(!svg.contains(" ns<"), "{svg}");
    }
}
