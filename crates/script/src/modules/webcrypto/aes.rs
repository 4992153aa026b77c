//! AES in the modes of the standard: CBC, CTR and GCM.
//!
//! Must not know scripts' algorithm objects. Invariant: GCM never returns a text that was tampered with.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, KeyIvInit, StreamCipher, consts::U16,
};
use aes::{Aes128, Aes192, Aes256};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result};

use super::{Data, buffer, fail};

/// Bytes of a block.
const BLOCK: usize = 16;

type Block = [u8; BLOCK];

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("aesCbc", Function::new(ctx.clone(), cbc)?)?;
    natives.set("aesCtr", Function::new(ctx.clone(), ctr)?)?;
    natives.set("aesGcmEncrypt", Function::new(ctx.clone(), gcm_encrypt)?)?;
    natives.set("aesGcmDecrypt", Function::new(ctx.clone(), gcm_decrypt)?)
}

/// Evaluates an expression with a type name for the cipher of this key length; `None` for other lengths.
macro_rules! with_cipher {
    ($key:expr, $name:ident => $body:expr) => {
        match $key.len() {
            16 => {
                type $name = Aes128;
                Some($body)
            }
            24 => {
                type $name = Aes192;
                Some($body)
            }
            32 => {
                type $name = Aes256;
                Some($body)
            }
            _ => None,
        }
    };
}

fn bad_key(ctx: &Ctx<'_>) -> rquickjs::Error {
    fail(ctx, "OperationError", "invalid key length")
}

fn block_of(ctx: &Ctx<'_>, bytes: &[u8], what: &str) -> Result<Block> {
    let why = || {
        fail(
            ctx,
            "OperationError",
            &format!("{what} length is not 16 bytes"),
        )
    };
    bytes.try_into().map_err(|_| why())
}

/// CBC with PKCS #7 padding (NIST SP 800-38A, section 6.2).
fn cbc<'js>(
    ctx: Ctx<'js>,
    encrypts: bool,
    key: Data,
    iv: Data,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let iv = block_of(&ctx, &iv.0, "iv")?;
    let result = with_cipher!(key.0, C => {
        if encrypts {
            cbc_encrypt::<C>(&key.0, &iv, &data.0)
        } else {
            cbc_decrypt::<C>(&key.0, &iv, &data.0)
        }
    });
    match result {
        Some(Some(bytes)) => buffer(&ctx, bytes),
        Some(None) => Err(fail(&ctx, "OperationError", "invalid padding")),
        None => Err(bad_key(&ctx)),
    }
}

fn cbc_encrypt<C>(key: &[u8], iv: &Block, data: &[u8]) -> Option<Vec<u8>>
where
    C: BlockCipherEncrypt<BlockSize = U16> + KeyInit,
    cbc::Encryptor<C>: KeyIvInit + BlockModeEncrypt,
{
    let mode = cbc::Encryptor::<C>::new_from_slices(key, iv).ok()?;
    let mut room = data.to_vec();
    room.resize(data.len() + BLOCK, 0);
    Some(
        mode.encrypt_padded::<Pkcs7>(&mut room, data.len())
            .ok()?
            .to_vec(),
    )
}

fn cbc_decrypt<C>(key: &[u8], iv: &Block, data: &[u8]) -> Option<Vec<u8>>
where
    C: BlockCipherDecrypt<BlockSize = U16> + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let mode = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    let mut room = data.to_vec();
    Some(mode.decrypt_padded::<Pkcs7>(&mut room).ok()?.to_vec())
}

/// CTR (NIST SP 800-38A, section 6.5); as in k6 the whole block is the counter.
fn ctr<'js>(ctx: Ctx<'js>, key: Data, counter: Data, data: Data) -> Result<ArrayBuffer<'js>> {
    let counter = block_of(&ctx, &counter.0, "counter")?;
    let mut bytes = data.0;
    let done = with_cipher!(key.0, C => {
        ctr::Ctr128BE::<C>::new_from_slices(&key.0, &counter)
            .map(|mut stream| stream.apply_keystream(&mut bytes))
    });
    match done {
        Some(Ok(())) => buffer(&ctx, bytes),
        _ => Err(bad_key(&ctx)),
    }
}

