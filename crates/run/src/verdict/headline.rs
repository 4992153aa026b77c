//! The verdict in one sentence.
//!
//! Must not judge: it gets the judgement. Invariant: a headline names the rate reached and, if something was in
//! the way, who it was.

use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit};

use super::backlog;
use super::code::Code;
use super::downtime;
use super::facts::Facts;
use super::failing::{fails_mostly, finds_no_connection, spoils, time_of_failures};
use super::lateness;
use super::law;
use super::losses;
use super::queue;
use super::saturation::Knee;
use super::shapes;
use super::stability;
use super::wording::{count, counted, duration, iterations, percent, rate};

/// Share of good responses from which the headline does not mention the others.
const WELL: f64 = 0.99;
/// Share of refusals from which their status is more informative than their duration.
const MOSTLY: f64 = 0.5;
/// The findings that make every rate meaningless, worst first.
const OVERRIDING: [Code; 5] = [
    Code::NotConserved,
    Code::NothingSent,
    Code::NothingAnswered,
    Code::MostUnanswered,
    Code::HollowAnswers,
];

/// Share of the time of all requests that failed ones take from which the headline has it.
const TAKEN_BY_FAILURES: f64 = 0.25;

/// Precedes the name of a class of failures.
const MOST_FAILURES: &str = ", most failures";

/// Maximum length of a headline in characters: a line of a table.
const HEADLINE_MAX: usize = 100;

/// A sentence with the most important facts, extended while there is room: the findings have everything.
pub(super) struct Headline {
    text: String,
    /// Useful additional information.
    more: Option<String>,
}

impl Headline {
    fn new(text: String) -> Headline {
        Headline { text, more: None }
    }

    fn with(self, more: Option<String>) -> Headline {
        Headline { more, ..self }
    }

    /// Appends the cause; if there is no room, it replaces the last part of the sentence.
    pub(super) fn because(&mut self, cause: &str) {
        let cause = format!(": {cause}");
        let room = HEADLINE_MAX.saturating_sub(length(&cause));
        if length(&self.text) > room {
            self.text.truncate(end_of_part(&self.text, room));
        }
        self.text.push_str(&cause);
        self.more = None;
    }

    /// Adds a part that is more important than the additional information.
    pub(super) fn add(&mut self, part: &str) {
        if length(&self.text) + length(part) <= HEADLINE_MAX {
            self.text.push_str(part);
        }
    }

    /// Says that this share of the responses with a success status contains an error: such responses are not good.
    fn admit_errors(&mut self, part: f64) {
        let but = format!("(about {} with an error)", percent(part));
        let seemed = self
            .text
            .replacen(" were good responses", &format!(" seemed good {but}"), 1);
        let text = seemed.replacen(" good responses", &format!(" responses {but}"), 1);
        self.text = text.replacen(": the target may be able to handle more", "", 1);
    }

    /// A text that is too long is cut after the last part that fits.
    pub(super) fn into_text(mut self) -> String {
        if let Some(more) = self.more.take() {
            self.add(&more);
        }
        if length(&self.text) > HEADLINE_MAX {
            self.text.truncate(end_of_part(&self.text, HEADLINE_MAX));
        }
        self.text
    }
}

/// The end of the last part of a sentence that fits into `room` characters.
fn end_of_part(text: &str, room: usize) -> usize {
    let most = text
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(at, _)| at);
    let ends = [": ", "; ", ", "].map(|between| text[..most].rfind(between));
    let end = ends.into_iter().flatten().max().unwrap_or(most);
    // Without the name of the class this part is meaningless.
    text[..end]
        .strip_suffix(MOST_FAILURES)
        .map_or(end, str::len)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The verdict in one sentence.
pub(super) fn headline(
    facts: &Facts<'_>,
    delivery: Delivery,
    limit: Limit,
    knee: Option<&Knee>,
    findings: &[Finding],
) -> Headline {
    let mut headline = sentence(facts, delivery, limit, knee, findings);
    // Those that a check rejects do not count as good anyway.
    let count_as_good = |part: &f64| facts.wrong_content_share() < part / 2.0;
    let errors = shapes::error_share(facts).filter(count_as_good);
    let errors = errors.filter(|_| Code::MixedAnswers.is_among(findings));
    if let Some(part) = errors {
        headline.admit_errors(part);
    }
    headline
}

