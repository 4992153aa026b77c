//! The output at the end of a script run: the script's own summary or k6's, the files, then the verdict.
//!
//! Must not know how a run is made. Invariant: whatever `handleSummary` does, every requested file is written
//! and some summary is printed.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadline_model::result::RunResult;
use loadline_model::{TestPlan, TestSummary};
use loadline_output::files;
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
use crate::k6::{FOLLOWED, Level, Notice, ScriptRun, SummaryMode};
use crate::terminal::{print, signals, style};

/// The base of the summary.
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
    /// Prints everything. As in k6, an unwritable file is reported without changing the exit code.
    pub(super) fn tell(&self, result: &RunResult) {
        let Some(summary) = &result.summary else {
            return;
        };
        if self.run.summary.mode == SummaryMode::Disabled {
            return;
        }
        let options = self.options();
        let data: Arc<str> = match self.is_handled {
            true => self.data(summary, &options).to_string().into(),
            false => "null".into(),
        };
        let mut unsaved = Vec::new();
        let mut left = None;
        // As in k6, the module code runs again even if the summary is disabled.
        let impatience = signals::impatience();
        let mut is_impatient = || impatience.load(Ordering::Relaxed);
        let handled = match is_impatient() {
            true => Handled::Nothing,
            false => loadline_run::handle_summary(self.plan, self.script, data, &mut is_impatient),
        };
        match handled {
            Handled::Done {
                files,
                data,
                unheard,
            } => {
                for trouble in &unheard {
                    self.logger.tell(&notice_of(trouble));
                }
                match files {
                    Err(why) => return self.tell_failure(why),
                    Ok(Some(files)) => unsaved.extend(
                        (files.into_iter())
                            .filter_map(|(name, content)| write(&name, &content).err()),
                    ),
                    Ok(None) => unsaved.extend(self.tell_text(summary, &options).err()),
                }
                left = serde_json::from_str(&data).ok().filter(Value::is_object);
            }
            Handled::Nothing => unsaved.extend(self.tell_text(summary, &options).err()),
            Handled::Failed(trouble) => {
                self.logger.tell(&notice_of(&trouble));
                unsaved.extend(self.tell_text(summary, &options).err());
            }
            Handled::BadOutput(why) => return self.tell_failure(why),
        }
        unsaved.extend(self.export(summary, &options, left).err());
        if !unsaved.is_empty() {
            let all = unsaved.join("\n");
            self.tell_failure(format!("Could not save some summary information:\n{all}"));
        }
    }

    fn tell_failure(&self, why: String) {
        let told = "failed to handle the end-of-test summary";
        let notice = Notice::new(Level::Error, told).with("error", why);
        self.logger.tell(&notice);
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
            colour: io::stdout().is_terminal() && !self.run.no_color,
        }
    }

    fn data(&self, summary: &TestSummary, options: &SummaryOptions) -> Value {
        if self.run.summary.new_machine_readable {
            return layouts::machine_readable(summary, options, &self.machine_context());
        }
        self.old_data(summary, options)
    }

    fn old_data(&self, summary: &TestSummary, options: &SummaryOptions) -> Value {
        let context = HandleSummaryContext {
            setup_data: self.setup_data(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            no_colour: self.run.no_color,
        };
        layouts::handle_summary_data(summary, options, &context)
    }

    fn machine_context(&self) -> MachineSummaryContext {
        let mut now = Vec::new();
        push_rfc3339_nano(Clock::start().started_unix_ns(), &mut now);
        MachineSummaryContext {
            generated_at: String::from_utf8_lossy(&now).into_owned(),
            k6_version: FOLLOWED.to_owned(),
            script: self.source.clone(),
        }
    }

    fn setup_data(&self) -> Option<Value> {
        serde_json::from_str(self.script.data.get()?).ok()
    }

    /// As in k6, the old format is made from the argument as `handleSummary` left it.
    fn export(
        &self,
        summary: &TestSummary,
        options: &SummaryOptions,
        left: Option<Value>,
    ) -> Result<(), String> {
        let Some(path) = &self.run.summary.export else {
            return Ok(());
        };
        let value = if self.run.summary.new_machine_readable {
            layouts::machine_readable(summary, options, &self.machine_context())
        } else {
            layouts::summary_export(&left.unwrap_or_else(|| self.old_data(summary, options)))
        };
        write(path, layouts::indented(&value).as_bytes())
    }

    fn tell_text(&self, summary: &TestSummary, options: &SummaryOptions) -> Result<(), String> {
        let mut text = layouts::stdout(summary, options);
        let asked = self.run.summary.by.as_ref();
        if let Some(table) = summary.by_tag.as_ref().filter(|_| asked.is_some()) {
            let style = style::of_stdout(self.run.no_color, self.env);
            text.push_str(&layouts::by_tag(table, summary.duration_ns, &style));
        }
        write("stdout", text.as_bytes())
    }
}

/// Writes to a file or a stream; fails with k6's message.
fn write(name: &str, content: &[u8]) -> Result<(), String> {
    let why = |error: &io::Error| loadline_go::errno(&error.to_string());
    let unsaved = |path: &str, error: &io::Error| {
        let why = why(error);
        format!("\t- error saving summary to '{name}': write {path}: {why}")
    };
    match name {
        "stdout" => print::bytes_to_stdout(content).map_err(|error| unsaved("/dev/stdout", &error)),
        "stderr" => print::bytes_to_stderr(content).map_err(|error| unsaved("/dev/stderr", &error)),
        path => {
            let opened = files::create(Path::new(path));
            let mut file = opened.map_err(|error| {
                format!("\t- could not open '{name}': open {name}: {}", why(&error))
            })?;
            file.write_all(content)
                .map_err(|error| unsaved(path, &error))
        }
    }
}
