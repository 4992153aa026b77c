//! Methods of texts.
//!
//! Must not know other values. Invariant: indexes in a text count UTF-16 units, as in Java.
// tidy: table

use super::super::order;
use super::super::print::text;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, Machine, Outcome, Value};
use super::super::{convert, number};
use super::{int_of, regex, text_of, text_wanted};

/// The UTF-16 units of a text.
fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn of_units(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

fn length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.encode_utf16().count()
    }
}

/// A part of a text between two indexes; `None`: they are out of range.
fn piece(text: &str, from: usize, to: usize) -> Option<String> {
    if text.is_ascii() {
        return text.get(from..to).map(str::to_owned);
    }
    units(text).get(from..to).map(of_units)
}

fn outside(from: i64, to: i64, length: usize) -> Thrown {
    Thrown::of(
        "java.lang.StringIndexOutOfBoundsException",
        format!("begin {from}, end {to}, length {length}"),
    )
}

fn substring(text: &str, from: i32, to: Option<i32>) -> Outcome {
    let length = length(text);
    let end = to.map_or(length as i64, i64::from);
    let found = usize::try_from(from).ok().zip(usize::try_from(end).ok());
    let found = found.filter(|(from, to)| from <= to && *to <= length);
    let found = found.and_then(|(from, to)| piece(text, from, to));
    found
        .map(Value::text)
        .ok_or_else(|| outside(from.into(), end, length))
}

/// The index of a part in UTF-16 units, from an index on.
fn index_of(text: &str, what: &str, from: usize) -> i32 {
    let from = byte_of(text, from);
    place_of(text, text[from..].find(what).map(|at| from + at))
}

fn last_index_of(text: &str, what: &str, to: usize) -> i32 {
    let end = byte_of(text, to).saturating_add(what.len());
    let end = text.floor_char_boundary(end);
    place_of(text, text[..end].rfind(what))
}

/// The byte at which a UTF-16 unit of a text stands, or its end.
fn byte_of(text: &str, unit: usize) -> usize {
    if text.is_ascii() {
        return unit.min(text.len());
    }
    let mut units = 0;
    for (at, one) in text.char_indices() {
        if units >= unit {
            return at;
        }
        units += one.len_utf16();
    }
    text.len()
}

/// The UTF-16 unit of a byte; -1: there is none.
fn place_of(text: &str, byte: Option<usize>) -> i32 {
    let units = byte.map(|byte| length(&text[..byte]));
    units
        .and_then(|units| i32::try_from(units).ok())
        .unwrap_or(-1)
}

/// The value of `text[at]`.
pub(super) fn at(text: &str, at: &Value) -> Outcome {
    let units = units(text);
    let length = units.len() as i64;
    let place = |at: i64| {
        let place = if at < 0 { at + length } else { at };
        usize::try_from(place)
            .ok()
            .filter(|place| *place < units.len())
    };
    let missing = |at: i64| {
        let shown = if at < 0 { at + length } else { at };
        Thrown::of(
            "java.lang.StringIndexOutOfBoundsException",
            match usize::try_from(shown) {
                Ok(_) => format!("index {shown}, length {length}"),
                Err(_) => format!("index {shown}, length {length}"),
            },
        )
    };
    match at {
        Value::Range(range) => {
            if range.is_empty {
                return Ok(Value::text(""));
            }
            let from =
                place(range.from).ok_or_else(|| outside(range.from, range.to + 1, units.len()))?;
            let to =
                place(range.to).ok_or_else(|| outside(range.from, range.to + 1, units.len()))?;
            let mut found: Vec<u16> = units[from.min(to)..=from.max(to)].to_vec();
            if from > to {
                found.reverse();
            }
            Ok(Value::text(of_units(&found)))
        }
        Value::List(list) => {
            let mut found = String::new();
            for one in list.copied() {
                found.push_str(&super::print::text(&self::at(text, &one)?));
            }
            Ok(Value::text(found))
        }
        at => {
            let at = number::long_of(at).ok_or_else(|| convert::cannot_cast(at, "int"))?;
            let place = place(at).ok_or_else(|| missing(at))?;
            Ok(Value::text(of_units(&units[place..=place])))
        }
    }
}

