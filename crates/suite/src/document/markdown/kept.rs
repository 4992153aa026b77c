//! Keeps hand-written text in a table that is rewritten.
//!
//! Above the table stands a comment with the rows' identities in order, which cells of each held a value of ours, and a
//! digest of those. It identifies a line even if people sort lines, add some or change a cell. Kept are: cells of
//! columns that people fill, cells in which we had no value and something else than our blank stands, and lines that
//! are none of ours, which follow at the end. A value of ours always wins over what stands there. A table without the
//! comment (one that people typed before the markers were set) is known by the cells that no run fills.
//!
//! Must not know rows' values. Invariant: what is kept is kept in the next writing too.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use loadline_model::fnv::fnv1a;
use serde::Deserialize;

use super::escape::unescaped;

const BEGIN: &str = "<!-- loadline:rows ";
const END: &str = " -->";

/// The content of the comment.
#[derive(Deserialize)]
struct Remembered<'a> {
    /// Title and blank of each column.
    columns: Vec<(String, String)>,
    #[serde(borrow)]
    rows: Vec<RememberedRow<'a>>,
}

/// Identity, `v` or `.` for each cell, digest of the `v` cells.
#[derive(Deserialize)]
struct RememberedRow<'a>(
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Cow<'a, str>,
);

/// The comment being written: a million rows are a line of text from the first.
pub(super) struct Memo {
    line: String,
    has_rows: bool,
}

impl Memo {
    pub(super) fn new(titles: &[String], blanks: &[String]) -> Memo {
        let columns: Vec<(&String, &String)> = titles.iter().zip(blanks).collect();
        let mut line = format!("{BEGIN}{{\"columns\":");
        push_json(&columns, &mut line);
        line.push_str(",\"rows\":[");
        Memo {
            line,
            has_rows: false,
        }
    }

    /// A row with its computed cells, before hand-written ones are added.
    pub(super) fn add<T: AsRef<str>>(&mut self, id: &str, cells: &[T], filled: &[bool]) {
        if std::mem::replace(&mut self.has_rows, true) {
            self.line.push(',');
        }
        self.line.push('[');
        push_text(id, &mut self.line);
        self.line.push_str(",\"");
        let flags = filled.iter().map(|filled| if *filled { 'v' } else { '.' });
        self.line.extend(flags);
        self.line.push_str("\",\"");
        let ours = cells.iter().zip(filled).filter(|(_, filled)| **filled);
        push_hex(digest(ours.map(|(cell, _)| cell.as_ref())), &mut self.line);
        self.line.push_str("\"]");
    }

    /// As one line.
    pub(super) fn finish(mut self) -> String {
        self.line.push_str("]}");
        self.line.push_str(END);
        self.line.push('\n');
        self.line
    }
}

fn push_text(text: &str, out: &mut String) {
    let is_plain = |b: u8| b >= b' ' && !matches!(b, b'"' | b'\\' | b'>' | 0x7f..);
    if text.bytes().all(is_plain) && !text.contains("--") {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        push_json(&text, out);
    }
}

/// A comment must not contain its own end or a double dash.
fn push_json(value: &impl serde::Serialize, out: &mut String) {
    let json = serde_json::to_string(value).expect("texts and lists of texts are data");
    let json = json
        .replace("--", "-\\u002d")
        .replace('>', "\\u003e")
        .replace("--", "-\\u002d");
    out.push_str(&json);
}

/// Sixteen digits.
fn push_hex(value: u64, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = (0..16).rev().map(|n| (value >> (4 * n)) & 15);
    out.extend(digits.map(|digit| char::from(DIGITS[digit as usize])));
}

/// The lines of a table that was there.
#[derive(Default)]
pub(super) struct KeptTable<'a> {
    lines: Vec<KeptLine<'a>>,
    /// For each column to write: its former position, and its former blank.
    columns: Vec<Option<(usize, String)>>,
    /// The remembered rows in their order.
    rows: Vec<KnownRow<'a>>,
    /// The remembered row that is looked for next: mostly they come as they were.
    next: usize,
    /// Where each remembered row is; made when they do not.
    by_id: Option<HashMap<Cow<'a, str>, usize>>,
    /// Without a comment: lines by the cells that no run fills.
    by_facts: HashMap<String, VecDeque<usize>>,
    is_fact: Vec<bool>,
}

struct KeptLine<'a> {
    raw: &'a str,
    /// It is a row of ours.
    is_ours: bool,
    /// It was written again.
    is_used: bool,
}

struct KnownRow<'a> {
    id: Cow<'a, str>,
    flags: Cow<'a, str>,
    digest: Option<u64>,
    /// Its current position; `None`: it was removed, or changed too much to be recognized.
    line: Option<usize>,
}

