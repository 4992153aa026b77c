//! Encodes and decodes a result as JSON; the version is checked first.
//!
//! Must not know files. Invariant: no input makes [`decode`] panic, and sums over accepted results cannot
//! overflow.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use loadline_metric::hdr;
use loadline_model::RunResult;
use loadline_model::result::SCHEMA;
use serde::Deserialize;
use serde_json::error::Category;

use crate::sanity;

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Indented, for people; default: one line.
    pub pretty: bool,
    /// Whether each time metric is also written as compressed HdrHistogram V2 in base64; default: no.
    pub hdr: bool,
}

/// Why a text is not accepted as a result.
#[derive(Debug)]
pub enum ReadError {
    /// The file could not be read.
    Io(io::Error),
    /// The file is larger than any result.
    TooLarge {
        /// Most bytes read.
        limit: u64,
    },
    /// It is empty.
    Empty,
    /// The text is not JSON.
    NotJson(serde_json::Error),
    /// The text is JSON, but not written by loadline.
    NotAResult {
        /// What is missing or wrong.
        why: String,
    },
    /// Written in another version of the layout.
    OtherVersion {
        /// The layout that the file names.
        found: String,
    },
    /// The layout is right, but a part of it is invalid.
    Invalid(serde_json::Error),
    /// A number that no run can have counted.
    Impossible {
        /// Which.
        why: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "cannot be read: {error}"),
            ReadError::TooLarge { limit } => {
                write!(
                    f,
                    "is larger than {limit} bytes: no loadline result is; give the file that \
                         --json wrote"
                )
            }
            ReadError::Empty => write!(f, "is empty: give the file that --json wrote"),
            ReadError::NotJson(error) => {
                write!(f, "is not JSON ({error}): give the file that --json wrote")
            }
            ReadError::NotAResult { why } => {
                write!(
                    f,
                    "is JSON, but not a loadline result ({why}): give the file that --json wrote"
                )
            }
            ReadError::OtherVersion { found } => write!(
                f,
                "has the layout {found:?}, and this loadline reads {SCHEMA:?}: use the loadline \
                     that wrote it"
            ),
            ReadError::Invalid(error) => {
                write!(
                    f,
                    "names the layout {SCHEMA:?} but breaks it: {error}; the file was changed or \
                         cut"
                )
            }
            ReadError::Impossible { why } => write!(f, "holds an impossible number: {why}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Writes a result, with a newline after it.
///
/// # Errors
/// Those of the writer.
pub fn write(result: &RunResult, options: Options, mut writer: impl Write) -> io::Result<()> {
    let result = if options.hdr {
        Cow::Owned(with_hdr(result))
    } else {
        Cow::Borrowed(result)
    };
    if options.pretty {
        serde_json::to_writer_pretty(&mut writer, &result)?;
    } else {
        serde_json::to_writer(&mut writer, &result)?;
    }
    writer.write_all(b"\n")?;
    writer.flush()
}

fn with_hdr(result: &RunResult) -> RunResult {
    let mut result = result.clone();
    for metric in result.metrics.values_mut() {
        metric.hdr = Some(hdr::encode_v2_base64(&metric.histogram));
    }
    result
}

/// The part of a result with the version.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// Reads a result. The text is UTF-8, or UTF-16 with a byte order mark, as Windows shells write redirected
/// output.
///
/// # Errors
/// Says what the text is instead, and where it is invalid.
pub fn decode(text: &[u8]) -> Result<RunResult, ReadError> {
    let text = &*utf8(text);
    if text.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    let head: Head = serde_json::from_slice(text).map_err(|error| match error.classify() {
        Category::Data => ReadError::NotAResult {
            why: error.to_string(),
        },
        Category::Syntax | Category::Eof | Category::Io => ReadError::NotJson(error),
    })?;
    match head.schema {
        Some(serde_json::Value::String(schema)) if schema == SCHEMA => {}
        Some(serde_json::Value::String(found)) if found.starts_with("loadline/result/") => {
            return Err(ReadError::OtherVersion { found });
        }
        Some(other) => {
            return Err(ReadError::NotAResult {
                why: format!("its \"schema\" is {}", brief(&other)),
            });
        }
        None => {
            return Err(ReadError::NotAResult {
                why: "it has no \"schema\"".to_owned(),
            });
        }
    }
    let result: RunResult = serde_json::from_slice(text).map_err(ReadError::Invalid)?;
    sanity::check_result(&result).map_err(|why| ReadError::Impossible { why })?;
    Ok(result)
}

/// The text in UTF-8, without a byte order mark.
fn utf8(text: &[u8]) -> Cow<'_, [u8]> {
    match text {
        [0xef, 0xbb, 0xbf, text @ ..] => Cow::Borrowed(text),
        [0xff, 0xfe, text @ ..] => Cow::Owned(of_utf16(text, u16::from_le_bytes)),
        [0xfe, 0xff, text @ ..] => Cow::Owned(of_utf16(text, u16::from_be_bytes)),
        _ => Cow::Borrowed(text),
    }
}

/// Decodes UTF-16; invalid units become a character that JSON only allows in strings.
fn of_utf16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, rest) = text.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let half = rest.first().map(|_| char::REPLACEMENT_CHARACTER);
    let read = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER));
    read.chain(half).collect::<String>().into_bytes()
}

/// A value truncated for a message.
fn brief(value: &serde_json::Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
