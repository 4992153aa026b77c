//! String builders, print streams, and optional values.
//!
//! Must not know who reads them. Invariant: a builder's length counts UTF-16 units.

use std::cell::RefCell;

use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{int_of, text_of};

/// `StringBuilder`, `StringBuffer` and `StringWriter`.
pub(super) struct Builder {
    class: &'static str,
    text: RefCell<String>,
}

/// `new Object()`, which only has an identity: a number distinguishes it from others.
struct Plain(u64);

static NOTHING: Table = Table::new(&[]);

impl Object for Plain {
    fn class(&self) -> &'static str {
        "java.lang.Object"
    }

    fn text(&self) -> String {
        format!("java.lang.Object@{:x}", self.0 & 0xffff_ffff)
    }

    fn methods(&self) -> &'static Table {
        &NOTHING
    }
}

/// Standard output.
pub(super) struct Printer;

/// `java.util.Optional`, and those of numbers, by the names of their classes.
struct Maybe(Option<Value>, &'static str);

/// An optional value.
pub(super) fn maybe(value: Option<Value>) -> Value {
    Value::object(Maybe(value, "Optional"))
}

/// An optional number.
pub(super) fn maybe_number(value: Option<Value>, is_whole: bool) -> Value {
    let class = match (is_whole, &value) {
        (true, Some(Value::Long(_))) => "OptionalLong",
        (true, None | Some(Value::Int(_) | Value::Byte(_) | Value::Char(_))) => "OptionalInt",
        _ => "OptionalDouble",
    };
    Value::object(Maybe(value, class))
}

fn text(this: &Value) -> String {
    this.of::<Builder>()
        .map_or_else(String::new, |builder| builder.text.borrow().clone())
}

fn set(this: &Value, text: String) {
    if let Some(builder) = this.of::<Builder>() {
        *builder.text.borrow_mut() = text;
    }
}

fn appended(machine: &mut dyn Machine, this: &Value, more: &str) -> Outcome {
    machine.take(more.len())?;
    if let Some(builder) = this.of::<Builder>() {
        builder.text.borrow_mut().push_str(more);
    }
    Ok(this.clone())
}

/// Replaces the units between two positions.
fn changed(this: &Value, from: i32, to: i32, with: &str) -> Outcome {
    let units: Vec<u16> = text(this).encode_utf16().collect();
    let length = units.len();
    let fault = || {
        Thrown::of(
            "java.lang.StringIndexOutOfBoundsException",
            format!("index {from},length {length}"),
        )
    };
    let from = usize::try_from(from)
        .ok()
        .filter(|from| *from <= length)
        .ok_or_else(fault)?;
    let to = usize::try_from(to)
        .ok()
        .map(|to| to.min(length))
        .filter(|to| from <= *to)
        .ok_or_else(fault)?;
    let mut changed = units[..from].to_vec();
    changed.extend(with.encode_utf16());
    changed.extend_from_slice(&units[to..]);
    set(this, String::from_utf16_lossy(&changed));
    Ok(this.clone())
}

pub(super) static BUILDER: Table = Table::new(&[
    row("append", 1, 1, |machine, this, given| match &given[0] {
        Value::List(list) if list.is_array() => appended(
            machine,
            this,
            &list.copied().iter().map(print::text).collect::<String>(),
        ),
        value => appended(machine, this, &print::java_text(value)),
    }),
    row("leftShift", 1, 1, |machine, this, given| {
        appended(machine, this, &text_of(given, 0))
    }),
    row("write", 1, 1, |machine, this, given| {
        appended(machine, this, &text_of(given, 0))
    }),
    row("print", 1, 1, |machine, this, given| {
        appended(machine, this, &text_of(given, 0))
    }),
    row("println", 0, 1, |machine, this, given| {
        appended(machine, this, &(text_of(given, 0) + "\n"))
    }),
    row("plus", 1, 1, |_, this, given| {
        Ok(Value::text(text(this) + &text_of(given, 0)))
    }),
    row("toString", 0, 0, |_, this, _| Ok(Value::text(text(this)))),
    row("length", 0, 0, |_, this, _| {
        Ok(Value::count(text(this).encode_utf16().count()))
    }),
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(text(this).encode_utf16().count()))
    }),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(text(this).is_empty()))
    }),
    row("reverse", 0, 0, |_, this, _| {
        set(this, text(this).chars().rev().collect());
        Ok(this.clone())
    }),
    row("setLength", 1, 1, |_, this, given| {
        let length = usize::try_from(int_of(given, 0)?).unwrap_or(0);
        let mut units: Vec<u16> = text(this).encode_utf16().collect();
        units.resize(length.min(units.len()), 0);
        set(this, String::from_utf16_lossy(&units));
        Ok(Value::Null)
    }),
    row("deleteCharAt", 1, 1, |_, this, given| {
        let at = int_of(given, 0)?;
        let length = text(this).encode_utf16().count();
        if usize::try_from(at).map_or(true, |at| at >= length) {
            return Err(Thrown::of(
                "java.lang.StringIndexOutOfBoundsException",
                format!("index {at},length {length}"),
            ));
        }
        changed(this, at, at + 1, "")
    }),
    row("delete", 2, 2, |_, this, given| {
        changed(this, int_of(given, 0)?, int_of(given, 1)?, "")
    }),
    row("insert", 2, 2, |_, this, given| {
        let at = int_of(given, 0)?;
        changed(this, at, at, &text_of(given, 1))
    }),
    row("replace", 3, 3, |_, this, given| {
        changed(
            this,
            int_of(given, 0)?,
            int_of(given, 1)?,
            &text_of(given, 2),
        )
    }),
    row("setCharAt", 2, 2, |_, this, given| {
        let at = int_of(given, 0)?;
        changed(this, at, at.saturating_add(1), &text_of(given, 1))
    }),
    row("getBuffer", 0, 0, |_, this, _| Ok(this.clone())),
    row("flush", 0, 0, |_, _, _| Ok(Value::Null)),
    row("close", 0, 0, |_, _, _| Ok(Value::Null)),
]);