impl<'a> KeptTable<'a> {
    /// Reads the content of a block; titles and blanks are those of the columns to write.
    pub(super) fn read(
        body: &'a str,
        titles: &[String],
        blanks: &[String],
        is_fact: &[bool],
    ) -> KeptTable<'a> {
        let mut table = body
            .lines()
            .skip_while(|line| !line.trim_start().starts_with('|'));
        let Some(header) = table.next() else {
            return KeptTable::default();
        };
        let header: Vec<&str> = cells_of(header).collect();
        let lines = table
            .skip(1)
            .take_while(|line| line.trim_start().starts_with('|'));
        let mut kept = KeptTable {
            lines: lines
                .map(|raw| KeptLine {
                    raw: raw.trim_end(),
                    is_ours: false,
                    is_used: false,
                })
                .collect(),
            is_fact: is_fact.to_vec(),
            ..KeptTable::default()
        };
        match remembered(body) {
            Some(memo) => {
                let place = |title: &String| {
                    let mut known = memo.columns.iter();
                    known.position(|(known, _)| unescaped(known) == unescaped(title))
                };
                let column = |title| place(title).map(|at| (at, memo.columns[at].1.clone()));
                kept.columns = titles.iter().map(column).collect();
                kept.rows = memo.rows.into_iter().map(KnownRow::of).collect();
                kept.pair();
            }
            None => {
                let place = |title: &String| {
                    let mut known = header.iter();
                    known.position(|known| unescaped(known) == unescaped(title))
                };
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
    fn pair(&mut self) {
        let mut left = Vec::new();
        for n in 0..self.rows.len() {
            match self.lines.get(n) {
                Some(line) if self.rows[n].is(line.raw) => self.claim(n, n),
                _ => left.push(n),
            }
        }
        let mut lost = Vec::new();
        // By which cells were filled, and by what they held.
        let mut known: HashMap<String, HashMap<u64, Vec<usize>>> = HashMap::new();
        for row in left {
            let flags = self.rows[row].flags.as_ref();
            let free = known
                .entry(flags.to_owned())
                .or_insert_with(|| by_digest(&self.lines, flags));
            let digest = self.rows[row].digest.filter(|_| flags.contains('v'));
            let candidates = digest.and_then(|digest| free.get_mut(&digest));
            let found = candidates.and_then(|lines| {
                loop {
                    match lines.pop() {
                        Some(n) if self.lines[n].is_ours => {}
                        found => break found,
                    }
                }
            });
            match found {
                Some(line) => self.claim(line, row),
                None => lost.push(row),
            }
        }
        let free: Vec<usize> = (0..self.lines.len())
            .filter(|n| !self.lines[*n].is_ours)
            .collect();
        if free.len() == lost.len() {
            for (line, row) in free.into_iter().zip(lost) {
                self.claim(line, row);
            }
        }
    }

    fn claim(&mut self, line: usize, row: usize) {
        self.lines[line].is_ours = true;
        self.rows[row].line = Some(line);
    }

    /// Which remembered row this is.
    fn row_of(&mut self, id: &str) -> Option<usize> {
        if self.rows.get(self.next).is_some_and(|row| row.id == id) {
            self.next += 1;
            return Some(self.next - 1);
        }
        let rows = &self.rows;
        let by_id = self.by_id.get_or_insert_with(|| {
            let places = rows.iter().enumerate();
            places.map(|(n, row)| (row.id.clone(), n)).collect()
        });
        let found = by_id.get(id).copied();
        self.next = found.map_or(self.next, |found| found + 1);
        found
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
                at.and_then(|at| cells_of(line.raw).nth(at)).unwrap_or("")
            });
            if let Some(key) = key(cells) {
                self.by_facts.entry(key).or_default().push_back(n);
            }
        }
    }

    /// Puts into a row's cells that were not filled what people wrote there.
    pub(super) fn put(&mut self, id: &str, cells: &mut [Cow<'_, str>], filled: &[bool]) {
        if self.lines.is_empty() {
            return;
        }
        let row = self.row_of(id);
        let known = row.and_then(|row| self.rows[row].line).or_else(|| {
            let facts = cells
                .iter()
                .zip(&self.is_fact)
                .filter(|(_, is_fact)| **is_fact);
            let key = key(facts.map(|(cell, _)| cell.as_ref()))?;
            self.by_facts.get_mut(&key)?.pop_front()
        });
        let Some(line) = known else {
            return;
        };
        let line = &mut self.lines[line];
        line.is_ours = true;
        line.is_used = true;
        if filled.iter().all(|filled| *filled) {
            return;
        }
        let flags = row.map_or("", |row| self.rows[row].flags.as_ref());
        let there: Vec<&str> = cells_of(line.raw).collect();
        let targets = cells.iter_mut().zip(filled).zip(&self.columns);
        for ((cell, filled), column) in targets {
            let Some((at, blank)) = column else { continue };
            let was_ours = flags.as_bytes().get(*at) == Some(&b'v');
            let written = there.get(*at).copied().unwrap_or("");
            if !*filled && !was_ours && !written.is_empty() && written != blank {
                *cell = Cow::Owned(written.to_owned());
            }
        }
    }

    /// Lines that are none of ours.
    pub(super) fn extra_lines(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().filter(|line| !line.is_ours);
        lines.map(|line| line.raw)
    }

    /// Reports removed rows with hand-written text.
    pub(super) fn tell_lost(&self, block: &str, remarks: &mut Vec<String>) {
        let lost: BTreeMap<&str, (usize, &str)> = self
            .rows
            .iter()
            .filter_map(|row| Some((row.id.as_ref(), (row.line?, row.flags.as_ref()))))
            .filter(|(_, (line, _))| !self.lines[*line].is_used)
            .collect();
        for (id, (line, flags)) in lost {
            let cells = cells_of(self.lines[line].raw).enumerate();
            let is_theirs = |(at, cell): &(usize, &str)| {
                let mut blanks = self
                    .columns
                    .iter()
                    .flatten()
                    .filter(|(place, _)| place == at);
                let is_blank = cell.is_empty() || blanks.any(|(_, blank)| blank == cell);
                flags.as_bytes().get(*at) != Some(&b'v') && !is_blank
            };
            if let Some((_, first)) = cells.clone().find(is_theirs) {
                remarks.push(format!(
                    "block `{block}`: the row {id} is gone, and with it the text written by hand (`{first}`)"
                ));
            }
        }
    }
}