fn sentence(
    facts: &Facts<'_>,
    delivery: Delivery,
    limit: Limit,
    knee: Option<&Knee>,
    findings: &[Finding],
) -> Headline {
    let overriding = OVERRIDING.iter().find_map(|code| {
        findings
            .iter()
            .find(|f| f.code == code.name() && f.gravity == Gravity::Alarm)
    });
    if let Some(finding) = overriding {
        return Headline::new(finding.text.clone());
    }
    if let Some(knee) = knee {
        return knee_headline(knee, limit);
    }
    let goodput = rate(facts.per_second(facts.counts.good));
    match delivery {
        Delivery::Unfinished => Headline::new(format!(
            "ended early, after {}: {goodput} good responses until then",
            duration(facts.elapsed_seconds())
        )),
        Delivery::FellShort if facts.missed().is_none() && lateness::how_late(facts).is_some() => {
            sent_headline(facts, limit)
        }
        Delivery::FellShort => short_headline(facts, limit, &goodput, findings),
        Delivery::Delivered | Delivery::AsFastAsPossible
            if facts.is_script() && facts.all.started == 0 =>
        {
            Headline::new(
                "the script sent no HTTP request, so there is no target to judge".to_owned(),
            )
        }
        Delivery::Delivered | Delivery::AsFastAsPossible if facts.is_without_requests() => {
            Headline::new(
                "no sampler of the plan sends HTTP requests, so there is no target to judge"
                    .to_owned(),
            )
        }
        Delivery::Delivered if facts.open => sent_headline(facts, limit),
        Delivery::Delivered => {
            let done = match facts.all.started {
                1 => "the request was sent".to_owned(),
                sent => format!("all {} requests were sent", count(sent)),
            };
            limit_in_words(facts, limit, &format!("{done}: {}", good_answers(facts)))
        }
        Delivery::AsFastAsPossible => limit_in_words(facts, limit, &good_answers(facts)),
    }
}

/// Good responses per second, with the total if others are many.
fn good_answers(facts: &Facts<'_>) -> String {
    let goodput = rate(facts.per_second(facts.counts.good));
    let sent = rate(facts.per_second(facts.counts.started));
    match facts.good_share() {
        _ if facts.counts.good == 0 => format!("0 of {sent} were good responses"),
        few if few < WELL && sent != goodput => format!("{goodput} of {sent} were good responses"),
        _ => format!("{goodput} good responses"),
    }
}

/// The planned load was sent, possibly late; how it was answered is a separate matter. Rates are those while
/// arrivals were due: a last response may come long after.
fn sent_headline(facts: &Facts<'_>, limit: Limit) -> Headline {
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
    let good = asked * well * facts.requests_per_iteration();
    if well >= WELL {
        let load = match facts.is_script() {
            true => iterations(asked),
            false => rate(asked),
        };
        let text = match facts.is_script() {
            true => format!("{load}, {} good responses", rate(good)),
            false => format!("{} good responses of {load} planned", rate(good)),
        };
        return Headline::new(match (lateness::how_late(facts), limit) {
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
                let answered = rate(facts.mean_per_second(|row| row.good));
                format!(
                    "the load of {load} was sent, but responses queued: {answered} good responses meanwhile"
                )
            }
            (None, _) if facts.closed_vus() > 0 => {
                let who = match limit {
                    Limit::Network => "the network",
                    _ => "the target",
                };
                format!("the offered load was delivered, while other VUs waited for {who}: {text}")
            }
            (None, _) => format!("the offered load was delivered: {text}"),
        });
    }
    partly_good_headline(facts, asked, well)
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
        _ => None,
    };
    let (load, part) = match facts.is_script() {
        true => (
            iterations(asked),
            format!("{} of its requests", percent(well)),
        ),
        false => (rate(asked), rate(asked * well)),
    };
    let but = match well > 0.0 {
        true => format!("only {part} got good responses"),
        false => "no response was good".to_owned(),
    };
    Headline::new(format!("the load of {load} was sent, but {but}")).with(others.map(|others| {
        match well > 0.0 {
            true => format!(" (most others: {others})"),
            false => format!(" (most: {others})"),
        }
    }))
}

