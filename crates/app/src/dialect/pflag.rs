//! Command lines as parsed by Go's package `pflag`: `--name value`, `--name=value`, `-nvalue`, `-abc`, flags
//! before and after the operands, `--` ends flags.
//!
//! Source: the documentation of that package. Must not know the effect of a flag. Invariant: no line panics;
//! operands keep their order.

use loadline_go::{parse_bool, quoted};
use loadline_script::csv_record::RecordReader;

/// The value of a flag.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// None, or `=true`, `=false`.
    Switch,
    /// A text.
    Text,
    /// `=text`, or none, which means this text.
    MaybeText(&'static str),
    /// Texts separated by commas: a record of comma-separated values.
    Texts,
    /// A text that is checked when the flag is parsed.
    Checked(fn(&str) -> Result<(), String>),
}

/// A flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Long name, without dashes.
    pub long: &'static str,
    /// Short name.
    pub short: Option<char>,
    /// Its value.
    pub kind: Kind,
    /// Name of the value in help; empty for a switch.
    pub value: &'static str,
    /// Its effect, and its default.
    pub help: &'static str,
}

impl Flag {
    /// The flag in messages.
    fn shown(&self) -> String {
        match self.short {
            Some(short) => format!("-{short}, --{}", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    given: Vec<(&'static str, String)>,
    /// The words that are not flags, in order.
    pub operands: Vec<String>,
    /// Whether help was requested.
    pub help: bool,
}

impl Parsed {
    /// The value of a flag, the last one if repeated; `None` if not given.
    #[must_use]
    pub fn text(&self, long: &str) -> Option<&str> {
        self.all(long).last()
    }

    /// Every value of a flag, in order.
    pub fn all<'a>(&'a self, long: &str) -> impl DoubleEndedIterator<Item = &'a str> {
        let of = move |(name, value): &'a (&'static str, String)| (*name, value.as_str());
        let long = long.to_owned();
        self.given
            .iter()
            .map(of)
            .filter(move |(name, _)| *name == long)
            .map(|(_, value)| value)
    }

    /// The value of a switch; `None` if not given.
    #[must_use]
    pub fn switch(&self, long: &str) -> Option<bool> {
        self.text(long).and_then(loadline_go::truth)
    }

    /// Every value of a flag of [`Kind::Texts`]; `None` if not given.
    #[must_use]
    pub fn texts(&self, long: &str) -> Option<Vec<String>> {
        self.text(long)?;
        let records = self.all(long).map(|text| record(text).unwrap_or_default());
        Some(records.flatten().collect())
    }

    /// Every value of a repeatable flag; `None` if not given. A single empty value counts as none: pflag stores
    /// them as a record, which is then empty too.
    #[must_use]
    pub fn array(&self, long: &str) -> Option<Vec<&str>> {
        let values: Vec<&str> = self.all(long).collect();
        (values.concat() != "" || values.len() > 1).then_some(values)
    }
}

/// The fields of a record of comma-separated values; none if it is empty.
fn record(text: &str) -> Result<Vec<String>, String> {
    let record = RecordReader::new(b',', 0).next(text.as_bytes());
    let record = record.map_err(|fault| fault.to_string())?;
    Ok(record.unwrap_or_default())
}

/// Parses a command line.
///
/// # Errors
/// pflag's message.
pub fn parse(flags: &[&[Flag]], words: &[String]) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            parsed.operands.extend(words.cloned());
            break;
        }
        let mut next = || words.next().cloned();
        match word.strip_prefix("--") {
            Some(long) => take_long(flags, long, &mut parsed, &mut next)?,
            None => match word.strip_prefix('-') {
                Some(shorts) if !shorts.is_empty() => {
                    take_shorts(flags, shorts, &mut parsed, &mut next)?;
                }
                _ => parsed.operands.push(word.clone()),
            },
        }
    }
    Ok(parsed)
}

fn take_long(
    flags: &[&[Flag]],
    text: &str,
    parsed: &mut Parsed,
    next: &mut dyn FnMut() -> Option<String>,
) -> Result<(), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() || name.starts_with('-') {
        return Err(format!("bad flag syntax: --{text}"));
    }
    let known = flags
        .iter()
        .copied()
        .flatten()
        .find(|flag| flag.long == name);
    let Some(flag) = known else {
        if name == "help" {
            parsed.help = true;
            return Ok(());
        }
        return Err(format!("unknown flag: --{name}"));
    };
    let value = match (value, flag.kind) {
        (Some(value), _) => value,
        (None, Kind::Switch) => "true".to_owned(),
        (None, Kind::MaybeText(bare)) => bare.to_owned(),
        (None, _) => next().ok_or_else(|| format!("flag needs an argument: --{name}"))?,
    };
    set(flag, value, parsed)
}

