//! Methods of all values, and of exceptions and classes.
//!
//! Must not know the other tables. Invariant: null has only few methods.

use std::rc::Rc;

use super::super::ast::Type;
use super::super::convert;
use super::super::map::MapKind;
use super::super::number;
use super::super::order;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::{Exception, exception_class};
use super::super::value::{Machine, Outcome, Value};

pub(super) static NOTHING: Table = Table::new(&[]);

/// Whether a method can be called on null.
pub(super) fn is_known_to_null(name: &str, count: usize) -> bool {
    matches!(
        (name, count),
        ("toString", 0) | ("equals" | "is" | "asType", 1)
    )
}

/// Groovy's methods of any object, called on null, which has no elements; `None`: another method.
///
/// # Errors
/// An exception from it.
pub(super) fn of_null(
    machine: &mut dyn Machine,
    name: &str,
    given: &[Value],
) -> Outcome<Option<Value>> {
    let nothing = Value::list(Vec::new());
    Ok(Some(match (name, given.len()) {
        ("each" | "eachWithIndex", 1) => Value::Null,
        ("inspect", 0) => Value::text("null"),
        ("asBoolean", 0) => Value::Truth(false),
        ("with" | "tap", 1) => {
            let value = machine.call_on(&given[0], Value::Null, vec![Value::Null])?;
            if name == "with" { value } else { Value::Null }
        }
        ("any" | "every" | "find" | "findAll" | "iterator", 0)
        | (
            "any" | "every" | "find" | "findAll" | "collect" | "inject" | "findIndexOf"
            | "findLastIndexOf" | "findIndexValues" | "findResult" | "grep" | "split",
            1,
        )
        | ("collect" | "inject", 2) => machine.invoke(&nothing, name, given)?,
        _ => return Ok(None),
    }))
}

// tidy: table
pub(super) static METHODS: Table = Table::new(&[
    row("toString", 0, 0, |machine, this, _| {
        // Groovy has a text of its own for lists and maps of `java.util`, but not for what others wrap around them.
        let is_javas = match this {
            Value::Map(map) => matches!(
                map.kind,
                MapKind::Lazy | MapKind::Concurrent | MapKind::Properties
            ),
            _ => false,
        };
        Ok(Value::text(match machine.is_bean_shell() || is_javas {
            true => print::java_text(this),
            false => print::text(this),
        }))
    }),
    row("equals", 1, 1, |_, this, given| {
        Ok(Value::Truth(match this {
            Value::List(_) | Value::Map(_) | Value::Set(_) => order::equals(this, &given[0]),
            _ => order::java_equals(this, &given[0]),
        }))
    }),
    row("hashCode", 0, 0, |_, this, _| {
        Ok(Value::Int(order::hash(this)))
    }),
    row("getClass", 0, 0, |_, this, _| {
        Ok(Value::Class(print::class_name(this).into()))
    }),
    row("is", 1, 1, |_, this, given| {
        Ok(Value::Truth(super::super::operators::is_same(
            this, &given[0],
        )))
    }),
    row("compareTo", 1, 1, |_, this, given| {
        Ok(Value::Int(order::compare(this, &given[0])? as i32))
    }),
    row("asType", 1, 1, |machine, this, given| match &given[0] {
        Value::Class(name) => {
            let to = Type {
                name: name.clone(),
                dimensions: 0,
            };
            convert::coerce(machine, this.clone(), &to)
        }
        other => Err(convert::cannot_cast(other, "java.lang.Class")),
    }),
    row("asBoolean", 0, 0, |_, this, _| {
        Ok(Value::Truth(order::truth(this)))
    }),
    row("booleanValue", 0, 0, |_, this, _| {
        Ok(Value::Truth(order::truth(this)))
    }),
    row("charValue", 0, 0, |_, this, _| Ok(this.clone())),
    row("inspect", 0, 0, |_, this, _| {
        Ok(Value::text(print::inspected(this)))
    }),
    row("dump", 0, 0, |_, this, _| {
        Ok(Value::text(print::inspected(this)))
    }),
    row("with", 1, 1, |machine, this, given| {
        machine.call_on(&given[0], this.clone(), vec![this.clone()])
    }),
    row("tap", 1, 1, |machine, this, given| {
        machine.call_on(&given[0], this.clone(), vec![this.clone()])?;
        Ok(this.clone())
    }),
    row("isCase", 1, 1, |machine, this, given| {
        Ok(Value::Truth(super::is_case(machine, this, &given[0])?))
    }),
    row("invokeMethod", 2, 2, |machine, this, given| {
        let name = super::text_of(given, 0);
        let values = match &given[1] {
            Value::Null => Vec::new(),
            _ => super::spread(&given[1..]),
        };
        machine.invoke(this, &name, &values)
    }),
    row("each", 1, 1, |machine, this, given| {
        machine.call(&given[0], vec![this.clone()])?;
        Ok(this.clone())
    }),
    row("wait", 0, 1, |_, _, _| Ok(Value::Null)),
    row("notify", 0, 0, |_, _, _| Ok(Value::Null)),
    row("notifyAll", 0, 0, |_, _, _| Ok(Value::Null)),
]);

