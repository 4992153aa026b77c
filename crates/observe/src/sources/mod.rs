//! The sources: one file per kind of observer.
//!
//! Must not know threads, nor when a read is due. Invariant: a read takes no longer than its timeout, and
//! unreadable data is an error or a missing value, never a zero.

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

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_model::observation::RunWindow;

use crate::clock::Clock;
use crate::conduct::Roots;
use crate::process::ProcessTable;
use crate::programs::Programs;
use crate::readings::{Gap, Readings};
use crate::spec::{ObserverKind, ObserverSpec};

/// The circumstances of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick<'a> {
    /// The clock, for data that needs a more exact time than that of the read.
    pub(crate) clock: &'a dyn Clock,
    /// When the load ended, in nanoseconds since 1970; `None`: not yet.
    pub(crate) load_ended_unix_ns: Option<u64>,
}

/// Something that can be read.
pub(crate) trait Source: Send {
    /// Reads once.
    ///
    /// # Errors
    /// Nothing could be read.
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap>;

    /// Reads, between two normal reads, what may be gone at the next one, and keeps it until then.
    fn peek(&mut self, _: &dyn Clock) {}

    /// Time from a read or a peek to the next peek, in nanoseconds; `None`: normal reads suffice.
    fn peek_span_ns(&self) -> Option<u64> {
        None
    }

    /// Whether nothing more is expected after the load.
    fn is_drained(&self) -> bool {
        true
    }

    /// Runs queries that are only possible after the run.
    ///
    /// # Errors
    /// A query failed.
    fn conclude(&mut self, _: &RunWindow, _: &mut Readings) -> Result<(), Gap> {
        Ok(())
    }
}

/// A counter, or several whose sum counts, as a stage of a pipeline.
pub(crate) trait Counter: Send {
    /// The count of each counter since some start, by its name; it only decreases if that is reset. Empty if there is
    /// no counter at the moment.
    ///
    /// # Errors
    /// They could not be read.
    fn totals(&mut self, tick: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap>;

    /// What it says if there never was a counter.
    fn absent(&self) -> String {
        "there is nothing to count".to_owned()
    }
}

/// The total of a source that is one counter.
fn only(total: f64) -> Vec<(String, f64)> {
    vec![(String::new(), total)]
}

/// The environment of sources.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) roots: Roots,
    pub(crate) own_pid: u32,
    /// The kubeconfig file; `None`: those named by the environment.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// All processes of the machine, shared by the sources that need them.
    pub(crate) table: Arc<Mutex<ProcessTable>>,
    /// The programs that sources start.
    pub(crate) programs: Arc<Programs>,
}

/// Creates the source of an observer.
///
/// # Errors
/// Why it can never read; the text says what to do.
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
            let programs = &surroundings.programs;
            Box::new(command::CommandSource::new(settings, timeout, programs)?)
        }
        ObserverKind::Pipeline(settings) => {
            let source = pipeline::PipelineSource::new(settings, timeout, surroundings)?;
            Box::new(source)
        }
    })
}

/// Creates the counter of a stage.
///
/// # Errors
/// Why it can never count.
fn counter(
    kind: &ObserverKind,
    timeout: Duration,
    surroundings: &Surroundings,
) -> Result<Box<dyn Counter>, String> {
    Ok(match kind {
        ObserverKind::Scrape(settings) => Box::new(scrape::ScrapeCounter::new(settings, timeout)?),
        ObserverKind::Log(settings) => Box::new(log::LogCounter::new(
            settings,
            surroundings.kubeconfig.as_deref(),
        )?),
        ObserverKind::Prometheus(settings) => {
            Box::new(prometheus::PrometheusCounter::new(settings, timeout)?)
        }
        ObserverKind::Http(settings) => Box::new(http::HttpCounter::new(settings, timeout)?),
        ObserverKind::Command(settings) => {
            let programs = &surroundings.programs;
            Box::new(command::CommandSource::new(settings, timeout, programs)?)
        }
        other => return Err(format!("{} cannot count", other.name())),
    })
}

/// Whether a read may block; such an observer gets its own thread.
pub(crate) fn may_block(kind: &ObserverKind) -> bool {
    match kind {
        ObserverKind::SelfProcess(_)
        | ObserverKind::Process(_)
        | ObserverKind::Cgroup(_)
        | ObserverKind::Host(_) => false,
        // The file may be on an unavailable file system.
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
