//! Texts without the parts that differ between runs or machines.
//!
//! Must not know where a text comes from. Invariant: replaced text becomes a name in braces, so that a text
//! without it still differs.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::servers::Servers;

/// Paths and ports of one run.
pub(crate) struct Places<'a> {
    /// The working folder of the run.
    pub(crate) folder: &'a Path,
    /// The folder of the script.
    pub(crate) scripts: &'a Path,
    /// The servers used by the script.
    pub(crate) servers: &'a Servers,
}

/// A pattern and its replacement.
type Rule = (Regex, &'static str);

fn rules(table: &[(&str, &'static str)]) -> Vec<Rule> {
    let compiled = table.iter().map(|(pattern, name)| {
        let regex = Regex::new(pattern).expect("the patterns of this file are sound");
        (regex, *name)
    });
    compiled.collect()
}

/// Frames of a stack: the tool's own functions are removed, and so are columns and positions in compiled code,
/// which depend on the engine; function, file and line stay.
static FRAMES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    rules(&[
        (r"(?:\\n|\n)(?:\\t|\t)at [^\\\n]*\(native\)", ""),
        (r":(\d+):\d+\(\d+\)", ":$1:{C}"),
        (r"(file://[^\s:]*:\d+):\d+", "$1:{C}"),
        (
            r"(?:Grafana )?k6/2\.2\.0(?: \(https://k6\.io/\))?|loadline/[0-9.]+",
            "{AGENT}",
        ),
        (
            r"because (?:k6|loadline) received",
            "because {TOOL} received",
        ),
        (r"127\.0\.0\.1:\d+->", "127.0.0.1:{LOCAL}->"),
    ])
});

/// Numbers of a report that depend on time, and the widths that depend on them.
static REPORT: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    rules(&[
        (r#"time="[^"]+" "#, ""),
        (r"-?\d+(?:\.\d+)?(?:e-?\d+)?/s\b", "{R}/s"),
        (r"\d+(?:\.\d+)? (?:B|kB|MB)\b(?:/s)?", "{BYTES}"),
        (
            r"\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ns|µs|us|ms|s)\b",
            "{T}",
        ),
        (r"\.{3,}", "..."),
        (r"(\S) {2,}", "$1 "),
        (r" +(\n|$)", "$1"),
    ])
});

/// A text without paths, ports, versions and positions in compiled code.
pub(crate) fn text(raw: &str, places: &Places) -> String {
    let mut text = raw.replace(&lossy(places.folder), "{TMP}");
    text = text.replace(&lossy(places.scripts), "{DIR}");
    let ports = [
        (Some(places.servers.port), "{HOST}", ":{PORT}"),
        (places.servers.port_tls, "{HOST_TLS}", ":{PORT_TLS}"),
    ];
    for (port, host, name) in ports {
        if let Some(port) = port {
            text = text.replace(&format!("127.0.0.1:{port}"), host);
            text = text.replace(&format!(":{port}"), name);
        }
    }
    apply(&FRAMES, text)
}

/// A report for people without times, rates and widths.
pub(crate) fn report(raw: &str, places: &Places) -> String {
    apply(&REPORT, text(raw, places))
}

fn apply(rules: &[Rule], text: String) -> String {
    rules.iter().fold(text, |text, (regex, name)| {
        regex.replace_all(&text, *name).into_owned()
    })
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A number with nine significant digits: sums and percentiles may be computed in another order.
pub(crate) fn number(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: fn(&str, &Places) -> String, raw: &str) -> String {
        let servers = Servers::nowhere(40001, Some(40002));
        let places = Places {
            folder: Path::new("/tmp/run"),
            scripts: Path::new("/suite/http"),
            servers: &servers,
        };
        pattern(raw, &places)
    }

    #[test]
    fn places_and_ports_become_names() {
        let raw = "file:///suite/http/a.js http://127.0.0.1:40001/x https://127.0.0.1:40002 shop:40001 /tmp/run/o";
        let named = "file://{DIR}/a.js http://{HOST}/x https://{HOST_TLS} shop:{PORT} {TMP}/o";
        assert_eq!(of(text, raw), named);
    }

    #[test]
    fn frames_keep_function_file_and_line() {
        let raw =
            r"Error: x\n\tat go.k6.io/k6/js.f (native)\n\tat f (file:///suite/http/a.js:3:14(7))\n";
        assert_eq!(
            of(text, raw),
            r"Error: x\n\tat f (file://{DIR}/a.js:3:{C})\n"
        );
        let bare = r"\tat f (file:///suite/http/a.js:3:14)\n";
        assert_eq!(of(text, bare), r"\tat f (file://{DIR}/a.js:3:{C})\n");
    }

    #[test]
    fn reports_lose_times_rates_and_widths() {
        let raw = "    http_reqs......: 12    5.69/s\n    avg=1.5ms  max=1m2s   \n    sent: 3.6 kB 116 kB/s";
        let left = "    http_reqs...: 12 {R}/s\n    avg={T} max={T}\n    sent: {BYTES} {BYTES}";
        assert_eq!(of(report, raw), left);
    }

    #[test]
    fn numbers_keep_nine_digits() {
        assert_eq!(number(0.1 + 0.2), 0.3);
        assert_eq!(number(123_456_789.4), 123_456_789.0);
    }
}
