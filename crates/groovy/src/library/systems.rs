//! `System`, `Thread`, `TimeUnit`, and JMeter's own classes used by scripts: the file server and its
//! properties.
//!
//! Must not know clocks. Invariant: how a thread sleeps is the host's.

use super::super::number;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{long_of, text_of};

/// The thread that runs the script.
struct Thread;

/// JMeter's file server.
struct FileServer;

pub(super) static THREAD: Table = Table::new(&[
    row("getName", 0, 0, |machine, _, _| {
        let name = machine.host().thread_name();
        Ok(Value::text(name))
    }),
    row("getId", 0, 0, |_, _, _| Ok(Value::Long(1))),
    row("interrupt", 0, 0, |_, _, _| Ok(Value::Null)),
    row("isInterrupted", 0, 0, |_, _, _| Ok(Value::Truth(false))),
    row("sleep", 1, 1, sleep),
]);

impl Object for Thread {
    fn class(&self) -> &'static str {
        "java.lang.Thread"
    }

    fn methods(&self) -> &'static Table {
        &THREAD
    }
}

fn sleep(machine: &mut dyn Machine, _: &Value, given: &[Value]) -> Outcome {
    let ms = long_of(given, 0)?;
    let ms = u64::try_from(ms).map_err(|_| Thrown::argument("timeout value is negative"))?;
    super::super::eval::sleep(machine, ms)?;
    Ok(Value::Null)
}

static THREADS: Table = Table::new(&[
    row("sleep", 1, 2, sleep),
    row("currentThread", 0, 0, |_, _, _| Ok(Value::object(Thread))),
]);

/// Java's tables of properties take neither a name nor a value that is null.
fn set_property(machine: &mut dyn Machine, _: &Value, given: &[Value]) -> Outcome {
    if given.iter().any(|one| matches!(one, Value::Null)) {
        return Err(Thrown::bare("java.lang.NullPointerException"));
    }
    let (name, value) = (text_of(given, 0), text_of(given, 1));
    Ok(Value::optional(
        machine.host().set_property(&name, Some(&value)),
    ))
}

static SYSTEM: Table = Table::new(&[
    row("currentTimeMillis", 0, 0, |machine, _, _| {
        Ok(Value::Long(machine.host().unix_ms()))
    }),
    row("nanoTime", 0, 0, |machine, _, _| {
        Ok(Value::Long(
            machine.host().unix_ms().saturating_mul(1_000_000),
        ))
    }),
    row("getenv", 0, 0, |_, _, _| Ok(Value::object(Environment))),
    row("getenv", 1, 1, |machine, _, given| {
        Ok(Value::optional(
            machine.host().environment(&text_of(given, 0)),
        ))
    }),
    row("getProperty", 1, 2, |machine, _, given| {
        let found = machine.host().property(&text_of(given, 0));
        Ok(found.map_or_else(|| given.get(1).cloned().unwrap_or(Value::Null), Value::text))
    }),
    row("setProperty", 2, 2, set_property),
    row("clearProperty", 1, 1, |machine, _, given| {
        Ok(Value::optional(
            machine.host().set_property(&text_of(given, 0), None),
        ))
    }),
    row("lineSeparator", 0, 0, |_, _, _| Ok(Value::text("\n"))),
    row("identityHashCode", 1, 1, |_, _, given| {
        Ok(Value::Int(super::super::order::hash(&given[0])))
    }),
    row("gc", 0, 0, |_, _, _| Ok(Value::Null)),
    row("arraycopy", 5, 5, |_, _, given| copied(given)),
]);

/// The environment variables, which can only be accessed by name.
struct Environment;

fn variable(machine: &mut dyn Machine, given: &[Value]) -> Value {
    Value::optional(machine.host().environment(&text_of(given, 0)))
}

pub(super) static ENVIRONMENT: Table = Table::new(&[
    row("get", 1, 1, |machine, _, given| {
        Ok(variable(machine, given))
    }),
    row("getAt", 1, 1, |machine, _, given| {
        Ok(variable(machine, given))
    }),
    row("getOrDefault", 2, 2, |machine, _, given| {
        let found = variable(machine, given);
        Ok(if found.is_null() {
            given[1].clone()
        } else {
            found
        })
    }),
    row("containsKey", 1, 1, |machine, _, given| {
        Ok(Value::Truth(!variable(machine, given).is_null()))
    }),
]);

impl Object for Environment {
    fn class(&self) -> &'static str {
        "java.util.Collections$UnmodifiableMap"
    }

    fn methods(&self) -> &'static Table {
        &ENVIRONMENT
    }

    fn property(&self, machine: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        Ok(Some(variable(machine, &[Value::text(name)])))
    }

    fn is_a(&self, name: &str) -> bool {
        name == "Map"
    }
}

/// JMeter's data about all threads.
static CONTEXTS: Table = Table::new(&[
    row("getContext", 0, 0, |machine, _, _| {
        Ok(machine.bindings().bound("ctx").unwrap_or(Value::Null))
    }),
    row("getNumberOfThreads", 0, 0, |machine, _, _| {
        Ok(Value::Int(machine.host().threads_at_work().cast_signed()))
    }),
]);

fn copied(given: &[Value]) -> Outcome {
    let (Value::List(from), Value::List(to)) = (&given[0], &given[2]) else {
        return Err(Thrown::bare("java.lang.NullPointerException"));
    };
    let place = |at: usize| {
        number::int_of(&given[at])
            .and_then(|one| usize::try_from(one).ok())
            .unwrap_or(usize::MAX)
    };
    let (start, end, count) = (place(1), place(3), place(4));
    let items = from.copied();
    let part = items.get(start..start.saturating_add(count));
    let mut into = to.items.borrow_mut();
    let target = into.get_mut(end..end.saturating_add(count));
    match (part, target) {
        (Some(part), Some(target)) => target.clone_from_slice(part),
        _ => {
            return Err(Thrown::of(
                "java.lang.ArrayIndexOutOfBoundsException",
                "arraycopy: last source index out of bounds",
            ));
        }
    }
    Ok(Value::Null)
}

