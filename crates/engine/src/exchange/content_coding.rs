//! Undoing content codings, for checks that look into bodies.
//!
//! Must not know why a body is looked at. Invariant: what is decoded never exceeds the limit, so
//! that a small answer cannot unfold into a large memory.

use std::borrow::Cow;
use std::io::{self, Read};

/// The body without its content coding, up to `most` bytes; the body as it came when the coding is
/// not known.
///
/// # Errors
/// When the body is not what its coding says.
pub(crate) fn decoded<'a>(
    body: &'a [u8],
    coding: Option<&str>,
    most: u64,
) -> io::Result<Cow<'a, [u8]>> {
    let reader: Box<dyn Read + 'a> = match coding.map(str::trim) {
        Some(name) if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
            Box::new(flate2::read::MultiGzDecoder::new(body))
        }
        Some(name) if name.eq_ignore_ascii_case("deflate") => deflate_reader(body),
        Some(name) if name.eq_ignore_ascii_case("br") => {
            Box::new(brotli::Decompressor::new(body, 4_096))
        }
        _ => return Ok(Cow::Borrowed(body)),
    };
    let mut plain = Vec::new();
    reader.take(most).read_to_end(&mut plain)?;
    Ok(Cow::Owned(plain))
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

    #[test]
    fn codings_are_undone_up_to_a_limit() {
        let packed = gzip(&[b'a'; 10_000]);
        assert_eq!(
            decoded(&packed, Some("gzip"), 1 << 20).expect("gzip").len(),
            10_000
        );
        assert_eq!(
            decoded(&packed, Some("GZIP"), 100).expect("gzip").len(),
            100
        );
        assert_eq!(
            decoded(b"plain", None, 100).expect("plain").as_ref(),
            b"plain"
        );
        assert!(decoded(b"not gzip at all", Some("gzip"), 100).is_err());
    }
}
