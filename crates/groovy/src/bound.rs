//! Objects of the host, which a script accesses as `vars`, `prev` etc.
//!
//! Must not know what they do. Invariant: an object is accessed through the bindings, and holds no state
//! itself.

use std::sync::Arc;

use super::table::Table;
use super::value::{Machine, Object, Outcome, Value};

/// An object of the host.
pub struct Bound {
    /// Its name in the host.
    pub name: &'static str,
    /// Its number among the host's objects with this name.
    pub number: usize,
    /// The full name of its class.
    pub class: &'static str,
    /// Its text, if it is more than a class name.
    pub told: Option<Arc<str>>,
}

static NO_METHODS: Table = Table::new(&[]);

impl Object for Bound {
    fn class(&self) -> &'static str {
        self.class
    }

    fn methods(&self) -> &'static Table {
        &NO_METHODS
    }

    fn text(&self) -> String {
        match &self.told {
            Some(told) => told.to_string(),
            None => format!("{}@1b2c3d", self.class),
        }
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let other = other.any().downcast_ref::<Bound>();
        other.is_some_and(|other| (other.name, other.number) == (self.name, self.number))
    }

    fn call(
        &self,
        machine: &mut dyn Machine,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let found = machine
            .bindings()
            .ask(self.name, self.number, name, given)?;
        match (found, name, given) {
            (None, "getAt", [at]) => self.property(machine, &super::print::text(at)),
            (found, _, _) => Ok(found),
        }
    }

    /// A property is the value of its getter, or of a `get` that accepts any name.
    fn property(&self, machine: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        let mut characters = name.chars();
        let first = characters
            .next()
            .map(|first| first.to_uppercase().to_string());
        let rest = characters.as_str();
        for prefix in ["get", "is"] {
            let getter = format!("{prefix}{}{rest}", first.as_deref().unwrap_or_default());
            if let Some(value) = machine
                .bindings()
                .ask(self.name, self.number, &getter, &[])?
            {
                return Ok(Some(value));
            }
        }
        machine
            .bindings()
            .ask(self.name, self.number, "get", &[Value::text(name)])
    }

    /// Objects that store values under any name also accept them as properties.
    fn set_property(&self, machine: &mut dyn Machine, name: &str, value: &Value) -> Outcome<bool> {
        let given = [Value::text(name), value.clone()];
        let bindings = machine.bindings();
        let taken = bindings.ask(self.name, self.number, "putAt", &given)?;
        Ok(taken.is_some())
    }

    /// It iterates over the list that it returns for itself.
    fn iterate(&self, machine: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        let bindings = machine.bindings();
        Ok(
            match bindings.ask(self.name, self.number, "iterator", &[])? {
                Some(Value::List(list)) => Some(list.copied()),
                _ => None,
            },
        )
    }

    fn is_a(&self, name: &str) -> bool {
        self.class.rsplit('.').next() == Some(name)
    }
}
