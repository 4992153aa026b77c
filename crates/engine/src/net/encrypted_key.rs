//! Private keys that are encrypted in the way of RFC 1421: PEM with a header `DEK-Info`, as `openssl rsa
//! -aes256 -traditional` and older versions of OpenSSL write them.
//!
//! Must not know certificates or files. Invariant: a key is returned only if its padding is intact.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use rustls_pki_types::PrivateKeyDer;

/// Bytes of the initialisation vector that salt the key.
const SALT: usize = 8;

/// The key in PEM, decrypted; `None`: it is not encrypted in this way.
///
/// # Errors
/// The cipher is unsupported, the text is corrupt, or the password is wrong.
pub(super) fn decrypted(
    pem: &[u8],
    password: &str,
) -> Option<Result<PrivateKeyDer<'static>, &'static str>> {
    let text = std::str::from_utf8(pem).ok()?;
    let (_, rest) = text.split_once("DEK-Info:")?;
    let (info, rest) = rest.split_once('\n')?;
    let (body, _) = rest.split_once("-----END ")?;
    Some(opened(info.trim(), body, password))
}

fn opened(info: &str, body: &str, password: &str) -> Result<PrivateKeyDer<'static>, &'static str> {
    const BROKEN: &str = "it is not whole";
    let (cipher, iv) = info.split_once(',').ok_or(BROKEN)?;
    let iv = bytes_of_hex(iv).ok_or(BROKEN)?;
    let digits: String = body.split_ascii_whitespace().collect();
    let mut room = STANDARD.decode(digits).map_err(|_| BROKEN)?;
    let salt = iv.get(..SALT).ok_or(BROKEN)?;
    let key = |bytes| key_of(password, salt, bytes);
    let opened = match cipher {
        "AES-128-CBC" => cbc_decrypt::<Aes128>(&key(16), &iv, &mut room),
        "AES-192-CBC" => cbc_decrypt::<Aes192>(&key(24), &iv, &mut room),
        "AES-256-CBC" => cbc_decrypt::<Aes256>(&key(32), &iv, &mut room),
        _ => return Err("its cipher is not supported: encrypted keys need AES"),
    };
    let der = opened.and_then(|der| PrivateKeyDer::try_from(der).ok());
    der.ok_or("the password is wrong")
}

/// Derives a key of `bytes` bytes from a password: digests over the previous output, password and salt.
fn key_of(password: &str, salt: &[u8], bytes: usize) -> Vec<u8> {
    let mut key = Vec::new();
    let mut digest = Vec::new();
    while key.len() < bytes {
        let mut hash = Md5::new();
        hash.update(&digest);
        hash.update(password);
        hash.update(salt);
        digest = hash.finalize().to_vec();
        key.extend_from_slice(&digest);
    }
    key.truncate(bytes);
    key
}

fn cbc_decrypt<C>(key: &[u8], iv: &[u8], room: &mut [u8]) -> Option<Vec<u8>>
where
    C: BlockCipherDecrypt<BlockSize = U16> + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let mode = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    Some(mode.decrypt_padded::<Pkcs7>(room).ok()?.to_vec())
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `openssl ecparam -name prime256v1 -genkey -noout | openssl ec -aes192 -passout pass:secret`.
    const ENCRYPTED: &str = "-----BEGIN EC PRIVATE KEY-----\n\
        Proc-Type: 4,ENCRYPTED\n\
        DEK-Info: AES-192-CBC,D90011EF8FC2C3F6A82A1F311B173976\n\
        \n\
        nsfl+y7HZ6Z69576FxIIiq9yn4AnFTUvt1EyGm4gw3ieKvQkUGjR70Fq3BB/iH6W\n\
        fCd5fdnH4a6/V8YZ6ffdop/5gu4TYLBICtfwczSIgUgHWJ5KpoHau6HQ3wQo9B5W\n\
        xlRvawPxfSAdgA83xoThndVV1qIjx3OTfrCsg/bi4Dw=\n\
        -----END EC PRIVATE KEY-----";
    /// The DER of the same key, in hexadecimal digits.
    const DER: &str = "\
        307702010104207808bdc925ba76a17b45c402f5ef8b72f12645467e116be8b76c13e18124f4c9a00a06082a8648ce3d0301\
        07a144034200040e389f519837cdf3c02acb9b0d22b725cfa58bc1abee09ab6671c751eccf48c1eaf0c40c4a9309d17f3b63\
        fe13170cc1db1e9efb17e6598f1428742edf327598";

    #[test]
    fn a_key_is_read_with_its_password() {
        let key = decrypted(ENCRYPTED.as_bytes(), "secret").expect("it is encrypted");
        let key = key.expect("the password is right");
        assert_eq!(Some(key.secret_der().to_vec()), bytes_of_hex(DER));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let why = |pem: &str, password| decrypted(pem.as_bytes(), password).map(|key| key.err());
        let wrong = "the password is wrong";
        assert_eq!(why(ENCRYPTED, "other"), Some(Some(wrong)));
        let des = ENCRYPTED.replace("AES-192-CBC", "DES-EDE3-CBC");
        let unknown = "its cipher is not supported: encrypted keys need AES";
        assert_eq!(why(&des, "secret"), Some(Some(unknown)));
        let broken = ENCRYPTED.replace(',', ",zz");
        assert_eq!(why(&broken, "secret"), Some(Some("it is not whole")));
        assert_eq!(why("-----BEGIN PRIVATE KEY-----", "secret"), None);
    }
}
