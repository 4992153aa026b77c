//! Randomness: `Random`, `ThreadLocalRandom`, `SecureRandom`, `UUID`, and `RandomStringUtils`.
//!
//! Must not know the source of randomness. Invariant: a seed yields Java's sequence.

use std::cell::RefCell;

use loadline_java::random::JavaRandom;
use loadline_java::uuid;

use super::super::number;
use super::super::order;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{double_of, int_of, long_of, text_of};

/// A sequence of random numbers.
struct Random(RefCell<JavaRandom>);

/// A random UUID.
struct Uuid(u128);

fn seeded(machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    let seed = match given.first() {
        Some(seed) => number::long_of(seed).unwrap_or(0),
        None => machine.host().random().cast_signed(),
    };
    Ok(Value::object(Random(RefCell::new(JavaRandom::new(seed)))))
}

fn drawn<T>(this: &Value, draw: impl FnOnce(&mut JavaRandom) -> T) -> Outcome<T> {
    match this.of::<Random>() {
        Some(random) => Ok(draw(&mut random.0.borrow_mut())),
        None => Err(Thrown::bare("java.lang.NullPointerException")),
    }
}

/// A number from `from` (inclusive) to `to` (exclusive).
fn between(this: &Value, from: i64, to: i64) -> Outcome<i64> {
    let span = to.checked_sub(from).filter(|span| *span > 0);
    let span = span.ok_or_else(|| Thrown::argument("bound must be greater than origin"))?;
    let bits = drawn(this, JavaRandom::next_long)?.cast_unsigned();
    let product = u128::from(bits) * u128::from(span.unsigned_abs());
    Ok(from + i64::try_from(product >> 64).unwrap_or(0))
}

fn below(this: &Value, bound: i32) -> Outcome {
    if bound < 1 {
        return Err(Thrown::argument("bound must be positive"));
    }
    Ok(Value::Int(drawn(this, |random| {
        random.next_int_below(bound)
    })?))
}

pub(super) static RANDOM: Table = Table::new(&[
    row("nextInt", 0, 0, |_, this, _| {
        Ok(Value::Int(drawn(this, JavaRandom::next_int)?))
    }),
    row("nextInt", 1, 1, |_, this, given| {
        below(this, int_of(given, 0)?)
    }),
    row("nextInt", 2, 2, |_, this, given| {
        let (from, to) = (int_of(given, 0)?, int_of(given, 1)?);
        if from >= to {
            return Err(Thrown::argument("bound must be greater than origin"));
        }
        Ok(Value::Int(drawn(this, |random| {
            random.next_int_between(from, to)
        })?))
    }),
    row("nextLong", 0, 0, |_, this, _| {
        Ok(Value::Long(drawn(this, JavaRandom::next_long)?))
    }),
    row("nextLong", 1, 1, |_, this, given| {
        Ok(Value::Long(between(this, 0, long_of(given, 0)?)?))
    }),
    row("nextLong", 2, 2, |_, this, given| {
        Ok(Value::Long(between(
            this,
            long_of(given, 0)?,
            long_of(given, 1)?,
        )?))
    }),
    row("nextDouble", 0, 0, |_, this, _| {
        Ok(Value::Double(drawn(this, JavaRandom::next_double)?))
    }),
    row("nextDouble", 1, 2, |_, this, given| {
        let (from, to) = match given.len() {
            1 => (0.0, double_of(given, 0)?),
            _ => (double_of(given, 0)?, double_of(given, 1)?),
        };
        Ok(Value::Double(
            from + drawn(this, JavaRandom::next_double)? * (to - from),
        ))
    }),
    row("nextFloat", 0, 0, |_, this, _| {
        Ok(Value::Float(drawn(this, JavaRandom::next_float)?))
    }),
    row("nextBoolean", 0, 0, |_, this, _| {
        Ok(Value::Truth(drawn(this, JavaRandom::next_boolean)?))
    }),
    row("nextGaussian", 0, 0, |_, this, _| {
        Ok(Value::Double(drawn(this, JavaRandom::next_gaussian)?))
    }),
    row("nextBytes", 1, 1, |_, this, given| {
        if let Value::List(list) = &given[0] {
            let mut items = list.items.borrow_mut();
            let mut bytes = vec![0; items.len()];
            drawn(this, |random| random.next_bytes(&mut bytes))?;
            for (item, byte) in items.iter_mut().zip(bytes) {
                *item = Value::Byte(byte.cast_signed());
            }
        }
        Ok(Value::Null)
    }),
    row("setSeed", 1, 1, |_, this, given| {
        let seed = long_of(given, 0)?;
        drawn(this, |random| *random = JavaRandom::new(seed))?;
        Ok(Value::Null)
    }),
    row("ints", 3, 3, |_, this, given| {
        let count = long_of(given, 0)?.clamp(0, 1_000_000);
        let mut found = Vec::new();
        for _ in 0..count {
            let one = between(this, long_of(given, 1)?, long_of(given, 2)?)?;
            found.push(Value::Int(i32::try_from(one).unwrap_or(0)));
        }
        Ok(Value::list(found))
    }),
]);

