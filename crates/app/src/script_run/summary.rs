//! What is told at the end of a script run: the script's own summary or k6's, the files, then the
//! verdict.
//!
//! Must not know how a run is made. Invariant: whatever `handleSummary` does, every file that the
//! user asked for is written and something is told.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadline_model::result::RunResult;
use loadline_model::{TestPlan, TestSummary};
use loadline_output::k6_lines::push_rfc3339_nano;
use loadline_report::k6::{
    self as layouts, HandleSummaryContext, MachineSummaryContext, Mode, SummaryOptions,
    SummaryTimeUnit, TrendStat,
};
use loadline_run::{Clock, Handled, ScriptSetup};
use serde_json::Value;

use super::logger::Logger;
use super::notice_of;
use crate::Env;
use crate::k6::{Level, Notice, ScriptRun, SummaryMode};
use crate::terminal::{print, signals, style};

/// The version of k6 that is stood in for.
const K6_VERSION: &str = "v2.2.0";

/// What the summary is made from.
pub(super) struct Telling<'a> {
    pub(super) run: &'a ScriptRun,
    pub(super) plan: &'a Arc<TestPlan>,
    pub(super) script: &'a ScriptSetup,
    /// Whether the script exports `handleSummary`.
    pub(super) is_handled: bool,
    /// The script's source text.
    pub(super) source: String,
    pub(super) logger: &'a Logger,
    pub(super) env: &'a Env,
}

impl Telling<'_> {
    /// Tells everything; whether all that was asked for could be written.
    pub(super) fn tell(&self, result: &RunResult) -> bool {
        let Some(summary) = &result.summary else {
            return true;
        };
        if self.run.summary.mode == SummaryMode::Disabled {
            return true;
        }
        let options = self.options();
        let data: Arc<str> = match self.is_handled {
            true => self.data(summary, &options).to_string().into(),
            false => "null".into(),
        };
        // As in k6, the module code runs once more also where nobody asked for the summary.
        let mut all_written = true;
        let impatience = signals::impatience();
        let mut is_impatient = || impatience.load(Ordering::Relaxed);
        let handled = match is_impatient() {
            true => Handled::Nothing,
            false => loadline_run::handle_summary(self.plan, self.script, data, &mut is_impatient),
        };
        match handled {
            Handled::Files(files) => {
                for (name, content) in files {
                    all_written &= self.write(&name, &content);
                }
            }
            Handled::Nothing => self.tell_text(summary, &options),
            Handled::Failed(trouble) => {
                self.logger.tell(&notice_of(&trouble));
                self.tell_text(summary, &options);
            }
            Handled::Rejected(trouble) => self.logger.tell(&notice_of(&trouble)),
            Handled::BadOutput(why) => {
                let told = "failed to handle the end-of-test summary";
                self.logger
                    .tell(&Notice::new(Level::Error, told).with("error", why));
                return true;
            }
        }
        all_written & self.export(summary, &options)
    }

    fn options(&self) -> SummaryOptions {
        let settings = &self.run.summary;
        let stats = settings.trend_stats.iter();
        SummaryOptions {
            mode: match settings.mode {
                SummaryMode::Full => Mode::Full,
                SummaryMode::Legacy => Mode::Legacy,
                SummaryMode::Compact | SummaryMode::Disabled => Mode::Compact,
            },
            trend_stats: stats
                .filter_map(|stat| stat.parse::<TrendStat>().ok())
                .collect(),
            time_unit: settings
                .time_unit
                .as_deref()
                .and_then(SummaryTimeUnit::from_name),
            colour: std::io::stdout().is_terminal() && !self.run.no_color,
        }
    }

    fn data(&self, summary: &TestSummary, options: &SummaryOptions) -> Value {
        if self.run.summary.new_machine_readable {
            return layouts::machine_readable(summary, options, &self.machine_context());
        }
        let context = HandleSummaryContext {
            setup_data: self.setup_data(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            no_colour: self.run.no_color,
        };
        layouts::handle_summary_data(summary, options, &context)
    }

    fn machine_context(&self) -> MachineSummaryContext {
        let mut now = Vec::new();
        push_rfc3339_nano(Clock::start().started_unix_ns(), &mut now);
        MachineSummaryContext {
            generated_at: String::from_utf8_lossy(&now).into_owned(),
            k6_version: K6_VERSION.to_owned(),
            script: self.source.clone(),
        }
    }

    fn setup_data(&self) -> Option<Value> {
        serde_json::from_str(self.script.data.get()?).ok()
    }

    fn export(&self, summary: &TestSummary, options: &SummaryOptions) -> bool {
        let Some(path) = &self.run.summary.export else {
            return true;
        };
        let value = if self.run.summary.new_machine_readable {
            layouts::machine_readable(summary, options, &self.machine_context())
        } else {
            layouts::summary_export(summary, options, self.setup_data().as_ref())
        };
        self.write(path, layouts::indented(&value).as_bytes())
    }

    fn tell_text(&self, summary: &TestSummary, options: &SummaryOptions) {
        let mut text = layouts::stdout(summary, options);
        if let Some(table) = &summary.by_tag {
            let style = style::of_stdout(self.run.no_color, self.env);
            text.push_str(&layouts::by_tag(table, &style));
        }
        self.write("stdout", text.as_bytes());
    }

    /// Writes to a file or a stream; whether that went well.
    fn write(&self, name: &str, content: &[u8]) -> bool {
        let written = match name {
            "stdout" => print::to_stdout(&String::from_utf8_lossy(content)),
            "stderr" => {
                print::to_stderr(&String::from_utf8_lossy(content));
                Ok(())
            }
            path => std::fs::write(path, content),
        };
        if let Err(error) = &written {
            let message = format!("the summary cannot be written to {name}: {error}");
            self.logger.tell(&Notice::new(Level::Error, message));
        }
        written.is_ok()
    }
}
