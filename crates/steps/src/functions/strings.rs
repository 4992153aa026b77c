//! Functions that convert texts.
//!
//! Must not know variables. Invariant: positions and lengths count UTF-16 units, as in Java.

use std::borrow::Cow;

use loadline_java::numbers;
use regex::Regex;

use super::Outcome;
use crate::thrown::Thrown;

/// `__changeCase(text[,UPPER|LOWER|CAPITALIZE][,variable])`.
pub(super) fn change_case(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let text = &values[0];
    let mode = values.get(1).map(|mode| mode.to_ascii_uppercase());
    match mode.as_deref().unwrap_or("") {
        "" | "UPPER" => out.push_str(&text.to_uppercase()),
        "LOWER" => out.push_str(&text.to_lowercase()),
        "CAPITALIZE" => {
            let mut rest = text.chars();
            out.extend(rest.next().into_iter().flat_map(char::to_uppercase));
            out.push_str(rest.as_str());
        }
        _ => out.push_str(text),
    }
    Ok(())
}

/// `__uppercase(text[,variable])`.
pub(super) fn uppercase(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&values[0].to_uppercase());
    Ok(())
}

/// `__lowercase(text[,variable])`.
pub(super) fn lowercase(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&values[0].to_lowercase());
    Ok(())
}

/// `__char(number,…)`: UTF-16 code units; invalid numbers are ignored.
pub(super) fn characters(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let numbers = values
        .iter()
        .filter_map(|value| numbers::decode(value.trim()));
    let units: Vec<u16> = numbers
        .map(|number| u16::try_from(number & 0xffff).expect("sixteen bits are left"))
        .collect();
    out.push_str(&String::from_utf16_lossy(&units));
    Ok(())
}

/// `__strLen(text[,variable])`.
pub(super) fn length(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&values[0].encode_utf16().count().to_string());
    Ok(())
}

/// `__substring(text,from,to[,variable])`.
pub(super) fn substring(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let units: Vec<u16> = values[0].encode_utf16().collect();
    let position =
        |text: &str| numbers::parse_int(text.trim()).ok_or_else(|| Thrown::no_number(text.trim()));
    let (from, to) = (position(&values[1])?, position(&values[2])?);
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = range
        .and_then(|(from, to)| units.get(from..to))
        .ok_or_else(|| {
            let length = units.len();
            Thrown {
                class: "java.lang.StringIndexOutOfBoundsException",
                message: format!("begin {from}, end {to}, length {length}"),
            }
        })?;
    out.push_str(&String::from_utf16_lossy(part));
    Ok(())
}

/// `__strReplace(text,pattern,replacement[,variable])`: the pattern is a regular expression.
pub(super) fn replace(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let pattern = Regex::new(&values[1]).map_err(|fault| Thrown {
        class: "java.util.regex.PatternSyntaxException",
        message: fault.to_string(),
    })?;
    let replacement = values[2].replace("\\$", "$$");
    out.push_str(&pattern.replace_all(&values[0], replacement));
    Ok(())
}

/// `__if(a,b,then,else[,variable])`: `then` if `a` equals `b`.
pub(super) fn if_equal(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let chosen = if values[0] == values[1] { 2 } else { 3 };
    out.push_str(&values[chosen]);
    Ok(())
}

/// `__caseFormat(text[,mode][,variable])`: the words of a text in another case style; an unknown mode changes
/// nothing.
pub(super) fn case_format(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let text = &values[0];
    let mode = values.get(1).map(|mode| mode.to_ascii_uppercase());
    // A leading separator creates an empty word, as in Java's `split`.
    let words = || {
        let parts = text.split([' ', '_', '-']).enumerate();
        let words = parts.filter(|(index, part)| *index == 0 || !part.is_empty());
        words.map(|(_, word)| word)
    };
    let joined = |separator: &str| words().collect::<Vec<_>>().join(separator);
    match mode.as_deref().unwrap_or("") {
        "" | "LOWER_CAMEL_CASE" => push_camel(words(), false, out),
        "UPPER_CAMEL_CASE" => push_camel(words(), true, out),
        "SNAKE_CASE" | "LOWER_UNDERSCORE" => out.push_str(&joined("_").to_lowercase()),
        "UPPER_UNDERSCORE" => out.push_str(&joined("_").to_uppercase()),
        "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => {
            out.push_str(&joined("-").to_lowercase());
        }
        "TRAIN_CASE" => out.push_str(&joined("-").to_uppercase()),
        _ => out.push_str(text),
    }
    Ok(())
}

/// Appends words, all but the first capitalized; `all`: the first too.
fn push_camel<'a>(words: impl Iterator<Item = &'a str>, all: bool, out: &mut String) {
    for (index, word) in words.enumerate() {
        let mut rest = word.chars();
        let first = rest.next();
        if index == 0 && !all {
            out.extend(first.into_iter().flat_map(char::to_lowercase));
        } else {
            out.extend(first.into_iter().flat_map(char::to_uppercase));
        }
        out.push_str(&rest.as_str().to_lowercase());
    }
}
