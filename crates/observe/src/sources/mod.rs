//! The sources: one file for each kind of observer.
//!
//! Must not know threads, nor when a look is due. Invariant: a look takes no longer than its timeout, and what it could
//! not read is an error or a missing value, never a zero.

mod buckets;
mod cgroup;
mod command;
mod counters;
mod host;
mod http;
mod log;
mod pipeline;
mod pods;
mod process;
mod prometheus;
mod scrape;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_model::observation::RunWindow;

use crate::clock::Clock;
use crate::conduct::Roots;
use crate::process::ProcessTable;
use crate::readings::{Gap, Readings};
use crate::spec::{ObserverKind, ObserverSpec};

/// The circumstances of a look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick<'a> {
    /// The clock, for what has to be dated more closely than by the look.
    pub(crate) clock: &'a dyn Clock,
    /// When the load ended, in nanoseconds since 1970; `None`: not yet.
    pub(crate) load_ended_unix_ns: Option<u64>,
}

/// Something that can be looked at.
pub(crate) trait Source: Send {
    /// Looks once.
    ///
    /// # Errors
    /// Nothing could be read.
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap>;

    /// Reads between two looks what may be gone at the next one, and keeps it until then.
    fn peek(&mut self, _: &dyn Clock) {}

    /// How long after a look or a peek the next peek is due, in nanoseconds; `None`: looks are enough.
    fn peek_span_ns(&self) -> Option<u64> {
        None
    }

    /// Whether nothing is expected any more after the load.
    fn is_drained(&self) -> bool {
        true
    }

    /// Asks what can be asked only when the run is over.
    ///
    /// # Errors
    /// It could not be asked.
    fn conclude(&mut self, _: &RunWindow, _: &mut Readings) -> Result<(), Gap> {
        Ok(())
    }
}

/// Something that counts, as a stage of a pipeline.
pub(crate) trait Counter: Send {
    /// The count since some beginning; never less than before unless that began anew.
    ///
    /// # Errors
    /// It could not be read.
    fn total(&mut self, tick: &Tick<'_>) -> Result<f64, Gap>;
}

/// What sources stand in.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) roots: Roots,
    pub(crate) own_pid: u32,
    /// The file that tells of clusters; `None`: those that the environment names.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// All processes of the machine, shared by those who look at them.
    pub(crate) table: Arc<Mutex<ProcessTable>>,
}

/// Makes the source of an observer.
///
/// # Errors
/// Why it can never read: what to do is in the text.
pub(crate) fn build(
    spec: &ObserverSpec,
    surroundings: &Surroundings,
) -> Result<Box<dyn Source>, String> {
    let timeout = spec.timeout;
    let kubeconfig = surroundings.kubeconfig.as_deref();
    Ok(match &spec.kind {
        ObserverKind::SelfProcess(_) => Box::new(process::ProcessSource::own(surroundings)),
        ObserverKind::Process(settings) => {
            Box::new(process::ProcessSource::new(settings, surroundings))
        }
        ObserverKind::Cgroup(settings) => {
            Box::new(cgroup::CgroupSource::new(settings, &surroundings.roots))
        }
        ObserverKind::Host(settings) => {
            Box::new(host::HostSource::new(settings, &surroundings.roots.proc))
        }
        ObserverKind::Pod(settings) => pods::pods(settings, kubeconfig, timeout)?,
        ObserverKind::Node(settings) => pods::nodes(settings, kubeconfig, timeout)?,
        ObserverKind::Replicas(settings) => pods::replicas(settings, kubeconfig, timeout)?,
        ObserverKind::Prometheus(settings) => Box::new(prometheus::PrometheusSource::new(
            settings,
            spec.interval,
            timeout,
        )?),
        ObserverKind::Scrape(settings) => Box::new(scrape::ScrapeSource::new(settings, timeout)?),
        ObserverKind::Log(settings) => Box::new(log::LogSource::new(settings, kubeconfig)?),
        ObserverKind::Http(settings) => Box::new(http::HttpSource::new(settings, timeout)?),
        ObserverKind::Command(settings) => {
            Box::new(command::CommandSource::new(settings, timeout)?)
        }
        ObserverKind::Pipeline(settings) => {
            let source = pipeline::PipelineSource::new(settings, timeout, kubeconfig)?;
            Box::new(source)
        }
    })
}

/// Makes the counter of a stage.
///
/// # Errors
/// Why it can never count.
fn counter(
    kind: &ObserverKind,
    timeout: Duration,
    kubeconfig: Option<&Path>,
) -> Result<Box<dyn Counter>, String> {
    Ok(match kind {
        ObserverKind::Scrape(settings) => Box::new(scrape::ScrapeCounter::new(settings, timeout)?),
        ObserverKind::Log(settings) => Box::new(log::LogCounter::new(settings, kubeconfig)?),
        ObserverKind::Prometheus(settings) => {
            Box::new(prometheus::PrometheusCounter::new(settings, timeout)?)
        }
        ObserverKind::Http(settings) => Box::new(http::HttpCounter::new(settings, timeout)?),
        ObserverKind::Command(settings) => {
            Box::new(command::CommandSource::new(settings, timeout)?)
        }
        other => return Err(format!("{} cannot count", other.name())),
    })
}

/// Whether a look may wait for someone else; such an observer has a thread of its own.
pub(crate) fn may_block(kind: &ObserverKind) -> bool {
    match kind {
        ObserverKind::SelfProcess(_)
        | ObserverKind::Process(_)
        | ObserverKind::Cgroup(_)
        | ObserverKind::Host(_) => false,
        // The file may lie on a file system that is away.
        ObserverKind::Log(_)
        | ObserverKind::Pod(_)
        | ObserverKind::Node(_)
        | ObserverKind::Replicas(_)
        | ObserverKind::Prometheus(_)
        | ObserverKind::Scrape(_)
        | ObserverKind::Http(_)
        | ObserverKind::Command(_)
        | ObserverKind::Pipeline(_) => true,
    }
}
