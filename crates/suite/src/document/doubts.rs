//! Doubts about the figures of rows: a mark next to them, and a footnote for each doubt.
//!
//! Must not know kinds of documents, nor how a verdict is reached: it reads the findings of a run. Invariants:
//! equal doubts share a footnote; there are at most [`FOOTNOTES_MAX`], however many rows there are.

use loadline_model::verdict::{Finding, Gravity};

use super::source::DocumentRows;

/// Maximum footnotes of a table; further findings share the last one.
const FOOTNOTES_MAX: usize = 15;
/// The text of the last one.
const OTHERS: &str = "Further cautions: `loadline report` lists them for each result.";
/// The footnote for a row with one run among rows with several.
const ONE_RUN: &str = "One run only: the variation between runs is unknown.";
/// Findings already covered by the note on repetitions.
const TOLD_ELSEWHERE: [&str; 1] = ["one-run"];

/// Short texts for findings, so that those of several rows share a footnote; others use the finding's own text.
const WORDS: [(&str, &str); 74] = [
    (
        "run-crashed",
        "Cut short: the generator died; the figures cover what it had saved.",
    ),
    (
        "run-interrupted",
        "Cut short: the run was ended before its time.",
    ),
    (
        "agent-lost",
        "Not delivered: an agent was lost, and with it its share of the load.",
    ),
    ("nothing-sent", "Not delivered: nothing was sent."),
    (
        "offered-load-missed",
        "Not delivered: fewer requests were sent than planned.",
    ),
    (
        "count-not-reached",
        "Not delivered: the time was over before all requests were sent.",
    ),
    (
        "arrivals-waited",
        "Sent late: requests waited for a free virtual user; response times include the wait.",
    ),
    (
        "threads-not-started",
        "Not delivered: the plan ended before all of its threads had started.",
    ),
    (
        "threshold-out-of-reach",
        "Threshold out of reach: it asks for more than the plan can send.",
    ),
    (
        "nothing-answered",
        "Nothing answered: no request got a response.",
    ),
    (
        "most-unanswered",
        "Hardly answered: fewer than half of the requests got a response.",
    ),
    ("requests-failed", "Failures: some requests failed."),
    (
        "network-failures",
        "Failures: most happened between generator and service.",
    ),
    (
        "target-died",
        "Outage: the service gave almost no good responses from some second on.",
    ),
    (
        "outage-seen",
        "Outage: the service gave no good response for a while.",
    ),
    (
        "wrong-answers",
        "Wrong responses: some responses failed a check.",
    ),
    (
        "hollow-answers",
        "Possibly wrong: every sampled response was empty.",
    ),
    (
        "same-answer",
        "Possibly wrong: the requests differ, but all sampled responses are the same.",
    ),
    (
        "checks-failed",
        "Failed checks: some checks of the script did not hold.",
    ),
    (
        "generator-busy",
        "Generator busy: it ran out of CPU, so the times include its own delay.",
    ),
    (
        "generator-throttled",
        "Generator throttled: its CPU quota stopped it at times.",
    ),
    (
        "generator-starved",
        "Generator starved: other processes took its CPU time.",
    ),
    (
        "schedule-lag",
        "Generator late: requests were sent after their scheduled time.",
    ),
    (
        "lag-exceeds-latency",
        "Generator late: its delay was as large as the times it measured.",
    ),
    (
        "fd-limit",
        "Generator at its limit: it ran out of open files.",
    ),
    (
        "ports-exhausted",
        "Generator at its limit: it ran out of local ports.",
    ),
    ("sink-slow", "Generator held up: it waited for an output."),
    (
        "restart-seen",
        "Restart: a component of the service restarted during the load.",
    ),
    (
        "target-oom",
        "Restart: a component of the service was OOM-killed.",
    ),
    (
        "target-evicted",
        "Restart: a component of the service was evicted from its node.",
    ),
    (
        "target-throttled",
        "Service throttled: its CPU quota stopped it at times.",
    ),
    (
        "leak-seen",
        "Growing memory: the memory of a component grew steadily.",
    ),
    (
        "cold-start",
        "Cold start: the first seconds were much slower, and are in the figures.",
    ),
    (
        "too-short",
        "Short: the run was too short for its rate to mean much.",
    ),
    (
        "rate-uncertain",
        "Unsteady: the rate varied much from second to second.",
    ),
    (
        "few-samples",
        "Few responses: high percentiles rest on a handful of them.",
    ),
    (
        "observer-gap",
        "Gap: an observer could not read for a while.",
    ),
    (
        "not-conserved",
        "Counts that do not add up: requests are missing from them.",
    ),
    (
        "paused-after-failures",
        "Failures: requests failed at once, and virtual users paused before the next.",
    ),
    (
        "too-few-vus",
        "Too few users: all were busy while responses showed no queue; more users may find a higher rate.",
    ),
    (
        "one-core-full",
        "One core full: a component of the service kept one core busy, and used no second one.",
    ),
    ("machine-full", "Machine full: a machine had no free core."),
    (
        "resource-at-limit",
        "At a limit: a component of the service had used up a resource.",
    ),
    (
        "spikes",
        "Spikes: a few responses took many times the median.",
    ),
    ("retransmits", "Network: many TCP retransmits."),
    (
        "slow-connects",
        "Slow connections: some took a second or more to make.",
    ),
    (
        "idle-replica",
        "Idle replica: one did nothing while others worked.",
    ),
    (
        "uneven-replicas",
        "Uneven replicas: some got much more load than others.",
    ),
    (
        "slow-replica",
        "Slow replica: one answered much slower than the others.",
    ),
    (
        "no-replica",
        "No replica: there was none when the load began.",
    ),
    (
        "scaled-late",
        "Scaled late: there were fewer replicas than desired for a while.",
    ),
    (
        "idle-peer",
        "Idle peer: one of several answered hardly anything.",
    ),
    (
        "never-answered",
        "Never answered: requests still waited for a response when the run ended.",
    ),
    (
        "mixed-answers",
        "Possibly wrong: some successful responses held an error or nothing.",
    ),
    (
        "answered-elsewhere",
        "Possibly wrong: redirects brought responses from another place than the one asked for.",
    ),
    (
        "no-iteration-completed",
        "Cut short: no iteration of the script completed.",
    ),
    (
        "iterations-threw",
        "Cut short: iterations of the script threw an exception, so their later requests were not sent.",
    ),
    (
        "pace-missed",
        "Too few threads: the plan's throughput timers ask for a higher rate than its threads sent.",
    ),
    (
        "threads-ended",
        "Cut short: threads of the plan ended early.",
    ),
    (
        "target-ceiling",
        "Service at its limit: its response times and the number of connections set the rate.",
    ),
    (
        "shared-limit",
        "Shared limit: more than one of generator, network and service took much of the time.",
    ),
    (
        "generator-stopped",
        "Generator stopped: it did not run for a while.",
    ),
    (
        "link-full",
        "Network: a link carried as many bytes as it could.",
    ),
    (
        "slow-names",
        "Slow names: DNS lookups took much of the time.",
    ),
    (
        "unacknowledged",
        "Network: the other side did not acknowledge what was sent.",
    ),
    (
        "answers-lost",
        "Network: earlier parts of responses did not arrive, and later ones did.",
    ),
    (
        "delayed-ack",
        "Delayed acknowledgment: the end of a response waited for one, for about 40 ms.",
    ),
    (
        "queue-reported",
        "Queue: the service itself reports requests that wait for their turn.",
    ),
    (
        "on-the-way",
        "On the way: most of the time passed before the service handled a request.",
    ),
    (
        "slowest-stage",
        "Backlog: a stage of the pipeline did not keep up with its input.",
    ),
    ("slowing", "Slowing: responses took longer and longer."),
    ("pauses", "Pauses: the service paused again and again."),
    (
        "handshakes",
        "Handshakes: opening connections took much of the time.",
    ),
    (
        "coordinator-replaced",
        "Coordinator replaced: another one took over the test.",
    ),
];

