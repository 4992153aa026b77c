//! Tips for command lines that are not ours: what was meant, perhaps.
//!
//! Must not know what options do. Invariant: a tip is told only where the line is refused.

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// Options of `ab`, and ours.
const OF_AB: [(&str, &str); 13] = [
    ("-A", "-u USER:PASSWORD"),
    ("-C", "-H with a Cookie header"),
    ("-T", "-H 'Content-Type: TYPE'"),
    ("-V", "loadline --version"),
    ("-X", "-x PROXY"),
    ("-e", "--csv FILE"),
    ("-g", "--csv FILE"),
    ("-i", "-m HEAD"),
    ("-l", "nothing: the size of a response may vary"),
    ("-p", "-D FILE"),
    (
        "-r",
        "nothing: a failed request does not end the run (here -r is a rate)",
    ),
    ("-s", "-t DURATION"),
    ("-v", "--json FILE"),
];
/// How the parser begins a tip that helps nobody: an option is no value.
const USELESS: &str = "  tip: to pass '";

/// What was meant, perhaps.
pub(super) fn tip(error: &Error, arguments: &[String]) -> Option<String> {
    let first = arguments.get(1)?;
    let is_url = |argument: &String| argument.contains("://");
    if is_url(first) || first.starts_with('-') && arguments.iter().any(is_url) {
        return Some(format!("loadline bench {}", arguments[1..].join(" ")));
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let (_, ours) = OF_AB.iter().find(|(of_ab, _)| of_ab == given)?;
    (first == "bench").then(|| format!("for ab's {given}, use {ours}"))
}

/// A refusal with a tip in the place of a useless one.
pub(super) fn told(text: &str, tip: Option<&str>) -> String {
    let useless = text
        .split_inclusive('\n')
        .find(|line| line.starts_with(USELESS));
    let text = match useless {
        Some(line) => text.replacen(&format!("{line}\n"), "", 1),
        None => text.to_owned(),
    };
    match (tip, text.split_once("\n\n")) {
        (Some(tip), Some((head, rest))) => format!("{head}\n\n  tip: {tip}\n\n{rest}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn refusal(line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parse(&arguments).expect_err(line).message().to_owned()
    }

    #[test]
    fn lines_of_ab_say_what_to_write() {
        for (line, tip) in [
            ("loadline http://h/", "tip: loadline bench http://h/"),
            (
                "loadline -n 9 http://h/",
                "tip: loadline bench -n 9 http://h/",
            ),
            (
                "loadline bench -p f http://h/",
                "tip: for ab's -p, use -D FILE",
            ),
        ] {
            let told = refusal(line);
            assert!(told.contains(tip) && !told.contains("to pass"), "{told}");
            assert!(told.contains("\n\nUsage:"), "{told}");
        }
        let help = ["loadline", "--help", "http://h/"].map(str::to_owned);
        let help = parse(&help).expect_err("help").out;
        assert!(help.contains("Usage:") && !help.contains("tip:"), "{help}");
        let told = refusal("loadline bench --no-such http://h/");
        assert!(!told.contains("to pass"), "{told}");
    }
}
