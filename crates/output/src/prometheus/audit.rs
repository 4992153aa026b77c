//! Whether the receiver has what was pushed: each series' last value asked for again, page by page.
//!
//! Must not know how points are pushed. Source: <https://prometheus.io/docs/prometheus/latest/querying/api/>.
//! Invariant: what could not be asked for is told as an error, never as agreement.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use super::client::Client;
use super::labels::shown;
use super::pages::pages;
use super::points::{Identity, Kind, Points, Value};
use super::settings::Settings;
use crate::series::SeriesState;

/// The ends of the addresses for pushing and for asking.
const WRITE: &str = "/api/v1/write";
const QUERY: &str = "/api/v1/query";
/// What sums may differ by, as a share: the rounding of doubles that were added in another order.
const ROUNDING: f64 = 1e-9;

/// How the receiver's totals compare with the run's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Series that were looked for.
    pub compared: usize,
    /// Series that the receiver does not have.
    pub missing: usize,
    /// Series with another value.
    pub different: usize,
    /// Values that were counted here and not there, over all counters and histograms.
    pub lost: u64,
    /// The first series that is missing or different; `None` when all agree.
    pub example: Option<String>,
    /// Why the receiver could not be asked; `None`: it was.
    pub error: Option<String>,
}

/// What the run or the receiver has of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The value, or a histogram's count.
    pub(super) number: f64,
    /// A histogram's sum.
    sum: Option<f64>,
}

pub(super) type Labels = BTreeMap<String, String>;

/// Asks the receiver for every series.
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
    let at_s = points.told_until_ms() as f64 / 1e3;
    let mut audit = Audit::default();
    let asked = pages(&mut ours, &mut |selector, page| {
        let query = utf8_percent_encode(selector, NON_ALPHANUMERIC);
        let answer = client.get(&format!("{address}?query={query}&time={at_s:.3}"))?;
        compare(page, &read(&answer)?, &mut audit);
        Ok::<(), String>(())
    });
    match asked {
        Ok(()) => audit,
        Err(why) => failed(&why),
    }
}

fn failed(why: &str) -> Audit {
    Audit {
        error: Some(why.to_owned()),
        ..Audit::default()
    }
}

/// Where the receiver answers queries, as far as it is known.
pub(super) fn query_url(settings: &Settings) -> Option<String> {
    let told = settings.query_url.clone();
    told.or_else(|| beside(&settings.url))
}

fn beside(write_url: &str) -> Option<String> {
    let base = write_url.split('?').next()?.strip_suffix(WRITE)?;
    Some(format!("{base}{QUERY}"))
}

/// Counts how the series of a page and what the receiver has of them differ.
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

/// The series of an answer to an instant query.
///
/// # Errors
/// It is none.
pub(super) fn read(text: &str) -> Result<BTreeMap<Labels, Found>, String> {
    let unreadable = || "the receiver's answer to a query cannot be read".to_owned();
    let answer: Json = serde_json::from_str(text).map_err(|_| unreadable())?;
    let series = answer["data"]["result"].as_array().ok_or_else(unreadable)?;
    let number = |value: &Json| value.as_str()?.parse::<f64>().ok();
    let one = |series: &Json| {
        let labels = serde_json::from_value(series["metric"].clone()).ok()?;
        let histogram = &series["histogram"][1];
        let found = match histogram.is_object() {
            true => Found {
                number: number(&histogram["count"])?,
                sum: Some(number(&histogram["sum"])?),
            },
            false => Found {
                number: number(&series["value"][1])?,
                sum: None,
            },
        };
        Some((labels, found))
    };
    series
        .iter()
        .map(one)
        .collect::<Option<_>>()
        .ok_or_else(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_nonsense_is_an_error() {
        let text = r#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"__name__":"a","status":"200"},"value":[1.5,"7"]},
            {"metric":{"__name__":"b"},"histogram":[1.5,{"count":"3","sum":"0.25","buckets":[]}]}]}}"#;
        let found = read(text).expect("it can be read");
        let found: Vec<_> = found
            .values()
            .map(|found| (found.number, found.sum))
            .collect();
        assert_eq!(found, [(7.0, None), (3.0, Some(0.25))]);
        for bad in [
            "",
            "{}",
            r#"{"data":{"result":[{"metric":{},"value":[1,2]}]}}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_query_address_stands_beside_the_one_for_writing() {
        let told = beside("http://h:9/p/api/v1/write?x=1");
        assert_eq!(told.as_deref(), Some("http://h:9/p/api/v1/query"));
        assert_eq!(beside("http://h/push"), None);
    }
}
