//! How a value becomes a cell: `{:.0 rps}`, `{:~2 ms}`, `{:~1K}[ (avg: {1:~3K})]`.
//!
//! ```text
//! format   = { text | hole | "[" { text | hole } "]" }        {{ }} [[ ]] are the characters themselves
//! hole     = "{" [ number of the value, from 0 ] [ ":" spec ] "}"
//! spec     = [ "+" ] [ "," ] [ "." n | "~" n | "=" n ] [ [ " " ] unit | "(" unit ")" ]
//! ```
//!
//! `.n` writes n decimals, `~n` at most n, `=n` n significant digits; `,` sets thousands apart, `+` writes the sign of
//! what is not negative. The unit converts, and is written behind the number as it stands, with a space where one
//! stands; in brackets it converts alone. What stands in square brackets is left out where its value is missing.
//!
//! Must not know expressions or documents. Invariant: a format that was checked writes any value of the kind that it
//! was checked for.

mod number;
mod parse;
mod unit;

use std::fmt;

use crate::expression::{Quantity, Value, ValueKind};
use number::Digits;
use unit::Unit;

/// Maximum digits of a spec: as many as a double distinguishes.
pub(crate) const DIGITS_MAX: u8 = 15;

/// Why a text is not a format, or does not fit its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Which character of the format it is about, from one on.
    pub column: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.column, self.what)
    }
}

impl std::error::Error for FormatError {}

/// The format of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    parts: Vec<FormatPart>,
}

#[derive(Clone, Debug, PartialEq)]
enum FormatPart {
    Text(String),
    Hole(Hole),
    Optional(Vec<FormatPart>),
}

#[derive(Clone, Debug, PartialEq)]
struct Hole {
    /// Which value.
    value: usize,
    plus: bool,
    thousands: bool,
    digits: Digits,
    unit: Option<Unit>,
    /// The place in the text, from one on.
    column: usize,
}

/// The text for a missing value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Blank {
    /// Nothing.
    #[default]
    Empty,
    /// The format without its numbers: ` rps`.
    Unit,
    /// These words.
    Text(String),
}

/// How a list becomes one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStyle {
    /// One component; `{name}` and `{value}` are filled in.
    pub item: String,
    /// The separator.
    pub separator: String,
}

impl Default for ListStyle {
    fn default() -> ListStyle {
        ListStyle {
            item: "{name} = {value}".to_owned(),
            separator: ", ".to_owned(),
        }
    }
}

impl Default for Format {
    /// `{}`.
    fn default() -> Format {
        Format {
            parts: vec![FormatPart::Hole(Hole {
                value: 0,
                plus: false,
                thousands: false,
                digits: Digits::Shortest,
                unit: None,
                column: 1,
            })],
        }
    }
}

impl Format {
    /// Checks that it can format values of these kinds.
    ///
    /// # Errors
    /// A hole without its value, a value without a hole, or a unit that does not fit.
    pub fn check(&self, kinds: &[ValueKind]) -> Result<(), FormatError> {
        let holes = self.holes();
        for hole in &holes {
            let kind = kinds.get(hole.value).ok_or_else(|| FormatError {
                column: hole.column,
                what: format!(
                    "this asks for value {}, and the column has {}, counted from 0; add the value or change the number",
                    hole.value,
                    kinds.len()
                ),
            })?;
            hole.check(*kind).map_err(|what| FormatError {
                column: hole.column,
                what,
            })?;
        }
        let unused = (0..kinds.len()).find(|n| holes.iter().all(|hole| hole.value != *n));
        match unused {
            Some(n) => Err(FormatError {
                column: 1,
                what: format!("value {n} is not used; add {{{n}}}"),
            }),
            None => Ok(()),
        }
    }

