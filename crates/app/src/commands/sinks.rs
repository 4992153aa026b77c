//! Where `bench` sends single samples: the file of `--csv`, and the outputs of `--out`.
//!
//! Must not know layouts. Invariant: samples that could not be written are counted and told.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use loadline_metric::MetricRegistry;
use loadline_model::{ExitCode, RunEvent};
use loadline_output::samples::SampleSink;

use super::running::Run;
use super::samples;
use crate::cli::bench::ResultArgs;
use crate::outputs::{self, Conversion, Fan, Outputs, Wanted};
use crate::terminal::print;
use crate::{Ending, Env};

/// What the run is called in outputs.
const NAME: &str = "loadline bench";
/// Batches of samples between the run and each taker of several.
const BATCHES: usize = 64;

/// The sinks of a run.
pub(super) struct Sinks {
    csv: Option<SampleSink>,
    outputs: Outputs,
    /// Makes values of samples; `None`: no output wants any.
    conversion: Option<Conversion>,
    is_strict: bool,
}

impl Sinks {
    /// Starts what the options ask for, on the run's samples.
    ///
    /// # Errors
    /// A file that cannot be written, or a setting that means nothing.
    pub(super) fn start(args: &ResultArgs, run: &mut Run, env: &Env) -> Result<Sinks, Ending> {
        let plan = Arc::clone(run.plan());
        let (outputs, values) = outputs::start(&Wanted {
            specs: &args.out,
            name: NAME,
            plan: &plan,
            registry: &Arc::<MetricRegistry>::default(),
            env,
            on_trouble: Arc::new(tell),
            on_note: Arc::new(tell),
            audits: args.audit,
        })
        .map_err(|error| Ending::usage(&format!("--out: {error}")))?;
        let mut takers = Vec::new();
        let mut taker = || {
            let (sender, receiver) = sync_channel(BATCHES);
            takers.push(sender);
            receiver
        };
        let csv = match &args.csv {
            Some(path) => Some(samples::csv(path, taker()).map_err(|error| {
                Ending::usage(&format!(
                    "--csv: cannot write {path}: {error}; name another file"
                ))
            })?),
            None => None,
        };
        let conversion = match values {
            Some(values) => {
                Some(Conversion::start(taker(), values, &plan).map_err(|error| no_thread(&error))?)
            }
            None => None,
        };
        match takers.len() {
            0 => {}
            1 => takers
                .into_iter()
                .for_each(|taker| run.hand_samples_to(taker)),
            _ => drop(Fan::start(run.samples(), takers).map_err(|error| no_thread(&error))?),
        }
        Ok(Sinks {
            csv,
            outputs,
            conversion,
            is_strict: args.strict_outputs,
        })
    }

    /// Tells what happened.
    pub(super) fn event(&mut self, event: &RunEvent) {
        if let Some(conversion) = &self.conversion {
            conversion.event(event);
        }
        self.outputs.event(event);
    }

    /// Waits for the last sample and tells what was lost. `held_up_ns`: how long full channels held
    /// the workers up.
    ///
    /// # Errors
    /// Samples are not in the file of `--csv`; or an output lost something, and the user wants that
    /// to be an error.
    pub(super) fn finish(self, held_up_ns: u64) -> Result<(), Ending> {
        if let Some(conversion) = self.conversion {
            conversion.finish();
        }
        let closed = self.outputs.finish(held_up_ns);
        for line in closed.held_up.iter().chain(&closed.lost) {
            print::to_stderr(&format!("loadline: {line}\n"));
        }
        if let Some(why) = self.csv.and_then(samples::finish) {
            return Err(Ending::refusal(ExitCode::Other, &why));
        }
        match self.is_strict && !closed.lost.is_empty() {
            true => Err(Ending::refusal(
                ExitCode::Other,
                "an output lost something, which --strict-outputs forbids",
            )),
            false => Ok(()),
        }
    }
}

fn tell(line: &str) {
    print::to_stderr(&format!("loadline: {line}\n"));
}

fn no_thread(error: &std::io::Error) -> Ending {
    Ending::refusal(ExitCode::Other, &format!("no thread for samples: {error}"))
}
