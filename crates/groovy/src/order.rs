//! Comparison of values: truth, equality, order, hash codes, and the iteration order of maps.
//!
//! Must not know methods. Invariant: equal keys have the same hash code.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use num_traits::ToPrimitive as _;

use super::decimal::wrapped;
use super::map::{Key, Map, MapKind};
use super::number;
use super::thrown::Thrown;
use super::value::{Nesting, Value};

/// Whether a value is true in Groovy.
#[must_use]
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Null | Value::Void => false,
        Value::Truth(truth) => *truth,
        Value::Char(one) => *one != '\0',
        Value::Text(text) => !text.is_empty(),
        Value::Composed(_) => !plain_text(value).is_empty(),
        Value::List(list) => !list.items.borrow().is_empty(),
        Value::Map(map) | Value::Set(map) => !map.is_empty(),
        Value::Range(range) => !range.is_empty(),
        Value::Object(object) => object.truth(),
        number if number.is_number() => number::double_of(number) != Some(0.0),
        _ => true,
    }
}

/// A text, with embedded values expanded; other values as printed.
#[must_use]
pub fn plain_text(value: &Value) -> String {
    super::print::text(value)
}

/// The entries of a map in its iteration order.
#[must_use]
pub fn entries(map: &Map) -> Vec<(Value, Value)> {
    let entries = map.entries.borrow();
    let copied = |(key, value): (&Key, &Value)| (key.value.clone(), value.clone());
    match map.kind {
        MapKind::Linked | MapKind::Constant | MapKind::Lazy => entries.iter().map(copied).collect(),
        MapKind::Hash | MapKind::Concurrent | MapKind::Properties => {
            let count = u32::try_from(entries.len()).unwrap_or(u32::MAX / 4);
            let slots = (count * 4).div_ceil(3).next_power_of_two().max(16);
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(key, _)| {
                let hash = key.hash.cast_unsigned();
                (hash ^ hash >> 16) & (slots - 1)
            });
            sorted.into_iter().map(copied).collect()
        }
        MapKind::Tree if map.by.get().is_some() => entries.iter().map(copied).collect(),
        MapKind::Tree => {
            let mut sorted: Vec<_> = entries.iter().map(copied).collect();
            sorted.sort_by(|(one, _), (other, _)| compare(one, other).unwrap_or(Ordering::Equal));
            sorted
        }
    }
}

/// The keys of a map in its iteration order.
#[must_use]
pub fn keys(map: &Map) -> Vec<Value> {
    entries(map).into_iter().map(|(key, _)| key).collect()
}

