//! Requests and outputs without the parts that differ between runs or builds.
//!
//! Must not know command lines. Invariant: replaced text becomes a mark, so that a text without it still
//! differs.

use std::sync::LazyLock;

use regex::Regex;

use super::Tool;

/// The replacements for one run.
pub(super) struct Normal {
    pub(super) tool: Tool,
    /// Counts of requests are random.
    pub(super) is_timed: bool,
    /// Addresses of this run, and their marks.
    pub(super) addresses: Vec<(String, &'static str)>,
}

type Rules = LazyLock<Vec<(Regex, &'static str)>>;

fn rules(table: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    let compiled = table.iter().map(|(pattern, mark)| {
        let regex = Regex::new(pattern).expect("the patterns of this file are sound");
        (regex, *mark)
    });
    compiled.collect()
}

/// Times of hey, and the intended differences listed in `docs/dialects.md`: the distribution of latency. The
/// help is each tool's own text.
static HEY: Rules = LazyLock::new(|| {
    rules(&[
        (r"(?s)Usage: hey .*", "{help}"),
        (
            r"\n  (?:Total|Slowest|Fastest|Average):\t *[0-9.NaInf+-]+ secs",
            "",
        ),
        (r"\n  Requests/sec:\t[0-9.]+", ""),
        (r"(?:\n  [0-9.NaInf+-]+ \[\d+\]\t\|■*)+", "\n  {histogram}"),
        (r"(?:\n  \d+%%? in [0-9.]+ secs)+", "\n  {percentiles}"),
        (
            r"(?:\n  [A-Za-z+ -]+:\t *[0-9.NaInf+-]+ secs, [0-9.]+ secs, [0-9.]+ secs)+",
            "\n  {phases}",
        ),
        (
            r"(?m)^\d+\.\d{4}(,\d+\.\d{4}){5},(\d+),\d+\.\d{4}$",
            "{times},$2,{offset}",
        ),
        (r"lookup ([^ ]+) on [^ ]+: ", "lookup $1: "),
        (r"127\.0\.0\.1:\d+->", ""),
    ])
});

static BOMBARDIER: Rules = LazyLock::new(|| {
    rules(&[
        (r"(?s)usage: \S*bombardier .*", "{help}"),
        (r"(?m)^(bombardier version) .*", "$1 {version}"),
        (
            r"(Reqs/sec|Latency) +[0-9.]+[a-z]* +[0-9.]+[a-z]* +[0-9.]+[a-z]*",
            "$1 {statistics}",
        ),
        (r"(?m)^( +\d\d%) +[0-9.]+[a-z]+$", "$1 {time}"),
        (r"(Throughput:) +[0-9.]+[KMG]?B?/s", "$1 {rate}"),
        (
            r#""(timeTakenSeconds|mean|stddev|max|50|75|90|95|99)":[0-9.e+-]+"#,
            "\"$1\":{number}",
        ),
        (r"\r[^\r\n]*(?:\r[^\r\n]*)*\r", "\r{earlier}\r"),
        (r"\d+/s\b", "{rate}"),
        (r"(100\.00% \{rate\}) [0-9a-z.]+", "$1 {time}"),
        (r"lookup ([^ ]+) on [^ ]+: ", "lookup $1: "),
        (r"127\.0\.0\.1:\d+->", ""),
    ])
});

/// Counts in the reports of both tools.
static COUNTS: Rules = LazyLock::new(|| {
    rules(&[
        (r"\t\d+ (responses|bytes)", "\t{count} $1"),
        (r"2xx - \d+", "2xx - {count}"),
        (r#""(bytesRead|bytesWritten|req2xx)":\d+"#, "\"$1\":{count}"),
    ])
});

impl Normal {
    /// The lines of a request's head, an empty one, and its body; bytes are shown as Latin-1.
    pub(super) fn request(&self, bytes: &[u8]) -> Vec<String> {
        let text = self.places(bytes.iter().map(|byte| char::from(*byte)).collect());
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines: Vec<String> = head.split("\r\n").map(str::to_owned).collect();
        lines.extend((!body.is_empty()).then(|| body.to_owned()));
        lines
    }

    /// The lines of an output.
    pub(super) fn output(&self, bytes: &[u8]) -> Vec<String> {
        let mut text = self.places(String::from_utf8_lossy(bytes).into_owned());
        let own: &Rules = match self.tool {
            Tool::Hey => &HEY,
            Tool::Bombardier => &BOMBARDIER,
        };
        let counts = if self.is_timed {
            COUNTS.as_slice()
        } else {
            &[]
        };
        for (pattern, mark) in own.iter().chain(counts) {
            text = pattern.replace_all(&text, *mark).into_owned();
        }
        text.split('\n').map(str::to_owned).collect()
    }

    fn places(&self, mut text: String) -> String {
        for (address, mark) in &self.addresses {
            text = text.replace(address, mark);
        }
        text
    }
}
