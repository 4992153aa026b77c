//! A script with its digest: `https://…#sha256=HEX`.
//!
//! Must not know where bytes come from. Invariant: bytes with another digest are an error, whatever they are.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Precedes the digest after a URL.
const MARK: &str = "#sha256=";

/// The digest that the bytes of a script must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    hex: String,
}

impl Wanted {
    /// Splits the name of a script into its URL and the required digest; a name that is not a web URL has none.
    ///
    /// # Errors
    /// The text after the mark is not a digest.
    pub fn split(name: &str) -> Result<(&str, Option<Wanted>), String> {
        let is_web = name.starts_with("https://");
        let Some((address, hex)) = name.split_once(MARK).filter(|_| is_web) else {
            return Ok((name, None));
        };
        let is_digit = |byte: u8| byte.is_ascii_hexdigit();
        if hex.len() != 64 || !hex.bytes().all(is_digit) {
            return Err(format!(
                "{address}: 64 hexadecimal digits are required after {MARK}, as sha256sum prints them"
            ));
        }
        let hex = hex.to_ascii_lowercase();
        Ok((address, Some(Wanted { hex })))
    }

    /// Compares bytes with it.
    ///
    /// # Errors
    /// They have another digest.
    pub fn check(&self, address: &str, bytes: &[u8]) -> Result<(), String> {
        let found = HEXLOWER.encode(&Sha256::digest(bytes));
        if found == self.hex {
            return Ok(());
        }
        Err(format!(
            "{address}: it is not the script that was named: its SHA-256 is {found}, {} is required",
            self.hex
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of the empty input (FIPS 180-4, example).
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn an_address_may_name_its_digest() {
        let name = format!("https://h/a.tar?x=1#sha256={}", EMPTY.to_uppercase());
        let (address, wanted) = Wanted::split(&name).expect("a digest");
        assert_eq!(address, "https://h/a.tar?x=1");
        let wanted = wanted.expect("a digest");
        assert_eq!(wanted.check(address, b""), Ok(()));
        let error = wanted.check(address, b"other").expect_err("others");
        assert!(error.contains(EMPTY) && error.contains(address), "{error}");
    }

    #[test]
    fn what_is_no_digest_is_refused_and_files_have_none() {
        for hex in ["", "abc", &"g".repeat(64), &"a".repeat(65)] {
            let name = format!("https://h/a.js#sha256={hex}");
            assert!(Wanted::split(&name).is_err(), "{hex}");
        }
        for name in [
            "a#sha256=abc.js",
            "-",
            "https://h/a.js",
            "https://h/a.js#top",
        ] {
            assert_eq!(Wanted::split(name), Ok((name, None)));
        }
    }
}
