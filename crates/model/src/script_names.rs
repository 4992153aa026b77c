//! Names and addresses in the options of a script: fixed hosts, blocked names and networks, DNS settings, local
//! addresses.
//!
//! Must not know a resolver. Invariant: all matching is done here, and ignores case.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A pattern for names: a name, or `*` and a suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// Lower case, without the star.
    text: String,
    /// Whether anything may precede the text.
    open: bool,
}

impl Pattern {
    /// `None` if a `*` is anywhere but at the start.
    fn parse(text: &str) -> Option<Pattern> {
        let lower = text.to_lowercase();
        let (open, rest) = match lower.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, lower.as_str()),
        };
        (!rest.contains('*')).then(|| Pattern {
            text: rest.to_owned(),
            open,
        })
    }

    fn fits(&self, lower: &str) -> bool {
        match self.open {
            true => lower.ends_with(&self.text),
            false => lower == self.text,
        }
    }

    /// How well it matches: a whole name ranks above any pattern, then the longest wins.
    fn rank(&self) -> (bool, usize) {
        (!self.open, self.text.len())
    }
}

/// Whether a text has the form of a name: labels of letters, digits and inner hyphens, separated by dots.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !label.is_empty() && label.chars().all(is_inner) && label.trim_matches('-') == label
    };
    text.split('.').all(is_label)
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.open {
            f.write_str("*")?;
        }
        f.write_str(&self.text)
    }
}

/// A text that is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(pub String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid hostname pattern '{}'", self.0)
    }
}

impl std::error::Error for BadPattern {}

/// Patterns of host names, each `name` or `*.domain`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostnamePatterns(Vec<Pattern>);

impl HostnamePatterns {
    /// Parses patterns.
    ///
    /// # Errors
    /// The first that is not a name, optionally preceded by `*` or `*.`.
    pub fn parse<'a>(
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<HostnamePatterns, BadPattern> {
        let of_name = |text: &str| {
            let open = text.strip_prefix('*');
            let name = open.map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
            let is_pattern = name.is_empty() || is_name(name);
            Pattern::parse(text).filter(|_| is_pattern)
        };
        texts
            .into_iter()
            .map(|text| of_name(text).ok_or_else(|| BadPattern(text.to_owned())))
            .collect::<Result<_, _>>()
            .map(HostnamePatterns)
    }

    /// The pattern that matches a host name best, as written; `None` if none matches.
    #[must_use]
    pub fn matching(&self, host: &str) -> Option<String> {
        let lower = host.to_lowercase();
        let fitting = self.0.iter().filter(|pattern| pattern.fits(&lower));
        fitting
            .max_by_key(|pattern| pattern.rank())
            .map(Pattern::to_string)
    }

    /// Whether there are no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for HostnamePatterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Pattern::to_string))
    }
}

impl<'de> Deserialize<'de> for HostnamePatterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        HostnamePatterns::parse(texts.iter().map(String::as_str)).map_err(de::Error::custom)
    }
}

/// The fixed address of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAddress {
    /// Address.
    pub ip: IpAddr,
    /// Port; `None`: the request's port.
    pub port: Option<u16>,
}

impl FromStr for HostAddress {
    type Err = ();

    /// Reads `ip`, `ip:port` or `[ip6]:port`.
    fn from_str(text: &str) -> Result<HostAddress, ()> {
        if let Ok(ip) = text.parse() {
            return Ok(HostAddress { ip, port: None });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(HostAddress {
                ip: address.ip(),
                port: Some(address.port()),
            });
        }
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        let ip = inner.ok_or(())?.parse::<Ipv6Addr>().map_err(drop)?;
        Ok(HostAddress {
            ip: IpAddr::V6(ip),
            port: None,
        })
    }
}

/// Fixed addresses for names (`hosts`); each key is a name, `name:port` or `*.domain`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(Vec<(Pattern, HostAddress)>);

impl Hosts {
    /// A table from names to addresses.
    ///
    /// # Errors
    /// The first name with a `*` anywhere but at the start.
    pub fn new<'a>(
        entries: impl IntoIterator<Item = (&'a str, HostAddress)>,
    ) -> Result<Hosts, BadPattern> {
        let read = |(text, address): (&str, HostAddress)| {
            let pattern = Pattern::parse(text).ok_or_else(|| BadPattern(text.to_owned()))?;
            Ok((pattern, address))
        };
        entries
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Hosts)
    }

    /// The address for a host and port. Entries with a port are tried first; a whole name takes precedence over
    /// patterns, and longer patterns over shorter ones.
    #[must_use]
    pub fn find(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let lower = host.to_lowercase();
        let with_port = match lower.contains(':') {
            true => format!("[{lower}]:{port}"),
            false => format!("{lower}:{port}"),
        };
        let address = self.best(&with_port).or_else(|| self.best(&lower))?;
        Some(SocketAddr::new(address.ip, address.port.unwrap_or(port)))
    }

    fn best(&self, lower: &str) -> Option<HostAddress> {
        let fitting = self.0.iter().filter(|(pattern, _)| pattern.fits(lower));
        fitting
            .max_by_key(|(pattern, _)| pattern.rank())
            .map(|(_, address)| *address)
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Hosts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.iter().map(|(p, address)| (p.to_string(), address));
        serializer.collect_seq(rows)
    }
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hosts, D::Error> {
        let rows = Vec::<(String, HostAddress)>::deserialize(deserializer)?;
        Hosts::new(rows.iter().map(|(name, address)| (name.as_str(), *address)))
            .map_err(de::Error::custom)
    }
}

