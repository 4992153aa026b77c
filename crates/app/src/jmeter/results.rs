//! Where the samples of a plan go: the results file and the lines on the console.
//!
//! On a thread of its own. Must not know threads of the plan. Invariant: what was taken is written, in whole rows, before
//! the run is told to be over.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use loadline_java::date_format::{Moment, Pattern};
use loadline_report::jmeter::csv::{self, Event};
use loadline_report::jmeter::save_config::{SaveConfig, TimestampForm};
use loadline_report::jmeter::summariser::{Seen, Summariser, Threads};
use loadline_report::jmeter::xml;
use loadline_run::steps::StepsState;
use loadline_steps::sample::Sample;

use super::world::{World, now_ms};
use super::zone;
use crate::terminal::print;

/// Seconds between two lines of the summariser.
const INTERVAL_S: u32 = 30;

/// A results file that is open.
pub(crate) struct ResultsFile {
    name: String,
    config: SaveConfig,
    writer: BufWriter<File>,
    /// The name of this machine.
    host: String,
    /// How timestamps are written; `None`: in milliseconds.
    timestamps: Option<Pattern>,
    /// The rows of a sample, whose memory is used again.
    text: String,
}

impl ResultsFile {
    /// Opens a results file; one that is there is added to.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn open(name: &str, config: SaveConfig, host: String) -> io::Result<ResultsFile> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(name)?;
        let length = file.seek(SeekFrom::End(0))?;
        let mut start = match config.is_xml {
            true => xml::start(&config),
            false => csv::header(&config),
        };
        if length > 0 {
            let tail = config
                .is_xml
                .then(|| tail_of(&mut file, length))
                .transpose()?;
            if let Some(Some(end)) = tail {
                file.set_len(end)?;
            }
            if !config.is_xml || matches!(tail, Some(Some(_))) {
                start.clear();
            }
            file.seek(SeekFrom::End(0))?;
        }
        let mut writer = BufWriter::new(file);
        writer.write_all(start.as_bytes())?;
        let timestamps = match &config.timestamp_form {
            TimestampForm::Milliseconds => None,
            TimestampForm::Pattern(pattern) => Some(
                Pattern::new(pattern)
                    .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?,
            ),
        };
        Ok(ResultsFile {
            name: name.to_owned(),
            config,
            writer,
            host,
            timestamps,
            text: String::new(),
        })
    }

    fn write(&mut self, sample: &Sample) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let event = Event {
            host: &self.host,
            variables: &sample.variables,
            date: &|_, unix_ms| self.date(unix_ms),
        };
        match self.config.is_xml {
            true => xml::push_sample(&self.config, &event, sample, &mut text),
            false => csv::push_rows(&self.config, &event, sample, &mut text),
        }
        self.text = text;
        self.writer.write_all(self.text.as_bytes())
    }

    /// An instant by the pattern of the file, in local time.
    fn date(&self, unix_ms: i64) -> String {
        let moment = Moment {
            unix_ms,
            offset_s: zone::local(unix_ms).offset_s,
        };
        let pattern = self.timestamps.as_ref();
        pattern.map_or_else(|| unix_ms.to_string(), |pattern| pattern.format(moment))
    }

    fn close(&mut self) -> io::Result<()> {
        if self.config.is_xml {
            self.writer.write_all(xml::END.as_bytes())?;
        }
        self.writer.flush()
    }
}

/// Where a results file in XML is cut so that what follows stands within its root.
fn tail_of(file: &mut File, length: u64) -> io::Result<Option<u64>> {
    let from = length.saturating_sub(256);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    Ok(xml::end_in(&tail).map(|at| from + at as u64))
}

/// Takes all samples of a run; gives why the results file could not be written, if it could not.
pub(crate) fn take(
    samples: &Receiver<Vec<Arc<Sample>>>,
    mut file: Option<ResultsFile>,
    state: &StepsState,
    world: &Arc<World>,
) -> Result<(), String> {
    let mut summariser = Summariser::new("summary", INTERVAL_S, now_ms());
    let mut fault = None;
    for batch in samples {
        for sample in &batch {
            if !sample.is_transaction {
                let seen = Seen::of(sample);
                let lines = summariser.observe(&seen, now_ms(), threads(state));
                tell(&lines, world);
            }
            if let Some(open) = &mut file
                && let Err(error) = open.write(sample)
            {
                fault = Some(told(open, &error));
                file = None;
            }
        }
    }
    tell(&summariser.finish(now_ms(), threads(state)), world);
    if let Some(open) = &mut file
        && let Err(error) = open.close()
    {
        fault = Some(told(open, &error));
    }
    fault.map_or(Ok(()), Err)
}

fn told(file: &ResultsFile, error: &io::Error) -> String {
    let message = format!("cannot write {}: {error}", file.name);
    print::to_stderr(&format!("loadline: {message}\n"));
    message
}

fn threads(state: &StepsState) -> Threads {
    let (active, started, finished) = state.threads();
    Threads {
        active,
        started,
        finished,
    }
}

fn tell(lines: &[String], world: &Arc<World>) {
    for line in lines {
        // A console that went away is no reason to end a test.
        let _ = print::to_stdout(&format!("{line}\n"));
        world.tell("o.a.j.r.Summariser", line);
    }
}
