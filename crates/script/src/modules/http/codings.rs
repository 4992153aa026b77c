//! Content codings: encoding of bodies to send, decoding of received ones.
//!
//! Must not know requests. Invariant: no body, at any stage of decoding, exceeds its [`Bounds`], and decoding
//! stops when they say so.

use std::cell::RefCell;
use std::io::{self, BufRead, Read, Write};

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, Crc, Decompress, FlushDecompress, Status};
use loadline_model::ErrorClass;

/// Decoded bytes, and encoded bytes that are read, between two checks of the time.
const BLOCK: u64 = 1 << 20;
const PACKED_BLOCK: usize = 64 << 10;
/// Brotli's window, as a power of two, and its quality (of 11): the usual values.
const BROTLI_WINDOW: u32 = 22;
const BROTLI_QUALITY: u32 = 6;
/// The head of a gzip member without optional fields, and its tail: checksum and length (RFC 1952).
const GZIP_HEAD_BYTES: usize = 10;
const GZIP_TAIL_BYTES: usize = 8;
/// The head of a zlib stream (RFC 1950).
const ZLIB_HEAD_BYTES: usize = 2;
/// Go's message for a stream that ends too early.
const SHORT: &str = "unexpected EOF";
/// Maximum decoded size of an ordinary response.
const USUAL_MAX: usize = 1 << 20;

thread_local! {
    /// A decoder's state is 40 kB: creating one costs more than decoding a small response.
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

impl Coding {
    /// The coding with a name in `Content-Encoding` or `params.compression`.
    fn named(name: &str) -> Option<Coding> {
        match name {
            "gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "zstd" => Some(Coding::Zstd),
            "br" => Some(Coding::Brotli),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Zstd => "zstd",
            Coding::Brotli => "br",
        }
    }
}

/// The codings of a list such as `gzip, br`.
///
/// # Errors
/// The message for an unknown name.
pub(super) fn parse_list(list: &str) -> Result<Vec<Coding>, String> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|name| {
            let name = name.trim();
            Coding::named(name).ok_or_else(|| {
                format!(
                    "unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]"
                )
            })
        })
        .collect()
}

/// Encodes a body in one coding after the other.
///
/// # Errors
/// An encoder fails; it writes to memory, so memory is exhausted.
pub(super) fn pack(body: &[u8], codings: &[Coding]) -> io::Result<Vec<u8>> {
    let mut packed = body.to_vec();
    for coding in codings {
        packed = match coding {
            Coding::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::default());
                packer.write_all(&packed)?;
                packer.finish()?
            }
            Coding::Deflate => {
                let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
                packer.write_all(&packed)?;
                packer.finish()?
            }
            Coding::Zstd => zstd::encode_all(&*packed, 0)?,
            Coding::Brotli => {
                let mut out = Vec::new();
                let mut packer =
                    brotli::CompressorWriter::new(&mut out, 4_096, BROTLI_QUALITY, BROTLI_WINDOW);
                packer.write_all(&packed)?;
                drop(packer);
                out
            }
        };
    }
    Ok(packed)
}

/// Why a body could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Damaged {
    /// The error class.
    pub(super) class: ErrorClass,
    /// k6's error code.
    pub(super) code: u16,
    /// The value of the `error` tag.
    pub(super) tag: String,
    /// The message for the log.
    pub(super) detail: String,
    /// The data decoded so far; `None`: none.
    pub(super) partial: Option<Vec<u8>>,
}

/// Limits of decoding.
pub(super) struct Bounds<'a> {
    /// Maximum bytes of a decoded body.
    pub(super) bytes_max: u64,
    /// Whether the deadline has passed, or the result is no longer wanted; called every [`BLOCK`] and
    /// [`PACKED_BLOCK`].
    pub(super) is_late: &'a dyn Fn() -> bool,
}

/// Decodes a body according to `Content-Encoding`, whose last name was applied last. Decoding stops at an
/// unknown coding. `broken`: why the body ended before its end; `None`: it did not. As in k6, what arrived is
/// decoded all the same, and damage within it is found before its end.
///
/// # Errors
/// The body is damaged or broken, or exceeds the limits.
pub(super) fn unpack(
    body: Vec<u8>,
    encoding: &[u8],
    broken: Option<Damaged>,
    bounds: &Bounds<'_>,
) -> Result<Vec<u8>, Damaged> {
    let encoding = String::from_utf8_lossy(encoding);
    let (mut body, mut broken) = (body, broken);
    for name in encoding.rsplit(',') {
        let Some(coding) = Coding::named(name.trim()) else {
            break;
        };
        match unpack_one(&body, coding, bounds) {
            Ok(out) => body = out,
            Err(Fault::OfBounds(beyond)) => return Err(beyond),
            Err(Fault::OfBytes { reason, partial }) => {
                let damage = damaged(coding, &reason, partial.is_some(), broken);
                match partial {
                    Some(partial) => (body, broken) = (partial, Some(damage)),
                    None => return Err(damage),
                }
            }
        }
    }
    match broken {
        Some(broken) => Err(Damaged {
            partial: Some(body),
            ..broken
        }),
        None => Ok(body),
    }
}

