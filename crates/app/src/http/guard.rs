//! Who may see and control a run: this machine's own user, or anyone with the token.
//!
//! Must not know what is served. Invariants: a page of another site can neither read nor give orders, whatever
//! name it uses for this machine (DNS rebinding); from other machines every request needs the token unless the
//! user disabled it.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use data_encoding::HEXLOWER;
use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, Method};

use crate::Env;

/// Bytes of a token: too many to guess.
const TOKEN_BYTES: usize = 16;
/// The word that disables the token.
const OFF: &str = "off";
/// The header in which browsers state the origin of a request (Fetch Metadata).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The variable with the token.
const TOKEN_VARIABLE: &str = "LOADLINE_CONTROL_TOKEN";
/// The variable with additional names, separated by commas.
const HOSTS_VARIABLE: &str = "LOADLINE_CONTROL_HOSTS";

/// Which token is required.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TokenChoice {
    /// One generated for this run if other machines can connect; otherwise none.
    #[default]
    Fresh,
    /// This one, on every address.
    Given(String),
    /// None on any address: the network is trusted.
    Off,
}

/// The user's settings of access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSettings {
    /// The token.
    pub token: TokenChoice,
    /// Additional names under which requests may address this machine; `*`: any.
    pub hosts: Vec<String>,
}

impl AccessSettings {
    /// The settings from flags, otherwise from the variables.
    #[must_use]
    pub fn of(token: Option<&str>, hosts: &[String], env: &Env) -> AccessSettings {
        let token = match token.or_else(|| env.get(TOKEN_VARIABLE)) {
            None => TokenChoice::Fresh,
            Some(OFF) => TokenChoice::Off,
            Some(token) => TokenChoice::Given(token.to_owned()),
        };
        let of_env = env.get(HOSTS_VARIABLE).unwrap_or_default();
        let hosts = match hosts {
            [] => of_env.split(',').map(str::to_owned).collect(),
            hosts => hosts.to_vec(),
        };
        AccessSettings {
            token,
            hosts: hosts.into_iter().filter(|host| !host.is_empty()).collect(),
        }
    }
}

/// The rules of one server.
pub(crate) struct Guard {
    /// The required token; `None`: none.
    token: Option<String>,
    /// Names in addition to this machine's own; `*`: any.
    hosts: Vec<String>,
    /// Addresses that the server listens at.
    addresses: Vec<IpAddr>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Without the token.
    Token,
    /// It uses a name that is not this machine's own.
    Host,
    /// It comes from a page of another site.
    Origin,
}

impl Refusal {
    /// The message for the client.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Refusal::Token => {
                "wrong or missing token: open the address that the terminal shows, or send its token as Authorization: Bearer TOKEN"
            }
            Refusal::Host => {
                "this host name is not allowed: use the address that the terminal shows, or allow the name with --control-host"
            }
            Refusal::Origin => "requests from pages of other sites are refused",
        }
    }
}

