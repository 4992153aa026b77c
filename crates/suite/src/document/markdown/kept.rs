//! What people wrote into a table that is written again and again.
//!
//! Above the table stands a comment with the rows' identities in order, which cells of each held a value of ours, and a
//! digest of those. By it a line is known again when people sort lines, add some or change a cell. Kept are: cells of
//! columns that people fill, cells in which we had no value and something else than our blank stands, and lines that
//! are none of ours, which follow at the end. A value of ours always wins over what stands there. A table without the
//! comment (one that people typed before the markers were set) is known by the cells that no run fills.
//!
//! Must not know rows' values. Invariant: what is kept is kept in the next writing too.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

const BEGIN: &str = "<!-- loadline:rows ";
const END: &str = " -->";

/// What the comment says, as it is written.
#[derive(Default, Serialize, Deserialize)]
struct Remembered {
    /// Title and blank of each column.
    columns: Vec<(String, String)>,
    /// Identity, `v` or `.` for each cell, digest of the `v` cells.
    rows: Vec<(String, String, String)>,
}

/// The comment being written.
pub(super) struct Memo(Remembered);

impl Memo {
    pub(super) fn new(titles: &[String], blanks: &[String]) -> Memo {
        Memo(Remembered {
            columns: titles.iter().cloned().zip(blanks.iter().cloned()).collect(),
            rows: Vec::new(),
        })
    }

    /// A row with the cells that were filled for it, before anybody's are put beside them.
    pub(super) fn add(&mut self, id: &str, cells: &[String], filled: &[bool]) {
        let flags: String = filled
            .iter()
            .map(|filled| if *filled { 'v' } else { '.' })
            .collect();
        let digest = digest(cells.iter().map(String::as_str), &flags);
        self.0.rows.push((id.to_owned(), flags, digest));
    }

    /// As one line.
    pub(super) fn finish(self) -> String {
        let json = serde_json::to_string(&self.0).expect("texts and lists of texts are data");
        // Neither the end of a comment nor a double dash may stand in one.
        let json = json
            .replace("--", "-\\u002d")
            .replace('>', "\\u003e")
            .replace("--", "-\\u002d");
        format!("{BEGIN}{json}{END}\n")
    }
}

/// The lines of a table that was there.
#[derive(Default)]
pub(super) struct Kept<'a> {
    lines: Vec<Line<'a>>,
    /// For each column that is to be written: where it stood, and its blank then.
    columns: Vec<Option<(usize, String)>>,
    by_id: HashMap<String, (usize, String)>,
    /// Without a comment: lines by the cells that no run fills.
    by_facts: HashMap<String, VecDeque<usize>>,
    is_fact: Vec<bool>,
}

struct Line<'a> {
    raw: &'a str,
    cells: Vec<&'a str>,
    /// It is a row of ours.
    is_ours: bool,
    /// It was written again.
    is_used: bool,
}

