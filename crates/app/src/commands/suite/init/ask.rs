//! Questions to a user at a terminal.
//!
//! Must not know the use of the answers. Invariant: an empty answer means the default, and the end of the input
//! is an error, so that nothing waits forever.

use std::io::{BufRead, Write};

use loadline_suite::document::presets;

use crate::Ending;

/// Maximum length of an answer.
const ANSWER_MAX: u64 = 64 << 10;

/// The user's answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    what: String,
    preset: Option<String>,
}

impl Asked {
    /// Asks for the target, and for the table.
    ///
    /// # Errors
    /// The input ends before there is an answer.
    pub(super) fn of(input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Asked, Ending> {
        let what = loop {
            let question = "What do you want to test? A URL, a script, a JMeter plan, a testbed file, or a command line of \
                            hey, bombardier or k6:\n> ";
            let answer = answer(question, input, output)?;
            if !answer.is_empty() {
                break answer;
            }
        };
        let names: Vec<&str> = presets::names().collect();
        let preset = loop {
            let question = format!("Which table? {}, or none:\n> ", names.join(", "));
            let answer = answer(&question, input, output)?;
            match answer.as_str() {
                "" | "none" => break None,
                name if names.contains(&name) => break Some(answer),
                _ => {}
            }
        };
        Ok(Asked { what, preset })
    }

    /// The target, and the preset.
    pub(super) fn told(self) -> (String, Option<String>) {
        (self.what, self.preset)
    }
}

fn answer(
    question: &str,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<String, Ending> {
    // A user who cannot read the question may still answer.
    let _ = output
        .write_all(question.as_bytes())
        .and_then(|()| output.flush());
    let mut line = String::new();
    let read = std::io::Read::take(input, ANSWER_MAX).read_line(&mut line);
    match read {
        Ok(1..) => Ok(line.trim().to_owned()),
        Ok(0) | Err(_) => Err(Ending::usage(
            "no input; name the target: loadline suite init URL",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(said: &str) -> (Result<Asked, Ending>, String) {
        let mut output = Vec::new();
        let asked = Asked::of(&mut said.as_bytes(), &mut output);
        (
            asked,
            String::from_utf8(output).expect("questions are text"),
        )
    }

    #[test]
    fn questions_are_asked_again_until_there_is_an_answer() {
        let (told, questions) = asked("\nhey -c 5 http://h/\nnonsense\nreplicas\n");
        let expected = Asked {
            what: "hey -c 5 http://h/".to_owned(),
            preset: Some("replicas".to_owned()),
        };
        assert_eq!(told, Ok(expected));
        assert_eq!(questions.matches("> ").count(), 4, "{questions}");
        assert_eq!(asked("http://h/\n\n").0.expect("an answer").preset, None);
    }

    #[test]
    fn the_end_of_the_input_is_no_answer() {
        for said in ["", "\n", "http://h/\n", "http://h/\nnonsense\n"] {
            assert!(asked(said).0.is_err(), "{said:?}");
        }
    }
}
