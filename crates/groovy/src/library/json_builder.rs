//! `JsonBuilder`: a tree filled by closures.
//!
//! Must not know how JSON is formatted. Invariant: its text is that of the last tree built.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::map::Map;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{json, linked};

/// `JsonBuilder`.
struct Builder {
    content: RefCell<Value>,
    /// Its JSON, once built.
    text: RefCell<String>,
}

/// The object filled by a closure of a builder.
struct Filling(Rc<Map>);

static NOTHING: Table = Table::new(&[]);

pub(super) fn is_builder(object: &dyn Object) -> bool {
    object.any().is::<Builder>()
}

impl Object for Filling {
    fn class(&self) -> &'static str {
        "groovy.json.JsonDelegate"
    }

    fn methods(&self) -> &'static Table {
        &NOTHING
    }

    fn call(
        &self,
        machine: &mut dyn Machine,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let value = built(machine, given)?;
        self.0.put(&Value::text(name), value.clone());
        Ok(Some(value))
    }

    /// It has none: names are those of the script.
    fn property(&self, _machine: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        Err(Thrown::of(
            "groovy.lang.MissingPropertyException",
            format!("No such property: {name} for class: {}", self.class()),
        ))
    }
}

/// Builds from arguments: a map, a list, an object filled by a closure, or a list for whose items a closure is
/// called.
fn built(machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    match given {
        [closure @ Value::Closure(_)] => filled(machine, closure, Vec::new()),
        [one] => Ok(one.clone()),
        [list, closure @ Value::Closure(_)] => {
            let mut found = Vec::new();
            for value in super::values(machine, list)? {
                found.push(filled(machine, closure, vec![value])?);
            }
            Ok(Value::list(found))
        }
        many => Ok(Value::list(many.to_vec())),
    }
}

fn filled(machine: &mut dyn Machine, closure: &Value, given: Vec<Value>) -> Outcome {
    let map = linked();
    let delegate = Value::object(Filling(Rc::clone(&map)));
    machine.call_on(closure, delegate, given)?;
    Ok(Value::Map(map))
}

fn set(machine: &mut dyn Machine, this: &Value, value: Value) -> Outcome {
    if let Some(builder) = this.of::<Builder>() {
        let text = json::written(machine, &value)?;
        builder.text.replace(text);
        builder.content.replace(value.clone());
    }
    Ok(value)
}

fn text(machine: &mut dyn Machine, this: &Value) -> Outcome<String> {
    let content = this
        .of::<Builder>()
        .map_or(Value::Null, |builder| builder.content.borrow().clone());
    json::written(machine, &content)
}

pub(super) static BUILDER: Table = Table::new(&[
    row("call", 0, 2, |machine, this, given| {
        let value = built(machine, given)?;
        set(machine, this, value)
    }),
    row("toString", 0, 0, |machine, this, _| {
        Ok(Value::text(text(machine, this)?))
    }),
    row("toPrettyString", 0, 0, |machine, this, _| {
        Ok(Value::text(json::pretty(&text(machine, this)?)))
    }),
    row("getContent", 0, 0, |_, this, _| {
        Ok(this
            .of::<Builder>()
            .map_or(Value::Null, |builder| builder.content.borrow().clone()))
    }),
    row("writeTo", 1, 1, |machine, this, given| {
        let text = text(machine, this)?;
        machine.invoke(&given[0], "append", &[Value::text(text)])
    }),
]);

impl Object for Builder {
    fn class(&self) -> &'static str {
        "groovy.json.JsonBuilder"
    }

    fn methods(&self) -> &'static Table {
        &BUILDER
    }

    fn text(&self) -> String {
        self.text.borrow().clone()
    }

    /// `builder.person { … }` creates a root with that name.
    fn call(
        &self,
        machine: &mut dyn Machine,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let is_own = BUILDER.has(name) || given.is_empty() || super::any::METHODS.has(name);
        if is_own {
            return Ok(None);
        }
        let map = linked();
        let value = built(machine, given)?;
        map.put(&Value::text(name), value);
        let root = Value::Map(map);
        self.text.replace(json::written(machine, &root)?);
        self.content.replace(root.clone());
        Ok(Some(root))
    }

    fn property(&self, machine: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        let content = self.content.borrow().clone();
        match (name, &content) {
            ("content" | "class", _) | (_, Value::Null) => Ok(None),
            _ => machine.property(&content, name).map(Some),
        }
    }
}

static BUILDERS: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    let builder = Value::object(Builder {
        content: RefCell::new(Value::Null),
        text: RefCell::new("null".to_owned()),
    });
    if let Some(content) = given.first() {
        set(machine, &builder, content.clone())?;
    }
    Ok(builder)
})]);

pub(super) const CLASSES: &[Class] = &[Class {
    name: "groovy.json.JsonBuilder",
    statics: &BUILDERS,
}];
