//! The verdict in one sentence.
//!
//! Must not judge: it gets the judgement. Invariant: a headline names the rate reached and, if something was in
//! the way, who it was.

mod sent;

use loadline_model::error_class::ErrorClass;
use loadline_model::result::Row;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit};

use super::code::Code;
use super::computing;
use super::distance;
use super::downtime;
use super::elsewhere;
use super::facts::Facts;
use super::failing::{
    FAILURES_OF_OFFERED, failing_from, fails_mostly, finds_no_connection, spoils, time_of_failures,
};
use super::lateness;
use super::law;
use super::moments::{self, Moment};
use super::names;
use super::queue;
use super::saturation::Knee;
use super::shapes;
use super::slowing;
use super::wording::{count, counted, duration, percent, rate};
use sent::sent_headline;

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

/// Follows what bounds virtual users that wait for round trips.
const MORE_WOULD_HELP: &str = "; more would get more";

/// Precedes the name of a class of failures.
const MOST_FAILURES: &str = ", most failures";

/// Maximum length of a headline in characters: a line of a table.
const HEADLINE_MAX: usize = 100;
/// Longer names of requests and places are left out.
const NAME_MAX: usize = 24;

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

    /// Says what some of the responses with a success status are: such responses are not good.
    fn admit(&mut self, what: &str) {
        let but = format!("({what})");
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
    if let Some(what) = not_as_good_as_it_seems(facts, findings) {
        headline.admit(&what);
    }
    headline
}

