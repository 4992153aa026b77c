//! Load profiles in a property, in the format of JMeter's plugins: `line(1,10,1m) const(10,30s)`.
//!
//! Must not know what is profiled. Invariant: an invalid part is skipped, as in JMeter.

/// The parts of a profile: each a word with its arguments in parentheses.
pub fn parts(text: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let parts = text.split(')').filter(|part| !part.trim().is_empty());
    parts.map(|part| {
        let mut words = part.split(['(', ',']);
        let name = words.next().unwrap_or_default().trim();
        (name, words.map(str::trim).collect())
    })
}

/// Seconds of a duration such as `1h30m`, `90s` or `90`; `None`: invalid.
#[must_use]
pub fn seconds(text: &str) -> Option<u64> {
    let mut sum = 0_u64;
    let mut digits = String::new();
    for found in text.trim().chars() {
        let unit = match found.to_ascii_lowercase() {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ if found.is_ascii_digit() => {
                digits.push(found);
                continue;
            }
            _ => return None,
        };
        sum = sum.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    match digits.is_empty() {
        true => Some(sum),
        false => sum.checked_add(digits.parse().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_a_word_and_its_values() {
        let read: Vec<_> = parts("spawn(1,2s, 3s) const( 10 ,1m)").collect();
        assert_eq!(
            read,
            [
                ("spawn", vec!["1", "2s", "3s"]),
                ("const", vec!["10", "1m"])
            ]
        );
        assert_eq!(parts(" ").count(), 0);
    }

    #[test]
    fn spans_are_read_with_their_units() {
        let told = ["1h30m", "90s", "90", "1d", "2m5", "", "x", "5x"].map(seconds);
        let wanted = [
            Some(5400),
            Some(90),
            Some(90),
            Some(86_400),
            Some(125),
            Some(0),
            None,
            None,
        ];
        assert_eq!(told, wanted);
    }
}
