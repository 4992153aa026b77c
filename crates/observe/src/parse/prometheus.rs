//! Responses of the query API of Prometheus (HTTP API v1, instant and range queries).
//!
//! Must not know the query. Invariant: a value that is not finite is skipped, never a zero.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{finite, shown};

/// Labels and points of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledReading {
    /// The labels without the metric's name.
    pub labels: BTreeMap<String, String>,
    /// Times in nanoseconds since 1970, and values.
    pub points: Vec<(u64, f64)>,
}

impl LabelledReading {
    /// Identifies this result among others: the value of its only label, otherwise all as `NAME=VALUE`; `None`:
    /// it has none.
    #[must_use]
    pub fn component(&self) -> Option<String> {
        match self.labels.len() {
            0 => None,
            1 => self.labels.values().next().cloned(),
            _ => {
                let pairs = self.labels.iter();
                let pairs = pairs.map(|(name, value)| format!("{name}={value}"));
                Some(pairs.collect::<Vec<_>>().join(","))
            }
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    data: Option<Data>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "resultType")]
    kind: String,
    result: Value,
}

#[derive(Deserialize)]
struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    value: Option<Pair>,
    #[serde(default)]
    values: Vec<Pair>,
}

/// A time in seconds and a value as text.
#[derive(Deserialize)]
struct Pair(f64, String);

/// Parses a response.
///
/// # Errors
/// It is not such a response, or says that the query failed.
pub fn parse(text: &str) -> Result<Vec<LabelledReading>, String> {
    let answer: Answer = serde_json::from_str(text)
        .map_err(|_| format!("the response is not from Prometheus: {}", shown(text)))?;
    if answer.status != "success" {
        let why = answer.error.unwrap_or(answer.status);
        return Err(format!("the query failed: {}", shown(&why)));
    }
    let data = answer.data.ok_or("the response has no data")?;
    let wrong = |_| format!("a result of type {:?} has another form", data.kind);
    match data.kind.as_str() {
        "vector" | "matrix" => {
            let series: Vec<Series> = serde_json::from_value(data.result).map_err(wrong)?;
            Ok(series.into_iter().map(found).collect())
        }
        "scalar" => {
            let pair: Pair = serde_json::from_value(data.result).map_err(wrong)?;
            Ok(vec![LabelledReading {
                labels: BTreeMap::new(),
                points: point(&pair).into_iter().collect(),
            }])
        }
        other => Err(format!("the query gives a {}, not numbers", shown(other))),
    }
}

/// Parses a response that came with an HTTP status.
///
/// # Errors
/// As [`parse`]; with the status if that is not one of success.
pub fn parse_answer(status: u16, text: &str) -> Result<Vec<LabelledReading>, String> {
    parse(text).map_err(|why| match (200..300).contains(&status) {
        true => why,
        false => format!("the server answered {status}: {why}"),
    })
}

/// The value of a query that has one, from a response that came with an HTTP status.
///
/// # Errors
/// As [`parse_answer`], and if there is no value or more than one.
pub fn only_value(status: u16, text: &str) -> Result<f64, String> {
    let all = parse_answer(status, text)?;
    let mut values = all.iter().filter_map(|found| found.points.last());
    match (values.next(), all.len()) {
        (Some((_, value)), 1) => Ok(*value),
        (_, 0 | 1) => Err("the query gives no value".to_owned()),
        (_, several) => Err(format!(
            "the query gives {several} series, and one is needed; aggregate them, such as with sum()"
        )),
    }
}

fn found(series: Series) -> LabelledReading {
    let mut labels = series.metric;
    labels.remove("__name__");
    let pairs = series.value.iter().chain(&series.values);
    LabelledReading {
        labels,
        points: pairs.filter_map(point).collect(),
    }
}

fn point(Pair(seconds, value): &Pair) -> Option<(u64, f64)> {
    let is_time = seconds.is_finite() && *seconds >= 0.0;
    let value = finite(value)?;
    // Prometheus has a resolution of milliseconds; a float of seconds cannot hold nanoseconds.
    is_time.then(|| {
        (
            ((seconds * 1e3).round() as u64).saturating_mul(1_000_000),
            value,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_vector_has_a_point_each() {
        let text = r#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"__name__":"up","job":"api"},"value":[1700000000.5,"1"]},
            {"metric":{"job":"b","pod":"p"},"value":[1700000000.5,"NaN"]},
            {"metric":{},"value":[1700000000.5,"2.5"]}]}}"#;
        let found = parse(text).unwrap();
        assert_eq!(found[0].component().as_deref(), Some("api"));
        assert_eq!(found[0].points, [(1_700_000_000_500_000_000, 1.0)]);
        assert_eq!(found[1].component().as_deref(), Some("job=b,pod=p"));
        assert!(found[1].points.is_empty());
        assert_eq!(found[2].component(), None);
    }

    #[test]
    fn a_matrix_has_points_in_order() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"a":"b"},"values":[[1,"1"],[2,"+Inf"],[3,"4"]]}]}}"#;
        let points = &parse(text).unwrap()[0].points;
        assert_eq!(points, &[(1_000_000_000, 1.0), (3_000_000_000, 4.0)]);
    }

    #[test]
    fn scalars_are_read_and_strings_are_not() {
        let scalar = r#"{"status":"success","data":{"resultType":"scalar","result":[5,"6"]}}"#;
        assert_eq!(parse(scalar).unwrap()[0].points, [(5_000_000_000, 6.0)]);
        let string = r#"{"status":"success","data":{"resultType":"string","result":[5,"x"]}}"#;
        assert!(parse(string).unwrap_err().contains("not numbers"));
    }

    #[test]
    fn failures_say_why() {
        let error = r#"{"status":"error","errorType":"bad_data","error":"parse error: x"}"#;
        assert!(parse(error).unwrap_err().contains("parse error: x"));
        assert!(parse("<html>").unwrap_err().contains("<html>"));
        assert!(
            parse(r#"{"status":"success"}"#)
                .unwrap_err()
                .contains("no data")
        );
    }
}
