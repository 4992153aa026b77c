//! Destinations of single samples of loadline's own runs: the file of `--csv`, and the outputs of `--out`.
//!
//! Must not know layouts. Invariant: samples that could not be written are counted and reported.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use loadline_engine::batches::ValueSender;
use loadline_metric::{MetricRegistry, SeriesPlan};
use loadline_model::sample::Sample;
use loadline_model::{RunEvent, TestPlan};
use loadline_output::samples::SampleSink;
use loadline_run::ScriptMetrics;

use super::running::{Run, no_thread};
use super::samples;
use crate::cli::bench::ResultArgs;
use crate::outputs::{self, Conversion, Fan, Outputs, Wanted};
use crate::terminal::print;
use crate::{Ending, Env};

/// The tag by whose values a run of metrics is split: the names of samplers.
const NAME_TAG: &str = "name";
/// Batches of samples between the run and each of several receivers.
const BATCHES: usize = 64;

/// The sinks of a run.
pub(super) struct Sinks {
    csv: Option<SampleSink>,
    outputs: Outputs,
    /// Converts samples to values; `None`: no output uses them.
    conversion: Option<Conversion>,
    is_strict: bool,
}

impl Sinks {
    /// Starts the requested sinks, on the samples of a run without other measurements.
    ///
    /// # Errors
    /// An unwritable file, or an invalid setting.
    pub(super) fn of_samples(
        args: &ResultArgs,
        run: &mut Run,
        name: &str,
        env: &Env,
    ) -> Result<Sinks, Ending> {
        let plan = Arc::clone(run.plan());
        let (outputs, values) = start_outputs(args, &plan, &Arc::default(), name, env)?;
        let mut takers = Vec::new();
        let csv = csv(args, &mut takers)?;
        let conversion = match values {
            Some(values) => {
                let samples = taker(&mut takers);
                Some(Conversion::start(samples, values, &plan).map_err(|error| no_thread(&error))?)
            }
            None => None,
        };
        hand_samples(run, takers)?;
        Ok(Sinks {
            csv,
            outputs,
            conversion,
            is_strict: args.strict_outputs,
        })
    }

    /// Starts the requested sinks for a run that measures these metrics; returns them with their receiver.
    ///
    /// # Errors
    /// As [`Sinks::of_samples`].
    pub(super) fn of_metrics(
        args: &ResultArgs,
        run: &mut Run,
        metrics: ScriptMetrics,
        name: &str,
        env: &Env,
    ) -> Result<(Sinks, ScriptMetrics), Ending> {
        let plan = Arc::clone(run.plan());
        let (outputs, values) = start_outputs(args, &plan, &metrics.registry, name, env)?;
        let mut takers = Vec::new();
        let csv = csv(args, &mut takers)?;
        hand_samples(run, takers)?;
        let metrics = ScriptMetrics { values, ..metrics };
        let sinks = Sinks {
            csv,
            outputs,
            conversion: None,
            is_strict: args.strict_outputs,
        };
        Ok((sinks, metrics))
    }

    /// Handles an event.
    pub(super) fn event(&mut self, event: &RunEvent) {
        if let Some(conversion) = &self.conversion {
            conversion.event(event);
        }
        self.outputs.event(event);
    }

    /// Waits for the last sample and reports losses of outputs; returns the errors that make the command fail:
    /// samples missing in the file of `--csv`, and losses of outputs if the user wants that to be an error.
    /// `held_up_ns`: how long full channels delayed the workers.
    pub(super) fn finish(self, held_up_ns: u64) -> Vec<String> {
        let missing = self.conversion.and_then(Conversion::finish);
        let mut closed = self.outputs.finish(held_up_ns);
        closed.lost.extend(missing);
        for line in closed.held_up.iter().chain(&closed.lost) {
            print::to_stderr(&format!("loadline: {line}\n"));
        }
        let mut failures = Vec::new();
        failures.extend(
            self.csv
                .and_then(samples::finish)
                .map(|why| format!("--csv: {why}")),
        );
        if self.is_strict && !closed.lost.is_empty() {
            failures.push("an output lost data, which --strict-outputs forbids".to_owned());
        }
        failures
    }
}

/// The metrics of a plan of steps, which nobody receives yet.
pub(super) fn metrics_of(args: &ResultArgs, plan: &TestPlan) -> ScriptMetrics {
    let series = SeriesPlan {
        by_all_tags: args.out.iter().any(|output| output.kind.wants_series()),
        by_tag: Some(NAME_TAG.to_owned()),
        run_tags: plan.run_tags(),
        ..plan.series()
    };
    ScriptMetrics {
        registry: Arc::default(),
        series: Arc::new(series),
        values: None,
    }
}

fn start_outputs(
    args: &ResultArgs,
    plan: &Arc<TestPlan>,
    registry: &Arc<MetricRegistry>,
    name: &str,
    env: &Env,
) -> Result<(Outputs, Option<ValueSender>), Ending> {
    outputs::check_audit(&args.out, args.audit, env).map_err(|why| Ending::usage(&why))?;
    let started = outputs::start(&Wanted {
        specs: &args.out,
        name,
        plan,
        registry,
        env,
        on_trouble: Arc::new(tell),
        on_note: Arc::new(tell),
        audits: args.audit,
    });
    started.map_err(|error| Ending::usage(&format!("--out: {error}")))
}

/// Adds a receiver of the run's samples.
fn taker(takers: &mut Vec<SyncSender<Vec<Sample>>>) -> Receiver<Vec<Sample>> {
    let (sender, receiver) = sync_channel(BATCHES);
    takers.push(sender);
    receiver
}

/// The file of `--csv`, if requested.
fn csv(
    args: &ResultArgs,
    takers: &mut Vec<SyncSender<Vec<Sample>>>,
) -> Result<Option<SampleSink>, Ending> {
    let Some(path) = &args.csv else {
        return Ok(None);
    };
    samples::csv(path, taker(takers))
        .map(Some)
        .map_err(|error| {
            Ending::usage(&format!(
                "--csv: cannot write {path}: {error}; name another file"
            ))
        })
}

/// Passes the run's samples to each receiver.
fn hand_samples(run: &mut Run, takers: Vec<SyncSender<Vec<Sample>>>) -> Result<(), Ending> {
    match takers.len() {
        0 => {}
        1 => takers
            .into_iter()
            .for_each(|taker| run.hand_samples_to(taker)),
        _ => drop(Fan::start(run.samples(), takers).map_err(|error| no_thread(&error))?),
    }
    Ok(())
}

fn tell(line: &str) {
    print::to_stderr(&format!("loadline: {line}\n"));
}
