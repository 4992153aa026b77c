//! The TLS options: versions, cipher suites, client certificates.
//!
//! Must not know how TLS is implemented. Invariant: as in [`super::value`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::json::Json;
use super::value::{OptionError, OptionValue, env_items, list, nullable, object, written};

/// The versions that k6 accepts, lowest first. Its documentation also names `ssl3.0`, which it refuses.
pub const VERSIONS: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];

/// `tlsVersion`: the lowest and the highest version, as indices in [`VERSIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsVersions {
    /// The lowest; `None`: the default.
    pub min: Option<usize>,
    /// The highest; `None`: the default.
    pub max: Option<usize>,
}

fn version_of(text: &str) -> Option<usize> {
    VERSIONS.iter().position(|known| *known == text)
}

impl OptionValue for TlsVersions {
    const GO_TYPE: &'static str = "lib.tlsVersionsFields";

    fn from_json(value: &Value, field: &str) -> Result<Option<TlsVersions>, OptionError> {
        if let Some(version) = value.as_str().and_then(version_of) {
            return Ok(Some(TlsVersions {
                min: Some(version),
                max: Some(version),
            }));
        }
        let mut read = TlsVersions {
            min: None,
            max: None,
        };
        if value.as_str() == Some("") {
            return Ok(Some(read));
        }
        for (key, value) in object(value, field, Self::GO_TYPE)? {
            let Some(text) = nullable::<String>(value, field)?.filter(|text| !text.is_empty())
            else {
                continue;
            };
            let version = version_of(&text)
                .ok_or_else(|| OptionError::Text(format!("unknown TLS version '{text}'")))?;
            match key.to_ascii_lowercase().as_str() {
                "min" => read.min = Some(version),
                "max" => read.max = Some(version),
                _ => {}
            }
        }
        Ok(Some(read))
    }

    fn to_json(&self) -> Json {
        let shown = |version: Option<usize>| Json::text(version.map_or("", |at| VERSIONS[at]));
        Json::Object(vec![
            ("min".to_owned(), shown(self.min)),
            ("max".to_owned(), shown(self.max)),
        ])
    }
}

/// The names of cipher suites in Go's `crypto/tls`.
const CIPHER_SUITES: [&str; 25] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

/// `tlsCipherSuites`: names from Go's `crypto/tls`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CipherSuites(pub Vec<String>);

impl CipherSuites {
    fn checked(names: Vec<String>) -> Result<CipherSuites, String> {
        let known = |name: &String| CIPHER_SUITES.contains(&name.as_str());
        match names.iter().find(|name| !known(name)) {
            Some(unknown) => Err(format!("unknown cipher suite '{unknown}'")),
            None => Ok(CipherSuites(names)),
        }
    }
}

impl OptionValue for CipherSuites {
    const GO_TYPE: &'static str = "*lib.TLSCipherSuites";

    fn from_json(value: &Value, field: &str) -> Result<Option<CipherSuites>, OptionError> {
        let names = Vec::<String>::from_json(value, field)?.unwrap_or_default();
        CipherSuites::checked(names)
            .map(Some)
            .map_err(OptionError::Text)
    }

    fn from_env(text: &str) -> Result<Option<CipherSuites>, String> {
        CipherSuites::checked(env_items(text).map(str::to_owned).collect()).map(Some)
    }

    fn to_json(&self) -> Json {
        if self.0.is_empty() {
            return Json::Null;
        }
        self.0.to_json()
    }
}

/// A client certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsAuth {
    /// Certificate chain, PEM.
    pub cert: String,
    /// Private key, PEM.
    pub key: String,
    /// The password of an encrypted key; `None`: the key is not encrypted.
    pub password: Option<String>,
    /// Host names for which it is used; `None`: all.
    pub domains: Option<Vec<String>>,
}

/// `tlsAuth`: client certificates.
pub type TlsAuths = Vec<TlsAuth>;

