//! Records as bytes: length, checksum, kind, deflated JSON. Documented in `docs/journal.md`.
//!
//! Must not know files. Invariant: a record is read complete and unchanged, or not at all; no input makes the
//! reader use more memory than its limits.

use std::io::{self, BufWriter, IntoInnerError, Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use loadline_model::event::Mark;
use loadline_model::observation::{ObserverNote, ResourceSample};
use loadline_model::plan::TestPlan;
use loadline_model::result::{Environment, Row, RunResult};
use loadline_model::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// The first line of a journal.
pub(super) const MAGIC: &[u8] = b"loadline/journal/v1\n";
/// Prefix of the first line of a journal of any version.
pub(super) const MAGIC_OF_ANY_VERSION: &[u8] = b"loadline/journal/";
/// Length and checksum, each four bytes, little endian, and one byte for the kind.
pub(super) const HEAD_BYTES: usize = 9;
/// Maximum bytes of a payload in the file.
const DEFLATED_MAX: u32 = 64 << 20;
/// Maximum bytes of a payload as JSON: a hundred times the largest result.
const INFLATED_MAX: u64 = 256 << 20;
/// Bytes of JSON that are deflated at once. The encoder clears its whole output buffer at each write, and JSON is
/// written in pieces of a few bytes.
const DEFLATED_AT_ONCE: usize = 64 << 10;

/// What was known before the first request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) plan: TestPlan,
    pub(super) environment: Environment,
    pub(super) started_unix_ms: u64,
}

/// What was added since the previous record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) seen: Snapshot,
    pub(super) rows: Vec<Row>,
    pub(super) marks: Vec<Mark>,
    pub(super) resources: Vec<ResourceSample>,
    #[serde(default)]
    pub(super) notes: Vec<ObserverNote>,
    /// Marks and resource samples beyond the limit.
    pub(super) left_out: u64,
}

/// One record of a journal.
pub(super) enum Record {
    Start(Box<Start>),
    Part(Box<Part>),
    End(Box<RunResult>),
}

const START: u8 = 1;
const PART: u8 = 2;
const END: u8 = 3;

pub(super) fn start_record(start: &Start) -> io::Result<Vec<u8>> {
    record(START, start)
}

pub(super) fn part_record(part: &Part) -> io::Result<Vec<u8>> {
    record(PART, part)
}

pub(super) fn end_record(result: &RunResult) -> io::Result<Vec<u8>> {
    record(END, result)
}

fn record(kind: u8, payload: &impl Serialize) -> io::Result<Vec<u8>> {
    let deflater = DeflateEncoder::new(Vec::new(), Compression::fast());
    let mut json = BufWriter::with_capacity(DEFLATED_AT_ONCE, deflater);
    serde_json::to_writer(&mut json, payload)?;
    let deflater = json.into_inner().map_err(IntoInnerError::into_error)?;
    let deflated = deflater.finish()?;
    let length = u32::try_from(deflated.len())
        .ok()
        .filter(|length| *length <= DEFLATED_MAX);
    let length = length.ok_or_else(|| io::Error::other("a journal record is too large"))?;
    let mut bytes = Vec::with_capacity(HEAD_BYTES + deflated.len());
    bytes.write_all(&length.to_le_bytes())?;
    bytes.write_all(&checksum(kind, &deflated).to_le_bytes())?;
    bytes.push(kind);
    bytes.extend(deflated);
    Ok(bytes)
}

/// CRC-32 (IEEE 802.3) over the kind and the payload.
fn checksum(kind: u8, payload: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&[kind]);
    crc.update(payload);
    crc.sum()
}

/// The result of reading one record.
pub(super) enum Next {
    /// A whole record.
    Record(Record),
    /// The file ends at a record boundary.
    EndOfFile,
    /// What follows is not a complete record: truncated, overwritten, or of an unknown kind.
    Torn,
}

/// Reads the next record.
///
/// # Errors
/// Those of the reader; damage is not an error but [`Next::Torn`].
pub(super) fn read_record(reader: &mut impl Read) -> io::Result<Next> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    reader.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let [a, b, c, d, e, f, g, h, kind] = head[..] else {
        return Ok(if head.is_empty() {
            Next::EndOfFile
        } else {
            Next::Torn
        });
    };
    let length = u32::from_le_bytes([a, b, c, d]);
    if length > DEFLATED_MAX {
        return Ok(Next::Torn);
    }
    // Grows with the data that is really there, so that a bogus length costs no memory.
    let mut deflated = Vec::new();
    reader.take(u64::from(length)).read_to_end(&mut deflated)?;
    let whole = deflated.len() as u64 == u64::from(length);
    if !whole || checksum(kind, &deflated) != u32::from_le_bytes([e, f, g, h]) {
        return Ok(Next::Torn);
    }
    Ok(decode(kind, &deflated).map_or(Next::Torn, Next::Record))
}

fn decode(kind: u8, deflated: &[u8]) -> Option<Record> {
    let mut json = Vec::new();
    DeflateDecoder::new(deflated)
        .take(INFLATED_MAX)
        .read_to_end(&mut json)
        .ok()?;
    match kind {
        START => Some(Record::Start(serde_json::from_slice(&json).ok()?)),
        PART => Some(Record::Part(serde_json::from_slice(&json).ok()?)),
        END => Some(Record::End(serde_json::from_slice(&json).ok()?)),
        _ => None,
    }
}
