//! Readers and writers of files and texts.
//!
//! Must not know disks. Invariant: written text is in its file after it is flushed or closed.

use std::cell::{Cell, RefCell};

use super::super::host::WriteMode;
use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::builders::Builder;
use super::files;

/// A text that is read from start to end.
struct Reader {
    text: String,
    at: Cell<usize>,
    /// Whether Java reads bytes from it, which the reading class decodes itself.
    is_stream: bool,
}

/// A writer to a file or in memory.
struct Writer {
    /// `None`: in memory.
    path: Option<String>,
    text: RefCell<Vec<u8>>,
    /// Of the next write.
    mode: Cell<WriteMode>,
}

pub(super) fn reader(text: &str) -> Value {
    Value::object(Reader {
        text: text.to_owned(),
        at: Cell::new(0),
        is_stream: false,
    })
}

/// A stream of bytes; invalid UTF-8 is lost.
pub(super) fn stream(bytes: &[u8]) -> Value {
    Value::object(Reader {
        text: String::from_utf8_lossy(bytes).into_owned(),
        at: Cell::new(0),
        is_stream: true,
    })
}

/// The rest of a reader or a stream, in characters; `None`: neither of them.
pub(super) fn rest_in_full(this: &Value) -> Option<String> {
    this.of::<Reader>().map(|_| rest(this))
}

/// The rest of a reader or a stream, in ISO-8859-1, with `\\u` for other characters; `None`: neither of them.
pub(super) fn rest_in_latin_1(this: &Value) -> Option<Vec<u8>> {
    let is_stream = this.of::<Reader>()?.is_stream;
    let text = rest(this);
    if is_stream {
        return Some(text.into_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend(format!("\\u{unit:04x}").bytes()),
        }
    }
    Some(bytes)
}

pub(super) fn writer(path: String, mode: WriteMode) -> Value {
    Value::object(Writer {
        path: Some(path),
        text: RefCell::default(),
        mode: Cell::new(mode),
    })
}

fn rest(this: &Value) -> String {
    this.of::<Reader>().map_or_else(String::new, |reader| {
        let at = reader.at.replace(reader.text.len());
        reader.text[at..].to_owned()
    })
}

fn line(this: &Value) -> Option<String> {
    let reader = this.of::<Reader>()?;
    let at = reader.at.get();
    let rest = reader.text.get(at..).filter(|rest| !rest.is_empty())?;
    let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
    reader.at.set(at + length);
    Some(rest[..length].trim_end_matches(['\n', '\r']).to_owned())
}

fn lines(this: &Value) -> Vec<Value> {
    rest(this).lines().map(Value::text).collect()
}

pub(super) static READER: Table = Table::new(&[
    row("readLine", 0, 0, |_, this, _| {
        Ok(Value::optional(line(this)))
    }),
    row("nextLine", 0, 0, |_, this, _| {
        let line = line(this).map(Value::text);
        line.ok_or_else(|| Thrown::of("java.util.NoSuchElementException", "No line found"))
    }),
    row("hasNextLine", 0, 0, |_, this, _| {
        Ok(Value::Truth(has_more(this)))
    }),
    row("hasNext", 0, 0, |_, this, _| {
        Ok(Value::Truth(has_more(this)))
    }),
    row("ready", 0, 0, |_, this, _| Ok(Value::Truth(has_more(this)))),
    row("read", 0, 0, |_, this, _| {
        let Some(reader) = this.of::<Reader>() else {
            return Ok(Value::Int(-1));
        };
        let one = reader.text[reader.at.get()..].chars().next();
        reader
            .at
            .set(reader.at.get() + one.map_or(0, char::len_utf8));
        Ok(Value::Int(
            one.map_or(-1, |one| u32::from(one).cast_signed()),
        ))
    }),
    row("readLines", 0, 0, |_, this, _| Ok(Value::list(lines(this)))),
    row("lines", 0, 0, |_, this, _| Ok(Value::list(lines(this)))),
    row("getText", 0, 1, |_, this, _| Ok(Value::text(rest(this)))),
    row("readAllBytes", 0, 0, |_, this, _| {
        Ok(Value::bytes(rest(this).as_bytes()))
    }),
    row("getBytes", 0, 0, |_, this, _| {
        Ok(Value::bytes(rest(this).as_bytes()))
    }),
    row("eachLine", 1, 1, |machine, this, given| {
        for line in lines(this) {
            machine.call(&given[0], vec![line])?;
        }
        Ok(Value::Null)
    }),
    row("withReader", 1, 1, |machine, this, given| {
        machine.call(&given[0], vec![this.clone()])
    }),
    row("withCloseable", 1, 1, |machine, this, given| {
        machine.call(&given[0], vec![this.clone()])
    }),
    row("close", 0, 0, |_, _, _| Ok(Value::Null)),
]);

