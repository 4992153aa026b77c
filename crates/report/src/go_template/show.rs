//! How values print without a format: Go's `fmt.Sprint`, `fmt.Sprintln` and the default of actions.
//!
//! Must not know verbs. Invariant: every value prints.

use super::printf;
use super::value::Value;

/// What an action writes for a value.
pub(crate) fn printed(value: &Value) -> String {
    match value {
        Value::Missing => "<no value>".to_owned(),
        Value::Text(text) => text.to_string(),
        other => printf::default_format(other),
    }
}

/// Operands side by side, with a space between two that are not text.
pub(super) fn sprint(values: &[Value]) -> String {
    let mut out = String::new();
    let mut text_before = true;
    for value in values {
        let is_text = matches!(value, Value::Text(_));
        if !is_text && !text_before {
            out.push(' ');
        }
        text_before = is_text;
        out.push_str(&printf::default_format(value));
    }
    out
}

/// Operands with a space between each two, and a line end.
pub(super) fn sprintln(values: &[Value]) -> String {
    let parts: Vec<String> = values.iter().map(printf::default_format).collect();
    format!("{}\n", parts.join(" "))
}

/// A span of time as Go's `time.Duration` prints it.
pub(crate) fn duration(ns: i64) -> String {
    let magnitude = ns.unsigned_abs();
    let sign = if ns < 0 { "-" } else { "" };
    let decimals = |value: u64, per: u64| {
        let digits = per.ilog10() as usize;
        let fraction = format!("{:0digits$}", value % per);
        let trimmed = fraction.trim_end_matches('0');
        let point = if trimmed.is_empty() { "" } else { "." };
        format!("{}{point}{trimmed}", value / per)
    };
    match magnitude {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{magnitude}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimals(magnitude, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimals(magnitude, 1_000_000)),
        _ => {
            let minutes = magnitude / 60_000_000_000;
            let seconds = decimals(magnitude % 60_000_000_000, 1_000_000_000);
            match minutes {
                0 => format!("{sign}{seconds}s"),
                1..60 => format!("{sign}{minutes}m{seconds}s"),
                _ => format!("{sign}{}h{}m{seconds}s", minutes / 60, minutes % 60),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_as_in_go() {
        for (ns, text) in [
            (0, "0s"),
            (999, "999ns"),
            (1_500, "1.5µs"),
            (12_000_000, "12ms"),
            (10_000_000_000, "10s"),
            (90_500_000_000, "1m30.5s"),
            (3_600_000_000_000, "1h0m0s"),
            (-1_500_000, "-1.5ms"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }
}
