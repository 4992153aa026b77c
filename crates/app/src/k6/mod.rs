//! k6's command line and options: from words, variables, files and the script's own options to a test plan and
//! the settings of its run.
//!
//! Two steps, because the options of a test are in its script:
//!
//! 1. [`K6Invocation::parse`] reads words and variables before the script is loaded. It returns the script
//!    (`script`, `script_type`), its `__ENV` (`env`; `env_over` for an archive's), the compatibility mode, the
//!    destination of the log, and which JSON options file to read (`config_file`).
//! 2. [`K6Invocation::consolidate`] takes the data of the loaded script ([`ScriptFacts`]: its URL, its exported
//!    `options` as JSON, the names of its exported functions, the text of that file) and returns a [`ScriptRun`]:
//!    the plan, and the settings of summary, outputs, log and REST API.
//!
//! [`K6Invocation::inspect`] returns the text of `inspect`; `ScriptRun::options.inspected()` are the options for
//! the metadata of an archive.
//!
//! Must not know how a script is loaded or run. Invariant: nothing is sent or written here, and no input panics.

/// The version of k6 whose behaviour is followed.
pub(crate) const FOLLOWED: &str = "2.2.0";

mod consolidate;
mod dashboard;
pub mod fetch;
mod flags;
mod invocation;
pub mod json;
pub mod log;
pub mod notice;
pub mod options;
mod output_spec;
mod plan;
mod proxy;
mod requirements;
mod run_settings;
pub(crate) mod secret_sources;
mod surroundings;

pub use invocation::{Compatibility, Identity, K6Invocation, Reading, ScriptFacts, ScriptType};
pub use log::{LogFormat, LogOutput, LogSettings};
pub use notice::{K6Error, Level, Notice};
pub use options::K6Options;
pub use output_spec::{OutputKind, OutputSpec};
pub use run_settings::{PageSettings, RestSettings, ScriptRun, SummaryMode, SummarySettings};