/// Why a decoder stopped.
enum Fault {
    OfBounds(Damaged),
    OfBytes {
        /// In the words of Go's reader.
        reason: String,
        /// What was decoded; `None`: k6 could not even create its reader.
        partial: Option<Vec<u8>>,
    },
}

fn unpack_one(body: &[u8], coding: Coding, bounds: &Bounds<'_>) -> Result<Vec<u8>, Fault> {
    if coding == Coding::Gzip
        && bounds.bytes_max >= USUAL_MAX as u64
        && let Some(out) = unpack_usual_gzip(body)
    {
        return Ok(out);
    }
    let mut out = Vec::with_capacity(body.len().saturating_mul(4).min(1 << 20));
    if body.is_empty() && coding == Coding::Zstd {
        return Ok(out);
    }
    if body.is_empty() && coding == Coding::Gzip {
        return Err(Fault::OfBytes {
            reason: "EOF".to_owned(),
            partial: None,
        });
    }
    let mut packed = Packed::new(body, bounds);
    let input = &mut packed;
    let read = match coding {
        Coding::Gzip => read_all(MultiGzDecoder::new(input), &mut out, bounds),
        // The decoder takes nothing for a whole stream.
        Coding::Deflate | Coding::Brotli if body.is_empty() => {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
        Coding::Deflate => read_all(ZlibDecoder::new(input), &mut out, bounds),
        Coding::Zstd => {
            let reader = zstd::Decoder::with_buffer(input);
            reader.and_then(|reader| read_all(reader, &mut out, bounds))
        }
        Coding::Brotli => read_all(brotli::Decompressor::new(input, 4_096), &mut out, bounds),
    };
    match read {
        Err(_) if packed.is_late => Err(Fault::OfBounds(late())),
        Ok(End::Whole) => Ok(out),
        Ok(End::TooLong) => Err(Fault::OfBounds(too_long(bounds.bytes_max))),
        Ok(End::Late) => Err(Fault::OfBounds(late())),
        Err(error) => Err(Fault::OfBytes {
            reason: reason(coding, body, &error),
            partial: has_reader(coding, body).then_some(out),
        }),
    }
}

/// Decodes a body of one undamaged gzip member without optional fields, of ordinary size; `None`: the body is
/// something else, which the general decoder handles.
fn unpack_usual_gzip(body: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = body.split_first_chunk::<GZIP_HEAD_BYTES>()?;
    let (packed, tail) = rest.split_last_chunk::<GZIP_TAIL_BYTES>()?;
    let [0x1f, 0x8b, 8, 0, ..] = head else {
        return None;
    };
    let [c0, c1, c2, c3, l0, l1, l2, l3] = *tail;
    let checksum = u32::from_le_bytes([c0, c1, c2, c3]);
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if length > USUAL_MAX {
        return None;
    }
    let mut out = Vec::with_capacity(length);
    let (status, read) = INFLATE.with_borrow_mut(|inflate| {
        inflate.reset(false);
        let status = inflate.decompress_vec(packed, &mut out, FlushDecompress::Finish);
        (status, inflate.total_in())
    });
    let mut seen = Crc::new();
    seen.update(&out);
    let is_whole = matches!(status, Ok(Status::StreamEnd))
        && read == packed.len() as u64
        && out.len() == length
        && seen.sum() == checksum;
    is_whole.then_some(out)
}

/// An encoded body, in pieces between which the time is checked: one that decodes to nothing may be arbitrarily
/// long.
struct Packed<'a> {
    rest: &'a [u8],
    bounds: &'a Bounds<'a>,
    /// Bytes until the next check.
    left: usize,
    is_late: bool,
}

impl<'a> Packed<'a> {
    fn new(body: &'a [u8], bounds: &'a Bounds<'a>) -> Packed<'a> {
        Packed {
            rest: body,
            bounds,
            left: PACKED_BLOCK,
            is_late: false,
        }
    }
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            self.is_late = (self.bounds.is_late)();
            self.left = PACKED_BLOCK;
        }
        if self.is_late {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(&self.rest[..self.left.min(self.rest.len())])
    }

