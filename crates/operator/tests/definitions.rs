//! Compares the definitions of our own kinds with that of `TestRun`s.
//!
//! Must not know what fields mean. Invariant: what the operator writes to the status of a `TestRun` is not
//! dropped from that of another kind.

use std::collections::BTreeSet;

/// The fields of the status that a definition has.
fn fields_of_status(definition: &str) -> BTreeSet<&str> {
    let begin = "\n            status:\n";
    let (_, status) = definition.split_once(begin).expect("it has a status");
    let fields = status
        .lines()
        .filter_map(|line| line.strip_prefix(&" ".repeat(16)));
    let fields = fields.filter(|line| !line.starts_with([' ', '-', '#']));
    let fields = fields.filter_map(|line| Some(line.split_once(':')?.0));
    fields.collect()
}

#[test]
fn the_status_of_a_test_is_the_same_in_all_definitions() {
    let of_test_run = fields_of_status(include_str!("../../../deploy/operator/crd.yaml"));
    assert!(of_test_run.contains("exitCode"), "{of_test_run:?}");
    for other in [
        include_str!("../../../deploy/operator/crd-k6.yaml"),
        include_str!("../../../deploy/operator/crd-loadtest.yaml"),
        include_str!("../../../deploy/operator/crd-loadsuite.yaml"),
    ] {
        let others = fields_of_status(other);
        let lacking: Vec<&&str> = of_test_run.difference(&others).collect();
        assert!(lacking.is_empty(), "{lacking:?}");
    }
}

/// `K6` is `TestRun` by its earlier name.
#[test]
fn the_earlier_kind_has_the_same_fields() {
    let fields = |definition: &'static str| {
        let (_, fields) = definition.split_once("\n  versions:\n").expect("versions");
        fields
    };
    assert_eq!(
        fields(include_str!("../../../deploy/operator/crd-k6.yaml")),
        fields(include_str!("../../../deploy/operator/crd.yaml"))
    );
}
