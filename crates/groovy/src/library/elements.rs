//! JMeter's classes that scripts construct, and the names of its actions.
//!
//! Must not know what the objects do. Invariant: the host creates them, and implements their methods.

use super::super::table::{MANY, Table, row};
use super::super::value::{Machine, Outcome, Value};
use super::{Class, missing};

static MADE: Table = Table::new(&[row("new", 0, MANY, make)]);

fn make(machine: &mut dyn Machine, class: &Value, given: &[Value]) -> Outcome {
    let Value::Class(name) = class else {
        return Err(missing(class, "new", given));
    };
    let made = machine.bindings().make(name, given)?;
    made.ok_or_else(|| missing(class, "new", given))
}

const ACTIONS: &str = "org.apache.jmeter.threads.JMeterContext.TestLogicalAction";

static CONTEXT: Table = Table::new(&[row("TestLogicalAction", 0, 0, |_, _, _| {
    Ok(Value::Class(ACTIONS.into()))
})]);

/// The names of a thread's next steps: each is represented by itself.
static WORDS: Table = Table::new(&[
    row("CONTINUE", 0, 0, |_, _, _| Ok(Value::text("CONTINUE"))),
    row("START_NEXT_ITERATION_OF_THREAD", 0, 0, |_, _, _| {
        Ok(Value::text("START_NEXT_ITERATION_OF_THREAD"))
    }),
    row("START_NEXT_ITERATION_OF_CURRENT_LOOP", 0, 0, |_, _, _| {
        Ok(Value::text("START_NEXT_ITERATION_OF_CURRENT_LOOP"))
    }),
    row("BREAK_CURRENT_LOOP", 0, 0, |_, _, _| {
        Ok(Value::text("BREAK_CURRENT_LOOP"))
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "org.apache.jmeter.protocol.http.control.Header",
        statics: &MADE,
    },
    Class {
        name: "org.apache.jmeter.protocol.http.control.HeaderManager",
        statics: &MADE,
    },
    Class {
        name: "org.apache.jmeter.protocol.http.control.Cookie",
        statics: &MADE,
    },
    Class {
        name: "org.apache.jmeter.config.Arguments",
        statics: &MADE,
    },
    Class {
        name: "org.apache.jmeter.protocol.http.util.HTTPArgument",
        statics: &MADE,
    },
    Class {
        name: "org.apache.jmeter.threads.JMeterContext",
        statics: &CONTEXT,
    },
    Class {
        name: ACTIONS,
        statics: &WORDS,
    },
];