impl<'a> KnownRow<'a> {
    fn of(RememberedRow(id, flags, digest): RememberedRow<'a>) -> KnownRow<'a> {
        KnownRow {
            id,
            flags,
            digest: u64::from_str_radix(&digest, 16).ok(),
            line: None,
        }
    }

    /// Whether a line holds what was written for it.
    fn is(&self, line: &str) -> bool {
        self.digest == Some(digest(ours_of(line, &self.flags)))
    }
}

/// Lines by the digest of the cells that are flagged as ours, each list from the last to the first.
fn by_digest(lines: &[KeptLine<'_>], flags: &str) -> HashMap<u64, Vec<usize>> {
    let mut found: HashMap<u64, Vec<usize>> = HashMap::new();
    for (n, line) in lines.iter().enumerate().rev() {
        let digest = digest(ours_of(line.raw, flags));
        found.entry(digest).or_default().push(n);
    }
    found
}

fn remembered(body: &str) -> Option<Remembered<'_>> {
    let line = body
        .lines()
        .find(|line| line.trim_start().starts_with(BEGIN))?;
    let json = line.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    serde_json::from_str(json).ok()
}

/// `None` if no cell has a value.
fn key<'c>(cells: impl Iterator<Item = &'c str>) -> Option<String> {
    let mut out = String::new();
    let mut is_empty = true;
    for cell in cells {
        is_empty &= cell.is_empty();
        out.push_str(&unescaped(cell));
        out.push('|');
    }
    (!is_empty).then_some(out)
}

/// The cells of a line that are flagged as ours.
fn ours_of<'l>(line: &'l str, flags: &'l str) -> impl Iterator<Item = &'l str> {
    let cells = cells_of(line).zip(flags.bytes());
    cells.filter_map(|(cell, flag)| (flag == b'v').then_some(cell))
}

/// The hash of cells, each ended by a byte that no text holds.
fn digest<'c>(cells: impl Iterator<Item = &'c str>) -> u64 {
    fnv1a(cells.flat_map(|cell| cell.bytes().chain([0xff])))
}

/// The cells of a line, trimmed; a bar behind a backslash is part of a cell.
fn cells_of(line: &str) -> Cells<'_> {
    let line = line.trim();
    Cells {
        rest: line.strip_prefix('|').unwrap_or(line),
    }
}

#[derive(Clone)]
struct Cells<'l> {
    rest: &'l str,
}

impl<'l> Iterator for Cells<'l> {
    type Item = &'l str;

    fn next(&mut self) -> Option<&'l str> {
        let mut is_escaped = false;
        let end = self.rest.bytes().position(|b| {
            let is_end = b == b'|' && !is_escaped;
            is_escaped = b == b'\\' && !is_escaped;
            is_end
        });
        let cell = match end {
            Some(end) => {
                let cell = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                return Some(cell.trim());
            }
            None => std::mem::take(&mut self.rest).trim(),
        };
        // After the last bar comes nothing, or a cell without its bar.
        (!cell.is_empty()).then_some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_in_cells_are_no_ends() {
        let cells = |line| cells_of(line).collect::<Vec<_>>();
        assert_eq!(cells("| a \\| b | c\\\\|  |"), ["a \\| b", "c\\\\", ""]);
        assert_eq!(cells("a|b"), ["a", "b"]);
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
