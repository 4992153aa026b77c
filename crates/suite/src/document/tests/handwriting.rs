//! What people write into documents, and that nothing changes unprompted.

use proptest::prelude::*;

use super::{NO_CHARTS, NOTED, outcome, row, run, spec, table, text, two_rows};
use crate::document::{blocks, render};

#[test]
fn what_people_write_stays_until_it_is_measured() {
    let spec = spec(NOTED);
    let begin = text(&spec, &two_rows(false), None);
    let edited = begin
        .replace(
            "| second | rps | |",
            "| second | ~ 95 rps | ask *Ann* \\| Bob |",
        )
        .replace("| 50 rps | |", "| 50 rps | fine |");
    assert_ne!(begin, edited);
    let kept = text(&spec, &two_rows(false), Some(&edited));
    assert_eq!(kept, edited);
    let measured = text(&spec, &two_rows(true), Some(&edited));
    assert!(
        measured.contains("| second | 100 rps | ask *Ann* \\| Bob |"),
        "{measured}"
    );
    assert!(
        measured.contains("| first\\|test | 50 rps | fine |"),
        "{measured}"
    );
    // A measured value is not hand-written: if the row is pending again, the cell is blank again.
    let pending = text(&spec, &two_rows(false), Some(&measured));
    assert!(
        pending.contains("| second | rps | ask *Ann* \\| Bob |"),
        "{pending}"
    );
}

#[test]
fn lines_are_known_again_when_people_move_and_add_some() {
    let spec = spec(NOTED);
    let begin = text(&spec, &two_rows(true), None);
    let first = "| first\\|test | 50 rps | |\n";
    let second = "| second | 100 rps | |\n";
    assert!(begin.contains(&format!("{first}{second}")));
    let edited = begin.replace(
        &format!("{first}{second}"),
        "| by hand | 7 rps | x |\n| second | 100 rps | b |\n| first\\|test | 50 rps | a |\n",
    );
    let kept = text(&spec, &two_rows(true), Some(&edited));
    assert_eq!(
        table(&kept)[2..],
        [
            "| first\\|test | 50 rps | a |",
            "| second | 100 rps | b |",
            "| by hand | 7 rps | x |"
        ]
    );
}

#[test]
fn a_table_that_people_typed_before_keeps_its_cells() {
    let typed = "# Ours\n\n<!-- loadline:begin t -->\n|Test|Rate|Remark|\n|:--|--:|--|\n|second|90 rps|slow|\n\
                 |other|1 rps|\n<!-- loadline:end t -->\nend";
    let text = text(&spec(NOTED), &two_rows(false), Some(typed));
    assert_eq!(
        table(&text)[2..],
        [
            "| first\\|test | 50 rps | |",
            "| second | 90 rps | slow |",
            "|other|1 rps|"
        ]
    );
    assert!(text.starts_with("# Ours\n\n<!-- loadline:begin t -->\n"));
    assert!(text.ends_with("<!-- loadline:end t -->\nend"));
}

#[test]
fn handwriting_that_loses_its_row_is_told() {
    let spec = spec(NOTED);
    let begin = text(&spec, &two_rows(true), None);
    let edited = begin.replace("| second | 100 rps | |", "| second | 100 rps | precious |");
    let mut less = two_rows(true);
    less.rows.pop();
    let rendered = render(&spec, &less, Some(&edited), NO_CHARTS).expect("a document");
    assert!(
        rendered.remarks[0].contains("the row b is gone"),
        "{:?}",
        rendered.remarks
    );
    assert!(rendered.remarks[0].contains("precious"));
}

fn any_cell() -> impl Strategy<Value = String> {
    "[a-z|\\\\<>`* -]{0,12}"
}

proptest! {
    #[test]
    fn whatever_people_write_stays_and_nothing_changes_by_itself(
        before in "[a-z#|\\r\\n -]{0,40}",
        after in "[a-z#|\\r\\n -]{0,40}",
        labels in prop::collection::vec(any_cell(), 3),
        remark in "[a-z*][a-z* ]{0,8}",
        crlf in any::<bool>(),
        pending in any::<bool>(),
    ) {
        let rows = labels.iter().enumerate().map(|(n, label)| {
            let runs = if pending && n == 1 { Vec::new() } else { vec![run(10.0 + n as f64)] };
            row(&format!("r{n}"), &[("test", label)], runs)
        });
        let outcome = outcome(rows.collect());
        let spec = spec(NOTED);
        let end = if crlf { "\r\n" } else { "\n" };
        let existing = format!("{before}{end}<!-- loadline:begin t -->{end}<!-- loadline:end t -->{end}{after}");
        let first = render(&spec, &outcome, Some(&existing), NO_CHARTS).expect("one block").text;
        let begin = format!("{before}{end}<!-- loadline:begin t -->{end}");
        let behind = format!("<!-- loadline:end t -->{end}{after}");
        prop_assert!(first.starts_with(&begin) && first.ends_with(&behind));
        prop_assert_eq!(&render(&spec, &outcome, Some(&first), NO_CHARTS).expect("again").text, &first);
        let found = blocks::find(&first).expect("the block")[0].clone();
        let lines: Vec<&str> = found.body.lines().collect();
        let last = lines.iter().rposition(|line| line.starts_with('|')).expect("a table");
        let edited_line = format!("{}{} |", lines[last].trim_end_matches('|'), remark.trim());
        let edited_body: String = lines.iter().enumerate().map(|(n, line)| {
            let line = if n == last { &edited_line } else { *line };
            format!("{line}\n")
        }).collect();
        let edited = blocks::replace(&first, std::slice::from_ref(&found), &[("t", edited_body)]);
        let kept = render(&spec, &outcome, Some(&edited), NO_CHARTS).expect("edited").text;
        let shown = format!("{} |", remark.trim());
        let has_it = kept.lines().any(|line| line.ends_with(&shown));
        prop_assert!(has_it, "{}", kept);
        prop_assert_eq!(&render(&spec, &outcome, Some(&kept), NO_CHARTS).expect("again").text, &kept);
    }
}