impl<'a> Kept<'a> {
    /// Reads what stands in a block; titles and blanks are those of the columns that are to be written.
    pub(super) fn read(
        body: &'a str,
        titles: &[String],
        blanks: &[String],
        is_fact: &[bool],
    ) -> Kept<'a> {
        let mut table = body
            .lines()
            .skip_while(|line| !line.trim_start().starts_with('|'));
        let Some(header) = table.next() else {
            return Kept::default();
        };
        let header = cells_of(header);
        let lines = table
            .skip(1)
            .take_while(|line| line.trim_start().starts_with('|'));
        let mut kept = Kept {
            lines: lines
                .map(|raw| Line {
                    raw: raw.trim_end(),
                    cells: cells_of(raw),
                    is_ours: false,
                    is_used: false,
                })
                .collect(),
            is_fact: is_fact.to_vec(),
            ..Kept::default()
        };
        match remembered(body) {
            Some(memo) => {
                let place =
                    |title: &String| memo.columns.iter().position(|(known, _)| known == title);
                let column = |title| place(title).map(|at| (at, memo.columns[at].1.clone()));
                kept.columns = titles.iter().map(column).collect();
                kept.pair(memo.rows);
            }
            None => {
                let place = |title: &String| header.iter().position(|known| known == title);
                let columns = titles.iter().zip(blanks);
                kept.columns = columns
                    .map(|(title, blank)| place(title).map(|at| (at, blank.clone())))
                    .collect();
                kept.index_facts();
            }
        }
        kept
    }

    /// Finds each remembered row's line: where it was, else by its digest, else in what is left, if that is as much.
    fn pair(&mut self, rows: Vec<(String, String, String)>) {
        let mut left = Vec::new();
        for (n, row) in rows.into_iter().enumerate() {
            match self.lines.get(n) {
                Some(line) if digest(line.cells.iter().copied(), &row.1) == row.2 => {
                    self.claim(n, row);
                }
                _ => left.push(row),
            }
        }
        // By which cells were filled, and by what they held.
        let mut known: HashMap<String, HashMap<String, Vec<usize>>> = HashMap::new();
        let mut lost = Vec::new();
        for row in left {
            let free = known.entry(row.1.clone()).or_insert_with(|| {
                let mut by_digest: HashMap<String, Vec<usize>> = HashMap::new();
                for (n, line) in self.lines.iter().enumerate().rev() {
                    let digest = digest(line.cells.iter().copied(), &row.1);
                    by_digest.entry(digest).or_default().push(n);
                }
                by_digest
            });
            let mut found = None;
            if row.1.contains('v') {
                let candidates = free.get_mut(&row.2);
                found = candidates.and_then(|lines| {
                    loop {
                        match lines.pop() {
                            Some(n) if self.lines[n].is_ours => {}
                            found => break found,
                        }
                    }
                });
            }
            match found {
                Some(n) => self.claim(n, row),
                None => lost.push(row),
            }
        }
        let free: Vec<usize> = (0..self.lines.len())
            .filter(|n| !self.lines[*n].is_ours)
            .collect();
        if free.len() == lost.len() {
            for (n, row) in free.into_iter().zip(lost) {
                self.claim(n, row);
            }
        }
    }

    fn claim(&mut self, line: usize, row: (String, String, String)) {
        self.lines[line].is_ours = true;
        self.by_id.insert(row.0, (line, row.1));
    }

    fn index_facts(&mut self) {
        for (n, line) in self.lines.iter().enumerate() {
            let facts = self
                .columns
                .iter()
                .zip(&self.is_fact)
                .filter(|(_, is_fact)| **is_fact);
            let cells = facts.map(|(column, _)| {
                let at = column.as_ref().map(|(at, _)| *at);
                at.and_then(|at| line.cells.get(at)).copied().unwrap_or("")
            });
            if let Some(key) = key(cells) {
                self.by_facts.entry(key).or_default().push_back(n);
            }
        }
    }

    /// Puts into a row's cells that were not filled what people wrote there.
    pub(super) fn put(&mut self, id: &str, cells: &mut [String], filled: &[bool]) {
        if self.lines.is_empty() {
            return;
        }
        let known = self.by_id.get(id).cloned().or_else(|| {
            let facts = cells
                .iter()
                .zip(&self.is_fact)
                .filter(|(_, is_fact)| **is_fact);
            let key = key(facts.map(|(cell, _)| cell.as_str()))?;
            let line = self.by_facts.get_mut(&key)?.pop_front()?;
            Some((line, String::new()))
        });
        let Some((line, flags)) = known else {
            return;
        };
        let line = &mut self.lines[line];
        line.is_ours = true;
        line.is_used = true;
        let targets = cells.iter_mut().zip(filled).zip(&self.columns);
        for ((cell, filled), column) in targets {
            let Some((at, blank)) = column else { continue };
            let was_ours = flags.as_bytes().get(*at) == Some(&b'v');
            let written = line.cells.get(*at).copied().unwrap_or("");
            if !*filled && !was_ours && !written.is_empty() && written != blank {
                written.clone_into(cell);
            }
        }
    }

    /// Lines that are none of ours.
    pub(super) fn extra_lines(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().filter(|line| !line.is_ours);
        lines.map(|line| line.raw)
    }

    /// Says which rows went that people had written into.
    pub(super) fn tell_lost(&self, block: &str, remarks: &mut Vec<String>) {
        let lost: BTreeMap<&String, &(usize, String)> = self
            .by_id
            .iter()
            .filter(|(_, (line, _))| !self.lines[*line].is_used)
            .collect();
        for (id, (line, flags)) in lost {
            let cells = self.lines[*line].cells.iter().enumerate();
            let is_theirs = |(at, cell): (usize, &&str)| {
                let mut blanks = self
                    .columns
                    .iter()
                    .flatten()
                    .filter(|(place, _)| *place == at);
                let is_blank = cell.is_empty() || blanks.any(|(_, blank)| blank == cell);
                flags.as_bytes().get(at) != Some(&b'v') && !is_blank
            };
            let mut theirs = cells.clone().filter(|(at, cell)| is_theirs((*at, cell)));
            if let Some((_, first)) = theirs.next() {
                remarks.push(format!(
                    "block `{block}`: the row {id} is gone, and with it what was written into it by hand (`{first}`)"
                ));
            }
        }
    }
}

