//! The settings of the InfluxDB outputs: defaults, then variables, then the address after `=`.
//!
//! Names and meaning are those of k6's `influxdb` output and of its extension for version 2. Must not know the
//! protocol. Invariant: no message shows a password or a token.

use std::time::Duration;

use loadline_output::influxdb::{FieldKind, InfluxSettings, InfluxTarget, Precision};
use url::{Url, form_urlencoded};

use super::files::not_created;
use super::variables::{self, Variables};
use crate::Env;
use crate::k6::K6Error;

/// k6's defaults.
const ADDRESS: &str = "http://localhost:8086";
const DATABASE: &str = "k6";
const TAGS_AS_FIELDS: &str = "vu:int,iter:int,url";
const PUSH_INTERVAL: Duration = Duration::from_secs(1);
const CONCURRENT_WRITES: usize = 4;
const PAYLOAD_SIZE: usize = 512;

/// The API version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The settings after `=` and in variables, as text where the versions differ.
struct Given {
    settings: InfluxSettings,
    user: Option<(String, String)>,
    database: String,
    retention: String,
    consistency: String,
    organization: String,
    bucket: Option<String>,
    token: Option<String>,
}

/// The settings of an output.
///
/// # Errors
/// An invalid address or setting, in k6's words where k6 has the same.
pub(super) fn settings(
    version: Version,
    argument: &str,
    env: &Env,
) -> Result<InfluxSettings, K6Error> {
    let mut given = from_variables(env)?;
    let name = match version {
        Version::V1 => "influxdb",
        Version::V2 => "influxdb-v2",
    };
    let refused = |why: String| not_created(name, &why);
    if !argument.is_empty() {
        given.take_address(version, argument).map_err(refused)?;
    }
    check_scheme(version, &given.settings.address).map_err(refused)?;
    given.finish(version).map_err(refused)
}

fn from_variables(env: &Env) -> Result<Given, K6Error> {
    let vars = Variables {
        env,
        output: "INFLUXDB",
    };
    let text = |setting| vars.text(setting).map(str::to_owned);
    let user = text("USERNAME").map(|user| (user, text("PASSWORD").unwrap_or_default()));
    let fields = vars.read("TAGS_AS_FIELDS", fields)?;
    let payload_size = vars.read("PAYLOAD_SIZE", payload_size)?;
    Ok(Given {
        settings: InfluxSettings {
            address: text("ADDR").unwrap_or_else(|| ADDRESS.to_owned()),
            target: InfluxTarget::V2 {
                organization: String::new(),
                bucket: String::new(),
                token: None,
            },
            precision: vars.read("PRECISION", precision)?.unwrap_or_default(),
            fields: fields.unwrap_or_else(default_fields),
            push_interval: vars.duration("PUSH_INTERVAL")?.unwrap_or(PUSH_INTERVAL),
            concurrent_writes: vars
                .whole("CONCURRENT_WRITES")?
                .unwrap_or(CONCURRENT_WRITES),
            trusts_all: vars.truth("INSECURE")?.unwrap_or(false),
            proxy: text("PROXY"),
            datagram_bytes: payload_size.flatten().unwrap_or(PAYLOAD_SIZE),
        },
        user,
        database: text("DB").unwrap_or_else(|| DATABASE.to_owned()),
        retention: text("RETENTION").unwrap_or_default(),
        consistency: text("CONSISTENCY").unwrap_or_default(),
        organization: text("ORGANIZATION")
            .or_else(|| text("ORG"))
            .unwrap_or_default(),
        bucket: text("BUCKET"),
        token: text("TOKEN"),
    })
}

impl Given {
    /// Applies the settings in an address: `http://user:password@host:port/database?precision=ms`.
    fn take_address(&mut self, version: Version, text: &str) -> Result<(), String> {
        // The parser's message would show the address.
        let url = Url::parse(text).map_err(|_| unsupported(text))?;
        self.settings.address = address(&url);
        let path = url.path().trim_matches('/');
        match version {
            Version::V1 if !path.is_empty() => self.database = decoded(path),
            Version::V2 if !path.is_empty() => {
                self.settings.address = format!("{}/{path}", self.settings.address);
            }
            _ => {}
        }
        if !url.username().is_empty() {
            let password = url.password().unwrap_or_default();
            self.user = Some((decoded(url.username()), decoded(password)));
        }
        for (name, value) in url.query_pairs() {
            self.take_parameter(version, &name, &value)?;
        }
        Ok(())
    }

