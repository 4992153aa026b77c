//! The output of `loadline capacity`: a line for each probe, and the result.
//!
//! Must not decide anything. Invariant: no result, however empty, makes it fail.

use std::fmt::Write as _;
use std::time::Duration;

use loadline_model::verdict::{Finding, Limit};
use loadline_report::{Style, units};
use loadline_run::verdict::Code;
use loadline_suite::capacity::{
    Aim, Answer, Capacity, Confidence, Doubt, GaveWay, Measured, Order, Outcome, Probe, Sureness,
};

/// Width of the names before the lines of a result, in columns.
const NAME: usize = 11;

/// The start of a probe.
pub(super) fn beginning(number: usize, order: &Order) -> String {
    format!(
        "probe {number:<3} {:>9} for {:<5}",
        units::rate(order.rate),
        units::planned(order.length())
    )
}

/// A check of a recovering target.
pub(super) fn recovering(order: &Order) -> String {
    format!(
        "recovery  {:>9} for {:<5}",
        units::rate(order.rate),
        units::planned(order.length())
    )
}

/// The outcome of a probe, and the interval known after it.
pub(super) fn probe(probe: &Probe, interval: (Option<f64>, Option<f64>)) -> String {
    let length = Duration::from_secs_f64(probe.warm_up_s + probe.duration_s);
    let mut out = format!(
        "probe {:<3} {:>9} for {:<5} {:<14}",
        probe.number,
        units::rate(probe.rate),
        units::planned(length),
        outcome(probe.outcome)
    );
    let told: Vec<String> = probe.objectives.iter().map(measured).collect();
    push(&mut out, format_args!(" {}", told.join(", ")));
    if let Some(why) = &probe.not_carried {
        push(&mut out, format_args!("; {why}"));
    }
    if probe.aim != Aim::Bracket {
        push(&mut out, format_args!("  [{}]", between(interval)));
    }
    out.push('\n');
    out
}

fn between((lower, upper): (Option<f64>, Option<f64>)) -> String {
    let edge = |rate: Option<f64>| rate.map_or_else(|| "?".to_owned(), units::rate);
    format!("{} to {}", edge(lower), edge(upper))
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held {
            sureness: Sureness::Close,
        } => "just held",
        Outcome::Held { .. } => "held",
        Outcome::Broke {
            sureness: Sureness::Close,
        } => "just not held",
        Outcome::Broke { .. } => "not held",
        Outcome::Inconclusive {
            why: Doubt::Generator,
        } => "generator busy",
        Outcome::Inconclusive { why: Doubt::Plan } => "too few VUs",
        Outcome::Inconclusive { .. } => "few samples",
    }
}

/// An objective with its measured value: `p(99)<200ms: 151 ms`.
fn measured(measured: &Measured) -> String {
    let is_share = measured.objective.ends_with('%');
    let value = match measured.value {
        None => "nothing measured".to_owned(),
        Some(share) if is_share => units::percent(share),
        Some(ns) => units::span(ns),
    };
    format!("{}: {value}", measured.objective)
}

/// The result.
pub(super) fn answer(answer: &Answer, target: &str, spent: Duration, style: &Style) -> String {
    let mut out = format!("\n{} of {target}\n", strong(&headline(answer), style));
    let mut line = |name: &str, text: &str| {
        push(&mut out, format_args!("  {name:<NAME$}{text}\n"));
    };
    line("objectives", &answer.slo);
    line("edges", &edges(answer));
    if let Some(crossing) = answer.crossing {
        let text = format!(
            "{} ± {} (95 %), from the {} probes near the edge",
            units::rate(crossing.rate),
            units::rate(crossing.half_width),
            crossing.probes
        );
        line("estimate", &text);
    }
    line("confidence", confidence(answer.confidence));
    if let Some(gave_way) = &answer.gave_way {
        for (position, text) in what_gave_way(gave_way).iter().enumerate() {
            line(if position == 0 { "failed" } else { "" }, text);
        }
    }
    for remark in &answer.remarks {
        line("note", remark);
    }
    let count = answer.probes.len() as u64;
    let text = format!(
        "{} in {}",
        units::counted(count, "probe"),
        units::planned(whole_seconds(spent))
    );
    line("effort", &text);
    out
}

