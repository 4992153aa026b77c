//! Any bytes as records of comma-separated values.
//!
//! Invariants checked: reading ends; all records are as wide as the first; what was read is read again
//! as the same when it is written in quotes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_script::csv_record::{Record, RecordReader};

fuzz_target!(|bytes: &[u8]| {
    let records = read(bytes);
    let width = records.first().map_or(0, Vec::len);
    assert!(records.iter().all(|record| record.len() == width));
    // A carriage return before a line's end is taken for a part of that end, also in quotes.
    if !bytes.contains(&b'\r') {
        assert_eq!(read(quoted(&records).as_bytes()), records);
    }
});

/// All records; what is none is left out.
fn read(bytes: &[u8]) -> Vec<Record> {
    let mut reader = RecordReader::new(b',', 0);
    let mut records = Vec::new();
    for _ in 0..=bytes.len() {
        match reader.next(bytes) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return records,
            Err(_) => {}
        }
    }
    panic!("reading does not end");
}

fn quoted(records: &[Record]) -> String {
    let field = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
    let line = |record: &Record| record.iter().map(field).collect::<Vec<_>>().join(",") + "\n";
    records.iter().map(line).collect()
}
