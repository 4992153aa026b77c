//! Functions that encode and decode texts: URLs, markup, base64, digests.
//!
//! Must not know who uses the result. Invariant: texts are encoded as UTF-8.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use data_encoding::HEXLOWER;
use loadline_java::{escapes, url_coding};
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use super::Outcome;

/// Decodes base64 as commons-codec does: padding is optional, and excess bits are ignored.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `__urlencode(text)`.
pub(super) fn url_encode(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&url_coding::encode(&values[0]));
    Ok(())
}

/// `__urldecode(text)`.
pub(super) fn url_decode(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&url_coding::decode(&values[0])?);
    Ok(())
}

/// `__escapeHtml(text)`.
pub(super) fn escape_html(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&escapes::escape_html(&values[0]));
    Ok(())
}

/// `__unescapeHtml(text)`.
pub(super) fn unescape_html(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&escapes::unescape_html(&values[0]));
    Ok(())
}

/// `__escapeXml(text)`.
pub(super) fn escape_xml(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&escapes::escape_xml(&values[0]));
    Ok(())
}

/// `__unescape(text)`: escapes of Java source.
pub(super) fn unescape(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    out.push_str(&escapes::unescape_java(&values[0]));
    Ok(())
}

/// `__escapeOroRegexpChars(text[,variable])`: a backslash before every character except letters, digits and
/// `_`.
pub(super) fn escape_pattern(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    for character in values[0].chars() {
        if !character.is_alphanumeric() && character != '_' {
            out.push('\\');
        }
        out.push(character);
    }
    Ok(())
}

/// `__base64Encode(text[,variable])`.
pub(super) fn base64_encode(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    BASE64_STANDARD.encode_string(values[0].as_bytes(), out);
    Ok(())
}

/// `__base64Decode(text[,variable])`: invalid characters are ignored.
pub(super) fn base64_decode(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let mut digits: Vec<u8> = values[0]
        .bytes()
        .take_while(|byte| *byte != b'=')
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' => Some(byte),
            _ => byte.is_ascii_alphanumeric().then_some(byte),
        })
        .collect();
    // A single remaining digit is less than a byte.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    let bytes = LENIENT.decode(&digits).unwrap_or_default();
    out.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}

/// `__MD5(text[,variable])`.
pub(super) fn md5(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    HEXLOWER.encode_append(&Md5::digest(values[0].as_bytes()), out);
    Ok(())
}

/// `__digest(algorithm,text[,salt][,true: upper case][,variable])`: `null` for an unknown algorithm.
pub(super) fn digest(values: &[Cow<'_, str>], out: &mut String) -> Outcome {
    let salt = values.get(2).map_or("", |salt| salt);
    let salted = format!("{}{salt}", values[1]);
    let bytes = salted.as_bytes();
    let upper_case = values
        .get(3)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    let start = out.len();
    match values[0].to_ascii_uppercase().as_str() {
        "MD5" => HEXLOWER.encode_append(&Md5::digest(bytes), out),
        "SHA" | "SHA1" | "SHA-1" => HEXLOWER.encode_append(&Sha1::digest(bytes), out),
        "SHA224" | "SHA-224" => HEXLOWER.encode_append(&Sha224::digest(bytes), out),
        "SHA256" | "SHA-256" => HEXLOWER.encode_append(&Sha256::digest(bytes), out),
        "SHA384" | "SHA-384" => HEXLOWER.encode_append(&Sha384::digest(bytes), out),
        "SHA512" | "SHA-512" => HEXLOWER.encode_append(&Sha512::digest(bytes), out),
        "SHA-512/224" => HEXLOWER.encode_append(&Sha512_224::digest(bytes), out),
        "SHA-512/256" => HEXLOWER.encode_append(&Sha512_256::digest(bytes), out),
        _ => {
            out.push_str("null");
            return Ok(());
        }
    }
    if upper_case {
        out[start..].make_ascii_uppercase();
    }
    Ok(())
}
