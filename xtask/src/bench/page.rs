//! The page `docs/benchmarks.md`: sections, the summary of the bars, and the machine.
//!
//! Must not know how anything was measured. Invariant: every finding of every section is in the summary, a
//! missed one as clearly as a met one.

use std::fmt::Write;

use super::{Bench, client::Client, machine};

/// A bar and the measured value.
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) measured: f64,
    pub(super) bar: Bar,
}

/// The bound of a figure, in the figure's own unit.
#[derive(Clone, Copy)]
pub(super) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn met(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit,
            Self::AtLeast(limit) => measured >= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}"),
            Self::AtLeast(limit) => format!("≥ {limit}"),
        }
    }
}

/// One row of the benchmark with all measurements.
pub(super) struct Section {
    pub(super) title: String,
    /// How it was measured, in one paragraph.
    pub(super) how: String,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) findings: Vec<Finding>,
}

impl Section {
    pub(super) fn markdown(&self) -> String {
        format!(
            "## {}\n\n{}\n\n{}\n",
            self.title,
            self.how,
            table(&self.head, &self.rows)
        )
    }
}

/// All findings, one per line.
pub(super) fn summary(sections: &[Section]) -> String {
    let findings = sections.iter().flat_map(|section| &section.findings);
    let rows: Vec<Vec<String>> = findings
        .map(|finding| {
            let met = if finding.bar.met(finding.measured) {
                "yes"
            } else {
                "**no**"
            };
            vec![
                finding.what.clone(),
                format!("{:.2}", finding.measured),
                finding.bar.text(),
                met.to_owned(),
            ]
        })
        .collect();
    table(&["what", "measured", "bar", "met"], &rows)
}

/// The complete page.
pub(super) fn whole(bench: &Bench, sections: &[Section]) -> String {
    let mut text =
        String::from("# Benchmarks\n\nMade by `cargo xtask bench`; not edited by hand.\n\n");
    let effort = bench.effort;
    line(
        &mut text,
        format_args!(
            "Each figure is the median of {} runs of {} s unless its section says otherwise; the clients \
         take turns, and a ratio is the median of the ratios within each turn. CPU time and memory are \
         the kernel's accounts of the client process. On a shared machine absolute figures swing; \
         ratios hold better.\n",
            effort.rounds, effort.seconds
        ),
    );
    for fact in machine::facts(bench.cores) {
        line(&mut text, format_args!("- {fact}"));
    }
    line(&mut text, format_args!("- {}\n", versions(bench)));
    line(
        &mut text,
        format_args!("## The bars\n\n{}", summary(sections)),
    );
    for section in sections {
        line(&mut text, format_args!("{}", section.markdown()));
    }
    text.trim_end().to_owned() + "\n"
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("writing to a String cannot fail");
}

fn versions(bench: &Bench) -> String {
    let peers = bench
        .installed
        .iter()
        .filter(|peer| peer.client != Client::LoadlineWindow1ms);
    let mut list: Vec<String> = peers
        .map(|p| format!("{} {}", p.client.name(), p.version))
        .collect();
    list.extend(bench.k6.as_ref().map(|k6| format!("k6 {}", k6.version)));
    format!("clients: {}; server: nginx, one worker", list.join(", "))
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!(
        "| {} |\n|{}\n",
        head.join(" | "),
        " --- |".repeat(head.len())
    );
    for row in rows {
        line(&mut text, format_args!("| {} |", row.join(" | ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(measured: f64, bar: Bar) -> Section {
        Section {
            title: "A".to_owned(),
            how: "So.".to_owned(),
            head: vec!["client", "µs"],
            rows: vec![vec!["wrk".to_owned(), "7.1".to_owned()]],
            findings: vec![Finding {
                what: "a".to_owned(),
                measured,
                bar,
            }],
        }
    }

    #[test]
    fn sections_are_markdown() {
        let text = section(1.0, Bar::AtMost(1.0)).markdown();
        assert_eq!(
            text,
            "## A\n\nSo.\n\n| client | µs |\n| --- | --- |\n| wrk | 7.1 |\n\n"
        );
    }

    #[test]
    fn missed_bars_are_told() {
        let met = summary(&[
            section(0.9, Bar::AtMost(0.97)),
            section(0.6, Bar::AtLeast(0.5)),
        ]);
        assert!(!met.contains("**no**"), "{met}");
        let missed = summary(&[
            section(0.98, Bar::AtMost(0.97)),
            section(0.4, Bar::AtLeast(0.5)),
        ]);
        assert_eq!(missed.matches("**no**").count(), 2, "{missed}");
    }
}
