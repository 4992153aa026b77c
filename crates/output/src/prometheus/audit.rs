//! Checks whether the receiver has what was pushed: queries the last value of each series, page by page.
//!
//! Must not know how points are pushed, nor how queries are sent. Invariant: a failed query is reported as an
//! error, never as agreement.

use std::collections::BTreeMap;

use loadline_model::audit::Audit;

use super::client::Client;
use super::labels::shown;
use super::pages::pages;
use super::points::{Identity, Kind, Points, Value};
use super::query::{Found, Labels, ask, query_url};
use super::settings::Settings;
use crate::series::SeriesState;

/// Relative tolerance for sums: rounding of doubles that were added in another order.
const ROUNDING: f64 = 1e-9;

/// Queries the receiver for every series.
pub(super) fn audit(
    client: &Client,
    settings: &Settings,
    state: &SeriesState,
    points: &mut Points,
) -> Audit {
    let Some(address) = query_url(settings) else {
        return failed(
            "where the receiver answers queries is not known: set LOADLINE_PROMETHEUS_RW_QUERY_URL",
        );
    };
    let mut ours = Vec::new();
    points.tell_again();
    points.take(state, |point| {
        let has = Found::of(&point.value);
        ours.push((point.identity, has));
    });
    let at_ms = points.told_until_ms();
    let mut audit = Audit::default();
    let asked = pages(&mut ours, &mut |selector, page| {
        compare(page, &ask(client, &address, selector, at_ms)?, &mut audit);
        Ok::<(), String>(())
    });
    match asked {
        Ok(()) => audit,
        Err(why) => failed(&why),
    }
}

fn failed(why: &str) -> Audit {
    Audit::failed(format!("the audit could not be made: {why}"))
}

/// Counts the differences between the series of a page and what the receiver has of them.
fn compare(ours: &[(Identity, Found)], found: &BTreeMap<Labels, Found>, audit: &mut Audit) {
    for (identity, wanted) in ours {
        audit.compared += 1;
        let owned = |(label, value): (&str, &str)| (label.to_owned(), value.to_owned());
        let labels: Labels = identity.labels().map(owned).collect();
        let there = found.get(&labels);
        if there.is_some_and(|there| there.agrees(wanted)) {
            continue;
        }
        match there {
            None => audit.missing += 1,
            Some(_) => audit.different += 1,
        }
        if identity.family.kind != Kind::Gauge {
            let missing = wanted.number - there.map_or(0.0, |there| there.number);
            audit.lost += missing.max(0.0).round() as u64;
        }
        audit
            .example
            .get_or_insert_with(|| shown(identity.labels()));
    }
}

impl Found {
    fn of(value: &Value) -> Found {
        match value {
            Value::Number(number) => Found {
                number: *number,
                sum: None,
            },
            Value::Histogram(native) => Found {
                number: native.count as f64,
                sum: Some(native.sum),
            },
        }
    }

    fn agrees(&self, wanted: &Found) -> bool {
        let is_close = |one: f64, other: f64| (one - other).abs() <= ROUNDING * other.abs();
        let sums = match (self.sum, wanted.sum) {
            (Some(one), Some(other)) => is_close(one, other),
            (None, None) => true,
            _ => false,
        };
        sums && is_close(self.number, wanted.number)
    }
}
