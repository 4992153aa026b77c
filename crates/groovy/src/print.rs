//! Values as text: `toString`, Groovy's output, and class names.
//!
//! Must not know methods. Invariant: a cyclic value is printed to a limited depth.

use std::fmt::Write as _;

use loadline_java::numbers::float_to_string;

use super::map::MapKind;
use super::order::entries;
use super::value::{Element, ListKind, Nesting, RangeOf, Value};

/// A value as printed by Groovy.
#[must_use]
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out, Style::Groovy);
    out
}

/// A value in the format of Java's `toString`: maps have braces.
#[must_use]
pub fn java_text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out, Style::Java);
    out
}

/// A value in the format of Groovy's `inspect`: texts have quotes.
#[must_use]
pub fn inspected(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out, Style::Inspect);
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Groovy,
    Java,
    Inspect,
}

fn write(value: &Value, out: &mut String, style: Style) {
    let Some(_nesting) = Nesting::enter() else {
        out.push_str("(this Collection)");
        return;
    };
    match value {
        Value::Null => out.push_str("null"),
        Value::Void => out.push_str("void"),
        Value::Text(text) if style == Style::Inspect => quoted(text, out),
        Value::Text(text) => out.push_str(text),
        Value::Composed(composed) => {
            for (place, text) in composed.texts.iter().enumerate() {
                out.push_str(text);
                match composed.values.get(place) {
                    // A range inside a text is printed as a list.
                    Some(Value::Range(range)) => {
                        let values: Vec<Value> = range.values().collect();
                        sequence(values.iter(), out, Style::Groovy);
                    }
                    Some(value) => write(value, out, Style::Groovy),
                    None => {}
                }
            }
        }
        Value::List(list) => {
            let is_array_of_java = style == Style::Java && list.is_array();
            if is_array_of_java {
                let _ = write!(out, "{}@1b2c3d", class_name(value));
                return;
            }
            sequence(list.items.borrow().iter(), out, style);
        }
        Value::Set(set) => sequence(entries(set).iter().map(|(key, _)| key), out, style),
        Value::Range(range) => {
            let (from, to) = match range.is_empty {
                true => (range.from, range.from),
                false => (range.from, range.to),
            };
            let end = |at: i64| {
                super::value::Range {
                    from: at,
                    to: at,
                    is_empty: false,
                    of: range.of,
                }
                .at(0)
            };
            write(&end(from), out, style);
            out.push_str(if range.is_empty { "..<" } else { ".." });
            write(&end(to), out, style);
        }
        Value::Map(map) => {
            let entries = entries(map);
            let (open, between, close) = match style {
                Style::Java => ("{", "=", "}"),
                _ if entries.is_empty() => ("[:", "", "]"),
                _ => ("[", ":", "]"),
            };
            out.push_str(open);
            for (place, (key, value)) in entries.iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write(key, out, style);
                out.push_str(between);
                write(value, out, style);
            }
            out.push_str(close);
        }
        _ => simple(value, out),
    }
}

fn simple(value: &Value, out: &mut String) {
    let written = match value {
        Value::Truth(truth) => write!(out, "{truth}"),
        Value::Char(one) => write!(out, "{one}"),
        Value::Byte(number) => write!(out, "{number}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Long(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{}", float_to_string(*number)),
        Value::Double(number) => {
            write!(out, "{}", loadline_java::numbers::double_to_string(*number))
        }
        Value::Whole(number) => write!(out, "{number}"),
        Value::Decimal(number) => write!(out, "{number}"),
        Value::Closure(_) => write!(out, "Script1$_run_closure1@1b2c3d"),
        Value::Class(name) => match name.contains('.') {
            true => write!(out, "class {name}"),
            false => write!(out, "{name}"),
        },
        Value::Exception(exception) => write!(out, "{}", exception.told()),
        Value::Object(object) => write!(out, "{}", object.text()),
        _ => Ok(()),
    };
    written.expect("a text takes what is written");
}

