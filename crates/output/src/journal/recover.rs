//! Reads a journal, complete or torn.
//!
//! Must not know how it was written, except for the format. Invariant: any prefix of a journal yields its
//! complete records and nothing else; no input makes it panic.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use loadline_model::observation::{ObservationLog, ObservedSeries, Point, ResourceSample};
use loadline_model::result::{Row, RunResult};
use loadline_model::rows::{ROWS_MAX, halve};
use loadline_model::snapshot::Snapshot;
use loadline_model::tag_series::TagRows;

use super::batch::keep;
use super::encode::{self, MAGIC, MAGIC_OF_ANY_VERSION, Next, Part, Record, Start};
use super::rebuild;
use crate::sanity;

/// How the run of a journal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// Normally: the result is the run's own.
    Clean,
    /// The process died, or is still running.
    Crashed {
        /// End of the last second in the journal, in nanoseconds from the start of the run.
        last_ns: u64,
    },
}

/// The content of a journal.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// The final result, or one rebuilt from the records. The latter has no threshold results, no steady rate
    /// and no window rates, and its verdict is `unfinished`.
    pub result: RunResult,
    /// How the run ended.
    pub how: HowEnded,
    /// Whether the file ends in the middle of a record, or is damaged from there on.
    pub torn: bool,
    /// Whether more follows behind a record that is damaged: the run did not end there.
    pub is_damaged: bool,
}

/// Why nothing can be recovered from a file.
#[derive(Debug)]
pub enum RecoverError {
    /// The file could not be read.
    Io(io::Error),
    /// The file is something else.
    NotAJournal,
    /// The file is a journal of another version.
    OtherVersion {
        /// The first line.
        found: String,
    },
    /// The process died before it wrote the plan.
    Empty,
}

impl fmt::Display for RecoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecoverError::Io(error) => write!(f, "cannot be read: {error}"),
            RecoverError::NotAJournal => {
                write!(
                    f,
                    "is not a loadline journal: give the file that --journal named"
                )
            }
            RecoverError::OtherVersion { found } => {
                write!(
                    f,
                    "is a journal of another version ({found}): use the loadline that wrote it"
                )
            }
            RecoverError::Empty => {
                write!(
                    f,
                    "holds no whole record: the run died before its first request; run it again"
                )
            }
        }
    }
}

impl std::error::Error for RecoverError {}

impl From<io::Error> for RecoverError {
    fn from(error: io::Error) -> Self {
        RecoverError::Io(error)
    }
}

/// Whether a file with this beginning is a journal of any version.
#[must_use]
pub fn is_journal(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC_OF_ANY_VERSION)
}

/// Reads a journal from a file.
///
/// # Errors
/// The file is not a journal, or contains nothing.
pub fn recover(path: &Path) -> Result<Recovered, RecoverError> {
    recover_from(BufReader::new(File::open(path)?))
}

/// Reads a journal.
///
/// # Errors
/// The data is not a journal, or contains nothing.
pub fn recover_from(reader: impl Read) -> Result<Recovered, RecoverError> {
    let told = replay(reader)?;
    if let Some(result) = told.end {
        return Ok(Recovered {
            result: *result,
            how: HowEnded::Clean,
            torn: told.torn,
            is_damaged: told.is_damaged,
        });
    }
    let start = told.start.ok_or(RecoverError::Empty)?;
    let last_ns = rebuild::end_of(&told.part.rows);
    let result = rebuild::result_of(*start, told.part, told.observed, &told.tag_rows);
    let result = match told.is_damaged {
        true => rebuild::of_damaged(result),
        false => result,
    };
    Ok(Recovered {
        result,
        how: HowEnded::Crashed { last_ns },
        torn: told.torn,
        is_damaged: told.is_damaged,
    })
}

/// The sum of a journal's complete records.
#[derive(Default)]
pub(super) struct Told {
    pub(super) start: Option<Box<Start>>,
    /// All but what observers reported.
    part: Part,
    /// That, in a size that does not depend on the length of the run.
    observed: ObservationLog,
    pub(super) tag_rows: TagRows,
    pub(super) end: Option<Box<RunResult>>,
    pub(super) torn: bool,
    is_damaged: bool,
}

