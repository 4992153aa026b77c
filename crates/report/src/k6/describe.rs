//! What k6 prints before a test: where the script and the results are, and what each scenario does.
//!
//! Measured on k6 v2.2.0. Must not know the engine. Invariant: one line per scenario.

use std::time::Duration;

use loadline_go::GoDuration;
use loadline_model::{Executor, ThreadGroup};

use super::paint::Paint;

/// A test as described before it runs.
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

/// A scenario as described before it runs.
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

/// The block before the test, with a trailing line end.
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
        duration(in_tenths(test.max_duration))
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
        Executor::ExternallyControlled {
            vus,
            max_vus,
            duration: length,
        } => {
            let length = length.map_or("infinite duration".to_owned(), |length| {
                format!("up to {} duration", duration(length))
            });
            let what = "Externally controlled execution with";
            (
                format!("{what} {vus} VUs, {max_vus} max VUs, {length}"),
                None,
            )
        }
        Executor::RampingVus {
            start_vus,
            stages,
            graceful_ramp_down: grace,
        } => {
            let targets = stages.iter().map(|stage| stage.target);
            let most = targets.fold(*start_vus, u32::max);
            let note = format!("gracefulRampDown: {}", duration(*grace));
            (
                format!(
                    "Up to {most} looping VUs{}",
                    staged(stages.iter().map(|s| s.duration))
                ),
                Some(note),
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
        Executor::ThreadGroup(group) => (threads(group), None),
    }
}

fn threads(group: &ThreadGroup) -> String {
    format!("up to {} threads", group.threads_max())
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

/// A span in whole tenths of a second.
fn in_tenths(span: Duration) -> Duration {
    let tenths = (span.as_millis() + 50) / 100;
    Duration::from_millis(u64::try_from(tenths * 100).unwrap_or(u64::MAX))
}

/// A span as Go prints it.
pub(super) fn duration(span: Duration) -> String {
    GoDuration::from(span).to_string()
}

#[cfg(test)]
mod tests {
    use loadline_model::ArrivalRate;
    use loadline_model::executor::{RateStage, Spacing, VuStage};

    use super::*;

    fn rate(starts: f64) -> ArrivalRate {
        ArrivalRate::from_per_second(starts).expect("a rate")
    }

    fn described(executor: &Executor, exec: Option<&str>, start_s: u64, stop_s: u64) -> String {
        sentence(&ScenarioDescription {
            name: "a",
            executor,
            exec,
            start_time: Duration::from_secs(start_s),
            graceful_stop: Duration::from_secs(stop_s),
        })
    }

    #[test]
    fn closed_models() {
        let looping = Executor::ConstantVus {
            vus: 5,
            duration: Some(Duration::from_secs(10)),
        };
        assert_eq!(
            described(&looping, None, 0, 30),
            "5 looping VUs for 10s (gracefulStop: 30s)"
        );
        let stage = |target| VuStage {
            duration: Duration::from_secs(40),
            target,
        };
        let ramping = Executor::RampingVus {
            start_vus: 1,
            stages: vec![stage(100), stage(100), stage(0)],
            graceful_ramp_down: Duration::from_secs(30),
        };
        assert_eq!(
            described(&ramping, None, 0, 30),
            "Up to 100 looping VUs for 2m0s over 3 stages (gracefulRampDown: 30s, gracefulStop: 30s)"
        );
        let each = Executor::PerVuIterations {
            vus: 2,
            iterations: 3,
            max_duration: Some(Duration::from_secs(600)),
        };
        assert_eq!(
            described(&each, Some("b"), 1, 30),
            "3 iterations for each of 2 VUs (maxDuration: 10m0s, exec: b, startTime: 1s, gracefulStop: 30s)"
        );
    }

    #[test]
    fn virtual_users_said_from_outside() {
        let steered = |duration| Executor::ExternallyControlled {
            vus: 2,
            max_vus: 10,
            duration,
        };
        let what = "Externally controlled execution with 2 VUs, 10 max VUs";
        let until = described(&steered(None), None, 0, 0);
        assert!(
            until.contains(&format!("{what}, infinite duration")),
            "{until}"
        );
        let minute = Some(Duration::from_secs(60));
        let for_a_minute = described(&steered(minute), None, 0, 0);
        let expected = format!("{what}, up to 1m0s duration");
        assert!(for_a_minute.contains(&expected), "{for_a_minute}");
    }

    #[test]
    fn open_models() {
        let constant = Executor::ConstantArrivalRate {
            rate: rate(5.0),
            duration: Some(Duration::from_millis(1_500)),
            spacing: Spacing::Even,
            iterations: None,
            pre_allocated_vus: 2,
            max_vus: 10,
        };
        assert_eq!(
            described(&constant, None, 0, 30),
            "5.00 iterations/s for 1.5s (maxVUs: 2-10, gracefulStop: 30s)"
        );
        let stage = |starts| RateStage {
            duration: Duration::from_secs(1),
            target: rate(starts),
        };
        let ramping = Executor::RampingArrivalRate {
            start_rate: rate(1.0),
            stages: vec![stage(2.0), stage(10.0)],
            spacing: Spacing::Even,
            iterations: None,
            pre_allocated_vus: 1,
            max_vus: 1,
        };
        assert_eq!(
            described(&ramping, None, 0, 0),
            "Up to 10.00 iterations/s for 2s over 2 stages (maxVUs: 1)"
        );
    }

    #[test]
    fn the_header_names_script_and_outputs() {
        let executor = Executor::SharedIterations {
            vus: 2,
            iterations: 6,
            max_duration: Some(Duration::from_secs(600)),
        };
        let scenario = |name, start_s| ScenarioDescription {
            name,
            executor: &executor,
            exec: None,
            start_time: Duration::from_secs(start_s),
            graceful_stop: Duration::from_secs(30),
        };
        let test = TestDescription {
            banner: "loadline 1.2.3",
            script: "full.js",
            outputs: vec!["json (out.json)".to_owned(), "csv (out.csv)".to_owned()],
            segment: 1.0,
            max_vus: 4,
            max_duration: Duration::from_secs(631),
            scenarios: vec![scenario("late", 1), scenario("soon", 0)],
        };
        let line = "6 iterations shared among 2 VUs (maxDuration: 10m0s";
        assert_eq!(
            header(&test, false),
            format!(
                "\n  loadline 1.2.3\n\n     execution: local\n        script: full.js\n        \
                 output: json (out.json), csv (out.csv)\n\n     \
                 scenarios: (100.00%) 2 scenarios, 4 max VUs, 10m31s max duration (incl. graceful stop):\n              \
                 * soon: {line}, gracefulStop: 30s)\n              \
                 * late: {line}, startTime: 1s, gracefulStop: 30s)\n\n"
            )
        );
    }
}
