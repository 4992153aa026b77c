//! Reports about outputs at the end of a run.
//!
//! Must not know sinks. Invariant: an output that lost data is in [`Closed::lost`], and one line says how much.

use std::io;
use std::path::Path;
use std::time::Duration;

use loadline_model::audit::AuditedOutput;
use loadline_output::{SinkReport, files};

use super::Named;

/// Shorter waits are not reported: they delayed no response.
const TOLD_FROM: Duration = Duration::from_millis(50);

/// The outcome of the outputs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// A line for each output that lost data.
    pub(crate) lost: Vec<String>,
    /// How long outputs delayed the workers, and which; `None`: not long enough to report.
    pub(crate) held_up: Option<String>,
    /// What receivers that were audited have of the run.
    pub(super) audits: Vec<AuditedOutput>,
}

impl Closed {
    /// `waited_ns`: how long each output of values was waited for; `None`: the measuring thread panicked.
    pub(super) fn of(
        values: &[Named<SinkReport>],
        events: &[Named<Option<String>>],
        held_up_ns: u64,
        waited_ns: Option<Vec<u64>>,
    ) -> Closed {
        let lost = values.iter().filter_map(|named| {
            let error = named.output.error.as_ref()?;
            let (name, lost) = (&named.name, named.output.lost);
            Some(format!("the output {name} lost {lost} values: {error}"))
        });
        let failed = events.iter().filter_map(|named| {
            let why = named.output.as_ref()?;
            Some(format!("the output {} failed: {why}", named.name))
        });
        let defect = waited_ns
            .is_none()
            .then(|| "the outputs' thread failed; this is a defect of loadline".to_owned());
        let waited_ns = waited_ns.unwrap_or_default();
        Closed {
            lost: lost.chain(failed).chain(defect).collect(),
            held_up: held_up(values, held_up_ns, &waited_ns),
            audits: Vec::new(),
        }
    }

    /// Leaves the audits in a file, as JSON; a failure is a loss.
    pub(super) fn leave_audits(&mut self, file: &Path) {
        let written = serde_json::to_vec_pretty(&self.audits)
            .map_err(io::Error::from)
            .and_then(|text| files::replace(file, &text));
        let told = |error| format!("the audits are not in {}: {error}", file.display());
        self.lost.extend(written.err().map(told));
    }
}

/// The report about an output that was not waited for.
pub(super) fn left(name: &str) -> String {
    format!("the output {name} was cut off by a signal: undelivered values are lost")
}

/// The message while outputs take long to deliver the rest.
pub(super) fn waiting_for<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    format!(
        "waiting for {} to take all measurements; Ctrl-C discards the rest",
        names.join(" and ")
    )
}

fn held_up(values: &[Named<SinkReport>], held_up_ns: u64, waited_ns: &[u64]) -> Option<String> {
    let held_up = Duration::from_nanos(held_up_ns);
    if held_up < TOLD_FROM {
        return None;
    }
    let (slowest, _) = values
        .iter()
        .zip(waited_ns)
        .max_by_key(|(_, waited_ns)| **waited_ns)?;
    Some(format!(
        "outputs blocked the workers for {:.2}s in total, mostly {}: the load was lower than \
         planned; no data was lost",
        held_up.as_secs_f64(),
        slowest.name
    ))
}

#[cfg(test)]
mod tests {
    use loadline_model::audit::Audit;

    use super::*;

    fn named<T>(name: &str, output: T) -> Named<T> {
        Named {
            name: name.to_owned(),
            output,
        }
    }

    #[test]
    fn losses_and_waits_are_told_by_name() {
        let whole = named("json (a)", SinkReport::default());
        let lossy = SinkReport {
            written: 1,
            lost: 7,
            error: Some(io::Error::other("gone")),
        };
        let values = [whole, named("csv (b)", lossy)];
        let events = [
            named("junit (c)", None),
            named("junit (d)", Some("full".to_owned())),
        ];
        let closed = Closed::of(&values, &events, 3_210_000_000, Some(vec![3, 2]));
        assert_eq!(
            closed.lost,
            [
                "the output csv (b) lost 7 values: gone",
                "the output junit (d) failed: full"
            ]
        );
        let told = closed.held_up.expect("it was long");
        assert!(
            told.starts_with("outputs blocked the workers for 3.21s in total, mostly json (a)"),
            "{told}"
        );
        let quiet = Closed::of(&values[..1], &[], 9_000_000, Some(vec![1]));
        assert_eq!(quiet, Closed::default());
        assert_eq!(Closed::of(&[], &[], 0, None).lost.len(), 1);
    }

    #[test]
    fn audits_are_left_as_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("audits.json");
        let mut closed = Closed {
            audits: vec![AuditedOutput {
                output: "prometheus (p)".to_owned(),
                audit: Audit::failed("no response"),
            }],
            ..Closed::default()
        };
        closed.leave_audits(&file);
        assert!(closed.lost.is_empty(), "{:?}", closed.lost);
        let text = std::fs::read(&file).expect("it was written");
        let read: Vec<AuditedOutput> = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(read, closed.audits);
        closed.leave_audits(&folder.path().join("no/such.json"));
        assert_eq!(closed.lost.len(), 1);
    }
}
