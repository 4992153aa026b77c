//! The page that explains the findings is complete.

use crate::verdict::Code;

const PAGE: &str = include_str!("../../../../../docs/verdict.md");

#[test]
fn the_page_lists_every_code_and_no_other_in_order() {
    let listed: Vec<&str> = (PAGE.lines())
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(code, _)| code)
        .collect();
    let known: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_row_says_meaning_evidence_and_next_step() {
    for line in PAGE.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{line}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{line}");
    }
}
