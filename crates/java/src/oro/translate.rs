//! Translates a pattern from ORO's syntax to that of `fancy_regex`.
//!
//! Must not know texts. Invariant: syntax that `fancy_regex` has and ORO lacks is refused or taken literally.

use std::fmt::Write as _;

use super::class::{self, SPACE};

/// Maximum depth of nested parentheses.
const DEEPEST: usize = 200;
/// Maximum number of repetitions.
const MOST_REPETITIONS: u32 = 65_535;

const PARENTHESES: &str = "Unmatched parentheses.";

/// The flags that a pattern can set itself.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    single_line: bool,
    multiline: bool,
    extended: bool,
}

/// The kind of the last translated piece, for a quantifier that may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that can be repeated.
    Nothing,
    /// A piece.
    Piece,
    /// A piece that is repeated already.
    Repeated,
}

struct Translator<'p> {
    pattern: &'p [char],
    at: usize,
    flags: Flags,
    groups: usize,
    depth: usize,
    out: String,
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let pattern: Vec<char> = pattern.chars().collect();
    let (_, flags) = pass(&pattern, Flags::default())?;
    // ORO parses a pattern twice, and its flags last: a flag set at the end applies from the start.
    let (mut out, flags) = pass(&pattern, flags)?;
    if flags.ignore_case {
        out.insert_str(0, "(?i)");
    }
    Ok(out)
}

fn pass(pattern: &[char], flags: Flags) -> Result<(String, Flags), String> {
    let mut translator = Translator {
        pattern,
        at: 0,
        flags: Flags {
            extended: false,
            ..flags
        },
        groups: 0,
        depth: 0,
        out: String::new(),
    };
    translator.alternatives()?;
    if translator.at < pattern.len() {
        return Err(PARENTHESES.to_owned());
    }
    Ok((translator.out, translator.flags))
}

