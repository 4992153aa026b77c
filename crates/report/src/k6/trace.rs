//! What a script did, request by request and check by check: the text of `--once`.
//!
//! Must not know terminals, nor where a request went. Invariants: secrets are hidden unless requested; of a
//! body only the beginning is shown, and of a binary one only the size.

use std::borrow::Cow;

use loadline_metric::HttpTimes;
use loadline_model::secret::{HIDDEN, is_secret_name, redacted_text};

use crate::Style;
use crate::units::{counted, span};

/// Lines and characters that are shown of a body.
const BODY_LINES: usize = 20;
const BODY_CHARS: usize = 1_000;

/// One finished request, or one hop of it.
#[derive(Clone, Debug)]
pub struct RequestTrace<'a> {
    /// Where in the script: scenario and group; may be empty.
    pub place: &'a str,
    /// Method.
    pub method: &'a str,
    /// URL.
    pub url: &'a str,
    /// Fields that were sent.
    pub sent_headers: Vec<(String, String)>,
    /// Body that was sent.
    pub sent_body: &'a [u8],
    /// What came back.
    pub outcome: TraceOutcome<'a>,
    /// Where the time went.
    pub times: HttpTimes,
}

/// The result of a request.
#[derive(Clone, Debug)]
pub enum TraceOutcome<'a> {
    /// A response.
    Answer {
        /// Status code.
        status: u16,
        /// Reason phrase; may be empty.
        reason: &'a str,
        /// Version of HTTP.
        protocol: &'a str,
        /// Fields.
        headers: Vec<(String, String)>,
        /// The body.
        body: &'a [u8],
    },
    /// None.
    Failed {
        /// k6's error code.
        code: u16,
        /// What happened.
        detail: &'a str,
    },
}

/// A request as a block of lines.
#[must_use]
pub fn request_trace(trace: &RequestTrace<'_>, shows_secrets: bool, style: Style) -> String {
    let place = match trace.place {
        "" => String::new(),
        place => style.faint(&format!("   {place}")),
    };
    let shown = |text: &'_ str| match shows_secrets {
        true => text.to_owned(),
        false => redacted_text(text).into_owned(),
    };
    let mut out = format!(
        "\n{} {}{place}\n  {}\n",
        style.accent(&style.strong(trace.method)),
        style.strong(&shown(trace.url)),
        headline(trace, style),
    );
    let times = times(&trace.times);
    if !times.is_empty() {
        out.push_str(&style.faint(&format!("  {times}")));
        out.push('\n');
    }
    let mark = style.accent(">");
    push_fields(&trace.sent_headers, &mark, shows_secrets, style, &mut out);
    push_body(trace.sent_body, &mark, shows_secrets, style, &mut out);
    if let TraceOutcome::Answer { headers, body, .. } = &trace.outcome {
        let mark = style.good("<");
        push_fields(headers, &mark, shows_secrets, style, &mut out);
        push_body(body, &mark, shows_secrets, style, &mut out);
    }
    out
}

/// A check as a line.
#[must_use]
pub fn check_trace(name: &str, place: &str, passed: bool, style: Style) -> String {
    let place = match place {
        "" => String::new(),
        place => style.faint(&format!("   {place}")),
    };
    match passed {
        true => format!("  {} {name}{place}\n", style.good("✓")),
        false => format!("  {} {}{place}\n", style.alarm("✗"), style.alarm(name)),
    }
}

fn headline(trace: &RequestTrace<'_>, style: Style) -> String {
    let took = trace.times.sending + trace.times.waiting + trace.times.receiving;
    match &trace.outcome {
        TraceOutcome::Failed { code, detail } => {
            style.alarm(&format!("✗ failed ({code}): {detail}"))
        }
        TraceOutcome::Answer {
            status,
            reason,
            protocol,
            body,
            ..
        } => {
            let told = format!("{status} {reason}");
            let told = told.trim_end();
            let told = match status {
                0..400 => style.good(told),
                400..500 => style.caution(told),
                500.. => style.alarm(told),
            };
            let size = counted(body.len() as u64, "byte");
            format!("{told} · {protocol} · {} · {size}", span(took as f64))
        }
    }
}

/// The parts of the time that are not zero.
fn times(times: &HttpTimes) -> String {
    let parts = [
        ("blocked", times.blocked),
        ("connecting", times.connecting),
        ("TLS", times.tls_handshaking),
        ("sending", times.sending),
        ("waiting", times.waiting),
        ("receiving", times.receiving),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(_, ns)| *ns > 0)
        .map(|(name, ns)| format!("{name} {}", span(ns as f64)))
        .collect();
    told.join(" · ")
}

fn push_fields(
    fields: &[(String, String)],
    mark: &str,
    shows_secrets: bool,
    style: Style,
    out: &mut String,
) {
    for (name, value) in fields {
        let value = match shows_secrets {
            true => printable(value),
            false => printable(&hidden(name, value)),
        };
        out.push_str(&format!(
            "  {mark} {} {value}\n",
            style.faint(&format!("{name}:"))
        ));
    }
}