impl Key {
    /// The key for a value.
    #[must_use]
    pub fn of(value: &Value) -> Key {
        Key {
            hash: hash(value),
            value: value.clone(),
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_i32(self.hash);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.hash == other.hash && java_equals(&self.value, &other.value)
    }
}

impl Eq for Key {}

/// The hash code of a text.
#[must_use]
pub fn hash_of_text(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

fn low_and_high(bits: u64) -> i32 {
    let mixed = bits ^ bits >> 32;
    (mixed & 0xffff_ffff) as u32 as i32
}

/// A value's hash code.
#[must_use]
pub fn hash(value: &Value) -> i32 {
    let Some(_nesting) = Nesting::enter() else {
        return 0;
    };
    match value {
        Value::Truth(true) => 1231,
        Value::Truth(false) => 1237,
        Value::Char(one) => u32::from(*one).cast_signed(),
        Value::Byte(number) => i32::from(*number),
        Value::Int(number) => *number,
        Value::Long(number) => low_and_high(number.cast_unsigned()),
        Value::Float(number) => number.to_bits().cast_signed(),
        Value::Double(number) => low_and_high(number.to_bits()),
        Value::Whole(number) => low_and_high(wrapped(number).cast_unsigned()),
        Value::Decimal(number) => {
            let digits = number
                .digits
                .to_i64()
                .unwrap_or_else(|| wrapped(&number.digits));
            low_and_high(digits.cast_unsigned())
                .wrapping_mul(31)
                .wrapping_add(number.scale)
        }
        Value::Text(text) => hash_of_text(text),
        Value::Composed(_) => hash_of_text(&plain_text(value)).wrapping_add(37),
        Value::List(list) => list_hash(list.items.borrow().iter().map(hash)),
        Value::Range(range) => list_hash(range.values().take(10_000).map(|one| hash(&one))),
        Value::Set(set) => {
            let entries = set.entries.borrow();
            entries
                .keys()
                .fold(0_i32, |sum, key| sum.wrapping_add(key.hash))
        }
        Value::Map(map) => {
            let entries = map.entries.borrow();
            entries.iter().fold(0_i32, |sum, (key, value)| {
                sum.wrapping_add(key.hash ^ hash(value))
            })
        }
        Value::Class(name) => hash_of_text(name),
        Value::Object(object) => object.hash(),
        _ => 0,
    }
}

fn list_hash(hashes: impl Iterator<Item = i32>) -> i32 {
    hashes.fold(1_i32, |hash, one| hash.wrapping_mul(31).wrapping_add(one))
}

/// Whether values are equal according to Java's `equals`.
#[must_use]
pub fn java_equals(one: &Value, other: &Value) -> bool {
    let Some(_nesting) = Nesting::enter() else {
        return false;
    };
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::Long(one), Value::Long(other)) => one == other,
        (Value::Byte(one), Value::Byte(other)) => one == other,
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::Whole(one), Value::Whole(other)) => one == other,
        (Value::Decimal(one), Value::Decimal(other)) => {
            one.scale == other.scale && one.digits == other.digits
        }
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Composed(_), Value::Composed(_)) => plain_text(one) == plain_text(other),
        (Value::List(one), Value::List(other)) if one.is_array() || other.is_array() => {
            std::rc::Rc::ptr_eq(one, other)
        }
        (Value::List(_) | Value::Range(_), Value::List(_) | Value::Range(_)) => {
            let (one, other) = (items(one), items(other));
            one.len() == other.len()
                && one
                    .iter()
                    .zip(&other)
                    .all(|(one, other)| java_equals(one, other))
        }
        (Value::Set(one), Value::Set(other)) => {
            let entries = other.entries.borrow();
            one.len() == entries.len()
                && one
                    .entries
                    .borrow()
                    .keys()
                    .all(|key| entries.contains_key(key))
        }
        (Value::Map(one), Value::Map(other)) => {
            let others = other.entries.borrow();
            let entries = one.entries.borrow();
            entries.len() == others.len()
                && entries.iter().all(|(key, value)| {
                    others
                        .get(key)
                        .is_some_and(|other| java_equals(value, other))
                })
        }
        (Value::Object(one), Value::Object(other)) => one.equals(&**other),
        (Value::Exception(one), Value::Exception(other)) => std::rc::Rc::ptr_eq(one, other),
        (Value::Closure(one), Value::Closure(other)) => std::rc::Rc::ptr_eq(one, other),
        (Value::Class(one), Value::Class(other)) => one == other,
        (Value::Truth(one), Value::Truth(other)) => one == other,
        (Value::Char(one), Value::Char(other)) => one == other,
        (Value::Null | Value::Void, Value::Null | Value::Void) => true,
        _ => false,
    }
}

/// The values of a list or range.
#[must_use]
pub fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::List(list) => list.copied(),
        Value::Range(range) => range.values().take(10_000_000).collect(),
        Value::Set(set) => keys(set),
        _ => Vec::new(),
    }
}

/// The character in a value that can be used as one: a character, or a text of one character.
fn character(value: &Value) -> Option<char> {
    match value {
        Value::Char(one) => Some(*one),
        Value::Text(text) => {
            let mut characters = text.chars();
            characters.next().filter(|_| characters.next().is_none())
        }
        _ => None,
    }
}

