//! Go's flag syntax: `-n 5`, `-n=5`, `--n 5`, no bundling; flags end at the first word that is not a flag.
//!
//! Source: the documentation of Go's package flag. Must not know which flags a tool has. Invariant: the
//! messages are those of Go's package.

use loadline_go::duration;
use loadline_go::integer::{NumberFault, parse_literal};
use loadline_go::quoted;

/// The value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None, or a boolean after `=`.
    Bool,
    /// An integer, also in the forms 0x10, 0b1, 0o7, 1_000.
    Int,
    /// A number.
    Float,
    /// Any text.
    Text,
    /// A Go duration.
    Duration,
}

/// A flag's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::Float`].
    Float(f64),
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Duration`], in nanoseconds.
    Duration(i64),
}

/// Why parsing stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `-help` was given, or `-h` if no flag has that name.
    Help,
    /// Go's message.
    Bad(String),
}

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Flags in the order given.
    pub flags: Vec<(&'static str, Value)>,
    /// The words after the flags.
    pub rest: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// Where Go's parser stops.
pub fn parse(known: &[(&'static str, Kind)], arguments: &[String]) -> Result<Parsed, Stop> {
    let mut parsed = Parsed::default();
    let mut words = arguments;
    while let [word, after @ ..] = words {
        let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) else {
            break;
        };
        words = after;
        if flag == "-" {
            break;
        }
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        if flag.starts_with(['-', '=']) {
            return Err(Stop::Bad(format!("bad flag syntax: {word}")));
        }
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let Some((name, kind)) = known.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(name));
        };
        let value = match (kind, inline) {
            (Kind::Bool, text) => truth(name, text)?,
            (kind, Some(text)) => value(name, *kind, text)?,
            (kind, None) => {
                let [text, after @ ..] = words else {
                    return Err(Stop::Bad(format!("flag needs an argument: -{name}")));
                };
                words = after;
                value(name, *kind, text)?
            }
        };
        parsed.flags.push((*name, value));
    }
    parsed.rest = words.to_vec();
    Ok(parsed)
}

fn unknown(name: &str) -> Stop {
    if matches!(name, "help" | "h") {
        return Stop::Help;
    }
    Stop::Bad(format!("flag provided but not defined: -{name}"))
}

fn truth(name: &str, text: Option<&str>) -> Result<Value, Stop> {
    let text = text.unwrap_or("true");
    loadline_go::truth(text).map(Value::Bool).ok_or_else(|| {
        let shown = quoted(text);
        Stop::Bad(format!(
            "invalid boolean value {shown} for -{name}: parse error"
        ))
    })
}

fn value(name: &str, kind: Kind, text: &str) -> Result<Value, Stop> {
    let value = match kind {
        Kind::Bool => return truth(name, Some(text)),
        Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Int => parse_literal(text)
            .map(Value::Int)
            .map_err(|fault| match fault {
                NumberFault::Syntax => PARSE,
                NumberFault::Range => RANGE,
            }),
        Kind::Float => float(text).map(Value::Float),
        Kind::Duration => duration::parse(text)
            .map(Value::Duration)
            .map_err(|_| PARSE),
    };
    value.map_err(|why| {
        Stop::Bad(format!(
            "invalid value {} for flag -{name}: {why}",
            quoted(text)
        ))
    })
}

const PARSE: &str = "parse error";
const RANGE: &str = "value out of range";

fn float(text: &str) -> Result<f64, &'static str> {
    let number: f64 = text.parse().map_err(|_| PARSE)?;
    let is_named = text.contains(['i', 'I', 'n', 'N']);
    if number.is_infinite() && !is_named {
        Err(RANGE)
    } else {
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KNOWN: &[(&str, Kind)] = &[
        ("n", Kind::Int),
        ("q", Kind::Float),
        ("z", Kind::Duration),
        ("m", Kind::Text),
        ("v", Kind::Bool),
    ];

    fn parsed(line: &str) -> Result<Parsed, Stop> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(KNOWN, &words)
    }

    #[test]
    fn every_spelling() {
        for line in [
            "-n 5 u",
            "-n=5 u",
            "--n 5 u",
            "--n=5 u",
            "-n 0x5 u",
            "-n 0b1_01 u",
            "-n 05 u",
        ] {
            let parsed = parsed(line).expect(line);
            assert_eq!(parsed.flags, [("n", Value::Int(5))], "{line}");
            assert_eq!(parsed.rest, ["u"]);
        }
        let mixed = parsed("-v -m=a=b -z -1m -q 1e2 -- -n 5").expect("taken");
        assert_eq!(mixed.flags[1], ("m", Value::Text("a=b".to_owned())));
        assert_eq!(mixed.flags[2], ("z", Value::Duration(-60_000_000_000)));
        assert_eq!(mixed.rest, ["-n", "5"]);
        assert_eq!(parsed("- x").expect("taken").rest, ["-", "x"]);
        assert_eq!(
            parsed("-v=false").expect("taken").flags,
            [("v", Value::Bool(false))]
        );
        assert_eq!(parsed("-n 5 u -v").expect("taken").rest, ["u", "-v"]);
    }

    #[test]
    fn every_refusal() {
        for (line, message) in [
            ("-foo", "flag provided but not defined: -foo"),
            ("-n", "flag needs an argument: -n"),
            ("-n abc", "invalid value \"abc\" for flag -n: parse error"),
            (
                "-n 99999999999999999999",
                "invalid value \"99999999999999999999\" for flag -n: value out of range",
            ),
            ("-n 1__0", "invalid value \"1__0\" for flag -n: parse error"),
            ("-n 09", "invalid value \"09\" for flag -n: parse error"),
            ("-q abc", "invalid value \"abc\" for flag -q: parse error"),
            (
                "-q 1e999",
                "invalid value \"1e999\" for flag -q: value out of range",
            ),
            ("-z 5", "invalid value \"5\" for flag -z: parse error"),
            (
                "-v=maybe",
                "invalid boolean value \"maybe\" for -v: parse error",
            ),
            ("---n 5", "bad flag syntax: ---n"),
            ("-=5", "bad flag syntax: -=5"),
        ] {
            assert_eq!(parsed(line), Err(Stop::Bad(message.to_owned())));
        }
        assert_eq!(parsed("-help"), Err(Stop::Help));
        assert_eq!(parsed("-h"), Err(Stop::Help));
    }

    proptest! {
        #[test]
        fn words_are_flags_or_rest(words in prop::collection::vec("[-=nqzmv0-9_x.]{0,6}", 0..8)) {
            if let Ok(parsed) = parse(KNOWN, &words) {
                prop_assert!(words.ends_with(&parsed.rest));
            }
        }
    }
}
