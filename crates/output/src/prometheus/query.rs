//! Queries to the receiver: their address and their responses.
//!
//! Must not know what is queried, nor why. Source:
//! <https://prometheus.io/docs/prometheus/latest/querying/api/>. Invariant: a response that cannot be parsed is
//! an error.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use super::client::Client;
use super::settings::Settings;

/// The suffixes of the addresses for pushing and for queries.
const WRITE: &str = "/api/v1/write";
const QUERY: &str = "/api/v1/query";
/// What the run or the receiver has of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The value, or a histogram's count.
    pub(super) number: f64,
    /// A histogram's sum.
    pub(super) sum: Option<f64>,
}

pub(super) type Labels = BTreeMap<String, String>;

/// The receiver's query address, if it is known.
pub(super) fn query_url(settings: &Settings) -> Option<String> {
    let told = settings.query_url.clone();
    told.or_else(|| beside(&settings.url))
}

fn beside(write_url: &str) -> Option<String> {
    let base = write_url.split('?').next()?.strip_suffix(WRITE)?;
    Some(format!("{base}{QUERY}"))
}

/// The result of an instant query at a time in milliseconds since 1970.
///
/// # Errors
/// Why there is no result, for people.
pub(super) fn ask(
    client: &Client,
    address: &str,
    query: &str,
    at_ms: u64,
) -> Result<BTreeMap<Labels, Found>, String> {
    let query = utf8_percent_encode(query, NON_ALPHANUMERIC);
    let at_s = at_ms as f64 / 1e3;
    read(&client.get(&format!("{address}?query={query}&time={at_s:.3}"))?)
}

/// The series in the response to an instant query.
fn read(text: &str) -> Result<BTreeMap<Labels, Found>, String> {
    let unreadable = || "the receiver's response to a query cannot be read".to_owned();
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