    fn take_parameter(&mut self, version: Version, name: &str, value: &str) -> Result<(), String> {
        let named = |why: String| format!("{name}: {why}");
        let settings = &mut self.settings;
        match (name, version) {
            ("precision", _) => settings.precision = precision(value).map_err(named)?,
            ("tagsAsFields", _) => settings.fields = fields(value).map_err(named)?,
            ("pushInterval", _) => {
                settings.push_interval = variables::duration(value).map_err(named)?;
            }
            ("concurrentWrites", _) => {
                settings.concurrent_writes = variables::whole(value).map_err(named)?;
            }
            ("insecure", _) => {
                settings.trusts_all = match value {
                    "" | "true" => true,
                    "false" => false,
                    other => return Err(format!("insecure must be true or false, not {other}")),
                };
            }
            ("payload_size", Version::V1) => {
                if let Some(bytes) = payload_size(value).map_err(named)? {
                    settings.datagram_bytes = bytes;
                }
            }
            ("retention", Version::V1) => value.clone_into(&mut self.retention),
            ("consistency", Version::V1) => value.clone_into(&mut self.consistency),
            ("org" | "organization", Version::V2) => value.clone_into(&mut self.organization),
            ("bucket", Version::V2) => self.bucket = Some(value.to_owned()),
            ("token", Version::V2) => {
                return Err(
                    "a token in an address ends up in logs; set K6_INFLUXDB_TOKEN instead"
                        .to_owned(),
                );
            }
            _ => return Err(format!("unknown query parameter: {name}")),
        }
        Ok(())
    }

    fn finish(self, version: Version) -> Result<InfluxSettings, String> {
        let target = match version {
            Version::V1 => InfluxTarget::V1 {
                database: self.database,
                retention: self.retention,
                consistency: self.consistency,
                user: self.user,
            },
            Version::V2 => InfluxTarget::V2 {
                organization: self.organization,
                bucket: self.bucket.ok_or(
                    "it needs a bucket: influxdb-v2=http://host:8086?org=ORG&bucket=BUCKET, or \
                     K6_INFLUXDB_BUCKET",
                )?,
                token: self.token,
            },
        };
        Ok(InfluxSettings {
            target,
            ..self.settings
        })
    }
}

/// Only scheme, host and port.
fn address(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

fn check_scheme(version: Version, address: &str) -> Result<(), String> {
    let is_datagram = version == Version::V1 && address.starts_with("udp://");
    match is_datagram || address.starts_with("http://") || address.starts_with("https://") {
        true => Ok(()),
        false => Err(unsupported(address)),
    }
}

fn unsupported(address: &str) -> String {
    let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme);
    format!(
        "Unsupported protocol scheme: {scheme}, your address must start with http:// or https://"
    )
}

fn decoded(text: &str) -> String {
    // Outside a query these three characters are literal.
    let plain = text
        .replace('+', "%2B")
        .replace('=', "%3D")
        .replace('&', "%26");
    let first = form_urlencoded::parse(plain.as_bytes()).next();
    first.map_or_else(String::new, |(text, _)| text.into_owned())
}

fn precision(text: &str) -> Result<Precision, String> {
    text.parse()
        .map_err(|error: loadline_output::influxdb::UnknownPrecision| error.to_string())
}

/// Maximum bytes of a datagram; as in k6, only a number above zero has an effect.
fn payload_size(text: &str) -> Result<Option<usize>, String> {
    match text.parse::<i64>() {
        Ok(bytes) => Ok(usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)),
        Err(_) => Err("write a whole number".to_owned()),
    }
}

fn default_fields() -> Vec<(String, FieldKind)> {
    fields(TAGS_AS_FIELDS).unwrap_or_default()
}