/// The doubts of a table.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// By the row's number: which footnotes are its own, in their order.
    rows: Vec<Vec<usize>>,
    /// What the footnotes say.
    texts: Vec<String>,
}

impl Doubts {
    /// The doubts of rows, in table order.
    pub(super) fn of<R: DocumentRows>(rows: &R, order: &[usize]) -> Doubts {
        let mut doubts = Doubts::default();
        let most = order.iter().map(|row| rows.runs(*row)).max().unwrap_or(0);
        for row in order {
            for doubt in rows.doubts(*row) {
                doubts.add(*row, doubt);
            }
            if rows.runs(*row) == 1 && most > 1 {
                doubts.add(*row, ONE_RUN);
            }
        }
        doubts
    }

    fn add(&mut self, row: usize, text: &str) {
        let known = self.texts.iter().position(|known| known == text);
        let text = if self.texts.len() + 1 < FOOTNOTES_MAX {
            text
        } else {
            OTHERS
        };
        let known = known.or_else(|| self.texts.iter().position(|known| known == text));
        let number = known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        if self.rows.len() <= row {
            self.rows.resize_with(row + 1, Vec::new);
        }
        if !self.rows[row].contains(&number) {
            self.rows[row].push(number);
            self.rows[row].sort_unstable();
        }
    }

