//! MD5 and SHA-1, for the UUIDs that are defined by them; not for anything that must be secure.
//!
//! Source: RFC 1321 and RFC 3174. Must not know what is digested. Invariant: matches the RFCs' test vectors.

/// MD5 of a message.
pub(super) fn md5(message: &[u8]) -> [u8; 16] {
    const TURNS: [[u32; 4]; 4] = [
        [7, 12, 17, 22],
        [5, 9, 14, 20],
        [4, 11, 16, 23],
        [6, 10, 15, 21],
    ];
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(message, u64::to_le_bytes).chunks_exact(64) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mix, word) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            // RFC 1321: the whole part of 2^32 times the absolute sine of i + 1.
            let sine = (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a
                .wrapping_add(mix)
                .wrapping_add(sine)
                .wrapping_add(words[word]);
            let turned = b.wrapping_add(sum.rotate_left(TURNS[i / 16][i % 4]));
            (a, b, c, d) = (d, turned, b, c);
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

/// SHA-1 of a message.
pub(super) fn sha1(message: &[u8]) -> [u8; 20] {
    let mut state = [
        0x6745_2301_u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in padded(message, u64::to_be_bytes).chunks_exact(64) {
        let mut words: Vec<u32> = block
            .chunks_exact(4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        for i in 16..80 {
            words
                .push((words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (i, word) in words.iter().enumerate() {
            let (mix, constant) = match i / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc_u32),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let sum = a.rotate_left(5).wrapping_add(mix).wrapping_add(e);
            let sum = sum.wrapping_add(constant).wrapping_add(*word);
            (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// The message with a one bit, zeros, and its length in bits, in blocks of 64 bytes.
fn padded(message: &[u8], length_bytes: fn(u64) -> [u8; 8]) -> Vec<u8> {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len();
    padded[end - 8..].copy_from_slice(&length_bytes(message.len() as u64 * 8));
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    #[test]
    fn the_rfcs_test_texts() {
        assert_eq!(
            HEXLOWER.encode(&md5(b"")),
            "d41d8cd98f00b204e9800998ecf8427e"
        );
        assert_eq!(
            HEXLOWER.encode(&md5(b"message digest")),
            "f96b697d7cb7938d525a2f31aaf161d0"
        );
        assert_eq!(
            HEXLOWER.encode(&sha1(b"abc")),
            "a9993e364706816aba3e25717850c26c9cd0d89d"
        );
        let long = [b"1234567890".as_slice(); 8].concat();
        assert_eq!(
            HEXLOWER.encode(&md5(&long)),
            "57edf4a22be3c955ac49da2e2107b67a"
        );
        assert_eq!(
            HEXLOWER.encode(&sha1(&long)),
            "50abf5706a150990a08b2c5ea40fa0e585554732"
        );
    }
}
