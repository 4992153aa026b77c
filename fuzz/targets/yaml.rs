//! Any text as YAML.
//!
//! Invariants checked: what is read stands inside of the text, and is read again as the same once it is written as
//! JSON; a refusal is one line with a place inside of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_yaml::{At, Node, Value};

fuzz_target!(|text: &str| {
    let lines = 1 + text
        .matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .count() as u64;
    let is_inside = |at: At| (1..=lines).contains(&at.line) && at.column > 0;
    match Node::parse(text) {
        Ok(node) => {
            each(&node, &mut |node| assert!(is_inside(node.at), "{node:?}"));
            let json = node.to_json();
            // But for two characters, which YAML has as escapes alone.
            let written = json.to_string();
            let written = written.replace('\u{fffe}', "\\ufffe");
            let written = written.replace('\u{ffff}', "\\uffff");
            let again = Node::parse(&written).expect("JSON is YAML");
            assert_eq!(again.to_json(), json);
        }
        Err(error) => {
            assert!(is_inside(error.at), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
    let _ = Node::parse_all(text);
});

fn each(node: &Node, see: &mut impl FnMut(&Node)) {
    see(node);
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| each(item, see)),
        Value::Map(entries) => entries.iter().for_each(|entry| each(&entry.node, see)),
        Value::Null | Value::Flag(..) | Value::Number(_) | Value::Text(_) => {}
    }
}
