//! bombardier's `-o json`: one line without a line end, keys in its order.
//!
//! Must not know how figures are made. Invariant: the output is valid JSON for any body and header (bombardier
//! quotes them as Go source, which JSON readers refuse for control characters).

use std::fmt::Write as _;

use loadline_go::{float, quote};
use loadline_model::RunResult;

use super::figures::{self, Figures, SHARES, Statistics};
use super::{Client, Spec, Stop};

/// The report as one JSON object.
#[must_use]
pub fn render_json(result: &RunResult, spec: &Spec) -> String {
    let mut out = String::from("{\"spec\":{");
    write_spec(spec, &mut out).expect("writing to a string cannot fail");
    out.push_str("},\"result\":{");
    write_result(result, spec, &mut out).expect("writing to a string cannot fail");
    out.push_str("}}");
    out
}

fn write_spec(spec: &Spec, out: &mut String) -> std::fmt::Result {
    write!(out, "\"numberOfConnections\":{}", spec.connections)?;
    match spec.stop {
        Stop::Duration(duration) => {
            let seconds = number(duration.as_secs_f64());
            write!(
                out,
                ",\"testType\":\"timed\",\"testDurationSeconds\":{seconds}"
            )?;
        }
        Stop::Requests(requests) => {
            write!(
                out,
                ",\"testType\":\"number-of-requests\",\"numberOfRequests\":{requests}"
            )?;
        }
    }
    write!(
        out,
        ",\"method\":{},\"url\":{}",
        string(&spec.method),
        string(&spec.url)
    )?;
    if !spec.headers.is_empty() {
        let header = |(key, value): &(String, String)| {
            format!("{{\"key\":{},\"value\":{}}}", string(key), string(value))
        };
        let headers: Vec<String> = spec.headers.iter().map(header).collect();
        write!(out, ",\"headers\":[{}]", headers.join(","))?;
    }
    match &spec.body_file {
        Some(file) => write!(out, ",\"bodyFilePath\":{}", string(file))?,
        None => write!(out, ",\"body\":{}", string(&spec.body))?,
    }
    for (key, file) in [
        ("certPath", &spec.certificate_file),
        ("keyPath", &spec.key_file),
    ] {
        if let Some(file) = file {
            write!(out, ",\"{key}\":{}", string(file))?;
        }
    }
    let client = match spec.client {
        Client::FastHttp => "fasthttp",
        Client::NetHttp1 => "net/http.v1",
        Client::NetHttp2 => "net/http.v2",
    };
    let timeout = number(spec.timeout.as_secs_f64());
    write!(
        out,
        ",\"stream\":{},\"timeoutSeconds\":{timeout},\"client\":\"{client}\"",
        spec.stream
    )?;
    match spec.rate {
        Some(rate) => write!(out, ",\"rate\":{rate}"),
        None => Ok(()),
    }
}

fn write_result(result: &RunResult, spec: &Spec, out: &mut String) -> std::fmt::Result {
    let figures = Figures::of(result, spec);
    write!(
        out,
        "\"bytesRead\":{},\"bytesWritten\":{}",
        figures.bytes_read, figures.bytes_written
    )?;
    write!(
        out,
        ",\"timeTakenSeconds\":{}",
        number(figures.elapsed_ns as f64 / 1e9)
    )?;
    for (class, count) in (1..).zip(figures.statuses) {
        write!(out, ",\"req{class}xx\":{count}")?;
    }
    write!(out, ",\"others\":{}", figures.others)?;
    if !figures.errors.is_empty() {
        let error = |(text, count): &(String, u64)| {
            format!("{{\"description\":{},\"count\":{count}}}", string(text))
        };
        let errors: Vec<String> = figures.errors.iter().map(error).collect();
        write!(out, ",\"errors\":[{}]", errors.join(","))?;
    }
    if let Some(latencies) = figures::latencies(&result.totals.seen.service_time(), SHARES) {
        write_statistics("latency", &latencies, spec.latencies, u64::to_string, out)?;
    }
    if let Some(rates) = figures::rates(&result.totals.window_rates, SHARES) {
        write_statistics("rps", &rates, true, |rate| format!("{rate:.6}"), out)?;
    }
    Ok(())
}

fn write_statistics<T>(
    key: &str,
    statistics: &Statistics<T>,
    with_percentiles: bool,
    written: impl Fn(&T) -> String,
    out: &mut String,
) -> std::fmt::Result {
    let [mean, stdev, max] = [statistics.mean, statistics.stdev, statistics.max].map(number);
    write!(
        out,
        ",\"{key}\":{{\"mean\":{mean},\"stddev\":{stdev},\"max\":{max}"
    )?;
    if with_percentiles {
        let row =
            |(share, value): &(f64, T)| format!("\"{:2.0}\":{}", share * 100.0, written(value));
        let rows: Vec<String> = statistics.percentiles.iter().map(row).collect();
        write!(out, ",\"percentiles\":{{{}}}", rows.join(","))?;
    }
    out.push('}');
    Ok(())
}

/// As Go prints a float; what JSON cannot hold becomes null.
fn number(value: f64) -> String {
    if value.is_finite() {
        float::shortest(value)
    } else {
        "null".to_owned()
    }
}

/// As Go's `%q`, except where that is no JSON: `\a`, `\v`, `\x01`, `\U0001f600`.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let quoted = quote::quoted(c.encode_utf8(&mut [0; 4]));
        let inner = &quoted[1..quoted.len() - 1];
        let is_json = !["\\a", "\\v", "\\x", "\\U"]
            .iter()
            .any(|bad| inner.starts_with(bad));
        match u32::from(c) {
            _ if is_json => out.push_str(inner),
            code @ 0..0x10000 => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_gos_where_those_are_json() {
        assert_eq!(string("a\"b<c>&é\n"), r#""a\"b<c>&é\n""#);
        assert_eq!(
            string("\u{1}\u{7}\u{7f}\u{feff}"),
            r#""\u0001\u0007\u007f\ufeff""#
        );
        for text in ["\0", "\u{b}\\", "😀\u{10ffff}", "\u{2028}"] {
            let read: String = serde_json::from_str(&string(text)).expect("is JSON");
            assert_eq!(read, text);
        }
    }

    #[test]
    fn numbers_are_json() {
        assert_eq!(
            [
                number(0.082834077),
                number(2.0),
                number(1e7),
                number(f64::NAN)
            ],
            ["0.082834077", "2", "1e+07", "null"]
        );
    }
}
