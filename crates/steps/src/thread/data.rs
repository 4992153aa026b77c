//! Data sources: variables that are set at the start of a pass.
//!
//! Must not know controllers. Invariant: an exhausted source leaves its variables unchanged, or ends the thread
//! if the plan says so.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use loadline_java::random::JavaRandom;

use super::{End, EndedEarly, Thread, Walker};
use crate::commons::Sharers;
use crate::csv::{self, CsvLines, Line};
use crate::deck::Deck;
use crate::host::LogLevel;
use crate::program::{
    CounterSource, CsvFile, CsvSource, DataSource, RandomCsvSource, RandomSource, Sharing,
    UserParameters,
};

/// The property with the variables' value after the last line of a file.
const END_OF_FILE: &str = "csvdataset.eofstring";

/// A thread's state of its data sources, by their numbers.
#[derive(Debug, Default)]
pub(super) struct DataMemory {
    counters: HashMap<usize, i64>,
    /// The iteration in which a counter was last reset.
    reset_in: HashMap<usize, u64>,
    sequences: HashMap<usize, JavaRandom>,
    lines: HashMap<String, CsvLines>,
    /// By the number of their element.
    csv_files: HashMap<usize, Arc<DataSet>>,
    decks: HashMap<usize, Deck>,
}

/// The file of a data set, as first evaluated.
#[derive(Debug)]
struct DataSet {
    file: String,
    settings: csv::Settings,
    /// Who shares its lines; `None`: the thread has them for itself.
    sharers: Option<Sharers>,
}

impl Thread {
    /// Sets the variables of each source to its next values.
    pub(super) fn draw_data(&mut self, walker: &Walker<'_>, sources: &[DataSource]) {
        for source in sources {
            match source {
                DataSource::Csv(csv) => self.draw_line(walker, csv),
                DataSource::Counter(counter) => self.count(walker, counter),
                DataSource::Random(random) => self.draw_number(walker, random),
                DataSource::RandomCsv(csv) => self.draw_card(walker, csv),
                DataSource::UserParameters(parameters) => {
                    self.set_user_parameters(walker, parameters, "");
                }
            }
        }
    }

    fn draw_line(&mut self, walker: &Walker<'_>, csv: &CsvSource) {
        let of = self.csv_file(walker, csv);
        let (file, settings) = (&of.file, &of.settings);
        let drawn = match &of.sharers {
            None => {
                if !self.data.lines.contains_key(file) {
                    self.data.lines.insert(file.clone(), CsvLines::default());
                }
                let lines = self.data.lines.get_mut(file);
                lines.map_or(Ok(Line::End(Vec::new())), |lines| {
                    lines.draw(walker.host, file, settings)
                })
            }
            Some(sharers) => (self.commons).draw_line(sharers, walker.host, file, settings),
        };
        match drawn {
            Ok(Line::Row(values)) => {
                for (name, value) in values {
                    self.variables.put(name, value);
                }
            }
            Ok(Line::End(_)) if csv.stop_thread => {
                let recycle = settings.recycle;
                let why = format!(
                    "End of file:{file} detected for CSV DataSet:{} configured with stopThread:true, \
                     recycle:{recycle}",
                    csv.name
                );
                self.end_for_want_of_data(walker, &why);
            }
            Ok(Line::End(names)) => {
                let own = walker.host.world().property(END_OF_FILE);
                let end = own.as_deref().unwrap_or("<EOF>");
                for name in names {
                    self.variables.put(name, end);
                }
            }
            Err(why) => {
                let name = &self.strand.identity.name;
                let message = format!("{name}: stopped: cannot read {file}: {why}");
                walker
                    .host
                    .world()
                    .log(LogLevel::Error, "o.a.j.c.CSVDataSet", &message);
                self.strand.ending.get_or_insert(End::Thread);
            }
        }
    }

    /// The thread ends with its data, which the log tells in JMeter's words.
    fn end_for_want_of_data(&mut self, walker: &Walker<'_>, why: &str) {
        let line = format!(
            "Stop Thread seen for thread {}, reason: org.apache.jorphan.util.JMeterStopThreadException: {why}",
            self.strand.identity.name
        );
        let world = walker.host.world();
        world.log(LogLevel::Info, "o.a.j.t.JMeterThread", &line);
        self.end_early(EndedEarly::OutOfData);
    }

    /// The file of a data set, which a thread opens once.
    fn csv_file(&mut self, walker: &Walker<'_>, csv: &CsvSource) -> Arc<DataSet> {
        if let Some(known) = self.data.csv_files.get(&csv.id) {
            return Arc::clone(known);
        }
        let (file, settings) = self.read_as(walker, &csv.lines);
        let sharers = match &csv.sharing {
            Sharing::All => Some(Sharers::All),
            Sharing::Group => Some(Sharers::Group(self.group)),
            Sharing::Thread => None,
            Sharing::Named(name) => Some(Sharers::Named(self.text(walker, name).into_owned())),
        };
        let of = Arc::new(DataSet {
            file,
            settings,
            sharers,
        });
        self.data.csv_files.insert(csv.id, Arc::clone(&of));
        of
    }

