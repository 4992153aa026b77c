//! Decodes content codings, for checks of bodies.
//!
//! Must not know why a body is needed. Invariant: decoded data never exceeds the limit, so a small response
//! cannot expand to a large amount of memory.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// The body with its content coding decoded, up to `most` bytes; the original body if it is empty or the coding
/// is unknown. Of a body that `is_cut`, as much as can be decoded.
///
/// # Errors
/// The body does not match its coding.
pub(super) fn decoded<'a>(
    body: &'a [u8],
    coding: Option<&str>,
    most: u64,
    is_cut: bool,
) -> io::Result<Cow<'a, [u8]>> {
    let reader: Box<dyn Read + 'a> = match coding.map(str::trim) {
        _ if body.is_empty() => return Ok(Cow::Borrowed(body)),
        Some(name) if is_gzip(name) => Box::new(Members(GzDecoder::new(body))),
        Some(name) if name.eq_ignore_ascii_case("deflate") => deflate_reader(body),
        Some(name) if name.eq_ignore_ascii_case("br") => {
            Box::new(brotli::Decompressor::new(body, 4_096))
        }
        _ => return Ok(Cow::Borrowed(body)),
    };
    let mut plain = Vec::new();
    match reader.take(most).read_to_end(&mut plain) {
        Err(error) if !is_cut => Err(error),
        Ok(_) | Err(_) => Ok(Cow::Owned(plain)),
    }
}

/// Whether a coding is gzip, by any of its names.
pub(crate) fn is_gzip(coding: &str) -> bool {
    let coding = coding.trim();
    coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip")
}

/// Whether a body has the two bytes that gzip begins with.
pub(crate) fn begins_as_gzip(body: &[u8]) -> bool {
    body.starts_with(&[0x1f, 0x8b])
}

/// The members of a gzip body, one after another. As in browsers and Java, whatever follows the last is ignored: some
/// servers pad with zeros.
struct Members<'a>(GzDecoder<&'a [u8]>);

impl Read for Members<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.0.read(into)?;
            let behind = *self.0.get_ref();
            if length > 0 || into.is_empty() || !begins_as_gzip(behind) {
                return Ok(length);
            }
            self.0 = GzDecoder::new(behind);
        }
    }
}

/// `deflate` means the zlib format (RFC 9110 section 8.4.1.2), but some servers send bare deflate.
fn deflate_reader<'a>(body: &'a [u8]) -> Box<dyn Read + 'a> {
    let zlib = body.len() >= 2
        && body[0] & 0x0f == 8
        && (u16::from(body[0]) << 8 | u16::from(body[1])).is_multiple_of(31);
    if zlib {
        Box::new(flate2::read::ZlibDecoder::new(body))
    } else {
        Box::new(flate2::read::DeflateDecoder::new(body))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    fn whole<'a>(body: &'a [u8], coding: Option<&str>, most: u64) -> io::Result<Cow<'a, [u8]>> {
        decoded(body, coding, most, false)
    }

    #[test]
    fn codings_are_undone_up_to_a_limit() {
        let packed = gzip(&[b'a'; 10_000]);
        let size = |coding, most| whole(&packed, coding, most).expect("gzip").len();
        assert_eq!(size(Some("gzip"), 1 << 20), 10_000);
        assert_eq!(size(Some("GZIP"), 100), 100);
        let plain = whole(b"plain", None, 100).expect("plain");
        assert_eq!(plain.as_ref(), b"plain");
        assert!(whole(b"not gzip at all", Some("gzip"), 100).is_err());
    }

    #[test]
    fn a_body_has_all_members_of_gzip_and_not_what_fills_it_up() {
        let filled = [gzip(b"one "), gzip(b"two"), vec![0; 30]].concat();
        let text = whole(&filled, Some("gzip"), 100).expect("gzip");
        assert_eq!(text.as_ref(), b"one two");
        let cut = [gzip(b"one "), gzip(b"two")[..12].to_vec()].concat();
        assert!(whole(&cut, Some("gzip"), 100).is_err());
    }

    #[test]
    fn what_was_cut_is_read_as_far_as_it_goes() {
        let text: Vec<u8> = (0..60_000_u32).flat_map(u32::to_le_bytes).collect();
        let packed = gzip(&text);
        let half = &packed[..packed.len() / 2];
        let broken = whole(half, Some("gzip"), 1 << 20).expect_err("it is not all there");
        assert_eq!(broken.kind(), io::ErrorKind::UnexpectedEof);
        let read = decoded(half, Some("gzip"), 1 << 20, true).expect("the beginning");
        assert!(
            read.len() > 1_000 && text.starts_with(&read),
            "{}",
            read.len()
        );
        assert!(whole(b"", Some("gzip"), 1).expect("nothing").is_empty());
    }
}
