//! The files to which the samples of a plan are written: the results file of the run, and those of listeners.
//!
//! Must not know threads. Invariant: a file contains a sample once for each name by which it was opened,
//! however many listeners use that name.

use std::io;

use loadline_java::date_format::{Moment, Pattern};
use loadline_report::jmeter::csv::{self, Event};
use loadline_report::jmeter::save_config::{SaveConfig, TimestampForm};
use loadline_report::jmeter::xml;
use loadline_steps::host::World as _;
use loadline_steps::listener::{self, Heard, Listener, Standing, Wanted};
use loadline_steps::program::Program;
use loadline_steps::sample::Sample;
use loadline_steps::scope::Scope;

use super::file::{OpenFile, place_of};
use crate::jmeter::plan_file::warn;
use crate::jmeter::world::World;
use crate::jmeter::zone;
use crate::terminal::print;

/// All files that samples are written to.
pub(crate) struct Outlets {
    files: Vec<OpenFile>,
    /// The names by which the files are written.
    names: Vec<String>,
    /// By the listener's index in the program.
    listeners: Vec<Option<Writer>>,
    /// The results of the run.
    results: Option<Writer>,
    rows: Rows,
    is_flushed_always: bool,
    /// The names by which the current sample was written.
    written: Vec<usize>,
    /// Why a file could not be written.
    fault: Option<String>,
}

/// Writes samples to one of the files.
struct Writer {
    file: usize,
    /// The index of its name among the names.
    name: usize,
    wanted: Wanted,
    config: SaveConfig,
}

/// Formats samples as rows.
struct Rows {
    /// The name of this machine.
    host: String,
    /// The format of timestamps; `None`: in milliseconds.
    timestamps: Option<Pattern>,
    /// The rows of a sample; the memory is reused.
    text: String,
}

impl Outlets {
    /// Opens the files of a program's listeners, and of `results`. A listener's file that cannot be opened is
    /// reported, and not written.
    ///
    /// # Errors
    /// The results file cannot be written, as a message for the user.
    pub(crate) fn open(
        program: &Program,
        results: Option<&str>,
        config: &SaveConfig,
        world: &World,
        scope: &mut Scope<'_>,
    ) -> Result<Outlets, String> {
        let timestamps = match &config.timestamp_form {
            TimestampForm::Milliseconds => None,
            TimestampForm::Pattern(pattern) => Some(Pattern::new(pattern)?),
        };
        let autoflush = world.property("jmeter.save.saveservice.autoflush");
        let mut outlets = Outlets {
            files: Vec::new(),
            names: Vec::new(),
            listeners: Vec::new(),
            results: None,
            rows: Rows {
                host: world.machine().0,
                timestamps,
                text: String::new(),
            },
            is_flushed_always: autoflush.is_some_and(|value| value.eq_ignore_ascii_case("true")),
            written: Vec::new(),
            fault: None,
        };
        for one in &program.listeners {
            let writer = outlets.of_listener(one, config, world, scope);
            outlets.listeners.push(writer);
        }
        if let Some(name) = results {
            let writer = outlets.writer(name, Wanted::default(), config.clone(), scope);
            outlets.results =
                Some(writer.map_err(|error| format!("cannot write {name}: {error}"))?);
        }
        Ok(outlets)
    }

    fn of_listener(
        &mut self,
        listener: &Listener,
        config: &SaveConfig,
        world: &World,
        scope: &mut Scope<'_>,
    ) -> Option<Writer> {
        let Listener::File(file) = listener else {
            return None;
        };
        let name = file.file.evaluate(scope).into_owned();
        if name.is_empty() {
            return None;
        }
        let config = match &file.switches {
            None => config.clone(),
            Some(switches) => config.with_elements(&|wanted| {
                let found = switches.iter().find(|(name, _)| name == wanted);
                found.map(|(_, text)| text.clone())
            }),
        };
        match self.writer(&name, file.wanted, config, scope) {
            Ok(writer) => Some(writer),
            Err(error) => {
                let warning = format!("the file of a listener cannot be written: {name}: {error}");
                warn(world, &warning);
                None
            }
        }
    }

    fn writer(
        &mut self,
        name: &str,
        wanted: Wanted,
        config: SaveConfig,
        scope: &Scope<'_>,
    ) -> io::Result<Writer> {
        let place = place_of(&listener::place_of(name, scope.host.world()))?;
        let known = self.files.iter().position(|file| file.place == place);
        let file = match known {
            Some(known) => known,
            None => {
                self.files.push(OpenFile::open(name, place, &config)?);
                self.files.len() - 1
            }
        };
        let known = self.names.iter().position(|known| known == name);
        let name = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Ok(Writer {
            file,
            name,
            wanted,
            config,
        })
    }

    /// Writes a sample to every file that receives it.
    pub(super) fn take(&mut self, heard: &Heard) {
        // As in JMeter, a file contains a sample once.
        if matches!(heard.standing, Standing::Again(_)) {
            return;
        }
        self.written.clear();
        let listeners = heard.listeners.iter();
        let listeners = listeners.filter_map(|id| self.listeners.get(*id)?.as_ref());
        let results = self.results.iter().filter(|_| heard.is_result());
        for writer in listeners.chain(results) {
            if !writer.wanted.has(&heard.sample) || self.written.contains(&writer.name) {
                continue;
            }
            self.written.push(writer.name);
            let rows = self.rows.of(&writer.config, &heard.sample);
            let file = &mut self.files[writer.file];
            if let Err(error) = file.push(rows) {
                tell(&mut self.fault, &file.name, &error);
            }
        }
        if self.is_flushed_always {
            self.flush();
        }
    }

    /// Writes buffered rows.
    pub(super) fn flush(&mut self) {
        for file in &mut self.files {
            if let Err(error) = file.flush() {
                tell(&mut self.fault, &file.name, &error);
            }
        }
    }

    /// Ends all files.
    ///
    /// # Errors
    /// One of them could not be written, as the message that the user got.
    pub(super) fn close(mut self) -> Result<(), String> {
        for file in &mut self.files {
            if let Err(error) = file.close() {
                tell(&mut self.fault, &file.name, &error);
            }
        }
        self.fault.map_or(Ok(()), Err)
    }
}

/// Reports once that files cannot be written.
fn tell(fault: &mut Option<String>, name: &str, error: &io::Error) {
    if fault.is_none() {
        let message = format!("cannot write {name}: {error}");
        print::to_stderr(&format!("loadline: {message}\n"));
        *fault = Some(message);
    }
}

impl Rows {
    /// The rows of a sample.
    fn of(&mut self, config: &SaveConfig, sample: &Sample) -> &[u8] {
        self.text.clear();
        let timestamps = self.timestamps.as_ref();
        let event = Event {
            host: &self.host,
            variables: &sample.variables,
            date: &|_, unix_ms| date(timestamps, unix_ms),
        };
        match config.is_xml {
            true => xml::push_sample(config, &event, sample, &mut self.text),
            false => csv::push_rows(config, &event, sample, &mut self.text),
        }
        self.text.as_bytes()
    }
}

/// A time in a format, in local time.
fn date(pattern: Option<&Pattern>, unix_ms: i64) -> String {
    let moment = Moment {
        unix_ms,
        offset_s: zone::local(unix_ms).offset_s,
        zone: None,
    };
    pattern.map_or_else(|| unix_ms.to_string(), |pattern| pattern.format(moment))
}
