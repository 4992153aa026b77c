//! `java.net.URLEncoder` and `URLDecoder`: form encoding, with blanks as `+`.
//!
//! Must not know URLs. Invariant: encoded text decodes to the same text.

use crate::charset::Charset;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Characters that `URLEncoder` writes as `%XX`, except the blank, which becomes `+`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'.')
    .remove(b'-')
    .remove(b'*')
    .remove(b'_')
    .remove(b' ');

/// `URLEncoder.encode`.
#[must_use]
pub fn encode(text: &str) -> String {
    encode_bytes(text.as_bytes())
}

/// `URLEncoder.encode` in another character set: each run of characters that need encoding is encoded
/// separately.
#[must_use]
pub fn encode_in(text: &str, charset: Charset) -> String {
    if charset == Charset::UTF_8 {
        return encode(text);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-*_ ".contains(c);
    let mut coded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_run = is_plain(first);
        let end = rest.find(|c| is_plain(c) != is_run).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        match is_run {
            true => coded.push_str(&run.replace(' ', "+")),
            false => {
                for byte in charset.encode(run).iter() {
                    coded.push_str(&format!("%{byte:02X}"));
                }
            }
        }
        rest = behind;
    }
    coded
}

/// `URLDecoder.decode` in another character set: text without escapes stays unchanged.
///
/// # Errors
/// Like [`decode`].
pub fn decode_in(text: &str, charset: Charset) -> Result<String, String> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '+']) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix('+') {
            decoded.push(' ');
            rest = behind;
            continue;
        }
        let coded = rest
            .bytes()
            .step_by(3)
            .take_while(|byte| *byte == b'%')
            .count();
        let end = rest.len().min(coded * 3);
        let run = rest.get(..end).unwrap_or(rest);
        decoded.push_str(&charset.decode(&decode_bytes(run)?));
        rest = &rest[run.len()..];
    }
    decoded.push_str(rest);
    Ok(decoded)
}

/// Encodes bytes of a text in an encoding other than UTF-8.
#[must_use]
pub fn encode_bytes(bytes: &[u8]) -> String {
    let coded = percent_encode(bytes, ENCODED).to_string();
    coded.replace(' ', "+")
}

/// `URLDecoder.decode`.
///
/// # Errors
/// A `%` is not followed by two hexadecimal digits; in Java's words.
pub fn decode(text: &str) -> Result<String, String> {
    decode_bytes(text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Decodes to the bytes of a text in an encoding other than UTF-8.
///
/// # Errors
/// Like [`decode`].
pub fn decode_bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (Some(high), Some(low)) = (rest.next(), rest.next()) else {
                    return Err("URLDecoder: Incomplete trailing escape (%) pattern".to_owned());
                };
                match (hexadecimal(high), hexadecimal(low)) {
                    (Some(high), Some(low)) => bytes.push(high << 4 | low),
                    (wrong, _) => {
                        let index = usize::from(wrong.is_some());
                        let (high, low) = (char::from(high), char::from(low));
                        return Err(format!(
                            "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index {index} in: \"{high}{low}\""
                        ));
                    }
                }
            }
            other => bytes.push(other),
        }
    }
    Ok(bytes)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_all_but_letters_digits_and_four_signs() {
        let coded = encode("a b&c=é*-._~!'()+/?%");
        assert_eq!(coded, "a+b%26c%3D%C3%A9*-._%7E%21%27%28%29%2B%2F%3F%25");
        assert_eq!(decode(&coded).as_deref(), Ok("a b&c=é*-._~!'()+/?%"));
    }

    #[test]
    fn decoding_refuses_what_is_no_escape() {
        assert_eq!(decode("a+b%20%C3%A9").as_deref(), Ok("a b é"));
        assert_eq!(decode("%FF").as_deref(), Ok("\u{fffd}"));
        for refused in ["%", "%4", "%zz", "%+1"] {
            assert!(decode(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn other_sets_are_coded_run_by_run() {
        let coded = |text: &str, name: &str| encode_in(text, Charset::named(name).expect(name));
        assert_eq!(coded("é€ b", "ISO-8859-1"), "%E9%3F+b");
        assert_eq!(coded("x+y%41", "UTF-16"), "x%FE%FF%00%2By%FE%FF%00%2541");
        let decoded = |text: &str, name: &str| decode_in(text, Charset::named(name).expect(name));
        assert_eq!(
            decoded("é€+%E9%80x", "windows-1252").as_deref(),
            Ok("é€ é€x")
        );
        assert_eq!(decoded("y%41", "UTF-16").as_deref(), Ok("y\u{fffd}"));
        assert!(decoded("a%4", "latin1").is_err() && decoded("%é1", "latin1").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[%+0-9a-fé]{0,12}") {
            for charset in [Charset::Latin1, Charset::Utf16] {
                let _ = decode_in(&text, charset);
            }
        }

        #[test]
        fn whatever_is_encoded_decodes_to_itself(text in ".*") {
            proptest::prop_assert_eq!(decode(&encode(&text)), Ok(text));
        }
    }
}