impl Object for Builder {
    fn class(&self) -> &'static str {
        self.class
    }

    fn methods(&self) -> &'static Table {
        &BUILDER
    }

    fn text(&self) -> String {
        self.text.borrow().clone()
    }

    fn truth(&self) -> bool {
        !self.text.borrow().is_empty()
    }

    fn is_a(&self, name: &str) -> bool {
        name == "CharSequence"
    }

    /// A builder has all methods of a text.
    fn call(
        &self,
        machine: &mut dyn Machine,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        if BUILDER.has(name)
            || !super::texts::METHODS.has(name)
            || matches!(name, "equals" | "hashCode")
        {
            return Ok(None);
        }
        let text = Value::text(self.text());
        machine.invoke(&text, name, given).map(Some)
    }
}

pub(super) static STREAM: Table = Table::new(&[
    row("println", 0, 1, |machine, _, given| {
        let text = text_of(given, 0) + "\n";
        machine.host().print(&text);
        Ok(Value::Null)
    }),
    row("print", 1, 1, |machine, _, given| {
        let text = text_of(given, 0);
        machine.host().print(&text);
        Ok(Value::Null)
    }),
    row("printf", 1, MANY, |machine, this, given| {
        let text = super::formatted(machine, &text_of(given, 0), &super::spread(&given[1..]))?;
        machine.host().print(&text);
        Ok(this.clone())
    }),
    row("format", 1, MANY, |machine, this, given| {
        let text = super::formatted(machine, &text_of(given, 0), &super::spread(&given[1..]))?;
        machine.host().print(&text);
        Ok(this.clone())
    }),
    row("flush", 0, 0, |_, _, _| Ok(Value::Null)),
]);

/// The methods of print streams.
#[must_use]
pub(crate) fn print_stream() -> &'static Table {
    &STREAM
}

impl Object for Printer {
    fn class(&self) -> &'static str {
        "java.io.PrintStream"
    }

    fn methods(&self) -> &'static Table {
        &STREAM
    }
}

