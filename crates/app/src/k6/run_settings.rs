//! What surrounds the run of a script: summary, outputs, REST API.
//!
//! Must not know flags. Invariant: a [`ScriptRun`]'s plan has passed `TestPlan::validate`.

use std::time::Duration;

use loadline_model::TestPlan;

use super::log::LogSettings;
use super::notice::Notice;
use super::options::K6Options;
use super::output_spec::OutputSpec;
use crate::http::AccessSettings;
use crate::observers::WantedObservers;
use crate::wanted_agents::WantedAgents;

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

/// The REST API's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestSettings {
    /// Host and port to listen on.
    pub address: String,
}

/// The pages of a run: the live one, and the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSettings {
    /// Host and port that the live page is served at; `None`: it is not.
    pub web: Option<String>,
    /// Files that the HTML report is written to.
    pub reports: Vec<String>,
    /// Folder that the charts are written to; `None`: they are not.
    pub charts: Option<String>,
    /// File that the JSON result is written to; `None`: it is not.
    pub json: Option<String>,
    /// Whether the run is shown on the whole screen.
    pub tui: bool,
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
    /// How long the test takes at most.
    pub max_duration: Duration,
    /// Whether their scenarios were written as such, and no shortcut stands for them.
    pub has_scenarios: bool,
    /// What the user is to be told before the start.
    pub notices: Vec<Notice>,
    /// The summary.
    pub summary: SummarySettings,
    /// Whether series are counted: as in k6, unless neither a summary nor thresholds look at them.
    pub counts_series: bool,
    /// Where results go while the run lasts.
    pub outputs: Vec<OutputSpec>,
    /// Whether the exit code tells of an output that lost something.
    pub strict_outputs: bool,
    /// Whether receivers that can be asked are asked at the end what they have.
    pub audits: bool,
    /// The log.
    pub log: LogSettings,
    /// File that the script's console is written to; `None`: the log.
    pub console_output: Option<String>,
    /// The REST API; `None`: off.
    pub rest: Option<RestSettings>,
    /// Who may ask the API and see the live page.
    pub access: AccessSettings,
    /// The live page and the HTML report.
    pub pages: PageSettings,
    /// File that the journal of the run is written to; `None`: none is kept.
    pub journal: Option<String>,
    /// What is observed beside the load.
    pub observe: WantedObservers,
    /// Who makes the load, where it is not made here.
    pub agents: WantedAgents,
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
}
