//! Observers of the service under test: those that the user requests, started alongside a run.
//!
//! Must not know how anything is read, nor what a run makes of it. Invariant: what cannot be read is refused or
//! reported before anything is sent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use loadline_model::observation::{GAP_NOTE, Observed, RunWindow};
use loadline_model::{ExitCode, RunEvent};
use loadline_observe::{
    ObserverKind, ObserverSetup, ObserverSpec, ObserverSpecs, Observers, parse_file_text,
};
use loadline_run::{ObserverFeed, ObserverSource};
use url::Url;

use crate::cli::values;
use crate::terminal::{print, signals};
use crate::{Ending, Env};

/// A file with observers in addition to those of the command line; suites set it.
pub(crate) const FILE: &str = "LOADLINE_OBSERVE_FILE";
/// How long observers read before the load, for commands without the option or a command line that leaves it out.
pub(crate) const BASELINE: &str = "LOADLINE_OBSERVE_BASELINE";
/// How long they read after it; suites set it.
pub(crate) const TAIL: &str = "LOADLINE_OBSERVE_TAIL";
/// Maximum number of readings and notes between observers and the run: a few seconds of a thousand series.
const TOLD_MAX: usize = 16_384;
/// Default duration of the readings before and after the load.
const AROUND_DEFAULT: Duration = Duration::from_secs(2);

/// The requested observers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedObservers {
    /// As written, each an observer or `@FILE`.
    pub specs: Vec<String>,
    /// How long they read before the load.
    pub baseline: Duration,
    /// How long they read after it.
    pub tail: Duration,
}

/// Why observers cannot be started.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: ExitCode,
    pub(crate) message: String,
}

impl Default for WantedObservers {
    fn default() -> WantedObservers {
        WantedObservers {
            specs: Vec::new(),
            baseline: AROUND_DEFAULT,
            tail: AROUND_DEFAULT,
        }
    }
}

impl WantedObservers {
    /// The observers of a command line without durations, which are the environment's.
    ///
    /// # Errors
    /// A variable that is no duration.
    pub(crate) fn of(specs: &[String], env: &Env) -> Result<WantedObservers, Ending> {
        let time = |variable| around(variable, env).map_err(|why| Ending::usage(&why));
        Ok(WantedObservers {
            specs: specs.to_vec(),
            baseline: time(BASELINE)?,
            tail: time(TAIL)?,
        })
    }

    /// Starts them; `None` if there are none.
    ///
    /// # Errors
    /// A specification is invalid, or a required observer cannot read.
    pub(crate) fn start(&self, env: &Env) -> Result<Option<ObserverFeed>, Refusal> {
        let specs = self.specs(env).map_err(|message| Refusal {
            code: ExitCode::InvalidConfig,
            message,
        })?;
        if specs.as_slice().is_empty() {
            return Ok(None);
        }
        let (sender, told) = sync_channel(TOLD_MAX);
        let setup = ObserverSetup {
            is_hurried: signals::impatience(),
            ..ObserverSetup::of_this_process(self.tail)
        };
        let observers =
            Observers::start(specs.as_slice(), &setup, &sender).map_err(|error| Refusal {
                code: ExitCode::ObserverLost,
                message: error.to_string(),
            })?;
        Ok(Some(ObserverFeed {
            told,
            source: Box::new(Source(observers)),
            baseline: self.baseline,
            of_generator: of_generator(specs.as_slice()),
            read_at: read_at(specs.as_slice()),
            scraped: scraped(specs.as_slice()),
        }))
    }

    fn specs(&self, env: &Env) -> Result<ObserverSpecs, String> {
        let mut all = ObserverSpecs::default();
        let files = env.get(FILE).map(|file| format!("@{file}"));
        for text in self.specs.iter().chain(&files) {
            let specs = read(text)?;
            for spec in specs {
                all.push(spec)
                    .map_err(|error| format!("--observe: {error}"))?;
            }
        }
        Ok(all)
    }
}