fn has_more(this: &Value) -> bool {
    this.of::<Reader>()
        .is_some_and(|reader| reader.at.get() < reader.text.len())
}

impl Object for Reader {
    fn class(&self) -> &'static str {
        "java.io.BufferedReader"
    }

    fn methods(&self) -> &'static Table {
        &READER
    }

    fn is_a(&self, name: &str) -> bool {
        matches!(
            name,
            "Reader"
                | "InputStream"
                | "Scanner"
                | "FileReader"
                | "InputStreamReader"
                | "FileInputStream"
        )
    }
}

fn put(machine: &mut dyn Machine, this: &Value, content: &[u8]) -> Outcome {
    machine.take(content.len())?;
    if let Some(writer) = this.of::<Writer>() {
        writer.text.borrow_mut().extend_from_slice(content);
    }
    Ok(this.clone())
}

fn told(given: &[Value]) -> Vec<u8> {
    match given.first() {
        None => Vec::new(),
        Some(Value::List(list)) => list
            .to_bytes()
            .unwrap_or_else(|| print::text(&given[0]).into_bytes()),
        Some(other) => print::text(other).into_bytes(),
    }
}

/// The argument of `write` for a writer or a stream: a number is a character, or a byte.
fn written(this: &Value, given: &[Value]) -> Vec<u8> {
    let is_stream = this
        .of::<Writer>()
        .is_some_and(|writer| writer.path.is_none());
    match &given[0] {
        Value::Int(code) if is_stream => vec![(code & 0xff) as u8],
        Value::Int(code) => char::from_u32(code.cast_unsigned())
            .map_or_else(Vec::new, |one| one.to_string().into_bytes()),
        _ => told(given),
    }
}

fn flush(machine: &mut dyn Machine, this: &Value) -> Outcome {
    if let Some(writer) = this.of::<Writer>()
        && let Some(path) = &writer.path
    {
        let text = writer.text.take();
        files::write(machine, path, &text, writer.mode.replace(WriteMode::Append))?;
    }
    Ok(Value::Null)
}

pub(super) static WRITER: Table = Table::new(&[
    row("write", 1, 1, |machine, this, given| {
        let content = written(this, given);
        put(machine, this, &content).map(|_| Value::Null)
    }),
    row("append", 1, 1, |machine, this, given| {
        put(machine, this, &told(given))
    }),
    row("leftShift", 1, 1, |machine, this, given| {
        put(machine, this, &told(given))
    }),
    row("print", 1, 1, |machine, this, given| {
        put(machine, this, &told(given)).map(|_| Value::Null)
    }),
    row("println", 0, 1, |machine, this, given| {
        let mut line = told(given);
        line.push(b'\n');
        put(machine, this, &line).map(|_| Value::Null)
    }),
    row("writeLine", 1, 1, |machine, this, given| {
        let mut line = told(given);
        line.push(b'\n');
        put(machine, this, &line).map(|_| Value::Null)
    }),
    row("printf", 1, MANY, |machine, this, given| {
        let text = super::formatted(
            machine,
            &super::text_of(given, 0),
            &super::spread(&given[1..]),
        )?;
        put(machine, this, text.as_bytes())
    }),
    row("newLine", 0, 0, |machine, this, _| {
        put(machine, this, b"\n").map(|_| Value::Null)
    }),
    row("flush", 0, 0, |machine, this, _| flush(machine, this)),
    row("close", 0, 0, |machine, this, _| flush(machine, this)),
    row("withCloseable", 1, 1, |machine, this, given| {
        let value = machine.call(&given[0], vec![this.clone()]);
        flush(machine, this)?;
        value
    }),
    row("withWriter", 1, 1, |machine, this, given| {
        let value = machine.call(&given[0], vec![this.clone()]);
        flush(machine, this)?;
        value
    }),
    row("toByteArray", 0, 0, |_, this, _| {
        Ok(this
            .of::<Writer>()
            .map_or(Value::Null, |writer| Value::bytes(&writer.text.borrow())))
    }),
    row("size", 0, 0, |_, this, _| {
        Ok(this.of::<Writer>().map_or(Value::Int(0), |writer| {
            Value::count(writer.text.borrow().len())
        }))
    }),
    row("reset", 0, 0, |_, this, _| {
        if let Some(writer) = this.of::<Writer>() {
            writer.text.borrow_mut().clear();
        }
        Ok(Value::Null)
    }),
]);

