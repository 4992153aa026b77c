//! Numbers in decimal digits.
//!
//! Must not know formats. Invariant: what is written is the shortest text that reads back the same.

use std::io::Write as _;

/// The shortest digits that read back the same, without an exponent.
pub(crate) fn push_decimal(value: f64, out: &mut Vec<u8>) {
    match millionths(value) {
        Some(millionths) => push_millionths(millionths, out),
        None => write!(out, "{value}").expect("a vector takes all bytes"),
    }
}

/// The value in millionths, where it is a whole number of them and has at most 15 digits: counts, and
/// times that were measured in nanoseconds. No two such numbers are the same `f64`, so these digits
/// are the shortest.
fn millionths(value: f64) -> Option<u64> {
    const LIMIT: f64 = 1e15;
    let scaled = (value * 1e6).round();
    let is_exact = scaled / 1e6 == value && scaled < LIMIT && value.is_sign_positive();
    is_exact.then_some(scaled as u64)
}

fn push_millionths(millionths: u64, out: &mut Vec<u8>) {
    /// Digits of the largest number, the point among them.
    const WIDTH: usize = 24;
    let (mut whole, mut fraction) = (millionths / 1_000_000, millionths % 1_000_000);
    let mut text = [0; WIDTH];
    let mut at = WIDTH;
    let mut push_left = |digit: u8| {
        at -= 1;
        text[at] = digit;
    };
    if fraction > 0 {
        let mut left = 6;
        while fraction % 10 == 0 {
            fraction /= 10;
            left -= 1;
        }
        for _ in 0..left {
            push_left(b'0' + (fraction % 10) as u8);
            fraction /= 10;
        }
        push_left(b'.');
    }
    loop {
        push_left(b'0' + (whole % 10) as u8);
        whole /= 10;
        if whole == 0 {
            break;
        }
    }
    out.extend(&text[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        push_decimal(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn the_short_way_writes_what_the_long_way_writes(
            millionths in 0..1_000_000_000_000_000_u64,
            digits in 0..7_u32,
            other in proptest::num::f64::NORMAL,
        ) {
            let value = (millionths / 10_u64.pow(digits)) as f64 / 1e6;
            prop_assert_eq!(written(value), value.to_string());
            prop_assert_eq!(written(other), other.to_string());
        }
    }
}
