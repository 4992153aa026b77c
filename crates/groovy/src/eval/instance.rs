//! Objects of a script's classes.
//!
//! Must not know what their methods do. Invariant: conversion to text and comparison take bounded work.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::super::ast::Name;
use super::super::order;
use super::super::print;
use super::super::table::Table;
use super::super::thrown::Exception;
use super::super::value::{Object, Value};
use super::Shared;
use super::aside;
use super::classes::ScriptClass;

/// An object of a script's class.
pub(crate) struct Instance {
    /// A reference to itself.
    pub(super) me: Weak<Instance>,
    pub(super) class: Rc<ScriptClass>,
    pub(super) shared: Rc<Shared>,
    pub(super) fields: RefCell<Vec<(Name, Value)>>,
    /// For a value of an enum its name and ordinal.
    pub(super) constant: Option<(Name, i32)>,
    /// For an exception its message and cause.
    pub(super) message: RefCell<Option<Arc<str>>>,
    pub(super) cause: RefCell<Option<Rc<Exception>>>,
}

static NO_METHODS: Table = Table::new(&[]);

impl Instance {
    /// The object in a value; `None`: it is not of a script's class.
    pub(super) fn of(value: &Value) -> Option<&Instance> {
        value.of::<Instance>()
    }

    /// The object as a value.
    pub(super) fn value(&self) -> Value {
        match self.me.upgrade() {
            Some(me) => Value::Object(me),
            None => Value::Null,
        }
    }

    pub(super) fn field(&self, name: &str) -> Option<Value> {
        let fields = self.fields.borrow();
        let found = fields.iter().find(|(known, _)| **known == *name);
        found.map(|(_, value)| value.clone())
    }

    pub(super) fn set_field(&self, name: &str, value: Value) -> bool {
        let mut fields = self.fields.borrow_mut();
        let found = fields.iter_mut().find(|(known, _)| **known == *name);
        // The old value may own this object: it is dropped when nothing is borrowed.
        let before = found.map(|(_, place)| std::mem::replace(place, value));
        drop(fields);
        before.is_some()
    }

    /// Its text if its class has no `toString`.
    pub(super) fn plain_text(&self) -> String {
        if let Some((name, _)) = &self.constant {
            return name.to_string();
        }
        let name = &self.class.definition.full;
        if self.class.base.is_some() {
            return match &*self.message.borrow() {
                Some(message) => format!("{name}: {message}"),
                None => name.to_string(),
            };
        }
        if !self.class.has(|given| given.is_told) {
            return format!("{name}@1b2c3d");
        }
        let has_names = self.class.has(|given| given.has_names);
        let told = self.class.properties().map(|field| {
            let value = print::text(&self.field(&field.name).unwrap_or(Value::Null));
            match has_names {
                true => format!("{}:{value}", field.name),
                false => value,
            }
        });
        format!("{name}({})", told.collect::<Vec<_>>().join(", "))
    }
}

/// The value that a script catches: the object of its own class, or the exception.
pub(super) fn caught(exception: &Rc<Exception>) -> Value {
    let own = exception.own.as_ref().map(|own| Rc::clone(&own.object));
    match own.map(Rc::downcast::<Instance>) {
        Some(Ok(object)) => Value::Object(object),
        _ => Value::Exception(Rc::clone(exception)),
    }
}

/// Whether a value is an exception of a script's class.
pub(super) fn is_thrown(value: &Value) -> bool {
    Instance::of(value).is_some_and(|instance| instance.class.base.is_some())
}

impl Object for Instance {
    fn class(&self) -> &str {
        &self.class.definition.full
    }

    fn methods(&self) -> &'static Table {
        &NO_METHODS
    }

    fn text(&self) -> String {
        match aside::asked(self, "toString", &[]) {
            Some(text) => print::text(&text),
            None => self.plain_text(),
        }
    }

    fn equals(&self, other: &dyn Object) -> bool {
        if std::ptr::addr_eq(self, other) {
            return true;
        }
        let Some(same) = other.any().downcast_ref::<Instance>() else {
            return false;
        };
        if let Some(answer) = aside::asked(self, "equals", &[same.value()]) {
            return order::truth(&answer);
        }
        let is_alike = self.class.definition.full == same.class.definition.full;
        if self.constant.is_some() {
            return is_alike && self.constant == same.constant;
        }
        let mut properties = self.class.properties();
        is_alike
            && self.class.has(|given| given.is_compared)
            && properties.all(|field| {
                let of = |one: &Instance| one.field(&field.name).unwrap_or(Value::Null);
                order::equals(&of(self), &of(same))
            })
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let same = other.any().downcast_ref::<Instance>()?;
        if let Some(answer) = aside::asked(self, "compareTo", &[same.value()]) {
            return Some(super::super::number::int_of(&answer)?.cmp(&0));
        }
        let (one, other) = (self.constant.as_ref()?, same.constant.as_ref()?);
        Some(one.1.cmp(&other.1))
    }

    fn hash(&self) -> i32 {
        if let Some(answer) = aside::asked(self, "hashCode", &[]) {
            return super::super::number::int_of(&answer).unwrap_or(0);
        }
        if let Some((name, _)) = &self.constant {
            return order::hash_of_text(name);
        }
        if !self.class.has(|given| given.is_compared) {
            return 0;
        }
        let values = self.class.properties();
        values.fold(1_i32, |hash, field| {
            let value = self.field(&field.name).unwrap_or(Value::Null);
            hash.wrapping_mul(31).wrapping_add(order::hash(&value))
        })
    }

    fn truth(&self) -> bool {
        aside::asked(self, "asBoolean", &[]).is_none_or(|answer| order::truth(&answer))
    }

    fn is_a(&self, name: &str) -> bool {
        self.class.is_a(name)
    }

    fn values_by_name(&self) -> Option<Vec<(Arc<str>, Value)>> {
        if self.constant.is_some() {
            return None;
        }
        // Groovy's JSON lists the properties of a class in reverse order.
        let fields: Vec<_> = self.class.fields().filter(|one| one.is_property).collect();
        let values = fields.into_iter().rev().map(|field| {
            let value = self.field(&field.name).unwrap_or(Value::Null);
            (Arc::clone(&field.name), value)
        });
        Some(values.collect())
    }
}