pub(super) static EXCEPTION: Table = Table::new(&[
    row("getMessage", 0, 0, |_, this, _| Ok(message(this))),
    row("getLocalizedMessage", 0, 0, |_, this, _| Ok(message(this))),
    row("getCause", 0, 0, |_, this, _| {
        Ok(match this {
            Value::Exception(exception) => exception
                .cause
                .as_ref()
                .map_or(Value::Null, |cause| Value::Exception(Rc::clone(cause))),
            _ => Value::Null,
        })
    }),
    row("printStackTrace", 0, 1, |machine, this, given| {
        // The stack trace is not printed.
        if let (Value::Exception(exception), Some(to)) = (this, given.first()) {
            machine.invoke(to, "println", &[Value::text(exception.told())])?;
        }
        Ok(Value::Null)
    }),
    row("getStackTrace", 0, 0, |_, _, _| {
        Ok(Value::array(
            super::super::value::Element::Object,
            Vec::new(),
        ))
    }),
    row("fillInStackTrace", 0, 0, |_, this, _| Ok(this.clone())),
    row("initCause", 1, 1, |_, this, _| Ok(this.clone())),
    row("addSuppressed", 1, 1, |_, _, _| Ok(Value::Null)),
]);

fn message(this: &Value) -> Value {
    match this {
        Value::Exception(exception) => Value::optional(exception.message.clone()),
        _ => Value::Null,
    }
}

pub(super) static CLASS: Table = Table::new(&[
    row("getName", 0, 0, |_, this, _| Ok(Value::text(name(this)))),
    row("getCanonicalName", 0, 0, |_, this, _| {
        Ok(Value::text(name(this)))
    }),
    row("getTypeName", 0, 0, |_, this, _| {
        Ok(Value::text(name(this)))
    }),
    row("getSimpleName", 0, 0, |_, this, _| {
        let name = name(this);
        let last = name.rsplit(['.', '$']).next().unwrap_or_default();
        Ok(Value::text(match name.as_str() {
            "[B" => "byte[]",
            "[I" => "int[]",
            "[J" => "long[]",
            "[C" => "char[]",
            "[D" => "double[]",
            "[Ljava.lang.String;" => "String[]",
            "[Ljava.lang.Object;" => "Object[]",
            _ => last,
        }))
    }),
    row("isInstance", 1, 1, |_, this, given| {
        let class = Type {
            name: name(this).into(),
            dimensions: 0,
        };
        Ok(Value::Truth(convert::is_instance(&given[0], &class)))
    }),
    row("newInstance", 0, usize::MAX, |machine, this, given| {
        super::construct(machine, &name(this), given)
    }),
    row("cast", 1, 1, |_, _, given| Ok(given[0].clone())),
    row("desiredAssertionStatus", 0, 0, |_, _, _| {
        Ok(Value::Truth(true))
    }),
]);

fn name(this: &Value) -> String {
    match this {
        Value::Class(name) => name.to_string(),
        other => print::class_name(other).to_owned(),
    }
}

/// An exception created by a script; `None`: not an exception class.
pub(super) fn new_exception(class: &str, given: &[Value]) -> Option<Value> {
    let class = exception_class(class)?;
    let mut exception = Exception::new(class, None);
    for (place, value) in given.iter().enumerate() {
        match value {
            Value::Exception(cause) => {
                if place == 0 {
                    exception.message = Some(cause.told().into());
                }
                exception.cause = Some(Rc::clone(cause));
            }
            Value::Null => {}
            other if place == 0 => exception.message = Some(print::text(other).into()),
            other => {
                let _ = number::int_of(other);
            }
        }
    }
    Some(Value::Exception(Rc::new(exception)))
}