impl Object for Writer {
    fn class(&self) -> &'static str {
        "java.io.BufferedWriter"
    }

    fn methods(&self) -> &'static Table {
        &WRITER
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.borrow()).into_owned()
    }

    fn is_a(&self, name: &str) -> bool {
        matches!(
            name,
            "Writer"
                | "OutputStream"
                | "FileWriter"
                | "PrintWriter"
                | "FileOutputStream"
                | "ByteArrayOutputStream"
        )
    }
}

/// A reader of a file; an existing reader is returned unchanged.
fn opened(machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    match &given[0] {
        Value::Object(object) if object.any().is::<Reader>() => Ok(given[0].clone()),
        one => {
            let text = files::text(machine, &files::path_of(one), None)?;
            Ok(reader(&text))
        }
    }
}

/// A writer to a file; an existing writer, or a text builder, is returned unchanged.
fn created(machine: &mut dyn Machine, given: &[Value]) -> Outcome {
    match &given[0] {
        Value::Object(object) if object.any().is::<Writer>() || object.any().is::<Builder>() => {
            Ok(given[0].clone())
        }
        one => {
            let mode = WriteMode::appending(given.get(1).is_some_and(order::truth));
            let path = files::path_of(one);
            files::write(machine, &path, b"", mode)?;
            Ok(writer(path, WriteMode::Append))
        }
    }
}

static READERS: Table = Table::new(&[row("new", 1, 2, |machine, _, given| opened(machine, given))]);
static STREAMS: Table = Table::new(&[row("new", 1, 1, |machine, _, given| {
    let bytes = files::bytes(machine, &files::path_of(&given[0]))?;
    Ok(stream(&bytes))
})]);
static DECODERS: Table = Table::new(&[row("new", 1, 2, |machine, _, given| {
    match rest_in_full(&given[0]) {
        Some(text) => Ok(reader(&text)),
        None => opened(machine, given),
    }
})]);
static TEXT_READERS: Table = Table::new(&[row("new", 1, 1, |_, _, given| {
    Ok(reader(&print::text(&given[0])))
})]);
static BYTE_READERS: Table = Table::new(&[row("new", 1, 1, |_, _, given| {
    Ok(stream(&super::bytes_of(given, 0)?))
})]);
static SCANNERS: Table = Table::new(&[row("new", 1, 2, |machine, _, given| match &given[0] {
    Value::Text(text) => Ok(reader(text)),
    _ => opened(machine, given),
})]);
static WRITERS: Table = Table::new(&[row("new", 1, 3, |machine, _, given| {
    created(machine, given)
})]);
/// A print writer's second argument controls flushing, never appending.
static PRINT_WRITERS: Table = Table::new(&[row("new", 1, 2, |machine, _, given| {
    created(machine, &given[..1])
})]);
static BYTE_WRITERS: Table = Table::new(&[row("new", 0, 1, |_, _, _| {
    Ok(Value::object(Writer {
        path: None,
        text: RefCell::default(),
        mode: Cell::new(WriteMode::Append),
    }))
})]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.io.BufferedReader",
        statics: &READERS,
    },
    Class {
        name: "java.io.FileReader",
        statics: &READERS,
    },
    Class {
        name: "java.io.InputStreamReader",
        statics: &DECODERS,
    },
    Class {
        name: "java.io.FileInputStream",
        statics: &STREAMS,
    },
    Class {
        name: "java.io.StringReader",
        statics: &TEXT_READERS,
    },
    Class {
        name: "java.io.ByteArrayInputStream",
        statics: &BYTE_READERS,
    },
    Class {
        name: "java.util.Scanner",
        statics: &SCANNERS,
    },
    Class {
        name: "java.io.FileWriter",
        statics: &WRITERS,
    },
    Class {
        name: "java.io.BufferedWriter",
        statics: &WRITERS,
    },
    Class {
        name: "java.io.OutputStreamWriter",
        statics: &WRITERS,
    },
    Class {
        name: "java.io.FileOutputStream",
        statics: &WRITERS,
    },
    Class {
        name: "java.io.BufferedOutputStream",
        statics: &WRITERS,
    },
    Class {
        name: "java.io.PrintWriter",
        statics: &PRINT_WRITERS,
    },
    Class {
        name: "java.io.PrintStream",
        statics: &PRINT_WRITERS,
    },
    Class {
        name: "java.io.ByteArrayOutputStream",
        statics: &BYTE_WRITERS,
    },
];