/// Whether values are equal according to Groovy's `==`.
#[must_use]
pub fn equals(one: &Value, other: &Value) -> bool {
    let Some(_nesting) = Nesting::enter() else {
        return false;
    };
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Null | Value::Void, Value::Null | Value::Void) => true,
        (Value::Null | Value::Void, _) | (_, Value::Null | Value::Void) => false,
        (Value::Text(_) | Value::Composed(_), Value::Text(_) | Value::Composed(_)) => {
            plain_text(one) == plain_text(other)
        }
        (one, other) if one.is_number() && other.is_number() => {
            number::compare(one, other) == Some(Ordering::Equal)
        }
        (one, other) if one.is_number() || other.is_number() => {
            let (number, other) = if one.is_number() {
                (one, other)
            } else {
                (other, one)
            };
            let code = character(other).map(|one| Value::Int(u32::from(one).cast_signed()));
            code.is_some_and(|code| number::compare(number, &code) == Some(Ordering::Equal))
        }
        (Value::Char(_), _) | (_, Value::Char(_)) => {
            character(one).is_some() && character(one) == character(other)
        }
        (Value::List(_) | Value::Range(_), Value::List(_) | Value::Range(_)) => {
            let (one, other) = (items(one), items(other));
            one.len() == other.len()
                && one
                    .iter()
                    .zip(&other)
                    .all(|(one, other)| equals(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            let others = other.entries.borrow();
            let entries = one.entries.borrow();
            entries.len() == others.len()
                && entries
                    .iter()
                    .all(|(key, value)| others.get(key).is_some_and(|other| equals(value, other)))
        }
        (Value::Set(one), Value::Set(other)) => {
            let (one, other) = (keys(one), keys(other));
            one.len() == other.len()
                && one
                    .iter()
                    .all(|one| other.iter().any(|other| equals(one, other)))
        }
        (Value::Object(one), Value::Object(other)) => match one.compare(&**other) {
            Some(order) => order == Ordering::Equal,
            None => one.equals(&**other),
        },
        (Value::Object(one), Value::Text(_) | Value::Composed(_)) if one.is_like_text() => {
            one.text() == plain_text(other)
        }
        _ => java_equals(one, other),
    }
}

/// The order of two values.
///
/// # Errors
/// They cannot be compared.
pub fn compare(one: &Value, other: &Value) -> Result<Ordering, Thrown> {
    match (one, other) {
        (Value::Null | Value::Void, Value::Null | Value::Void) => Ok(Ordering::Equal),
        (Value::Null | Value::Void, _) => Ok(Ordering::Less),
        (_, Value::Null | Value::Void) => Ok(Ordering::Greater),
        (Value::Text(one), Value::Text(other)) => Ok(compare_texts(one, other)),
        (
            Value::Text(_) | Value::Composed(_) | Value::Char(_),
            Value::Text(_) | Value::Composed(_) | Value::Char(_),
        ) => Ok(compare_texts(&plain_text(one), &plain_text(other))),
        (Value::Truth(one), Value::Truth(other)) => Ok(one.cmp(other)),
        (one, other) if one.is_number() && other.is_number() => {
            Ok(number::compare(one, other).unwrap_or(Ordering::Greater))
        }
        (number, text) if number.is_number() && character(text).is_some() => {
            let code = character(text).map_or(0, |one| u32::from(one).cast_signed());
            compare(number, &Value::Int(code))
        }
        (text, number) if number.is_number() && character(text).is_some() => {
            let code = character(text).map_or(0, |one| u32::from(one).cast_signed());
            compare(&Value::Int(code), number)
        }
        (Value::Object(left), Value::Object(right)) => left
            .compare(&**right)
            .ok_or_else(|| incomparable(one, other)),
        _ if equals(one, other) => Ok(Ordering::Equal),
        _ => Err(incomparable(one, other)),
    }
}

/// The order of two texts: by their UTF-16 units.
#[must_use]
pub fn compare_texts(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

fn incomparable(one: &Value, other: &Value) -> Thrown {
    Thrown::argument(format!(
        "Cannot compare {} with value '{}' and {} with value '{}'",
        super::print::class_name(one),
        plain_text(one),
        super::print::class_name(other),
        plain_text(other)
    ))
}

/// The result of `compareTo` for texts.
#[must_use]
pub fn difference(one: &str, other: &str) -> i32 {
    let (mut ones, mut others) = (one.encode_utf16(), other.encode_utf16());
    loop {
        match (ones.next(), others.next()) {
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => return i32::from(one) - i32::from(other),
            _ => break,
        }
    }
    let length = |text: &str| i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX);
    length(one) - length(other)
}
