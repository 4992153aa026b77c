//! Notes of observers: OOM kills, evictions, restarts, gaps.
//!
//! Must not read numbers. Invariant: several notes of one kind become one finding with their number.

use loadline_model::observation::{
    EVICTION_NOTE, GAP_NOTE, OOM_NOTE, Observations, ObserverNote, RESTART_NOTE, title,
};
use loadline_model::verdict::{Finding, Gravity};

use super::{Sign, Weight};
use crate::verdict::code::Code;
use crate::verdict::wording::{counted, duration};

pub(super) fn signs(notes: &[ObserverNote]) -> Vec<Sign> {
    let kinds = [
        (
            OOM_NOTE,
            Code::TargetOom,
            "was OOM-killed",
            "raise its memory limit, or find what takes the memory",
        ),
        (
            EVICTION_NOTE,
            Code::TargetEvicted,
            "was evicted from its node",
            "look at the node's memory and disk, and at the resource requests of its pods",
        ),
        (
            RESTART_NOTE,
            Code::RestartSeen,
            "was restarted",
            "read its log from before the restart; the figures mix two processes",
        ),
    ];
    let sign = |(kind, code, what, advice)| of_kind(notes, kind, code, what, advice);
    kinds.into_iter().filter_map(sign).collect()
}

/// Whether a note says that this component was OOM-killed.
pub(super) fn tell_oom(notes: &[ObserverNote], component: &str) -> bool {
    notes.iter().any(|note| {
        note.kind == OOM_NOTE
            && note.at_ns >= 0
            && title(&note.observer, &note.component) == component
    })
}

fn of_kind(
    notes: &[ObserverNote],
    kind: &str,
    code: Code,
    what: &str,
    advice: &str,
) -> Option<Sign> {
    let of_kind: Vec<&ObserverNote> = notes
        .iter()
        .filter(|note| note.kind == kind && note.at_ns >= 0)
        .collect();
    let first = of_kind.first()?;
    let who = title(&first.observer, &first.component);
    let short = format!("{who} {what}");
    let times = match of_kind.len() as u64 {
        1 => String::new(),
        more => format!(", {} in all", counted(more, "time")),
    };
    let text = format!(
        "{short} {} after the start{times}: {}",
        duration(first.at_ns as f64 / 1e9),
        first.text
    );
    Some(Sign {
        weight: Weight::Explains,
        finding: code.finding(Gravity::Alarm, text, advice),
        short,
    })
}

/// Findings about gaps in the observations.
pub(super) fn findings(observations: &Observations) -> Vec<Finding> {
    let gaps = || observations.notes.iter().filter(|it| it.kind == GAP_NOTE);
    let Some(first) = gaps().next() else {
        return Vec::new();
    };
    let observer = &first.observer;
    let has_read = observations
        .series
        .iter()
        .any(|it| it.observer == *observer);
    let finding = match has_read {
        true => {
            let number = counted(gaps().count() as u64, "gap");
            let text = format!(
                "{observer} could not read for a while ({number}): {}",
                first.text
            );
            Code::ObserverGap.remark(Gravity::Note, text)
        }
        false => Code::ObserverGap.finding(
            Gravity::Caution,
            format!("{observer} read nothing: {}", first.text),
            "fix the cause and run again: the verdict lacks its data",
        ),
    };
    vec![finding]
}