fn knee_headline(knee: &Knee, limit: Limit) -> Headline {
    let at = knee.rate(knee.point.throughput);
    let who = match limit {
        Limit::Generator => "the generator, not the target, was at its limit",
        Limit::Network => "the network was at its limit",
        Limit::Plan => "the plan's virtual users were all busy",
        Limit::Unknown => "goodput stopped rising",
        Limit::Target | Limit::Nobody => "the target saturated",
    };
    let passed = knee.passed.as_ref().map(|passed| {
        format!(
            "; p99 {} passed {} at {}",
            passed.what,
            duration(passed.bound_s),
            rate(passed.offered)
        )
    });
    Headline::new(format!("{who} at about {at}")).with(passed)
}

fn short_headline(
    facts: &Facts<'_>,
    limit: Limit,
    goodput: &str,
    findings: &[Finding],
) -> Headline {
    let silent_from = downtime::silent_from(facts).filter(|_| limit == Limit::Target);
    let who = match silent_from {
        Some(at) => format!("the target stopped responding after {}", duration(at)),
        None => side_in_words(facts, limit).to_owned(),
    };
    let is_ceiling = Code::TargetCeiling.is_among(findings) || Code::TooFewVus.is_among(findings);
    let is_waited_for = matches!(limit, Limit::Target | Limit::Network | Limit::Plan);
    let little = match is_waited_for && is_ceiling && !facts.is_script() {
        true => law::in_numbers(facts).map(|law| format!(" ({law})")),
        false => None,
    };
    let Some(asked) = facts.evidence.totals.asked else {
        return Headline::new(format!("{goodput} good responses: {who}"));
    };
    if facts.is_script() {
        let (begun, asked) = (count(facts.begun()), count(asked));
        return Headline::new(format!(
            "{begun} of {asked} iterations started, {goodput} good responses: {who}"
        ));
    }
    match facts.asked_rate() {
        Some(asked) => Headline::new(format!(
            "asked for {}, got {goodput} good responses: {who}",
            rate(asked)
        ))
        .with(little),
        None => {
            let done = count(facts.all.completed);
            Headline::new(format!(
                "{done} of {} requests were answered, {goodput} good responses: {who}",
                count(asked)
            ))
        }
    }
}

