//! Random identifiers: version 4, variant 1 (RFC 9562 section 5.4).
//!
//! Must not know the source of randomness. Invariant: a text has 36 characters.

/// Adds the identifier of two random words to a text.
pub fn push(out: &mut Vec<u8>, high: u64, low: u64) {
    let bits = (u128::from(high) << 64) | u128::from(low);
    let bits = (bits & !(0xf << 76)) | (0x4 << 76);
    let bits = (bits & !(0x3 << 62)) | (0x2 << 62);
    for position in 0..32_u32 {
        if matches!(position, 8 | 12 | 16 | 20) {
            out.push(b'-');
        }
        let digit = (bits >> (4 * (31 - position))) as usize & 0xf;
        out.push(b"0123456789abcdef"[digit]);
    }
}

/// The identifier of two random words.
#[must_use]
pub fn text(high: u64, low: u64) -> String {
    let mut text = Vec::with_capacity(36);
    push(&mut text, high, low);
    String::from_utf8(text).expect("digits and dashes are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_variant_are_marked() {
        assert_eq!(
            text(u64::MAX, u64::MAX),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        assert_eq!(text(0, 0), "00000000-0000-4000-8000-000000000000");
    }
}
