//! Maps and sets, in the order in which Java gives out what is in them.
//!
//! Must not know how values compare. Invariant: a key comes once.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use indexmap::IndexMap;

use super::value::Value;

/// In which order a map gives out its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// As they were put in.
    Linked,
    /// As a `HashMap` does.
    Hash,
    /// Sorted.
    Tree,
    /// As they were put in, and nothing changes.
    Constant,
    /// What `JsonSlurper` makes: as they were put in, under another name.
    Lazy,
    /// `java.util.Properties`, which gives out its keys as a `HashMap` does.
    Properties,
}

/// A key, which is what Java's `equals` and `hashCode` say it is.
#[derive(Clone)]
pub struct Key {
    /// The value.
    pub value: Value,
    /// Its hash code.
    pub hash: i32,
}

/// A map.
pub struct Map {
    /// In which order it gives out its keys.
    pub kind: MapKind,
    /// Its entries, as they were put in.
    pub entries: RefCell<IndexMap<Key, Value>>,
    /// The closure that makes the value of a key that is asked for and not there; none: there is no value then.
    pub default: OnceCell<Value>,
}

impl Map {
    /// A map without entries.
    #[must_use]
    pub fn new(kind: MapKind) -> Rc<Map> {
        Rc::new(Map {
            kind,
            entries: RefCell::default(),
            default: OnceCell::new(),
        })
    }

    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.borrow().is_empty()
    }
}

impl Map {
    /// The value of a key; `None`: there is no such key.
    #[must_use]
    pub fn get(&self, key: &Value) -> Option<Value> {
        self.entries.borrow().get(&Key::of(key)).cloned()
    }

    /// Whether there is a key.
    #[must_use]
    pub fn has(&self, key: &Value) -> bool {
        self.entries.borrow().contains_key(&Key::of(key))
    }

    /// Sets the value of a key; what it was.
    pub fn put(&self, key: &Value, value: Value) -> Option<Value> {
        let key = Key::of(key);
        self.entries.borrow_mut().insert(key, value)
    }

    /// Removes a key; what its value was.
    pub fn remove(&self, key: &Value) -> Option<Value> {
        let key = Key::of(key);
        self.entries.borrow_mut().shift_remove(&key)
    }
}
