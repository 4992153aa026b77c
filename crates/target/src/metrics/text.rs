//! The Prometheus text format, version 0.0.4.
//!
//! It must not know where the numbers come from. Invariant: bucket counts are cumulative and end at `+Inf`
//! with the count. The format cannot carry native histograms; the protobuf one does.

use super::histogram::{BOUNDS_NS, ServiceTimes};
use super::{ExposedKind, Family, Series, Value};
use std::fmt::Write as _;

/// The type of the format.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes all families.
pub(super) fn encode(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        let kind = match family.kind {
            ExposedKind::Counter => "counter",
            ExposedKind::Gauge => "gauge",
            ExposedKind::Histogram => "histogram",
        };
        let (name, help) = (family.name, family.help);
        out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for series in &family.series {
            match &series.value {
                Value::Number(value) => line(&mut out, name, "", series, None, *value),
                Value::Times(times) => histogram(&mut out, name, series, times),
            }
        }
    }
    out
}

fn histogram(out: &mut String, name: &str, series: &Series, times: &ServiceTimes) {
    let mut cumulative = 0;
    let bounds = BOUNDS_NS
        .iter()
        .map(|bound| (*bound as f64 / 1e9).to_string());
    for (count, bound) in times.classic.iter().zip(bounds.chain(["+Inf".to_owned()])) {
        cumulative += count;
        line(
            out,
            name,
            "_bucket",
            series,
            Some(&bound),
            cumulative as f64,
        );
    }
    line(out, name, "_sum", series, None, times.sum_seconds());
    line(out, name, "_count", series, None, times.count as f64);
}

fn line(out: &mut String, name: &str, suffix: &str, series: &Series, le: Option<&str>, value: f64) {
    let own = series
        .labels
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    let labels: Vec<String> = own
        .chain(le.map(|le| ("le", le)))
        .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
        .collect();
    let labels = if labels.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", labels.join(","))
    };
    writeln!(out, "{name}{suffix}{labels} {value}").expect("writing to memory cannot fail");
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_are_cumulative_and_labels_escaped() {
        let mut times = ServiceTimes::default();
        times.record(90_000);
        times.record(20_000_000_000);
        let family = Family {
            name: "t_seconds",
            help: "Time.",
            kind: ExposedKind::Histogram,
            series: vec![Series {
                labels: vec![("path", "/\"x\\\n".to_owned())],
                value: Value::Times(Box::new(times)),
            }],
        };
        let text = encode(&[family]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "# HELP t_seconds Time.");
        assert_eq!(lines[1], "# TYPE t_seconds histogram");
        assert_eq!(
            lines[2],
            r#"t_seconds_bucket{path="/\"x\\\n",le="0.0001"} 1"#
        );
        assert_eq!(
            lines[17],
            r#"t_seconds_bucket{path="/\"x\\\n",le="+Inf"} 2"#
        );
        assert_eq!(lines[18], r#"t_seconds_sum{path="/\"x\\\n"} 20.00009"#);
        assert_eq!(lines[19], r#"t_seconds_count{path="/\"x\\\n"} 2"#);
    }
}
