//! Escapes in the parts of a URL.
//!
//! Must not know how a URL is parsed. Invariant: an existing escape stays unchanged, unless something else
//! forces the part to be encoded again.

use percent_encoding::{percent_decode_str, percent_encode_byte};

use crate::quoted;

/// A path as written by Go: unchanged if all its bytes are valid, otherwise encoded again from its decoded
/// value.
pub(super) fn path_as_written(path: &str) -> String {
    match path.bytes().all(|byte| is_path_byte(byte) || byte == b'%') {
        true => path.to_owned(),
        false => path_of(&decoded_bytes(path)),
    }
}

/// A decoded path, encoded as in Go.
#[must_use]
pub fn path_of(bytes: &[u8]) -> String {
    escaped_bytes(bytes, is_plain_path_byte)
}

/// Bytes that Go does not escape in a path that it encodes itself.
fn is_plain_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/".contains(&byte)
}

pub(super) fn is_fragment_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/?".contains(&byte)
}

pub(super) fn check_escapes(text: &str) -> Result<(), String> {
    let mut at = 0;
    while let Some(found) = text[at..].find('%') {
        at += found + escape_at(text, at + found)?.len();
    }
    Ok(())
}

/// The escape (`%41`) at a percent sign.
pub(super) fn escape_at(text: &str, at: usize) -> Result<&str, String> {
    let is_escape = |escape: &&str| escape.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit());
    text.get(at..at + 3).filter(is_escape).ok_or_else(|| {
        let wrong: String = text[at..].chars().take(3).collect();
        format!("invalid URL escape {}", quoted(&wrong))
    })
}

/// A part with all required escapes added; existing ones are kept.
pub(super) fn escaped(text: &str, is_plain: fn(u8) -> bool) -> String {
    escaped_but(text, |byte| is_plain(byte) || byte == b'%')
}

/// A part with all bytes escaped except these.
pub(super) fn escaped_but(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    if text.bytes().all(&is_plain) {
        return text.to_owned();
    }
    escaped_bytes(text.as_bytes(), is_plain)
}

/// Bytes with all escaped except these.
#[must_use]
pub fn escaped_bytes(bytes: &[u8], is_plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len() + 16);
    for &byte in bytes {
        match is_plain(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(percent_encode_byte(byte)),
        }
    }
    out
}

/// The decoded part.
#[must_use]
pub fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&decoded_bytes(text)).into_owned()
}

/// The decoded bytes, which may be invalid UTF-8.
#[must_use]
pub fn decoded_bytes(text: &str) -> Vec<u8> {
    percent_decode_str(text).collect()
}
