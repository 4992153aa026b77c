//! `binding`: the names of a script, as an object.
//!
//! Must not know who binds them. Invariant: a missing name throws, as it does in the script.

use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::{linked, text_of};

/// `groovy.lang.Binding`.
pub(crate) struct Binding;

fn bound(machine: &mut dyn Machine, name: &str) -> Outcome {
    machine.bindings().bound(name).ok_or_else(|| {
        Thrown::of(
            "groovy.lang.MissingPropertyException",
            format!("No such property: {name} for class: groovy.lang.Binding"),
        )
    })
}

fn all(machine: &mut dyn Machine) -> Value {
    let map = linked();
    for name in machine.bindings().names() {
        if let Some(value) = machine.bindings().bound(&name) {
            map.put(&Value::text(name), value);
        }
    }
    Value::Map(map)
}

fn set(machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    machine
        .bindings()
        .bind(&print::text(&given[0]), given[1].clone());
    Ok(Value::Null)
}

pub(super) static BINDING: Table = Table::new(&[
    row("getVariable", 1, 1, |machine, _, given| {
        bound(machine, &text_of(given, 0))
    }),
    row("getProperty", 1, 1, |machine, _, given| {
        bound(machine, &text_of(given, 0))
    }),
    row("setVariable", 2, 2, |machine, _, given| set(machine, given)),
    row("setProperty", 2, 2, |machine, _, given| set(machine, given)),
    row("hasVariable", 1, 1, |machine, _, given| {
        let name = text_of(given, 0);
        let is_bound = machine.bindings().bound(&name).is_some();
        Ok(Value::Truth(is_bound))
    }),
    row("getVariables", 0, 0, |machine, _, _| Ok(all(machine))),
]);

impl Object for Binding {
    fn class(&self) -> &'static str {
        "groovy.lang.Binding"
    }

    fn methods(&self) -> &'static Table {
        &BINDING
    }

    fn property(&self, machine: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        match name {
            "variables" => Ok(Some(all(machine))),
            "class" => Ok(None),
            name => bound(machine, name).map(Some),
        }
    }

    fn set_property(&self, machine: &mut dyn Machine, name: &str, value: &Value) -> Outcome<bool> {
        machine.bindings().bind(name, value.clone());
        Ok(true)
    }
}