fn truth(truth: bool) -> Outcome {
    Ok(Value::Truth(truth))
}

fn padded(
    machine: &mut dyn Machine,
    this: &Value,
    given: &[Value],
    how: fn(&str, &str, usize) -> String,
) -> Outcome {
    let it = text(this);
    let wanted = usize::try_from(int_of(given, 0)?).unwrap_or(0);
    let missing = wanted.saturating_sub(length(&it)).min(10_000_000);
    let fill = given.get(1).map_or_else(|| " ".to_owned(), text);
    if missing == 0 || fill.is_empty() {
        return Ok(Value::text(it));
    }
    machine.take(missing)?;
    Ok(Value::text(how(&it, &fill, missing)))
}

fn filler(fill: &str, count: usize) -> String {
    fill.chars().cycle().take(count).collect()
}

fn repeated(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let it = text(this);
    let count = int_of(given, 0)?;
    let count = usize::try_from(count).map_err(|_| {
        Thrown::argument(format!(
            "multiply() should be called with a number of 0 or greater not: {count}"
        ))
    })?;
    machine.take(it.len().saturating_mul(count))?;
    Ok(Value::text(it.repeat(count)))
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|one: char| one <= ' ')
}

fn lines(this: &Value) -> Vec<Value> {
    text(this).lines().map(Value::text).collect()
}

fn bytes_in(this: &Value, given: &[Value]) -> Outcome {
    let name = given.first().map_or_else(|| "UTF-8".to_owned(), text);
    let charset = super::coding::charset(&name)?;
    Ok(Value::bytes(&charset.encode(&text(this))))
}

fn first_letter(this: &Value, change: fn(char) -> String) -> Value {
    let it = text(this);
    let mut characters = it.chars();
    match characters.next() {
        Some(first) => Value::text(change(first) + characters.as_str()),
        None => Value::text(""),
    }
}

fn number_in(this: &Value, name: &str) -> Outcome {
    convert::parsed(&text(this), name)
}

fn is_number(this: &Value, name: &str) -> Outcome {
    truth(number_in(this, name).is_ok())
}

fn code(this: &Value, given: &[Value]) -> Outcome {
    let units = units(&text(this));
    let at = int_of(given, 0)?;
    let unit = usize::try_from(at).ok().and_then(|at| units.get(at));
    match unit {
        Some(unit) => Ok(Value::Char(
            char::from_u32(u32::from(*unit)).unwrap_or('\u{fffd}'),
        )),
        None => Err(Thrown::of(
            "java.lang.StringIndexOutOfBoundsException",
            format!("index {at}, length {}", units.len()),
        )),
    }
}

/// A set of characters, in which `a-z` is a range.
fn spelled(set: &str) -> Vec<char> {
    let given: Vec<char> = set.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(one) = given.get(at) {
        match given.get(at + 1..at + 3) {
            Some(['-', last]) => {
                all.extend(*one..=*last);
                at += 3;
            }
            _ => {
                all.push(*one);
                at += 1;
            }
        }
    }
    all
}

/// A text with the characters of one set replaced by those of another, whose last one is used for all missing
/// ones.
fn exchanged(text: &str, from: &str, to: &str) -> String {
    let (from, to) = (spelled(from), spelled(to));
    let exchange = |one: char| {
        let place = from.iter().position(|known| *known == one);
        let other = place.and_then(|place| to.get(place).or(to.last()));
        *other.unwrap_or(&one)
    };
    text.chars().map(exchange).collect()
}

fn tokens(this: &Value, given: &[Value]) -> Vec<Value> {
    let it = text(this);
    let separators = given
        .first()
        .map_or_else(|| " \t\n\r\u{c}".to_owned(), text);
    let parts = it
        .split(|one| separators.contains(one))
        .filter(|part| !part.is_empty());
    parts.map(Value::text).collect()
}

/// Bytes of a value that stands for one character.
const CHARACTER_BYTES: usize = 48;

/// Accounts for a list with a value for each character.
fn take_each(machine: &mut dyn Machine, this: &Value) -> Outcome<()> {
    machine.take(text(this).len().saturating_mul(CHARACTER_BYTES))
}