fn side_in_words(facts: &Facts<'_>, limit: Limit) -> &'static str {
    match limit {
        Limit::Target => "the target was the limit",
        Limit::Network => "the network was the limit",
        Limit::Generator if facts.has_lost_agents() => "a part of the generator was lost",
        Limit::Generator => "the generator was the limit",
        Limit::Plan => "the plan was the limit",
        Limit::Nobody | Limit::Unknown => "the limit is unknown",
    }
}

/// The target, as the limit of virtual users who do more than wait for it.
fn unhurried_in_words(facts: &Facts<'_>, vus: &str) -> String {
    match (facts.worst_status(), facts.worst_class()) {
        (Some((status, n)), _) if n >= facts.counts.failed_total() => others_have(facts, status, n),
        (_, Some(class)) => format!("most failures: {}", class.name()),
        _ if queue::slows_with_load(facts) => {
            "at the target's limit: more VUs only waited longer".to_owned()
        }
        _ if !facts.may_think() && !facts.evidence.plan.is_paced() => {
            format!("as fast as the target answered up to {vus}")
        }
        _ => format!("{vus} spent only part of their time waiting for the target"),
    }
}

fn limit_in_words(facts: &Facts<'_>, limit: Limit, reached: &str) -> Headline {
    let in_use = vus_in_use(facts);
    let vus = match facts.kept_waiting() {
        0 => counted(in_use, "VU"),
        kept => format!(
            "{} of {}",
            in_use.saturating_sub(kept),
            counted(in_use, "VU")
        ),
    };
    let stuck = facts.stuck();
    if let Some(stuck) = stuck.filter(|_| matches!(limit, Limit::Target | Limit::Network)) {
        let silent = match limit {
            Limit::Network => ", not even an acknowledgment",
            _ => "",
        };
        return Headline::new(format!(
            "{reached}; {} never got a response{silent}",
            counted(stuck.requests, "request")
        ))
        .with(Some(format!(
            " and held {}",
            counted(stuck.requests.min(vus_in_use(facts)), "VU")
        )));
    }
    let ended = match limit {
        Limit::Target => Some("the target stopped responding"),
        Limit::Network => Some("the network lost all packets"),
        Limit::Unknown if finds_no_connection(facts) => Some("no new connection was made"),
        _ => None,
    };
    if let Some((how, at)) = ended.zip(downtime::silent_from(facts)) {
        let at = duration(at);
        return Headline::new(format!("{reached}, until {how} after {at}"));
    }
    let mut more = None;
    let who = match limit {
        Limit::Target if !facts.is_hurried() => unhurried_in_words(facts, &vus),
        Limit::Target if facts.refused_share() >= MOSTLY || facts.mistaken_share() >= MOSTLY => {
            match facts.worst_status() {
                Some((status, n)) => others_have(facts, status, n),
                None => format!("as fast as the target answered {vus}"),
            }
        }
        Limit::Target if fails_mostly(facts) => {
            let class = facts.worst_class().map_or("", ErrorClass::name);
            format!("{vus} spent most of their time on requests that failed: {class}")
        }
        Limit::Target => {
            let mean = facts.mean_service();
            more = match time_of_failures(facts) {
                part if part >= TAKEN_BY_FAILURES => {
                    Some(format!("; failures took {} of their time", percent(part)))
                }
                _ => mean.map(|mean| format!(" ({} on average)", duration(mean))),
            };
            format!("as fast as the target answered {vus}")
        }
        Limit::Network => format!("as fast as the network let {vus} go"),
        Limit::Generator => {
            "as fast as the generator could go: the target may be able to handle more".to_owned()
        }
        Limit::Plan => plan_in_words(facts, &vus),
        Limit::Nobody | Limit::Unknown => "but the limit is unknown".to_owned(),
    };
    Headline::new(format!("{reached}, {who}")).with(more)
}

fn plan_in_words(facts: &Facts<'_>, vus: &str) -> String {
    let each = || duration(facts.mean_service().unwrap_or(0.0));
    match facts.worst_status().filter(|_| facts.has_mistakes()) {
        Some((status, n)) => others_have(facts, status, n),
        None if spoils(facts).is_some() => format!("limited by the plan ({vus})"),
        None if facts.misses_pace() => {
            format!("the plan's timers ask for more than {vus} can send")
        }
        None if law::rises_with_users(facts) => {
            format!("rising to the end with {vus} at {} each", each())
        }
        None if law::more_users_would_help(facts) && law::in_numbers(facts).is_some() => {
            format!("all that {vus} can get at {} each", each())
        }
        None => match facts.reached_cap() {
            Some(most) => format!("paced by the option rps ({most}/s)"),
            None => format!("paced by the plan ({vus})"),
        },
    }
}

/// Some existing virtual users may never have had work; those that wait for their pace are in use. Busy VUs are
/// counted once a second: a shorter run only saw those that were left at its end.
fn vus_in_use(facts: &Facts<'_>) -> u64 {
    let busy = match facts.elapsed_seconds() < 1.0 {
        true => facts.counts.started,
        false => facts.evidence.totals.active_vus_max,
    };
    match facts.evidence.plan.is_paced() {
        true => facts.vus,
        false => facts.vus.min(busy.max(1)),
    }
}

fn others_have(facts: &Facts<'_>, status: u16, n: u64) -> String {
    let which = match n >= facts.counts.completed {
        true => "all",
        false => "most others",
    };
    format!("{which} have status {status}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_is_not_cut_before_a_name() {
        let text = "of 111,019 requests sent, 5,793 (5.2 %) got a response, goodput 826.5/s, most failures: ports-exhausted: do not";
        assert!(
            Headline::new(text.to_owned())
                .into_text()
                .ends_with("goodput 826.5/s")
        );
    }
}
