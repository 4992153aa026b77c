//! Maps and sets, with Java's iteration order.
//!
//! Must not know how values compare. Invariant: keys are unique.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use indexmap::IndexMap;

use super::value::Value;

/// The iteration order of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// Insertion order.
    Linked,
    /// That of a `HashMap`.
    Hash,
    /// `ConcurrentHashMap`, with the order of a `HashMap`.
    Concurrent,
    /// Sorted.
    Tree,
    /// Insertion order, immutable.
    Constant,
    /// The map of `JsonSlurper`: insertion order, with another class name.
    Lazy,
    /// `java.util.Properties`, with the order of a `HashMap`.
    Properties,
}

/// A key, with identity according to Java's `equals` and `hashCode`.
#[derive(Clone)]
pub struct Key {
    /// The value.
    pub value: Value,
    /// Its hash code.
    pub hash: i32,
}

/// A map.
pub struct Map {
    /// Its iteration order.
    pub kind: MapKind,
    /// Its entries, in insertion order.
    pub entries: RefCell<IndexMap<Key, Value>>,
    /// The closure that computes the value of a missing key on access; unset: there is no value then.
    pub default: OnceCell<Value>,
    /// The comparator of a sorted map, which keeps its entries in that order; unset: the natural order.
    pub by: OnceCell<Value>,
}

impl Map {
    /// A map without entries.
    #[must_use]
    pub fn new(kind: MapKind) -> Rc<Map> {
        Rc::new(Map {
            kind,
            entries: RefCell::default(),
            default: OnceCell::new(),
            by: OnceCell::new(),
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
    /// The value of a key; `None`: missing.
    #[must_use]
    pub fn get(&self, key: &Value) -> Option<Value> {
        self.entries.borrow().get(&Key::of(key)).cloned()
    }

    /// Whether a key exists.
    #[must_use]
    pub fn has(&self, key: &Value) -> bool {
        self.entries.borrow().contains_key(&Key::of(key))
    }

    /// Sets the value of a key; returns the previous one.
    pub fn put(&self, key: &Value, value: Value) -> Option<Value> {
        let key = Key::of(key);
        self.entries.borrow_mut().insert(key, value)
    }

    /// Removes a key; returns its value.
    pub fn remove(&self, key: &Value) -> Option<Value> {
        let key = Key::of(key);
        self.entries.borrow_mut().shift_remove(&key)
    }
}