    /// The name and format of a file with lines.
    fn read_as(&mut self, walker: &Walker<'_>, lines: &CsvFile) -> (String, csv::Settings) {
        let file = self.text(walker, &lines.file).into_owned();
        let settings = csv::Settings {
            encoding: self.text(walker, &lines.encoding).into_owned(),
            names: self.text(walker, &lines.names).into_owned(),
            ignore_first_line: lines.ignore_first_line,
            delimiter: csv::delimiter(&self.text(walker, &lines.delimiter)),
            quoted: lines.quoted,
            recycle: lines.recycle,
        };
        (file, settings)
    }

    /// Takes a line of a Random CSV Data Set; the thread ends after the last one.
    fn draw_card(&mut self, walker: &Walker<'_>, csv: &RandomCsvSource) {
        let (file, settings) = self.read_as(walker, &csv.lines);
        let host = walker.host;
        let read = || Deck::read(host, &file, &settings, csv.is_random);
        let draw = |deck: &mut Deck| deck.draw(host, csv.is_random, settings.recycle);
        let drawn = match csv.per_thread && csv.is_random {
            false => self.commons.draw_card(csv.id, read, draw),
            true => match self.data.decks.entry(csv.id) {
                Entry::Occupied(known) => Ok(draw(known.into_mut())),
                Entry::Vacant(unread) => read().map(|deck| draw(unread.insert(deck))),
            },
        };
        match drawn {
            Ok(Some(values)) => {
                for (name, value) in values {
                    self.variables.put(name, value);
                }
            }
            Ok(None) => self.end_early(EndedEarly::OutOfData),
            Err(why) => {
                let name = &self.strand.identity.name;
                let message = format!("{name}: stopped: cannot read {file}: {why}");
                let world = host.world();
                world.log(LogLevel::Error, "c.b.j.RandomCSVDataSetConfig", &message);
                self.strand.ending.get_or_insert(End::Thread);
            }
        }
    }

    fn count(&mut self, walker: &Walker<'_>, counter: &CounterSource) {
        let start = self.number(walker, &counter.start);
        let end = self.text(walker, &counter.end).trim().parse().ok();
        let step = self.number(walker, &counter.step);
        let next = |before: Option<i64>| match before {
            None => start,
            Some(before) => {
                let next = before.checked_add(step);
                let next = next.filter(|next| end.is_none_or(|end| *next <= end));
                next.unwrap_or(start)
            }
        };
        let value = if counter.per_thread {
            let is_reset = counter.reset_each_iteration
                && self.data.reset_in.insert(counter.id, self.iterations) != Some(self.iterations);
            let before = self.data.counters.get(&counter.id).copied();
            let value = next(before.filter(|_| !is_reset));
            self.data.counters.insert(counter.id, value);
            value
        } else {
            self.commons.count(counter.id, next)
        };
        self.put_formatted(walker, &counter.variable, &counter.format, value);
    }

    fn draw_number(&mut self, walker: &Walker<'_>, random: &RandomSource) {
        let least = self.number(walker, &random.least);
        let written = self.text(walker, &random.greatest).into_owned();
        let greatest = self.number(walker, &random.greatest);
        if greatest < least {
            let message = format!("maximum({written}) must be >= minimum({least})");
            let world = walker.host.world();
            world.log(LogLevel::Error, "o.a.j.c.RandomVariableConfig", &message);
            return;
        }
        let seed = self.text(walker, &random.seed).trim().parse::<i64>().ok();
        let seed = seed.unwrap_or_else(|| walker.host.random() as i64);
        let width = greatest.saturating_sub(least).saturating_add(1);
        let draw = |sequence: &mut JavaRandom| match i32::try_from(width) {
            Ok(width) if width > 0 => least + i64::from(sequence.next_int_below(width)),
            _ => least + (sequence.next_double() * width as f64) as i64,
        };
        let value = match random.per_thread {
            true => {
                let sequences = &mut self.data.sequences;
                draw(
                    sequences
                        .entry(random.id)
                        .or_insert_with(|| JavaRandom::new(seed)),
                )
            }
            false => self.commons.draw(random.id, seed, draw),
        };
        self.put_formatted(walker, &random.variable, &random.format, value);
    }

    fn put_formatted(
        &mut self,
        walker: &Walker<'_>,
        variable: &crate::text::Text,
        format: &crate::text::Text,
        value: i64,
    ) {
        let format = self.text(walker, format);
        let told = match format.is_empty() {
            true => value.to_string(),
            false => loadline_java::decimal_format::format_integer(&format, value)
                .unwrap_or_else(|_| value.to_string()),
        };
        let name = self.text(walker, variable).into_owned();
        if !name.is_empty() {
            self.variables.put(name, told);
        }
    }

    /// Sets the variables of user parameters to the column of this thread; `sampler`: whom they are for, if that is
    /// known.
    pub(super) fn set_user_parameters(
        &mut self,
        walker: &Walker<'_>,
        parameters: &UserParameters,
        sampler: &str,
    ) {
        let count = parameters.columns.len();
        let Some(column) = (self.strand.identity.number as usize - 1)
            .checked_rem(count)
            .and_then(|index| parameters.columns.get(index))
        else {
            return;
        };
        for (name, value) in parameters.names.iter().zip(column) {
            let scope = &mut self.scope_of(walker, sampler);
            let name = name.evaluate(scope).into_owned();
            let value = value.evaluate(scope).into_owned();
            if self.has_thrown() {
                // The sample is lost.
                return;
            }
            self.variables.put(name, value);
        }
    }
}