    /// Formats a cell, and returns whether it contains any value.
    pub fn write(
        &self,
        values: &[Value<'_>],
        blank: &Blank,
        list: &ListStyle,
        out: &mut String,
    ) -> bool {
        let has_value = |part: &FormatPart| match part {
            FormatPart::Text(_) => false,
            FormatPart::Hole(hole) => hole.is_filled(values),
            FormatPart::Optional(parts) => all_filled(parts, values),
        };
        if !self.parts.iter().any(has_value) {
            match blank {
                Blank::Empty => {}
                Blank::Unit => self.write_parts(&self.parts, values, list, out),
                Blank::Text(text) => out.push_str(text),
            }
            return false;
        }
        self.write_parts(&self.parts, values, list, out);
        true
    }

    fn write_parts(
        &self,
        parts: &[FormatPart],
        values: &[Value<'_>],
        list: &ListStyle,
        out: &mut String,
    ) {
        for part in parts {
            match part {
                FormatPart::Text(text) => out.push_str(text),
                FormatPart::Hole(hole) => hole.write(values.get(hole.value), list, out),
                FormatPart::Optional(inner) if all_filled(inner, values) => {
                    self.write_parts(inner, values, list, out);
                }
                FormatPart::Optional(_) => {}
            }
        }
    }

    fn holes(&self) -> Vec<&Hole> {
        fn collect<'a>(parts: &'a [FormatPart], found: &mut Vec<&'a Hole>) {
            for part in parts {
                match part {
                    FormatPart::Text(_) => {}
                    FormatPart::Hole(hole) => found.push(hole),
                    FormatPart::Optional(inner) => collect(inner, found),
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.parts, &mut found);
        found
    }
}

fn all_filled(parts: &[FormatPart], values: &[Value<'_>]) -> bool {
    parts.iter().all(|part| match part {
        FormatPart::Hole(hole) => hole.is_filled(values),
        FormatPart::Text(_) | FormatPart::Optional(_) => true,
    })
}

impl Hole {
    fn is_filled(&self, values: &[Value<'_>]) -> bool {
        values
            .get(self.value)
            .is_some_and(|value| !value.is_missing())
    }

    fn has_spec(&self) -> bool {
        self.plus || self.thousands || self.digits != Digits::Shortest || self.unit.is_some()
    }

    fn check(&self, kind: ValueKind) -> Result<(), String> {
        match kind {
            ValueKind::Any => Ok(()),
            ValueKind::Text | ValueKind::Truth if self.has_spec() => Err(format!(
                "{} takes no digits and no unit; write {{}}, or number(…) in the expression",
                kind.name()
            )),
            ValueKind::Text | ValueKind::Truth => Ok(()),
            ValueKind::Number(None) | ValueKind::List(None) => Ok(()),
            ValueKind::Number(Some(dimension)) | ValueKind::List(Some(dimension)) => {
                match &self.unit {
                    Some(unit) => unit.check(dimension),
                    None if self.has_spec() => unit::needless(dimension),
                    None => Ok(()),
                }
            }
        }
    }

    fn write(&self, value: Option<&Value<'_>>, list: &ListStyle, out: &mut String) {
        match value {
            Some(Value::Number(quantity)) => self.write_number(*quantity, out),
            Some(Value::Text(text)) => out.push_str(text),
            Some(Value::Truth(truth)) => out.push_str(if *truth { "yes" } else { "no" }),
            Some(Value::List(items)) => self.write_list(items, list, out),
            Some(Value::Missing) | None => {
                if let Some(unit) = &self.unit {
                    unit.write_alone(out);
                }
            }
        }
    }

    fn write_list(&self, items: &[(String, Quantity)], list: &ListStyle, out: &mut String) {
        for (n, (name, quantity)) in items.iter().enumerate() {
            if n > 0 {
                out.push_str(&list.separator);
            }
            let mut number = String::new();
            self.write_number(*quantity, &mut number);
            let mut rest = list.item.as_str();
            while let Some(at) = rest.find('{') {
                out.push_str(&rest[..at]);
                rest = &rest[at..];
                rest = if let Some(rest) = rest.strip_prefix("{name}") {
                    out.push_str(name);
                    rest
                } else if let Some(rest) = rest.strip_prefix("{value}") {
                    out.push_str(&number);
                    rest
                } else {
                    out.push('{');
                    &rest[1..]
                };
            }
            out.push_str(rest);
        }
    }

    fn write_number(&self, quantity: Quantity, out: &mut String) {
        let automatic = Unit::automatic(quantity.dimension);
        let unit = self.unit.as_ref().or(automatic.as_ref());
        let style = number::Style {
            plus: self.plus,
            thousands: self.thousands,
            digits: self.digits,
        };
        match unit {
            None => style.write(quantity.amount, out),
            Some(unit) => unit.write(quantity, &style, out),
        }
    }
}

#[cfg(test)]
mod tests;
