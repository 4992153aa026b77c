//! An existing command line as the load of a row.
//!
//! Must not know what its options mean. Invariant: the words of the command line stay, except the URL at its
//! end, which becomes the target.

use std::fmt;

use loadline_model::front_end::is_plan;

use crate::plan::Front;

/// Why a command line cannot be the load of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitCommandError {
    text: String,
}

impl fmt::Display for InitCommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for InitCommandError {}

/// Parses the words of a command line: the kind of load, and the target that it names.
///
/// # Errors
/// A suite cannot run it, or it names no script.
pub fn load_of_command(words: &[String]) -> Result<(Front, Option<String>), InitCommandError> {
    let program = |word: &String| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.trim_end_matches(".exe").to_owned()
    };
    let (name, rest) = match words {
        [first, second, rest @ ..] if program(first) == "loadline" => (second.clone(), rest),
        [first, second, rest @ ..] if program(first) == "k6" && second == "run" => {
            (second.clone(), rest)
        }
        [first, rest @ ..] => (program(first), rest),
        [] => (String::new(), &[][..]),
    };
    let requests = |front: fn(Vec<String>) -> Front| {
        let (words, target) = without_target(rest);
        Ok((front(words), target))
    };
    match name.as_str() {
        "bench" => requests(Front::Bench),
        "hey" => requests(Front::Hey),
        "bombardier" => requests(Front::Bombardier),
        "run" => Ok((script(rest)?, None)),
        _ => Err(InitCommandError {
            text: format!(
                "{name:?} is not a command that a suite can run; write hey, bombardier, loadline bench, or k6 run SCRIPT with \
                 their arguments; for a JMeter plan name its file"
            ),
        }),
    }
}

/// A single URL at the end is the target.
fn without_target(words: &[String]) -> (Vec<String>, Option<String>) {
    let is_url = |word: &&String| word.contains("://");
    match words.split_last() {
        Some((last, before)) if is_url(&last) && !before.iter().any(|word| is_url(&word)) => {
            (before.to_vec(), Some(last.clone()))
        }
        _ => (words.to_vec(), None),
    }
}

fn script(words: &[String]) -> Result<Front, InitCommandError> {
    let endings = [".js", ".ts", ".mjs", ".tar"];
    let is_file =
        |word: &&String| is_plan(word) || endings.iter().any(|ending| word.ends_with(ending));
    let Some(at) = words.iter().rposition(|word| is_file(&word)) else {
        return Err(InitCommandError {
            text: "the command line names no script (.js, .ts) and no plan (.jmx)".to_owned(),
        });
    };
    let mut args = words.to_vec();
    let file = args.remove(at);
    Ok(match is_plan(&file) {
        true => Front::Plan { file, args },
        false => Front::Script { file, args },
    })
}
