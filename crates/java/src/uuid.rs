//! `java.util.UUID`: its bits and its text.
//!
//! Source: the documentation of `java.util.UUID`, and RFC 9562. Must not know where bits come from. Invariant: a text
//! has 36 characters.

/// The bits with a version's marks; the variant is that of RFC 9562.
#[must_use]
pub fn marked(bits: u128, version: u8) -> u128 {
    let bits = bits & !(0xf << 76) | u128::from(version & 0xf) << 76;
    bits & !(3 << 62) | 2 << 62
}

/// `UUID.randomUUID` from two random words: version 4.
#[must_use]
pub fn random(high: u64, low: u64) -> u128 {
    marked(u128::from(high) << 64 | u128::from(low), 4)
}

/// `UUID.toString`.
#[must_use]
pub fn text(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_variant_are_marked() {
        assert_eq!(
            text(random(u64::MAX, u64::MAX)),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        assert_eq!(text(marked(0, 3)), "00000000-0000-3000-8000-000000000000");
    }
}
