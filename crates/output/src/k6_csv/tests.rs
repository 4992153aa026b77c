//! Compares rows with those that k6 v2.2.0 wrote for the same values.

use loadline_metric::{MetricId, TagSet};
use loadline_model::sample::TaggedValues;
use std::sync::Arc;

use super::encode::{CsvLines, CsvOptions, TimeFormat};
use crate::k6_lines::Destination;
use crate::k6_lines::recorded::{Recorded, recorded};

fn options(columns: &str, time_format: TimeFormat) -> CsvOptions {
    CsvOptions {
        tag_columns: columns.split(',').map(str::to_owned).collect(),
        time_format,
    }
}

/// The columns that `samples.js` asks for.
const COLUMNS: &str =
    "check,error,error_code,expected_response,group,ip,method,name,proto,scenario,status,url";

/// Rows of fields, by RFC 4180.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

/// Pairs sorted by name: k6 writes them in any order.
fn in_order(pairs: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = pairs.split('&').collect();
    parts.sort_unstable();
    parts
}

#[test]
fn rows_are_k6s_but_for_the_order_of_pairs() {
    let read = Recorded::read();
    let ours = read.lines(CsvLines::new(options(COLUMNS, TimeFormat::Rfc3339Nano)));
    let k6s = recorded("samples.csv");
    assert_eq!(rows(&ours).len(), read.values.len() + 1);
    for (our_row, k6s_row) in rows(&ours).iter().zip(&rows(&k6s)) {
        let pairs = our_row.len() - 2;
        assert_eq!(our_row[..pairs], k6s_row[..pairs]);
        assert_eq!(in_order(&our_row[pairs]), in_order(&k6s_row[pairs]));
        assert_eq!(in_order(&our_row[pairs + 1]), in_order(&k6s_row[pairs + 1]));
    }
    let bytes = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    assert_eq!(bytes(&ours), bytes(&k6s), "quotes are where k6 has them");
}

#[test]
fn the_thread_writes_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let read = Recorded::read();
    let options = options(COLUMNS, TimeFormat::Unix);
    let expected = read.lines(CsvLines::new(options.clone()));
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let metrics = read.metrics;
    let describe = move |id: MetricId| metrics[id.0 as usize].clone();
    let sink = super::start(
        Destination::create(&path).unwrap(),
        options,
        receiver,
        describe,
        Arc::new(|_| {}),
    );
    sender.send(read.values).unwrap();
    drop(sender);
    assert!(sink.unwrap().finish().error.is_none());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn times_in_every_format() {
    let row = |format: &str| {
        let read = Recorded {
            metrics: Recorded::read().metrics,
            values: vec![TaggedValues {
                request: None,
                time_unix_ns: 1_795_259_412_404_456_640,
                tags: Arc::new(TagSet::new().with("b", " x").with("a", "y")),
                metadata: Some(Arc::new(TagSet::new().with("vu", "1"))),
                values: vec![(MetricId(0), 0.5)],
            }],
        };
        let lines = CsvLines::new(options("a,b", format.parse().unwrap()));
        read.lines(lines).lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(row("unix"), "t1,1795259412,0.500000,y,\" x\",,vu=1");
    assert_eq!(
        row("unix_milli"),
        "t1,1795259412404,0.500000,y,\" x\",,vu=1"
    );
    assert_eq!(
        row("unix_micro"),
        "t1,1795259412404456,0.500000,y,\" x\",,vu=1"
    );
    assert_eq!(
        row("unix_nano"),
        "t1,1795259412404456640,0.500000,y,\" x\",,vu=1"
    );
    assert_eq!(
        row("rfc3339"),
        "t1,2026-11-21T11:10:12Z,0.500000,y,\" x\",,vu=1"
    );
    assert_eq!(
        row("rfc3339_nano"),
        "t1,2026-11-21T11:10:12.40445664Z,0.500000,y,\" x\",,vu=1"
    );
    let error = "foo".parse::<TimeFormat>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "foo does not belong to TimeFormat values"
    );
}
