//! Formats JSON as json-smart does, and values as Java does.
//!
//! Must not know where it goes. Invariant: the members of the outermost object are in the order of a Java
//! `HashMap`, those of inner objects in their own.

use std::fmt::Write as _;

use loadline_java::hash_order;
use loadline_java::numbers::double_to_string;

use super::Json;

impl Json {
    /// The text that an extractor stores in a variable; `None` for null.
    pub(crate) fn extracted(&self) -> Option<String> {
        match self {
            Json::Null => None,
            Json::Object(members) => {
                let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
                let order = hash_order::of_copy(&keys);
                let mut out = String::new();
                write_object(order.iter().map(|index| &members[*index]), &mut out);
                Some(out)
            }
            other => Some(other.shown()),
        }
    }

    /// The text that an assertion compares, and that the plugins' extractor stores in a variable.
    pub(crate) fn asserted(&self) -> String {
        match self {
            Json::Fraction(number) if number.is_finite() => {
                let text = number.to_string();
                if text.contains('.') {
                    text
                } else {
                    text + ".0"
                }
            }
            Json::Fraction(number) if number.is_infinite() => {
                let sign = if *number < 0.0 { "-" } else { "" };
                format!("{sign}∞")
            }
            other => other.extracted().unwrap_or_else(|| "null".to_owned()),
        }
    }

    /// The result of Java's `toString`: arrays as JSON, objects as `{key=value}`.
    pub(crate) fn shown(&self) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Whole(number) => number.to_string(),
            Json::Large(text) | Json::Text(text) => text.clone(),
            Json::Fraction(number) => double_to_string(*number),
            Json::Exact(text) => decimal(text),
            Json::Array(_) => {
                let mut out = String::new();
                self.write(&mut out);
                out
            }
            Json::Object(members) => {
                let member = |(key, value): &(String, Json)| format!("{key}={}", value.shown());
                format!(
                    "{{{}}}",
                    members.iter().map(member).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Text(text) => write_text(text, out),
            Json::Fraction(number) if number.is_infinite() => out.push_str("null"),
            Json::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => write_object(members.iter(), out),
            other => out.push_str(&other.shown()),
        }
    }
}

fn write_object<'j>(members: impl Iterator<Item = &'j (String, Json)>, out: &mut String) {
    out.push('{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        value.write(out);
    }
    out.push('}');
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

/// A number as formatted by Java's `BigDecimal`: plain, or with an exponent if it would have too many zeros.
fn decimal(text: &str) -> String {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let digits = format!("{whole}{fraction}");
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let length = digits.len() as i64;
    let scale = fraction.len() as i64 - exponent;
    let adjusted = length - 1 - scale;
    if scale >= 0 && adjusted >= -6 {
        if scale == 0 {
            return format!("{sign}{digits}");
        }
        let width = usize::try_from(scale + 1).unwrap_or(0);
        let padded = format!("{digits:0>width$}");
        let (whole, fraction) = padded.split_at(padded.len() - (width - 1));
        return format!("{sign}{whole}.{fraction}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{adjusted:+}")
}