/// What some of the responses that count as good are instead.
fn not_as_good_as_it_seems(facts: &Facts<'_>, findings: &[Finding]) -> Option<String> {
    // Those that a check rejects do not count as good anyway.
    let count_as_good = |part: f64| facts.wrong_content_share() < part / 2.0;
    let elsewhere = elsewhere::of(facts).filter(|it| count_as_good(it.share));
    if let Some(elsewhere) = elsewhere {
        let place = elsewhere.place().filter(|place| length(place) <= NAME_MAX);
        let place = place.unwrap_or("another place");
        return Some(format!("{} from {place}", elsewhere.part()));
    }
    let is_told = Code::MixedAnswers.is_among(findings);
    let told = |part: Option<f64>| part.filter(|part| is_told && count_as_good(*part));
    if let Some(part) = told(shapes::error_share(facts)) {
        return Some(format!("about {} with an error", percent(part)));
    }
    if let Some(part) = told(shapes::waiting_share(facts)) {
        return Some(format!("about {} with a waiting page", percent(part)));
    }
    // The redirects of a script are followed.
    let redirects = facts.status_share(elsewhere::leads_elsewhere);
    let redirects = told(Some(redirects).filter(|part| *part > 0.0 && !facts.may_think()))?;
    Some(format!("{} redirects", percent(redirects)))
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
        return knee_headline(facts, knee, limit);
    }
    let goodput = rate(facts.per_second(facts.counts.good));
    match delivery {
        Delivery::Unfinished => {
            let at = duration(facts.elapsed_seconds());
            Headline::new(match facts.all.started {
                0 => format!("ended early, after {at}: no HTTP request was sent until then"),
                _ => format!("ended early, after {at}: {goodput} good responses until then"),
            })
        }
        Delivery::FellShort if is_sent(facts, limit) => sent_headline(facts, limit),
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

/// Whether all of an open load was sent: late, or a part of it in vain, for which no lack of room is to blame.
fn is_sent(facts: &Facts<'_>, limit: Limit) -> bool {
    let in_vain = matches!(limit, Limit::Target | Limit::Unknown);
    let is_late = lateness::how_late(facts).is_some();
    facts.missed().is_none() && (is_late || facts.open && in_vain)
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

fn knee_headline(facts: &Facts<'_>, knee: &Knee, limit: Limit) -> Headline {
    let at = knee.rate(knee.point.throughput);
    if let Some(bound) = distance::bound(facts, limit, vus_in_use(facts)) {
        return Headline::new(format!("{at} good responses at most: {bound}"))
            .with(Some(MORE_WOULD_HELP.to_owned()));
    }
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
    let hangs = short_name_of_what_hangs(facts);
    let bound = distance::bound(facts, limit, facts.vus);
    let is_bound = bound.is_some();
    let who = match silent_from {
        Some(at) => format!("the target stopped responding after {}", duration(at)),
        None if limit == Limit::Target && hangs.is_some() => {
            format!("{} hangs", hangs.unwrap_or_default())
        }
        None => bound.unwrap_or_else(|| side_in_words(facts, limit).to_owned()),
    };
    let is_ceiling = Code::TargetCeiling.is_among(findings) || Code::TooFewVus.is_among(findings);
    let is_waited_for = matches!(limit, Limit::Target | Limit::Network | Limit::Plan);
    let little = match is_waited_for && is_ceiling && !facts.is_script() && !is_bound {
        true => law::in_numbers(facts).map(|law| format!(" ({law})")),
        false => None,
    };
    let Some(asked) = facts.asked() else {
        return Headline::new(format!("{goodput} good responses: {who}"));
    };
    if let Some(moment) = moments::of_shortfall(facts) {
        return moment_headline(facts, &moment, &who);
    }
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

/// The load fell short in some seconds, whose figures the means of the whole run hide.
fn moment_headline(facts: &Facts<'_>, moment: &Moment<'_>, who: &str) -> Headline {
    let when = moment.when();
    let offered = |row: &Row| row.offered.unwrap_or(0);
    Headline::new(match facts.is_script() {
        true => format!(
            "{when} {} of {} iterations started: {who}",
            count(moment.sum(|row| offered(row).saturating_sub(row.dropped))),
            count(moment.sum(offered))
        ),
        false => format!(
            "{when} asked for {}, got {} good responses: {who}",
            rate(moment.per_second(offered)),
            rate(moment.per_second(|row| row.good))
        ),
    })
}

fn side_in_words(facts: &Facts<'_>, limit: Limit) -> &'static str {
    match limit {
        Limit::Target => "the target was the limit",
        Limit::Network => "the network was the limit",
        Limit::Generator if facts.has_lost_agents() => "a part of the generator was lost",
        Limit::Generator if computing::of_script(facts).is_some() => match facts.is_script() {
            true => "the generator was the limit, busy with its script",
            false => "the generator was the limit, busy with the plan's elements",
        },
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

/// Virtual users that waited for responses until the run ended.
fn stuck_headline(facts: &Facts<'_>, limit: Limit, reached: &str) -> Option<Headline> {
    let silent = match limit {
        Limit::Target => "",
        Limit::Network => ", not even an acknowledgment",
        _ => return None,
    };
    let stuck = facts.stuck()?;
    let whose = short_name_of_what_hangs(facts);
    let whose = whose.map_or_else(String::new, |path| format!(" to {path}"));
    let text = format!(
        "{reached}; {}{whose} never got a response{silent}",
        counted(stuck.requests, "request")
    );
    let held = counted(stuck.requests.min(vus_in_use(facts)), "VU");
    Some(Headline::new(text).with(Some(format!(" and held {held}"))))
}

fn limit_in_words(facts: &Facts<'_>, limit: Limit, reached: &str) -> Headline {
    let in_use = vus_in_use(facts);
    let vus = match facts.kept_waiting() {
        None => counted(in_use, "VU"),
        Some(kept) => format!(
            "{} of {}",
            in_use.saturating_sub(kept.users),
            counted(in_use, "VU")
        ),
    };
    if let Some(stuck) = stuck_headline(facts, limit, reached) {
        return stuck;
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
    if let Some(of_phase) = phase_headline(facts, limit, reached) {
        return of_phase;
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
            match short_name_of_what_hangs(facts) {
                Some(path) => format!("{vus} mostly waited for {path} ({class})"),
                None => format!("{vus} spent most of their time on requests that failed: {class}"),
            }
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
        Limit::Network if let Some(bound) = distance::bound(facts, limit, in_use) => {
            return Headline::new(format!("{reached}: {bound}"))
                .with(Some(MORE_WOULD_HELP.to_owned()));
        }
        Limit::Network => format!("as fast as the network let {vus} go"),
        Limit::Generator => {
            let bound = match computing::of_script(facts) {
                Some(_) => format!("as fast as {} could compute", facts.own_work_words()),
                None => "as fast as the generator could go".to_owned(),
            };
            format!("{bound}: the target may be able to handle more")
        }
        Limit::Plan => plan_in_words(facts, &vus),
        Limit::Nobody | Limit::Unknown => unknown_in_words(facts),
    };
    Headline::new(format!("{reached}, {who}")).with(more)
}

/// Where most checks fail, either the target sends something else, or the script expects it.
fn unknown_in_words(facts: &Facts<'_>) -> String {
    shapes::mostly_fails_checks(facts).map_or_else(
        || "but the limit is unknown".to_owned(),
        |part| format!("but {} of the checks failed", percent(part)),
    )
}

/// The request that hangs, if it is one of several and has a short name.
fn short_name_of_what_hangs<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    let path = names::that_hangs(facts).map(names::path_of);
    path.filter(|path| length(path) <= NAME_MAX)
}

/// A target that was slower, or not there, in a part of the run.
fn phase_headline(facts: &Facts<'_>, limit: Limit, reached: &str) -> Option<Headline> {
    if limit != Limit::Target {
        return None;
    }
    if let Some([at, before, after]) = slowing::of_target(facts) {
        return Some(Headline::new(format!(
            "{reached}, the target slowed down after {at:.0} s: {}, then {}",
            duration(before),
            duration(after)
        )));
    }
    let failing = failing_from(facts, FAILURES_OF_OFFERED)?;
    let outage = downtime::recovered(facts).filter(|_| failing == limit)?;
    let class = facts.worst_class()?.name();
    Some(
        Headline::new(format!("{reached}, the target was not there {outage}"))
            .with(Some(format!(" ({class})"))),
    )
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
