//! A parsed pattern.
//!
//! Must not know moments. Invariant: there are at most as many items as characters in the pattern, without
//! nesting.

/// The meaning of one part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Literal text.
    Literal(String),
    /// A number with minimum and maximum digits; `true`: a plus sign is required beyond the minimum.
    Number(Field, usize, usize, bool),
    /// The last two digits of a year of this century.
    TwoDigitYear(Field),
    /// Digits of the second's fraction.
    Fraction(usize),
    /// The name of a month: its first three letters, all, or its first letter.
    Month(Width),
    /// The name of a day of the week.
    Weekday(Width),
    /// AM or PM.
    HalfDay,
    /// BC or AD.
    Era(Width),
    /// `Q1` or `1st quarter`.
    Quarter(Width),
    /// The offset; its format is in [`OffsetStyle`].
    Offset(OffsetStyle),
    /// The display name of the zone at the moment; its offset if it has no name.
    Zone(Width),
    /// The zone's id.
    ZoneName,
}

/// The length of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Short,
    Full,
    Narrow,
}

/// The format of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    /// The text for a zero offset.
    pub(super) zero: &'static str,
    /// Whether there is a colon between hours and minutes.
    pub(super) colon: bool,
    /// Whether zero minutes are omitted.
    pub(super) short: bool,
    /// Whether it starts with `GMT`.
    pub(super) gmt: bool,
}

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    YearOfEra,
    Year,
    WeekYear,
    Month,
    Quarter,
    WeekOfYear,
    WeekOfMonth,
    DayOfYear,
    Day,
    WeekdayInMonth,
    Weekday,
    /// From 1, for Monday.
    WeekdayFromMonday,
    /// The how many-th of its weekday in the month.
    OrdinalInMonth,
    Hour,
    HourFrom1,
    ClockHour,
    ClockHourFrom0,
    Minute,
    Second,
    Nano,
    Milli,
    MilliOfDay,
    NanoOfDay,
}

/// A pattern of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) items: Vec<Item>,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The invalid part of the pattern.
    pub fn new(pattern: &str) -> Result<Pattern, String> {
        let items = parts(pattern)
            .into_iter()
            .map(|part| match part {
                Part::Letters(letter, count) => item(letter, count)
                    .ok_or_else(|| format!("unknown pattern letter, or too many of it: {letter}")),
                Part::Quoted(text) => Ok(Item::Literal(text)),
                Part::Unclosed => Err(format!("pattern ends with an open quote: {pattern}")),
                Part::Other(letter @ ('{' | '}' | '#' | '[' | ']')) => {
                    Err(format!("pattern has a reserved character: {letter}"))
                }
                Part::Other(letter) => Ok(Item::Literal(letter.to_string())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Pattern { items })
    }
}

/// A part of a pattern, whatever its letters mean.
pub(super) enum Part {
    /// A letter, repeated.
    Letters(char, usize),
    /// A text in quotes.
    Quoted(String),
    /// A text whose closing quote is missing.
    Unclosed,
    Other(char),
}

/// The parts of a pattern.
pub(super) fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        parts.push(match letter {
            'A'..='Z' | 'a'..='z' => {
                let mut count = 1;
                while rest.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                Part::Letters(letter, count)
            }
            '\'' => quoted(&mut rest).map_or(Part::Unclosed, Part::Quoted),
            other => Part::Other(other),
        });
    }
    parts
}

/// A quoted text, in which two quotes mean one; `''` alone is a quote. `None`: its closing quote is missing.
fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next() {
            None => return None,
            Some('\'') if rest.next_if_eq(&'\'').is_some() => text.push('\''),
            Some('\'') if text.is_empty() => return Some("'".to_owned()),
            Some('\'') => return Some(text),
            Some(other) => text.push(other),
        }
    }
}

/// The item for a repeated letter.
fn item(letter: char, count: usize) -> Option<Item> {
    let width = || match count {
        1..=3 => Some(Width::Short),
        4 => Some(Width::Full),
        5 => Some(Width::Narrow),
        _ => None,
    };
    let two = |field| match count {
        1 => Some(Item::Number(field, 1, 19, false)),
        2 => Some(Item::Number(field, 2, 2, false)),
        _ => None,
    };
    match letter {
        'y' => Some(year(Field::YearOfEra, count)),
        'u' => Some(year(Field::Year, count)),
        'Y' => Some(year(Field::WeekYear, count)),
        'M' | 'L' if count > 2 => width().map(Item::Month),
        'Q' | 'q' if count > 2 => width().map(Item::Quarter),
        'M' | 'L' => two(Field::Month),
        'Q' | 'q' => two(Field::Quarter),
        'w' => two(Field::WeekOfYear),
        'W' if count == 1 => two(Field::WeekOfMonth),
        'd' => two(Field::Day),
        'D' if count <= 3 => Some(Item::Number(Field::DayOfYear, count, 3, false)),
        'F' if count == 1 => two(Field::WeekdayInMonth),
        'E' => width().map(Item::Weekday),
        'e' | 'c' if count > 2 => width().map(Item::Weekday),
        'e' | 'c' => two(Field::Weekday),
        'a' if count == 1 => Some(Item::HalfDay),
        'G' => width().map(Item::Era),
        'H' => two(Field::Hour),
        'k' => two(Field::HourFrom1),
        'h' => two(Field::ClockHour),
        'K' => two(Field::ClockHourFrom0),
        'm' => two(Field::Minute),
        's' => two(Field::Second),
        'S' if count <= 9 => Some(Item::Fraction(count)),
        'n' => Some(Item::Number(Field::Nano, count.min(19), 19, false)),
        'A' => Some(Item::Number(Field::MilliOfDay, count.min(19), 19, false)),
        'N' => Some(Item::Number(Field::NanoOfDay, count.min(19), 19, false)),
        'X' | 'x' | 'Z' | 'O' => offset(letter, count).map(Item::Offset),
        'z' if count < 4 => Some(Item::Zone(Width::Short)),
        'z' if count == 4 => Some(Item::Zone(Width::Full)),
        'V' if count == 2 => Some(Item::ZoneName),
        _ => None,
    }
}

fn year(field: Field, count: usize) -> Item {
    match count {
        2 => Item::TwoDigitYear(field),
        1 | 3 => Item::Number(field, count, 19, false),
        _ => Item::Number(field, count.min(19), 19, true),
    }
}

fn offset(letter: char, count: usize) -> Option<OffsetStyle> {
    let style = OffsetStyle {
        zero: match letter {
            'X' => "Z",
            _ => "",
        },
        colon: matches!(count, 3 | 5),
        short: count == 1,
        gmt: false,
    };
    match (letter, count) {
        ('X' | 'x', 1..=5) => Some(style),
        ('Z', 1..=3) => Some(OffsetStyle {
            colon: false,
            short: false,
            ..style
        }),
        ('Z', 4) | ('O', 4 | 1) => Some(OffsetStyle {
            zero: "GMT",
            colon: true,
            short: count == 1,
            gmt: true,
        }),
        ('Z', 5) => Some(OffsetStyle { zero: "Z", ..style }),
        _ => None,
    }
}