impl Translator<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.pattern.get(self.at + ahead).copied()
    }

    /// Branches up to the end, or to the parenthesis that closes them.
    fn alternatives(&mut self) -> Result<(), String> {
        let mut last = Last::Nothing;
        loop {
            self.skip_blanks();
            match self.peek(0) {
                None | Some(')') => return Ok(()),
                Some('|') => {
                    self.at += 1;
                    self.out.push('|');
                    last = Last::Nothing;
                }
                Some(_) => last = self.piece(last)?,
            }
        }
    }

    /// With the flag `x`, skips blanks and comments.
    fn skip_blanks(&mut self) {
        while self.flags.extended {
            match self.peek(0) {
                Some('#') => {
                    while self.peek(0).is_some_and(|one| one != '\n') {
                        self.at += 1;
                    }
                }
                Some(blank) if blank.is_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    /// One piece, or the quantifier of the last one.
    fn piece(&mut self, last: Last) -> Result<Last, String> {
        let start = self.out.len();
        match self.peek(0) {
            Some('*' | '+' | '?') => self.quantifier(last),
            Some('{') if self.interval().is_some() => self.repetition(last),
            Some('(') => self.parenthesis(last),
            Some('[') => {
                self.at = class::write(self.pattern, self.at + 1, &mut self.out)?;
                Ok(Last::Piece)
            }
            Some('\\') => self.escape(),
            Some(character) => {
                self.at += 1;
                self.plain(character);
                debug_assert!(self.out.len() > start, "a character leaves something");
                Ok(Last::Piece)
            }
            None => Ok(last),
        }
    }

    fn plain(&mut self, character: char) {
        match character {
            '.' if self.flags.single_line => self.out.push_str("(?s:.)"),
            '.' => self.out.push_str(r"[^\n]"),
            '^' if self.flags.multiline => self.out.push_str("(?m:^)"),
            '^' => self.out.push_str(r"(?:\A)"),
            '$' if self.flags.multiline => self.out.push_str("(?m:$)"),
            '$' => self.out.push_str(r"(?=\n?\z)"),
            character => self.literal(character),
        }
    }

    fn literal(&mut self, character: char) {
        if character.is_alphanumeric() {
            self.out.push(character);
        } else {
            let _ = write!(self.out, r"\x{{{:x}}}", u32::from(character));
        }
    }

    fn quantifier(&mut self, last: Last) -> Result<Last, String> {
        match last {
            Last::Nothing => Err("?+* follows nothing in expression".to_owned()),
            Last::Repeated => Err("Nested repetitions *?+ in expression".to_owned()),
            Last::Piece => {
                self.out.extend(self.peek(0));
                self.at += 1;
                self.laziness();
                Ok(Last::Repeated)
            }
        }
    }

    fn laziness(&mut self) {
        if self.peek(0) == Some('?') {
            self.out.push('?');
            self.at += 1;
        }
    }

    /// `{n}`, `{n,}` or `{n,m}` at this position: its bounds, and the position after it; `None`: the brace is
    /// literal.
    fn interval(&self) -> Option<(String, String, usize)> {
        let rest = &self.pattern[self.at + 1..];
        let length = rest.iter().position(|one| *one == '}')?;
        let inside: String = rest[..length].iter().collect();
        let (least, most) = match inside.split_once(',') {
            Some((least, most)) => (least.to_owned(), most.to_owned()),
            None => (inside.clone(), inside),
        };
        let digits = |text: &str| text.bytes().all(|one| one.is_ascii_digit());
        let reads = !least.is_empty() && digits(&least) && digits(&most);
        reads.then_some((least, most, self.at + length + 2))
    }

    fn repetition(&mut self, last: Last) -> Result<Last, String> {
        match last {
            Last::Nothing => return Err("?+* follows nothing in expression".to_owned()),
            Last::Repeated => return Err("Nested repetitions *?+ in expression".to_owned()),
            Last::Piece => {}
        }
        let (least, most, behind) = self.interval().expect("the caller looked");
        let bound = |text: &str| {
            text.parse::<u32>()
                .ok()
                .filter(|one| *one <= MOST_REPETITIONS)
        };
        let too_many = || format!("Invalid interval {{{least},{most}}}");
        let low = bound(&least).ok_or_else(too_many)?;
        let _ = write!(self.out, "{{{low},");
        if !most.is_empty() {
            let high = bound(&most)
                .filter(|high| *high >= low)
                .ok_or_else(too_many)?;
            let _ = write!(self.out, "{high}");
        }
        self.out.push('}');
        self.at = behind;
        self.laziness();
        Ok(Last::Repeated)
    }

    /// A group, a condition, a comment or flags. Comments and flags do not change the last piece.
    fn parenthesis(&mut self, last: Last) -> Result<Last, String> {
        if self.peek(1) != Some('?') {
            self.groups += 1;
            return self.group(1, "(");
        }
        match self.peek(2) {
            Some(':') => self.group(3, "(?:"),
            Some('=') => self.group(3, "(?="),
            Some('!') => self.group(3, "(?!"),
            Some('#') => {
                let length = self.pattern[self.at..].iter().position(|one| *one == ')');
                let length = length.ok_or("Sequence (?#... not terminated")?;
                self.at += length + 1;
                Ok(last)
            }
            _ => {
                self.set_flags()?;
                Ok(last)
            }
        }
    }

    fn group(&mut self, skip: usize, opening: &str) -> Result<Last, String> {
        self.at += skip;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!(
                "More than {DEEPEST} parentheses within each other."
            ));
        }
        self.out.push_str(opening);
        self.alternatives()?;
        if self.peek(0) != Some(')') {
            return Err(PARENTHESES.to_owned());
        }
        self.at += 1;
        self.depth -= 1;
        self.out.push(')');
        Ok(Last::Piece)
    }

    /// `(?ims)` and `(?-ims)`: they apply to the whole pattern, whatever group contains them.
    fn set_flags(&mut self) -> Result<(), String> {
        let mut on = true;
        for ahead in 2.. {
            match self.peek(ahead) {
                Some('-') => on = false,
                Some('i') => self.flags.ignore_case = on,
                Some('s') => self.flags.single_line = on,
                Some('m') => self.flags.multiline = on,
                Some('x') => self.flags.extended = on,
                Some('g' | 'o') => {}
                Some(')') if self.at + ahead + 1 < self.pattern.len() => {
                    self.at += ahead + 1;
                    return Ok(());
                }
                None | Some(')') => break,
                Some(other) => return Err(format!("Sequence (?{other}...) not recognized")),
            }
        }
        Err(PARENTHESES.to_owned())
    }

    fn escape(&mut self) -> Result<Last, String> {
        let Some(character) = self.peek(1) else {
            return Err("Trailing \\ in expression.".to_owned());
        };
        let known = match character {
            'A' | 'G' => r"(?:\A)",

            'Z' => r"(?=\n?\z)",
            'z' => r"(?:\z)",
            'b' => r"(?:\b)",
            'B' => r"(?:\B)",
            'w' => r"\w",
            'W' => r"\W",
            'd' => r"\d",
            'D' => r"\D",
            's' => &format!("[{SPACE}]"),
            'S' => &format!("[^{SPACE}]"),
            '1'..='9' => return self.back_reference(),
            _ => {
                let (character, at) = read_character(self.pattern, self.at + 1);
                self.at = at;
                self.literal(character);
                return Ok(Last::Piece);
            }
        };
        self.at += 2;
        self.out.push_str(known);
        Ok(Last::Piece)
    }

    /// A reference to a group; from ten on, an octal character if there are not enough groups.
    fn back_reference(&mut self) -> Result<Last, String> {
        let digits: String = self.pattern[self.at + 1..]
            .iter()
            .take_while(|one| one.is_ascii_digit())
            .collect();
        let number = digits.parse::<usize>().unwrap_or(usize::MAX);
        if number > 9 && number > self.groups {
            let (character, at) = read_character(self.pattern, self.at + 1);
            self.at = at;
            self.literal(character);
            return Ok(Last::Piece);
        }
        if number > self.groups {
            return Err(format!("Invalid backreference: \\{number}"));
        }
        self.at += 1 + digits.len();
        let _ = write!(self.out, r"(?:\{number})");
        Ok(Last::Piece)
    }
}

/// The character for an escape whose backslash is before `at`, and the position after it.
pub(super) fn read_character(pattern: &[char], at: usize) -> (char, usize) {
    let behind = at + 1;
    match pattern[at] {
        'n' => ('\n', behind),
        'r' => ('\r', behind),
        't' => ('\t', behind),
        'f' => ('\u{c}', behind),
        'e' => ('\u{1b}', behind),
        'a' => ('\u{7}', behind),
        'x' => read_digits(pattern, behind, 16, 2),
        'c' => match pattern.get(behind) {
            Some(letter) if letter.is_ascii() => (
                char::from(letter.to_ascii_uppercase() as u8 ^ 64),
                behind + 1,
            ),
            _ => ('c', behind),
        },
        '0'..='7' => read_digits(pattern, at, 8, 3),
        character => (character, behind),
    }
}

fn read_digits(pattern: &[char], at: usize, radix: u32, most: usize) -> (char, usize) {
    let digits = pattern[at..]
        .iter()
        .take(most)
        .map_while(|one| one.to_digit(radix));
    let (value, length) = digits.fold((0, 0), |(value, length), digit| {
        (value * radix + digit, length + 1)
    });
    (char::from_u32(value).unwrap_or('\0'), at + length)
}
