//! Responses that redirects brought from another place than the one asked for: a sign-in page, an error page, a
//! waiting room. A status of 200 does not show it.
//!
//! Must not look into bodies. Invariant: silent where hardly any response came from elsewhere.

use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::{Facts, share};
use super::wording::{count, listed, percent};

/// Share of the responses from which they are told.
const TOLD: f64 = 0.01;
/// Places that are named.
const NAMED: usize = 3;

/// Whether a status is a redirect.
pub(super) fn leads_elsewhere(status: u16) -> bool {
    const NOT_MODIFIED: u16 = 304;
    (300..400).contains(&status) && status != NOT_MODIFIED
}

/// Responses without the redirects on the way to them: for scripts and plans of steps, each hop is a response.
pub(super) fn final_responses(facts: &Facts<'_>) -> u64 {
    let completed = facts.counts.completed;
    let hops = match facts.may_think() {
        true => (facts.status_share(leads_elsewhere) * completed as f64).round() as u64,
        false => 0,
    };
    completed.saturating_sub(hops)
}

/// Responses from elsewhere.
pub(super) struct Elsewhere<'a> {
    /// Of all responses.
    pub(super) share: f64,
    number: u64,
    /// The places with their numbers, the most frequent first; without those beyond the table's limit.
    places: Vec<(&'a str, u64)>,
}

impl Elsewhere<'_> {
    /// The place, if it is the only one.
    pub(super) fn place(&self) -> Option<&str> {
        match self.places[..] {
            [(place, number)] if number == self.number => Some(place),
            _ => None,
        }
    }

    /// `all`, or the share.
    pub(super) fn part(&self) -> String {
        match self.share >= 1.0 {
            true => "all".to_owned(),
            false => percent(self.share),
        }
    }
}

/// `None`: hardly any.
pub(super) fn of<'a>(facts: &Facts<'a>) -> Option<Elsewhere<'a>> {
    let table = &facts.seen.elsewhere;
    let mut places: Vec<(&str, u64)> = (table.rows())
        .map(|(place, number)| (place.as_str(), *number))
        .collect();
    places.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let named: u64 = places.iter().map(|(_, number)| number).sum();
    let number = named + table.overflow().copied().unwrap_or(0);
    let share = share(number, final_responses(facts)).min(1.0);
    (share >= TOLD).then_some(Elsewhere {
        share,
        number,
        places,
    })
}

pub(super) fn finding(facts: &Facts<'_>) -> Option<Finding> {
    let elsewhere = of(facts)?;
    let named = elsewhere.places.iter().take(NAMED);
    let mut named: Vec<String> = match elsewhere.place() {
        Some(place) => vec![place.to_owned()],
        None => named
            .map(|(place, number)| format!("{place} ({})", count(*number)))
            .collect(),
    };
    if elsewhere.places.len() > NAMED {
        named.push("others".to_owned());
    }
    Some(Code::AnsweredElsewhere.finding(
        Gravity::Caution,
        format!(
            "{} of {} responses came from another place than the one asked for, to which they were redirected: {}",
            count(elsewhere.number),
            count(final_responses(facts)),
            listed(&named)
        ),
        "look at that page: a sign-in, an error, a waiting room?[ Then describe a correct response with {expect};] if it is the right one, request it directly",
    ))
}