fn gcm_encrypt<'js>(
    ctx: Ctx<'js>,
    key: Data,
    iv: Data,
    additional: Data,
    tag_bytes: usize,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let mut bytes = data.0;
    let tag = with_cipher!(key.0, C => {
        let mut gcm = Gcm::<C>::new(cipher::<C>(&key.0), &iv.0);
        gcm.stream.apply_keystream(&mut bytes);
        gcm.tag(&additional.0, &bytes)
    });
    let tag = tag.ok_or_else(|| bad_key(&ctx))?;
    bytes.extend_from_slice(&tag[..tag_bytes.min(BLOCK)]);
    buffer(&ctx, bytes)
}

fn gcm_decrypt<'js>(
    ctx: Ctx<'js>,
    key: Data,
    iv: Data,
    additional: Data,
    tag_bytes: usize,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let mut bytes = data.0;
    let Some(length) = bytes.len().checked_sub(tag_bytes) else {
        return Err(fail(&ctx, "OperationError", "ciphertext is too short"));
    };
    let sent = bytes.split_off(length);
    let is_genuine = with_cipher!(key.0, C => {
        let mut gcm = Gcm::<C>::new(cipher::<C>(&key.0), &iv.0);
        let is_genuine = gcm.tag(&additional.0, &bytes).starts_with(&sent);
        gcm.stream.apply_keystream(&mut bytes);
        is_genuine
    });
    match is_genuine {
        Some(true) => buffer(&ctx, bytes),
        Some(false) => Err(fail(&ctx, "OperationError", "could not decrypt ciphertext")),
        None => Err(bad_key(&ctx)),
    }
}

fn cipher<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(key).expect("the cipher was chosen by the key's length")
}

/// Galois/counter mode (NIST SP 800-38D, section 7): the stream is positioned after the block that encrypts the
/// tag.
struct Gcm<C: BlockCipherEncrypt<BlockSize = U16>> {
    stream: ctr::Ctr32BE<C>,
    hash: GHash,
    cover: Block,
}

impl<C: BlockCipherEncrypt<BlockSize = U16>> Gcm<C> {
    fn new(cipher: C, iv: &[u8]) -> Gcm<C> {
        let mut zero = Array::default();
        cipher.encrypt_block(&mut zero);
        let key: Block = zero.into();
        let hash = GHash::new(&key.into());
        let start = first_counter(&hash, iv);
        let core = ctr::CtrCore::inner_iv_init(cipher, &start.into());
        let mut stream = ctr::Ctr32BE::<C>::from_core(core);
        let mut cover = [0; BLOCK];
        stream.apply_keystream(&mut cover);
        Gcm {
            stream,
            hash,
            cover,
        }
    }

    fn tag(&self, additional: &[u8], sealed: &[u8]) -> Block {
        let mut hash = self.hash.clone();
        hash.update_padded(additional);
        hash.update_padded(sealed);
        hash.update(&[lengths(additional, sealed).into()]);
        let mut tag: Block = hash.finalize().into();
        tag.iter_mut()
            .zip(self.cover)
            .for_each(|(byte, cover)| *byte ^= cover);
        tag
    }
}

/// The lengths of two texts in bits, in one block.
fn lengths(first: &[u8], second: &[u8]) -> Block {
    let bits = |text: &[u8]| text.len() as u128 * 8;
    (bits(first) << 64 | bits(second)).to_be_bytes()
}

/// The counter before the first block: the usual twelve bytes followed by a one, or a hash for other lengths.
fn first_counter(hash: &GHash, iv: &[u8]) -> Block {
    let mut start = [0; BLOCK];
    if iv.len() == 12 {
        start[..12].copy_from_slice(iv);
        start[15] = 1;
        return start;
    }
    let mut hash = hash.clone();
    hash.update_padded(iv);
    hash.update(&[lengths(&[], iv).into()]);
    hash.finalize().into()
}