fn remembered(body: &str) -> Option<Remembered> {
    let line = body
        .lines()
        .find(|line| line.trim_start().starts_with(BEGIN))?;
    let json = line.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    serde_json::from_str(json).ok()
}

/// `None` where no cell says anything.
fn key<'c>(cells: impl Iterator<Item = &'c str>) -> Option<String> {
    let mut out = String::new();
    let mut is_empty = true;
    for cell in cells {
        is_empty &= cell.is_empty();
        out.push_str(cell);
        out.push('|');
    }
    (!is_empty).then_some(out)
}

/// Of the cells that are flagged as ours (FNV-1a, 64 bits; G. Fowler, L. C. Noll, K.-P. Vo).
fn digest<'c>(cells: impl Iterator<Item = &'c str>, flags: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (cell, flag) in cells.zip(flags.bytes()) {
        if flag == b'v' {
            for byte in cell.bytes().chain([0xff]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    format!("{hash:016x}")
}

/// The cells of a line, trimmed; a bar behind a backslash is part of a cell.
fn cells_of(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let mut begin = 0;
    let mut is_escaped = false;
    for (at, b) in line.bytes().enumerate() {
        match b {
            b'|' if !is_escaped => {
                cells.push(line[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        is_escaped = b == b'\\' && !is_escaped;
    }
    let last = line[begin..].trim();
    // Behind the last bar stands nothing, or a cell whose bar is missing.
    if !last.is_empty() {
        cells.push(last);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_in_cells_are_no_ends() {
        assert_eq!(cells_of("| a \\| b | c\\\\|  |"), ["a \\| b", "c\\\\", ""]);
        assert_eq!(cells_of("a|b"), ["a", "b"]);
    }

    #[test]
    fn the_comment_ends_where_it_should_and_is_read_again() {
        let mut memo = Memo::new(&["a-->b".to_owned()], &["---".to_owned()]);
        memo.add("x-->--y", &["1".to_owned()], &[true]);
        let line = memo.finish();
        let inner = line
            .trim_end()
            .strip_prefix("<!--")
            .and_then(|rest| rest.strip_suffix("-->"));
        let inner = inner.expect("a comment");
        assert!(!inner.contains("--") && !inner.contains('>'), "{inner}");
        let read = remembered(&line).expect("a comment");
        assert_eq!(read.columns[0], ("a-->b".to_owned(), "---".to_owned()));
        assert_eq!(read.rows[0].0, "x-->--y");
        assert_eq!(read.rows[0].1, "v");
    }
}
