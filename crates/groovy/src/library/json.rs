//! JSON: `JsonSlurper` and `JsonOutput`.
//!
//! Must not know files. Invariant: too deeply nested values are refused.

use loadline_java::escapes;

use super::super::decimal::Decimal;
use super::super::map::{Map, MapKind};
use super::super::number;
use super::super::order;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::text_wanted;

/// `JsonSlurper`, of any kind.
struct Slurper;

/// Maximum depth of nested values.
const DEEPEST: usize = 200;

pub(super) static SLURPER: Table = Table::new(&[
    row("parseText", 1, 1, |machine, _, given| match &given[0] {
        Value::Null => Err(Thrown::argument("Text must not be null or empty")),
        _ => match &*text_wanted(given, 0)? {
            "" => Err(Thrown::argument("Text must not be null or empty")),
            text => read(machine, text),
        },
    }),
    row("parse", 1, 2, |machine, _, given| {
        let text = match &given[0] {
            Value::List(list) => {
                String::from_utf8_lossy(&list.to_bytes().unwrap_or_default()).into_owned()
            }
            Value::Text(text) => text.to_string(),
            other => print::text(&machine.property(other, "text")?),
        };
        read(machine, &text)
    }),
    row("setType", 1, 1, |_, this, _| Ok(this.clone())),
]);

impl Object for Slurper {
    fn class(&self) -> &'static str {
        "groovy.json.JsonSlurper"
    }

    fn methods(&self) -> &'static Table {
        &SLURPER
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

fn read(machine: &mut dyn Machine, text: &str) -> Outcome {
    machine.take(text.len().saturating_mul(2))?;
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = reader.value()?;
    Ok(value)
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// An object goes on with something else than a value or its end.
    fn neither(&self) -> Thrown {
        let current = match self.current() {
            Some(one) => told(one),
            None => "that is neither".to_owned(),
        };
        self.fault(&format!(
            "expecting '}}' or ',' but got current char {current}"
        ))
    }

    fn current(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn fault(&self, what: &str) -> Thrown {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let current = match self.current() {
            Some(one) => format!("The current character read is {}", told(one)),
            None => "The current character read is end of text".to_owned(),
        };
        let shown = self.text.lines().nth(line - 1).unwrap_or_default();
        Thrown::of(
            "groovy.json.JsonException",
            format!(
                "{what}\n\n{current}\n{what}\nline number {line}\nindex number {}\n{shown}\n{}^",
                self.at,
                ".".repeat(column)
            ),
        )
    }

    fn value(&mut self) -> Outcome {
        self.skip();
        if self.depth > DEEPEST {
            return Err(Thrown::bare("java.lang.StackOverflowError"));
        }
        self.depth += 1;
        let value = match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(Value::text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
            None => Err(self.fault("Unable to determine the current character, it is not a string, number, array, or object")),
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Outcome {
        let words = [
            ("true", Value::Truth(true)),
            ("false", Value::Truth(false)),
            ("null", Value::Null),
        ];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("Unable to determine the current character, it is not a string, number, array, or object"))
    }

    fn number(&mut self) -> Outcome {
        let rest = &self.text[self.at..];
        let is_part =
            |one: char| one.is_ascii_digit() || matches!(one, '-' | '+' | '.' | 'e' | 'E');
        let length = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
        let text = &rest[..length];
        self.at += length;
        let value = match text.parse::<i64>() {
            Ok(number) => Some(Value::whole(number)),
            Err(_) if text.contains(['.', 'e', 'E']) => Decimal::parse(text).map(number::decimal),
            Err(_) => text
                .parse()
                .ok()
                .map(|number| Value::Whole(std::rc::Rc::new(number))),
        };
        value.ok_or_else(|| self.fault("unexpected character in a number"))
    }

    fn string(&mut self) -> Outcome<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest
                .find(['"', '\\'])
                .ok_or_else(|| self.fault("Exception parsing JSON String, it does not end"))?;
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(text);
            }
            let escaped = self
                .peek()
                .ok_or_else(|| self.fault("Exception parsing JSON String"))?;
            self.at += 1;
            match escaped {
                b'n' => text.push('\n'),
                b't' => text.push('\t'),
                b'r' => text.push('\r'),
                b'b' => text.push('\u{8}'),
                b'f' => text.push('\u{c}'),
                b'u' => self.unit(&mut text)?,
                b'"' | b'\\' | b'/' => text.push(char::from(escaped)),
                _ => return Err(self.fault("Unable to decode string")),
            }
        }
    }

    fn unit(&mut self, text: &mut String) -> Outcome<()> {
        let hex = |reader: &Self, at: usize| {
            let digits = reader.text.get(at..at + 4)?;
            u16::from_str_radix(digits, 16).ok()
        };
        let first = hex(self, self.at).ok_or_else(|| self.fault("Unable to decode string"))?;
        self.at += 4;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first)
            && self.text[self.at..].starts_with("\\u")
            && let Some(second) = hex(self, self.at + 2)
        {
            units.push(second);
            self.at += 6;
        }
        text.push_str(&String::from_utf16_lossy(&units));
        Ok(())
    }

    fn list(&mut self) -> Outcome {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.skip();
            if self.peek() == Some(b']') && values.is_empty() {
                break;
            }
            values.push(self.value()?);
            self.skip();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.fault("expecting a ',' or a ']'")),
            }
        }
        self.at += 1;
        Ok(Value::list(values))
    }

    fn object(&mut self) -> Outcome {
        self.at += 1;
        let map = Map::new(MapKind::Lazy);
        loop {
            self.skip();
            match self.peek() {
                // Groovy minds no comma after the last value.
                Some(b'}') => break,
                Some(b'"') => {}
                _ => return Err(self.neither()),
            }
            let key = self.string()?;
            self.skip();
            if self.peek() != Some(b':') {
                return Err(self.fault("expecting a ':' after a key"));
            }
            self.at += 1;
            let value = self.value()?;
            map.put(&Value::text(key), value);
            self.skip();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.neither()),
            }
        }
        self.at += 1;
        Ok(Value::Map(map))
    }
}

