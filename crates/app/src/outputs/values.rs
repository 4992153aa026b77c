//! Outputs of every single value, by kind.
//!
//! Must not know protocols or layouts. Invariant: an output drains its channel to the end, whatever
//! happens to its disk or its server.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use loadline_metric::MetricId;
use loadline_output::k6_lines::{LineSink, MetricDescription};
use loadline_output::push::PushSink;
use loadline_output::{SinkReport, influxdb, jtl, k6_csv, k6_json, statsd};

use super::files::{csv_settings, destination, not_created, place};
use super::influxdb::Version;
use super::{Named, Values, Wanted, describe, no_thread, trouble};
use crate::k6::{K6Error, OutputSpec};
use crate::terminal::signals;

/// A running output.
pub(super) enum ValueOutput {
    /// Lines in a file.
    Lines(LineSink),
    /// Sent to a service.
    Push(PushSink),
}

impl ValueOutput {
    /// Waits for the last value and returns the report about all of them.
    pub(super) fn finish(self) -> SinkReport {
        match self {
            ValueOutput::Lines(sink) => sink.finish(),
            ValueOutput::Push(sink) => sink.finish(),
        }
    }
}

/// An output to be started.
pub(super) struct Start<'a> {
    /// Its `--out` option.
    pub(super) spec: &'a OutputSpec,
    /// The source of its values.
    pub(super) receiver: Receiver<Values>,
    pub(super) wanted: &'a Wanted<'a>,
}

impl Start<'_> {
    /// Lines of JSON.
    ///
    /// # Errors
    /// An unwritable file.
    pub(super) fn json(self) -> Result<Named<ValueOutput>, K6Error> {
        let name = match place(self.argument()) {
            // Written without a space, as in k6.
            "stdout" => "json(stdout)".to_owned(),
            file => self.name(file),
        };
        let (describe, trouble) = (self.describe(), trouble(self.wanted, &name));
        let destination = destination(self.argument())?;
        lines(
            name,
            k6_json::start(destination, self.receiver, describe, trouble),
        )
    }

    /// Rows of values.
    ///
    /// # Errors
    /// An unwritable file, or an invalid setting.
    pub(super) fn csv(self) -> Result<Named<ValueOutput>, K6Error> {
        let (file, options) = csv_settings(self.argument(), self.wanted.plan, self.wanted.env)?;
        let name = self.name(place(&file));
        let (describe, trouble) = (self.describe(), trouble(self.wanted, &name));
        let destination =
            destination(&file).map_err(|error| not_created("csv", &error.to_string()))?;
        lines(
            name,
            k6_csv::start(destination, options, self.receiver, describe, trouble),
        )
    }

    /// Rows of requests.
    ///
    /// # Errors
    /// An unwritable file.
    pub(super) fn jtl(self) -> Result<Named<ValueOutput>, K6Error> {
        let name = self.name(place(self.argument()));
        let (describe, trouble) = (self.describe(), trouble(self.wanted, &name));
        let destination = destination(self.argument())?;
        lines(
            name,
            jtl::start(destination, self.receiver, describe, trouble),
        )
    }

    /// Points.
    ///
    /// # Errors
    /// An invalid setting.
    pub(super) fn influx(self, version: Version) -> Result<Named<ValueOutput>, K6Error> {
        let settings = super::influxdb::settings(version, self.argument(), self.wanted.env)?;
        let name = self.name(&settings.address);
        let describe = self.describe();
        let words = (trouble(self.wanted, &name), signals::impatience());
        push(
            name,
            influxdb::start(settings, self.receiver, describe, words),
        )
    }

    /// Messages; `has_tags`: whether tags are enabled by default.
    ///
    /// # Errors
    /// An invalid setting, or a host without an address.
    pub(super) fn statsd(self, has_tags: bool) -> Result<Named<ValueOutput>, K6Error> {
        let settings = super::statsd::settings(has_tags, self.argument(), self.wanted.env)?;
        let name = self.name(&settings.address.to_string());
        let (describe, trouble) = (self.describe(), trouble(self.wanted, &name));
        push(
            name,
            statsd::start(settings, self.receiver, describe, trouble),
        )
    }

    fn argument(&self) -> &str {
        self.spec.argument.as_deref().unwrap_or_default()
    }

    /// `json (out.json)`, as in the header of the run and in messages.
    fn name(&self, place: &str) -> String {
        format!("{} ({place})", self.spec.kind.name())
    }

    fn describe(&self) -> impl FnMut(MetricId) -> MetricDescription + Send + use<> {
        let registry = Arc::clone(self.wanted.registry);
        let plan = Arc::clone(self.wanted.plan);
        move |metric| describe::describe(metric, &registry, &plan)
    }
}

fn lines(name: String, started: io::Result<LineSink>) -> Result<Named<ValueOutput>, K6Error> {
    let output = ValueOutput::Lines(started.map_err(|error| no_thread(&error))?);
    Ok(Named { name, output })
}

fn push(name: String, started: io::Result<PushSink>) -> Result<Named<ValueOutput>, K6Error> {
    let started = started
        .map_err(|error| K6Error::other(format!("the output {name} cannot be started: {error}")))?;
    let output = ValueOutput::Push(started);
    Ok(Named { name, output })
}