fn unit(ms: i64, machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    let ms = long_of(given, 0)?.saturating_mul(ms);
    super::super::eval::sleep(machine, u64::try_from(ms).unwrap_or(0))?;
    Ok(Value::Null)
}

/// A unit of time.
struct Unit(&'static str, i64);

pub(super) static UNIT: Table = Table::new(&[
    row("sleep", 1, 1, |machine, this, given| {
        unit(this.of::<Unit>().map_or(1, |unit| unit.1), machine, given)
    }),
    row("toMillis", 1, 1, |_, this, given| {
        Ok(Value::Long(long_of(given, 0)?.saturating_mul(
            this.of::<Unit>().map_or(1, |unit| unit.1),
        )))
    }),
    row("toSeconds", 1, 1, |_, this, given| {
        Ok(Value::Long(
            long_of(given, 0)?.saturating_mul(this.of::<Unit>().map_or(1, |unit| unit.1)) / 1000,
        ))
    }),
    row("toMinutes", 1, 1, |_, this, given| {
        Ok(Value::Long(
            long_of(given, 0)?.saturating_mul(this.of::<Unit>().map_or(1, |unit| unit.1)) / 60_000,
        ))
    }),
]);

impl Object for Unit {
    fn class(&self) -> &'static str {
        "java.util.concurrent.TimeUnit"
    }

    fn methods(&self) -> &'static Table {
        &UNIT
    }

    fn text(&self) -> String {
        self.0.to_owned()
    }
}

static UNITS: Table = Table::new(&[
    row("MILLISECONDS", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("MILLISECONDS", 1)))
    }),
    row("SECONDS", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("SECONDS", 1_000)))
    }),
    row("MINUTES", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("MINUTES", 60_000)))
    }),
    row("HOURS", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("HOURS", 3_600_000)))
    }),
    row("DAYS", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("DAYS", 86_400_000)))
    }),
]);

pub(super) static FILE_SERVER: Table = Table::new(&[row("getBaseDir", 0, 0, |machine, _, _| {
    Ok(Value::text(machine.host().plan_folder()))
})]);

impl Object for FileServer {
    fn class(&self) -> &'static str {
        "org.apache.jmeter.services.FileServer"
    }

    fn methods(&self) -> &'static Table {
        &FILE_SERVER
    }
}

static FILE_SERVERS: Table = Table::new(&[row("getFileServer", 0, 0, |_, _, _| {
    Ok(Value::object(FileServer))
})]);

static JMETER: Table = Table::new(&[
    row("getProperty", 1, 1, |machine, _, given| {
        Ok(Value::optional(machine.host().property(&text_of(given, 0))))
    }),
    row("getPropDefault", 2, 2, |machine, _, given| {
        let found = machine
            .host()
            .property(&text_of(given, 0))
            .filter(|found| !found.trim().is_empty());
        let Some(found) = found else {
            return Ok(given[1].clone());
        };
        Ok(match &given[1] {
            Value::Int(other) => Value::Int(found.trim().parse().unwrap_or(*other)),
            Value::Long(other) => Value::Long(found.trim().parse().unwrap_or(*other)),
            Value::Truth(_) => Value::Truth(found.trim().eq_ignore_ascii_case("true")),
            _ => Value::text(found),
        })
    }),
    row("setProperty", 2, 2, set_property),
    row("getLocalHostName", 0, 0, |machine, _, _| {
        Ok(Value::text(machine.host().machine().0))
    }),
    row("getLocalHostIP", 0, 0, |machine, _, _| {
        Ok(Value::text(machine.host().machine().1))
    }),
    row("getJMeterVersion", 0, 0, |_, _, _| Ok(Value::text("5.6.3"))),
]);

/// An address of this machine.
struct Address;

pub(super) static ADDRESS: Table = Table::new(&[
    row("getHostName", 0, 0, |machine, _, _| {
        Ok(Value::text(machine.host().machine().0))
    }),
    row("getHostAddress", 0, 0, |machine, _, _| {
        Ok(Value::text(machine.host().machine().1))
    }),
]);

impl Object for Address {
    fn class(&self) -> &'static str {
        "java.net.Inet4Address"
    }

    fn methods(&self) -> &'static Table {
        &ADDRESS
    }
}

static ADDRESSES: Table = Table::new(&[row("getLocalHost", 0, 0, |_, _, _| {
    Ok(Value::object(Address))
})]);

/// The constants of a sample's data types.
static SAMPLE_RESULT: Table = Table::new(&[
    row("TEXT", 0, 0, |_, _, _| Ok(Value::text("text"))),
    row("BINARY", 0, 0, |_, _, _| Ok(Value::text("bin"))),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.lang.System",
        statics: &SYSTEM,
    },
    Class {
        name: "java.lang.Thread",
        statics: &THREADS,
    },
    Class {
        name: "java.util.concurrent.TimeUnit",
        statics: &UNITS,
    },
    Class {
        name: "java.net.InetAddress",
        statics: &ADDRESSES,
    },
    Class {
        name: "org.apache.jmeter.services.FileServer",
        statics: &FILE_SERVERS,
    },
    Class {
        name: "org.apache.jmeter.threads.JMeterContextService",
        statics: &CONTEXTS,
    },
    Class {
        name: "org.apache.jmeter.util.JMeterUtils",
        statics: &JMETER,
    },
    Class {
        name: "org.apache.jmeter.samplers.SampleResult",
        statics: &SAMPLE_RESULT,
    },
];
