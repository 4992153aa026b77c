//! Queries to the receiver: their address and their responses.
//!
//! Must not know what is queried, nor why. Source:
//! <https://prometheus.io/docs/prometheus/latest/querying/api/>. Invariant: a response that cannot be parsed is
//! an error.

use std::collections::BTreeMap;

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
    read(&get(client, address, query, at_ms)?)
}

/// The timestamps, in milliseconds since 1970, of the points that a range selector finds.
///
/// # Errors
/// Why there is no result, for people.
pub(super) fn instants(
    client: &Client,
    address: &str,
    selector: &str,
    at_ms: u64,
) -> Result<BTreeMap<Labels, Vec<u64>>, String> {
    read_instants(&get(client, address, selector, at_ms)?)
}

fn get(client: &Client, address: &str, query: &str, at_ms: u64) -> Result<String, String> {
    let query = loadline_http::encoded(query);
    let at_s = at_ms as f64 / 1e3;
    client.get(&format!("{address}?query={query}&time={at_s:.3}"))
}

/// The series in the response, unread.
fn series_of(text: &str) -> Result<Vec<Json>, String> {
    let mut answer: Json = serde_json::from_str(text).map_err(|_| unreadable())?;
    match answer["data"]["result"].take() {
        Json::Array(series) => Ok(series),
        _ => Err(unreadable()),
    }
}

fn unreadable() -> String {
    "the receiver's response to a query cannot be read".to_owned()
}

fn read_instants(text: &str) -> Result<BTreeMap<Labels, Vec<u64>>, String> {
    let one = |series: &Json| {
        let labels = serde_json::from_value(series["metric"].clone()).ok()?;
        let points = series["values"].as_array()?.iter();
        let instants = points.map(|point| Some((point[0].as_f64()? * 1e3).round() as u64));
        Some((labels, instants.collect::<Option<_>>()?))
    };
    let series = series_of(text)?;
    series
        .iter()
        .map(|series| one(series).ok_or_else(unreadable))
        .collect()
}

/// The series in the response to an instant query.
fn read(text: &str) -> Result<BTreeMap<Labels, Found>, String> {
    let series = series_of(text)?;
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
    fn instants_are_in_milliseconds() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"a"},"values":[[1796023364.412,"0"],[1796023364.86,"10"]]}]}}"#;
        let found = read_instants(text).expect("it can be read");
        let found: Vec<_> = found.into_values().collect();
        assert_eq!(found, [[1_796_023_364_412, 1_796_023_364_860]]);
        assert!(read_instants("{}").is_err());
    }

    #[test]
    fn the_query_address_stands_beside_the_one_for_writing() {
        let told = beside("http://h:9/p/api/v1/write?x=1");
        assert_eq!(told.as_deref(), Some("http://h:9/p/api/v1/query"));
        assert_eq!(beside("http://h/push"), None);
    }
}
