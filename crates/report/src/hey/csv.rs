//! hey's `-o csv`: one line per response.
//!
//! Must not know where the lines go. Invariant: seconds have four decimals, failures have no line.

use loadline_model::sample::Sample;

/// The first line, without a line end.
#[must_use]
pub fn csv_header() -> &'static str {
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
}

/// The line for one response, without a line end; `None` for a failure, which hey omits.
#[must_use]
pub fn csv_row(sample: &Sample) -> Option<String> {
    if sample.error.is_some() {
        return None;
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    Some(format!(
        "{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{},{:.4}",
        seconds(sample.service_ns),
        seconds(sample.dns_ns + sample.connect_ns),
        seconds(sample.dns_ns),
        seconds(sample.sending_ns),
        seconds(sample.waiting_ns),
        seconds(sample.receiving_ns),
        sample.status,
        seconds(sample.start_ns),
    ))
}
