//! Parcels that fit and parcels that do not, and logs without one. Must not know the API.

use super::*;
use loadline_model::test_kind::TestKind;

fn run() -> Test {
    crate::test_run::read(
        TestKind::TestRun,
        &json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "0123456789"},
            "spec": {"parallelism": 1, "script": {"configMap": {"name": "c"}}},
        }),
    )
    .expect("a test")
}

fn log(sizes: &[usize]) -> String {
    let files: Vec<(KeptFile, Vec<u8>)> = KeptFile::ALL
        .into_iter()
        .zip(sizes)
        .map(|(file, size)| (file, vec![7; *size]))
        .collect();
    Parcel::lines(&files)
}

#[test]
fn what_fits_goes_into_a_config_map() {
    let run = run();
    let Plan::Make(map, kept) = plan(&run, "p", &log(&[1_000, 2_000])) else {
        panic!("it fits");
    };
    assert_eq!(map["metadata"]["name"], "t-results-01234567");
    assert_eq!(map["metadata"]["ownerReferences"][0]["uid"], "0123456789");
    assert_eq!(kept.config_map.as_deref(), Some("t-results-01234567"));
    assert_eq!(kept.files, ["result.json.gz", "report.html.gz"]);
    let data = map["binaryData"]["result.json.gz"]
        .as_str()
        .expect("base64");
    assert_eq!(data.len(), 1_336);
    assert_eq!(kept.message, None);
    let elsewhere = format!("not written to /loadline/kept\n{}", log(&[9]));
    let Plan::Make(_, kept) = plan(&run, "p", &elsewhere) else {
        panic!("it fits");
    };
    assert_eq!(
        kept.message.as_deref(),
        Some("not written to /loadline/kept")
    );
    // Of two that do not fit together the report is left out, even if the log was cut before its end.
    for report in [400 << 10, 4 << 20] {
        let mut text = log(&[300 << 10, report]);
        text.truncate(LOG_MAX as usize);
        let Plan::Make(_, kept) = plan(&run, "p", &text) else {
            panic!("the result fits");
        };
        assert_eq!(kept.files, ["result.json.gz"]);
    }
}

#[test]
fn what_does_not_fit_stays_in_the_log() {
    for size in [CONFIG_MAP_MAX + 1, 2 << 20] {
        let mut text = log(&[size]);
        text.truncate(LOG_MAX as usize);
        let Plan::Tell(kept) = plan(&run(), "p", &text) else {
            panic!("{size} bytes do not fit");
        };
        assert_eq!(
            (kept.pod.as_deref(), kept.container.as_deref()),
            (Some("p"), Some(CONTAINER))
        );
        assert!(kept.message.expect("why").contains("512 KiB"));
    }
}

#[test]
fn where_a_suite_is_too_large_its_documents_are_kept() {
    let suite = crate::load_suite::read(&json!({
        "metadata": {"name": "t", "namespace": "n", "uid": "0123456789"},
        "spec": {"suite": {"configMap": {"name": "c"}}},
    }))
    .expect("a suite");
    let log = |state: usize| {
        let files = [
            (KeptFile::Documents, vec![7; 3_000]),
            (KeptFile::State, vec![7; state]),
        ];
        let mut text = Parcel::lines(&files);
        text.truncate(LOG_MAX as usize);
        text
    };
    let kept = |state: usize| match plan(&suite, "p", &log(state)) {
        Plan::Make(_, kept) => kept,
        other => panic!("{other:?}"),
    };
    let all = kept(4_000);
    assert_eq!(all.files, ["documents.tar.gz", "state.tar.gz"]);
    assert_eq!(all.message, None);
    for state in [CONFIG_MAP_MAX, 4 << 20] {
        let some = kept(state);
        assert_eq!(some.files, ["documents.tar.gz"]);
        let why = some.message.expect("why");
        assert!(
            why.contains("512 KiB") && why.ends_with("results of pod p"),
            "{why}"
        );
    }
}

#[test]
fn what_was_written_elsewhere_is_told() {
    let mut run = run();
    run.results = crate::results::Wanted::Volume {
        claim: "v".to_owned(),
        path: "a/b".to_owned(),
    };
    let written = format!("a note\n{}\n", parcel::WRITTEN);
    let Plan::Tell(kept) = plan(&run, "p", &written) else {
        panic!("it is there");
    };
    assert_eq!(kept, Kept::as_wanted(&run.results));
    assert_eq!(kept.volume_claim.as_deref(), Some("v"));
    // A log may come late.
    assert_eq!(plan(&run, "p", "\n"), Plan::Wait);
}

#[test]
fn a_log_may_come_late_or_hold_nothing() {
    let run = run();
    assert_eq!(plan(&run, "p", ""), Plan::Wait);
    let text = log(&[9_000]);
    assert_eq!(plan(&run, "p", &text[..5_000]), Plan::Wait);
    let told = |text: &str| match plan(&run, "p", text) {
        Plan::Tell(kept) => kept.message.expect("why"),
        other => panic!("{other:?}"),
    };
    assert_eq!(told(&log(&[])), "the coordinator left none");
    let full = format!("result.json.gz takes too much\n{}", log(&[]));
    assert_eq!(told(&full), "result.json.gz takes too much");
    assert_eq!(
        told("one\nloadline: \u{1b}[2Jno such command\n"),
        "loadline:  [2Jno such command"
    );
}