fn sequence<'v>(values: impl Iterator<Item = &'v Value>, out: &mut String, style: Style) {
    out.push('[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write(value, out, style);
    }
    out.push(']');
}

fn quoted(text: &str, out: &mut String) {
    out.push('\'');
    for one in text.chars() {
        match one {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            other => out.push(other),
        }
    }
    out.push('\'');
}

/// The full name of a value's class.
#[must_use]
pub fn class_name(value: &Value) -> &str {
    match value {
        Value::Null | Value::Void => "null",
        Value::Truth(_) => "java.lang.Boolean",
        Value::Char(_) => "java.lang.Character",
        Value::Byte(_) => "java.lang.Byte",
        Value::Int(_) => "java.lang.Integer",
        Value::Long(_) => "java.lang.Long",
        Value::Float(_) => "java.lang.Float",
        Value::Double(_) => "java.lang.Double",
        Value::Whole(_) => "java.math.BigInteger",
        Value::Decimal(_) => "java.math.BigDecimal",
        Value::Text(_) => "java.lang.String",
        Value::Composed(_) => "org.codehaus.groovy.runtime.GStringImpl",
        Value::List(list) => match list.kind {
            ListKind::Growing => "java.util.ArrayList",
            ListKind::Linked => "java.util.LinkedList",
            ListKind::Fixed => "java.util.Arrays$ArrayList",
            ListKind::Constant => "java.util.Collections$UnmodifiableRandomAccessList",
            ListKind::Stream => "java.util.stream.ReferencePipeline",
            ListKind::NumberStream => "java.util.stream.IntPipeline",
            ListKind::Array(of) => match of {
                Element::Object => "[Ljava.lang.Object;",
                Element::Text => "[Ljava.lang.String;",
                Element::Int => "[I",
                Element::Long => "[J",
                Element::Double => "[D",
                Element::Float => "[F",
                Element::Byte => "[B",
                Element::Char => "[C",
                Element::Truth => "[Z",
            },
        },
        Value::Map(map) => match map.kind {
            MapKind::Linked => "java.util.LinkedHashMap",
            MapKind::Hash => "java.util.HashMap",
            MapKind::Concurrent => "java.util.concurrent.ConcurrentHashMap",
            MapKind::Properties => "java.util.Properties",
            MapKind::Tree => "java.util.TreeMap",
            MapKind::Constant => "java.util.Collections$UnmodifiableMap",
            MapKind::Lazy => "org.apache.groovy.json.internal.LazyMap",
        },
        Value::Set(set) => match set.kind {
            MapKind::Hash => "java.util.HashSet",
            MapKind::Tree => "java.util.TreeSet",
            _ => "java.util.LinkedHashSet",
        },
        Value::Range(range) => match range.of {
            RangeOf::Int => "groovy.lang.IntRange",
            _ => "groovy.lang.ObjectRange",
        },
        Value::Closure(_) => "Script1$_run_closure1",
        Value::Class(_) => "java.lang.Class",
        Value::Exception(exception) => &exception.class,
        Value::Object(object) => object.class(),
    }
}

/// The name of a value's class without its package.
#[must_use]
pub fn simple_class_name(value: &Value) -> &str {
    let name = class_name(value);
    name.rsplit('.').next().unwrap_or(name)
}

/// The arguments of a call in the message of an exception: the classes, and the values.
#[must_use]
pub fn listed(given: &[Value]) -> (String, String) {
    let classes: Vec<&str> = given.iter().map(short_class_name).collect();
    let values: Vec<String> = given.iter().map(|value| cut(&text(value), 60)).collect();
    (
        classes.join(", "),
        cut(&format!("[{}]", values.join(", ")), 160),
    )
}

fn short_class_name(value: &Value) -> &str {
    match value {
        Value::Null | Value::Void => "null",
        Value::List(_) | Value::Map(_) | Value::Range(_) => simple_class_name(value),
        Value::Object(_) | Value::Exception(_) => simple_class_name(value),
        other => simple_class_name(other),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end.saturating_sub(3)]),
        None => text.to_owned(),
    }
}
