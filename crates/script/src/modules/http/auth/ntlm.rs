//! NTLM version 2: the three messages of Microsoft's NT LAN Manager over HTTP.
//!
//! Source: [MS-NLMP], sections 2.2.1 and 3.3.2. Must not know HTTP. Invariant: a challenge that is truncated or
//! has wrong lengths gets no response.

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
/// Unicode, NTLM, always sign, extended session security, target info, 128 and 56 bit.
const FLAGS: u32 = 0xa088_8201;
/// Windows 6.1, build 7601, NTLM revision 15: the usual value of such clients.
const VERSION: [u8; 8] = [0x06, 0x01, 0xb1, 0x1d, 0, 0, 0, 0x0f];
/// Bytes of the third message before its payload.
const HEAD_BYTES: usize = 72;
/// 1601 to 1970 in units of 100 nanoseconds.
const EPOCH_TICKS: u64 = 116_444_736_000_000_000;
/// The pair in a challenge's target information that holds the server's time.
const TIMESTAMP_PAIR: u16 = 7;

/// The first message: the client's capabilities.
pub(super) fn negotiate() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend(FLAGS.to_le_bytes());
    for _ in ["domain", "workstation"] {
        message.extend([0; 4]);
        message.extend(40_u32.to_le_bytes());
    }
    message.extend(VERSION);
    message
}

/// The third message: the proof; `None` if the challenge is invalid.
pub(super) fn authenticate(
    challenge: &[u8],
    user: &str,
    password: &str,
    client: [u8; 8],
    unix_ns: u64,
) -> Option<Vec<u8>> {
    if challenge.get(..8)? != SIGNATURE || number(challenge, 8)? != 2 {
        return None;
    }
    let server: [u8; 8] = challenge.get(24..32)?.try_into().ok()?;
    let flags = number(challenge, 20)?;
    let target_info = payload(challenge, 40).unwrap_or_default();
    let (domain, user) = match user.split_once('\\') {
        Some((domain, user)) => (utf16(domain), user),
        None if user.contains('@') => (Vec::new(), user),
        None => (payload(challenge, 12)?.to_vec(), user),
    };
    let key = password_key(user, password, &domain);
    let server_time = timestamp(target_info);
    let time = server_time.unwrap_or_else(|| (unix_ns / 100 + EPOCH_TICKS).to_le_bytes());
    let proof = nt_response(&key, server, client, time, target_info);
    let lm = match server_time {
        Some(_) => vec![0; 24],
        None => {
            let mut response = keyed_hash(&key, &[&server, &client]).to_vec();
            response.extend(client);
            response
        }
    };
    let parts = [lm, proof, domain, utf16(user), Vec::new(), Vec::new()];
    Some(message(&parts, flags))
}

fn message(parts: &[Vec<u8>; 6], flags: u32) -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(3_u32.to_le_bytes());
    let mut at = HEAD_BYTES;
    for part in parts {
        let length = (part.len() as u16).to_le_bytes();
        message.extend(length);
        message.extend(length);
        message.extend((at as u32).to_le_bytes());
        at += part.len();
    }
    message.extend(flags.to_le_bytes());
    message.extend(VERSION);
    for part in parts {
        message.extend(part);
    }
    message
}

/// NTOWFv2 of [MS-NLMP], section 3.3.2.
fn password_key(user: &str, password: &str, domain: &[u8]) -> [u8; 16] {
    let hash: [u8; 16] = Md4::digest(utf16(password)).into();
    keyed_hash(&hash, &[&utf16(&user.to_uppercase()), domain])
}

fn nt_response(
    key: &[u8; 16],
    server: [u8; 8],
    client: [u8; 8],
    time: [u8; 8],
    target_info: &[u8],
) -> Vec<u8> {
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend(time);
    blob.extend(client);
    blob.extend([0; 4]);
    blob.extend(target_info);
    blob.extend([0; 4]);
    let mut response = keyed_hash(key, &[&server, &blob]).to_vec();
    response.extend(blob);
    response
}

fn keyed_hash(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into_bytes().into()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn number(message: &[u8], at: usize) -> Option<u32> {
    let bytes = message.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The bytes referenced by a field of length, capacity and offset.
fn payload(message: &[u8], at: usize) -> Option<&[u8]> {
    let length = message.get(at..at + 2)?;
    let length = usize::from(u16::from_le_bytes(length.try_into().ok()?));
    let offset = number(message, at + 4)? as usize;
    message.get(offset..offset.checked_add(length)?)
}

/// The server's time from the pairs of its target information.
fn timestamp(target_info: &[u8]) -> Option<[u8; 8]> {
    let mut rest = target_info;
    while let [kind_low, kind_high, length_low, length_high, after @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*length_low, *length_high]));
        let value = after.get(..length)?;
        if u16::from_le_bytes([*kind_low, *kind_high]) == TIMESTAMP_PAIR {
            return value.try_into().ok();
        }
        rest = &after[length..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SERVER: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
    const CLIENT: [u8; 8] = [0xaa; 8];

    #[test]
    fn keys_and_proof_are_those_of_the_specification() {
        // [MS-NLMP], section 4.2.4: user "User", password "Password", domain "Domain".
        let key = password_key("User", "Password", &utf16("Domain"));
        let expected = [
            0x0c, 0x86, 0x8a, 0x40, 0x3b, 0xfd, 0x7a, 0x93, 0xa3, 0x00, 0x1e, 0xf2, 0x2e, 0xf0,
            0x2e, 0x3f,
        ];
        assert_eq!(key, expected);
        let mut target_info = vec![2, 0, 12, 0];
        target_info.extend(utf16("Domain"));
        target_info.extend([1, 0, 12, 0]);
        target_info.extend(utf16("Server"));
        target_info.extend([0; 4]);
        let response = nt_response(&key, SERVER, CLIENT, [0; 8], &target_info);
        let proof = [
            0x68, 0xcd, 0x0a, 0xb8, 0x51, 0xe5, 0x1c, 0x96, 0xaa, 0xbc, 0x92, 0x7b, 0xeb, 0xef,
            0x6a, 0x1c,
        ];
        assert_eq!(response[..16], proof);
    }

    #[test]
    fn the_first_message_is_the_one_that_k6_sends() {
        use base64::Engine;
        let text = base64::engine::general_purpose::STANDARD.encode(negotiate());
        assert_eq!(
            text,
            "TlRMTVNTUAABAAAAAYKIoAAAAAAoAAAAAAAAACgAAAAGAbEdAAAADw=="
        );
    }

    proptest! {
        #[test]
        fn hostile_challenges_are_refused_not_trusted(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut message = SIGNATURE.to_vec();
            message.extend(2_u32.to_le_bytes());
            message.extend(bytes);
            if let Some(proof) = authenticate(&message, "u", "p", CLIENT, 0) {
                prop_assert_eq!(&proof[..8], SIGNATURE);
            }
        }
    }
}
