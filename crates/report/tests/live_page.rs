//! The page of a running test, and the marks on the charts of every page.
//!
//! Must not know a server.

mod support;

use std::time::Duration;

use loadline_model::event::{CROSSED_MARK, Mark};
use loadline_model::executor::VuStage;
use loadline_model::observation::{ObserverNote, RESTART_NOTE};
use loadline_model::plan::ScriptBehaviour;
use loadline_model::result::{Row, StopReason};
use loadline_model::verdict::Delivery;
use loadline_model::{Behaviour, Executor, RunResult};
use loadline_report::html::{self, Standing, Steering};
use support::pages::{charted, markup};

#[test]
fn the_live_page_has_a_place_for_every_part() {
    let steering = Steering {
        can_pause: true,
        nonce: "n0nce".to_owned(),
    };
    let page = html::live(&steering, "connecting", None);
    let standing = Standing {
        result: &support::troubled_open(),
        now: None,
    };
    for part in html::live_parts(standing) {
        assert!(page.contains(&format!("id=\"{}\"", part.id)), "{}", part.id);
        assert!(
            !part.html.is_empty()
                || [
                    "checks", "names", "metrics", "observed", "agents", "progress"
                ]
                .contains(&part.id),
            "{}",
            part.id
        );
    }
    assert!(page.contains("script-src &#39;nonce-n0nce&#39;"));
    assert_eq!(page.matches("data-order=").count(), 3);
    let without = html::live(&Steering::default(), "connecting", None);
    assert_eq!(without.matches("data-order=").count(), 1);
    let plan = support::troubled_open().plan;
    assert!(plan.duration() > Some(Duration::ZERO));
}

/// A run of ten minutes, one minute after its start.
fn going_on() -> RunResult {
    let executor = Executor::RampingVus {
        start_vus: 5,
        stages: [(20, 5), (580, 50)]
            .map(|(seconds, target)| VuStage {
                duration: Duration::from_secs(seconds),
                target,
            })
            .to_vec(),
        graceful_ramp_down: Duration::ZERO,
    };
    let mut result = support::empty(support::plan("http://h/", executor));
    result.verdict.delivery = Delivery::Unfinished;
    result.totals.elapsed_ns = 60_000_000_000;
    let row = |second: u64| Row {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        started: 10,
        completed: 10,
        good: 10 - u64::from(second >= 40),
        active_vus: 5,
        ..Row::default()
    };
    result.series = (0..60).map(row).collect();
    result
}

#[test]
fn a_live_page_says_how_it_stands_now() {
    let result = going_on();
    let now = Row {
        span_ns: 5_000_000_000,
        ..result.series[59].clone()
    };
    let standing = Standing {
        result: &result,
        now: Some(&now),
    };
    let page = html::live(&Steering::default(), "running, 60 s", Some(standing));
    assert!(page.contains("<title>GET http://h/ - live - loadline</title>"));
    let shown = markup(&page);
    for piece in [
        ">running, 60 s</p>",
        "<progress max=\"100\" value=\"10.0\"",
        "<span>1m / 10m, 9m 00s left</span>",
        "now <b>1.80/s</b><small> in the last 5 s</small>",
        "now <b>1 (10.0 %)</b>",
        "now <b>5</b>",
    ] {
        assert!(shown.contains(piece), "{piece} in {shown}");
    }
    assert_eq!(
        shown.matches("class=\"spark\"").count(),
        3,
        "there are no times"
    );
    let at = |piece: &str| shown.find(piece).unwrap_or_else(|| panic!("{piece}"));
    assert!(at("id=\"figures\"") < at("id=\"verdict\""));
    assert_eq!(charted(&page)["at"].as_array().map(Vec::len), Some(60));
    let report = markup(&html::report(&result));
    assert!(!report.contains("class=\"now\"") && !report.contains("<progress"));
}

#[test]
fn marks_tell_stages_failures_and_restarts() {
    let mut result = going_on();
    result.events.push(Mark {
        at_ns: 50_000_000_000,
        kind: CROSSED_MARK.to_owned(),
        text: "p(95)<500".to_owned(),
    });
    result.observations.notes.push(ObserverNote {
        at_ns: 45_000_000_000,
        observer: "shop".to_owned(),
        component: "api-1".to_owned(),
        kind: RESTART_NOTE.to_owned(),
        text: "its process is another one".to_owned(),
    });
    let page = html::report(&result);
    let data = charted(&page);
    let marks = data["marks"].as_array().expect("a list");
    let told: Vec<(u64, &str)> = marks
        .iter()
        .filter_map(|mark| {
            Some((
                mark["at"].as_u64()? / 1_000_000_000,
                mark["label"].as_str()?,
            ))
        })
        .collect();
    let wanted = [
        (20, "→ 50 users"),
        (40, "wrong responses begin"),
        (45, "shop api-1 restarted"),
        (50, "crossed: p(95)<500"),
    ];
    assert_eq!(told, wanted);
    let table = markup(&page);
    assert!(table.contains("<td>stage 2 of bench: to 50 users in 9m40s</td>"));
    assert!(table.contains("<td>the first wrong response</td>"));
}

#[test]
fn a_scripts_load_so_far_is_what_was_not_dropped() {
    let mut result = support::troubled_open();
    result.plan.scenarios[0].behaviour = Behaviour::Script(ScriptBehaviour {
        exec: "default".to_owned(),
        env: std::collections::BTreeMap::new(),
    });
    result.totals.asked = None;
    result.totals.stop = StopReason::Finished;
    result.verdict.delivery = Delivery::Unfinished;
    let row = |at_ns| Row {
        at_ns,
        span_ns: 1_000_000_000,
        offered: Some(100),
        dropped: 4,
        ..Row::default()
    };
    result.series = vec![row(0), row(1_000_000_000)];
    let page = markup(&html::report(&result));
    assert!(page.contains("<dt>Load delivered</dt><dd>96.0 %</dd>"));
}
