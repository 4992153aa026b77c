//! The output of `--once`, in the format that the report requires.
//!
//! Must not know layouts. Invariant: each result is one complete block of lines.

use std::borrow::Cow;

use loadline_report::Style;
use loadline_report::k6::{RequestTrace, TraceOutcome, check_trace, request_trace};
use loadline_run::Traced;
use loadline_script::hop::HopHeaders;
use loadline_script::trace::{HopTrace, TracedOutcome};

/// The format of traces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceLook {
    pub(crate) style: Style,
    pub(crate) shows_secrets: bool,
}

/// The block of lines.
pub(super) fn block(scenario: &str, what: &Traced<'_>, look: TraceLook) -> String {
    match what {
        Traced::Check {
            name,
            group,
            passed,
        } => check_trace(name, &place(scenario, group), *passed, look.style),
        Traced::Hop(hop) => {
            let place = place(scenario, hop.group);
            request_trace(&shown(hop, &place), look.shows_secrets, look.style)
        }
    }
}

/// Scenario and group, unless they are default or empty.
fn place<'a>(scenario: &'a str, group: &'a str) -> Cow<'a, str> {
    match (scenario, group) {
        ("" | "default", group) => group.into(),
        (scenario, "") => scenario.into(),
        (scenario, group) => format!("{scenario} {group}").into(),
    }
}

fn shown<'a>(hop: &HopTrace<'a>, place: &'a str) -> RequestTrace<'a> {
    let headers = hop.request.map(|request| {
        let fields = request.headers.iter();
        fields
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    });
    let body = hop.request.and_then(|request| request.body.as_deref());
    RequestTrace {
        place,
        method: hop.method,
        url: hop.url,
        sent_headers: headers.unwrap_or_default(),
        sent_body: body.unwrap_or_default(),
        outcome: match &hop.outcome {
            TracedOutcome::Answer {
                status,
                reason,
                protocol,
                headers,
                body,
            } => TraceOutcome::Answer {
                status: *status,
                reason,
                protocol: protocol.name(),
                headers: fields(headers),
                body,
            },
            TracedOutcome::Failed { code, detail } => TraceOutcome::Failed {
                code: *code,
                detail,
            },
        },
        times: hop.times,
    }
}

fn fields(headers: &HopHeaders) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields = headers.iter();
    fields
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}