fn characters(machine: &mut dyn Machine, this: &Value) -> Outcome<Vec<Value>> {
    take_each(machine, this)?;
    let it = text(this);
    let all = it.chars().map(|one| Value::text(one.to_string()));
    Ok(all.collect())
}

fn by_character(machine: &mut dyn Machine, this: &Value, name: &str, given: &[Value]) -> Outcome {
    let all = Value::list(characters(machine, this)?);
    machine.invoke(&all, name, given)
}

fn taken(this: &Value, given: &[Value], how: fn(&[u16], usize) -> &[u16]) -> Outcome {
    let units = units(&text(this));
    let count = usize::try_from(int_of(given, 0)?)
        .unwrap_or(0)
        .min(units.len());
    Ok(Value::text(of_units(how(&units, count))))
}

fn between(this: &Value, given: &[Value]) -> Outcome {
    let it = text(this);
    let (from, to) = (
        text_of(given, 0),
        given.get(1).map_or_else(|| text_of(given, 0), text),
    );
    let found = it
        .split_once(&from)
        .and_then(|(_, rest)| rest.split_once(&to));
    Ok(Value::text(found.map_or("", |(inside, _)| inside)))
}

fn without(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    if regex::is_pattern(&given[0]) {
        return regex::replace(machine, &text(this), &given[0], "", false);
    }
    Ok(Value::text(text(this).replacen(&text_of(given, 0), "", 1)))
}

