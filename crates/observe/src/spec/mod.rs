//! What the user wants to observe: names, kinds, settings.
//!
//! Must not know how anything is read; no file is opened here. Invariant: a specification is valid as far as
//! its text can tell: patterns compile, paths parse, and exactly one way to find a process is given.

mod entry;
mod file;
mod grammar;
mod kind;
mod pipeline;
mod settings;
mod values;
mod web_settings;
mod words;

use std::fmt;
use std::time::Duration;

use entry::ObserverEntry;
pub use file::parse_file_text;
pub use kind::ObserverKind;
pub use pipeline::{PipelineSettings, Stage};
pub(crate) use settings::COMPONENTS_MAX;
pub use settings::{
    CgroupSettings, CommandSettings, HostSettings, LogSettings, NodeSettings, PodSettings,
    ProcessSettings, ReplicasSettings, SelfSettings,
};
pub use values::{Headers, Secret};
pub use web_settings::{
    Access, HttpSettings, PrometheusSettings, QueryMode, ScrapeSettings, ScrapeType, TimeUnit,
};

/// Default interval of an observer.
pub const INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
/// Default time limit of one read.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
/// Minimum interval: below it observers would load the machine that they watch.
pub const INTERVAL_MIN: Duration = Duration::from_millis(100);
/// Maximum observers per run: each that may block has a thread.
pub const OBSERVERS_MAX: usize = 100;

/// One observer as specified by the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ObserverSpec {
    /// Its name in results; default: the name of its kind.
    pub name: String,
    /// What it reads, with settings.
    pub kind: ObserverKind,
    /// How often it reads; default one second, at least [`INTERVAL_MIN`].
    pub interval: Duration,
    /// Whether the run ends if it cannot read; default false.
    pub required: bool,
    /// Time limit of one read; default five seconds.
    pub timeout: Duration,
}

impl ObserverSpec {
    /// An observer of a kind with default settings otherwise.
    #[must_use]
    pub fn new(kind: ObserverKind) -> ObserverSpec {
        ObserverSpec {
            name: kind.name().to_owned(),
            kind,
            interval: INTERVAL_DEFAULT,
            required: false,
            timeout: TIMEOUT_DEFAULT,
        }
    }

    /// Parses the argument of `--observe`: `[NAME=]KIND[:VALUE][;KEY=VALUE]...`. A leading `@` names a file,
    /// which the caller reads and passes to [`parse_file_text`].
    ///
    /// # Errors
    /// The text does not have this form, or the settings do not fit the kind.
    pub fn parse(text: &str) -> Result<Vec<ObserverSpec>, SpecError> {
        let told = |error: String| SpecError::new(format!("observer {text:?}: {error}"));
        let entry = ObserverEntry::from_words(text).map_err(told)?;
        Ok(vec![entry.into_spec(None).map_err(told)?])
    }

    /// Checks what serde cannot: settings that depend on each other.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name.contains([';', '=', '\n']) {
            return Err(format!(
                "{:?} is not an observer name; use letters, digits, - and _",
                self.name
            ));
        }
        if self.interval < INTERVAL_MIN {
            return Err(format!(
                "interval is {:?}; the minimum is {INTERVAL_MIN:?}",
                self.interval
            ));
        }
        if self.timeout.is_zero() {
            return Err(
                "timeout is zero; give the time that one reading may take, such as 5s".to_owned(),
            );
        }
        self.kind.check()
    }
}

/// Observers in the given order, with unique names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObserverSpecs(Vec<ObserverSpec>);

impl ObserverSpecs {
    /// Combines observers.
    ///
    /// # Errors
    /// Two have the same name, or there are more than [`OBSERVERS_MAX`].
    pub fn new(specs: Vec<ObserverSpec>) -> Result<ObserverSpecs, SpecError> {
        let mut all = ObserverSpecs::default();
        for spec in specs {
            all.push(spec)?;
        }
        Ok(all)
    }

    /// Adds an observer.
    ///
    /// # Errors
    /// Its name is taken, or there are more than [`OBSERVERS_MAX`].
    pub fn push(&mut self, spec: ObserverSpec) -> Result<(), SpecError> {
        if self.0.iter().any(|other| other.name == spec.name) {
            let name = &spec.name;
            return Err(SpecError::new(format!(
                "two observers have the name {name}; rename one: NAME={}...",
                spec.kind.name()
            )));
        }
        if self.0.len() >= OBSERVERS_MAX {
            return Err(SpecError::new(format!(
                "there are more than {OBSERVERS_MAX} observers; remove some"
            )));
        }
        self.0.push(spec);
        Ok(())
    }

    /// The observers in order.
    #[must_use]
    pub fn as_slice(&self) -> &[ObserverSpec] {
        &self.0
    }

    /// The observers in order, taken out.
    #[must_use]
    pub fn into_vec(self) -> Vec<ObserverSpec> {
        self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is wrong with the text of an observer, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    text: String,
}

impl SpecError {
    pub(crate) fn new(text: impl Into<String>) -> SpecError {
        SpecError { text: text.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for SpecError {}

#[cfg(test)]
mod tests;
