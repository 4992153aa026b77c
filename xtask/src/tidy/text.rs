//! Rules for the text of one file: length, header, words, white space.
//!
//! Must not know more than the given file. Invariant: a rule with false positives is not included.

use super::File;

/// A longer module has more than one responsibility.
const LINES_MAX: usize = 600;
/// Tables and lists may be longer; the mark is near the top, where a reader sees it.
const TABLE_MARK: &str = "// tidy: table";
const TABLE_MARK_WITHIN: usize = 30;
/// Minimum length of a header in characters: a shorter one says nothing.
const HEADER_CHARS_MIN: usize = 40;

/// Whole words that mean "not finished". They are concatenated here, so that this file does not contain them.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
];
/// Texts that no file may contain, and why.
const BANNED: &[(&str, &str)] = &[
    (concat!("dbg", "!("), "debugging output"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("<<<<", "<<< "), "a conflict that is not resolved"),
    (concat!("||||", "||| "), "a conflict that is not resolved"),
    (concat!(">>>>", ">>> "), "a conflict that is not resolved"),
];
/// Words that the glossary replaces and that have no other use here.
const GLOSSARY: &[(&str, &str)] = &[
    (concat!("vic", "tim"), "target"),
    (concat!("sla", "ve"), "agent"),
    (concat!("breaking ", "point"), "saturation point"),
    (concat!("task ", "set"), "scenario"),
];
/// Phrases that are not the field's English, and the terms that its readers use.
const PHRASES: &[(&str, &str)] = &[
    (concat!("segments sent ", "again"), "retransmits"),
    (concat!("any ", "certificate"), "skip TLS verification"),
    (concat!("wait for a ", "word"), "start paused"),
    (concat!(" came of ", "it"), "outcome"),
    (concat!(" come of ", "it"), "outcome"),
    (
        concat!("for want of ", "memory"),
        "out of memory, OOM-killed",
    ),
];

pub(super) fn breaches(file: &File) -> Vec<String> {
    let mut found = white_space(file);
    // The licence is a quote, and the glossary lists the words that it replaces.
    if file.path != "LICENSE" {
        found.extend(
            file.content
                .lines()
                .enumerate()
                .flat_map(|(i, line)| words(file, i, line)),
        );
    }
    if file.is_rust() {
        found.extend(length(file));
        found.extend(header(file));
    }
    found
}

fn length(file: &File) -> Option<String> {
    let lines = file.content.lines().count();
    let table = file
        .content
        .lines()
        .take(TABLE_MARK_WITHIN)
        .any(|l| l.starts_with(TABLE_MARK));
    (lines > LINES_MAX && !table).then(|| {
        format!(
            "{}: {lines} lines, the limit is {LINES_MAX}: split it",
            file.path
        )
    })
}

fn header(file: &File) -> Option<String> {
    let said: usize = file
        .content
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.trim().chars().count())
        .sum();
    (said < HEADER_CHARS_MIN).then(|| {
        format!(
            "{}:1: needs a `//!` header: what it is, what it must not know, its invariant",
            file.path
        )
    })
}

fn words(file: &File, index: usize, line: &str) -> Vec<String> {
    let place = format!("{}:{}", file.path, index + 1);
    let mut found = Vec::new();
    let mut parts = line.split(|c: char| !c.is_alphanumeric());
    if let Some(word) = parts.find(|part| UNFINISHED.contains(part)) {
        found.push(format!("{place}: {word}: finish it, or write an issue"));
    }
    for (banned, why) in BANNED.iter().filter(|(banned, _)| line.contains(banned)) {
        found.push(format!("{place}: {banned}: {why}"));
    }
    if file.path != "GLOSSARY.md" {
        let lower = line.to_lowercase();
        let known = GLOSSARY.iter().chain(PHRASES);
        for (word, better) in known.filter(|(word, _)| lower.contains(word)) {
            found.push(format!(
                "{place}: say {better:?} instead of {word:?} (GLOSSARY.md)"
            ));
        }
    }
    found
}

fn white_space(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in file.content.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            found.push(format!(
                "{}:{}: white space at the end",
                file.path,
                index + 1
            ));
        }
    }
    if !file.content.is_empty() && !file.content.ends_with('\n') {
        found.push(format!("{}: the last line has no end", file.path));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "//! A file that says what it is, what it must not know, its invariant.\n";

    fn breaches_of(path: &str, content: &str) -> Vec<String> {
        let file = File {
            path: path.to_owned(),
            content: content.to_owned(),
        };
        breaches(&file)
    }

    #[test]
    fn a_clean_file_passes() {
        assert_eq!(
            breaches_of("crates/a/src/lib.rs", HEADER),
            Vec::<String>::new()
        );
    }

    #[test]
    fn long_files_are_refused_unless_they_are_tables() {
        let long = format!("{HEADER}{}", "// a line\n".repeat(LINES_MAX));
        assert_eq!(breaches_of("a.rs", &long).len(), 1);
        let table = format!(
            "{HEADER}{TABLE_MARK}: one row a flag\n{}",
            "// a\n".repeat(LINES_MAX)
        );
        assert!(breaches_of("a.rs", &table).is_empty());
    }

    #[test]
    fn a_header_must_say_something() {
        for content in [
            "fn main() {}\n",
            "//! Short.\n",
            "// Plain comment, long enough to say a lot.\n",
        ] {
            assert_eq!(breaches_of("a.rs", content).len(), 1, "{content}");
        }
    }

    #[test]
    fn unfinished_work_is_refused_as_whole_words_only() {
        for word in UNFINISHED {
            assert_eq!(
                breaches_of("a.md", &format!("a {word}: b\n")).len(),
                1,
                "{word}"
            );
            assert!(
                breaches_of("a.md", &format!("a{word}b\n")).is_empty(),
                "{word}"
            );
        }
    }

    #[test]
    fn banned_pieces_and_glossary_words_are_refused() {
        for (piece, _) in BANNED {
            assert_eq!(
                breaches_of("a.md", &format!("see {piece}x\n")).len(),
                1,
                "{piece}"
            );
        }
        for (word, _) in GLOSSARY {
            assert_eq!(
                breaches_of("a.md", &format!("the {word}\n")).len(),
                1,
                "{word}"
            );
            assert!(
                breaches_of("GLOSSARY.md", &format!("the {word}\n")).is_empty(),
                "{word}"
            );
        }
    }

    #[test]
    fn white_space_is_kept_clean() {
        assert_eq!(breaches_of("a.toml", "a = 1 \nb = 2\r\nc = 3").len(), 3);
    }
}