pub(super) static METHODS: Table = Table::new(&[
    row("toString", 0, 0, |_, this, _| Ok(Value::text(text(this)))),
    row("length", 0, 0, |_, this, _| {
        Ok(Value::count(length(&text(this))))
    }),
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(length(&text(this))))
    }),
    row("isEmpty", 0, 0, |_, this, _| truth(text(this).is_empty())),
    row("isBlank", 0, 0, |_, this, _| {
        truth(text(this).trim().is_empty())
    }),
    row("isAllWhitespace", 0, 0, |_, this, _| {
        truth(text(this).trim().is_empty())
    }),
    row("equals", 1, 1, |_, this, given| {
        let is_text = matches!(
            (this, &given[0]),
            (Value::Text(_), Value::Text(_)) | (Value::Composed(_), Value::Composed(_))
        );
        truth(match (this, &given[0]) {
            (Value::Char(one), Value::Char(other)) => one == other,
            _ => is_text && text(this) == text(&given[0]),
        })
    }),
    row("equalsIgnoreCase", 1, 1, |_, this, given| {
        truth(!given[0].is_null() && text(this).to_lowercase() == text(&given[0]).to_lowercase())
    }),
    row("contentEquals", 1, 1, |_, this, given| {
        truth(text(this) == text(&given[0]))
    }),
    row("compareTo", 1, 1, |_, this, given| {
        Ok(Value::Int(order::difference(
            &text(this),
            &text_wanted(given, 0)?,
        )))
    }),
    row("compareToIgnoreCase", 1, 1, |_, this, given| {
        let other = text_wanted(given, 0)?.to_lowercase();
        Ok(Value::Int(order::difference(
            &text(this).to_lowercase(),
            &other,
        )))
    }),
    row("charAt", 1, 1, |_, this, given| code(this, given)),
    row("codePointAt", 1, 1, |_, this, given| {
        let one = code(this, given)?;
        Ok(Value::Int(number::int_of(&one).unwrap_or(0)))
    }),
    row("substring", 1, 1, |_, this, given| {
        substring(&text(this), int_of(given, 0)?, None)
    }),
    row("substring", 2, 2, |_, this, given| {
        substring(&text(this), int_of(given, 0)?, Some(int_of(given, 1)?))
    }),
    row("subSequence", 2, 2, |_, this, given| {
        substring(&text(this), int_of(given, 0)?, Some(int_of(given, 1)?))
    }),
    row("getAt", 1, 1, |_, this, given| at(&text(this), &given[0])),
    row("indexOf", 1, 2, |_, this, given| {
        let from = if given.len() > 1 {
            int_of(given, 1)?
        } else {
            0
        };
        let what = match &given[0] {
            Value::Int(code) => {
                char::from_u32(code.cast_unsigned()).map_or_else(String::new, String::from)
            }
            other => text(other),
        };
        Ok(Value::Int(index_of(
            &text(this),
            &what,
            usize::try_from(from).unwrap_or(0),
        )))
    }),
    row("lastIndexOf", 1, 2, |_, this, given| {
        let to = if given.len() > 1 {
            int_of(given, 1)?
        } else {
            i32::MAX
        };
        let what = text_wanted(given, 0)?;
        Ok(Value::Int(match usize::try_from(to) {
            Ok(to) => last_index_of(&text(this), &what, to),
            Err(_) => -1,
        }))
    }),
    row("contains", 1, 1, |_, this, given| {
        truth(text(this).contains(&*text_wanted(given, 0)?))
    }),
    row("startsWith", 1, 1, |_, this, given| {
        truth(text(this).starts_with(&*text_wanted(given, 0)?))
    }),
    row("startsWith", 2, 2, |_, this, given| {
        let units = units(&text(this));
        let from = usize::try_from(int_of(given, 1)?).unwrap_or(usize::MAX);
        let what = self::units(&text_wanted(given, 0)?);
        truth(
            units
                .get(from..)
                .is_some_and(|rest| rest.starts_with(&what)),
        )
    }),
    row("endsWith", 1, 1, |_, this, given| {
        truth(text(this).ends_with(&*text_wanted(given, 0)?))
    }),
    row("toLowerCase", 0, 1, |_, this, _| {
        Ok(Value::text(text(this).to_lowercase()))
    }),
    row("toUpperCase", 0, 1, |_, this, _| {
        Ok(Value::text(text(this).to_uppercase()))
    }),
    row("trim", 0, 0, |_, this, _| {
        Ok(Value::text(trimmed(&text(this))))
    }),
    row("strip", 0, 0, |_, this, _| {
        Ok(Value::text(text(this).trim()))
    }),
    row("stripLeading", 0, 0, |_, this, _| {
        Ok(Value::text(text(this).trim_start()))
    }),
    row("stripTrailing", 0, 0, |_, this, _| {
        Ok(Value::text(text(this).trim_end()))
    }),
    row("concat", 1, 1, |machine, this, given| {
        plus(machine, this, &[Value::text(text_wanted(given, 0)?)])
    }),
    row("plus", 1, 1, plus),
    row("leftShift", 1, 1, |machine, this, given| {
        let text = plus(machine, this, given)?;
        super::construct(machine, "java.lang.StringBuffer", &[text])
    }),
    row("minus", 1, 1, without),
    row("multiply", 1, 1, repeated),
    row("repeat", 1, 1, repeated),
    row("replace", 2, 2, |machine, this, given| {
        let (it, from, to) = (text(this), text_wanted(given, 0)?, text_wanted(given, 1)?);
        let count = it.matches(&*from).count();
        machine.take(it.len().saturating_add(count.saturating_mul(to.len())))?;
        Ok(Value::text(it.replace(&*from, &to)))
    }),
    row("replaceAll", 2, 2, |machine, this, given| match &given[1] {
        Value::Closure(_) => regex::replace_by(machine, &text(this), &given[0], &given[1], false),
        to => regex::replace(machine, &text(this), &given[0], &text(to), true),
    }),
    row("replaceFirst", 2, 2, |machine, this, given| {
        match &given[1] {
            Value::Closure(_) => {
                regex::replace_by(machine, &text(this), &given[0], &given[1], true)
            }
            to => regex::replace(machine, &text(this), &given[0], &text(to), false),
        }
    }),
    row("matches", 1, 1, |_, this, given| {
        truth(regex::is_whole(&given[0], &text(this))?)
    }),
    row("split", 0, 0, |_, this, _| {
        Ok(Value::array(Element::Text, tokens(this, &[])))
    }),
    row("split", 1, 2, |machine, this, given| {
        if let Value::Closure(_) = given[0] {
            return by_character(machine, this, "split", given);
        }
        let limit = if given.len() > 1 {
            int_of(given, 1)?
        } else {
            0
        };
        regex::split(&text(this), &given[0], limit)
    }),
    row("tr", 2, 2, |_, this, given| {
        let (from, to) = (text_of(given, 0), text_of(given, 1));
        Ok(Value::text(exchanged(&text(this), &from, &to)))
    }),
    row("tokenize", 0, 1, |_, this, given| {
        Ok(Value::list(tokens(this, given)))
    }),
    row("readLines", 0, 0, |_, this, _| Ok(Value::list(lines(this)))),
    row("lines", 0, 0, |machine, this, _| {
        machine.invoke(&Value::list(lines(this)), "stream", &[])
    }),
    row("eachLine", 1, 1, |machine, this, given| {
        let mut last = Value::Null;
        for (place, line) in lines(this).into_iter().enumerate() {
            let mut values = vec![line];
            if number_of_parameters(&given[0]) > 1 {
                values.push(Value::count(place));
            }
            last = machine.call(&given[0], values)?;
        }
        Ok(last)
    }),
    row("toList", 0, 0, |machine, this, _| {
        Ok(Value::list(characters(machine, this)?))
    }),
    row("chars", 0, 0, |machine, this, _| {
        take_each(machine, this)?;
        let units = text(this)
            .encode_utf16()
            .map(|unit| Value::Int(i32::from(unit)))
            .collect();
        Ok(super::streams::numbers_streamed(units))
    }),
    row("getChars", 0, 0, |machine, this, _| {
        take_each(machine, this)?;
        Ok(Value::array(
            Element::Char,
            text(this).chars().map(Value::Char).collect(),
        ))
    }),
    row("toCharArray", 0, 0, |machine, this, _| {
        take_each(machine, this)?;
        Ok(Value::array(
            Element::Char,
            text(this).chars().map(Value::Char).collect(),
        ))
    }),
    row("getBytes", 0, 1, |_, this, given| bytes_in(this, given)),
    row("toInteger", 0, 0, |_, this, _| number_in(this, "int")),
    row("toLong", 0, 0, |_, this, _| number_in(this, "long")),
    row("toDouble", 0, 0, |_, this, _| number_in(this, "double")),
    row("toFloat", 0, 0, |_, this, _| number_in(this, "float")),
    row("toBigDecimal", 0, 0, |_, this, _| {
        number_in(this, "BigDecimal")
    }),
    row("toBigInteger", 0, 0, |_, this, _| {
        number_in(this, "BigInteger")
    }),
    row("toBoolean", 0, 0, |_, this, _| {
        let it = text(this).trim().to_lowercase();
        truth(matches!(it.as_str(), "true" | "y" | "1"))
    }),
    row("toCharacter", 0, 0, |_, this, _| {
        Ok(text(this).chars().next().map_or(Value::Null, Value::Char))
    }),
    row("isInteger", 0, 0, |_, this, _| is_number(this, "int")),
    row("isLong", 0, 0, |_, this, _| is_number(this, "long")),
    row("isDouble", 0, 0, |_, this, _| is_number(this, "double")),
    row("isFloat", 0, 0, |_, this, _| is_number(this, "float")),
    row("isNumber", 0, 0, |_, this, _| is_number(this, "BigDecimal")),
    row("isBigDecimal", 0, 0, |_, this, _| {
        is_number(this, "BigDecimal")
    }),
    row("isBigInteger", 0, 0, |_, this, _| {
        is_number(this, "BigInteger")
    }),
    row("capitalize", 0, 0, |_, this, _| {
        Ok(first_letter(this, |first| first.to_uppercase().to_string()))
    }),
    row("uncapitalize", 0, 0, |_, this, _| {
        Ok(first_letter(this, |first| first.to_lowercase().to_string()))
    }),
    row("reverse", 0, 0, |_, this, _| {
        Ok(Value::text(text(this).chars().rev().collect::<String>()))
    }),
    row("padLeft", 1, 2, |machine, this, given| {
        padded(machine, this, given, |it, fill, count| {
            filler(fill, count) + it
        })
    }),
    row("padRight", 1, 2, |machine, this, given| {
        padded(machine, this, given, |it, fill, count| {
            it.to_owned() + &filler(fill, count)
        })
    }),
    row("center", 1, 2, |machine, this, given| {
        padded(machine, this, given, |it, fill, count| {
            let left = count / 2;
            filler(fill, left) + it + &filler(fill, count - left)
        })
    }),
    row("take", 1, 1, |_, this, given| {
        taken(this, given, |units, count| &units[..count])
    }),
    row("drop", 1, 1, |_, this, given| {
        taken(this, given, |units, count| &units[count..])
    }),
    row("takeRight", 1, 1, |_, this, given| {
        taken(this, given, |units, count| &units[units.len() - count..])
    }),
    row("dropRight", 1, 1, |_, this, given| {
        taken(this, given, |units, count| &units[..units.len() - count])
    }),
    row("takeBetween", 1, 2, |_, this, given| between(this, given)),
    row("takeBefore", 1, 1, |_, this, given| {
        let it = text(this);
        Ok(Value::text(
            it.split_once(&text_of(given, 0))
                .map_or("", |(before, _)| before),
        ))
    }),
    row("takeAfter", 1, 1, |_, this, given| {
        let it = text(this);
        Ok(Value::text(
            it.split_once(&text_of(given, 0))
                .map_or("", |(_, after)| after),
        ))
    }),
    row("count", 1, 1, |machine, this, given| match &given[0] {
        Value::Closure(_) => by_character(machine, this, "count", given),
        what => Ok(Value::count(text(this).matches(&text(what)).count())),
    }),
    row("find", 1, 2, |machine, this, given| match &given[0] {
        Value::Closure(_) => by_character(machine, this, "find", given),
        pattern => regex::first(machine, &text(this), pattern, given.get(1)),
    }),
    row("findAll", 1, 2, |machine, this, given| match &given[0] {
        Value::Closure(_) => by_character(machine, this, "findAll", given),
        pattern => regex::all(machine, &text(this), pattern, given.get(1)),
    }),
    row("format", 1, MANY, |machine, this, given| {
        Ok(Value::text(super::formatted(
            machine,
            &text(this),
            &super::spread(given),
        )?))
    }),
    row("formatted", 0, MANY, |machine, this, given| {
        Ok(Value::text(super::formatted(
            machine,
            &text(this),
            &super::spread(given),
        )?))
    }),
    row("stripIndent", 0, 0, |_, this, _| {
        let it = text(this);
        let indent = |line: &str| line.len() - line.trim_start().len();
        let least = it
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(indent)
            .min()
            .unwrap_or(0);
        let cut: Vec<&str> = it
            .lines()
            .map(|line| line.get(least..).unwrap_or(""))
            .collect();
        Ok(Value::text(
            cut.join("\n") + if it.ends_with('\n') { "\n" } else { "" },
        ))
    }),
    row("stripMargin", 0, 1, |_, this, given| {
        let mark = given.first().map_or_else(|| "|".to_owned(), text);
        let it = text(this);
        let cut: Vec<&str> = it
            .lines()
            .map(|line| line.trim_start().strip_prefix(&*mark).unwrap_or(line))
            .collect();
        Ok(Value::text(cut.join("\n")))
    }),
    row("normalize", 0, 0, |_, this, _| {
        Ok(Value::text(
            text(this).replace("\r\n", "\n").replace('\r', "\n"),
        ))
    }),
    row("denormalize", 0, 0, |_, this, _| {
        Ok(Value::text(text(this)))
    }),
    row("intern", 0, 0, |_, this, _| Ok(Value::text(text(this)))),
    row("next", 0, 0, |_, this, _| {
        Ok(Value::text(last_changed(&text(this), 1)))
    }),
    row("previous", 0, 0, |_, this, _| {
        Ok(Value::text(last_changed(&text(this), -1)))
    }),
    row("toURL", 0, 0, |_, this, _| {
        super::addresses::of_text(&text(this), true)
    }),
    row("toURI", 0, 0, |_, this, _| {
        super::addresses::of_text(&text(this), false)
    }),
    row("asBoolean", 0, 0, |_, this, _| truth(order::truth(this))),
    row("encodeBase64", 0, 0, |_, this, _| {
        Ok(super::digests::base64(text(this).as_bytes()))
    }),
    row("decodeBase64", 0, 0, |_, this, _| {
        super::digests::from_base64(&text(this))
    }),
    row("encodeBase64Url", 0, 0, |_, this, _| {
        Ok(super::digests::base64_of_url(text(this).as_bytes()))
    }),
    row("decodeBase64Url", 0, 0, |_, this, _| {
        super::digests::from_base64(&text(this))
    }),
    row("decodeHex", 0, 0, |_, this, _| {
        super::digests::from_hex(&text(this))
    }),
    row("md5", 0, 0, |_, this, _| {
        super::digests::hex_digest("MD5", text(this).as_bytes())
    }),
    row("sha256", 0, 0, |_, this, _| {
        super::digests::hex_digest("SHA-256", text(this).as_bytes())
    }),
    row("digest", 1, 1, |_, this, given| {
        super::digests::hex_digest(&text_of(given, 0), text(this).as_bytes())
    }),
    row("isDigit", 0, 0, |_, this, _| {
        truth(text(this).chars().next().is_some_and(char::is_numeric))
    }),
    row("isLetter", 0, 0, |_, this, _| {
        truth(text(this).chars().next().is_some_and(char::is_alphabetic))
    }),
    row("isUpperCase", 0, 0, |_, this, _| {
        truth(text(this).chars().next().is_some_and(char::is_uppercase))
    }),
    row("isLowerCase", 0, 0, |_, this, _| {
        truth(text(this).chars().next().is_some_and(char::is_lowercase))
    }),
    row("isWhitespace", 0, 0, |_, this, _| {
        truth(text(this).chars().next().is_some_and(char::is_whitespace))
    }),
    row("each", 1, 1, |machine, this, given| {
        by_character(machine, this, "each", given).map(|_| this.clone())
    }),
    row("eachWithIndex", 1, 1, |machine, this, given| {
        by_character(machine, this, "eachWithIndex", given).map(|_| this.clone())
    }),
    row("collect", 1, 1, |machine, this, given| {
        by_character(machine, this, "collect", given)
    }),
    row("takeWhile", 1, 1, |machine, this, given| {
        let kept = by_character(machine, this, "takeWhile", given)?;
        machine.invoke(&kept, "join", &[Value::text("")])
    }),
    row("dropWhile", 1, 1, |machine, this, given| {
        let kept = by_character(machine, this, "dropWhile", given)?;
        machine.invoke(&kept, "join", &[Value::text("")])
    }),
    row("any", 1, 1, |machine, this, given| {
        by_character(machine, this, "any", given)
    }),
    row("every", 1, 1, |machine, this, given| {
        by_character(machine, this, "every", given)
    }),
    row("inject", 2, 2, |machine, this, given| {
        by_character(machine, this, "inject", given)
    }),
    row("toSet", 0, 0, |machine, this, _| {
        by_character(machine, this, "toSet", &[])
    }),
    row("getValues", 0, 0, |_, this, _| match this {
        Value::Composed(composed) => Ok(Value::array(Element::Object, composed.values.clone())),
        other => Err(super::missing(other, "getValues", &[])),
    }),
    row("charValue", 0, 0, |_, this, _| Ok(this.clone())),
]);

fn plus(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    // The sum of a character and a number is a number.
    if let (Value::Char(_), true) = (this, given[0].is_number()) {
        let sum = number::sum(number::Sum::Plus, this, &given[0])?;
        return Ok(sum.unwrap_or(Value::Null));
    }
    let mut sum = text(this);
    sum.push_str(&text(&given[0]));
    machine.take(sum.len())?;
    Ok(Value::text(sum))
}

fn last_changed(text: &str, by: i32) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    match characters.pop() {
        Some(last) => {
            let code = u32::from(last).wrapping_add_signed(by);
            characters.push(char::from_u32(code).unwrap_or(last));
        }
        None if by > 0 => characters.push('\0'),
        None => {}
    }
    characters.into_iter().collect()
}

fn number_of_parameters(closure: &Value) -> usize {
    match closure {
        Value::Closure(closure) => closure.arity(),
        _ => 0,
    }
}
