//! The table of results, and its score.
//!
//! Must not know how a result is graded. Invariant: situations that were not staged are shown but do not count.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::judge::{Judged, Mark};
use crate::situation::Situation;

/// At least this percentage must be right, and at most this percentage wrong.
const RIGHT_MIN_PERCENT: usize = 95;
const WRONG_MAX_PERCENT: usize = 2;

/// One line.
pub(crate) struct Row {
    name: String,
    busy: bool,
    truth: String,
    judged: Judged,
}

impl Row {
    /// The outcome of a situation.
    pub(crate) fn new(one: &Situation, busy: bool, judged: Judged) -> Row {
        let truth = match one.capacity {
            Some(capacity) => format!("{capacity}/s"),
            None => one.limit.join("|"),
        };
        Row {
            name: one.name.clone(),
            busy,
            truth,
            judged,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variant = if self.busy { "busy" } else { "quiet" };
        let mark = format!("{:?}", self.judged.mark).to_lowercase();
        let codes: Vec<&str> = self
            .judged
            .said
            .findings
            .iter()
            .map(|(code, _)| code.as_str())
            .collect();
        write!(
            f,
            "{:34} {variant:5} {:24} {:10} {mark:9} {} | {} | {}",
            self.name,
            self.truth,
            self.judged.said.limit,
            self.judged.amiss,
            self.judged.said.headline,
            codes.join(" "),
        )
    }
}

/// All lines so far; also written to a file if results are stored.
pub(crate) struct Table {
    rows: Vec<Row>,
    file: Option<PathBuf>,
}

impl Table {
    /// An empty table, stored in a folder.
    pub(crate) fn new(keep: Option<&Path>) -> Table {
        Table {
            rows: Vec::new(),
            file: keep.map(|folder| folder.join("table.txt")),
        }
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, row: Row) -> Result<(), String> {
        self.rows.push(row);
        let Some(file) = &self.file else {
            return Ok(());
        };
        let lines: String = self.rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(file, format!("{lines}{self}\n"))
            .map_err(|why| format!("{}: {why}", file.display()))
    }

    /// Whether enough were right and few enough wrong.
    pub(crate) fn is_good(&self) -> bool {
        let all = self.rows.len() - self.number(Mark::NotStaged);
        self.number(Mark::Right) * 100 >= RIGHT_MIN_PERCENT * all
            && self.number(Mark::Wrong) * 100 <= WRONG_MAX_PERCENT * all
    }

    fn number(&self, mark: Mark) -> usize {
        self.of(mark, None)
    }

    fn of(&self, mark: Mark, busy: Option<bool>) -> usize {
        let is_one =
            |row: &&Row| row.judged.mark == mark && busy.is_none_or(|busy| busy == row.busy);
        self.rows.iter().filter(is_one).count()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, busy) in [("quiet", Some(false)), ("busy", Some(true)), ("both", None)] {
            let marks = [
                Mark::Right,
                Mark::Wrong,
                Mark::Unknown,
                Mark::Silent,
                Mark::NotStaged,
            ];
            let [right, wrong, unknown, silent, skipped] = marks.map(|mark| self.of(mark, busy));
            let all = right + wrong + unknown + silent;
            writeln!(
                f,
                "{name:5}: {right} of {all} right, {wrong} wrong, {unknown} unknown, {silent} silent; {skipped} not staged"
            )?;
        }
        Ok(())
    }
}
