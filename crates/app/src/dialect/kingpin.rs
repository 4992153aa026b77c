//! kingpin's syntax: `--flag=v`, `--flag v`, `--no-flag`, `-fv`, bundled `-lk`, `@file` with one word per line,
//! `--` before words that are not flags.
//!
//! Source: the observed behaviour of kingpin 2.2.6. Must not know which flags a tool has. Invariant: the
//! messages are kingpin's; argument files are nested at most [`DEPTH_MAX`] levels deep.

use std::collections::VecDeque;

use super::go_text;
use crate::Files;

/// Maximum nesting of argument files: a file may name itself.
pub const DEPTH_MAX: usize = 16;
/// Maximum number of words of a command line, including those of argument files.
pub const WORDS_MAX: usize = 100_000;

/// A flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its long name.
    pub name: &'static str,
    /// Its short name; `None` if it has none.
    pub short: Option<char>,
    /// Whether it takes a value.
    pub takes_value: bool,
    /// Whether it may be given more than once.
    pub repeatable: bool,
}

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Flags with a value, in the order given.
    pub values: Vec<(&'static str, String)>,
    /// Flags without a value, in the given order; `false` for `--no-…`.
    pub switches: Vec<(&'static str, bool)>,
    /// Words that are not flags.
    pub words: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// kingpin's message.
pub fn parse(known: &[Flag], arguments: &[String], files: &Files) -> Result<Parsed, String> {
    let mut lexer = Lexer {
        known,
        files,
        words: VecDeque::new(),
        flags_ended: false,
        taken: 0,
    };
    lexer
        .words
        .extend(arguments.iter().map(|word| (word.clone(), 0)));
    let mut parsed = Parsed::default();
    while let Some(token) = lexer.next()? {
        match token {
            Token::Word(word) => parsed.words.push(word),
            Token::Long { name, inline } => {
                let (flag, positive) = long(known, &name)?;
                take(
                    flag,
                    positive,
                    inline,
                    &format!("--{name}"),
                    &mut lexer,
                    &mut parsed,
                )?;
            }
            Token::Short { name, inline } => {
                let flag = known.iter().find(|flag| flag.short == Some(name));
                let flag = flag.ok_or_else(|| format!("unknown short flag '-{name}'"))?;
                take(
                    flag,
                    true,
                    inline,
                    &format!("-{name}"),
                    &mut lexer,
                    &mut parsed,
                )?;
            }
        }
    }
    check_repeats(known, &parsed)?;
    Ok(parsed)
}

enum Token {
    Word(String),
    Long {
        name: String,
        inline: Option<String>,
    },
    Short {
        name: char,
        inline: Option<String>,
    },
}

struct Lexer<'a> {
    known: &'a [Flag],
    files: &'a Files,
    /// Remaining words, each with its nesting level of argument files.
    words: VecDeque<(String, usize)>,
    flags_ended: bool,
    taken: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<Token>, String> {
        loop {
            let Some((word, depth)) = self.words.pop_front() else {
                return Ok(None);
            };
            self.taken += 1;
            if self.taken > WORDS_MAX {
                return Err(format!("more than {WORDS_MAX} arguments"));
            }
            if self.flags_ended {
                return Ok(Some(Token::Word(word)));
            }
            if word == "--" {
                self.flags_ended = true;
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, inline) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                return Ok(Some(Token::Long {
                    name: name.to_owned(),
                    inline,
                }));
            } else if let Some(short) = word.strip_prefix('-') {
                return self.short(short, depth).map(Some);
            } else if let Some(path) = word.strip_prefix('@') {
                self.expand(path, depth + 1)?;
            } else {
                return Ok(Some(Token::Word(word)));
            }
        }
    }

    /// The first flag of a bundle; the rest is its value, or more flags.
    fn short(&mut self, bundle: &str, depth: usize) -> Result<Token, String> {
        let mut letters = bundle.chars();
        let Some(name) = letters.next() else {
            return Err("unknown short flag '-'".to_owned());
        };
        let rest = letters.as_str();
        let is_switch = self
            .known
            .iter()
            .any(|flag| flag.short == Some(name) && !flag.takes_value);
        if rest.is_empty() {
            return Ok(Token::Short { name, inline: None });
        }
        if is_switch {
            self.words.push_front((format!("-{rest}"), depth));
            return Ok(Token::Short { name, inline: None });
        }
        Ok(Token::Short {
            name,
            inline: Some(rest.to_owned()),
        })
    }

    fn expand(&mut self, path: &str, depth: usize) -> Result<(), String> {
        let fail = |why: String| {
            format!(
                "failed to open arguments file {}: {why}",
                loadline_go::quoted(path)
            )
        };
        if depth > DEPTH_MAX {
            return Err(fail(format!(
                "argument files are nested more than {DEPTH_MAX} deep"
            )));
        }
        let text = self
            .files
            .read_text(path)
            .map_err(|error| fail(go_text::file_error(&error)))?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        for line in lines.into_iter().rev() {
            self.words.push_front((line.to_owned(), depth));
        }
        Ok(())
    }
}

