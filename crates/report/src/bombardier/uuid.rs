//! UUIDs of versions 1 to 5 for templates.
//!
//! Source: RFC 4122 and DCE 1.1 (version 2). Clock, address and randomness are arguments. Invariant:
//! version and variant bits are always set.

use super::digest::{md5, sha1};

/// From 15 October 1582, where UUID time begins, to 1970, in units of 100 ns.
const UUID_EPOCH: u64 = 0x01b2_1dd2_1381_4000;

/// The input for UUIDs.
pub struct Identity<'a> {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// Address of the machine, or six random bytes with the lowest bit of the first set.
    pub node: [u8; 6],
    /// User id, for version 2.
    pub uid: u32,
    /// Group id, for version 2.
    pub gid: u32,
    /// The next random word.
    pub random: &'a mut dyn FnMut() -> u64,
}

impl Identity<'_> {
    /// Version 1: time and address.
    pub(super) fn version_1(&mut self) -> [u8; 16] {
        let time = (self.unix_ns / 100).wrapping_add(UUID_EPOCH);
        // The next UUID of the same rendering is a different one.
        self.unix_ns = self.unix_ns.wrapping_add(100);
        let mut bytes = [0; 16];
        bytes[0..4].copy_from_slice(&(time as u32).to_be_bytes());
        bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
        bytes[6..8].copy_from_slice(&((time >> 48) as u16).to_be_bytes());
        bytes[8..10].copy_from_slice(&((self.random)() as u16).to_be_bytes());
        bytes[10..16].copy_from_slice(&self.node);
        marked(bytes, 1)
    }

    /// Version 2: like version 1 with the user or group id in place of the low time.
    pub(super) fn version_2(&mut self, domain: u8) -> [u8; 16] {
        let mut bytes = self.version_1();
        let id = match domain {
            0 => self.uid,
            1 => self.gid,
            _ => 0,
        };
        bytes[0..4].copy_from_slice(&id.to_be_bytes());
        bytes[9] = domain;
        marked(bytes, 2)
    }

    /// Version 4: random.
    pub(super) fn version_4(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0..8].copy_from_slice(&(self.random)().to_be_bytes());
        bytes[8..16].copy_from_slice(&(self.random)().to_be_bytes());
        marked(bytes, 4)
    }
}

/// Version 3: MD5 of a name within a namespace.
pub(super) fn version_3(namespace: &[u8; 16], name: &str) -> [u8; 16] {
    marked(md5(&[namespace, name.as_bytes()].concat()), 3)
}

/// Version 5: SHA-1 of a name within a namespace.
pub(super) fn version_5(namespace: &[u8; 16], name: &str) -> [u8; 16] {
    let digest = sha1(&[namespace, name.as_bytes()].concat());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    marked(bytes, 5)
}

fn marked(mut bytes: [u8; 16], version: u8) -> [u8; 16] {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    /// The namespace for domain names, RFC 4122 appendix C.
    const DNS: [u8; 16] = [
        0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30,
        0xc8,
    ];

    #[test]
    fn named_uuids_have_known_values() {
        assert_eq!(
            HEXLOWER.encode(&version_3(&DNS, "www.example.com")),
            "5df418813aed351588a72f4a814cf09e"
        );
        assert_eq!(
            HEXLOWER.encode(&version_5(&DNS, "www.example.com")),
            "2ed6657de927568b95e12665a8aea6a2"
        );
    }

    #[test]
    fn versions_and_variants_are_marked() {
        let mut random = || 0xffff_ffff_ffff_ffff;
        let mut identity = Identity {
            unix_ns: 1_700_000_000_000_000_000,
            node: [1; 6],
            uid: 1000,
            gid: 100,
            random: &mut random,
        };
        let made = [
            identity.version_1(),
            identity.version_2(0),
            identity.version_4(),
            identity.version_1(),
        ];
        assert_eq!(made.map(|bytes| bytes[6] >> 4), [1, 2, 4, 1]);
        assert!(made.iter().all(|bytes| bytes[8] >> 6 == 0b10));
        assert_ne!(made[0], made[3]);
        assert_eq!(made[1][0..4], 1000_u32.to_be_bytes());
    }
}
