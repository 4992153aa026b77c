//! Documents from hand-made outcomes: every kind, refused settings, and the origin of cells.

mod handwriting;
mod history;
mod presets;

use loadline_model::RunResult;

use super::testing::{MIB, NO_CHARTS, observe, outcome, row, run};
use super::{DocumentKind, DocumentSpec, SmallRuns, check, check_places, explain, kind_of, render};
use crate::outcome::{RowStatus, SuiteOutcome};

fn spec(yaml: &str) -> DocumentSpec {
    loadline_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}"))
}

fn text(spec: &DocumentSpec, outcome: &SuiteOutcome, existing: Option<&str>) -> String {
    let rendered =
        render(spec, outcome, existing, NO_CHARTS).unwrap_or_else(|error| panic!("{error}"));
    let again =
        render(spec, outcome, Some(&rendered.text), NO_CHARTS).expect("what was written is read");
    if kind_of(spec) == Ok(DocumentKind::Markdown) {
        assert_eq!(
            again.text, rendered.text,
            "rendering again changes something"
        );
    }
    rendered.text
}

/// The lines of a document's only table.
fn table(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('|')).collect()
}

fn preset(name: &str) -> DocumentSpec {
    DocumentSpec::of_preset("RESULTS.md", name)
}

fn replicas() -> SuiteOutcome {
    let pods = |rate: f64, names: &[&str]| {
        let mut of = run(rate);
        for name in names {
            observe(&mut of, "pods", name, "cpu_cores", [0.5, 0.992, 0.9]);
            observe(
                &mut of,
                "pods",
                name,
                "memory_bytes",
                [MIB, 1221.0 * MIB, MIB],
            );
        }
        of
    };
    let one = [
        pods(17.7061, &["a"]),
        pods(17.5, &["a"]),
        pods(17.9, &["a"]),
    ];
    let three = [56.5754, 56.0, 57.0].map(|rate| pods(rate, &["a", "b", "c"]));
    outcome(vec![
        row("r1", &[("replicas", "1"), ("test", "50 QPS")], one.to_vec()),
        row(
            "r3",
            &[("replicas", "3"), ("test", "50 QPS")],
            three.to_vec(),
        ),
    ])
}

#[test]
fn a_row_that_is_not_there_is_refused_with_its_place() {
    let spec =
        spec("file: a.md\ncolumns:\n- title: x\n  value: run.rps / row(\"replicas=9\").run.rps\n");
    let error = render(&spec, &replicas(), None, NO_CHARTS).expect_err("no such row");
    assert_eq!((error.line, error.column), (4, 10));
    assert!(
        error.to_string().contains("no row is `replicas=9`; write"),
        "{error}"
    );
}

#[test]
fn the_row_most_like_is_meant() {
    let cell = |service: &str, replicas: &str, rate: f64| {
        let labels = [("service", service), ("replicas", replicas)];
        row(&format!("{service}{replicas}"), &labels, vec![run(rate)])
    };
    let outcome = outcome(vec![
        cell("a", "1", 10.0),
        cell("b", "1", 100.0),
        cell("a", "3", 30.0),
        cell("b", "3", 200.0),
    ]);
    let spec = spec(
        "file: a.csv\ncolumns:\n- { title: id, value: row.id }\n\
         - { title: gain, value: 'speedup(row(\"replicas=1\"))', format: '{:.1}' }\n",
    );
    let csv = text(&spec, &outcome, None);
    assert_eq!(csv, "id,gain\na1,1.0\nb1,1.0\na3,3.0\nb3,2.0\n");
}

const NOTED: &str = "file: a.md\nmethodology: false\nname: t\nblank: unit\ncolumns:\n\
    - { title: Test, value: label.test }\n- { title: Rate, value: run.rps, format: '{:.0 rps}' }\n\
    - { title: Remark, hand: true }\n";

fn two_rows(measured: bool) -> SuiteOutcome {
    let runs = if measured {
        vec![run(100.0)]
    } else {
        Vec::new()
    };
    outcome(vec![
        row("a", &[("test", "first|test")], vec![run(50.0)]),
        row("b", &[("test", "second")], runs),
    ])
}

