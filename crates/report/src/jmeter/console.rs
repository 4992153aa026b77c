//! What JMeter prints on its console around a run.
//!
//! Must not know clocks and time zones: the instant, the local time's offset and the zone's name are arguments.
//! Invariant: each line is one line, without a line end.

use core::net::IpAddr;

use loadline_model::civil::Civil;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// There is no free port for stop messages.
pub const NO_PORT: &str = "Failed to create UDP port";

/// The last line of a run.
pub const END_OF_RUN: &str = "... end of run";

/// An instant, with the local time zone.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// Milliseconds since 1970, in UTC.
    pub unix_ms: i64,
    /// Seconds that local time is ahead of UTC.
    pub offset_s: i32,
    /// The zone's short name, such as `CET`.
    pub zone: &'a str,
}

/// A summariser was created.
#[must_use]
pub fn creating_summariser(name: &str) -> String {
    format!("Creating summariser <{name}>")
}

/// The plan was loaded; `plan` is the argument of `-t`.
#[must_use]
pub fn created_tree(plan: &str) -> String {
    format!("Created the tree successfully using {plan}")
}

/// The run starts.
#[must_use]
pub fn starting(at: Instant<'_>) -> String {
    format!("Starting standalone test @ {}", told(at))
}

/// The port that accepts messages to stop the run.
#[must_use]
pub fn waiting(port: u16) -> String {
    format!("Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {port}")
}

/// A message arrived.
#[must_use]
pub fn heard(message: &str, from: IpAddr) -> String {
    format!("Command: {message} received from /{from}")
}

/// The message that arrived is none that JMeter knows.
#[must_use]
pub fn not_recognised(message: &str) -> String {
    format!("Command: {message} not recognised ")
}

/// A group whose scheduler is enabled without a duration, so it is not started.
#[must_use]
pub fn group_without_duration(group: &str) -> String {
    format!(
        "Error occurred starting thread group :{group}, error message:Invalid duration 0 set in Thread Group:{group}, \nsee log file for more details"
    )
}

/// The run is over.
#[must_use]
pub fn tidying_up(at: Instant<'_>) -> String {
    format!("Tidying up ...    @ {}", told(at))
}

fn told(at: Instant<'_>) -> String {
    let local_s = at.unix_ms.div_euclid(1000) + i64::from(at.offset_s);
    let civil = Civil::of_unix_s(u64::try_from(local_s).unwrap_or(0));
    let month = usize::try_from(civil.month).unwrap_or(0).saturating_sub(1);
    format!(
        "{} {} {} {:02}:{:02}:{:02} {} ({})",
        civil.year,
        MONTHS.get(month).unwrap_or(&""),
        civil.day,
        civil.hour,
        civil.minute,
        civil.second,
        at.zone,
        at.unix_ms
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn lines_are_jmeters() {
        let at = Instant {
            unix_ms: 1_795_395_206_530,
            offset_s: 0,
            zone: "UTC",
        };
        assert_eq!(
            starting(at),
            "Starting standalone test @ 2026 Nov 23 00:53:26 UTC (1795395206530)"
        );
        assert_eq!(
            tidying_up(at),
            "Tidying up ...    @ 2026 Nov 23 00:53:26 UTC (1795395206530)"
        );
        assert_eq!(
            creating_summariser("summary"),
            "Creating summariser <summary>"
        );
        assert_eq!(
            created_tree("a/b.jmx"),
            "Created the tree successfully using a/b.jmx"
        );
        assert_eq!(not_recognised("x"), "Command: x not recognised ");
        assert!(waiting(4445).ends_with("message on port 4445"));
    }

    #[test]
    fn local_time_is_told() {
        let at = Instant {
            unix_ms: 1_795_395_206_530,
            offset_s: -3600,
            zone: "AZOT",
        };
        assert!(starting(at).ends_with("@ 2026 Nov 22 23:53:26 AZOT (1795395206530)"));
    }
}