impl Object for Random {
    fn class(&self) -> &'static str {
        "java.util.Random"
    }

    fn methods(&self) -> &'static Table {
        &RANDOM
    }
}

pub(super) static UUID: Table = Table::new(&[
    row("getMostSignificantBits", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Uuid>()
                .map_or(0, |one| (one.0 >> 64) as u64)
                .cast_signed(),
        ))
    }),
    row("getLeastSignificantBits", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Uuid>()
                .map_or(0, |one| one.0 as u64)
                .cast_signed(),
        ))
    }),
    row("version", 0, 0, |_, this, _| {
        Ok(Value::Int(
            this.of::<Uuid>().map_or(0, |one| (one.0 >> 76 & 15) as i32),
        ))
    }),
]);

impl Object for Uuid {
    fn class(&self) -> &'static str {
        "java.util.UUID"
    }

    fn methods(&self) -> &'static Table {
        &UUID
    }

    fn text(&self) -> String {
        uuid::text(self.0)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .any()
            .downcast_ref::<Uuid>()
            .is_some_and(|other| other.0 == self.0)
    }
}

static UUID_STATICS: Table = Table::new(&[
    row("randomUUID", 0, 0, |machine, _, _| {
        let (high, low) = (machine.host().random(), machine.host().random());
        Ok(Value::object(Uuid(uuid::random(high, low))))
    }),
    row("fromString", 1, 1, |_, _, given| {
        let text = text_of(given, 0);
        let bits = uuid_bits(&text)
            .ok_or_else(|| Thrown::argument(format!("Invalid UUID string: {text}")))?;
        Ok(Value::object(Uuid(bits)))
    }),
    row("nameUUIDFromBytes", 1, 1, |_, _, given| {
        let digest = super::digests::digest("MD5", &super::bytes_of(given, 0)?)?;
        let bits = digest
            .iter()
            .fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        Ok(Value::object(Uuid(uuid::marked(bits, 3))))
    }),
    row("new", 2, 2, |_, _, given| {
        let (high, low) = (
            long_of(given, 0)?.cast_unsigned(),
            long_of(given, 1)?.cast_unsigned(),
        );
        Ok(Value::object(Uuid(
            u128::from(high) << 64 | u128::from(low),
        )))
    }),
]);

static RANDOM_STATICS: Table =
    Table::new(&[row("new", 0, 1, |machine, _, given| seeded(machine, given))]);
static THREAD_RANDOM: Table =
    Table::new(&[row("current", 0, 0, |machine, _, _| seeded(machine, &[]))]);

