//! Hash functions by name, plain and keyed.
//!
//! Must not know scripts. Invariant: reading a result changes nothing, so more data can follow.

use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

/// A hash function of `k6/crypto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Md4,
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha512Of224,
    Sha512Of256,
    Ripemd160,
}

/// A hash in progress.
pub(super) trait Running {
    /// Adds bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The hash of the bytes so far.
    fn result(&self) -> Vec<u8>;
}

struct Plain<D>(D);

impl<D: Digest + Clone> Running for Plain<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn result(&self) -> Vec<u8> {
        self.0.clone().finalize().to_vec()
    }
}

struct Keyed<M>(M);

impl<M: Mac + Clone> Running for Keyed<M> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn result(&self) -> Vec<u8> {
        self.0.clone().finalize().into_bytes().to_vec()
    }
}

fn plain<D: Digest + Clone + 'static>() -> Box<dyn Running> {
    Box::new(Plain(D::new()))
}

fn keyed<M: Mac + KeyInit + Clone + 'static>(key: &[u8]) -> Box<dyn Running> {
    let mac = <M as KeyInit>::new_from_slice(key);
    Box::new(Keyed(mac.expect("HMAC takes keys of any length")))
}

impl Hash {
    /// All functions, by their names in the module.
    pub(super) const ALL: [(&'static str, Hash); 9] = [
        ("md4", Hash::Md4),
        ("md5", Hash::Md5),
        ("sha1", Hash::Sha1),
        ("sha256", Hash::Sha256),
        ("sha384", Hash::Sha384),
        ("sha512", Hash::Sha512),
        ("sha512_224", Hash::Sha512Of224),
        ("sha512_256", Hash::Sha512Of256),
        ("ripemd160", Hash::Ripemd160),
    ];

    /// The function with a name.
    pub(super) fn named(name: &str) -> Option<Hash> {
        let found = Hash::ALL.iter().find(|(other, _)| *other == name);
        found.map(|(_, hash)| *hash)
    }

    /// The hash of bytes.
    pub(super) fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Hash::Md4 => Md4::digest(bytes).to_vec(),
            Hash::Md5 => Md5::digest(bytes).to_vec(),
            Hash::Sha1 => Sha1::digest(bytes).to_vec(),
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
            Hash::Sha384 => Sha384::digest(bytes).to_vec(),
            Hash::Sha512 => Sha512::digest(bytes).to_vec(),
            Hash::Sha512Of224 => Sha512_224::digest(bytes).to_vec(),
            Hash::Sha512Of256 => Sha512_256::digest(bytes).to_vec(),
            Hash::Ripemd160 => Ripemd160::digest(bytes).to_vec(),
        }
    }

    /// Starts a hash.
    pub(super) fn start(self) -> Box<dyn Running> {
        match self {
            Hash::Md4 => plain::<Md4>(),
            Hash::Md5 => plain::<Md5>(),
            Hash::Sha1 => plain::<Sha1>(),
            Hash::Sha256 => plain::<Sha256>(),
            Hash::Sha384 => plain::<Sha384>(),
            Hash::Sha512 => plain::<Sha512>(),
            Hash::Sha512Of224 => plain::<Sha512_224>(),
            Hash::Sha512Of256 => plain::<Sha512_256>(),
            Hash::Ripemd160 => plain::<Ripemd160>(),
        }
    }

    /// Starts a keyed hash (HMAC, RFC 2104).
    pub(super) fn start_keyed(self, key: &[u8]) -> Box<dyn Running> {
        match self {
            Hash::Md4 => keyed::<Hmac<Md4>>(key),
            Hash::Md5 => keyed::<Hmac<Md5>>(key),
            Hash::Sha1 => keyed::<Hmac<Sha1>>(key),
            Hash::Sha256 => keyed::<Hmac<Sha256>>(key),
            Hash::Sha384 => keyed::<Hmac<Sha384>>(key),
            Hash::Sha512 => keyed::<Hmac<Sha512>>(key),
            Hash::Sha512Of224 => keyed::<Hmac<Sha512_224>>(key),
            Hash::Sha512Of256 => keyed::<Hmac<Sha512_256>>(key),
            Hash::Ripemd160 => keyed::<Hmac<Ripemd160>>(key),
        }
    }
}