/// A value as JSON.
///
/// # Errors
/// It cannot be converted.
pub(super) fn written(machine: &mut dyn Machine, value: &Value) -> Outcome<String> {
    let mut out = String::new();
    write(machine, value, &mut out, 0)?;
    machine.take(out.len())?;
    Ok(out)
}

fn write(machine: &mut dyn Machine, value: &Value, out: &mut String, depth: usize) -> Outcome<()> {
    machine.work(1)?;
    if depth > DEEPEST {
        return Err(Thrown::bare("java.lang.StackOverflowError"));
    }
    match value {
        Value::Null | Value::Void => out.push_str("null"),
        Value::Double(number) if !number.is_finite() => {
            return Err(Thrown::of(
                "groovy.json.JsonException",
                format!(
                    "Number {} can't be serialized as JSON: infinite or NaN are not allowed in JSON.",
                    print::text(value)
                ),
            ));
        }
        Value::Truth(_) => out.push_str(&print::text(value)),
        number if number.is_number() => out.push_str(&print::text(number)),
        Value::Text(_) | Value::Composed(_) | Value::Char(_) => quoted(&print::text(value), out),
        Value::Map(map) => {
            out.push('{');
            for (place, (key, value)) in order::entries(map).iter().enumerate() {
                if key.is_null() {
                    return Err(Thrown::argument(
                        "Maps with null keys can't be converted to JSON",
                    ));
                }
                if place > 0 {
                    out.push(',');
                }
                quoted(&print::text(key), out);
                out.push(':');
                write(machine, value, out, depth + 1)?;
            }
            out.push('}');
        }
        Value::List(_) | Value::Set(_) | Value::Range(_) => {
            out.push('[');
            for (place, value) in super::values(machine, value)?.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(machine, value, out, depth + 1)?;
            }
            out.push(']');
        }
        Value::Object(object) if super::json_builder::is_builder(&**object) => {
            out.push_str(&object.text());
        }
        Value::Object(object) if object.values_by_name().is_some() => {
            out.push('{');
            let values = object.values_by_name().unwrap_or_default();
            for (place, (name, value)) in values.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                quoted(name, out);
                out.push(':');
                write(machine, value, out, depth + 1)?;
            }
            out.push('}');
        }
        other => match super::dates::json_text(other) {
            Some(text) => quoted(&text, out),
            None => quoted(&print::text(other), out),
        },
    }
    Ok(())
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    escapes::push_escaped(text, |unit| format!("\\u{unit:04x}"), out);
    out.push('"');
}

/// JSON with line breaks and indentation.
pub(super) fn pretty(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    let mut rest = text.chars().peekable();
    while let Some(one) = rest.next() {
        if is_text {
            out.push(one);
            match one {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => is_text = false,
                _ => {}
            }
            continue;
        }
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.push_str(&"    ".repeat(depth));
        };
        match one {
            '{' | '[' => {
                out.push(one);
                while rest.next_if(|next| next.is_whitespace()).is_some() {}
                let end = if one == '{' { '}' } else { ']' };
                depth += 1;
                line(&mut out, depth);
                if rest.next_if_eq(&end).is_some() {
                    depth -= 1;
                    line(&mut out, depth);
                    out.push(end);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(one);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            '"' => {
                is_text = true;
                out.push('"');
            }
            one if one.is_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

static SLURPERS: Table = Table::new(&[row("new", 0, 1, |_, _, _| Ok(Value::object(Slurper)))]);

static OUTPUT: Table = Table::new(&[
    row("new", 0, 0, |_, _, _| {
        Ok(Value::Class("groovy.json.JsonOutput".into()))
    }),
    row("toJson", 1, 1, |machine, _, given| {
        Ok(Value::text(written(machine, &given[0])?))
    }),
    row("prettyPrint", 1, 1, |_, _, given| {
        Ok(Value::text(pretty(&text_wanted(given, 0)?)))
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "groovy.json.JsonSlurper",
        statics: &SLURPERS,
    },
    Class {
        name: "groovy.json.JsonSlurperClassic",
        statics: &SLURPERS,
    },
    Class {
        name: "groovy.json.JsonOutput",
        statics: &OUTPUT,
    },
];

/// A character as Groovy tells it.
fn told(one: char) -> String {
    format!("'{one}' with an int value of {}", u32::from(one))
}
