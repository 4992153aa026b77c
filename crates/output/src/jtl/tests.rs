//! Rows of answers and failures, and fields that JMeter's reader gives back as they were.

use std::sync::Arc;

use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::{RequestFacts, TaggedValues, VusAtWork};
use proptest::prelude::*;

use super::encode::JtlLines;
use crate::k6_lines::{Lines, MetricDescription};

fn never(_: MetricId) -> MetricDescription {
    unreachable!("a row needs no description")
}

fn request(tags: TagSet, failed: f64) -> TaggedValues {
    let values = [
        (BuiltIn::HttpReqs, 1.0),
        (BuiltIn::HttpReqDuration, 10.0),
        (BuiltIn::HttpReqBlocked, 3.0),
        (BuiltIn::HttpReqConnecting, 1.0),
        (BuiltIn::HttpReqTlsHandshaking, 1.5),
        (BuiltIn::HttpReqSending, 0.5),
        (BuiltIn::HttpReqWaiting, 7.5),
        (BuiltIn::HttpReqReceiving, 2.0),
        (BuiltIn::HttpReqFailed, failed),
    ];
    TaggedValues {
        time_unix_ns: 1_700_000_000_112_500_000,
        tags: Arc::new(tags),
        metadata: None,
        values: values.map(|(metric, value)| (metric.id(), value)).to_vec(),
        request: Some(RequestFacts {
            sent_bytes: 123,
            body_bytes: 45,
            vus: VusAtWork {
                scenario: 5,
                run: 8,
            },
        }),
    }
}

fn rows(all: &[TaggedValues]) -> String {
    let mut lines = JtlLines::default();
    let mut out = Vec::new();
    for values in all {
        lines.append(values, &mut never, &mut out);
    }
    String::from_utf8(out).expect("rows are text")
}

fn answer() -> TagSet {
    TagSet::new()
        .with("name", "home")
        .with("scenario", "shop")
        .with("status", "200")
        .with("url", "http://h/")
}

#[test]
fn an_answer_has_jmeters_times() {
    assert_eq!(
        rows(&[request(answer(), 0.0)]),
        "1700000000100,13,home,200,OK,shop 1-1,text,true,,45,123,5,8,http://h/,11,0,3\n"
    );
}

#[test]
fn a_failure_has_jmeters_words() {
    let refused = TagSet::new()
        .with("error", "dial: connection refused")
        .with("error_code", "1212")
        .with("status", "0");
    let mut failed = request(refused, 1.0);
    failed.metadata = Some(Arc::new(TagSet::new().with("vu", "3")));
    let unexpected = request(answer().with("status", "503"), 1.0);
    assert_eq!(
        rows(&[failed, unexpected]),
        "1700000000100,13,,Non HTTP response code: dial: connection refused,Non HTTP response \
         message: dial: connection refused,default 1-3,text,false,,45,123,5,8,null,0,0,3\n\
         1700000000100,13,home,503,Service Unavailable,shop 1-1,text,false,,45,123,5,8,http://h/,11,0,3\n"
    );
}

#[test]
fn other_values_are_no_rows() {
    let iteration = TaggedValues {
        values: vec![(BuiltIn::Iterations.id(), 1.0)],
        request: None,
        ..request(answer(), 0.0)
    };
    assert_eq!(rows(&[iteration]), "");
    let mut head = Vec::new();
    JtlLines::default().head(&mut head);
    assert_eq!(head.iter().filter(|byte| **byte == b',').count(), 16);
}

/// Fields of one row, by RFC 4180.
fn fields(row: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = row
        .strip_suffix('\n')
        .expect("a row ends")
        .chars()
        .peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

proptest! {
    #[test]
    fn whatever_tags_hold_they_are_read_back(
        name in "[a-z ,\"\n\r]{0,8}",
        url in "[a-z ,\"\n\r]{1,8}",
        scenario in "[a-z ,\"]{1,8}",
    ) {
        let tags = answer()
            .with("name", name.as_str())
            .with("url", url.as_str())
            .with("scenario", scenario.as_str());
        let row = fields(&rows(&[request(tags, 0.0)]));
        prop_assert_eq!(row.len(), 17);
        prop_assert_eq!(&row[2], &name);
        prop_assert_eq!(&row[13], &url);
        prop_assert_eq!(&row[5], &format!("{scenario} 1-1"));
    }
}
