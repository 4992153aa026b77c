//! `java.net.URLEncoder` and `URLDecoder`: the form that forms use, a blank as `+`.
//!
//! Must not know URLs. Invariant: what is encoded decodes to the same text.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What `URLEncoder` writes as `%XX`, but the blank, which becomes `+`.
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

/// The same of a text that is written in some other encoding than UTF-8.
#[must_use]
pub fn encode_bytes(bytes: &[u8]) -> String {
    let coded = percent_encode(bytes, ENCODED).to_string();
    coded.replace(' ', "+")
}

/// `URLDecoder.decode`.
///
/// # Errors
/// A `%` that two hexadecimal digits do not follow, in Java's words.
pub fn decode(text: &str) -> Result<String, String> {
    decode_bytes(text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a text that was written in some other encoding than UTF-8.
///
/// # Errors
/// As [`decode`].
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
                    _ => {
                        return Err(
                            "URLDecoder: Illegal hex characters in escape (%) pattern".to_owned()
                        );
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

    proptest::proptest! {
        #[test]
        fn whatever_is_encoded_decodes_to_itself(text in ".*") {
            proptest::prop_assert_eq!(decode(&encode(&text)), Ok(text));
        }
    }
}
