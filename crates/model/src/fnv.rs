//! A hash that is the same on every machine and in every version.
//!
//! Must not know what is hashed. Source: FNV-1a with 64 bits (G. Fowler, L. C. Noll, K.-P. Vo;
//! <http://www.isthe.com/chongo/tech/comp/fnv/>). Invariant: hashes stored in files stay valid. It does not
//! protect against deliberate collisions.

/// The hash of bytes.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