impl OptionValue for TlsAuths {
    const GO_TYPE: &'static str = "[]*lib.TLSAuth";

    fn from_json(value: &Value, field: &str) -> Result<Option<TlsAuths>, OptionError> {
        let items = list(value, field, Self::GO_TYPE)?.iter();
        items
            .map(|item| auth_of(item, field))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn from_env(text: &str) -> Result<Option<TlsAuths>, String> {
        if text.is_empty() {
            return Ok(Some(TlsAuths::new()));
        }
        let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::from_json(&value, "Options").map_err(|error| error.to_string())
    }

    fn to_json(&self) -> Json {
        let one = |auth: &TlsAuth| {
            Json::Object(vec![
                ("cert".to_owned(), Json::text(&auth.cert)),
                ("key".to_owned(), Json::text(&auth.key)),
                ("password".to_owned(), written(auth.password.as_ref())),
                ("domains".to_owned(), written(auth.domains.as_ref())),
            ])
        };
        Json::List(self.iter().map(one).collect())
    }
}

fn auth_of(value: &Value, field: &str) -> Result<TlsAuth, OptionError> {
    let mut read = TlsAuth::default();
    for (key, value) in object(value, field, "lib.TLSAuthFields")? {
        match key.to_ascii_lowercase().as_str() {
            "cert" => read.cert = nullable(value, field)?.unwrap_or_default(),
            "key" => read.key = nullable(value, field)?.unwrap_or_default(),
            "password" => read.password = nullable(value, field)?,
            "domains" => read.domains = nullable(value, field)?,
            _ => {}
        }
    }
    if read.password.is_some() && !has_block(&read.key) {
        return Err(OptionError::text("failed to decode PEM key"));
    }
    match (has_block(&read.cert), has_block(&read.key)) {
        (true, true) => Ok(read),
        (false, _) => Err(OptionError::text(
            "tls: failed to find any PEM data in certificate input",
        )),
        (true, false) => Err(OptionError::text(
            "tls: failed to find any PEM data in key input",
        )),
    }
}

/// Whether a text has a block that Go reads as PEM: one whose content is base64.
fn has_block(text: &str) -> bool {
    text.split("-----BEGIN ").skip(1).any(|rest| {
        let content = rest.split_once("-----").and_then(|(label, rest)| {
            let end = format!("-----END {label}-----");
            rest.split_once(&end).map(|(content, _)| content)
        });
        let is_field = |line: &&str| line.contains(':');
        let lines = content.map(|content| content.lines().map(str::trim));
        let encoded = lines.map(|lines| lines.filter(|line| !is_field(line)).collect::<String>());
        encoded.is_some_and(|encoded| STANDARD.decode(encoded).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\nAA==\n-----END A-----";

    #[test]
    fn a_client_certificate_is_pem_when_it_is_read() {
        let cut = BLOCK.replace("AAAA", "...");
        let read = |cert: &str, key: &str, password: &str| {
            let mut auth = serde_json::json!([{ "cert": cert, "key": key }]);
            if !password.is_empty() {
                auth[0]["password"] = password.into();
            }
            let read = TlsAuths::from_env(&auth.to_string());
            read.map(|_| ()).map_err(|words| {
                let (_, words) = words.split_at(words.find("failed to").unwrap_or(0));
                words.to_owned()
            })
        };
        let wrong = |words: &str| Err(words.to_owned());
        assert_eq!(read(BLOCK, BLOCK, ""), Ok(()));
        assert_eq!(
            read(&format!("text\n{cut}\n{BLOCK}"), BLOCK, "word"),
            Ok(())
        );
        assert_eq!(
            read(&cut, BLOCK, ""),
            wrong("failed to find any PEM data in certificate input")
        );
        assert_eq!(
            read(BLOCK, "key.pem", ""),
            wrong("failed to find any PEM data in key input")
        );
        assert_eq!(read(&cut, &cut, "word"), wrong("failed to decode PEM key"));
    }
}
