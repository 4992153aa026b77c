//! Any text as a page of metrics.
//!
//! Invariant checked: a line is a sample, a comment, or counted as bad; reading only what is wanted gives the same samples
//! as picking them afterwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::parse::exposition::parse;

fuzz_target!(|text: &str| {
    let all = parse(text, |_| true);
    let lines = text.lines().map(str::trim);
    let content = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .count();
    assert_eq!(all.samples.len() + all.bad_lines, content);
    let wanted = parse(text, |name| name.starts_with('a'));
    let names = all.samples.iter().map(|sample| &sample.name);
    let picked: Vec<_> = names.filter(|name| name.starts_with('a')).collect();
    let read: Vec<_> = wanted.samples.iter().map(|sample| &sample.name).collect();
    assert_eq!(read, picked);
});
