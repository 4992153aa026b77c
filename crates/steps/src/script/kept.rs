//! Values of scripts that outlive a run: objects stored as variables of a thread, or as properties of all
//! threads.
//!
//! Must not know who runs scripts. Invariant: values shared by threads are copied in and out.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use loadline_groovy::decimal::Decimal;
use loadline_groovy::map::{Map, MapKind};
use loadline_groovy::value::{List, ListKind, Value};
use loadline_groovy::{Counter, Dialect, Script, order, print};

use crate::variables::Variables;

/// Maximum cached scripts: scripts containing variables have ever new texts.
const MOST_READ: usize = 256;

/// State that the scripts of one thread keep between runs.
#[derive(Default)]
pub struct Kept {
    /// Objects stored as variables, each with the variable's text.
    objects: HashMap<String, (String, Value)>,
    /// Whether a run holds the lock of the queues in the properties.
    pub(super) has_turn: bool,
    /// The names set by each BeanShell element, by the element's address.
    spaces: HashMap<usize, HashMap<String, Value>>,
    /// Scripts created at run time.
    read: HashMap<(Dialect, String), Result<Arc<Script>, String>>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} objects, {} scripts",
            self.objects.len(),
            self.read.len()
        )
    }
}

impl Kept {
    /// Stores the object of a variable with this text.
    pub(super) fn put(&mut self, name: &str, text: &str, value: &Value) {
        match value {
            Value::Text(_) => {
                self.objects.remove(name);
            }
            other => {
                self.objects
                    .insert(name.to_owned(), (text.to_owned(), other.clone()));
            }
        }
    }

    /// The object of a variable, as long as the variable has the same text.
    pub(super) fn get(&self, name: &str, text: &str) -> Option<Value> {
        let (known, value) = self.objects.get(name)?;
        (known == text).then(|| value.clone())
    }

    /// Updates a variable to the current text of its object: scripts change objects in place.
    pub(crate) fn refresh(&mut self, name: &str, variables: &mut Variables) {
        let Some((known, value)) = self.objects.get_mut(name) else {
            return;
        };
        if variables.get(name) == Some(known.as_str()) {
            let now = print::java_text(value);
            if now != *known {
                variables.put(name, now.as_str());
                *known = now;
            }
        }
    }

    /// The same for all objects.
    pub(crate) fn refresh_all(&mut self, variables: &mut Variables) {
        let names: Vec<String> = self.objects.keys().cloned().collect();
        for name in names {
            self.refresh(&name, variables);
        }
    }

    /// Takes the names set by an element.
    pub(super) fn take_space(&mut self, element: usize) -> HashMap<String, Value> {
        self.spaces.remove(&element).unwrap_or_default()
    }

    /// Stores the names set by an element.
    pub(super) fn keep_space(&mut self, element: usize, names: HashMap<String, Value>) {
        self.spaces.insert(element, names);
    }

    /// The compiled script for a text; cached.
    pub(super) fn read(&mut self, source: &str, dialect: Dialect) -> Result<Arc<Script>, String> {
        if self.read.len() >= MOST_READ {
            self.read.clear();
        }
        let known = self
            .read
            .entry((dialect, source.to_owned()))
            .or_insert_with_key(|(dialect, source)| read(source, *dialect));
        known.clone()
    }
}

/// Compiles a script; the error is that of its language.
pub(super) fn read(source: &str, dialect: Dialect) -> Result<Arc<Script>, String> {
    let script = Script::read(source, dialect);
    script.map(Arc::new).map_err(|fault| match dialect {
        Dialect::Groovy => format!(
            "org.codehaus.groovy.control.MultipleCompilationErrorsException: startup failed:\nScript1.groovy: {fault}\n\n1 error\n"
        ),
        Dialect::BeanShell => format!(
            "In file: inline evaluation of: ``{}'' {fault}",
            shown(source)
        ),
    })
}

/// Characters of a script that BeanShell shows in errors.
const SHOWN: usize = 80;

/// The start of a script, as BeanShell shows it before an error.
pub(super) fn shown(source: &str) -> String {
    let source = source.replace(['\n', '\r'], " ");
    let end = if source.ends_with(';') { "" } else { ";" };
    let whole = source + end;
    match whole.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{} . . . ", &whole[..at]),
        None => whole,
    }
}

/// A value shared by threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Shared {
    /// Null.
    Null,
    /// `boolean`.
    Truth(bool),
    /// `int`.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `double`.
    Double(f64),
    /// A number of arbitrary precision.
    Decimal(Decimal),
    /// A text, or the text of any other value.
    Text(String),
    /// A counter shared by threads.
    Counter(Counter),
    /// A list.
    List(ListKind, Vec<Shared>),
    /// A map.
    Map(MapKind, Vec<(Shared, Shared)>),
    /// A set.
    Set(MapKind, Vec<Shared>),
}

/// Maximum depth; deeper values are shared as texts.
const DEEPEST: usize = 40;

impl Shared {
    /// A copy of a value.
    pub(super) fn of(value: &Value) -> Shared {
        Shared::within(value, 0)
    }

    fn within(value: &Value, depth: usize) -> Shared {
        if depth > DEEPEST {
            return Shared::Text(String::new());
        }
        let all = |values: &[Value]| {
            values
                .iter()
                .map(|one| Shared::within(one, depth + 1))
                .collect()
        };
        match value {
            Value::Null | Value::Void => Shared::Null,
            Value::Truth(truth) => Shared::Truth(*truth),
            Value::Int(number) => Shared::Int(*number),
            Value::Long(number) => Shared::Long(*number),
            Value::Double(number) => Shared::Double(*number),
            Value::Decimal(number) => Shared::Decimal((**number).clone()),
            Value::Object(_) if value.of::<Counter>().is_some() => {
                let counter = value.of::<Counter>().cloned();
                counter.map_or(Shared::Null, Shared::Counter)
            }
            Value::List(list) => Shared::List(list.kind, all(&list.copied())),
            Value::Set(set) => Shared::Set(set.kind, all(&order::keys(set))),
            Value::Map(map) => {
                let entries = order::entries(map).into_iter();
                let entries = entries.map(|(key, value)| {
                    (
                        Shared::within(&key, depth + 1),
                        Shared::within(&value, depth + 1),
                    )
                });
                Shared::Map(map.kind, entries.collect())
            }
            other => Shared::Text(print::text(other)),
        }
    }

    /// A copy of the shared value.
    pub(super) fn value(&self) -> Value {
        match self {
            Shared::Null => Value::Null,
            Shared::Truth(truth) => Value::Truth(*truth),
            Shared::Int(number) => Value::Int(*number),
            Shared::Long(number) => Value::Long(*number),
            Shared::Double(number) => Value::Double(*number),
            Shared::Decimal(number) => Value::Decimal(Rc::new(number.clone())),
            Shared::Text(text) => Value::text(text.as_str()),
            Shared::Counter(counter) => Value::object(counter.clone()),
            Shared::List(kind, items) => {
                Value::List(List::new(*kind, items.iter().map(Shared::value).collect()))
            }
            Shared::Map(kind, entries) => {
                let map = Map::new(*kind);
                for (key, value) in entries {
                    map.put(&key.value(), value.value());
                }
                Value::Map(map)
            }
            Shared::Set(kind, items) => {
                let set = Map::new(*kind);
                for item in items {
                    set.put(&item.value(), Value::Null);
                }
                Value::Set(set)
            }
        }
    }
}