/// The bits of a UUID as written: five hexadecimal numbers, of which the lowest digits of each place count.
fn uuid_bits(text: &str) -> Option<u128> {
    let parts: Vec<&str> = text.split('-').collect();
    if parts.len() != 5 {
        return None;
    }
    let digits = [8_u32, 4, 4, 4, 12];
    parts
        .iter()
        .zip(digits)
        .try_fold(0, |bits: u128, (part, digits)| {
            let number = u128::from(u64::from_str_radix(part, 16).ok()?);
            let width = digits * 4;
            Some(bits << width | number & ((1 << width) - 1))
        })
}

/// A given length, or one from the first up to, but without, the second.
fn random_length(machine: &mut dyn Machine, given: &[Value]) -> Outcome<i32> {
    let from = int_of(given, 0)?;
    let Some(to) = given.get(1).and_then(number::int_of) else {
        return Ok(from);
    };
    let width = u32::try_from(i64::from(to) - i64::from(from))
        .ok()
        .filter(|_| from >= 0);
    let width = width
        .ok_or_else(|| Thrown::argument("Start value must be smaller or equal to end value."))?;
    let drawn = (u128::from(machine.host().random()) * u128::from(width)) >> 64;
    Ok(from.saturating_add(drawn as i32))
}

fn random_text(machine: &mut dyn Machine, count: i32, from: &str) -> Outcome {
    let count = usize::try_from(count).map_err(|_| {
        Thrown::argument(format!(
            "Requested random string length {count} is less than 0."
        ))
    })?;
    machine.take(count)?;
    let from: Vec<char> = from.chars().collect();
    let mut text = String::new();
    for _ in 0..count {
        let drawn = (u128::from(machine.host().random()) * from.len() as u128) >> 64;
        text.push(from.get(drawn as usize).copied().unwrap_or(' '));
    }
    Ok(Value::text(text))
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";

static STRINGS: Table = Table::new(&[
    row("randomAlphanumeric", 1, 2, |machine, _, given| {
        let length = random_length(machine, given)?;
        random_text(machine, length, &format!("{LETTERS}{DIGITS}"))
    }),
    row("randomAlphabetic", 1, 2, |machine, _, given| {
        let length = random_length(machine, given)?;
        random_text(machine, length, LETTERS)
    }),
    row("randomNumeric", 1, 2, |machine, _, given| {
        let length = random_length(machine, given)?;
        random_text(machine, length, DIGITS)
    }),
    row("randomAscii", 1, 1, |machine, _, given| {
        let printable: String = (' '..='~').collect();
        random_text(machine, int_of(given, 0)?, &printable)
    }),
    row("random", 2, 2, |machine, _, given| {
        random_text(machine, int_of(given, 0)?, &text_of(given, 1))
    }),
    row("random", 3, 3, |machine, _, given| {
        let letters = if order::truth(&given[1]) { LETTERS } else { "" };
        let digits = if order::truth(&given[2]) { DIGITS } else { "" };
        random_text(machine, int_of(given, 0)?, &format!("{letters}{digits}"))
    }),
]);

static RANDOM_UTILS: Table = Table::new(&[
    row("nextInt", 2, 2, |machine, _, given| {
        let random = seeded(machine, &[])?;
        machine.invoke(&random, "nextInt", given)
    }),
    row("nextLong", 2, 2, |machine, _, given| {
        let random = seeded(machine, &[])?;
        machine.invoke(&random, "nextLong", given)
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.Random",
        statics: &RANDOM_STATICS,
    },
    Class {
        name: "java.security.SecureRandom",
        statics: &RANDOM_STATICS,
    },
    Class {
        name: "java.util.concurrent.ThreadLocalRandom",
        statics: &THREAD_RANDOM,
    },
    Class {
        name: "java.util.UUID",
        statics: &UUID_STATICS,
    },
    Class {
        name: "org.apache.commons.lang3.RandomStringUtils",
        statics: &STRINGS,
    },
    Class {
        name: "org.apache.commons.lang.RandomStringUtils",
        statics: &STRINGS,
    },
    Class {
        name: "org.apache.commons.lang3.RandomUtils",
        statics: &RANDOM_UTILS,
    },
];
