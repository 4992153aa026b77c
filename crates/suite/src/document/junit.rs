//! A test report in JUnit's XML: a case per row, so that pipelines show failed gates.
//!
//! Layout: the schema of Jenkins' xunit plugin (`junit-10.xsd`). Must not know gates. Invariant: well-formed
//! for any text; characters that XML does not allow are replaced.

use loadline_model::markup::escaped;

use super::Content;
use super::fill::Filled;
use super::source::DocumentRows;
use crate::outcome::{RowStatus, SuiteOutcome};

pub(super) fn write<R: DocumentRows>(content: &Content<'_, R>) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!(
        "<testsuites name=\"{}\">\n",
        escaped(content.title)
    ));
    for table in content.tables {
        suite(content, table, &mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite<R: DocumentRows>(content: &Content<'_, R>, table: &Filled<'_, R>, out: &mut String) {
    let count = |status| {
        table
            .order
            .iter()
            .filter(|row| table.rows.status(**row) == status)
            .count()
    };
    out.push_str(&format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
        escaped(&table.table.name),
        table.order.len(),
        count(RowStatus::Failed),
        count(RowStatus::Pending),
    ));
    for row in &table.order {
        case(content, table, *row, out);
    }
    out.push_str("  </testsuite>\n");
}

fn case<R: DocumentRows>(
    content: &Content<'_, R>,
    table: &Filled<'_, R>,
    row: usize,
    out: &mut String,
) {
    let rows = table.rows;
    out.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(rows.group(row).unwrap_or(content.title)),
        escaped(rows.id(row)),
        content.outcome.map_or(0.0, |outcome| seconds(outcome, row)),
    ));
    let inner = match rows.status(row) {
        RowStatus::Passed => None,
        RowStatus::Pending => Some("      <skipped message=\"not run yet\"/>\n".to_owned()),
        RowStatus::Failed => {
            let reasons = rows.reasons(row);
            let first = reasons.first().map_or("failed", String::as_str);
            Some(format!(
                "      <failure message=\"{}\">{}</failure>\n",
                escaped(first),
                escaped(&reasons.join("\n"))
            ))
        }
    };
    let figures = cells(table, row);
    if inner.is_none() && figures.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    out.push_str(&inner.unwrap_or_default());
    if !figures.is_empty() {
        out.push_str(&format!(
            "      <system-out>{}</system-out>\n",
            escaped(&figures)
        ));
    }
    out.push_str("    </testcase>\n");
}

/// The row's figures, a line each; empty where it has no run.
fn cells<R: DocumentRows>(table: &Filled<'_, R>, row: usize) -> String {
    let mut out = String::new();
    if table.rows.runs(row) == 0 {
        return out;
    }
    for column in &table.table.columns {
        let mut cell = String::new();
        if table.write(row, column, &mut cell) {
            out.push_str(&format!("{}: {}\n", column.title, cell.trim()));
        }
    }
    out
}

fn seconds(outcome: &SuiteOutcome, row: usize) -> f64 {
    let runs = outcome.rows.get(row).map_or(&[][..], |row| &row.runs);
    let all = runs.iter().map(|run| run.result.totals.elapsed_ns);
    all.sum::<u64>() as f64 / 1e9
}
