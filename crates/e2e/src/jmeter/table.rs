//! Rows of a results file in CSV, by column, without the parts that depend on time.
//!
//! Must not know which plan made them. Invariant: a file that is not such a table is reported as such, without
//! guessing.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Columns that depend on time.
const TIMES: [&str; 7] = [
    "timeStamp",
    "elapsed",
    "Latency",
    "IdleTime",
    "Connect",
    "grpThreads",
    "allThreads",
];

/// The header of a results file, and its rows without times.
pub(super) struct Table {
    /// The first line.
    pub(super) header: String,
    /// Each row by column.
    pub(super) rows: Vec<Map<String, Value>>,
}

/// Reads a results file; `None`: it is not CSV with column names.
pub(super) fn read(text: &str) -> Option<Table> {
    let header = text.lines().next()?.to_owned();
    let delimiter = header.chars().find(|c| !c.is_alphanumeric())?;
    let mut records = records(text, delimiter).into_iter();
    let names = records.next()?;
    if !names.iter().any(|name| name == "label") {
        return None;
    }
    let rows = records.map(|record| row(&names, record));
    Some(Table {
        header,
        rows: rows.collect(),
    })
}

impl Table {
    /// Removes columns.
    pub(super) fn remove(&mut self, columns: &[&str]) {
        for row in &mut self.rows {
            row.retain(|name, _| !columns.contains(&name.as_str()));
        }
    }

    /// The rows of each thread, in their order.
    pub(super) fn threads(self) -> BTreeMap<String, Vec<Value>> {
        let mut threads: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for mut row in self.rows {
            let name = row.remove("threadName");
            let name = name.and_then(|name| Some(name.as_str()?.to_owned()));
            threads
                .entry(name.unwrap_or_default())
                .or_default()
                .push(Value::Object(row));
        }
        threads
    }

    /// The distinct rows of each group; the numbers of threads and rows are ignored.
    pub(super) fn groups(self) -> BTreeMap<String, Vec<Value>> {
        let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (thread, rows) in self.threads() {
            let name = thread.rsplit_once('-').map_or("", |(group, _)| group);
            let group = groups.entry(format!("{name}-{{n}}")).or_default();
            group.extend(rows);
            group.sort_by_key(Value::to_string);
            group.dedup();
        }
        groups
    }
}

fn row(names: &[String], record: Vec<String>) -> Map<String, Value> {
    let surplus = record.len().saturating_sub(names.len());
    let mut row: Map<String, Value> = names
        .iter()
        .cloned()
        .zip(record.into_iter().map(Value::from))
        .collect();
    if surplus > 0 {
        row.insert("surplus columns".to_owned(), surplus.into());
    }
    row.retain(|name, _| !TIMES.contains(&name.as_str()));
    // The data of such a row is a stack trace.
    let code = row
        .get("responseCode")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if code.starts_with("Non HTTP response code") {
        row.remove("bytes");
    }
    row
}

fn records(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let record = records.last_mut().expect("it starts with one");
        let field = record.last_mut().expect("a record starts with a field");
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => is_quoted = !is_quoted,
            '\n' if !is_quoted => records.push(vec![String::new()]),
            c if c == delimiter && !is_quoted => record.push(String::new()),
            c => field.push(c),
        }
    }
    if records.last().is_some_and(|last| *last == [""]) {
        records.pop();
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_are_one() {
        let table = read("timeStamp,label,threadName,\"a\"\n1,\"x,\"\"y\"\"\nz\",T 1-1,3\n");
        let table = table.expect("it is a table");
        assert_eq!(table.header, "timeStamp,label,threadName,\"a\"");
        let threads = table.threads();
        let row = &threads["T 1-1"][0];
        assert_eq!(row["label"], "x,\"y\"\nz");
        assert_eq!(row["a"], "3");
        assert!(row.get("timeStamp").is_none());
    }

    #[test]
    fn numbers_of_threads_can_be_chance() {
        let text = "label,threadName\na,T 1-1\na,T 1-2\nb,T 1-2\n";
        let groups = read(text).expect("it is a table").groups();
        assert_eq!(groups["T 1-{n}"].len(), 2);
    }

    #[test]
    fn other_files_are_no_table() {
        assert!(read("<?xml version=\"1.0\"?>\n").is_none());
        assert!(read("").is_none());
        assert!(read("1795,3,ok\n").is_none());
    }
}
