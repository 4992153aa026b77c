//! Realistic expressions, and arbitrary text.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// Returns the same few values for every path.
struct Facts(Vec<Path>);

impl Scope for Facts {
    fn value(&self, path: usize) -> Value<'_> {
        match &self.0[path] {
            Path::Run(name) if name == "rps" => Value::number(300.0, Dimension::RATE),
            Path::Run(name) if name == "p95" => Value::number(0.25, Dimension::TIME),
            Path::Run(_) => Value::Missing,
            Path::Observe(selector) if selector.is_list() => {
                let cores = |amount| Quantity {
                    amount,
                    dimension: Dimension::CORES,
                };
                Value::List(vec![
                    ("a".to_owned(), cores(1.0)),
                    ("b".to_owned(), cores(3.0)),
                ])
            }
            Path::Observe(selector) => {
                let known = selector.metric.as_deref().and_then(Dimension::of_metric);
                Value::number(2.0, known.unwrap_or(Dimension::NUMBER))
            }
            Path::Label(name) if name == "replicas" => Value::Text(Cow::Borrowed("3")),
            Path::Plan(name) if name == "duration" => Value::Text(Cow::Borrowed("1m30s")),
            _ => Value::Text(Cow::Borrowed("")),
        }
    }

    fn other(&self, _row: usize, path: usize) -> Value<'_> {
        match &self.0[path] {
            Path::Run(_) => Value::number(100.0, Dimension::RATE),
            _ => Value::Text(Cow::Borrowed("1")),
        }
    }
}

fn value(source: &str) -> Value<'static> {
    let expression: Expression = source
        .parse()
        .unwrap_or_else(|error| panic!("{source}: {error}"));
    let facts = Facts(expression.paths().to_vec());
    evaluate(&expression, &facts).into_owned()
}

fn number(source: &str) -> f64 {
    match value(source) {
        Value::Number(quantity) => quantity.amount,
        other => panic!("{source} is {other:?}"),
    }
}

fn refused(source: &str) -> ParseError {
    source.parse::<Expression>().expect_err(source)
}

#[test]
fn whatever_unit_a_number_has_is_read_as_formats_write_it() {
    for (name, _, factor) in unit::UNITS {
        assert_eq!(number(&format!("1{name}")), *factor, "{name}");
        assert!(
            format!("{{:.1 {name}}}")
                .parse::<crate::format::Format>()
                .is_ok(),
            "{name}"
        );
    }
    assert_eq!(number("850\u{b5}s + 75\u{3bc}s + 75us"), 1e-3);
}

#[test]
fn arithmetic_binds_as_usual() {
    for (source, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 / 4 / 2", 1.0),
        ("7 - 2 - 1", 4.0),
        ("-2 * -3", 6.0),
        ("--2", 2.0),
        ("50% * 4", 2.0),
        ("run.rps * 2s", 600.0),
        ("run.p95 + 250ms", 0.5),
        ("1.5e3", 1500.0),
        ("max(1, 5, 3) - min(4, 2)", 3.0),
        ("sum(observe.pods.*.cpu_cores.max)", 4.0),
        ("max(observe.pods.*.cpu_cores.max / 2)", 1.5),
        ("count(observe.pods.*.cpu_cores.max)", 2.0),
        ("mean(1, 2, 6)", 3.0),
        ("median(1, 2, 6)", 2.0),
        ("first(3, 4) + last(3, 4)", 7.0),
        ("coalesce(run.steady, run.rps)", 300.0),
        ("round(1234.5678, 2)", 1234.57),
        ("round(1234.5678)", 1235.0),
        ("if(run.p95 > 200ms, 1, 2)", 1.0),
        ("if(label.replicas == \"3\", 1, 2)", 1.0),
        ("number(label.replicas) * 2", 6.0),
        ("duration(plan.duration)", 90.0),
        ("duration(\"1d\")", 86_400.0),
        ("speedup(row(\"replicas=1\"))", 3.0),
        ("run.rps / row(\"replicas=1\").run.rps", 3.0),
        ("number(row(\"x\").label.replicas)", 1.0),
    ] {
        assert!((number(source) - expected).abs() < 1e-9, "{source}");
    }
}

#[test]
fn words_are_joined_and_what_is_missing_stays_missing() {
    assert_eq!(
        value("label.replicas + ' of ' + \"4\""),
        Value::Text("3 of 4".into())
    );
    assert_eq!(value("run.steady * 2"), Value::Missing);
    assert_eq!(value("1 / 0"), Value::Missing);
    assert_eq!(value("run.steady > 1rps"), Value::Missing);
    assert_eq!(value("number(label.nothing)"), Value::Missing);
}