/// A network in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its first address.
    pub address: IpAddr,
    /// Leading bits that its addresses share.
    pub prefix: u8,
}

impl Network {
    /// Whether the address is in the network; an IPv4-mapped IPv6 address counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (own, own_bits) = bits(self.address);
        let (other, other_bits) = bits(address.to_canonical());
        let host_bits = u32::from(own_bits - self.prefix.min(own_bits));
        own_bits == other_bits && (own ^ other).checked_shr(host_bits).unwrap_or(0) == 0
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Network {
    type Err = ();

    /// Parses `address/prefix`; host bits are cleared.
    fn from_str(text: &str) -> Result<Network, ()> {
        let (address, prefix) = text.split_once('/').ok_or(())?;
        let address: IpAddr = address.parse().map_err(drop)?;
        let (value, width) = bits(address);
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(());
        }
        let prefix: u8 = prefix.parse().map_err(drop)?;
        if prefix > width {
            return Err(());
        }
        let host_bits = u32::from(width - prefix);
        let cleared = value.checked_shr(host_bits).unwrap_or(0);
        Ok(Network {
            address: address_of(cleared.checked_shl(host_bits).unwrap_or(0), width),
            prefix,
        })
    }
}

/// A range of consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRange {
    /// The first.
    pub first: IpAddr,
    /// The last, of the same family and not before the first.
    pub last: IpAddr,
}

impl AddressRange {
    /// The number of addresses; saturates for the whole of IPv6.
    #[must_use]
    pub fn count(&self) -> u128 {
        bits(self.last)
            .0
            .saturating_sub(bits(self.first).0)
            .saturating_add(1)
    }

    /// The (`index` mod n)-th of the n addresses in all these ranges; `None` without ranges.
    #[must_use]
    pub fn nth_of(ranges: &[AddressRange], index: u64) -> Option<IpAddr> {
        let all = ranges
            .iter()
            .fold(0_u128, |sum, range| sum.saturating_add(range.count()));
        let mut left = u128::from(index).checked_rem(all)?;
        for range in ranges {
            if left < range.count() {
                let (first, width) = bits(range.first);
                return Some(address_of(first + left, width));
            }
            left -= range.count();
        }
        None
    }
}

impl FromStr for AddressRange {
    type Err = ();

    /// Parses an address, `first-last`, or a network. An IPv4 network of more than two addresses loses its
    /// first and last address, as in k6.
    fn from_str(text: &str) -> Result<AddressRange, ()> {
        if let Some((first, last)) = text.split_once('-') {
            let (first, last) = (first.parse().map_err(drop)?, last.parse().map_err(drop)?);
            let ((from, own), (to, other)) = (bits(first), bits(last));
            return match own == other && from <= to {
                true => Ok(AddressRange { first, last }),
                false => Err(()),
            };
        }
        if let Ok(network) = text.parse::<Network>() {
            return Ok(hosts_of(network));
        }
        let first = text.parse().map_err(drop)?;
        Ok(AddressRange { first, last: first })
    }
}

fn hosts_of(network: Network) -> AddressRange {
    let (first, width) = bits(network.address);
    let host_bits = u32::from(width - network.prefix);
    let more = 1_u128.checked_shl(host_bits).map_or(u128::MAX, |n| n - 1);
    let edges = u128::from(width == 32 && host_bits > 1);
    AddressRange {
        first: address_of(first + edges, width),
        last: address_of(first + (more - edges), width),
    }
}

/// The address as a number, and its width in bits.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(four) => (u128::from(four.to_bits()), 32),
        IpAddr::V6(six) => (six.to_bits(), 128),
    }
}

fn address_of(value: u128, width: u8) -> IpAddr {
    match width {
        32 => IpAddr::V4(Ipv4Addr::from_bits(
            u32::try_from(value).expect("arithmetic within one IPv4 network stays in it"),
        )),
        _ => IpAddr::V6(Ipv6Addr::from_bits(value)),
    }
}

/// How long a resolved name is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DnsTtl {
    /// For the whole run.
    Forever,
    /// Never; resolved again each time.
    Never,
    /// For this time.
    For(#[serde(with = "crate::units::duration_text")] Duration),
}

/// Which of a name's addresses is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DnsSelect {
    /// The first.
    First,
    /// Any.
    #[default]
    Random,
    /// One after another.
    RoundRobin,
}

/// Which family of a name's addresses is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DnsPolicy {
    /// IPv4 if there is any, otherwise IPv6.
    #[default]
    PreferIpv4,
    /// IPv6 if there is any, otherwise IPv4.
    PreferIpv6,
    /// IPv4 only.
    OnlyIpv4,
    /// IPv6 only.
    OnlyIpv6,
    /// Both.
    Any,
}

