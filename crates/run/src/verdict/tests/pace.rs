//! Loads that do not keep their pace: timers that are missed, users who are held up or sleep.
//!
//! Must not know which rule says what. Invariant: each situation differs from its neighbour by one number.

use std::sync::Arc;

use loadline_model::snapshot::Pace;
use loadline_model::verdict::Limit;

use super::builder::{MS, Run, arrivals, constant_vus, found};
use crate::verdict::Code;
use crate::verdict::tests::builder::percentiles;

#[test]
fn timers_that_hold_nothing_back_are_missed() {
    for (held_back, is_missed) in [(5, true), (95, false)] {
        let mut run = Run::new(constant_vus(4, 10), 10.0, 200, 200.0);
        run.totals.seen.pace = Pace {
            held_back,
            overdue: 200 - held_back,
        };
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::PaceMissed).is_some(), is_missed);
        if is_missed {
            assert_eq!(verdict.limit, Limit::Plan, "{}", verdict.headline);
            assert_eq!(
                verdict.headline,
                "20/s good responses, the plan's timers ask for more than 4 VUs can send"
            );
        }
    }
}

#[test]
fn users_who_are_held_up_between_many_quick_requests_show_pauses() {
    for (vus, ms, is_told) in [(20, 0.5, true), (200, 5.0, false)] {
        let mut run = Run::new(constant_vus(vus, 12), 12.0, 480_000, ms);
        for (second, row) in run.series.iter_mut().enumerate() {
            let held = if second % 3 == 2 { 20 } else { 0 };
            row.active_vus = u64::from(vus);
            row.service_time_ns = percentiles(ms, 2.0 * ms);
            let mut times = loadline_metric::TimeTrend::default();
            times.record_n((ms * 1e6) as u64, row.completed - held);
            times.record_n(900 * MS, held);
            row.heat = loadline_model::heat::Heat::of(&times);
        }
        let verdict = run.judge();
        let pauses = found(&verdict, Code::Pauses);
        assert_eq!(pauses.is_some(), is_told);
        if let Some(pauses) = pauses {
            let text = &pauses.text;
            assert!(
                text.starts_with("in 4 of 12 seconds responses stalled for up to"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_script_whose_users_all_sleep_saw_no_outage() {
    for (longest_ms, is_told) in [(8, false), (2_000, true)] {
        let mut run = Run::new(arrivals(40, 10, 80), 10.0, 400, 5.0);
        run.plan.script = Some(Arc::default());
        run.totals.seen.answered_time.record(longest_ms * MS);
        let asleep = &mut run.series[5..7];
        asleep
            .iter_mut()
            .for_each(|row| (row.completed, row.good) = (0, 0));
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::OutageSeen).is_some(), is_told);
    }
}

#[test]
fn two_long_pauses_are_enough() {
    for (ms, is_told) in [(700.0, true), (300.0, false)] {
        let mut run = Run::new(arrivals(80, 7, 100), 7.0, 560, 6.0);
        for (second, row) in run.series.iter_mut().enumerate() {
            let is_hit = second == 2 || second == 5;
            row.service_time_ns = percentiles(6.0, if is_hit { ms } else { 9.0 });
        }
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::Pauses).is_some(), is_told);
    }
}
