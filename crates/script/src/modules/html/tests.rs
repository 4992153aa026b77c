//! Pages as seen by scripts; expected values were recorded with k6 v2.2.0.

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
    let said = rehearsed.said();
    let differences: Vec<String> = said
        .iter()
        .zip(&lines)
        .filter(|(said, (_, expected))| *said != *expected)
        .map(|(said, (expression, expected))| {
            format!("{expression}\n  k6   {expected}\n  here {said}")
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(said.len(), lines.len());
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
    let log = rehearsed.said();
    let said = log.iter().flat_map(|line| line.lines());
    let recorded: Vec<&str> = include_str!("tests/members.txt").lines().collect();
    assert!(recorded.len() > 300);
    assert_eq!(said.collect::<Vec<&str>>(), recorded);
}

/// The interpreter is at its maximum depth when the selector is parsed.
#[test]
fn selectors_of_any_depth_and_length_are_read_or_refused() {
    let script = r#"import { parseHTML } from "k6/html";
        const deep = (work) => {
            try {
                return deep(work);
            } catch (error) {
                return error instanceof RangeError ? work() : error.message;
            }
        };
        const nested = (name, times) => `:${name}(`.repeat(times) + "i" + ")".repeat(times);
        export default function () {
            const rows = parseHTML("<p></p>".repeat(600));
            const tree = parseHTML("<div>".repeat(500));
            const found = (page, selector) => deep(() => page.find(selector).size());
            console.log(found(rows, nested("not", 3)), found(rows, nested("not", 49)));
            console.log(found(rows, "p ~ ".repeat(499) + "p"), found(tree, "div > ".repeat(240) + "div"));
            console.log(found(rows, "p ~ ".repeat(100_000) + "p"));
            for (const name of ["not", "is", "where", "has", "haschild"]) {
                console.log(deep(() => rows.find("p").filter(nested(name, 100_000)).size()));
            }
            console.log(found(rows, "p,".repeat(100_000) + "p"), deep(() => tree.find("div").is(":not(".repeat(100_000))));
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.failure(), None);
    let refused = "html: the selector has more than 500 parts or 50 levels: search in two steps";
    let last = format!("600 {refused}");
    let found = [["603 603", "101 260"].as_slice(), &[refused; 6], &[&last]].concat();
    let found: Vec<String> = found
        .iter()
        .map(|it| format!("info {it} source=console"))
        .collect();
    assert_eq!(rehearsed.log(), found);
}

#[test]
fn tags_of_very_many_attributes_are_refused() {
    let script = r#"import { parseHTML } from "k6/html";
        export default function () {
            const page = (count) => `<p ${Array.from({ length: count }, (_, n) => `a${n}=${n}`).join(" ")}>`;
            console.log(parseHTML(page(2000)).find("p").attr("a1999"));
            try {
                parseHTML(page(100_000));
            } catch (error) {
                console.log(error);
            }
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.failure(), None);
    assert_eq!(
        rehearsed.log(),
        [
            "info 1999 source=console",
            "info GoError: html: a tag of the page has more than 2000 attributes source=console",
        ]
    );
}
