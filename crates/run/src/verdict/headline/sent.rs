//! The headline of an open load that was sent as planned, possibly late.
//!
//! Must not judge. Invariant: it says that the load was delivered only if nothing held many responses up.

use loadline_model::verdict::Limit;

use super::{Headline, WELL, good_answers, side_in_words};
use crate::verdict::facts::Facts;
use crate::verdict::wording::{duration, iterations, percent, rate};
use crate::verdict::{backlog, downtime, lateness, losses, moments, shapes, stability};

/// The planned load was sent, possibly late; how it was answered is a separate matter. Rates are those while
/// arrivals were due: a last response may come long after.
pub(super) fn sent_headline(facts: &Facts<'_>, limit: Limit) -> Headline {
    let asked = facts.asked_rate().unwrap_or(0.0);
    let well = facts.good_share();
    if let Some(answered) = backlog::falls_behind(facts) {
        return Headline::new(match facts.is_script() {
            true => format!(
                "the load of {} was sent, but more and more of them were under way",
                iterations(asked)
            ),
            false => format!(
                "the offered load of {} was sent, but responses fell behind: {} at the end",
                rate(asked),
                rate(answered)
            ),
        });
    }
    if let Some(silent) = silent_headline(facts, limit) {
        return silent;
    }
    let wrong = match limit {
        Limit::Target => shapes::wrong_by_checks(facts),
        Limit::Unknown => shapes::mostly_fails_checks(facts),
        _ => None,
    };
    if let Some(part) = wrong {
        return Headline::new(format!(
            "the load of {} was sent, but {} of the checks failed",
            iterations(asked),
            percent(part)
        ));
    }
    match well >= WELL {
        true => well_headline(facts, limit, asked * well * facts.requests_per_iteration()),
        false => partly_good_headline(facts, asked, well),
    }
}

/// Nearly all of it got good responses.
fn well_headline(facts: &Facts<'_>, limit: Limit, good: f64) -> Headline {
    let asked = facts.asked_rate().unwrap_or(0.0);
    let load = match facts.is_script() {
        true => iterations(asked),
        false => rate(asked),
    };
    let text = match facts.is_script() {
        true => format!("{load}, {} good responses", rate(good)),
        false => format!("{} good responses of {load} planned", rate(good)),
    };
    Headline::new(match (lateness::how_late(facts), limit) {
        (Some(late), _) => format!("{text}, but {late}: {}", side_in_words(facts, limit)),
        (None, Limit::Generator) => {
            format!("the offered load was delivered, partly late: {text}")
        }
        (None, Limit::Nobody) => format!("the offered load was delivered: {text}"),
        (None, Limit::Network) if losses::slow_down(facts) => {
            format!("the offered load was delivered, but packets were lost: {text}")
        }
        (None, _) if stability::interrupts_many(facts) => {
            let what = match limit {
                Limit::Network => "the network",
                _ => "responses",
            };
            format!("the offered load was delivered, but {what} stalled: {text}")
        }
        (None, _) if backlog::piles_up(facts) || backlog::keeps_some_waiting(facts) => {
            queued_headline(facts, &load)
        }
        (None, _) if facts.closed_vus() > 0 => {
            let who = match limit {
                Limit::Network => "the network",
                _ => "the target",
            };
            format!("the offered load was delivered, while other VUs waited for {who}: {text}")
        }
        (None, _) => format!("the offered load was delivered: {text}"),
    })
}

/// A load that was sent to the end, and not answered to the end.
fn silent_headline(facts: &Facts<'_>, limit: Limit) -> Option<Headline> {
    let who = match limit {
        Limit::Target => "the target stopped responding",
        Limit::Network => "the network lost all packets",
        _ => return None,
    };
    let at = downtime::silent_from(facts)?;
    let reached = good_answers(facts);
    Some(Headline::new(format!(
        "{reached}, until {who} after {}",
        duration(at)
    )))
}

fn queued_headline(facts: &Facts<'_>, load: &str) -> String {
    if let Some(moment) = moments::of_queue(facts) {
        return format!(
            "the load was sent, but responses queued {}: {} good responses of {} sent",
            moment.when(),
            rate(moment.per_second(|row| row.good)),
            rate(moment.per_second(|row| row.started))
        );
    }
    let answered = rate(facts.mean_per_second(|row| row.good));
    format!(
        "the load of {load} was sent, but responses queued: {answered} good responses meanwhile"
    )
}

/// The planned load was sent, and a part of it got no good responses.
fn partly_good_headline(facts: &Facts<'_>, asked: f64, well: f64) -> Headline {
    let failed = facts.counts.failed_total();
    let status = facts.worst_status();
    let others = match (facts.worst_class(), status) {
        (Some(class), status) if status.is_none_or(|(_, n)| n < failed) => {
            Some(class.name().to_owned())
        }
        (_, Some((status, _))) => Some(format!("status {status}")),
        _ if facts.left_waiting().is_some() => Some("no response".to_owned()),
        _ => None,
    };
    let load = match facts.is_script() {
        true => iterations(asked),
        false => rate(asked),
    };
    let but = match (moments::of_failures(facts), facts.is_script()) {
        _ if well <= 0.0 => "no response was good".to_owned(),
        (Some(moment), _) => format!(
            "{} only {} of {} were good responses",
            moment.when(),
            rate(moment.per_second(|row| row.good)),
            rate(moment.per_second(|row| row.outcomes().done()))
        ),
        (None, true) => format!("only {} of its requests got good responses", percent(well)),
        (None, false) => format!("only {} got good responses", rate(asked * well)),
    };
    Headline::new(format!("the load of {load} was sent, but {but}")).with(others.map(|others| {
        match well > 0.0 {
            true => format!(" (most others: {others})"),
            false => format!(" (most: {others})"),
        }
    }))
}
