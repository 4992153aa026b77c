//! The command lines that can start a run.
//!
//! Must not know their options. Invariant: a plan never contains one; it is for code that writes to the user.

use serde::{Deserialize, Serialize};

/// Whose vocabulary the user knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrontEnd {
    /// `loadline bench` and related commands.
    #[default]
    Bench,
    /// A k6 script: its options, and the flags of `run`.
    Script,
    /// hey's.
    Hey,
    /// bombardier's.
    Bombardier,
    /// A JMeter plan: its properties, and JMeter's options.
    JMeter,
}

impl FrontEnd {
    /// The front end of a command: `run` and `k6` run scripts.
    #[must_use]
    pub fn of_command(name: &str) -> FrontEnd {
        match name {
            "run" | "k6" => FrontEnd::Script,
            "hey" => FrontEnd::Hey,
            "bombardier" => FrontEnd::Bombardier,
            "jmeter" => FrontEnd::JMeter,
            _ => FrontEnd::Bench,
        }
    }

    /// The front end of a command line, including the program's name: a link may be called `hey`.
    #[must_use]
    pub fn of_command_line(words: &[String]) -> FrontEnd {
        let takes_plans = words.get(1).is_some_and(|word| word == "run");
        if takes_plans && words.iter().any(|word| is_plan(word)) {
            return FrontEnd::JMeter;
        }
        let mut names = words.iter().map(|word| word.rsplit(['/', '\\']).next());
        let program = FrontEnd::of_command(names.next().flatten().unwrap_or_default());
        match program {
            FrontEnd::Bench => FrontEnd::of_command(names.next().flatten().unwrap_or_default()),
            named => named,
        }
    }

    /// All of them.
    pub const ALL: [FrontEnd; 5] = [
        FrontEnd::Bench,
        FrontEnd::Script,
        FrontEnd::Hey,
        FrontEnd::Bombardier,
        FrontEnd::JMeter,
    ];
}

/// Whether a word names a JMeter plan.
#[must_use]
pub fn is_plan(word: &str) -> bool {
    !word.starts_with('-') && word.to_ascii_lowercase().ends_with(".jmx")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_says_whose_words_it_speaks() {
        for (line, front_end) in [
            ("loadline bench http://h", FrontEnd::Bench),
            ("/usr/bin/loadline run s.js", FrontEnd::Script),
            ("k6 run s.js", FrontEnd::Script),
            ("loadline k6 run s.js", FrontEnd::Script),
            ("./hey http://h", FrontEnd::Hey),
            ("loadline bombardier http://h", FrontEnd::Bombardier),
            ("loadline capacity http://h", FrontEnd::Bench),
            ("loadline run -Ja=1 p.jmx", FrontEnd::JMeter),
            ("", FrontEnd::Bench),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(FrontEnd::of_command_line(&words), front_end, "{line}");
        }
    }
}
