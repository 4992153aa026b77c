//! Histories of many runs: they contain what the results contained, and a million runs are fast.

use super::presets::gateway_row;
use super::{outcome, preset, spec, table, text};
use crate::document::{History, HistoryColumns, HistoryRow, compile, render_history};
use crate::expression::figures::RunFigures;

#[test]
fn a_history_says_what_its_results_said() {
    let mut history = History::default();
    let outcome = outcome(vec![gateway_row()]);
    let mut bytes = Vec::new();
    for n in 0..3 {
        let of = &outcome.rows[0];
        let row = HistoryRow {
            id: format!("{}@{n}", of.id),
            group: (n == 1).then(|| "some".to_owned()),
            labels: of.labels.clone(),
            plan: of.plan.clone(),
            figures: RunFigures::of(&of.runs[0].result),
            doubts: Vec::new(),
        };
        history.push(&row);
        let mut one = History::default();
        one.push(&row);
        bytes.extend(one.to_bytes());
    }
    let joined = History::from_bytes(&bytes).expect("blocks");
    assert_eq!(
        History::from_bytes(&history.to_bytes())
            .expect("a block")
            .to_bytes(),
        history.to_bytes()
    );
    let mut spec = preset("gateway");
    spec.methodology = Some(false);
    let of_runs = table(&text(&spec, &outcome, None))[2].to_owned();
    let asked = HistoryColumns::of(&spec).expect("a document");
    let some = History::read(&mut std::io::Cursor::new(&bytes), &asked).expect("blocks");
    assert!(some.to_bytes().len() < history.to_bytes().len() / 2);
    for history in [&history, &joined, &some] {
        let rendered = render_history(&spec, "History", history, None).expect("a document");
        assert_eq!(table(&rendered.text)[2..], [of_runs.as_str(); 3]);
        let again =
            render_history(&spec, "History", history, Some(&rendered.text)).expect("a document");
        assert_eq!(again.text, rendered.text);
    }
    bytes.truncate(bytes.len() - 1);
    assert_eq!(History::from_bytes(&bytes).expect("torn").rows(), 2);
    bytes[0] = b'x';
    assert!(History::from_bytes(&bytes).is_err());
}

#[test]
fn doubts_are_kept_and_a_history_of_before_there_were_any_is_read() {
    let spec = spec(
        "file: a.md\ncolumns:\n- { title: Run, value: row.id }\n- { title: Rate, value: run.rps, format: '{:.0 rps}' }\n",
    );
    let figures = RunFigures::of(&gateway_row().runs[0].result);
    let of = |id: &str, doubts: &[&str]| {
        let mut history = History::default();
        history.push(&HistoryRow {
            id: id.to_owned(),
            figures: figures.clone(),
            doubts: doubts.iter().map(|code| (*code).to_owned()).collect(),
            ..HistoryRow::default()
        });
        history.to_bytes()
    };
    let mut bytes = of("old", &[]);
    bytes[..4].copy_from_slice(b"LLH1");
    bytes.extend(of("new", &["nothing-sent", "never-heard-of"]));
    bytes.extend(of("sound", &[]));
    let history = History::from_bytes(&bytes).expect("blocks of both kinds");
    let text = render_history(&spec, "History", &history, None)
        .expect("a document")
        .text;
    for line in [
        "| old | 13177 rps |",
        "| new | 13177 rps ¹ ² |",
        "| sound | 13177 rps |",
        "- ¹ Not delivered: nothing was sent.",
        "- ² never-heard-of",
    ] {
        assert!(text.lines().any(|is| is == line), "{line}\n{text}");
    }
    assert_eq!(&history.to_bytes()[..4], b"LLH2");
}

/// Measured, not judged: `cargo test --release -p loadline-suite -- --ignored a_million --nocapture`.
#[test]
#[ignore = "a measurement"]
fn a_million_runs_make_a_document() {
    let of = &gateway_row();
    let spec = spec(
        "file: a.md\ncolumns:\n- { title: Run, value: row.id }\n- { title: Service, value: 'label[\"Service name\"]' }\n\
         - { title: Rate, value: run.rps, format: '{:.0 rps}' }\n- { title: p95, value: run.p95, format: '{:~2 ms}' }\n\
         - { title: Memory, value: observe.gateway.memory_bytes.last, format: '{:~1 Gib}' }\n",
    );
    let document = compile::document(&spec).expect("a document");
    let figures = RunFigures::named(&of.runs[0].result, &document.tables[0].paths);
    let mut history = History::default();
    for n in 0..1_000_000 {
        history.push(&HistoryRow {
            id: format!("run-{n}"),
            labels: of.labels.clone(),
            figures: figures.clone(),
            ..HistoryRow::default()
        });
    }
    let bytes = history.to_bytes();
    let read = timed("read", || History::from_bytes(&bytes).expect("a history"));
    let rendered = timed("written", || {
        render_history(&spec, "History", &read, None).expect("a document")
    });
    assert_eq!(table(&rendered.text).len(), 1_000_002);
    let again = timed("written over itself", || {
        render_history(&spec, "History", &read, Some(&rendered.text)).expect("again")
    });
    assert_eq!(rendered.text, again.text);
}

#[expect(clippy::disallowed_methods, reason = "a measurement that is told")]
fn timed<T>(what: &str, of: impl FnOnce() -> T) -> T {
    let begin = std::time::Instant::now();
    let made = of();
    eprintln!("{what}: {:.2} s", begin.elapsed().as_secs_f64());
    made
}