#[test]
fn a_failed_row_says_why_and_a_missing_block_what_to_do() {
    let mut of = two_rows(true);
    of.rows[1].status = RowStatus::Failed;
    of.rows[1].reasons = vec!["checks: 98.7 % of 100 %".to_owned(), "a\nb".to_owned()];
    let noted = spec(NOTED);
    let text = text(&noted, &of, None);
    assert!(
        text.contains("\n- b failed: checks: 98.7 % of 100 %; a b.\n"),
        "{text}"
    );
    let error = render(&noted, &of, Some("no block here"), NO_CHARTS).expect_err("no block");
    assert!(
        error
            .to_string()
            .contains("put the lines `<!-- loadline:begin t -->`"),
        "{error}"
    );
    let place = |existing: &str| check_places(&noted, existing);
    assert_eq!(place("no block here"), Err(error));
    assert_eq!((place(&text), place("\n")), (Ok(()), Ok(())));
    let junit = render(&spec(&NOTED.replace("a.md", "a.xml")), &of, None, NO_CHARTS)
        .expect("a report")
        .text;
    assert!(
        junit.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""),
        "{junit}"
    );
    assert!(
        junit.contains("<failure message=\"checks: 98.7 % of 100 %\">"),
        "{junit}"
    );
    assert!(junit.contains("name=\"a\" time=\"60.000\""), "{junit}");
}

#[test]
fn other_kinds_hold_the_same_cells() {
    let of = two_rows(true);
    let kind = |ending: &str| {
        render(&spec(&NOTED.replace("a.md", ending)), &of, None, NO_CHARTS)
            .expect("a document")
            .text
    };
    assert_eq!(
        kind("a.csv"),
        "Test,Rate,Remark\nfirst|test,50 rps,\nsecond,100 rps,\n"
    );
    let html = kind("a.html");
    assert!(
        html.contains("<td>first|test</td><td>50 rps</td><td></td>"),
        "{html}"
    );
    assert!(html.contains("prefers-color-scheme") && html.contains("@media print"));
    assert!(!html.contains("src=\"http"));
    let json: serde_json::Value = serde_json::from_str(&kind("a.json")).expect("JSON");
    let cell = &json["tables"][0]["rows"][1]["cells"]["Rate"];
    assert_eq!(cell["text"], "100 rps");
    assert_eq!(cell["values"][0]["amount"], 100.0);
}

#[test]
fn cells_can_be_traced() {
    let spec = preset("replicas");
    let found = explain(&spec, &replicas(), "r3", "Speed-up").expect("the cell is there");
    let value = &found.values[0];
    assert_eq!(value.by_run.len(), 3);
    assert_eq!(value.by_run[1].1, "runs/r3/2.json");
    assert_eq!(value.others, [("replicas=1".to_owned(), "r1".to_owned())]);
    assert_eq!(value.paths[0].0, "run.rps");
    assert!(value.interval.is_some());
    let found = explain(&spec, &replicas(), "r3", "8").expect("columns have numbers");
    assert_eq!(found.column, "CPU(cores)");
    let said = found.to_string();
    assert!(
        said.contains("max over the phase load (0.0 s to 60.0 s of the run), of pods/a/cpu_cores"),
        "{said}"
    );
    assert!(said.contains("format: {:.0m}"), "{said}");
    assert!(explain(&spec, &replicas(), "r4", "8").is_err());
    assert!(explain(&spec, &replicas(), "r3", "Nothing").is_err());
}

