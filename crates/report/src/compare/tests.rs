//! Comparisons of hand-made results.
//!
//! Must not know how results are made. Invariant: the expectations follow from how they were made.

use loadline_model::result::Percentiles;
use proptest::prelude::*;

use super::testing::{plan, run};
use super::*;
use crate::Style;

fn side<'a>(name: &str, runs: &[&'a RunResult]) -> Side<'a> {
    Side {
        name: name.to_owned(),
        runs: runs.to_vec(),
    }
}

fn outcome_of(comparison: &Comparison, id: &str) -> Option<Outcome> {
    let (_, _, changes) = comparison.numbers(id).expect("a row of numbers");
    changes[0].test.map(|test| test.outcome)
}

#[test]
fn a_faster_target_is_better_and_the_same_is_not_told_apart() {
    let (old, same, fast) = (
        run(30, 1_000, 200_000, 1),
        run(30, 1_000, 200_000, 2),
        run(30, 1_200, 150_000, 3),
    );
    let alike = compare(&[side("old", &[&old]), side("same", &[&same])]);
    assert_eq!(outcome_of(&alike, "goodput"), Some(Outcome::Alike));
    assert_eq!(outcome_of(&alike, "service_time.p50"), Some(Outcome::Alike));
    let better = compare(&[side("old", &[&old]), side("fast", &[&fast])]);
    assert_eq!(outcome_of(&better, "goodput"), Some(Outcome::Better));
    assert_eq!(
        outcome_of(&better, "service_time.p50"),
        Some(Outcome::Better)
    );
    assert_eq!(
        outcome_of(&better, "service_time.p95"),
        Some(Outcome::Better)
    );
    assert_eq!(
        outcome_of(&better, "service_time.p99.9"),
        None,
        "no second tells it"
    );
    let worse = compare(&[side("fast", &[&fast]), side("old", &[&old])]);
    assert_eq!(outcome_of(&worse, "goodput"), Some(Outcome::Worse));
    assert_eq!(outcome_of(&worse, "service_time.p50"), Some(Outcome::Worse));
}

#[test]
fn results_that_do_not_keep_p95_by_the_second_have_no_interval_of_it() {
    let mut old = run(30, 1_000, 200_000, 1);
    for times in old
        .series
        .iter_mut()
        .flat_map(|row| &mut row.service_time_ns)
    {
        times.p95 = None;
    }
    let new = run(30, 1_000, 100_000, 2);
    let comparison = compare(&[side("old", &[&old]), side("new", &[&new])]);
    assert_eq!(outcome_of(&comparison, "service_time.p95"), None);
    assert_eq!(
        outcome_of(&comparison, "service_time.p90"),
        Some(Outcome::Better)
    );
}

#[test]
fn short_runs_and_ramps_are_compared_without_intervals() {
    let (short, other) = (run(5, 1_000, 200_000, 1), run(5, 2_000, 100_000, 2));
    let comparison = compare(&[side("a", &[&short]), side("b", &[&other])]);
    assert_eq!(outcome_of(&comparison, "goodput"), None);
    assert!(
        comparison
            .text(&Style::default())
            .contains("No interval can be given")
    );
}

#[test]
fn repetitions_are_held_against_their_own_spread() {
    let old: Vec<RunResult> = (0..3)
        .map(|n| run(8, 1_000 + n * 100, 200_000, n))
        .collect();
    let new: Vec<RunResult> = (0..3)
        .map(|n| run(8, 1_050 + n * 100, 200_000, n))
        .collect();
    let (olds, news): (Vec<&RunResult>, Vec<&RunResult>) =
        (old.iter().collect(), new.iter().collect());
    let grouped = compare(&[side("old", &olds), side("new", &news)]);
    assert_eq!(grouped.basis, Basis::Runs);
    assert_eq!(
        outcome_of(&grouped, "goodput"),
        Some(Outcome::Alike),
        "runs differ by 100 anyway"
    );
    let single = compare(&[side("old", &olds[..1]), side("new", &news[..1])]);
    assert_eq!(
        outcome_of(&single, "goodput"),
        None,
        "seven steady seconds are too few"
    );
    let mixed = compare(&[side("old", &olds), side("new", &news[..1])]);
    assert_eq!(outcome_of(&mixed, "goodput"), Some(Outcome::Alike));
    assert!(mixed.text(&Style::default()).contains("new: a single run"));
}

#[test]
fn what_differs_between_the_tests_comes_first_and_forbids_a_cause() {
    let (one, mut two) = (run(30, 1_000, 200_000, 1), run(30, 1_000, 200_000, 1));
    let text =
        |two: &RunResult| compare(&[side("a", &[&one]), side("b", &[two])]).text(&Style::default());
    assert!(text(&two).contains("The results record the same load"));
    two.labels.insert("build".to_owned(), "42".to_owned());
    assert!(text(&two).contains("labels.build"));
    assert!(text(&two).contains("The results record the same load"));
    two.plan = plan(16, 30);
    two.environment.cores = 4.0;
    let told = text(&two);
    assert!(told.contains("scenarios.bench.executor.vus"), "{told}");
    assert!(told.contains("environment.cores"), "{told}");
    assert!(
        told.contains("The tests differ in load or environment"),
        "{told}"
    );
    assert!(told.find("executor.vus") < told.find("Goodput"), "{told}");
}

