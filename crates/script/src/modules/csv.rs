//! `k6/experimental/csv`: rows of a file, one by one or as a shared array.
//!
//! Must not know where files come from. Invariant: all virtual users of the process share the rows that `parse`
//! read from a file with the same options.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use rquickjs::{Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use serde_json::Value as Json;

use super::data::{self, SharedArray};
use super::files::Contents;
use super::held::Held;
use crate::csv_record::{CsvFault, Record, RecordReader};
use crate::go_error;
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/experimental/csv",
    body: Body::Script {
        text: include_str!("csv.js"),
        natives,
    },
};

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    go_error::add_to(&natives)?;
    natives.set("reader", Function::new(ctx.clone(), reader)?)?;
    natives.set("rows", Function::new(ctx.clone(), rows)?)?;
    Ok(natives)
}

/// A script's options for a file's rows.
struct Options {
    delimiter: u8,
    skips_first: bool,
    /// The first line to read, from zero.
    first: Option<i64>,
    /// The last line to read, from zero; zero reads all.
    last: Option<i64>,
    as_objects: bool,
}

impl Options {
    fn read(given: &Object<'_>) -> Result<Options> {
        Ok(Options {
            delimiter: given.get("delimiter")?,
            skips_first: given.get("skipFirstLine")?,
            first: given
                .get::<_, Option<f64>>("fromLine")?
                .map(|line| line as i64),
            last: given
                .get::<_, Option<f64>>("toLine")?
                .map(|line| line as i64),
            as_objects: given.get("asObjects")?,
        })
    }

    /// Checks for invalid combinations; the error is in k6's words.
    fn check(&self) -> std::result::Result<(), String> {
        let first = self.first.unwrap_or_default();
        if self.as_objects && self.skips_first {
            return Err(
                "the 'header' option cannot be enabled when 'skipFirstLine' is true".to_owned(),
            );
        }
        if self.as_objects && first > 0 {
            return Err("the 'header' option cannot be enabled when 'fromLine' is set to a value greater than 0".to_owned());
        }
        for (name, line) in [("fromLine", self.first), ("toLine", self.last)] {
            if let Some(line @ ..0) = line {
                return Err(format!(
                    "the '{name}' option must be greater than or equal to 0; got {line}"
                ));
            }
        }
        Ok(())
    }
}

/// The selected rows of a file.
struct Rows {
    bytes: Bytes,
    records: RecordReader,
    /// Column names, if rows are objects.
    columns: Option<Record>,
    /// Records read.
    line: i64,
    last: Option<i64>,
}

/// A row.
enum Row {
    Fields(Record),
    Object(BTreeMap<String, String>),
}

impl Rows {
    fn new(bytes: Bytes, offset: usize, options: &Options) -> std::result::Result<Rows, String> {
        options.check()?;
        let mut rows = Rows {
            bytes,
            records: RecordReader::new(options.delimiter, offset),
            columns: None,
            line: 0,
            last: options.last.filter(|last| *last > 0),
        };
        if options.as_objects {
            rows.columns = Some(rows.skipped("failed to read the first line")?);
        }
        let first = options.first.unwrap_or_default();
        if options.skips_first && first == 0 {
            rows.skipped("failed to skip the first line")?;
        }
        while rows.line < first {
            rows.skipped(&format!("failed to skip lines until line {first}"))?;
        }
        Ok(rows)
    }

    fn skipped(&mut self, what: &str) -> std::result::Result<Record, String> {
        let why = match self.record() {
            Ok(Some(record)) => return Ok(record),
            Ok(None) => "EOF".to_owned(),
            Err(fault) => fault.to_string(),
        };
        Err(format!("{what}; reason: {why}"))
    }

    fn record(&mut self) -> std::result::Result<Option<Record>, CsvFault> {
        let record = self.records.next(&self.bytes)?;
        self.line += 1;
        Ok(record)
    }

    fn next(&mut self) -> std::result::Result<Option<Row>, CsvFault> {
        if self.last.is_some_and(|last| self.line > last) {
            return Ok(None);
        }
        let record = self.record()?;
        Ok(record.map(|record| match &self.columns {
            None => Row::Fields(record),
            Some(columns) => Row::Object(columns.iter().cloned().zip(record).collect()),
        }))
    }
}

