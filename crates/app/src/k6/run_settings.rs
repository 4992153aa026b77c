//! What surrounds the run of a script: summary, outputs, REST API.
//!
//! Must not know flags. Invariant: a [`ScriptRun`]'s plan has passed `TestPlan::validate`.

use loadline_model::TestPlan;

use super::log::LogSettings;
use super::notice::Notice;
use super::options::K6Options;

/// The layout of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// Totals.
    #[default]
    Compact,
    /// Totals, and each group and scenario.
    Full,
    /// That of k6 before 1.0.
    Legacy,
    /// None.
    Disabled,
}

impl SummaryMode {
    /// The mode of a name; `None` when there is no such mode.
    #[must_use]
    pub fn of(name: &str) -> Option<SummaryMode> {
        Some(match name {
            "compact" => SummaryMode::Compact,
            "full" => SummaryMode::Full,
            "legacy" => SummaryMode::Legacy,
            "disabled" => SummaryMode::Disabled,
            _ => return None,
        })
    }
}

/// The summary's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummarySettings {
    /// The layout.
    pub mode: SummaryMode,
    /// Statistics of trends, in order.
    pub trend_stats: Vec<String>,
    /// Unit of times: `s`, `ms` or `us`; `None`: what fits each.
    pub time_unit: Option<String>,
    /// File that it is written to as JSON; `None`: none.
    pub export: Option<String>,
    /// Whether that file and `handleSummary()` have the newer layout.
    pub new_machine_readable: bool,
    /// Tag of the table of requests; `None`: no table.
    pub by: Option<String>,
}

/// Where samples can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// JSON lines.
    Json,
    /// Comma-separated values.
    Csv,
}

/// One `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// Where samples go.
    pub kind: OutputKind,
    /// What stands behind `=`; `None`: nothing.
    pub argument: Option<String>,
}

impl OutputSpec {
    /// Reads the value of `--out`.
    ///
    /// # Errors
    /// k6's message, with the outputs that are here.
    pub fn parse(text: &str) -> Result<OutputSpec, String> {
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument.to_owned())),
            None => (text, None),
        };
        let kind = match name {
            "json" => OutputKind::Json,
            "csv" => OutputKind::Csv,
            other => {
                return Err(format!(
                    "invalid output type '{other}', available types are: csv, json"
                ));
            }
        };
        Ok(OutputSpec { kind, argument })
    }
}

/// The REST API's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestSettings {
    /// Host and port to listen on.
    pub address: String,
    /// Whether the user asked for it; if not, a busy port is a warning and nothing more.
    pub asked: bool,
}

/// A script's run, ready but for the script itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptRun {
    /// What to do.
    pub plan: TestPlan,
    /// The consolidated options.
    pub options: K6Options,
    /// Virtual users at a time, at most, of the part of the test that this process does.
    pub max_vus: u64,
    /// Whether their scenarios were written as such, and no shortcut stands for them.
    pub has_scenarios: bool,
    /// What the user is to be told before the start.
    pub notices: Vec<Notice>,
    /// The summary.
    pub summary: SummarySettings,
    /// Where samples go.
    pub outputs: Vec<OutputSpec>,
    /// The log.
    pub log: LogSettings,
    /// File that the script's console is written to; `None`: the log.
    pub console_output: Option<String>,
    /// The REST API; `None`: off.
    pub rest: Option<RestSettings>,
    /// Whether the run waits for a word before it starts.
    pub paused: bool,
    /// Whether the REST API stays open after the end, until a signal.
    pub linger: bool,
    /// Whether header and progress are left out.
    pub quiet: bool,
    /// Whether colours are forbidden.
    pub no_color: bool,
    /// Whether `--once` shows secrets.
    pub shows_secrets: bool,
    /// Where secrets come from, as written.
    pub secret_sources: Vec<String>,
}
