//! `String.format`.
//!
//! Must not know the caller. Invariant: a format that Java refuses is refused.

use super::super::decimal::{Decimal, Rounding};
use super::super::number;
use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};

/// Width of a value at most.
const WIDTH_MAX: usize = 100_000;
/// Decimal places that a double has at most; further ones are zeros.
const PLACES_MAX: usize = 1_100;
/// Decimal places that a decimal has at most.
const DECIMAL_PLACES_MAX: usize = 10_000;

/// One `%…` of a format.
#[derive(Default)]
struct Spec {
    index: Option<usize>,
    /// `%<s`: the value of the `%…` before.
    is_same: bool,
    /// The letter behind `t`.
    of_time: Option<char>,
    flags: String,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }
}

/// Formats values.
///
/// # Errors
/// The format does not fit the values.
pub(crate) fn formatted(
    machine: &mut dyn Machine,
    format: &str,
    given: &[Value],
) -> Outcome<String> {
    let mut out = String::new();
    let mut rest = format;
    let mut next = 0;
    let mut last = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (spec, kind, behind) = read(rest)?;
        rest = behind;
        match kind {
            'n' => out.push('\n'),
            '%' => out.push_str(&padded("%".to_owned(), &spec)),
            _ => {
                let place = match spec.index {
                    _ if spec.is_same => last,
                    Some(index) => index,
                    None => {
                        next += 1;
                        next
                    }
                };
                last = place;
                let value = place.checked_sub(1).and_then(|place| given.get(place));
                let value = value.ok_or_else(|| {
                    let mut shown = format!("%{}", spec.flags);
                    if spec.width > 0 {
                        shown.push_str(&spec.width.to_string());
                    }
                    shown.push(kind);
                    Thrown::of(
                        "java.util.MissingFormatArgumentException",
                        format!("Format specifier '{shown}'"),
                    )
                })?;
                machine.take(spec.width.saturating_add(spec.precision.unwrap_or(0)))?;
                let text = match spec.of_time {
                    Some(letter) => time(machine, &spec, kind, letter, value)?,
                    None => one(&spec, kind, value)?,
                };
                out.push_str(&text);
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn read(text: &str) -> Outcome<(Spec, char, &str)> {
    let mut spec = Spec::default();
    let fault = || {
        Thrown::of(
            "java.util.UnknownFormatConversionException",
            "Conversion = '%'",
        )
    };
    let count = |text: &str| {
        text.find(|one: char| !one.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let mut rest = text;
    let digits = count(rest);
    if digits > 0 && rest[digits..].starts_with('$') {
        spec.index = rest[..digits].parse().ok().filter(|index| *index > 0);
        rest = &rest[digits + 1..];
    }
    if let Some(behind) = rest.strip_prefix('<') {
        spec.is_same = true;
        rest = behind;
    }
    let flags = rest
        .find(|one: char| !"-#+ 0,(".contains(one))
        .unwrap_or(rest.len());
    rest[..flags].clone_into(&mut spec.flags);
    rest = &rest[flags..];
    let digits = count(rest);
    spec.width = rest[..digits].parse().unwrap_or(0_usize).min(WIDTH_MAX);
    rest = &rest[digits..];
    if let Some(behind) = rest.strip_prefix('.') {
        let digits = count(behind);
        let places = behind[..digits].parse().ok();
        spec.precision = places.map(|places: usize| places.min(WIDTH_MAX));
        rest = &behind[digits..];
    }
    let mut characters = rest.chars();
    let kind = characters.next().ok_or_else(fault)?;
    let mut behind = characters.as_str();
    if matches!(kind, 't' | 'T') {
        spec.of_time = Some(characters.next().ok_or_else(fault)?);
        behind = characters.as_str();
    }
    Ok((spec, kind, behind))
}

fn padded(text: String, spec: &Spec) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    match spec.has('-') {
        true => text + &" ".repeat(missing),
        false => " ".repeat(missing) + &text,
    }
}

fn mismatch(kind: char, value: &Value) -> Thrown {
    Thrown::of(
        "java.util.IllegalFormatConversionException",
        format!("{kind} != {}", print::class_name(value)),
    )
}

fn one(spec: &Spec, kind: char, value: &Value) -> Outcome<String> {
    let text = match kind {
        's' | 'S' => {
            let text = print::java_text(value);
            match spec.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        'b' | 'B' => match value {
            Value::Truth(truth) => truth.to_string(),
            other => (!other.is_null()).to_string(),
        },
        'c' | 'C' => match value {
            Value::Int(code) => {
                char::from_u32(code.cast_unsigned()).map_or_else(String::new, String::from)
            }
            other => print::text(other),
        },
        'h' | 'H' => format!("{:x}", super::super::order::hash(value)),
        _ if value.is_null() => "null".to_owned(),
        _ => return of_number(spec, kind, value),
    };
    Ok(padded(in_case(kind, text), spec))
}

/// A text in upper case, if the letter is.
fn in_case(kind: char, text: String) -> String {
    match kind.is_uppercase() {
        true => text.to_uppercase(),
        false => text,
    }
}

/// The conversions of numbers.
fn of_number(spec: &Spec, kind: char, value: &Value) -> Outcome<String> {
    let text = match kind {
        'd' => match value {
            Value::Byte(_) | Value::Int(_) | Value::Long(_) | Value::Whole(_) => {
                return Ok(signed(spec, &print::text(value)));
            }
            other => return Err(mismatch(kind, other)),
        },
        'x' | 'X' | 'o' => match value {
            Value::Byte(number) => radix(kind, u64::from(number.cast_unsigned())),
            Value::Int(number) => radix(kind, u64::from(number.cast_unsigned())),
            Value::Long(number) => radix(kind, number.cast_unsigned()),
            Value::Whole(number) => number.to_str_radix(if kind == 'o' { 8 } else { 16 }),
            other => return Err(mismatch(kind, other)),
        },
        'f' => match value {
            Value::Double(_) | Value::Float(_) | Value::Decimal(_) => {
                return Ok(signed(spec, &fixed(value, spec.precision.unwrap_or(6))));
            }
            other => return Err(mismatch(kind, other)),
        },
        'e' | 'E' => match number::double_of(value) {
            Some(number) => exponent(number, spec.precision.unwrap_or(6)),
            None => return Err(mismatch(kind, value)),
        },
        'g' | 'G' => match number::double_of(value) {
            Some(_) if matches!(value, Value::Int(_) | Value::Long(_) | Value::Byte(_)) => {
                return Err(mismatch(kind, value));
            }
            Some(number) => return Ok(general(spec, kind, number, value)),
            None => return Err(mismatch(kind, value)),
        },
        _ => {
            return Err(Thrown::of(
                "java.util.UnknownFormatConversionException",
                format!("Conversion = '{kind}'"),
            ));
        }
    };
    let text = match kind {
        'x' | 'X' | 'o' => {
            let prefix = match kind {
                _ if !spec.has('#') => "",
                'o' => "0",
                _ => "0x",
            };
            let digits = prefix.len() + text.len();
            let missing = match spec.has('0') {
                true => spec.width.saturating_sub(digits),
                false => 0,
            };
            format!("{prefix}{}{text}", "0".repeat(missing))
        }
        _ => text,
    };
    Ok(padded(in_case(kind, text), spec))
}

fn radix(kind: char, bits: u64) -> String {
    if kind == 'o' {
        format!("{bits:o}")
    } else {
        format!("{bits:x}")
    }
}

/// A number with this number of decimal places.
fn fixed(value: &Value, places: usize) -> String {
    let exact = places.min(DECIMAL_PLACES_MAX);
    let zeros = "0".repeat(places - exact);
    let scale = i32::try_from(exact).unwrap_or(6);
    let decimal = match value {
        Value::Double(number) if !number.is_finite() => return print::text(value),
        Value::Double(number) => Decimal::of_double(*number),
        other => number::decimal_of(other),
    };
    decimal.map_or_else(String::new, |decimal| {
        decimal.rounded(scale, Rounding::HalfUp).plain() + &zeros
    })
}

fn exponent(number: f64, places: usize) -> String {
    let exact = places.min(PLACES_MAX);
    let text = format!("{number:.exact$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let zeros = "0".repeat(places - exact);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{zeros}e{sign}{:02}", exponent.abs())
}

/// `%g`: this many digits, with an exponent if the number is very large or small.
fn general(spec: &Spec, kind: char, number: f64, value: &Value) -> String {
    let digits = spec.precision.unwrap_or(6).max(1);
    if !number.is_finite() {
        return padded(print::text(value), spec);
    }
    let scientific = exponent(number, digits - 1);
    let power: i32 = scientific
        .rsplit_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0);
    let places = i64::try_from(digits).unwrap_or(i64::MAX) - 1 - i64::from(power);
    let text = match usize::try_from(places) {
        Ok(places) if power >= -4 || number == 0.0 => fixed(value, places),
        _ => scientific,
    };
    let text = signed(spec, &text);
    match kind {
        'G' => text.to_uppercase(),
        _ => text,
    }
}

/// `%tY` and the like.
fn time(
    machine: &mut dyn Machine,
    spec: &Spec,
    kind: char,
    letter: char,
    value: &Value,
) -> Outcome<String> {
    let pattern = match letter {
        'H' => "HH",
        'I' => "hh",
        'k' => "H",
        'l' => "h",
        'M' => "mm",
        'S' => "ss",
        'L' => "SSS",
        'N' => "SSS'000000'",
        'p' => "a",
        'z' => "Z",
        'Z' => "z",
        'B' => "MMMM",
        'b' | 'h' => "MMM",
        'A' => "EEEE",
        'a' => "EEE",
        'Y' => "yyyy",
        'y' => "yy",
        'j' => "DDD",
        'm' => "MM",
        'd' => "dd",
        'e' => "d",
        'R' => "HH:mm",
        'T' => "HH:mm:ss",
        'r' => "hh:mm:ss a",
        'D' => "MM/dd/yy",
        'F' => "yyyy-MM-dd",
        'c' => "EEE MMM dd HH:mm:ss z yyyy",
        's' | 'Q' => "",
        other => {
            return Err(Thrown::of(
                "java.util.UnknownFormatConversionException",
                format!("Conversion = 't{other}'"),
            ));
        }
    };
    if value.is_null() {
        return Ok(padded("null".to_owned(), spec));
    }
    let mismatch = || mismatch(letter, value);
    let text = match letter {
        's' | 'Q' => {
            let ms = super::dates::instant_of(value).ok_or_else(mismatch)?;
            let unit_ms = if letter == 's' { 1000 } else { 1 };
            ms.div_euclid(unit_ms).to_string()
        }
        _ => super::dates::told_of(machine, value, pattern)?.ok_or_else(mismatch)?,
    };
    let text = match (kind, letter) {
        ('T', _) => text.to_uppercase(),
        (_, 'p') => text.to_lowercase(),
        _ => text,
    };
    Ok(padded(text, spec))
}

/// A number with its sign, groups and zeros.
fn signed(spec: &Spec, text: &str) -> String {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (digits, String::new()),
    };
    let mut whole = whole.to_owned();
    if spec.has(',') {
        let mut at = whole.len();
        while at > 3 {
            at -= 3;
            whole.insert(at, ',');
        }
    }
    let sign = match (is_negative, spec.has('+'), spec.has(' ')) {
        (true, _, _) if spec.has('(') => "(",
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    let end = if is_negative && spec.has('(') {
        ")"
    } else {
        ""
    };
    let mut number = format!("{whole}{fraction}{end}");
    if spec.has('0') {
        let missing = spec.width.saturating_sub(sign.len() + number.len());
        number.insert_str(0, &"0".repeat(missing));
    }
    padded(format!("{sign}{number}"), spec)
}