#[test]
fn mistakes_are_refused_where_they_stand() {
    for (source, column, word) in [
        ("", 1, "no expression"),
        ("run.rsp", 1, "did you mean `rps`"),
        ("1 + run.foo", 5, "no figure"),
        ("run.p95 + run.data_sent", 9, "a duration and bytes"),
        ("run.p95 > 200", 9, "200ms"),
        ("run.rps * ", 11, "missing"),
        ("(1", 3, "`)` is missing"),
        ("1 2", 3, "ends before"),
        ("foo.bar", 1, "begin with run"),
        ("label.a.b", 1, "followed by one name"),
        ("observe.pods.cpu_cores.biggest", 1, "not an aggregation"),
        ("observe.pods.cpu_cores.max.soon", 1, "not a phase"),
        ("maximum(1)", 1, "no function"),
        ("max()", 1, "needs a value"),
        ("max(label.a)", 1, "number(…)"),
        ("round(run.p95, 2)", 1, "format"),
        ("row(1).run.rps", 5, "in quotes"),
        ("speedup(3)", 9, "takes a row"),
        ("'abc", 1, "is not closed"),
        ("5 parsecs", 3, "ends before"),
        ("5parsecs", 1, "not a unit"),
        ("a\u{e4}", 2, "unexpected"),
        ("-label.a", 1, "no negative"),
        ("run.metrics.http_req_duration.p42", 1, "a script's metric"),
    ] {
        let error = refused(source);
        assert_eq!(error.column, column, "{source}: {error}");
        assert!(error.what.contains(word), "{source}: {error}");
    }
}

#[test]
fn nothing_is_nested_without_end() {
    let brackets = "(".repeat(2000) + "1" + &")".repeat(2000);
    assert!(refused(&brackets).what.contains("nested"));
    let signs = "-".repeat(4000) + "1";
    assert!(refused(&signs).what.contains("nested"));
    assert!(refused(&"1+".repeat(LENGTH_MAX)).what.contains("at most"));
}

#[test]
fn kinds_are_known_beforehand() {
    let kind = |source: &str| source.parse::<Expression>().expect(source).kind();
    assert_eq!(
        kind("run.data_sent / run.duration"),
        ValueKind::Number(Some(Dimension::BYTE_RATE))
    );
    assert_eq!(kind("observe.p95.last"), ValueKind::Number(None));
    assert_eq!(
        kind("observe.pods.*.memory_bytes.slope"),
        ValueKind::List(Some(Dimension::BYTE_RATE))
    );
    assert_eq!(kind("label.x"), ValueKind::Text);
    assert_eq!(kind("run.failed > 0"), ValueKind::Truth);
}

#[test]
fn paths_are_numbered_by_common_lists() {
    let (mut paths, mut rows) = (Vec::new(), Vec::new());
    let mut one: Expression = "run.rps / row(\"a\").run.rps"
        .parse()
        .expect("an expression");
    let mut two: Expression = "run.p95 + row(\"b\").run.p95"
        .parse()
        .expect("an expression");
    one.bind(&mut paths, &mut rows);
    two.bind(&mut paths, &mut rows);
    assert_eq!(paths.len(), 2);
    assert_eq!(rows, ["a", "b"]);
    assert_eq!(two.to_string(), "(run.p95 + row(\"b\").run.p95)");
}

fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[0-9]{1,3}(ms|GB|%|)?",
        Just("run.p99".to_owned()),
        Just("label[\"Test type\"]".to_owned()),
        Just("observe.a.*.cpu_cores.p95.steady".to_owned()),
        Just("observe[\"my pods\"][\"a-1\"].memory_bytes.last".to_owned()),
        Just("row('x').run.rps".to_owned()),
        "'[a-z\\\\\\\\ ]{0,3}'",
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), "[-+*/<>]", inner.clone())
                .prop_map(|(a, sign, b)| format!("{a} {sign} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("max({a}, {b})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("if({a} > {b}, {b}, {c})")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_read_is_written_so_that_it_reads_the_same(source in any_expression()) {
        if let Ok(read) = source.parse::<Expression>() {
            let written = read.to_string();
            let again = written.parse::<Expression>();
            prop_assert_eq!(again.as_ref(), Ok(&read), "{}", written);
            let facts = Facts(read.paths().to_vec());
            let found = evaluate(&read, &facts);
            if let Value::Number(quantity) = &found {
                prop_assert!(quantity.amount.is_finite());
                if let Some(known) = read.kind().dimension() {
                    prop_assert_eq!(known, quantity.dimension);
                }
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_within_it(source in "\\PC{0,40}") {
        if let Err(error) = source.parse::<Expression>() {
            prop_assert!((1..=source.chars().count() + 1).contains(&error.column));
            prop_assert!(!error.what.is_empty());
        }
    }
}