pub(super) static MAYBE: Table = Table::new(&[
    row("isPresent", 0, 0, |_, this, _| {
        Ok(Value::Truth(held(this).is_some()))
    }),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(held(this).is_none()))
    }),
    row("get", 0, 0, |_, this, _| present(this)),
    row("getAsInt", 0, 0, |_, this, _| present(this)),
    row("getAsLong", 0, 0, |_, this, _| present(this)),
    row("getAsDouble", 0, 0, |_, this, _| present(this)),
    row("orElseThrow", 0, 0, |_, this, _| present(this)),
    row("orElse", 1, 1, |_, this, given| {
        Ok(held(this).unwrap_or_else(|| given[0].clone()))
    }),
    row("orElseGet", 1, 1, |machine, this, given| match held(this) {
        Some(value) => Ok(value),
        None => machine.call(&given[0], Vec::new()),
    }),
    row("map", 1, 1, |machine, this, given| {
        let value = match held(this) {
            Some(value) => Some(machine.call(&given[0], vec![value])?),
            None => None,
        };
        let value = value.filter(|value| !value.is_null());
        Ok(maybe(value))
    }),
    row("filter", 1, 1, |machine, this, given| {
        let Some(value) = held(this) else {
            return Ok(this.clone());
        };
        let is_kept = machine.call(&given[0], vec![value])?;
        match order::truth(&is_kept) {
            true => Ok(this.clone()),
            false => Ok(maybe(None)),
        }
    }),
    row("ifPresent", 1, 1, |machine, this, given| match held(this) {
        Some(value) => machine.call(&given[0], vec![value]),
        None => Ok(Value::Null),
    }),
]);

fn present(this: &Value) -> Outcome {
    held(this).ok_or_else(|| Thrown::of("java.util.NoSuchElementException", "No value present"))
}

fn held(this: &Value) -> Option<Value> {
    this.of::<Maybe>().and_then(|maybe| maybe.0.clone())
}

impl Object for Maybe {
    fn class(&self) -> &'static str {
        match self.1 {
            "OptionalInt" => "java.util.OptionalInt",
            "OptionalLong" => "java.util.OptionalLong",
            "OptionalDouble" => "java.util.OptionalDouble",
            _ => "java.util.Optional",
        }
    }

    fn methods(&self) -> &'static Table {
        &MAYBE
    }

    fn text(&self) -> String {
        match &self.0 {
            Some(value) => format!("{}[{}]", self.1, print::text(value)),
            None => format!("{}.empty", self.1),
        }
    }

    fn truth(&self) -> bool {
        self.0.as_ref().is_some_and(order::truth)
    }
}

fn made(class: &'static str, given: &[Value]) -> Value {
    let text = match given {
        [one] if !one.is_number() => print::text(one),
        _ => String::new(),
    };
    Value::object(Builder {
        class,
        text: RefCell::new(text),
    })
}

static STRING_BUILDER: Table = Table::new(&[row("new", 0, 1, |_, _, given| {
    Ok(made("java.lang.StringBuilder", given))
})]);
static STRING_BUFFER: Table = Table::new(&[row("new", 0, 1, |_, _, given| {
    Ok(made("java.lang.StringBuffer", given))
})]);
static STRING_WRITER: Table = Table::new(&[row("new", 0, 1, |_, _, _| {
    Ok(made("java.io.StringWriter", &[]))
})]);
static OBJECT: Table = Table::new(&[row("new", 0, 0, |machine, _, _| {
    Ok(Value::object(Plain(machine.host().random())))
})]);
static OPTIONAL: Table = Table::new(&[
    row("of", 1, 1, |_, _, given| Ok(maybe(Some(given[0].clone())))),
    row("ofNullable", 1, 1, |_, _, given| {
        Ok(maybe(Some(given[0].clone()).filter(|one| !one.is_null())))
    }),
    row("empty", 0, 0, |_, _, _| Ok(maybe(None))),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.lang.StringBuilder",
        statics: &STRING_BUILDER,
    },
    Class {
        name: "java.lang.StringBuffer",
        statics: &STRING_BUFFER,
    },
    Class {
        name: "java.io.StringWriter",
        statics: &STRING_WRITER,
    },
    Class {
        name: "java.util.Optional",
        statics: &OPTIONAL,
    },
    Class {
        name: "java.lang.Object",
        statics: &OBJECT,
    },
];
