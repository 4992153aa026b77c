//! What k6 prints before a test: where the script and the results are, and what each scenario does.
//!
//! Measured on k6 v2.2.0. Must not know the engine. Invariant: one line per scenario.

use std::time::Duration;

use loadline_model::Executor;

use super::paint::Paint;
use crate::go_template::show;

/// A test as it is told before it runs.
#[derive(Clone, Debug)]
pub struct TestDescription<'a> {
    /// Who runs it: the first line.
    pub banner: &'a str,
    /// The script as the user named it.
    pub script: &'a str,
    /// Each output with its file, `json (out.json)`; empty when there is none.
    pub outputs: Vec<String>,
    /// The share of the test that this process runs, 0 to 1.
    pub segment: f64,
    /// Virtual users at most.
    pub max_vus: u64,
    /// The longest that the test can take, graceful stops included.
    pub max_duration: Duration,
    /// The scenarios, in any order.
    pub scenarios: Vec<ScenarioDescription<'a>>,
}

/// A scenario as it is told before it runs.
#[derive(Clone, Debug)]
pub struct ScenarioDescription<'a> {
    /// Name.
    pub name: &'a str,
    /// What starts its iterations.
    pub executor: &'a Executor,
    /// The function that it runs; `None`: the script's default.
    pub exec: Option<&'a str>,
    /// When it starts.
    pub start_time: Duration,
    /// Time that running iterations get to end.
    pub graceful_stop: Duration,
}

/// The block before the test, with a line end at its end.
#[must_use]
pub fn header(test: &TestDescription<'_>, colour: bool) -> String {
    let paint = Paint { colour };
    let outputs = match test.outputs.join(", ") {
        none if none.is_empty() => "-".to_owned(),
        some => some,
    };
    let scenarios = test.scenarios.len();
    let head = format!(
        "({:.2}%) {scenarios} scenario{}, {} max VUs, {} max duration (incl. graceful stop):",
        test.segment * 100.0,
        if scenarios == 1 { "" } else { "s" },
        test.max_vus,
        duration(test.max_duration)
    );
    let mut out = format!("\n  {}\n\n", paint.bold(test.banner));
    out.push_str(&format!("     execution: {}\n", paint.cyan("local")));
    out.push_str(&format!("        script: {}\n", paint.cyan(test.script)));
    out.push_str(&format!("        output: {}\n\n", paint.cyan(&outputs)));
    out.push_str(&format!("     scenarios: {}\n", paint.cyan(&head)));
    let mut sorted: Vec<&ScenarioDescription<'_>> = test.scenarios.iter().collect();
    sorted.sort_by_key(|scenario| (scenario.start_time, scenario.name));
    for scenario in sorted {
        out.push_str(&format!(
            "              * {}: {}\n",
            scenario.name,
            sentence(scenario)
        ));
    }
    out.push('\n');
    out
}

fn sentence(scenario: &ScenarioDescription<'_>) -> String {
    let (what, first) = load(scenario.executor);
    let exec = scenario.exec.map(|name| format!("exec: {name}"));
    let timed = |name: &str, span: Duration| {
        (!span.is_zero()).then(|| format!("{name}: {}", duration(span)))
    };
    let notes: Vec<String> = [
        first,
        exec,
        timed("startTime", scenario.start_time),
        timed("gracefulStop", scenario.graceful_stop),
    ]
    .into_iter()
    .flatten()
    .collect();
    if notes.is_empty() {
        what
    } else {
        format!("{what} ({})", notes.join(", "))
    }
}

/// What an executor does, and the note that only its kind has.
fn load(executor: &Executor) -> (String, Option<String>) {
    match executor {
        Executor::ConstantVus { vus, duration } => {
            (format!("{vus} looping VUs{}", lasting(*duration)), None)
        }
        Executor::RampingVus {
            start_vus,
            stages,
            graceful_ramp_down: grace,
        } => {
            let targets = stages.iter().map(|stage| stage.target);
            let most = targets.fold(*start_vus, u32::max);
            let note = || format!("gracefulRampDown: {}", duration(*grace));
            (
                format!(
                    "Up to {most} looping VUs{}",
                    staged(stages.iter().map(|s| s.duration))
                ),
                (!grace.is_zero()).then(note),
            )
        }
        Executor::SharedIterations {
            vus,
            iterations,
            max_duration,
        } => (
            format!("{iterations} iterations shared among {vus} VUs"),
            max_duration.map(limit),
        ),
        Executor::PerVuIterations {
            vus,
            iterations,
            max_duration,
        } => (
            format!("{iterations} iterations for each of {vus} VUs"),
            max_duration.map(limit),
        ),
        Executor::ConstantArrivalRate { rate, duration, .. } => (
            format!(
                "{:.2} iterations/s{}",
                rate.starts_per_second(),
                lasting(*duration)
            ),
            vus(executor),
        ),
        Executor::RampingArrivalRate { stages, .. } => (
            format!(
                "Up to {:.2} iterations/s{}",
                highest_rate(executor),
                staged(stages.iter().map(|s| s.duration))
            ),
            vus(executor),
        ),
    }
}

fn limit(span: Duration) -> String {
    format!("maxDuration: {}", duration(span))
}

/// The virtual users of an arrival rate; `None` for other executors.
fn vus(executor: &Executor) -> Option<String> {
    match executor {
        Executor::ConstantArrivalRate {
            pre_allocated_vus: made,
            max_vus: max,
            ..
        }
        | Executor::RampingArrivalRate {
            pre_allocated_vus: made,
            max_vus: max,
            ..
        } => Some(if made == max {
            format!("maxVUs: {max}")
        } else {
            format!("maxVUs: {made}-{max}")
        }),
        _ => None,
    }
}

/// The highest planned arrival rate per second; zero in a closed model.
pub(super) fn highest_rate(executor: &Executor) -> f64 {
    match executor {
        Executor::ConstantArrivalRate { rate, .. } => rate.starts_per_second(),
        Executor::RampingArrivalRate {
            start_rate, stages, ..
        } => {
            let targets = stages.iter().map(|stage| stage.target.starts_per_second());
            targets.fold(start_rate.starts_per_second(), f64::max)
        }
        _ => 0.0,
    }
}

fn staged(stages: impl ExactSizeIterator<Item = Duration>) -> String {
    let count = stages.len();
    format!(" for {} over {count} stages", duration(stages.sum()))
}

fn lasting(span: Option<Duration>) -> String {
    span.map_or_else(String::new, |span| format!(" for {}", duration(span)))
}

/// A span as Go prints it.
pub(super) fn duration(span: Duration) -> String {
    show::duration(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
}