/// A time before or after the load from its variable, or the default.
///
/// # Errors
/// The variable is no duration.
pub(crate) fn around(variable: &str, env: &Env) -> Result<Duration, String> {
    let Some(text) = env.get(variable) else {
        return Ok(AROUND_DEFAULT);
    };
    values::duration(text).map_err(|why| format!("{variable}={text}: {why}"))
}

/// Immediately reports what an observer cannot read from the start: the summary shows it later, when it is too
/// late to correct.
pub(crate) fn warn(event: &RunEvent) {
    const FIRST_SECOND_NS: i64 = 1_000_000_000;
    if let RunEvent::Observer(note) = event
        && note.kind == GAP_NOTE
        && note.at_ns <= FIRST_SECOND_NS
    {
        print::to_stderr(&format!("observer {}: {}\n", note.observer, note.text));
    }
}

/// The names of observers that read this process.
fn of_generator(specs: &[ObserverSpec]) -> Vec<String> {
    let own = specs
        .iter()
        .filter(|spec| matches!(spec.kind, ObserverKind::SelfProcess(_)));
    own.map(|spec| spec.name.clone()).collect()
}

/// The addresses of observers that scrape a page, as IP:PORT by name.
fn read_at(specs: &[ObserverSpec]) -> BTreeMap<String, String> {
    let scraped = specs.iter().filter_map(|spec| match &spec.kind {
        ObserverKind::Scrape(page) => Some((spec.name.clone(), peer_of(&page.url)?)),
        _ => None,
    });
    scraped.collect()
}

/// The metrics of observers that scrape only one, by name.
fn scraped(specs: &[ObserverSpec]) -> BTreeMap<String, String> {
    let only = specs.iter().filter_map(|spec| match &spec.kind {
        ObserverKind::Scrape(page) => match page.metric.as_slice() {
            [one] => Some((spec.name.clone(), one.clone())),
            _ => None,
        },
        _ => None,
    });
    only.collect()
}

/// The address of a URL's host, as IP:PORT; `None`: it has none.
fn peer_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let addresses = url.socket_addrs(|| None).ok()?;
    addresses.first().map(ToString::to_string)
}

/// The observers of one argument.
fn read(text: &str) -> Result<Vec<ObserverSpec>, String> {
    let Some(file) = text.strip_prefix('@') else {
        return ObserverSpec::parse(text).map_err(|error| format!("--observe: {error}"));
    };
    let content = std::fs::read_to_string(Path::new(file))
        .map_err(|error| format!("--observe {text}: cannot read the file: {error}"))?;
    parse_file_text(&content, file)
        .map(ObserverSpecs::into_vec)
        .map_err(|error| error.to_string())
}

/// Started observers, as the run sees them.
struct Source(Observers);

impl ObserverSource for Source {
    fn load_ended(&mut self) {
        self.0.load_ended();
    }

    fn is_settled(&self) -> bool {
        self.0.is_drained()
    }

    fn cut_short(&mut self) {
        self.0.cut_short();
    }

    fn conclude(self: Box<Self>, window: RunWindow) -> Vec<Observed> {
        self.0.conclude(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_without_the_options_take_the_times_from_the_environment() {
        let times = |env: &Env| {
            let wanted = WantedObservers::of(&["self".to_owned()], env);
            wanted.map(|wanted| (wanted.baseline.as_secs(), wanted.tail.as_secs()))
        };
        assert_eq!(times(&Env::default()), Ok((2, 2)));
        let env = Env::from([(BASELINE, "5s"), (TAIL, "30000ms")]);
        assert_eq!(times(&env), Ok((5, 30)));
        let why = times(&Env::from([(TAIL, "soon")])).expect_err("no time");
        assert!(why.message().starts_with("LOADLINE_OBSERVE_TAIL=soon:"));
    }
}