/// `vu:int,iter:int,url`; a field without a kind is text.
fn fields(text: &str) -> Result<Vec<(String, FieldKind)>, String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let read = parts.map(|part| {
        let Some((name, kind)) = part.split_once(':') else {
            return Ok((part.to_owned(), FieldKind::Text));
        };
        match FieldKind::of(kind) {
            Some(kind) => Ok((name.to_owned(), kind)),
            None => Err(format!(
                "An invalid type ({kind}) is specified for an InfluxDB field ({name})."
            )),
        }
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1(argument: &str, env: &Env) -> InfluxSettings {
        settings(Version::V1, argument, env).expect("the settings mean something")
    }

    fn refusal(version: Version, argument: &str, env: &Env) -> String {
        let error = settings(version, argument, env).expect_err("the settings mean nothing");
        error.to_string()
    }

    #[test]
    fn defaults_are_k6s() {
        let settings = v1("", &Env::default());
        assert_eq!(settings.address, "http://localhost:8086");
        assert_eq!(settings.precision, Precision::Nanosecond);
        assert_eq!(
            settings.fields,
            [
                ("vu".to_owned(), FieldKind::Int),
                ("iter".to_owned(), FieldKind::Int),
                ("url".to_owned(), FieldKind::Text)
            ]
        );
        assert_eq!(
            (settings.concurrent_writes, settings.push_interval.as_secs()),
            (4, 1)
        );
        let database = "k6".to_owned();
        let InfluxTarget::V1 {
            database: named,
            user,
            ..
        } = settings.target
        else {
            panic!("it is version 1");
        };
        assert_eq!((named, user), (database, None));
    }

    #[test]
    fn the_address_goes_before_variables() {
        let env = Env::from([
            ("K6_INFLUXDB_ADDR", "http://env:1"),
            ("K6_INFLUXDB_DB", "env"),
            ("K6_INFLUXDB_USERNAME", "env"),
            ("K6_INFLUXDB_RETENTION", "week"),
            ("K6_INFLUXDB_CONCURRENT_WRITES", "2"),
            ("K6_INFLUXDB_INSECURE", "true"),
        ]);
        let settings = v1(
            "https://a+b:p%20w@h:9/my%20db?precision=ms&pushInterval=3s",
            &env,
        );
        assert_eq!(settings.address, "https://h:9");
        assert_eq!(settings.precision, Precision::Millisecond);
        assert_eq!(
            (settings.concurrent_writes, settings.push_interval.as_secs()),
            (2, 3)
        );
        assert!(settings.trusts_all);
        let InfluxTarget::V1 {
            database,
            retention,
            user,
            ..
        } = settings.target
        else {
            panic!("it is version 1");
        };
        assert_eq!((&*database, &*retention), ("my db", "week"));
        assert_eq!(user, Some(("a+b".to_owned(), "p w".to_owned())));
    }

    #[test]
    fn datagrams_have_a_size() {
        let env = Env::from([("K6_INFLUXDB_PAYLOAD_SIZE", "900")]);
        let settings = v1("udp://h:9/db", &env);
        assert_eq!(
            (&*settings.address, settings.datagram_bytes),
            ("udp://h:9", 900)
        );
        assert_eq!(v1("udp://h:9?payload_size=70", &env).datagram_bytes, 70);
        let told = refusal(Version::V2, "udp://h:9?bucket=b", &env);
        assert!(told.contains("Unsupported protocol scheme: udp"), "{told}");
    }

    #[test]
    fn version_2_wants_a_bucket_and_its_token_from_the_environment() {
        let env = Env::from([
            ("K6_INFLUXDB_TOKEN", "k6s"),
            ("LOADLINE_INFLUXDB_TOKEN", "ours"),
        ]);
        let argument = "http://h/base?org=o&bucket=b";
        let settings = settings(Version::V2, argument, &env).expect("it means something");
        assert_eq!(settings.address, "http://h/base");
        let expected = InfluxTarget::V2 {
            organization: "o".to_owned(),
            bucket: "b".to_owned(),
            token: Some("ours".to_owned()),
        };
        assert!(settings.target == expected);
        assert!(refusal(Version::V2, "http://h", &env).contains("needs a bucket"));
        let told = refusal(Version::V2, "http://h?bucket=b&token=secret", &env);
        assert!(
            told.contains("K6_INFLUXDB_TOKEN") && !told.contains("secret"),
            "{told}"
        );
    }

    #[test]
    fn refusals_are_k6s_and_show_no_password() {
        let env = Env::default();
        for (argument, why) in [
            (
                "foo://u:secret@x/db",
                "Unsupported protocol scheme: foo, your address must start with http:// or https://",
            ),
            ("http://u:secret@h/db?a=b", "unknown query parameter: a"),
            (
                "http://u:secret@h/db?insecure=maybe",
                "insecure must be true or false, not maybe",
            ),
            (
                "http://u:secret@h/db?payload_size=big",
                "payload_size: write a whole number",
            ),
            (
                "http://u:secret@h/db?tagsAsFields=vu:big",
                "tagsAsFields: An invalid type (big) is specified for an InfluxDB field (vu).",
            ),
        ] {
            assert_eq!(
                refusal(Version::V1, argument, &env),
                format!("could not create the 'influxdb' output: {why}")
            );
        }
        let sized = |size| Env::from([("K6_INFLUXDB_PAYLOAD_SIZE", size)]);
        assert_eq!(v1("", &sized("-1")), v1("", &env));
        assert_eq!(
            refusal(Version::V1, "", &sized("big")),
            "K6_INFLUXDB_PAYLOAD_SIZE=big: write a whole number"
        );
        let told = refusal(Version::V1, "http://u:secret@:x:y", &env);
        assert!(!told.contains("secret"), "{told}");
    }
}
