//! What a runner reports about observers. Must not know how they read.

use super::*;

#[test]
fn an_observer_that_saw_nothing_is_told_after_each_run() {
    let bench = Bench::new(
        "name: s\nrows: [{name: a, bench: '-n 1 http://h/', repeat: 2, observe: {api: {process: {name: nix}}}}]",
    );
    bench.run().expect("the disk is well");
    let events = bench.events.borrow();
    let notes = events.iter().filter_map(|event| match event {
        SuiteEvent::Note(note) if note.contains("observer") => Some(note.as_str()),
        _ => None,
    });
    let notes: Vec<&str> = notes.collect();
    assert_eq!(notes, ["the observer api saw nothing: its log says why"; 2]);
}
