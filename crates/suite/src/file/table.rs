//! What a map in a suite file may contain, as data: the source of the checker, the schema and the hints.
//!
//! A table describes a key in one line. Types with serde and schemars instead were tried: 220 lines more, since
//! texts to be filled, maps of several parts and "exactly one of" have to be written with their places anyway.
//!
//! Must not know any key. Invariant: what is not in a table is refused.

/// Keys with their types.
pub type Keys = &'static [Key];

/// One key of a map.
#[derive(Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// A description in one line, with unit and default.
    pub about: &'static str,
    /// What it may hold.
    pub kind: KeyType,
}

/// A map with known keys.
#[derive(Debug)]
pub struct Object {
    /// Its name in the schema and in messages.
    pub name: &'static str,
    /// Its keys, in parts that several objects share.
    pub keys: &'static [Keys],
    /// Keys that must be there.
    pub required: &'static [&'static str],
    /// Groups of keys of which exactly one may be there.
    pub one_of: &'static [&'static str],
    /// What keys of any other name hold; `None`: there are none.
    pub others: Option<&'static KeyType>,
}

/// What a value may be.
#[derive(Debug)]
pub enum KeyType {
    /// Text; numbers and `true` are taken as text too.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number from zero on.
    Count,
    /// A number.
    Number,
    /// A share: `0.99` or `99%`.
    Share,
    /// A length of time.
    Duration,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A map with known keys.
    Object(&'static Object),
    /// A map with any keys.
    MapOf(&'static KeyType),
    /// A list.
    ListOf(&'static KeyType),
    /// One value, or a list of them.
    OneOrMore(&'static KeyType),
    /// One of several.
    Either(&'static [KeyType]),
    /// Checked by whom it is for; what it should be.
    Foreign(&'static KeyType),
}

impl Object {
    /// The keys in the order of the tables.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().flat_map(|part| part.iter())
    }

    /// Its name with its article, for messages.
    #[must_use]
    pub fn described(&self) -> String {
        let name = self.name;
        let article = match name.starts_with(['a', 'e', 'i', 'o', 'u']) || name.starts_with("HTTP")
        {
            true => "an",
            false => "a",
        };
        format!("{article} {name}")
    }

    /// A key by name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }
}

impl KeyType {
    /// What is expected, for messages.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            KeyType::Text => "text".to_owned(),
            KeyType::Flag => "true or false".to_owned(),
            KeyType::Count => "a whole number from 0 on".to_owned(),
            KeyType::Number => "a number".to_owned(),
            KeyType::Share => "a share such as 99% or 0.99".to_owned(),
            KeyType::Duration => "a length of time such as 30s, a year at most".to_owned(),
            KeyType::Choice(words) => format!("one of {}", words.join(", ")),
            KeyType::Object(object) => format!("a map ({})", names(object)),
            KeyType::MapOf(_) => "a map of names to values".to_owned(),
            KeyType::ListOf(kind) => format!("a list, each {}", kind.wanted()),
            KeyType::OneOrMore(kind) => format!("{} or a list of such", kind.wanted()),
            KeyType::Either(kinds) => {
                let wanted: Vec<String> = kinds.iter().map(KeyType::wanted).collect();
                wanted.join(", or ")
            }
            KeyType::Foreign(kind) => kind.wanted(),
        }
    }
}

fn names(object: &Object) -> String {
    let names: Vec<&str> = object.all().map(|key| key.name).collect();
    names.join(", ")
}
