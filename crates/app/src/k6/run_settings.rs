//! The settings around a script's run: summary, outputs, REST API.
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
    /// Totals, plus each group and scenario.
    Full,
    /// The layout of k6 before 1.0.
    Legacy,
    /// None.
    Disabled,
}

impl SummaryMode {
    /// The mode with a name; `None` if there is no such mode.
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
    /// Unit of times: `s`, `ms` or `us`; `None`: suitable for each.
    pub time_unit: Option<String>,
    /// File for its JSON export; `None`: none.
    pub export: Option<String>,
    /// Whether that file and `handleSummary()` use the newer layout.
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
    /// Host and port of the live page; `None`: it is not served.
    pub web: Option<String>,
    /// Files for the HTML report.
    pub reports: Vec<String>,
    /// Folder for the charts; `None`: they are not written.
    pub charts: Option<String>,
    /// File for the JSON result; `None`: it is not written.
    pub json: Option<String>,
    /// Whether the run is shown in a full-screen view.
    pub tui: bool,
}

/// A script's run, complete except for the script itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptRun {
    /// The plan.
    pub plan: TestPlan,
    /// The consolidated options.
    pub options: K6Options,
    /// Maximum number of concurrent virtual users of the part of the test that this process runs.
    pub max_vus: u64,
    /// Maximum duration of the test.
    pub max_duration: Duration,
    /// Whether its scenarios were written as such, without shortcuts.
    pub has_scenarios: bool,
    /// Messages for the user before the start.
    pub notices: Vec<Notice>,
    /// The summary.
    pub summary: SummarySettings,
    /// Whether series are counted: as in k6, unless neither a summary nor thresholds use them.
    pub counts_series: bool,
    /// Destinations of results during the run.
    pub outputs: Vec<OutputSpec>,
    /// Whether an output that lost data changes the exit code.
    pub strict_outputs: bool,
    /// Whether receivers that support it are audited at the end.
    pub audits: bool,
    /// The log.
    pub log: LogSettings,
    /// File for the script's console output; `None`: the log.
    pub console_output: Option<String>,
    /// The REST API; `None`: off.
    pub rest: Option<RestSettings>,
    /// Access settings of the API and the live page.
    pub access: AccessSettings,
    /// The live page and the HTML report.
    pub pages: PageSettings,
    /// File for the journal of the run; `None`: none is kept.
    pub journal: Option<String>,
    /// The observers of the run.
    pub observe: WantedObservers,
    /// The agents that make the load, if any.
    pub agents: WantedAgents,
    /// Whether the run waits for an order before it starts.
    pub paused: bool,
    /// Whether the REST API stays open after the end, until a signal.
    pub linger: bool,
    /// Whether header and progress are omitted.
    pub quiet: bool,
    /// Whether colours are forbidden.
    pub no_color: bool,
    /// Whether `--once` shows secrets.
    pub shows_secrets: bool,
}