#[test]
fn conditions_are_held_against_every_other_side() {
    let (old, slow) = (run(30, 1_000, 200_000, 1), run(30, 900, 260_000, 2));
    let comparison = compare(&[
        side("old", &[&old]),
        side("same", &[&old]),
        side("slow", &[&slow]),
    ]);
    let crossed = |text: &str| {
        let condition: Condition = text.parse().expect(text);
        condition.crossed(&comparison)
    };
    let texts = crossed("p99 +10%").expect("there are times");
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(
        texts[0]
            .text
            .starts_with("p99 +10%: old has 200 µs, slow has 260 µs (+30.0 %)"),
        "{texts:?}"
    );
    for (text, count) in [
        ("p99 +40%", 0),
        ("p50 -1%", 0),
        ("p50 +50us", 1),
        ("p50 5%", 1),
        ("goodput -5%", 1),
        ("goodput -15%", 0),
        ("errors +0%", 0),
        ("rps +1/s", 0),
        ("rss +0.1MB", 0),
    ] {
        assert_eq!(crossed(text).map(|found| found.len()), Ok(count), "{text}");
    }
    let missing = crossed("checks -1pp").expect_err("there are no checks");
    assert_eq!(missing, "checks -1pp: old has no such value");
    assert!(
        crossed("response_time:p99 +1%").is_err(),
        "a closed model has none"
    );
    // Failures are fast if nothing answers.
    let mut dead = run(30, 900, 2_000, 3);
    dead.totals.rates.average = 0.0;
    let comparison = compare(&[side("old", &[&old]), side("dead", &[&dead])]);
    let held = |text: &str| -> Result<Vec<String>, String> {
        let condition: Condition = text.parse().expect(text);
        let crossings = condition.crossed(&comparison)?;
        Ok(crossings
            .into_iter()
            .map(|crossing| crossing.text)
            .collect())
    };
    let why = "p99 +10%: dead has no such value: none of its requests was answered";
    assert_eq!(held("p99 +10%"), Ok(vec![why.to_owned()]));
    assert_eq!(held("rps -1%").map(|texts| texts.len()), Ok(1));
    let comparison = compare(&[side("dead", &[&dead]), side("old", &[&old])]);
    let condition: Condition = "p99 +10%".parse().expect("it is a condition");
    assert_eq!(condition.crossed(&comparison), Err(why.to_owned()));
}

#[test]
fn a_wrong_response_is_an_error_though_it_is_no_failure() {
    let good = run(30, 1_000, 200_000, 1);
    let mut wrong = good.clone();
    wrong.totals.seen.counts.good = 0;
    wrong.series.iter_mut().for_each(|row| row.good = 0);
    let comparison = compare(&[side("good", &[&good]), side("wrong", &[&wrong])]);
    for (text, count) in [
        ("errors +0.5pp", 1),
        ("wrong +0.5pp", 1),
        ("failed +0pp", 0),
    ] {
        let condition: Condition = text.parse().expect(text);
        let crossed = condition.crossed(&comparison).expect("there are requests");
        assert_eq!(crossed.len(), count, "{text}");
    }
}

#[test]
fn markdown_keeps_texts_in_their_cells() {
    let mut odd = run(30, 1_000, 200_000, 1);
    odd.verdict.headline = "a | b\nc".to_owned();
    let even = run(30, 1_000, 200_000, 2);
    let markdown = compare(&[side("x|y", &[&odd]), side("b", &[&even])]).markdown();
    assert!(markdown.contains("a \\| b c"), "{markdown}");
    for line in markdown
        .lines()
        .filter(|line| line.starts_with("| Headline"))
    {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 4, "{line}");
    }
}

#[test]
fn a_page_stands_alone_and_holds_no_markup_of_results() {
    let mut odd = run(30, 1_000, 200_000, 1);
    odd.verdict.headline = "<script>alert(1)</script>".to_owned();
    let even = run(30, 1_000, 200_000, 2);
    let sides = [side("<b>", &[&odd]), side("c", &[&even])];
    let page = compare(&sides).html(&sides);
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(
        !page.contains("src=") && !page.contains("href="),
        "nothing is fetched"
    );
    assert_eq!(page.matches("<svg").count(), 5);
    assert!(page.contains("&lt;b&gt;"));
}

#[test]
fn data_holds_every_row() {
    let (one, two) = (run(30, 1_000, 200_000, 1), run(30, 1_100, 200_000, 2));
    let json = compare(&[side("a", &[&one]), side("b", &[&two])]).json();
    let rows = json["rows"].as_array().expect("rows");
    let goodput = rows
        .iter()
        .find(|row| row["id"] == "goodput")
        .expect("goodput");
    assert_eq!(goodput["changes"][0]["test"]["outcome"], "better");
    assert_eq!(goodput["values"][0], one.totals.rates.goodput);
    assert!(json["intervals"]["tests"].as_u64() > Some(2));
}

proptest! {
    /// Whatever the rows hold, a comparison is made, and one with itself finds nothing.
    #[test]
    fn a_run_is_never_told_apart_from_itself(
        rates in proptest::collection::vec(0_u64..100_000, 0..40),
        times in proptest::collection::vec(0_u64..10_000_000_000, 40),
    ) {
        let mut odd = run(40, 1_000, 1_000, 0);
        odd.series.truncate(rates.len());
        for ((row, rate), time) in odd.series.iter_mut().zip(&rates).zip(&times) {
            (row.started, row.completed, row.good) = (*rate, *rate, rate / 2);
            row.service_time_ns = (*rate > 0).then_some(Percentiles { p50: *time, p90: *time, p95: Some(*time), p99: *time });
        }
        let comparison = compare(&[side("a", &[&odd]), side("b", &[&odd])]);
        for row in comparison.sections.iter().flat_map(|section| &section.rows) {
            if let Cells::Numbers { changes, .. } = &row.cells {
                prop_assert!(changes[0].test.is_none_or(|test| test.outcome == Outcome::Alike));
            }
        }
        prop_assert!(!comparison.text(&Style::default()).contains("NaN"));
    }
}
