//! Control characters in plans, which XML cannot represent but JMeter writes and reads nevertheless: recorded
//! bodies contain them.
//!
//! Must not know elements. Invariant: hidden characters are restored unchanged; lines keep their positions.

use crate::tree::{Element, Property, Value};

/// The characters that replace control characters while the file is parsed: from the end of Unicode's private
/// use area.
const STAND_INS: u32 = 0x10_ff00;

/// The stand-in for a control character that XML does not allow; `None`: it is another character.
fn stand_in(code: u32) -> Option<char> {
    let is_refused = code < 0x20 && !matches!(code, 0x9 | 0xa | 0xd);
    is_refused
        .then(|| char::from_u32(STAND_INS + code))
        .flatten()
}

/// The XML text with stand-ins for control characters, whether literal or written as references.
pub(crate) fn hidden(text: String) -> String {
    let is_raw = |one: char| stand_in(u32::from(one)).is_some();
    if !text.contains("&#") && !text.contains(is_raw) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|one| one == '&' || is_raw(one)) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (found, length) = reference(rest).unwrap_or((u32::from(rest.as_bytes()[0]), 1));
        match stand_in(found) {
            Some(other) => out.push(other),
            None => out.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    out + rest
}

/// The character of a reference at the start of a text, with the reference's length; `None`: there is none.
fn reference(text: &str) -> Option<(u32, usize)> {
    let number = text.strip_prefix("&#")?;
    let digits = number.split_once(';')?.0;
    let code = match digits.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some((code.ok()?, digits.len() + 3))
}

/// Replaces stand-ins by their control characters.
pub(crate) fn give_back(elements: &mut [Element]) {
    for element in elements {
        give_back_in(&mut element.name);
        give_back_in_all(&mut element.properties);
        give_back(&mut element.children);
    }
}

fn give_back_in_all(properties: &mut [Property]) {
    for property in properties {
        give_back_in(&mut property.name);
        match &mut property.value {
            Value::Text(text) => give_back_in(text),
            Value::Group(inner) => give_back_in_all(inner),
        }
    }
}

fn give_back_in(text: &mut String) {
    let control = |one: char| {
        let code = u32::from(one).checked_sub(STAND_INS)?;
        stand_in(code)?;
        char::from_u32(code)
    };
    if text.contains(|one| control(one).is_some()) {
        let given_back = text.chars().map(|one| control(one).unwrap_or(one));
        *text = given_back.collect();
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::{self, Properties as _};

    /// JMeter 5.6.3 reads them in the same way.
    #[test]
    fn control_characters_come_as_they_are() {
        let text = "<jmeterTestPlan><hashTree><A testname=\"n&#x1b;\"><stringProp name=\"a\">x&#x1;&#0;&#31;\u{2}&#xa;&amp;&lt;&#233;</stringProp>\
                    </A></hashTree></jmeterTestPlan>";
        let read = tree::read(text).expect("a plan");
        assert_eq!(read[0].name, "n\u{1b}");
        assert_eq!(read[0].text("a"), "x\u{1}\0\u{1f}\u{2}\n&<é");
    }

    #[test]
    fn references_that_are_none_are_refused_as_ever() {
        for text in ["&#x;", "&#", "&#xg;", "&#99999999999;", "&nope;"] {
            let text = format!(
                "<jmeterTestPlan><hashTree><A testname=\"{text}\"/></hashTree></jmeterTestPlan>"
            );
            assert!(tree::read(&text).is_err(), "{text}");
        }
    }
}
