//! `help`: the help of a command, or a page about things that commands have in common.
//!
//! Must not know how a command reads its options. Invariant: a topic never has a command's name.

use clap::{Command, CommandFactory};
use loadline_model::ExitCode;

use crate::cli::{Cli, almost};
use crate::{Ending, Env};

/// A page that does not belong to a single command.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const fn topic(name: &'static str, about: &'static str, text: &'static str) -> Topic {
    Topic { name, about, text }
}

/// The name that shows the list.
const TOPICS_LIST: &str = "topics";
const EXIT_CODES: &str = "exit-codes";

const TOPICS: [Topic; 9] = [
    topic(
        "models",
        "Open and closed load models",
        include_str!("help/models.txt"),
    ),
    topic(
        "verdict",
        "What the verdict says and how it decides",
        include_str!("help/verdict.txt"),
    ),
    topic(
        "checks",
        "What counts as a good response",
        include_str!("help/checks.txt"),
    ),
    topic(
        "thresholds",
        "Conditions that fail a run",
        include_str!("help/thresholds.txt"),
    ),
    topic(
        "templates",
        "Variable parts of bench requests",
        include_str!("help/templates.txt"),
    ),
    topic(
        "observers",
        "Watching the service under test",
        include_str!("help/observers.txt"),
    ),
    topic(
        "outputs",
        "Prometheus, files and other outputs",
        include_str!("help/outputs.txt"),
    ),
    topic(
        "environment",
        "Environment variables",
        include_str!("help/environment.txt"),
    ),
    topic(EXIT_CODES, "Exit codes of all commands", ""),
];

/// Shows the help for `names`, such as `suite init`; without names, the commands and the topics.
///
/// # Errors
/// Nothing has that name; the most similar name is suggested.
pub(super) fn run(names: &[String], env: &Env) -> Result<ExitCode, Ending> {
    let Some((name, within)) = names.split_first().filter(|(name, _)| *name != TOPICS_LIST) else {
        return Ok(Ending::answer(overview()).tell());
    };
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        let text = match topic.name {
            EXIT_CODES => exit_codes(),
            _ => topic.text.to_owned(),
        };
        return Ok(Ending::answer(text).tell());
    }
    let root = Cli::command();
    match root.find_subcommand(name) {
        Some(_) => {
            let mut words = vec!["loadline".to_owned(), name.clone()];
            words.extend(within.iter().cloned());
            words.push("--help".to_owned());
            super::dispatch(&words, env)
        }
        None => Err(unknown(name)),
    }
}

fn overview() -> String {
    let mut text = Cli::command().render_help().to_string();
    text.push_str("\nTopics:\n");
    for Topic { name, about, .. } in TOPICS {
        text.push_str(&format!("  {name:11}  {about}\n"));
    }
    text
}

fn exit_codes() -> String {
    let mut text = "Exit codes\n\n".to_owned();
    for code in ExitCode::ALL {
        text.push_str(&format!("{:5}  {}\n", code.code(), code.meaning()));
    }
    text
}

/// The refusal of a name. clap finds similar names.
fn unknown(name: &str) -> Ending {
    let topics = TOPICS.iter().map(|topic| Command::new(topic.name));
    let known = Cli::command().subcommands(topics);
    let refused = known.try_get_matches_from(["loadline", name]);
    let told = refused.map_or_else(|error| error.render().to_string(), |_| String::new());
    // clap also finds names that merely share some letters: those start otherwise.
    let starts_alike = |line: &&str| {
        let other = line.split('\'').nth(1);
        other.is_some_and(|other| other.chars().next() == name.chars().next())
    };
    let like = told
        .lines()
        .find(|line| line.contains("similar"))
        .filter(starts_alike);
    let like = like.map(|line| {
        let names = line.trim().trim_start_matches("tip: ");
        names.replace("subcommand", "name")
    });
    let like = like.or_else(|| {
        let root = Cli::command();
        let commands = root.get_subcommands().filter(|one| !one.is_hide_set());
        let names = commands.map(Command::get_name);
        let name = almost(name, names.chain(TOPICS.iter().map(|topic| topic.name)))?;
        Some(format!("a similar name exists: '{name}'"))
    });
    let like = like.map_or_else(String::new, |like| format!("; {like}"));
    Ending::usage(&format!(
        "no command or topic is called {name:?}{like}. `loadline help` lists them"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::k6;
    use super::*;
    use crate::Files;
    use crate::cli::script::ScriptCommand;
    use crate::dialect::{bombardier, hey};
    use crate::jmeter::options;
    use crate::k6::Identity;

    #[test]
    fn no_topic_hides_a_command() {
        let root = Cli::command();
        for topic in TOPICS {
            assert!(root.find_subcommand(topic.name).is_none(), "{}", topic.name);
            assert!(overview().contains(topic.name), "{}", topic.name);
        }
    }

    #[test]
    fn a_name_that_is_like_another_is_offered() {
        let ending = unknown("verdit");
        assert_eq!(ending.code, ExitCode::InvalidConfig);
        assert!(ending.err.contains("'verdict'"), "{ending}");
        assert!(unknown("rnu").err.contains("'run'"));
        for strange in ["xyzzy", "nosuch"] {
            assert!(!unknown(strange).err.contains("similar"), "{strange}");
        }
    }

    /// The output of `--help` for the command with these words.
    fn help_of(words: &[&str], command: &Command) -> String {
        let scripts = ScriptCommand::ALL;
        match words {
            ["k6"] => k6::overview(Identity::K6),
            ["jmeter"] => options::usage(),
            [dialect @ ("hey" | "bombardier")] => {
                let files = Files::Disk;
                let help = [String::from("--help")];
                let ending = match *dialect {
                    "hey" => hey::parse(&help, &files, 1).map(drop),
                    _ => bombardier::parse(&help, &files, 1).map(drop),
                };
                ending.expect_err("help").err
            }
            [name] if scripts.iter().any(|known| known.name() == *name) => {
                let known = scripts.iter().find(|known| known.name() == *name);
                known.expect("it was found").help("loadline")
            }
            _ => command.clone().render_long_help().to_string(),
        }
    }

    fn without_examples<'a>(words: &[&'a str], command: &'a Command, found: &mut Vec<String>) {
        for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let words = [words, &[below.get_name()]].concat();
            let help = help_of(&words, below);
            let example = help.split("\nExample").nth(1);
            // Dialects are known by their own names.
            let name = words.join(" ");
            if !example.is_some_and(|lines| lines.contains(&name)) {
                found.push(name);
            }
            without_examples(&words, below, found);
        }
    }

    #[test]
    fn every_command_has_an_example() {
        let mut root = Cli::command();
        root.build();
        let mut found = Vec::new();
        without_examples(&[], &root, &mut found);
        assert_eq!(found, Vec::<String>::new());
    }

    /// Options named in the pages exist.
    #[test]
    fn pages_name_options_of_bench() {
        let mut root = Cli::command();
        root.build();
        let bench = root.find_subcommand("bench").expect("it is there");
        let known: Vec<_> = bench
            .get_arguments()
            .filter_map(clap::Arg::get_long)
            .collect();
        for topic in TOPICS.iter().filter(|topic| topic.name != "models") {
            let words = topic.text.split_whitespace();
            for option in words.filter_map(|word| word.strip_prefix("--")) {
                let option = option.trim_end_matches([',', '.']);
                assert!(known.contains(&option), "{}: --{option}", topic.name);
            }
        }
    }
}