/// DNS settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRule {
    /// How long a resolved name is cached; default five minutes.
    pub ttl: DnsTtl,
    /// Which of its addresses is used.
    pub select: DnsSelect,
    /// Which family of its addresses is used.
    pub policy: DnsPolicy,
}

impl Default for DnsRule {
    fn default() -> DnsRule {
        DnsRule {
            ttl: DnsTtl::For(Duration::from_secs(300)),
            select: DnsSelect::Random,
            policy: DnsPolicy::PreferIpv4,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hosts(entries: &[(&str, &str)]) -> Hosts {
        let read = |text: &str| text.parse().expect("the test's address");
        Hosts::new(entries.iter().map(|(name, address)| (*name, read(address))))
            .expect("the test's patterns")
    }

    #[test]
    fn the_best_entry_serves() {
        let table = hosts(&[
            ("*.a.com", "1.1.1.1"),
            ("*.b.a.com", "2.2.2.2:99"),
            ("x.b.a.com", "3.3.3.3"),
            ("C.com:81", "[::1]:90"),
            ("d.com", "::1"),
        ]);
        for (host, port, found) in [
            ("y.a.com", 80, Some("1.1.1.1:80")),
            ("a.com", 80, None),
            ("y.B.a.com", 80, Some("2.2.2.2:99")),
            ("x.b.a.com", 443, Some("3.3.3.3:443")),
            ("c.com", 81, Some("[::1]:90")),
            ("c.com", 80, None),
            ("d.com", 8080, Some("[::1]:8080")),
        ] {
            let expected = found.map(|text| text.parse().expect("the test's address"));
            assert_eq!(table.find(host, port), expected, "{host}:{port}");
        }
        assert!(
            Hosts::new([(
                "a.*.c",
                HostAddress {
                    ip: Ipv4Addr::LOCALHOST.into(),
                    port: None
                }
            )])
            .is_err()
        );
        let written = serde_json::to_string(&table).expect("plain data");
        assert_eq!(
            serde_json::from_str::<Hosts>(&written).expect("just written"),
            table
        );
    }

    #[test]
    fn forbidden_names_are_told_by_their_pattern() {
        let patterns = HostnamePatterns::parse(["*.x.com", "y.com"]).expect("good patterns");
        assert_eq!(patterns.matching("A.X.com").as_deref(), Some("*.x.com"));
        assert_eq!(patterns.matching("x.com"), None);
        assert_eq!(patterns.matching("y.com").as_deref(), Some("y.com"));
        assert_eq!(patterns.matching("a.y.com"), None);
        assert_eq!(
            HostnamePatterns::parse(["*.", "*x", "A-1.b"]).map(|_| ()),
            Ok(())
        );
        for text in [
            "a_b", "-a", "a-", "a..b", ".a", "a.", " a", "a:80", "\u{e9}.x",
        ] {
            let refused = HostnamePatterns::parse([text]);
            assert_eq!(refused, Err(BadPattern(text.to_owned())));
        }
        assert_eq!(
            HostnamePatterns::parse(["x*"]),
            Err(BadPattern("x*".to_owned()))
        );
    }

    #[test]
    fn networks_contain_their_addresses() {
        let network: Network = "10.1.2.3/8".parse().expect("a network");
        assert_eq!(network.to_string(), "10.0.0.0/8");
        assert!(network.contains("10.255.0.1".parse().unwrap()));
        assert!(network.contains("::ffff:10.0.0.1".parse().unwrap()));
        assert!(!network.contains("11.0.0.1".parse().unwrap()));
        assert!(!network.contains("::1".parse().unwrap()));
        let all: Network = "::/0".parse().expect("a network");
        assert!(all.contains("::1".parse().unwrap()));
        for bad in ["10.0.0.0", "10.0.0.0/33", "a/8", "10.0.0.0/", "10.0.0.0/+8"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }

    #[test]
    fn local_addresses_are_taken_in_turn() {
        let ranges: Vec<AddressRange> = ["10.0.0.1-10.0.0.2", "192.168.0.0/30", "::1"]
            .iter()
            .map(|text| text.parse().expect("a range"))
            .collect();
        let turn: Vec<String> = (0..6)
            .filter_map(|index| AddressRange::nth_of(&ranges, index))
            .map(|address| address.to_string())
            .collect();
        assert_eq!(
            turn,
            [
                "10.0.0.1",
                "10.0.0.2",
                "192.168.0.1",
                "192.168.0.2",
                "::1",
                "10.0.0.1"
            ]
        );
        assert_eq!(AddressRange::nth_of(&[], 3), None);
        for bad in ["10.0.0.2-10.0.0.1", "10.0.0.1-::1", "x", ""] {
            assert!(bad.parse::<AddressRange>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9a-f.:/*-]{0,24}", index: u64) {
            let _ = text.parse::<Network>();
            let _ = text.parse::<HostAddress>();
            let _ = HostnamePatterns::parse([text.as_str()]);
            if let Ok(range) = text.parse::<AddressRange>() {
                prop_assert!(AddressRange::nth_of(&[range], index).is_some());
            }
        }
    }
}