#[test]
fn settings_that_make_no_sense_are_refused_with_their_place() {
    for (yaml, line, word) in [
        ("file: a.txt\npreset: gateway\n", 1, "add `kind`"),
        (
            "file: a.md\npreset: gatway\n",
            2,
            "use one of component-resources",
        ),
        (
            "file: a.md\npreset: gateway\nwith: { nothing: x }\n",
            3,
            "leaves no `nothing` open",
        ),
        (
            "file: a.md\npreset: gateway\ntitles: { Foo: x }\n",
            2,
            "no column `Foo`",
        ),
        ("file: a.md\n", 0, "add `preset` or `columns`"),
        ("file: a.md\ncolumns:\n- { title: a }\n", 0, "add `value`"),
        (
            "file: a.md\ncolumns:\n- { title: a, value: run.rsp }\n",
            3,
            "did you mean `rps`",
        ),
        (
            "file: a.md\ncolumns:\n- { title: a, value: run.rps, format: '{:.1 ms}' }\n",
            3,
            "its units are rps, /s",
        ),
        (
            "file: a.md\ncolumns:\n- { title: a, value: run.rps, hand: true }\n",
            3,
            "remove `hand`",
        ),
        (
            "file: a.md\ncolumns:\n- { title: a, value: row.id }\n- { title: a, value: row.id }\n",
            4,
            "already",
        ),
        (
            "file: a.md\nname: a b\npreset: gateway\n",
            2,
            "letters, digits",
        ),
        (
            "file: a.md\npreset: gateway\ntables:\n- { name: x, preset: gateway }\n",
            1,
            "of the list",
        ),
        (
            "file: a.md\ntables:\n- { name: x, preset: gateway }\n- { name: x, preset: gateway }\n",
            4,
            "its own name",
        ),
    ] {
        let error = check(&spec(yaml)).expect_err(yaml);
        assert!(error.to_string().contains(word), "{yaml}: {error}");
        assert_eq!(error.line, line, "{yaml}: {error}");
    }
}

#[test]
fn titles_are_renamed_rows_chosen_and_sorted() {
    let spec = spec(
        "file: a.csv\npreset: client-location\ntitles: { client: place }\nrows: { labels: { zone: x } }\n\
         sort: ['-run.rps']\ncolumns:\n- { title: zone, value: label.zone }\n",
    );
    let cell = |id: &str, zone: &str, rate: f64| row(id, &[("zone", zone)], vec![run(rate)]);
    let outcome = outcome(vec![
        cell("a", "x", 1.0),
        cell("b", "y", 2.0),
        cell("c", "x", 3.0),
    ]);
    let csv = text(&spec, &outcome, None);
    let begins: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(begins, ["place", "c", "a"]);
}

/// The user's page.
const PAGE: &str = include_str!("../../../../../docs/document.md");

#[test]
fn the_page_names_every_preset_and_its_example_works() {
    for preset in crate::document::presets::names() {
        assert!(PAGE.contains(&format!("`{preset}`")), "{preset}");
    }
    #[derive(serde::Deserialize)]
    struct File {
        documents: Vec<DocumentSpec>,
    }
    let example = PAGE
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let file: File = loadline_yaml::from_str(example.expect("an example")).expect("it is read");
    assert_eq!(file.documents.len(), 3);
    for document in &file.documents {
        check(document).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_page_has_a_small_chart_of_each_run_with_a_link_to_its_report() {
    let draw = |runs: &[&RunResult]| SmallRuns {
        scales: "0 to 100/s".to_owned(),
        charts: runs
            .iter()
            .map(|run| format!("<svg data-rate=\"{}\"></svg>", run.totals.rates.average))
            .collect(),
    };
    let yaml = NOTED.replace("a.md", "a.html") + "state: 's t'\n";
    let of = two_rows(true);
    let rendered = render(&spec(&yaml), &of, None, &draw).expect("a page");
    for piece in [
        "<h2>Runs</h2>\n<p>0 to 100/s</p>",
        "<a href=\"s%20t/runs/a/1.html\"><span>test first|test</span><svg data-rate=\"50\"></svg></a>",
        "<svg data-rate=\"100\">",
    ] {
        assert!(rendered.text.contains(piece), "{piece}: {}", rendered.text);
    }
    let reports: Vec<&str> = rendered.reports.iter().map(|of| of.file.as_str()).collect();
    assert_eq!(reports, ["runs/a/1.html", "runs/b/1.html"]);
    for (yaml, of) in [
        (yaml.clone(), two_rows(false)),
        (yaml + "runs: false\n", two_rows(true)),
        (NOTED.to_owned(), two_rows(true)),
    ] {
        let rendered = render(&spec(&yaml), &of, None, &draw).expect("a document");
        assert!(!rendered.text.contains("<svg") && rendered.reports.is_empty());
    }
}
