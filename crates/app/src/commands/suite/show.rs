//! The output of a suite on the terminal.
//!
//! Must not know where it comes from. Invariant: every line is complete by itself, so that a log can be
//! searched.

use loadline_model::duration;
use loadline_model::words::join;
use loadline_report::Style;
use loadline_report::table::{TextColumn, laid_out, natural_width};
use loadline_suite::document::{Align, PlainTable};
use loadline_suite::outcome::{RowStatus, SuiteOutcome};
use loadline_suite::plan::{Plan, PlannedRow};
use loadline_suite::runner::{RunEnd, SuiteEvent};
use loadline_suite::state::{StateFolder, SuiteRecord};
use serde_json::json;

/// One event as lines.
pub(super) fn event(event: &SuiteEvent) -> String {
    match event {
        SuiteEvent::Planned { runs, done } => format!("{}, {done} done\n", several(runs, "run")),
        SuiteEvent::Restoring { changes } => format!("undoing {changes} changes made by hooks\n"),
        SuiteEvent::Started {
            number,
            of,
            title,
            repetition,
            repeat,
            attempt,
        } => {
            let which = match repeat {
                1 => String::new(),
                _ => format!(" · repetition {repetition} of {repeat}"),
            };
            let attempt = match attempt {
                1 => String::new(),
                _ => format!(" · try {attempt}"),
            };
            format!("\n[{number}/{of}] {title}{which}{attempt}\n")
        }
        SuiteEvent::Phase {
            phase,
            command,
            length,
        } => {
            let length =
                length.map_or(String::new(), |span| format!(" ({})", duration::text(span)));
            format!("  {}{length}: {command}\n", phase.name())
        }
        SuiteEvent::Hooks { when, names } => format!("  {when}: {}\n", names.join("; ")),
        SuiteEvent::Heartbeat {
            title,
            elapsed,
            length,
            line,
        } => {
            let minutes = elapsed.as_secs() / 60;
            let of = length.map_or(String::new(), |span| {
                format!(" of {}", duration::text(span))
            });
            let line = line
                .as_ref()
                .map_or(String::new(), |line| format!(" · {line}"));
            format!("  {title}: {minutes} min{of}{line}\n")
        }
        SuiteEvent::Ended {
            title, how, left, ..
        } => ended(title, how, left.map(duration::text)),
        SuiteEvent::Note(text) => format!("  · {text}\n"),
        SuiteEvent::Problem(text) => format!("  ! {text}\n"),
    }
}

fn ended(title: &str, how: &RunEnd, left: Option<String>) -> String {
    let left = left.map_or(String::new(), |left| format!(" · about {left} left"));
    match how {
        RunEnd::Passed { headline } => format!("  ✓ {title}: {headline}{left}\n"),
        RunEnd::Failed { reasons, again } => {
            let mut lines = format!("  ✗ {title}: failed{left}\n");
            for reason in reasons {
                lines += &format!("    {reason}\n");
            }
            if *again {
                lines += "    it is repeated\n";
            }
            lines
        }
        RunEnd::Interrupted => format!("  – {title}: interrupted\n"),
    }
}

