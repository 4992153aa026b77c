//! The tags that k6 sets by itself, and which of them are on.
//!
//! Must not know values. Invariant: the default set is k6's.

use serde_json::Value;

macro_rules! system_tags {
    ($($variant:ident = $name:literal, $default:literal;)+) => {
        /// A tag that is set by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum SystemTag { $(#[doc = concat!("`", $name, "`")] $variant,)+ }

        impl SystemTag {
            /// Every system tag.
            pub const ALL: &'static [SystemTag] = &[$(SystemTag::$variant),+];

            /// The tag's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(SystemTag::$variant => $name,)+ }
            }

            /// The tag of that name; `None` when it is none of these.
            #[must_use]
            pub fn named(name: &str) -> Option<SystemTag> {
                match name { $($name => Some(SystemTag::$variant),)+ _ => None }
            }

            fn is_default(self) -> bool {
                match self { $(SystemTag::$variant => $default,)+ }
            }
        }
    };
}

system_tags! {
    Proto = "proto", true;
    Subproto = "subproto", true;
    Status = "status", true;
    Method = "method", true;
    Url = "url", true;
    Name = "name", true;
    Group = "group", true;
    Check = "check", true;
    Error = "error", true;
    ErrorCode = "error_code", true;
    TlsVersion = "tls_version", true;
    Scenario = "scenario", true;
    Service = "service", true;
    ExpectedResponse = "expected_response", true;
    Vu = "vu", false;
    Iter = "iter", false;
    Ip = "ip", false;
    OcspStatus = "ocsp_status", false;
}

/// Which system tags are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(u32);

impl Default for SystemTags {
    fn default() -> SystemTags {
        SystemTag::ALL
            .iter()
            .filter(|tag| tag.is_default())
            .fold(SystemTags::none(), |mut set, tag| {
                set.set(*tag);
                set
            })
    }
}

impl SystemTags {
    /// No tag.
    #[must_use]
    pub fn none() -> SystemTags {
        SystemTags(0)
    }

    /// The tags of an option's list; names that are no system tag are left out.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> SystemTags {
        let mut set = SystemTags::none();
        for tag in names.into_iter().filter_map(SystemTag::named) {
            set.set(tag);
        }
        set
    }

    /// The tags of the option `systemTags` as JSON; `None` when it is not a list.
    #[must_use]
    pub fn of_json(list: &Value) -> Option<SystemTags> {
        let names = list.as_array()?.iter().filter_map(Value::as_str);
        Some(SystemTags::of(names))
    }

    /// Whether a tag is on.
    #[must_use]
    pub fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// Turns a tag on.
    pub fn set(&mut self, tag: SystemTag) {
        self.0 |= 1 << tag as u32;
    }
}