    /// The marks of a row, placed after a figure; empty without doubts.
    pub(super) fn marks(&self, row: usize) -> String {
        let numbers = self.rows.get(row).map_or(&[][..], Vec::as_slice);
        let marks: Vec<String> = numbers.iter().map(|number| mark(*number)).collect();
        marks.join(" ")
    }

    /// What is doubtful about a row.
    pub(super) fn of_row(&self, row: usize) -> impl Iterator<Item = &str> {
        let numbers = self.rows.get(row).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|number| self.texts[*number].as_str())
    }

    /// The footnotes, each with its mark before it.
    pub(super) fn footnotes(&self) -> impl Iterator<Item = String> {
        let texts = self.texts.iter().enumerate();
        texts.map(|(number, text)| format!("{} {text}", mark(number)))
    }
}

/// A footnote's number, from one on, raised.
fn mark(number: usize) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = (number + 1).to_string();
    let raised = digits
        .bytes()
        .map(|digit| RAISED[usize::from(digit - b'0')]);
    raised.collect()
}

/// The footnote for findings with a code; `None`: there is no special text, and that of the finding is used.
#[must_use]
pub fn footnote(code: &str) -> Option<&'static str> {
    let known = WORDS.iter().find(|(known, _)| *known == code);
    known.map(|(_, words)| *words)
}

/// The footnote for a finding.
pub(super) fn words(finding: &Finding) -> &str {
    footnote(&finding.code).unwrap_or(&finding.text)
}