/// Reads records up to the end or to the first incomplete one.
pub(super) fn replay(mut reader: impl Read) -> Result<Told, RecoverError> {
    read_magic(&mut reader)?;
    let mut told = Told::default();
    while told.end.is_none() {
        let follows = match encode::read_record(&mut reader)? {
            Next::EndOfFile => break,
            Next::Record(record) => told.add(record),
            Next::Torn => false,
        };
        if !follows {
            told.torn = true;
            let mut rest = Vec::new();
            told.is_damaged = reader.by_ref().take(1).read_to_end(&mut rest)? > 0;
            break;
        }
    }
    Ok(told)
}

fn read_magic(reader: &mut impl Read) -> Result<(), RecoverError> {
    let mut line = Vec::new();
    reader.take(MAGIC.len() as u64).read_to_end(&mut line)?;
    if line == MAGIC {
        return Ok(());
    }
    if MAGIC.starts_with(&line) {
        return Err(RecoverError::Empty);
    }
    if is_journal(&line) {
        let found = String::from_utf8_lossy(&line).trim_end().to_owned();
        return Err(RecoverError::OtherVersion { found });
    }
    Err(RecoverError::NotAJournal)
}

impl Told {
    /// Everything between start and end as one record.
    pub(super) fn sum(self) -> Part {
        let observed = self.observed.so_far();
        let resources = observed.series.iter().flat_map(samples);
        Part {
            resources: resources.collect(),
            notes: observed.notes,
            left_out: (self.part.left_out).saturating_add(self.observed.left_out()),
            ..self.part
        }
    }

    /// Adds a record; `false` if it is out of place, or contains impossible numbers.
    fn add(&mut self, record: Record) -> bool {
        match record {
            Record::Start(start) if self.start.is_none() => self.start = Some(start),
            Record::Part(part) if self.start.is_some() => return self.add_part(*part),
            Record::End(result) if self.start.is_some() => {
                if sanity::check_result(&result).is_err() {
                    return false;
                }
                self.end = Some(result);
            }
            _ => return false,
        }
        true
    }

    fn add_part(&mut self, part: Part) -> bool {
        if !is_plausible(&part.seen, &part.rows) {
            return false;
        }
        let tag_seen = part
            .seen
            .script
            .as_ref()
            .and_then(|seen| seen.by_tag.clone());
        let span = part.rows.first().map(|row| row.at_ns);
        let span = span.map(|from| (from, rebuild::end_of(&part.rows).saturating_sub(from)));
        let mut seen = self.part.seen.clone();
        seen.merge(part.seen);
        let mut rows = self.part.rows.clone();
        rows.extend(part.rows);
        while rows.len() > ROWS_MAX {
            halve(&mut rows);
        }
        if !is_plausible(&seen, &rows) {
            return false;
        }
        (self.part.seen, self.part.rows) = (seen, rows);
        if let Some((at_ns, span_ns)) = span {
            self.tag_rows.add(at_ns, span_ns, tag_seen.as_ref());
        }
        part.resources.iter().for_each(|one| self.observed.add(one));
        let notes = part.notes.into_iter();
        notes.for_each(|note| self.observed.note(note));
        let left_out = keep(&mut self.part.marks, part.marks);
        self.part.left_out = self
            .part
            .left_out
            .saturating_add(part.left_out)
            .saturating_add(left_out);
        true
    }
}

fn is_plausible(seen: &Snapshot, rows: &[Row]) -> bool {
    sanity::check_snapshot(seen).is_ok() && sanity::check_rows(rows).is_ok()
}

/// The points of a series, and its largest reading if that is not one of them.
fn samples(series: &ObservedSeries) -> Vec<ResourceSample> {
    let [observer, component, metric] = [&series.observer, &series.component, &series.metric]
        .map(|name| Arc::<str>::from(name.as_str()));
    let peak = series.peak.filter(|peak| !series.points.contains(peak));
    let mut points: Vec<Point> = series.points.iter().copied().chain(peak).collect();
    points.sort_by_key(|point| point.0);
    let sample = |Point(at_ns, value)| ResourceSample {
        at_ns,
        observer: Arc::clone(&observer),
        component: Arc::clone(&component),
        metric: Arc::clone(&metric),
        value,
    };
    points.into_iter().map(sample).collect()
}
