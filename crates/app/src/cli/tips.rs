//! Tips for command lines of other tools: what was probably meant.
//!
//! Must not know what options do. Invariant: a tip is only printed if the command line is refused.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, Error};

use super::Cli;

/// Options of `ab`, with loadline's equivalents.
const OF_AB: [(&str, &str); 13] = [
    ("-A", "-u USER:PASSWORD"),
    ("-C", "-H with a Cookie header"),
    ("-T", "-H 'Content-Type: TYPE'"),
    ("-V", "loadline --version"),
    ("-X", "-x PROXY"),
    ("-e", "--csv FILE"),
    ("-g", "--csv FILE"),
    ("-i", "-m HEAD"),
    ("-l", "nothing: response sizes may vary"),
    ("-p", "-D FILE"),
    (
        "-r",
        "nothing: failed requests do not end the run (here -r is a rate)",
    ),
    ("-s", "-t DURATION"),
    ("-v", "--json FILE"),
];
/// The start of a useless tip of the parser: an option is not a value.
const USELESS: &str = "  tip: to pass '";

/// What was probably meant.
pub(super) fn tip(error: &Error, arguments: &[String]) -> Option<String> {
    let first = arguments.get(1)?;
    let is_url = |argument: &String| argument.contains("://");
    if is_url(first) || first.starts_with('-') && arguments.iter().any(is_url) {
        return Some(format!("loadline bench {}", arguments[1..].join(" ")));
    }
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) {
        let is_told = error.get(ContextKind::SuggestedSubcommand).is_some();
        return (!is_told).then(|| of_command(given, arguments)).flatten();
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let (_, ours) = OF_AB.iter().find(|(of_ab, _)| of_ab == given)?;
    (first == "bench").then(|| format!("for ab's {given}, use {ours}"))
}

/// A command with a name similar to the given one, among the subcommands of the command before it.
fn of_command(given: &str, arguments: &[String]) -> Option<String> {
    let root = Cli::command();
    let before = arguments[1..].iter().take_while(|word| *word != given);
    let within = before.fold(&root, |within, word| {
        within.find_subcommand(word).unwrap_or(within)
    });
    let shown = within.get_subcommands().filter(|one| !one.is_hide_set());
    let name = almost(given, shown.map(Command::get_name))?;
    Some(format!("a similar subcommand exists: '{name}'"))
}

/// The first name that differs from the given one by one typo: two swapped letters, or one missing, extra or
/// wrong letter. clap finds longer and less similar names, but no such typo in a short name.
pub(crate) fn almost<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().collect();
    let mut known = known;
    known.find(|name| is_one_slip(&given, &name.chars().collect::<Vec<char>>()))
}

fn is_one_slip(a: &[char], b: &[char]) -> bool {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let same = long.iter().zip(short).take_while(|(a, b)| a == b).count();
    let (long, short) = (&long[same..], &short[same..]);
    match (long, short) {
        ([], []) => false,
        ([_, rest @ ..], short) if rest == short => true,
        ([_, rest @ ..], [_, short @ ..]) if rest == short => true,
        ([a, b, rest @ ..], [c, d, short @ ..]) => (a, b, rest) == (d, c, short),
        _ => false,
    }
}

/// A refusal with a tip instead of a useless one.
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
    fn a_slip_in_a_command_is_found() {
        for (line, tip) in [
            ("loadline suite rnu matrix.yaml", "'run'"),
            ("loadline rnu script.js", "'run'"),
            ("loadline k8s rnu test.js", "'run'"),
            ("loadline bnehc http://h/", "'bench'"),
        ] {
            let told = refusal(line);
            let tip = format!("tip: a similar subcommand exists: {tip}");
            assert_eq!(told.matches("tip: ").count(), 1, "{told}");
            assert!(told.contains(&tip), "{told}");
        }
        assert!(!refusal("loadline suite xyz f").contains("tip: "));
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