/// The findings that make figures doubtful, most severe first.
pub fn doubtful<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<&'f Finding> {
    let is_doubt = |finding: &&Finding| {
        finding.gravity >= Gravity::Caution && !TOLD_ELSEWHERE.contains(&finding.code.as_str())
    };
    let mut found: Vec<&Finding> = findings.into_iter().filter(is_doubt).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.gravity));
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NO_CHARTS, outcome, row, run};
    use super::super::{DocumentSpec, render};
    use super::*;
    use crate::outcome::SuiteOutcome;

    fn finding(code: &str, gravity: Gravity, text: &str) -> Finding {
        Finding {
            code: code.to_owned(),
            gravity,
            text: text.to_owned(),
            advice: None,
        }
    }

    fn doubtful() -> SuiteOutcome {
        let of = |findings: &[Finding]| {
            let mut run = run(50.0);
            run.verdict.findings = findings.to_vec();
            run
        };
        let missed = |text: &str| finding("offered-load-missed", Gravity::Alarm, text);
        let own = finding(
            "never-heard-of",
            Gravity::Caution,
            "the moon was full for *12 s*",
        );
        let remark = finding("target-ceiling", Gravity::Note, "nothing to worry about");
        outcome(vec![
            row("sound", &[("test", "sound")], vec![of(&[remark])]),
            row(
                "one",
                &[("test", "one")],
                vec![of(&[own, missed("4 of 5")])],
            ),
            row(
                "two",
                &[("test", "two")],
                vec![of(&[missed("3 of 5"), missed("3 of 5")])],
            ),
        ])
    }

    fn spec(more: &str) -> DocumentSpec {
        let text = format!(
            "file: a.md\nmethodology: false\ntables:\n- name: t\n  columns:\n  - {{ title: Test, value: label.test }}\n  \
             - {{ title: Rate, value: run.rps, format: '{{:.0 rps}}' }}\n  \
             - {{ title: p50, value: run.p50, format: '{{:~0 ms}}' }}\n{more}"
        );
        loadline_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn doubts_stand_beside_the_first_figure_and_share_a_footnote() {
        let text = render(&spec(""), &doubtful(), None, NO_CHARTS)
            .expect("a document")
            .text;
        for line in [
            "| sound | 50 rps | 4 ms |",
            "| one | 50 rps ¹ ² | 4 ms |",
            "| two | 50 rps ¹ | 4 ms |",
            "- ¹ Not delivered: fewer requests were sent than planned.",
            "- ² the moon was full for \\*12 s\\*",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}\n{text}");
        }
        let again = render(&spec(""), &doubtful(), Some(&text), NO_CHARTS).expect("a document");
        assert_eq!(again.text, text);
    }

    #[test]
    fn who_wants_no_notes_has_no_marks() {
        let text = render(&spec("  notes: false\n"), &doubtful(), None, NO_CHARTS)
            .expect("a document")
            .text;
        assert!(text.contains("| one | 50 rps | 4 ms |"), "{text}");
        assert!(!text.contains("Not delivered"), "{text}");
    }

    #[test]
    fn a_row_of_one_run_is_marked_beside_rows_of_several() {
        let several = outcome(vec![
            row("a", &[("test", "a")], vec![run(1.0), run(1.0)]),
            row("b", &[("test", "b")], vec![run(2.0)]),
        ]);
        let text = render(&spec(""), &several, None, NO_CHARTS)
            .expect("a document")
            .text;
        assert!(text.contains("| b | 2 rps ¹ |"), "{text}");
        assert!(text.contains(&format!("- ¹ {ONE_RUN}")), "{text}");
    }

    #[test]
    fn repetitions_give_intervals_which_end_at_zero_and_say_something() {
        let runs = vec![run(1.0), run(9.0)];
        let of = outcome(vec![row("a", &[("test", "a")], runs)]);
        let text = render(&spec(""), &of, None, NO_CHARTS)
            .expect("a document")
            .text;
        assert!(
            text.contains("| a | 5 rps (0 rps to 56 rps) | 4 ms |"),
            "{text}"
        );
        let without = render(&spec("  intervals: false\n"), &of, None, NO_CHARTS)
            .expect("a document")
            .text;
        assert!(without.contains("| a | 5 rps | 4 ms |"), "{without}");
    }

    #[test]
    fn footnotes_are_limited_however_many_doubts_there_are() {
        let mut doubts = Doubts::default();
        for row in 0..100 {
            doubts.add(row, &format!("doubt {row}"));
        }
        doubts.add(0, "doubt 1");
        let notes: Vec<String> = doubts.footnotes().collect();
        assert_eq!(notes.len(), FOOTNOTES_MAX);
        assert_eq!(notes[14], format!("¹⁵ {OTHERS}"));
        assert_eq!(doubts.marks(0), "¹ ²");
        assert_eq!(doubts.marks(99), "¹⁵");
        assert_eq!(doubts.marks(100), "");
    }
}
