//! Requests, outputs and files without the parts that differ between runs.
//!
//! Must not know plans. Invariant: replaced text becomes a mark, so that a text without it still differs.

use std::sync::LazyLock;

use regex::Regex;

/// The replacements for one run: addresses and folders, and their marks.
pub(super) struct Normal {
    pub(super) places: Vec<(String, &'static str)>,
    /// The number of samples is random.
    pub(super) is_uncounted: bool,
}

fn rules(table: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    let compiled = table.iter().map(|(pattern, mark)| {
        let regex = Regex::new(pattern).expect("the patterns of this file are sound");
        (regex, *mark)
    });
    compiled.collect()
}

/// Lines of the logging library and intermediate summaries are random.
static CONSOLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    rules(&[
        (r"(?m)^.*StatusConsoleListener.*\n", ""),
        (r"(?m)^summary \+.*\n(?:summary =.*\n(?:summary))?", ""),
        // Also for other summaries, which a short run prints at most once.
        (r"(?m)^.* \+ +\d+ in \d\d:.*Active: .*\n", ""),
        (r"@ \d+ [A-Z][a-z]+ \d+ [0-9:]+ [A-Z]+ \(\d+\)", "@ {time}"),
        (r"(?s)Error in NonGUIDriver.*", "{why it cannot be loaded}"),
        (r"on port \d+", "on port {port}"),
        (
            r" in \d\d:\d\d:\d\d = +(?:[0-9.]+|\*+)/s Avg: +\d+ Min: +\d+ Max: +\d+ Err",
            " in {times} Err",
        ),
    ])
});

static FILES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    rules(&[
        (r#" (t|it|lt|ct|ts|ng|na)="\d+""#, " $1=\"{n}\""),
        (r"\b1[789]\d{11}\b", "{ms}"),
        (r"\(Java/[0-9._]+\)", "(Java/{version})"),
        (r"It took \d+ milliseconds", "It took {n} milliseconds"),
    ])
});

static COUNT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"summary = +\d+").expect("the pattern is sound"));

/// Replaces the boundary of a multipart body, whose length is random, too.
pub(super) const BOUNDARY_MARK: &str = "{boundary}";

static LENGTH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"Content-Length: \d+").expect("the pattern is sound"));

static BOUNDARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"boundary=([^;\r\n]+)").expect("the pattern is sound"));

impl Normal {
    /// The lines of a request's head, an empty one, and those of its body; bytes are shown as Latin-1.
    pub(super) fn request(&self, bytes: &[u8]) -> Vec<String> {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let mut text = self.file(&text);
        let boundary = BOUNDARY.captures(&text).map(|found| found[1].to_owned());
        if let Some(boundary) = boundary {
            text = text.replace(&boundary, BOUNDARY_MARK);
            text = LENGTH
                .replace(&text, "Content-Length: {length}")
                .into_owned();
        }
        let text = text.strip_suffix("\r\n\r\n").unwrap_or(&text);
        text.split("\r\n").map(str::to_owned).collect()
    }

    /// The lines of the console.
    pub(super) fn console(&self, bytes: &[u8]) -> Vec<String> {
        let text = self.in_places(&String::from_utf8_lossy(bytes));
        let mut text = replaced(text, &CONSOLE);
        if self.is_uncounted {
            text = COUNT.replace_all(&text, "summary = {n}").into_owned();
        }
        text.lines().map(str::to_owned).collect()
    }

    /// The text of a file.
    pub(super) fn file(&self, text: &str) -> String {
        replaced(self.in_places(text), &FILES)
    }

    fn in_places(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, mark) in &self.places {
            text = text.replace(place, mark);
        }
        text
    }
}

fn replaced(mut text: String, rules: &[(Regex, &str)]) -> String {
    for (pattern, mark) in rules {
        text = pattern.replace_all(&text, *mark).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal() -> Normal {
        Normal {
            places: vec![("127.0.0.1:4000".to_owned(), "{HOST}")],
            is_uncounted: false,
        }
    }

    #[test]
    fn summaries_on_the_way_are_left_out() {
        let told = "WARN StatusConsoleListener x\nCreating summariser <summary>\n\
            summary +      1 in 00:00:00 =    3.5/s Avg:    60 Min:     1 Max:   264 Err:     1 (100.00%) Active: 0\n\
            own +      1 in 00:00:00 =    3.5/s Avg:    60 Min:     1 Max:   264 Err:     1 (100.00%) Active: 0\n\
            summary =   1000 in 00:00:03 =  400.0/s Avg:    56 Min:     1 Max:   264 Err:     1 (0.10%)\n\
            Tidying up ...    @ 2026 Nov 23 00:53:27 UTC (1795395207169)\n";
        assert_eq!(
            normal().console(told.as_bytes()),
            [
                "Creating summariser <summary>",
                "summary =   1000 in {times} Err:     1 (0.10%)",
                "Tidying up ...    @ {time}"
            ]
        );
    }

    #[test]
    fn a_boundary_is_chance() {
        let request = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nContent-Length: 8\r\nContent-Type: multipart/form-data; boundary=aB-1\r\n\r\n--aB-1--";
        assert_eq!(
            normal().request(request),
            [
                "POST / HTTP/1.1",
                "Host: {HOST}",
                "Content-Length: {length}",
                "Content-Type: multipart/form-data; boundary={boundary}",
                "",
                "--{boundary}--"
            ]
        );
    }
}
