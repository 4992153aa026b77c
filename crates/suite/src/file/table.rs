//! What a map of a suite file may hold, as data: the checker, the schema and the hints are made of it.
//!
//! Must not know any key. Invariant: what is not in a table is refused.

/// Keys with their meaning.
pub type Keys = &'static [Key];

/// One key of a map.
#[derive(Debug)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What it says, in one line, with unit and default.
    pub about: &'static str,
    /// What it may hold.
    pub kind: Kind,
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
    pub others: Option<&'static Kind>,
}

/// What a value may be.
#[derive(Debug)]
pub enum Kind {
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
    MapOf(&'static Kind),
    /// A list.
    ListOf(&'static Kind),
    /// One value, or a list of them.
    OneOrMore(&'static Kind),
    /// One of several.
    Either(&'static [Kind]),
    /// Checked by whom it is for.
    Foreign,
}

impl Object {
    /// The keys in the order of the tables.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().flat_map(|part| part.iter())
    }

    /// A key by name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }
}

impl Kind {
    /// What is wanted, for messages.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Count => "a whole number from 0 on".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Share => "a share such as 99% or 0.99".to_owned(),
            Kind::Duration => "a length of time such as 30s".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Object(object) => format!("a map ({})", names(object)),
            Kind::MapOf(_) => "a map of names to values".to_owned(),
            Kind::ListOf(kind) => format!("a list, each {}", kind.wanted()),
            Kind::OneOrMore(kind) => format!("{} or a list of such", kind.wanted()),
            Kind::Either(kinds) => {
                let wanted: Vec<String> = kinds.iter().map(Kind::wanted).collect();
                wanted.join(", or ")
            }
            Kind::Foreign => "a value".to_owned(),
        }
    }
}

fn names(object: &Object) -> String {
    let names: Vec<&str> = object.all().map(|key| key.name).collect();
    names.join(", ")
}
