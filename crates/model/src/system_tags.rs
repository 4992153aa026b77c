//! The tags that samples of a script run get automatically.
//!
//! Names and defaults are k6's. Must not know which sample has which value. Invariant: a set is serialized as
//! the sorted list of its names.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! system_tags {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $default:literal;)+) => {
        /// A tag that samples get automatically.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SystemTag { $($(#[doc = $doc])+ $variant,)+ }

        impl SystemTag {
            /// All of them, in order of their names.
            pub const ALL: &'static [SystemTag] = &[$(SystemTag::$variant),+];

            /// The name of the tag.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(SystemTag::$variant => $name,)+ }
            }

            /// The tag with this name; `None` if there is no such tag.
            #[must_use]
            pub fn named(name: &str) -> Option<SystemTag> {
                match name {
                    $($name => Some(SystemTag::$variant),)+
                    _ => None,
                }
            }

            /// Whether it is set by default.
            #[must_use]
            pub const fn is_default(self) -> bool {
                match self { $(SystemTag::$variant => $default,)+ }
            }
        }
    };
}

system_tags! {
    /// Name of the check.
    Check = "check", true;
    /// Why the request failed, in words.
    Error = "error", true;
    /// Why the request failed, as a number.
    ErrorCode = "error_code", true;
    /// Whether the response callback expected the status.
    ExpectedResponse = "expected_response", true;
    /// Path of the group, `::outer::inner`; empty outside of groups.
    Group = "group", true;
    /// Remote address.
    Ip = "ip", false;
    /// Number of the iteration; never part of a series.
    Iter = "iter", false;
    /// Method of the request.
    Method = "method", true;
    /// Name of the request; its URL unless the script names it.
    Name = "name", true;
    /// The server's stapled statement about the revocation of its certificate.
    OcspStatus = "ocsp_status", false;
    /// Protocol of the response.
    Proto = "proto", true;
    /// Name of the scenario.
    Scenario = "scenario", true;
    /// gRPC service.
    Service = "service", true;
    /// Status of the response; `0` without one.
    Status = "status", true;
    /// WebSocket subprotocol.
    Subproto = "subproto", true;
    /// TLS version of the connection.
    TlsVersion = "tls_version", true;
    /// URL of the request.
    Url = "url", true;
    /// Number of the virtual user; never part of a series.
    Vu = "vu", false;
}

/// Which of the tags are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

impl SystemTags {
    /// No tag.
    pub const NONE: SystemTags = SystemTags(0);

    /// The same set with one more tag.
    #[must_use]
    pub const fn with(self, tag: SystemTag) -> SystemTags {
        SystemTags(self.0 | 1 << tag as u32)
    }

    /// Whether the tag is set.
    #[must_use]
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// Those that are set, in the order of their names.
    pub fn iter(self) -> impl Iterator<Item = SystemTag> {
        SystemTag::ALL
            .iter()
            .copied()
            .filter(move |tag| self.has(*tag))
    }

    /// The tags with these names; unknown names are ignored, as in k6.
    #[must_use]
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> SystemTags {
        let known = |name: &str| SystemTag::ALL.iter().find(|tag| tag.name() == name);
        names
            .into_iter()
            .filter_map(known)
            .fold(SystemTags::NONE, |set, tag| set.with(*tag))
    }
}

impl Default for SystemTags {
    fn default() -> SystemTags {
        let defaults = SystemTag::ALL.iter().filter(|tag| tag.is_default());
        defaults.fold(SystemTags::NONE, |set, tag| set.with(*tag))
    }
}

impl Serialize for SystemTags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(SystemTag::name))
    }
}

impl<'de> Deserialize<'de> for SystemTags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SystemTags, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(SystemTags::from_names(names.iter().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_travel_as_sorted_names() {
        let some = SystemTags::from_names(["url", "nonsense", "check", "url"]);
        let written = serde_json::to_string(&some).expect("names");
        assert_eq!(written, r#"["check","url"]"#);
        assert_eq!(
            serde_json::from_str::<SystemTags>(&written).expect("just written"),
            some
        );
        assert!(some.has(SystemTag::Url) && !some.has(SystemTag::Vu));
        let names: Vec<_> = SystemTag::ALL.iter().map(|tag| tag.name()).collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn fourteen_are_set_by_default() {
        assert_eq!(SystemTags::default().iter().count(), 14);
        assert!(!SystemTags::default().has(SystemTag::Vu));
    }
}
