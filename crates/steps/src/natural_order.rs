//! The order in which debug elements list names: numbers within names count by their value.
//!
//! Must not know whose names they are. Invariant: names that differ in the zeros before their numbers alone stand in the
//! order of texts.

use std::cmp::Ordering;

/// Which of two names comes first. A number comes before any letter.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let (Some(first), Some(second)) = (left.chars().next(), right.chars().next()) else {
            let by_length = left.len().cmp(&right.len());
            return by_length.then_with(|| one.cmp(other));
        };
        let order = match (first.is_ascii_digit(), second.is_ascii_digit()) {
            (true, true) => {
                let (number, rest) = split_number(left);
                let (other_number, other_rest) = split_number(right);
                (left, right) = (rest, other_rest);
                by_value(number, other_number)
            }
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => {
                left = &left[first.len_utf8()..];
                right = &right[second.len_utf8()..];
                first.cmp(&second)
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The digits that a text begins with, and what is behind them.
fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

fn by_value(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_their_value() {
        let mut names = [
            "b",
            "a10",
            "a2",
            "a",
            "a-1",
            "a1b10",
            "a01b2",
            "ab",
            "10",
            "02",
            "1",
            "B",
            "a1 z",
            "a100000000000000000000",
            "a99999999999999999999",
        ];
        names.sort_by(|one, other| compare(one, other));
        assert_eq!(
            names,
            [
                "1",
                "02",
                "10",
                "B",
                "a",
                "a1 z",
                "a01b2",
                "a1b10",
                "a2",
                "a10",
                "a99999999999999999999",
                "a100000000000000000000",
                "a-1",
                "ab",
                "b",
            ]
        );
    }
}