/// A number of things. The operator parses such a line: no thousands separators.
fn several(number: &(impl ToString + ?Sized), thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// The rows with their commands.
pub(super) fn plan(plan: &Plan, only: Option<&[usize]>) -> String {
    let mut text = format!(
        "{}: {}, {}\n",
        plan.name,
        several(&plan.rows.len(), "row"),
        several(&plan.runs.len(), "run")
    );
    let chosen = |index: &usize| only.is_none_or(|only| only.contains(index));
    for index in (0..plan.rows.len()).filter(chosen) {
        text += &row(plan, &plan.rows[index]);
    }
    let order: Vec<String> = plan
        .runs
        .iter()
        .filter(|run| chosen(&run.row))
        .map(|run| format!("{}.{}", run.row + 1, run.repetition))
        .collect();
    text += &format!("\nOrder (row.repetition): {}\n", order.join(" "));
    text + &warnings(plan)
}

/// Likely mistakes.
pub(super) fn warnings(plan: &Plan) -> String {
    let told = plan
        .warnings
        .iter()
        .map(|warning| format!("warning: {warning}\n"));
    let told: String = told.collect();
    if told.is_empty() {
        told
    } else {
        format!("\n{told}")
    }
}

fn row(plan: &Plan, row: &PlannedRow) -> String {
    let group = plan.groups[row.group].name.as_ref();
    let group = group.map_or(String::new(), |name| format!("{name} / "));
    let repeat = match row.settings.repeat {
        1 => String::new(),
        times => format!(" · {times} times"),
    };
    let mut text = format!("\n{group}{}{repeat}\n  {}\n", row.title, row.id);
    let hooks = [
        ("prepare", &row.hooks.prepare),
        ("before", &row.hooks.before),
        ("after", &row.hooks.after),
        ("cleanup", &row.hooks.cleanup),
    ];
    for (name, hooks) in hooks.iter().filter(|(_, hooks)| !hooks.is_empty()) {
        let names: Vec<&str> = hooks.iter().map(|hook| hook.name.as_str()).collect();
        text += &format!("  {name}: {}\n", names.join("; "));
    }
    for phase in &row.phases {
        let env: Vec<String> = phase
            .env
            .iter()
            .map(|(name, value)| {
                let value = join(&plan.with_target(std::slice::from_ref(value)));
                format!("{name}={value}")
            })
            .collect();
        let env = if env.is_empty() {
            String::new()
        } else {
            format!("{} ", env.join(" "))
        };
        text += &format!(
            "  {}: {env}loadline {}\n",
            phase.kind.name(),
            join(&plan.with_target(&phase.command))
        );
    }
    text
}

/// The plan as data.
pub(super) fn plan_json(plan: &Plan, record: &SuiteRecord, only: Option<&[usize]>) -> String {
    let chosen = |index: &usize| only.is_none_or(|only| only.contains(index));
    let rows = (0..plan.rows.len()).filter(chosen).map(|index| {
        let phases = plan.rows[index].phases.iter();
        let phases = phases.map(|phase| {
            json!({ "phase": phase.kind.name(), "command": phase.command, "env": phase.env })
        });
        json!({ "row": record.rows[index], "phases": phases.collect::<Vec<_>>() })
    });
    let runs = plan.runs.iter().filter(|run| chosen(&run.row));
    let runs = runs.map(|run| json!([plan.rows[run.row].id, run.repetition]));
    let told = json!({
        "name": plan.name,
        "facts": record.facts,
        "rows": rows.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
        "warnings": plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    format!("{told:#}\n")
}

/// The incomplete runs.
pub(super) fn unfinished(plan: &Plan, state: &StateFolder, record: &SuiteRecord) -> String {
    let mut text = String::new();
    for run in &plan.runs {
        let row = &record.rows[run.row];
        if state.whole(row, run.repetition).is_some() {
            continue;
        }
        let why = match state.status(&row.id, run.repetition) {
            None => "not begun",
            Some(status) if status.hash != row.hash => "changed",
            Some(_) => "unfinished",
        };
        text += &format!("{} · repetition {}: {why}\n", row.title, run.repetition);
    }
    if text.is_empty() {
        text.push_str("everything is done\n");
    }
    text
}

/// The status of the rows.
pub(super) fn status(outcome: &SuiteOutcome, state: &StateFolder) -> String {
    let mut text = format!("\n{}\n", outcome.name);
    for row in &outcome.rows {
        let sign = match row.status {
            RowStatus::Passed => "✓",
            RowStatus::Failed => "✗",
            RowStatus::Pending => "·",
        };
        let title = row
            .plan
            .get("title")
            .map_or(row.id.as_str(), String::as_str);
        let repeat = row.plan.get("repeat").map_or("1", String::as_str);
        let runs = format!("{} of {}", row.runs.len(), several(repeat, "run"));
        text += &format!("  {sign} {title} · {runs} · {}\n", row.id);
        for reason in &row.reasons {
            text += &format!("      {reason}\n");
        }
    }
    let count = |status| {
        outcome
            .rows
            .iter()
            .filter(|row| row.status == status)
            .count()
    };
    text + &format!(
        "{} passed, {} failed, {} pending · {}\n",
        count(RowStatus::Passed),
        count(RowStatus::Failed),
        count(RowStatus::Pending),
        state.folder().display()
    )
}

/// The rows that a stopped suite did not run, or not to their end; empty if there are none.
pub(super) fn not_run(outcome: &SuiteOutcome, state: &StateFolder) -> String {
    let mut lines = [("interrupted", String::new()), ("not run", String::new())];
    let pending = outcome.rows.iter();
    for row in pending.filter(|row| row.status == RowStatus::Pending) {
        let repeat = row.plan.get("repeat").and_then(|text| text.parse().ok());
        let has_begun = (1..=repeat.unwrap_or(1)).any(|n| state.status(&row.id, n).is_some());
        let title = row.plan.get("title").unwrap_or(&row.id);
        let line = &mut lines[usize::from(!has_begun)].1;
        *line += if line.is_empty() { "" } else { ", " };
        *line += title;
    }
    let lines = lines.iter().filter(|(_, rows)| !rows.is_empty());
    lines
        .map(|(what, rows)| format!("{what}: {rows}\n"))
        .collect()
}

/// The width of the widest table.
pub(super) fn width(tables: &[PlainTable]) -> usize {
    let widths = tables
        .iter()
        .map(|table| natural_width(&columns(table), &table.rows));
    widths.max().unwrap_or(0)
}

fn columns(table: &PlainTable) -> Vec<TextColumn> {
    let columns = table.columns.iter().map(|(title, align)| TextColumn {
        title: title.clone(),
        is_right: *align == Align::Right,
    });
    columns.collect()
}

/// Tables with their notes; `room`: width of the terminal in columns, `None`: there is none.
pub(super) fn tables(tables: &[PlainTable], room: Option<usize>, style: Style) -> String {
    let mut text = String::new();
    for table in tables {
        text.push('\n');
        if let Some(title) = &table.title {
            text += &format!("{title}\n\n");
        }
        text += &laid_out(&columns(table), &table.rows, room, style);
        text.push('\n');
        for note in &table.notes {
            text += &format!("{note}\n");
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_commands_can_be_typed() {
        let text =
            "{name: s, target: 'http://t/?a=1&b=2', rows: [{script: a.js, duration: 9s, vus: 2}]}";
        let file = loadline_suite::file::SuiteFile::parse("s.yaml", text).expect("a suite");
        let surroundings = loadline_suite::plan::Surroundings {
            read: &|_| Ok(b"script".to_vec()),
            variable: &|_| None,
        };
        let of_suite = Plan::of(&file, &surroundings).expect("a plan");
        let shown = plan(&of_suite, None);
        let typed = "  load: TARGET_URL='http://t/?a=1&b=2' loadline run ";
        assert!(shown.contains(typed), "{shown}");
    }

    #[test]
    fn tables_stand_apart_with_their_notes() {
        let table = PlainTable {
            title: Some("First".to_owned()),
            columns: vec![
                ("Row".to_owned(), Align::Default),
                ("Rate".to_owned(), Align::Right),
            ],
            rows: vec![vec!["a".to_owned(), "13177 rps ¹".to_owned()]],
            notes: vec!["¹ Not delivered.".to_owned()],
        };
        let plain = Style::default();
        assert_eq!(
            tables(&[table], None, plain),
            "\nFirst\n\nRow         Rate\na    13177 rps ¹\n\n¹ Not delivered.\n\n"
        );
        assert_eq!(tables(&[], None, plain), "");
    }

    #[test]
    fn a_failed_run_says_why() {
        let event = SuiteEvent::Ended {
            title: "a".to_owned(),
            repetition: 1,
            how: RunEnd::Failed {
                reasons: vec!["goodput: 11 of 100".to_owned()],
                again: true,
            },
            left: Some(std::time::Duration::from_secs(90)),
        };
        assert_eq!(
            super::event(&event),
            "  ✗ a: failed · about 1m30s left\n    goodput: 11 of 100\n    it is repeated\n"
        );
    }
}