impl Guard {
    /// The rules for a server at this address.
    ///
    /// # Errors
    /// The system provides no randomness.
    pub(crate) fn new(address: &str, access: &AccessSettings) -> Result<Guard, String> {
        let found = address.to_socket_addrs();
        let addresses: Vec<IpAddr> =
            found.map_or_else(|_| Vec::new(), |found| found.map(|at| at.ip()).collect());
        let is_own = !addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback);
        let token = match &access.token {
            TokenChoice::Given(token) => Some(token.clone()),
            TokenChoice::Fresh if !is_own => Some(random_word()?),
            TokenChoice::Fresh | TokenChoice::Off => None,
        };
        Ok(Guard {
            token,
            hosts: access.hosts.clone(),
            addresses,
        })
    }

    /// The URL to open.
    pub(crate) fn url(&self, bound: SocketAddr) -> String {
        let query = self
            .token()
            .map_or_else(String::new, |token| format!("?token={token}"));
        let host = match bound.ip() {
            ip if ip.is_unspecified() => format!("localhost:{}", bound.port()),
            _ => bound.to_string(),
        };
        format!("http://{host}/{query}")
    }

    /// The required token; `None`: none.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether a request is accepted, judged by its head only.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn check(
        &self,
        method: &Method,
        query: &str,
        headers: &HeaderMap,
    ) -> Result<(), Refusal> {
        let host = text(headers, HOST).unwrap_or_default();
        match &self.token {
            Some(token) if !has_token(query, headers, token) => return Err(Refusal::Token),
            // A client that knows the token is not a page of another site.
            Some(_) => {}
            None if !self.is_own_name(name_of(host)) => return Err(Refusal::Host),
            None => {}
        }
        let is_own_page = match headers.get(ORIGIN) {
            Some(origin) => is_origin_at(origin.to_str().unwrap_or_default(), host),
            None => true,
        };
        let only_reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        let is_own_site = matches!(
            text(headers, SEC_FETCH_SITE),
            None | Some("same-origin" | "none")
        );
        match is_own_page && (only_reads || is_own_site) {
            true => Ok(()),
            false => Err(Refusal::Origin),
        }
    }

    /// Whether a name means this machine, whoever resolves it: a name of another site that points here does
    /// not.
    fn is_own_name(&self, name: &str) -> bool {
        let is_allowed = |host: &String| host == "*" || host.eq_ignore_ascii_case(name);
        if self.hosts.iter().any(is_allowed) {
            return !name.is_empty();
        }
        match name.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || self.listens_at(ip),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    fn listens_at(&self, ip: IpAddr) -> bool {
        // Without specific addresses the server listens on all of them.
        self.addresses.is_empty()
            || self
                .addresses
                .iter()
                .any(|own| own.is_unspecified() || *own == ip)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The name in a `Host`, without its port.
fn name_of(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Whether an `Origin` is a page of this host; a proxy in front of the server may use TLS.
fn is_origin_at(origin: &str, host: &str) -> bool {
    let at = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    !host.is_empty() && at.is_some_and(|at| at.eq_ignore_ascii_case(host))
}

/// Whether the token is in the query or after `Authorization: Bearer`.
fn has_token(query: &str, headers: &HeaderMap, token: &str) -> bool {
    let bearer = text(headers, AUTHORIZATION).and_then(|value| value.split_once(' '));
    let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("token="))
        .chain(bearer.map(|(_, given)| given.trim()))
        .any(|given| is_same(given.as_bytes(), token.as_bytes()))
}

/// Compares in constant time, so that the time does not reveal how much was right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differing) == 0
}

/// A word that cannot be guessed.
///
/// # Errors
/// The system provides no randomness.
pub(crate) fn random_word() -> Result<String, String> {
    let mut bytes = [0; TOKEN_BYTES];
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let filled = provider.secure_random.fill(&mut bytes);
    filled.map_err(|_| "the system gives no random bytes for a token".to_owned())?;
    Ok(HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let value = HeaderValue::from_str(value).expect("a header's value");
            headers.insert(*name, value);
        }
        headers
    }

    fn guard(address: &str, token: TokenChoice, hosts: &[&str]) -> Guard {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Guard::new(address, &AccessSettings { token, hosts }).expect("there is randomness")
    }

    fn get(guard: &Guard, query: &str, pairs: &[(&'static str, &str)]) -> Result<(), Refusal> {
        guard.check(&Method::GET, query, &headers(pairs))
    }

    #[test]
    fn on_this_machine_only_its_own_names_count() {
        let own = guard("127.0.0.1:5665", TokenChoice::Fresh, &["Box.example"]);
        for host in [
            "127.0.0.1:5665",
            "localhost:5665",
            "[::1]:5665",
            "LOCALHOST",
            "box.example:80",
        ] {
            assert_eq!(get(&own, "", &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example:5665",
            "",
            "127.0.0.1.evil.example",
            "10.0.0.1:5665",
        ] {
            let told = get(&own, "", &[("host", host)]);
            assert_eq!(told, Err(Refusal::Host), "{host}");
        }
        assert_eq!(get(&own, "", &[]), Err(Refusal::Host));
        let bound = "127.0.0.1:5665".parse().expect("an address");
        assert_eq!(own.url(bound), "http://127.0.0.1:5665/");
    }

    #[test]
    fn pages_of_other_places_are_refused() {
        let own = guard("127.0.0.1:5665", TokenChoice::Fresh, &[]);
        let host = ("host", "127.0.0.1:5665");
        for origin in ["http://127.0.0.1:5665", "https://127.0.0.1:5665"] {
            assert_eq!(get(&own, "", &[host, ("origin", origin)]), Ok(()));
        }
        for origin in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:8080",
            "\u{e9}",
        ] {
            let told = get(&own, "", &[host, ("origin", origin)]);
            assert_eq!(told, Err(Refusal::Origin), "{origin}");
        }
        for (site, of_get, of_post) in [
            ("same-origin", Ok(()), Ok(())),
            ("none", Ok(()), Ok(())),
            ("same-site", Ok(()), Err(Refusal::Origin)),
            // A link to the page may be on any site.
            ("cross-site", Ok(()), Err(Refusal::Origin)),
        ] {
            let headers = headers(&[host, ("sec-fetch-site", site)]);
            assert_eq!(own.check(&Method::GET, "", &headers), of_get, "{site}");
            assert_eq!(own.check(&Method::POST, "", &headers), of_post, "{site}");
        }
    }

    #[test]
    fn beyond_this_machine_the_token_counts() {
        for address in ["0.0.0.0:5665", ":5665", "no.such.host.invalid:1"] {
            let open = guard(address, TokenChoice::Fresh, &[]);
            let url = open.url("0.0.0.0:5665".parse().expect("an address"));
            let (address, query) = url.split_once('?').expect("the token is in the query");
            assert_eq!(address, "http://localhost:5665/");
            let host = ("host", "generator.example:5665");
            assert_eq!(get(&open, query, &[host]), Ok(()));
            assert_eq!(get(&open, &format!("a=b&{query}"), &[host]), Ok(()));
            let token = query.strip_prefix("token=").expect("it is there");
            for (scheme, told) in [
                ("Bearer", Ok(())),
                ("bearer", Ok(())),
                ("Basic", Err(Refusal::Token)),
            ] {
                let header = format!("{scheme} {token}");
                assert_eq!(get(&open, "", &[host, ("authorization", &header)]), told);
            }
            for wrong in [
                "",
                "token=",
                &query[..query.len() - 1],
                &format!("{query}0"),
            ] {
                assert_eq!(get(&open, wrong, &[host]), Err(Refusal::Token), "{wrong}");
            }
        }
    }

    #[test]
    fn a_token_is_given_or_switched_off() {
        let given = TokenChoice::Given("word".to_owned());
        let given = guard("127.0.0.1:1", given, &[]);
        assert_eq!(
            get(&given, "", &[("host", "localhost")]),
            Err(Refusal::Token)
        );
        assert_eq!(get(&given, "token=word", &[("host", "localhost")]), Ok(()));
        let off = guard("0.0.0.0:1", TokenChoice::Off, &[]);
        // An address is not a name that could point elsewhere tomorrow.
        assert_eq!(get(&off, "", &[("host", "10.1.2.3:6565")]), Ok(()));
        let told = get(&off, "", &[("host", "evil.example")]);
        assert_eq!(told, Err(Refusal::Host));
        let any = guard("0.0.0.0:1", TokenChoice::Off, &["*"]);
        assert_eq!(get(&any, "", &[("host", "evil.example")]), Ok(()));
    }

    #[test]
    fn flags_come_before_variables() {
        let env = Env::from([(TOKEN_VARIABLE, "off"), (HOSTS_VARIABLE, "a,b")]);
        let of_env = AccessSettings::of(None, &[], &env);
        assert_eq!(of_env.token, TokenChoice::Off);
        assert_eq!(of_env.hosts, ["a", "b"]);
        let of_flags = AccessSettings::of(Some("t"), &["c".to_owned()], &env);
        assert_eq!(of_flags.token, TokenChoice::Given("t".to_owned()));
        assert_eq!(of_flags.hosts, ["c"]);
        let neither = AccessSettings::of(None, &[], &Env::default());
        assert_eq!(neither, AccessSettings::default());
    }
}
