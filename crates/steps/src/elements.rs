//! Tests of extractors and assertions against JMeter: the resulting samples and variables.
//!
//! The files in `tests/elements/` hold one case per line, with the results of JMeter 5.6.3: classes and
//! properties as in a plan, the sample, the variables before and after. There is no randomness: where JMeter
//! chose at random, there was only one match.

mod case;

use case::{Case, run};

/// Runs all cases of a file, and reports all differences.
fn replay(file: &str) {
    let mut different = Vec::new();
    for line in file.lines() {
        let case = Case::read(line);
        let actual = run(&case);
        if actual != case.expect {
            different.push(format!("{line}\n  but: {actual}"));
        }
    }
    let count = different.len();
    assert!(
        different.is_empty(),
        "{count} differ:\n{}",
        different.join("\n")
    );
}

#[test]
fn regular_expressions_boundaries_texts_and_sizes() {
    replay(include_str!("../tests/elements/basic.jsonl"));
}

#[test]
fn json() {
    replay(include_str!("../tests/elements/json.jsonl"));
}

#[test]
fn xml() {
    replay(include_str!("../tests/elements/xml.jsonl"));
}

#[test]
fn html() {
    replay(include_str!("../tests/elements/html.jsonl"));
}
