//! What was run, where and how: title, scenarios, generator, environment, plan, command.
//!
//! Must not judge. Invariant: the page has everything needed to repeat the run.

use loadline_model::civil::Civil;
use loadline_model::{Behaviour, RunResult, Scenario, words};

use super::markup::{Html, Side};
use crate::text::generator::{facts, schedule_lag};
use crate::units::{Bytes, count, counted, planned, span};
use crate::{agents, describe, marks};

/// Rows of the tables of scenarios and requests.
const ROWS_MAX: usize = 100;

/// What is tested, how, and when it started.
pub(super) fn title(html: &mut Html, result: &RunResult) {
    let title = describe::title(&result.plan, &result.environment.command);
    html.between("<h1>", &title, "</h1>");
    html.between("<p>", &describe::load(&result.plan), "</p>");
    let mut parts = Vec::new();
    if result.totals.started_unix_ms > 0 {
        parts.push(Civil::of_unix_s(result.totals.started_unix_ms / 1_000).to_string());
    }
    let labels = result.labels.iter();
    parts.extend(labels.map(|(name, value)| format!("{name}={value}")));
    html.between("<p class=\"when\">", &parts.join(" · "), "</p>");
}

/// The scenarios of the plan, and the requests of those that are not a script's.
pub(super) fn scenarios(html: &mut Html, result: &RunResult) {
    let all = &result.plan.scenarios;
    html.heading("Scenarios", "");
    let columns = [
        ("scenario", Side::Words),
        ("load", Side::Words),
        ("starts at", Side::Numbers),
        ("graceful stop", Side::Numbers),
        ("runs", Side::Code),
        ("tags", Side::Code),
    ];
    let rows: Vec<Vec<String>> = all.iter().take(ROWS_MAX).map(row).collect();
    html.table(&columns, &rows);
    let marks: Vec<Vec<String>> = marks::of(result)
        .into_iter()
        .map(|shown| vec![at(shown.mark.at_ns), shown.mark.kind, shown.mark.text])
        .collect();
    if !marks.is_empty() {
        html.heading("Marks", "on the time axis");
        let columns = [
            ("at", Side::Numbers),
            ("kind", Side::Words),
            ("what happened", Side::Words),
        ];
        html.table(&columns, &marks);
    }
}

/// An instant of the run; its start is not "0 ns".
fn at(ns: u64) -> String {
    match ns {
        0 => "0 s".to_owned(),
        ns => span(ns as f64),
    }
}

fn row(scenario: &Scenario) -> Vec<String> {
    let does = match &scenario.behaviour {
        Behaviour::Steps(_) => format!("the threads of {}", scenario.name),
        Behaviour::Script(script) => format!("{}()", script.exec),
        Behaviour::Requests(mix) => {
            let shown = mix.requests.first().map(describe::request);
            match mix.requests.len() {
                0 | 1 => shown.unwrap_or_default(),
                all => format!(
                    "{} and {} more",
                    shown.unwrap_or_default(),
                    count(all as u64 - 1)
                ),
            }
        }
    };
    let tags = scenario.tags.iter();
    let tags: Vec<String> = tags
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    vec![
        scenario.name.clone(),
        describe::scenario(scenario),
        planned(scenario.start_time),
        planned(scenario.graceful_stop),
        does,
        tags.join(" "),
    ]
}

/// What the generator itself used, and how late it was.
pub(super) fn generator(html: &mut Html, result: &RunResult) {
    let facts = facts(result);
    let lag = schedule_lag(result);
    if facts.is_empty() && lag.is_none() {
        return;
    }
    html.heading("Generator", "resources the generator used");
    html.raw("<ul class=\"facts\">");
    for fact in facts.iter().chain(&lag) {
        html.between("<li>", fact, "</li>");
    }
    html.raw("</ul>");
}

/// What each agent did.
pub(super) fn agents(html: &mut Html, result: &RunResult) {
    let (rows, rest) = agents::rows(result);
    if rows.is_empty() {
        return;
    }
    html.heading("Agents", "service times of each");
    let columns = agents::HEAD.map(|name| match name {
        "agent" => (name, Side::Words),
        name => (name, Side::Numbers),
    });
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    html.table(&columns, &rows);
    if rest > 0 {
        let more = format!("and {rest} more in the JSON result");
        html.between("<p>", &more, "</p>");
    }
}

/// The machine and the command line.
pub(super) fn environment(html: &mut Html, result: &RunResult) {
    let environment = &result.environment;
    let memory = environment
        .memory_bytes
        .map(|bytes| Bytes(bytes).to_string());
    let limit = environment
        .memory_limit_bytes
        .map(|bytes| format!("{} for this process", Bytes(bytes)));
    let cores = match environment.cores > 0.0 {
        true => format!(
            "{} for this process, {}",
            // With a decimal only for a quota.
            (environment.cores * 10.0).round() / 10.0,
            counted(u64::from(environment.workers), "worker")
        ),
        false => String::new(),
    };
    let whole = |value: Option<u64>| value.map_or_else(String::new, count);
    let all_memory: Vec<String> = memory.into_iter().chain(limit).collect();
    let rows: Vec<Vec<String>> = [
        ("loadline", environment.loadline.clone()),
        ("host", environment.host.clone()),
        ("system", environment.system.clone()),
        ("processor", environment.processor.clone()),
        ("cores", cores),
        ("memory", all_memory.join(", ")),
        ("open file limit", whole(environment.open_files_max)),
        ("local ports", whole(environment.ephemeral_ports)),
        ("seed", result.plan.seed.to_string()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| vec![name.to_owned(), value])
    .collect();
    html.heading("Environment", "");
    html.table(&[("", Side::Words), ("", Side::Words)], &rows);
    if !environment.command.is_empty() {
        let line = words::join(&environment.command);
        html.between("<pre><code>", &line, "</code></pre>");
    }
}

/// The whole plan, collapsed.
pub(super) fn plan(html: &mut Html, result: &RunResult) {
    let text = serde_json::to_string_pretty(&result.plan).unwrap_or_default();
    html.raw("<details><summary><h2>Plan <small>the full test plan as JSON</small></h2></summary>");
    html.between("<pre><code>", &text, "</code></pre></details>");
}
