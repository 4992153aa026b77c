//! Settings for sending points.
//!
//! Must not know where settings come from. Invariant: settings with secrets are not printed.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Settings for sending points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InfluxSettings {
    /// `http://host:port`, optionally with a path before the API's, or `udp://host:port`; never a password.
    pub address: String,
    /// The API version, and the destination of the points.
    pub target: InfluxTarget,
    /// The unit of timestamps.
    pub precision: Precision,
    /// Tags and metadata that become fields, which the server does not index.
    pub fields: Vec<(String, FieldKind)>,
    /// How long points wait for more to be sent together.
    pub push_interval: Duration,
    /// Concurrent posts; at least one.
    pub concurrent_writes: usize,
    /// Whether TLS verification is skipped.
    pub trusts_all: bool,
    /// The address of a proxy; `None`: the one from the environment.
    pub proxy: Option<String>,
    /// Maximum bytes of a datagram; without effect over HTTP.
    pub datagram_bytes: usize,
}

/// The API version, and the destination of the points.
#[derive(Clone, PartialEq, Eq)]
pub enum InfluxTarget {
    /// Version 1: `/write`.
    V1 {
        /// Database; created if the server does not have it.
        database: String,
        /// Retention policy; empty: the database's own.
        retention: String,
        /// Consistency level of a cluster; empty: the server's own.
        consistency: String,
        /// User and password; `None`: no authentication.
        user: Option<(String, String)>,
    },
    /// Version 2, and 3 by the same paths: `/api/v2/write`.
    V2 {
        /// Organisation; empty if the server has none.
        organization: String,
        /// Bucket.
        bucket: String,
        /// Token; `None`: no authentication.
        token: Option<String>,
    },
}

impl fmt::Debug for InfluxTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InfluxTarget::V1 { database, .. } => write!(f, "V1({database})"),
            InfluxTarget::V2 { bucket, .. } => write!(f, "V2({bucket})"),
        }
    }
}

/// How the value of a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// In quotes.
    Text,
    /// `12i`; anything but an integer is written as text.
    Int,
    /// `1.5`; anything but a number is written as text.
    Float,
    /// `true` or `false`; anything else is written as text.
    Bool,
}

impl FieldKind {
    /// The kind with this name in `K6_INFLUXDB_TAGS_AS_FIELDS`; `None` if there is no such kind.
    #[must_use]
    pub fn of(name: &str) -> Option<FieldKind> {
        Some(match name {
            "string" => FieldKind::Text,
            "int" => FieldKind::Int,
            "float" => FieldKind::Float,
            "bool" => FieldKind::Bool,
            _ => return None,
        })
    }
}

/// The unit of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Nanoseconds.
    #[default]
    Nanosecond,
    /// Microseconds.
    Microsecond,
    /// Milliseconds.
    Millisecond,
    /// Seconds.
    Second,
    /// Minutes; only version 1.
    Minute,
    /// Hours; only version 1.
    Hour,
}

/// An unknown precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPrecision(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownPrecision(name) = self;
        write!(
            f,
            "{name:?} is not a precision of InfluxDB; use ns, us, ms, s, m or h"
        )
    }
}

impl std::error::Error for UnknownPrecision {}

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(name: &str) -> Result<Precision, UnknownPrecision> {
        Ok(match name {
            "" | "n" | "ns" => Precision::Nanosecond,
            "u" | "us" | "µs" | "μs" => Precision::Microsecond,
            "ms" => Precision::Millisecond,
            "s" => Precision::Second,
            "m" => Precision::Minute,
            "h" => Precision::Hour,
            other => return Err(UnknownPrecision(other.to_owned())),
        })
    }
}

impl Precision {
    /// Its name in the query of version 1.
    pub(super) fn name_in_v1(self) -> &'static str {
        match self {
            Precision::Microsecond => "u",
            other => other.name(),
        }
    }

    /// Its name in the query of version 2.
    pub(super) fn name(self) -> &'static str {
        match self {
            Precision::Nanosecond => "ns",
            Precision::Microsecond => "us",
            Precision::Millisecond => "ms",
            Precision::Second => "s",
            Precision::Minute => "m",
            Precision::Hour => "h",
        }
    }

    /// Nanoseconds in one unit.
    pub(super) fn unit_ns(self) -> u64 {
        match self {
            Precision::Nanosecond => 1,
            Precision::Microsecond => 1_000,
            Precision::Millisecond => 1_000_000,
            Precision::Second => 1_000_000_000,
            Precision::Minute => 60_000_000_000,
            Precision::Hour => 3_600_000_000_000,
        }
    }
}
