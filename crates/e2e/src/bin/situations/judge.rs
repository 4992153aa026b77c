//! Compares a result with the truth.
//!
//! Must not know where either comes from. Invariant: a result is only wrong if it blames the wrong side, has a
//! false finding or a wrong number; one that says too little is silent or unknown.

use regex::Regex;

use crate::said::{Capacity, Said};
use crate::situation::Situation;

/// Maximum error of a capacity, as a share.
const CAPACITY_ERROR_MAX: f64 = 0.05;

/// The grade of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The right side, and all expected findings.
    Right,
    /// Another side, or a false finding.
    Wrong,
    /// It says that the limit is unknown.
    Unknown,
    /// The side is not wrong, but expected findings are missing.
    Silent,
    /// It cannot be staged here.
    NotStaged,
}

/// A result and its grade.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The grade.
    pub(crate) mark: Mark,
    /// The result.
    pub(crate) said: Said,
    /// The problem; empty if there is none.
    pub(crate) amiss: String,
}

impl Judged {
    /// The grade of a situation that cannot be staged here.
    pub(crate) fn not_staged(why: String) -> Judged {
        Judged {
            mark: Mark::NotStaged,
            said: Said::default(),
            amiss: why,
        }
    }
}

/// Grades a result.
pub(crate) fn judge(one: &Situation, busy: bool, said: Said) -> Judged {
    let (mark, amiss) = match one.capacity {
        Some(capacity) => {
            let told = said.capacity.unwrap_or(Capacity::NotTold);
            // Processes running alongside may impair the generator even without burners.
            of_capacity(capacity, told, busy || !one.beside.is_empty())
        }
        None => of_verdict(one, busy, &said),
    };
    Judged { mark, said, amiss }
}

fn of_verdict(one: &Situation, busy: bool, said: &Said) -> (Mark, String) {
    let never: Vec<&String> = one.never.iter().filter(|code| said.tells(code)).collect();
    if let Some(code) = never.first() {
        return (Mark::Wrong, format!("tells {code}"));
    }
    let missing = missing(one, busy, said);
    let more = one.busy_limit.iter().filter(|_| busy);
    let accepted = one
        .limit
        .iter()
        .chain(more)
        .any(|limit| *limit == said.limit);
    if !accepted && !one.limit.is_empty() && said.limit != "unknown" {
        return (Mark::Wrong, format!("says {}", said.limit));
    }
    match missing {
        Some(missing) => (Mark::Silent, missing),
        None if accepted || one.limit.is_empty() => (Mark::Right, String::new()),
        None => (Mark::Unknown, "says unknown".to_owned()),
    }
}

/// The expected findings that are missing.
fn missing(one: &Situation, busy: bool, said: &Said) -> Option<String> {
    let is_told = |codes: &&String| codes.split('|').any(|code| said.tells(code));
    let quiet_codes = one.quiet_codes.iter().filter(|_| !busy);
    if let Some(code) = one
        .codes
        .iter()
        .chain(quiet_codes)
        .find(|codes| !is_told(codes))
    {
        return Some(format!("no {code}"));
    }
    let pattern = one.says.as_ref()?;
    let says = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&said.text()));
    (!says).then(|| format!("does not say {pattern}"))
}

fn of_capacity(true_one: f64, told: Capacity, busy: bool) -> (Mark, String) {
    let low = true_one * (1.0 - CAPACITY_ERROR_MAX);
    let high = true_one * (1.0 + CAPACITY_ERROR_MAX);
    let off = |is_wrong: bool| {
        if is_wrong {
            (Mark::Wrong, format!("is not {true_one}"))
        } else if busy {
            (Mark::Right, String::new())
        } else {
            (Mark::Unknown, "tells no number".to_owned())
        }
    };
    match told {
        Capacity::Number(number) if (low..=high).contains(&number) => (Mark::Right, String::new()),
        Capacity::Number(_) => off(true),
        Capacity::AtLeast(number) => off(number > high),
        Capacity::Below(number) => off(number < low),
        Capacity::NotTold => off(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(lines: &str) -> Situation {
        let text = format!("name = 'x'\ntruth = 'x'\nrun = 'x'\n{lines}");
        toml::from_str(&text).expect("it is a situation")
    }

    fn said(limit: &str, codes: &[&str]) -> Said {
        Said {
            limit: limit.to_owned(),
            findings: codes
                .iter()
                .map(|code| ((*code).to_owned(), String::new()))
                .collect(),
            ..Said::default()
        }
    }

    #[test]
    fn blame_is_weighed() {
        let one = situation(
            "limit = ['target']\nbusy_limit = ['plan']\ncodes = ['a|b']\nquiet_codes = ['q']\nnever = ['c']",
        );
        let mark = |busy, limit, codes: &[&str]| judge(&one, busy, said(limit, codes)).mark;
        assert_eq!(mark(false, "target", &["b", "q"]), Mark::Right);
        assert_eq!(mark(false, "target", &["b"]), Mark::Silent);
        assert_eq!(mark(true, "target", &["b"]), Mark::Right);
        assert_eq!(mark(false, "unknown", &["a", "q"]), Mark::Unknown);
        assert_eq!(mark(false, "plan", &["a"]), Mark::Wrong);
        assert_eq!(mark(true, "plan", &["a"]), Mark::Right);
        assert_eq!(mark(false, "target", &["a", "c"]), Mark::Wrong);
    }

    #[test]
    fn a_capacity_is_a_number_within_its_bounds_or_none() {
        assert_eq!(
            of_capacity(340.0, Capacity::Number(330.0), false).0,
            Mark::Right
        );
        assert_eq!(
            of_capacity(340.0, Capacity::Number(54.0), true).0,
            Mark::Wrong
        );
        assert_eq!(of_capacity(340.0, Capacity::NotTold, true).0, Mark::Right);
        assert_eq!(
            of_capacity(340.0, Capacity::NotTold, false).0,
            Mark::Unknown
        );
        assert_eq!(
            of_capacity(340.0, Capacity::AtLeast(400.0), false).0,
            Mark::Wrong
        );
    }
}