fn strong(text: &str, style: &Style) -> String {
    match style.color {
        true => format!("\x1b[1m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

fn whole_seconds(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs_f64().round() as u64)
}

fn headline(answer: &Answer) -> String {
    match answer.capacity {
        Capacity::Between { held, broke } => {
            format!("capacity: {} to {}", units::rate(held), units::rate(broke))
        }
        Capacity::AtLeast { held, .. } => format!("capacity: at least {}", units::rate(held)),
        Capacity::Below { broke } => format!("capacity: below {}", units::rate(broke)),
        Capacity::Unknown if answer.void_probes() > 0 => "capacity: not measurable here".to_owned(),
        Capacity::Unknown => "capacity: unknown".to_owned(),
    }
}

fn edges(answer: &Answer) -> String {
    match answer.capacity {
        Capacity::Between { held, broke } => format!(
            "{} is the highest rate that held, {} the lowest that did not",
            units::rate(held),
            units::rate(broke)
        ),
        Capacity::AtLeast {
            held,
            limited: Some(limited),
        } => format!(
            "{} held; at {} the generator or its plan was the limit, not the target",
            units::rate(held),
            units::rate(limited)
        ),
        Capacity::AtLeast {
            held,
            limited: None,
        } => {
            format!(
                "{} held, and it is the highest rate that was tried",
                units::rate(held)
            )
        }
        Capacity::Below { broke } => {
            format!(
                "{} did not hold, and it is the lowest that was tried",
                units::rate(broke)
            )
        }
        Capacity::Unknown => match answer.void_probes() {
            0 => "no probe finished".to_owned(),
            void => format!(
                "in {void} of {}, the generator or its plan may have been the limit: run it on its own machine",
                units::counted(answer.probes.len() as u64, "probe")
            ),
        },
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high: the probes at the edges agree",
        Confidence::Fair => {
            "fair: probes at the edges did not all agree, or vary more than the requested precision"
        }
        Confidence::Low => "low: the search did not finish, or its probes contradict each other",
    }
}

fn what_gave_way(gave_way: &GaveWay) -> Vec<String> {
    let broken: Vec<String> = gave_way.objectives.iter().map(measured).collect();
    let broken = broken.into_iter().chain(gave_way.not_carried.clone());
    let mut lines = vec![format!(
        "at {}: {}",
        units::rate(gave_way.rate),
        broken.collect::<Vec<_>>().join("; ")
    )];
    lines.push(format!("limit: {}; {}", limit(gave_way), gave_way.headline));
    lines.extend(gave_way.findings.iter().map(|finding| finding.text.clone()));
    lines
}

/// Findings that show a problem with the requests instead of the number of virtual users.
const MISTAKES: [Code; 5] = [
    Code::NothingAnswered,
    Code::MostUnanswered,
    Code::WrongAnswers,
    Code::NoIterationCompleted,
    Code::IterationsThrew,
];

fn limit(gave_way: &GaveWay) -> &'static str {
    let is_mistaken = |finding: &Finding| MISTAKES.iter().any(|code| code.name() == finding.code);
    match gave_way.limit {
        Limit::Target => "the target",
        Limit::Network => "the network",
        Limit::Generator => "the generator",
        Limit::Plan if gave_way.findings.iter().any(is_mistaken) => "the plan",
        Limit::Plan => "the plan: too few virtual users (--max-vus)",
        Limit::Nobody => {
            "the target or the network: requests were sent on time and got a response, but missed the objectives"
        }
        Limit::Unknown => "unknown",
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use loadline_model::verdict::Gravity;
    use loadline_suite::capacity::{
        Judgement, Look, ProbeFinding, Report, Search, SearchStep, Settings,
    };

    use super::*;

    fn report(order: &Order) -> Report {
        let held = order.rate <= 270.0;
        let sureness = Sureness::Sure;
        Report {
            judgement: Judgement {
                outcome: match held {
                    true => Outcome::Held { sureness },
                    false => Outcome::Broke { sureness },
                },
                objectives: vec![Measured {
                    objective: "p(99)<200ms".to_owned(),
                    value: Some(order.rate * 7.4e5),
                    held,
                    sureness,
                }],
                samples: 5_000,
                not_carried: None,
                stress: None,
            },
            found: ProbeFinding {
                throughput: order.rate,
                limit: Limit::Target,
                headline: "the target carried 270/s".to_owned(),
                findings: Vec::new(),
            },
        }
    }

    fn searched() -> Search {
        let seconds = Duration::from_secs;
        let settings = Settings {
            from: None,
            to: None,
            precision: 0.1,
            probe: seconds(30),
            probe_max: seconds(120),
            warm_up: seconds(5),
            recovery: seconds(3),
            recoveries_max: 10,
            time_max: None,
            samples_min: 2_000,
        };
        Search::new("p(99)<200ms".parse().expect("objectives"), settings)
    }

    #[test]
    fn an_answer_and_its_probes() {
        let mut search = searched();
        let mut lines = String::new();
        let found = loop {
            match search.next(Duration::ZERO) {
                SearchStep::Probe(order) => {
                    search.told(report(&order));
                    let last = search.probes().last().expect("a probe");
                    lines.push_str(&probe(last, search.interval()));
                }
                SearchStep::Recover(_) => search.told_recovery(Look::Recovered),
                SearchStep::Done(answer) => break *answer,
            }
        };
        let text = answer(
            &found,
            "http://h/",
            Duration::from_secs(312),
            &Style::default(),
        );
        insta::assert_snapshot!(format!("{lines}{text}"));
    }

    #[test]
    fn an_empty_answer() {
        let text = answer(
            &searched().interrupted(),
            "http://h/",
            Duration::ZERO,
            &Style::default(),
        );
        assert!(text.contains("capacity: unknown"), "{text}");
        assert!(text.contains("0 probes"), "{text}");
    }

    #[test]
    fn probes_that_the_generator_spoilt_are_no_answer() {
        let mut search = searched();
        while let SearchStep::Probe(_) = search.next(Duration::ZERO) {
            if search.probes().len() == 3 {
                break;
            }
            search.told(Report {
                judgement: Judgement {
                    outcome: Outcome::Inconclusive {
                        why: Doubt::Generator,
                    },
                    objectives: Vec::new(),
                    samples: 1_000,
                    not_carried: None,
                    stress: None,
                },
                found: ProbeFinding {
                    throughput: 0.0,
                    limit: Limit::Generator,
                    headline: String::new(),
                    findings: Vec::new(),
                },
            });
            search.told_recovery(Look::Recovered);
        }
        let found = search.interrupted();
        let text = answer(&found, "http://h/", Duration::ZERO, &Style::default());
        assert!(text.contains("capacity: not measurable here"), "{text}");
        assert!(text.contains("in 3 of 3 probes"), "{text}");
    }

    #[test]
    fn requests_that_get_no_answer_are_no_matter_of_virtual_users() {
        let told = |code: Code| {
            let finding = Finding {
                code: code.name().to_owned(),
                gravity: Gravity::Alarm,
                text: String::new(),
                advice: None,
            };
            limit(&GaveWay {
                rate: 100.0,
                objectives: Vec::new(),
                not_carried: None,
                limit: Limit::Plan,
                headline: String::new(),
                findings: vec![finding],
            })
        };
        assert_eq!(told(Code::NothingAnswered), "the plan");
        assert!(told(Code::TooFewVus).contains("--max-vus"));
    }
}
