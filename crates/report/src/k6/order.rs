//! The order of names in k6's summary: that of the Unicode collation, not of bytes.
//!
//! Measured on k6 v2.2.0 for every printable ASCII character. Must not know what is named.
//! Invariant: a total order; equal only for equal texts. Beyond ASCII it is exact for the letters
//! of Latin-1 and follows code points for the rest.

use std::cmp::Ordering;

/// Printable ASCII that is neither digit nor letter, lowest first (Unicode TR 10, default table).
const MARKS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Compares names; what has tags in braces follows its metric, before every longer name.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let end = |name: &str| name.find('{').unwrap_or(name.len());
    let (a, a_tags) = a.split_at(end(a));
    let (b, b_tags) = b.split_at(end(b));
    compare_text(a, b).then_with(|| compare_text(a_tags, b_tags))
}

fn compare_text(a: &str, b: &str) -> Ordering {
    let by = |weight: fn(char) -> u32| a.chars().map(weight).cmp(b.chars().map(weight));
    by(primary)
        .then_with(|| by(accent))
        .then_with(|| by(case))
        .then_with(|| a.cmp(b))
}

fn primary(c: char) -> u32 {
    const SYMBOLS: u32 = 0x100;
    const DIGITS: u32 = 0x0020_0000;
    const LETTERS: u32 = 0x0020_0100;
    if let Some(place) = MARKS.find(c) {
        return place as u32;
    }
    let letter = base(c);
    match letter {
        '0'..='9' => DIGITS + u32::from(letter),
        'a'..='z' => LETTERS + u32::from(letter),
        other if other.is_alphanumeric() => LETTERS + u32::from(other),
        other => SYMBOLS + u32::from(other),
    }
}

fn accent(c: char) -> u32 {
    let small = c.to_lowercase().next().unwrap_or(c);
    if base(c) == small {
        0
    } else {
        u32::from(small)
    }
}

fn case(c: char) -> u32 {
    u32::from(c.is_uppercase())
}

/// The small letter without its accent.
fn base(c: char) -> char {
    let small = c.to_lowercase().next().unwrap_or(c);
    match small {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_in_the_measured_order() {
        let measured = [
            "_under",
            "a",
            "a{b:1}",
            "a_b",
            "a1",
            "a10",
            "a2",
            "aB",
            "alpha",
            "alpha{b:2}",
            "alpha{x:1}",
            "alphabet",
            "Beta",
            "tt{x:/a}",
            "tt{x:🎉}",
            "tt{x:10}",
            "tt{x:9}",
            "tt{x:a b}",
            "tt{x:a-b}",
            "tt{x:ab}",
            "tt{x:b}",
            "tt{x:B}",
            "tt{x:e}",
            "tt{x:é}",
            "tt{x:f}",
            "tt{x:日本語}",
            "tt{z:{a}}",
            "tt{z:$a}",
            "Zeta",
        ];
        let mut sorted = measured;
        sorted.reverse();
        sorted.sort_by(|a, b| compare(a, b));
        assert_eq!(sorted, measured);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in ".{0,4}", b in ".{0,4}", c in ".{0,4}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &b).is_eq(), a == b);
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
