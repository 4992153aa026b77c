//! The few kinds of protobuf fields that remote write needs, and a reader for its own messages.
//!
//! Must not know messages. Source: <https://protobuf.dev/programming-guides/encoding/>. Invariant: a field with
//! its default value is omitted, as in proto3; lists contain every entry.

const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const BYTES: u32 = 2;
const FIXED_32: u32 = 5;

fn key(out: &mut Vec<u8>, field: u32, kind: u32) {
    varint(out, u64::from(field << 3 | kind));
}

/// A number in groups of seven bits.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A signed number with its sign in the lowest bit.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn uint(out: &mut Vec<u8>, field: u32, value: u64) {
    if value != 0 {
        key(out, field, VARINT);
        varint(out, value);
    }
}

/// A field of a oneof: written even if zero.
pub(crate) fn uint_of_choice(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, VARINT);
    varint(out, value);
}

pub(crate) fn int(out: &mut Vec<u8>, field: u32, value: i64) {
    uint(out, field, value as u64);
}

pub(crate) fn sint(out: &mut Vec<u8>, field: u32, value: i64) {
    uint(out, field, zigzag(value));
}

/// A double. Compared by its bits: minus zero and NaN are written.
pub(crate) fn double(out: &mut Vec<u8>, field: u32, value: f64) {
    if value.to_bits() != 0 {
        key(out, field, FIXED_64);
        out.extend(value.to_le_bytes());
    }
}

/// A number of eight bytes, written even if zero.
pub(crate) fn fixed(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, FIXED_64);
    out.extend(value.to_le_bytes());
}

pub(crate) fn text(out: &mut Vec<u8>, field: u32, value: &str) {
    if !value.is_empty() {
        entry(out, field, value.as_bytes());
    }
}

/// One entry of a list of texts or messages.
pub(crate) fn entry(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    key(out, field, BYTES);
    varint(out, value.len() as u64);
    out.extend(value);
}

/// A message written by `write`.
pub(crate) fn message(out: &mut Vec<u8>, field: u32, write: impl FnOnce(&mut Vec<u8>)) {
    key(out, field, BYTES);
    let start = out.len();
    write(out);
    let length = out.len() - start;
    // Most messages are short: their length fits one byte, and is inserted before them once known.
    let mut prefix = Vec::with_capacity(5);
    varint(&mut prefix, length as u64);
    out.splice(start..start, prefix);
}

/// A list of numbers in one field.
pub(crate) fn packed(out: &mut Vec<u8>, field: u32, values: impl IntoIterator<Item = u64>) {
    let mut list = Vec::new();
    values
        .into_iter()
        .for_each(|value| varint(&mut list, value));
    if !list.is_empty() {
        entry(out, field, &list);
    }
}

/// What is in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'m> {
    Number(u64),
    Bytes(&'m [u8]),
    /// Of a type that no field here has.
    Other,
}

/// A parsed field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'m> {
    pub(crate) number: u64,
    pub(crate) value: Value<'m>,
    /// The whole field as encoded.
    pub(crate) whole: &'m [u8],
}

impl<'m> Field<'m> {
    /// Its content; empty for numbers.
    pub(crate) fn bytes(&self) -> &'m [u8] {
        match self.value {
            Value::Bytes(bytes) => bytes,
            Value::Number(_) | Value::Other => &[],
        }
    }
}

/// The fields of a message; `None`, and then nothing, if it is truncated.
pub(crate) fn fields(mut rest: &[u8]) -> impl Iterator<Item = Option<Field<'_>>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field)
    })
}

fn field<'m>(rest: &mut &'m [u8]) -> Option<Field<'m>> {
    let start = *rest;
    let key = take_varint(rest)?;
    let value = match u32::try_from(key & 7).ok()? {
        VARINT => Value::Number(take_varint(rest)?),
        BYTES => {
            let length = usize::try_from(take_varint(rest)?).ok()?;
            Value::Bytes(rest.split_off(..length)?)
        }
        FIXED_64 => rest.split_off(..8).map(|_| Value::Other)?,
        FIXED_32 => rest.split_off(..4).map(|_| Value::Other)?,
        _ => return None,
    };
    Some(Field {
        number: key >> 3,
        value,
        whole: &start[..start.len() - rest.len()],
    })
}

/// The numbers of a packed list.
pub(crate) fn varints(mut list: &[u8]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || take_varint(&mut list))
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