/// A value without its secrets: of a cookie that is set, its name and attributes stay.
fn hidden(name: &str, value: &str) -> String {
    if name.eq_ignore_ascii_case("set-cookie") {
        let (pair, attributes) = match value.split_once(';') {
            Some((pair, attributes)) => (pair, format!(";{attributes}")),
            None => (value, String::new()),
        };
        let cookie = pair.split('=').next().unwrap_or_default();
        return format!("{cookie}={HIDDEN}{attributes}");
    }
    let scheme = value.split_once(' ').map_or("", |(scheme, _)| scheme);
    match is_secret_name(name) {
        true if name.to_ascii_lowercase().ends_with("authorization") && !scheme.is_empty() => {
            format!("{scheme} {HIDDEN}")
        }
        true => HIDDEN.to_owned(),
        false => redacted_text(value).into_owned(),
    }
}

fn push_body(body: &[u8], mark: &str, shows_secrets: bool, style: Style, out: &mut String) {
    if body.is_empty() {
        return;
    }
    out.push_str(&format!("  {mark}\n"));
    let size = counted(body.len() as u64, "byte");
    let Some((shown, is_whole)) = beginning(body) else {
        let told = style.faint(&format!("{size} of binary data"));
        out.push_str(&format!("  {mark} {told}\n"));
        return;
    };
    let shown = match shows_secrets {
        true => Cow::Borrowed(shown.as_str()),
        false => redacted_text(&shown),
    };
    for line in shown.lines() {
        out.push_str(&format!("  {mark} {}\n", printable(line)));
    }
    if !is_whole {
        let told = style.faint(&format!("… {size} in all"));
        out.push_str(&format!("  {mark} {told}\n"));
    }
}

/// The beginning of a text, and whether it is complete; `None`: it is not text.
fn beginning(body: &[u8]) -> Option<(String, bool)> {
    // A character that the end of the part cuts in two does not make it binary.
    let part = &body[..body.len().min(4 * BODY_CHARS)];
    let text = match std::str::from_utf8(part) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&part[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    if text.contains('\0') {
        return None;
    }
    let lines: Vec<&str> = text.lines().take(BODY_LINES).collect();
    let shown: String = lines.join("\n").chars().take(BODY_CHARS).collect();
    let is_whole = shown.len() >= body.trim_ascii_end().len();
    Some((shown, is_whole))
}

/// A text that cannot steer the terminal.
fn printable(text: &str) -> String {
    let plain = |c: char| {
        if c.is_control() && c != '\t' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(rows: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        rows.iter().map(owned).collect()
    }

    fn trace<'a>(outcome: TraceOutcome<'a>, sent_body: &'a [u8]) -> RequestTrace<'a> {
        RequestTrace {
            place: "::login",
            method: "POST",
            url: "http://h/x",
            sent_headers: fields(&[("Host", "h"), ("Authorization", "Bearer abc")]),
            sent_body,
            outcome,
            times: HttpTimes {
                sending: 10_000,
                waiting: 1_500_000,
                ..HttpTimes::default()
            },
        }
    }

    #[test]
    fn a_request_is_shown_without_its_secrets() {
        let answer = TraceOutcome::Answer {
            status: 404,
            reason: "Not Found",
            protocol: "HTTP/1.1",
            headers: fields(&[("Set-Cookie", "sid=1; Path=/"), ("Content-Type", "a/b")]),
            body: b"one\ntwo",
        };
        let trace = trace(answer, b"{\"a\":1}");
        let told = request_trace(&trace, false, Style::default());
        let expected = "
POST http://h/x   ::login
  404 Not Found · HTTP/1.1 · 1.51 ms · 7 bytes
  sending 10 µs · waiting 1.50 ms
  > Host: h
  > Authorization: Bearer ***
  >
  > {\"a\":1}
  < Set-Cookie: sid=***; Path=/
  < Content-Type: a/b
  <
  < one
  < two
";
        assert_eq!(told, expected);
        let open = request_trace(&trace, true, Style::default());
        assert!(open.contains("Authorization: Bearer abc\n"), "{open}");
        assert!(open.contains("Set-Cookie: sid=1; Path=/\n"), "{open}");
    }

    #[test]
    fn long_and_binary_bodies_are_cut() {
        let long = "x\n".repeat(30);
        let (shown, is_whole) = beginning(long.as_bytes()).expect("it is text");
        assert_eq!((shown.lines().count(), is_whole), (BODY_LINES, false));
        let cut = "é".repeat(4 * BODY_CHARS);
        let (shown, is_whole) = beginning(cut.as_bytes()).expect("it is text");
        assert_eq!((shown.chars().count(), is_whole), (BODY_CHARS, false));
        assert_eq!(beginning(&[0xff, 0xfe, 1]), None);
        assert_eq!(beginning(b"ok\n"), Some(("ok".to_owned(), true)));
    }

    #[test]
    fn failures_and_failed_checks_are_marked() {
        let failed = TraceOutcome::Failed {
            code: 1212,
            detail: "dial tcp: connection refused",
        };
        let told = request_trace(&trace(failed, b""), false, Style::default());
        assert!(
            told.contains("\n  ✗ failed (1212): dial tcp: connection refused\n"),
            "{told}"
        );
        let style = Style::default();
        assert_eq!(check_trace("is 200", "", true, style), "  ✓ is 200\n");
        assert_eq!(
            check_trace("is 200", "::a", false, style),
            "  ✗ is 200   ::a\n"
        );
    }

    #[test]
    fn names_tell_secrets() {
        for name in ["Cookie", "X-Auth-Token", "X-Api-Key", "Proxy-Authorization"] {
            assert_eq!(hidden(name, "abc"), HIDDEN, "{name}");
        }
        assert_eq!(hidden("Accept", "abc"), "abc");
    }
}