fn long<'a>(known: &'a [Flag], name: &str) -> Result<(&'a Flag, bool), String> {
    let find = |name: &str| known.iter().find(|flag| flag.name == name);
    let unknown = || format!("unknown long flag '--{name}'");
    if let Some(flag) = find(name) {
        return Ok((flag, true));
    }
    let negated = name
        .strip_prefix("no-")
        .and_then(find)
        .filter(|flag| !flag.takes_value);
    negated.map(|flag| (flag, false)).ok_or_else(unknown)
}

fn take(
    flag: &Flag,
    positive: bool,
    inline: Option<String>,
    spelling: &str,
    lexer: &mut Lexer<'_>,
    parsed: &mut Parsed,
) -> Result<(), String> {
    if !flag.takes_value {
        parsed.switches.push((flag.name, positive));
        // kingpin treats the text after the equals sign of a switch as the next argument.
        parsed.words.extend(inline);
        return Ok(());
    }
    let value = match inline {
        Some(value) => value,
        None => match lexer.next()? {
            Some(Token::Word(word)) => word,
            _ => return Err(format!("expected argument for flag '{spelling}'")),
        },
    };
    parsed.values.push((flag.name, value));
    Ok(())
}

fn check_repeats(known: &[Flag], parsed: &Parsed) -> Result<(), String> {
    let given = || {
        let values = parsed.values.iter().map(|(name, _)| *name);
        values.chain(parsed.switches.iter().map(|(name, _)| *name))
    };
    let repeated = known
        .iter()
        .find(|flag| !flag.repeatable && given().filter(|name| *name == flag.name).count() > 1);
    match repeated {
        Some(flag) => Err(format!("flag '{}' cannot be repeated", flag.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn flag(name: &'static str, short: char, takes_value: bool, repeatable: bool) -> Flag {
        Flag {
            name,
            short: Some(short),
            takes_value,
            repeatable,
        }
    }

    const KNOWN: &[Flag] = &[
        flag("connections", 'c', true, false),
        flag("latencies", 'l', false, false),
        flag("insecure", 'k', false, false),
        flag("no-print", 'q', false, false),
        flag("header", 'H', true, true),
    ];

    fn parsed_with(words: &[&str], files: &Files) -> Result<Parsed, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse(KNOWN, &words, files)
    }

    fn parsed(words: &[&str]) -> Result<Parsed, String> {
        parsed_with(words, &Files::Memory([].into()))
    }

    #[test]
    fn every_spelling() {
        for words in [
            ["-c", "5"].as_slice(),
            &["-c5"],
            &["--connections=5"],
            &["--connections", "5"],
        ] {
            assert_eq!(
                parsed(words).expect("taken").values,
                [("connections", "5".to_owned())]
            );
        }
        let bundle = parsed(&["-lkc5", "u", "-H", "a: b", "--header=c: d"]).expect("taken");
        assert_eq!(bundle.switches, [("latencies", true), ("insecure", true)]);
        assert_eq!(
            (bundle.values.len(), bundle.words),
            (3, vec!["u".to_owned()])
        );
        assert_eq!(
            parsed(&["--no-insecure"]).expect("taken").switches,
            [("insecure", false)]
        );
        assert_eq!(
            parsed(&["--no-print"]).expect("taken").switches,
            [("no-print", true)]
        );
        assert_eq!(parsed(&["--", "-c"]).expect("taken").words, ["-c"]);
        assert_eq!(parsed(&["-c=5"]).expect("taken").values[0].1, "=5");
        assert_eq!(
            parsed(&["--latencies=true", "u"]).expect("taken").words,
            ["true", "u"]
        );
    }

    #[test]
    fn every_refusal() {
        for (words, message) in [
            (["--foo"].as_slice(), "unknown long flag '--foo'"),
            (
                &["--no-connections"],
                "unknown long flag '--no-connections'",
            ),
            (&["-x"], "unknown short flag '-x'"),
            (&["-"], "unknown short flag '-'"),
            (&["-c"], "expected argument for flag '-c'"),
            (
                &["--connections", "-l"],
                "expected argument for flag '--connections'",
            ),
            (
                &["-c", "1", "-c", "2"],
                "flag 'connections' cannot be repeated",
            ),
            (
                &["-l", "--no-latencies"],
                "flag 'latencies' cannot be repeated",
            ),
            (
                &["@none"],
                "failed to open arguments file \"none\": open none: no such file or directory",
            ),
        ] {
            assert_eq!(parsed(words), Err(message.to_owned()));
        }
    }

    #[test]
    fn argument_files() {
        let file = |text: &str| text.as_bytes().to_vec();
        let files = Files::Memory(
            [
                ("f".to_owned(), file("# a comment\n-c\n5\n@g\n")),
                ("g".to_owned(), file("url")),
                ("self".to_owned(), file("@self")),
            ]
            .into(),
        );
        let taken = parsed_with(&["@f", "-l"], &files).expect("taken");
        assert_eq!(
            (taken.values[0].1.as_str(), taken.words[0].as_str()),
            ("5", "url")
        );
        assert_eq!(taken.switches, [("latencies", true)]);
        assert!(
            parsed_with(&["@self"], &files)
                .expect_err("endless")
                .contains("nested")
        );
    }

    proptest! {
        #[test]
        fn no_words_break_it(words in prop::collection::vec("[-@=clkqHno0-9]{0,8}", 0..8)) {
            let _ = parse(KNOWN, &words, &Files::Memory([].into()));
        }
    }
}
