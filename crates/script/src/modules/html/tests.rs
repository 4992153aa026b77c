//! Pages as scripts see them; what is expected was recorded with k6 v2.2.0.

use crate::testing::Rehearsal;

const PAGE: &str = include_str!("tests/page.html");

/// Runs the lines `expression -> expected` of a recording and compares.
fn compare(recorded: &str) {
    let lines: Vec<(&str, &str)> = recorded
        .lines()
        .filter_map(|line| line.split_once(" -> "))
        .collect();
    assert!(!lines.is_empty());
    let expressions: Vec<&str> = lines.iter().map(|(expression, _)| *expression).collect();
    let expressions = serde_json::to_string(&expressions).expect("texts are JSON");
    let script = include_str!("tests/show.js").replace("EXPRESSIONS", &expressions);
    let rehearsed = Rehearsal::new(&script).file("page.html", PAGE).run();
    assert_eq!(rehearsed.failure(), None);
    let differences: Vec<String> = rehearsed
        .log()
        .iter()
        .zip(&lines)
        .filter_map(|(said, (expression, expected))| {
            let said = said
                .trim_start_matches("info ")
                .trim_end_matches(" source=console");
            (said != *expected).then(|| format!("{expression}\n  k6   {expected}\n  here {said}"))
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(rehearsed.log().len(), lines.len());
}

#[test]
fn selections_do_as_in_k6() {
    compare(include_str!("tests/selections.txt"));
}

#[test]
fn elements_do_as_in_k6() {
    compare(include_str!("tests/elements.txt"));
}

#[test]
fn pages_are_read_as_deep_as_in_k6() {
    let script = r#"import { parseHTML } from "k6/html";
        export default function () {
            const page = parseHTML("<div>".repeat(510) + "x");
            console.log(page.text(), page.find("div:last-child").size(), page.html().length);
            try {
                parseHTML("<div>".repeat(511) + "x");
            } catch (error) {
                console.log(error);
            }
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.failure(), None);
    assert_eq!(
        rehearsed.log(),
        [
            "info x 510 5650 source=console",
            "info GoError: html: open stack of elements exceeds 512 nodes source=console",
        ]
    );
}

#[test]
fn members_of_elements_are_those_of_k6() {
    let rehearsed = Rehearsal::new(include_str!("tests/members.js")).run();
    assert_eq!(rehearsed.failure(), None);
    let log = rehearsed.log();
    let said = log.iter().flat_map(|line| {
        line.trim_start_matches("info ")
            .trim_end_matches(" source=console")
            .lines()
    });
    let recorded: Vec<&str> = include_str!("tests/members.txt").lines().collect();
    assert!(recorded.len() > 300);
    assert_eq!(said.collect::<Vec<&str>>(), recorded);
}
