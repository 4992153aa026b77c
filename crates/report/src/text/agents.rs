//! What each agent of a test did.
//!
//! Must not know how agents are reached. Invariant: omitted for a test with one agent.

use loadline_model::RunResult;

use crate::agents::{HEAD, rows};
use crate::page::Page;

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let (rows, rest) = rows(result);
    if rows.is_empty() {
        return;
    }
    page.section("Agents", "service times per agent; totals are above");
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    page.table("<>>>>>>>>", &HEAD, &rows);
    if rest > 0 {
        page.line(&format!("  and {rest} more in the JSON result"));
    }
}
