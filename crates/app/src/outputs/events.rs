//! Outputs of run events, by kind.
//!
//! Must not know protocols or layouts. Invariant: passing an event to an output never waits for it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use loadline_model::RunEvent;
use loadline_model::audit::Audit;
use loadline_model::result::RunResult;
use loadline_output::junit::JunitFile;
use loadline_output::opentelemetry::OtlpSink;

use super::files::{cannot_write, place};
use super::prometheus::Prometheus;
use super::{Named, Wanted, opentelemetry};
use crate::k6::{K6Error, OutputSpec};

/// The outcome of an output of events.
#[derive(Debug, Default)]
pub(super) struct EventReport {
    /// What went wrong; `None`: nothing.
    pub(super) failure: Option<String>,
    /// How the receiver compares with the run; `None`: it was not audited.
    pub(super) audit: Option<Audit>,
}

/// A running output.
pub(super) enum EventOutput {
    /// Thresholds and checks, written at the end.
    Junit {
        file: JunitFile,
        /// The result of the run; `None`: it has not ended.
        result: Option<Arc<RunResult>>,
    },
    /// Series exported to a collector.
    OpenTelemetry(OtlpSink),
    /// Series pushed to Prometheus.
    Prometheus(Prometheus),
}

impl EventOutput {
    /// Creates the file of thresholds and checks.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn junit(
        spec: &OutputSpec,
        wanted: &Wanted<'_>,
    ) -> Result<Named<EventOutput>, K6Error> {
        let argument = spec.argument.as_deref().unwrap_or_default();
        let file = match argument {
            "" | "-" => JunitFile::stream(io::stdout(), wanted.name),
            path => JunitFile::create(Path::new(path), wanted.name)
                .map_err(|error| cannot_write(path, &error))?,
        };
        Ok(Named {
            name: format!("{} ({})", spec.kind.name(), place(argument)),
            output: EventOutput::Junit { file, result: None },
        })
    }

    /// Handles an event.
    pub(super) fn event(&mut self, event: &RunEvent) {
        match self {
            EventOutput::Junit { result, .. } => {
                if let RunEvent::Finished(found) = event {
                    *result = Some(Arc::clone(found));
                }
            }
            EventOutput::OpenTelemetry(output) => output.event(event),
            EventOutput::Prometheus(output) => output.event(event),
        }
    }

    /// Waits for the end of the output; returns its outcome.
    pub(super) fn finish(self) -> EventReport {
        let failure = match self {
            EventOutput::Junit { file, result } => match result {
                Some(result) => file.finish(&result).err().map(|error| error.to_string()),
                None => Some("the run gave no result".to_owned()),
            },
            EventOutput::OpenTelemetry(output) => opentelemetry::finish(output),
            EventOutput::Prometheus(output) => return output.finish(),
        };
        EventReport {
            failure,
            audit: None,
        }
    }
}