    fn consume(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.left -= bytes;
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// How reading decoded data ended.
enum End {
    Whole,
    TooLong,
    Late,
}

fn read_all(mut reader: impl Read, out: &mut Vec<u8>, bounds: &Bounds<'_>) -> io::Result<End> {
    loop {
        let read = reader.by_ref().take(BLOCK).read_to_end(out)?;
        if out.len() as u64 > bounds.bytes_max {
            return Ok(End::TooLong);
        }
        if read == 0 {
            return Ok(End::Whole);
        }
        if (bounds.is_late)() {
            return Ok(End::Late);
        }
    }
}

fn too_long(most: u64) -> Damaged {
    let detail = format!(
        "error decompressing response body (it is longer than {most} bytes: raise --max-body)"
    );
    Damaged {
        class: ErrorClass::TooLarge,
        code: 1701,
        tag: detail.clone(),
        detail,
        partial: None,
    }
}

fn late() -> Damaged {
    Damaged {
        class: ErrorClass::Timeout,
        code: 1050,
        tag: "request timeout".to_owned(),
        detail: "request timeout".to_owned(),
        partial: None,
    }
}

/// Whether k6 could create a reader: those of gzip and zlib begin by reading the stream's head.
fn has_reader(coding: Coding, body: &[u8]) -> bool {
    match coding {
        Coding::Gzip => body.len() >= GZIP_HEAD_BYTES && body.starts_with(&[0x1f, 0x8b]),
        Coding::Deflate => body.len() >= ZLIB_HEAD_BYTES && body[0] & 15 == 8,
        Coding::Zstd | Coding::Brotli => true,
    }
}

/// The message of Go's reader of the coding.
fn reason(coding: Coding, body: &[u8], error: &io::Error) -> String {
    let starts_well = match coding {
        Coding::Zstd => body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
        _ => has_reader(coding, body),
    };
    match coding {
        _ if starts_well && error.kind() == io::ErrorKind::UnexpectedEof => SHORT.to_owned(),
        Coding::Gzip if body.len() < GZIP_HEAD_BYTES => SHORT.to_owned(),
        Coding::Deflate if body.len() < ZLIB_HEAD_BYTES => SHORT.to_owned(),
        Coding::Gzip if !starts_well || error.to_string().contains("header") => {
            "gzip: invalid header".to_owned()
        }
        Coding::Deflate if !starts_well => "zlib: invalid header".to_owned(),
        Coding::Zstd if !starts_well => "invalid input: magic number mismatch".to_owned(),
        Coding::Gzip => "gzip: invalid checksum".to_owned(),
        Coding::Deflate => "zlib: invalid checksum".to_owned(),
        Coding::Zstd => error.to_string(),
        Coding::Brotli => "brotli: PADDING_2".to_owned(),
    }
}

/// What damage means to k6: a stream that is merely short, once its reader exists, ends for the reason for which
/// the body ended.
fn damaged(coding: Coding, reason: &str, has_reader: bool, broken: Option<Damaged>) -> Damaged {
    let is_short = matches!(reason, "EOF" | SHORT);
    match broken {
        Some(broken) if is_short && (has_reader || broken.class == ErrorClass::Timeout) => broken,
        Some(broken) if is_short => {
            let detail = format!("error decompressing response body ({})", broken.detail);
            Damaged {
                class: broken.class,
                code: 1701,
                tag: detail.clone(),
                detail,
                partial: None,
            }
        }
        None if is_short && has_reader => Damaged {
            class: ErrorClass::Truncated,
            code: 1000,
            tag: reason.to_owned(),
            detail: reason.to_owned(),
            partial: None,
        },
        _ => corrupt(coding, reason),
    }
}

fn corrupt(coding: Coding, reason: &str) -> Damaged {
    let detail = format!("error decompressing response body ({reason})");
    let tag = match coding {
        // k6 repeats the prefix for this one, and for named errors of the readers of these two.
        Coding::Zstd => format!("error decompressing response body ({detail})"),
        Coding::Gzip | Coding::Deflate if reason.contains(": ") => {
            format!("error decompressing response body ({detail})")
        }
        Coding::Gzip | Coding::Deflate | Coding::Brotli => detail.clone(),
    };
    Damaged {
        class: ErrorClass::Malformed,
        code: 1701,
        tag,
        detail,
        partial: None,
    }
}

#[cfg(test)]
mod tests;