fn take_shorts(
    flags: &[&[Flag]],
    shorts: &str,
    parsed: &mut Parsed,
    next: &mut dyn FnMut() -> Option<String>,
) -> Result<(), String> {
    let mut rest = shorts;
    while let Some(short) = rest.chars().next() {
        let after = &rest[short.len_utf8()..];
        let mut all = flags.iter().copied().flatten();
        let Some(flag) = all.find(|flag| flag.short == Some(short)) else {
            if short == 'h' {
                parsed.help = true;
                return Ok(());
            }
            return Err(format!("unknown shorthand flag: '{short}' in -{rest}"));
        };
        let value = match (flag.kind, after.strip_prefix('=')) {
            (_, Some(value)) => value.to_owned(),
            (Kind::Switch, None) => {
                set(flag, "true".to_owned(), parsed)?;
                rest = after;
                continue;
            }
            (Kind::MaybeText(bare), None) if after.is_empty() => bare.to_owned(),
            (_, None) if !after.is_empty() => after.to_owned(),
            (_, None) => {
                next().ok_or_else(|| format!("flag needs an argument: '{short}' in -{rest}"))?
            }
        };
        return set(flag, value, parsed);
    }
    Ok(())
}

fn set(flag: &Flag, value: String, parsed: &mut Parsed) -> Result<(), String> {
    let checked = match flag.kind {
        Kind::Switch => parse_bool(&value).map(drop),
        Kind::Checked(check) => check(&value),
        Kind::Texts => record(&value).map(drop),
        _ => Ok(()),
    };
    checked.map_err(|why| {
        format!(
            "invalid argument {} for {} flag: {why}",
            quoted(&value),
            quoted(&flag.shown())
        )
    })?;
    parsed.given.push((flag.long, value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Result<(), String> {
        loadline_go::integer::parse_int(text).map(drop)
    }

    const KNOWN: &[Flag] = &[
        flag("vus", Some('u'), Kind::Checked(whole)),
        flag("quiet", Some('q'), Kind::Switch),
        flag("env", Some('e'), Kind::Text),
        flag("http-debug", None, Kind::MaybeText("headers")),
        flag("system-tags", None, Kind::Texts),
    ];

    const fn flag(long: &'static str, short: Option<char>, kind: Kind) -> Flag {
        Flag {
            long,
            short,
            kind,
            value: "",
            help: "",
        }
    }

    fn parsed(line: &str) -> Result<Parsed, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&[KNOWN], &words)
    }

    #[test]
    fn every_spelling() {
        for line in [
            "-u5 s",
            "-u 5 s",
            "-u=5 s",
            "--vus=5 s",
            "--vus 5 s",
            "s -u 5",
            "-qu5 s",
            "-u 5 -- s",
            "-u 1 -u 5 s",
        ] {
            let parsed = parsed(line).expect(line);
            assert_eq!(parsed.text("vus"), Some("5"), "{line}");
            assert_eq!(parsed.operands, ["s"], "{line}");
        }
        let mixed =
            parsed("-e A=B --http-debug -e C= --quiet=f - --system-tags a,b").expect("taken");
        assert_eq!(mixed.all("env").collect::<Vec<_>>(), ["A=B", "C="]);
        assert_eq!(mixed.text("http-debug"), Some("headers"));
        assert_eq!(mixed.switch("quiet"), Some(false));
        assert_eq!(mixed.operands, ["-"]);
        assert_eq!(mixed.texts("system-tags").expect("given"), ["a", "b"]);
        let record = parsed("--system-tags \"a,b\",c,").expect("taken");
        assert_eq!(
            record.texts("system-tags").expect("given"),
            ["a,b", "c", ""]
        );
        let empty = parse(&[KNOWN], &["--system-tags=".to_owned()]).expect("taken");
        assert!(empty.texts("system-tags").expect("given").is_empty());
        let arrays = ["-e=", "-e= -e=", "-e=A"].map(|line| parsed(line).expect("taken"));
        let values = arrays.each_ref().map(|given| given.array("env"));
        assert_eq!(values, [None, Some(vec!["", ""]), Some(vec!["A"])]);
        let full = parsed("--http-debug=full").expect("taken");
        assert_eq!(full.text("http-debug"), Some("full"));
        assert!(parsed("-h").expect("taken").help && parsed("x --help").expect("taken").help);
    }

    #[test]
    fn every_refusal() {
        for (line, message) in [
            ("--foo", "unknown flag: --foo"),
            ("-x", "unknown shorthand flag: 'x' in -x"),
            ("-qx", "unknown shorthand flag: 'x' in -x"),
            ("--vus", "flag needs an argument: --vus"),
            ("-u", "flag needs an argument: 'u' in -u"),
            (
                "-u abc",
                "invalid argument \"abc\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"abc\": invalid syntax",
            ),
            (
                "--quiet=x",
                "invalid argument \"x\" for \"-q, --quiet\" flag: strconv.ParseBool: parsing \"x\": invalid syntax",
            ),
            ("--=x", "bad flag syntax: --=x"),
            (
                "--system-tags a\"",
                "invalid argument \"a\\\"\" for \"--system-tags\" flag: parse error on line 1, column 2: bare \" in non-quoted-field",
            ),
        ] {
            assert_eq!(parsed(line), Err(message.to_owned()), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(words in prop::collection::vec("[-=uqehx5,. µ]{0,6}", 0..8)) {
            let _ = parse(&[KNOWN], &words);
        }
    }
}