impl<'js> IntoJs<'js> for Row {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Row::Fields(fields) => fields.into_js(ctx),
            Row::Object(fields) => {
                let object = Object::new(ctx.clone())?;
                for (name, value) in fields {
                    object.set(name, value)?;
                }
                Ok(object.into_value())
            }
        }
    }
}

impl Row {
    fn json(self) -> Json {
        match self {
            Row::Fields(fields) => Json::from(fields),
            Row::Object(fields) => fields.into_iter().collect(),
        }
    }
}

/// A function that returns a row per call; `null` at the end.
fn reader<'js>(
    ctx: Ctx<'js>,
    contents: Class<'js, Held<Contents>>,
    offset: usize,
    options: Object<'js>,
) -> Result<Function<'js>> {
    let rows = begun(&ctx, &contents, offset, &options)?;
    let rows = RefCell::new(rows);
    let next = move |ctx: Ctx<'js>| -> Result<Option<Row>> {
        let row = rows.borrow_mut().next();
        row.map_err(|fault| Exception::throw_message(&ctx, &fault.to_string()))
    };
    Function::new(ctx, next)
}

/// All rows as a shared array: the existing one of this key, or a new one.
fn rows<'js>(
    ctx: Ctx<'js>,
    key: String,
    contents: Class<'js, Held<Contents>>,
    offset: usize,
    options: Object<'js>,
) -> Result<Object<'js>> {
    let shared = &state(&ctx).program.shared_arrays;
    let mut rows = begun(&ctx, &contents, offset, &options)?;
    let array = match shared.find(&key) {
        Some(array) => array,
        None => {
            let mut array = SharedArray::default();
            loop {
                match rows.next() {
                    Ok(Some(row)) => array.push(&row.json().to_string()),
                    Ok(None) => break shared.keep(&key, array),
                    Err(fault) => {
                        let why = format!("failed to read record; reason: {fault}");
                        return Err(Exception::throw_message(&ctx, &why));
                    }
                }
            }
        }
    };
    data::view(&ctx, array)
}

fn begun<'js>(
    ctx: &Ctx<'js>,
    contents: &Class<'js, Held<Contents>>,
    offset: usize,
    options: &Object<'js>,
) -> Result<Rows> {
    let rows = Rows::new(
        contents.borrow().0.bytes(),
        offset,
        &Options::read(options)?,
    );
    rows.map_err(|why| {
        let why = format!("failed to create a new parser; reason: {why}");
        Exception::throw_message(ctx, &why)
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn rows_are_read_one_by_one_and_shared() {
        let script = r#"import { open } from "k6/experimental/fs";
            import csv from "k6/experimental/csv";
            const file = () => open("a.csv");
            const parser = new csv.Parser(await file(), { skipFirstLine: true, toLine: 1 });
            const all = await csv.parse(await file(), { asObjects: true });
            const same = await csv.parse(await file(), { asObjects: true });
            const refused = [];
            for (const f of [() => csv.parse("x"), () => csv.Parser(null), async () => csv.parse(await file(), { fromLine: 2, toLine: 1 })]) {
                try { await f(); } catch (e) { refused.push(String(e)); }
            }
            export default async function () {
                console.log(JSON.stringify(await parser.next()), JSON.stringify(await parser.next()));
                console.log(JSON.stringify(all), Array.isArray(same), same.length, Object.isFrozen(all[0]));
                refused.forEach((text) => console.log(text));
            }"#;
        let text = "name,age\nann,1\n\"b,c\",2\n";
        let log = Rehearsal::new(script).file("a.csv", text).run().log();
        let told = [
            r#"{"done":false,"value":["ann","1"]} {"done":true,"value":[]}"#,
            r#"[{"age":"1","name":"ann"},{"age":"2","name":"b,c"}] true 2 true"#,
            "GoError: first argument expected to be a fs.File instance, got string instead",
            "GoError: csv Parser constructor takes at least one non-nil source argument",
            "GoError: failed to interpret the provided Parser options; reason: fromLine must be less than or equal to toLine",
        ];
        assert_eq!(log, told.map(|line| format!("info {line} source=console")));
    }
}
