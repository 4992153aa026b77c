//! Placeholders in queries that are run after the load.
//!
//! Must not know what a query means. Invariant: an unknown placeholder is refused before the run.

use std::fmt::Write as _;

/// The times for placeholders, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Start of the load.
    pub start_unix_ns: u64,
    /// End of the load.
    pub end_unix_ns: u64,
    /// Start of the steady state.
    pub steady_start_unix_ns: u64,
    /// End of the steady state.
    pub steady_end_unix_ns: u64,
}

/// The names, in the order in which messages list them.
const NAMES: [&str; 6] = [
    "start",
    "end",
    "steady",
    "steady_end",
    "window",
    "steady_window",
];

/// Checks that every placeholder is known.
///
/// # Errors
/// One is not; the message lists the known ones.
pub fn check(query: &str) -> Result<(), String> {
    expand(
        query,
        &Times {
            start_unix_ns: 0,
            end_unix_ns: 0,
            steady_start_unix_ns: 0,
            steady_end_unix_ns: 0,
        },
    )
    .map(|_| ())
}

/// Whether a query asks about the steady state.
#[must_use]
pub fn asks_about_steady(query: &str) -> bool {
    query.contains("{{steady") || query.contains("{{ steady")
}

/// Replaces placeholders by times in seconds, and spans in the form `12s` (at least `1s`).
///
/// # Errors
/// A placeholder is unknown or unterminated.
pub fn expand(query: &str, times: &Times) -> Result<String, String> {
    let mut text = String::with_capacity(query.len() + 32);
    let mut rest = query;
    while let Some((before, inside)) = rest.split_once("{{") {
        text.push_str(before);
        let (name, after) = inside
            .split_once("}}")
            .ok_or("a placeholder is not closed; write }} after its name")?;
        let value = value_of(name.trim(), times).ok_or_else(|| {
            let known = NAMES.map(|name| format!("{{{{{name}}}}}")).join(", ");
            format!("unknown placeholder {{{{{name}}}}}; use {known}")
        })?;
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

fn value_of(name: &str, times: &Times) -> Option<String> {
    let value = match name {
        "start" => seconds(times.start_unix_ns),
        "end" => seconds(times.end_unix_ns),
        "steady" => seconds(times.steady_start_unix_ns),
        "steady_end" => seconds(times.steady_end_unix_ns),
        "window" => span(times.start_unix_ns, times.end_unix_ns),
        "steady_window" => span(times.steady_start_unix_ns, times.steady_end_unix_ns),
        _ => return None,
    };
    Some(value)
}

/// Seconds with a fraction of milliseconds, as the API of Prometheus takes them.
#[must_use]
pub fn seconds(unix_ns: u64) -> String {
    let mut text = (unix_ns / 1_000_000_000).to_string();
    let milliseconds = unix_ns / 1_000_000 % 1_000;
    if milliseconds > 0 {
        write!(text, ".{milliseconds:03}").expect("a string takes everything");
    }
    text
}

fn span(from_unix_ns: u64, to_unix_ns: u64) -> String {
    let span = to_unix_ns.saturating_sub(from_unix_ns);
    let whole = span.saturating_add(500_000_000) / 1_000_000_000;
    format!("{}s", whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        start_unix_ns: 1_000_000_000_000,
        end_unix_ns: 1_060_250_000_000,
        steady_start_unix_ns: 1_010_000_000_000,
        steady_end_unix_ns: 1_060_000_000_000,
    };

    #[test]
    fn placeholders_become_times_and_spans() {
        let query = "sum(increase(x{a=\"b\"}[{{window}}] @ {{ end }})) - {{start}} {{steady}} {{steady_end}} {{steady_window}}";
        let text = expand(query, &TIMES).unwrap();
        assert_eq!(
            text,
            "sum(increase(x{a=\"b\"}[60s] @ 1060.250)) - 1000 1010 1060 50s"
        );
    }

    #[test]
    fn an_unknown_placeholder_is_refused() {
        assert!(check("a{{b}}").unwrap_err().contains("{{start}}"));
        assert!(check("a{{end").unwrap_err().contains("}}"));
    }

    #[test]
    fn a_span_is_never_empty() {
        assert_eq!(span(5, 5), "1s");
        assert_eq!(span(9, 5), "1s");
    }
}
