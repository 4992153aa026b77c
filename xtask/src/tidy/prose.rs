//! Texts for users: help, messages, findings, pages and documents use the field's own terms.
//!
//! Must not know comments and names in the code, which only its authors read. Invariant: a phrase is only found
//! inside a string, in a text of the help, or in a document.

use super::File;

/// Phrases that confuse readers, in lower case, and better ones.
const STUMBLES: &[(&str, &str)] = &[
    ("an answer", "a response; a search has a result"),
    ("good answer", "good response"),
    ("wrong answer", "wrong response"),
    ("of the answers", "of the responses"),
    ("per answer", "per response"),
    ("last answer", "last response"),
    ("sent again", "TCP retransmits; requests are resent"),
    ("for a word", "press Resume to start; start paused"),
    ("believe any", "skip TLS verification"),
    ("come by", "opened; received"),
    ("come of it", "the result"),
    ("heeded", "handled; applied"),
    ("was told", "was notified; was reported"),
    ("broke down", "crashed; failed"),
    ("the way to the target", "the network path"),
    ("behind --", "after --"),
    ("its rights", "its permissions"),
    ("to be had", "available"),
    ("turn them round", "swap them"),
    ("in vain", "timed out"),
    ("by its own account", "reports itself"),
    (" anew", "again; started anew: restarted"),
    ("look whether", "check whether"),
    ("relieve the", "take load off the"),
    ("is told of", "is reported"),
    ("stood idle", "was idle"),
    ("vus at work", "busy VUs"),
    ("users at work", "busy VUs"),
    ("mend it", "fix it"),
    ("mend what", "fix what"),
    ("cannot be heard", "is unreachable"),
    ("is begun", "starts"),
    ("was begun", "started"),
    ("were begun", "started"),
    ("brought to its end", "finished"),
    ("look closer", "zoom"),
    ("processor time", "CPU time"),
    ("intended start", "scheduled start"),
    ("that was looked at", "sample"),
    ("machine of its own", "its own machine"),
    ("pages of other places", "pages of other sites"),
    ("template hole", "template"),
    ("gave way", "failed"),
    ("along a line", "steadily"),
    ("ran or could", "runnable tasks"),
];
/// Documents for authors only, and those that quote other tools or other versions.
const NOT_READ: &[&str] = &[
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "GLOSSARY.md",
];

pub(super) fn breaches(file: &File) -> Vec<String> {
    if NOT_READ.contains(&file.path.as_str()) || is_of_tests(&file.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, line) in file.content.lines().enumerate() {
        let shown = shown(file, line).to_lowercase();
        let phrases = STUMBLES.iter().filter(|(phrase, _)| shown.contains(phrase));
        found.extend(phrases.map(|(phrase, better)| {
            format!(
                "{}:{}: readers stumble over {phrase:?}: {better}",
                file.path,
                index + 1
            )
        }));
    }
    found
}

fn is_of_tests(path: &str) -> bool {
    let is_test = |part: &str| part == "tests" || part.ends_with("tests.rs") || part == "testing";
    path.split('/').any(is_test)
        || ["crates/e2e/", "xtask/", "crates/sim/"]
            .iter()
            .any(|at| path.starts_with(at))
}

/// The part of a line that reaches users; empty: none.
fn shown(file: &File, line: &str) -> String {
    let line = line.trim();
    let is_help = file.path.starts_with("crates/app/src/cli");
    if !file.is_rust() {
        let is_read =
            file.has_extension("md") || file.path.starts_with("crates/app/src/commands/help");
        return if is_read {
            line.to_owned()
        } else {
            String::new()
        };
    }
    match line.strip_prefix("///") {
        Some(help) if is_help => return help.to_owned(),
        _ if line.starts_with("//") => return String::new(),
        _ => {}
    }
    // The inner lines of a multi-line string have no quotes.
    match line
        .split('"')
        .skip(1)
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ")
    {
        quoted if quoted.is_empty() && !line.ends_with([';', '{', '}', ',', ')', '(', '>']) => {
            line.to_owned()
        }
        // Messages of assertions, for authors.
        _ if line.contains("expect(\"") || line.contains("unreachable!(") => String::new(),
        quoted => quoted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, content: &str) -> usize {
        breaches(&File {
            path: path.to_owned(),
            content: content.to_owned(),
        })
        .len()
    }

    #[test]
    fn phrases_are_found_where_people_read_them() {
        assert_eq!(told("docs/a.md", "It gives an answer."), 1);
        assert_eq!(
            told("crates/a/src/lib.rs", "let text = \"no good answers\";"),
            1
        );
        assert_eq!(
            told(
                "crates/a/src/lib.rs",
                "    it was sent, and started anew \\"
            ),
            1
        );
        assert_eq!(told("crates/app/src/cli/a.rs", "/// Waits in vain"), 1);
    }

    #[test]
    fn comments_names_and_tests_are_their_authors_own() {
        assert_eq!(told("crates/a/src/lib.rs", "// an answer"), 0);
        assert_eq!(told("crates/a/src/lib.rs", "/// Has an answer."), 0);
        assert_eq!(told("crates/a/tests/all.rs", "\"an answer\""), 0);
        assert_eq!(told("ARCHITECTURE.md", "an answer"), 0);
    }
}
