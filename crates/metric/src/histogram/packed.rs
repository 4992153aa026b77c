//! The histogram's short form, for formats that carry bytes: a byte for nearly every bucket.
//!
//! Variable-length numbers of seven bits a byte, the lowest first: scale, values that are zero, then the positive buckets and
//! the negative ones, each as the number of steps and, if there are any, the first index and the steps: twice a count, or
//! twice a number of empty buckets and one. Signed numbers are zigzag. Must not check more than that the bytes are all
//! numbers: what they say is held against its bounds as in the long form.

use super::encoding::{DecodeError, Encoded, Runs, Step};

/// Seven bits per byte: this many bits hold any number used here.
const BITS_MAX: u32 = 70;

impl Encoded {
    pub(super) fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_signed(&mut bytes, self.scale.into());
        push(&mut bytes, self.zero.into());
        for runs in [&self.positive, &self.negative] {
            let Some(runs) = runs else {
                push(&mut bytes, 0);
                continue;
            };
            push(&mut bytes, runs.counts.len() as u128);
            push_signed(&mut bytes, runs.offset.into());
            for step in &runs.counts {
                match *step {
                    Step::Count(count) => push(&mut bytes, u128::from(count) << 1),
                    Step::Gap(width) => push(&mut bytes, u128::from(width.unsigned_abs()) << 1 | 1),
                }
            }
        }
        bytes
    }

    /// # Errors
    /// The bytes end too early, run too long, or hold a number out of range.
    pub(super) fn unpack(mut bytes: &[u8]) -> Result<Encoded, DecodeError> {
        let read = &mut bytes;
        let unpacked = Encoded {
            scale: take_signed(read)?,
            zero: take(read)?,
            positive: take_runs(read)?,
            negative: take_runs(read)?,
        };
        match read.is_empty() {
            true => Ok(unpacked),
            false => Err(DecodeError::Bytes),
        }
    }
}

fn take_runs(bytes: &mut &[u8]) -> Result<Option<Runs>, DecodeError> {
    let steps: usize = take(bytes)?;
    if steps == 0 {
        return Ok(None);
    }
    let offset = take_signed(bytes)?;
    // The bytes may claim more steps than they hold.
    let mut counts = Vec::with_capacity(steps.min(bytes.len()));
    for _ in 0..steps {
        let number = take_wide(bytes)?;
        let half = number >> 1;
        counts.push(match number & 1 {
            0 if half == 0 => return Err(DecodeError::Bytes),
            0 => Step::Count(narrow(half)?),
            _ => Step::Gap(narrow(half)?),
        });
    }
    Ok(Some(Runs { offset, counts }))
}

fn push(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(
        bytes,
        u128::from((number << 1 ^ number >> 63).cast_unsigned()),
    );
}

fn take_wide(bytes: &mut &[u8]) -> Result<u128, DecodeError> {
    let mut number = 0;
    for shift in (0..BITS_MAX).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(DecodeError::Bytes)?;
        *bytes = rest;
        number |= u128::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(DecodeError::Bytes)
}

fn take<N: TryFrom<u128>>(bytes: &mut &[u8]) -> Result<N, DecodeError> {
    narrow(take_wide(bytes)?)
}

fn take_signed(bytes: &mut &[u8]) -> Result<i32, DecodeError> {
    let number: u64 = take(bytes)?;
    let signed = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
    i32::try_from(signed).map_err(|_| DecodeError::Bytes)
}

fn narrow<N: TryFrom<u128>>(number: u128) -> Result<N, DecodeError> {
    N::try_from(number).map_err(|_| DecodeError::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;
    use proptest::prelude::*;

    fn packed(histogram: &Histogram) -> Vec<u8> {
        rmp_serde::to_vec_named(histogram).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Histogram, rmp_serde::decode::Error> {
        rmp_serde::from_slice(bytes)
    }

    #[test]
    fn a_bucket_takes_a_byte() {
        let mut histogram = Histogram::new();
        for value in [0, 1, 2, 2] {
            histogram.record_u64(value);
        }
        let encoded = Encoded::of(&histogram).pack();
        let gap = [0xff, 0x07];
        assert_eq!(encoded, [&[18, 1, 3, 1, 2][..], &gap, &[4, 0]].concat());
    }

    #[test]
    fn bytes_that_are_no_histogram_are_refused() {
        for bytes in [
            &[][..],
            &[18],
            &[18, 0, 0],
            &[18, 0, 0, 0, 0],
            &[16, 0, 0, 0],
            &[18, 0, 1, 0, 0, 0],
            &[18, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 2],
            &[0x80; 40],
        ] {
            let unpacked = Encoded::unpack(bytes).and_then(Encoded::decode);
            assert!(unpacked.is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn reads_back_what_it_wrote(values in prop::collection::vec((-1e9..1e9f64, 1..u64::from(u32::MAX)), 0..200), zero in any::<bool>()) {
            let mut histogram = Histogram::new();
            if zero {
                histogram.record_u64(0);
            }
            for (value, n) in values {
                histogram.record_f64_n(value, n).unwrap();
            }
            prop_assert_eq!(read(&packed(&histogram)).unwrap(), histogram);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(histogram) = Encoded::unpack(&bytes).and_then(Encoded::decode) {
                let again = Encoded::of(&histogram).pack();
                prop_assert_eq!(Encoded::unpack(&again).and_then(Encoded::decode).unwrap(), histogram);
            }
        }
    }
}
