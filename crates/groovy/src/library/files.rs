//! `File`, `Files` and `Paths`.
//!
//! Must not know disks. Invariant: every access to a file goes through the host, without caching.

use super::super::host::WriteMode;
use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, Machine, Object, Outcome, Value};
use super::Class;
use super::{addresses, readers, text_of, text_wanted};

/// A file, or a path.
pub(super) struct File(pub(super) String);

pub(super) fn file(path: impl Into<String>) -> Value {
    Value::object(File(path.into()))
}

/// The path of a file, or of a text.
pub(super) fn path_of(value: &Value) -> String {
    match value.of::<File>() {
        Some(file) => file.0.clone(),
        None => print::text(value),
    }
}

/// The bytes of a file.
pub(super) fn bytes(machine: &mut dyn Machine, path: &str) -> Outcome<Vec<u8>> {
    let found = machine.host().read_file(path);
    let bytes = found
        .map_err(|why| Thrown::of("java.io.FileNotFoundException", format!("{path} ({why})")))?;
    machine.take(bytes.len())?;
    Ok(bytes.to_vec())
}

/// The text of a file.
pub(super) fn text(
    machine: &mut dyn Machine,
    path: &str,
    charset: Option<&Value>,
) -> Outcome<String> {
    let name = charset.map_or_else(|| "UTF-8".to_owned(), print::text);
    let charset = super::coding::charset(&name)?;
    Ok(charset.decode(&bytes(machine, path)?).into_owned())
}

/// Writes a file.
pub(super) fn write(
    machine: &mut dyn Machine,
    path: &str,
    content: &[u8],
    mode: WriteMode,
) -> Outcome<()> {
    machine.take(content.len())?;
    let written = machine.host().write_file(path, content, mode);
    written.map_err(|why| Thrown::of("java.io.FileNotFoundException", format!("{path} ({why})")))
}

fn lines(machine: &mut dyn Machine, this: &Value, charset: Option<&Value>) -> Outcome<Vec<Value>> {
    let text = text(machine, &path_of(this), charset)?;
    Ok(text.lines().map(Value::text).collect())
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent(path: &str) -> Option<&str> {
    path.trim_end_matches('/')
        .rsplit_once('/')
        .map(|(parent, _)| if parent.is_empty() { "/" } else { parent })
}

fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!(
            "{}/{}",
            folder.trim_end_matches('/'),
            name.trim_start_matches('/')
        ),
    }
}

fn absolute(machine: &mut dyn Machine, path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => joined(
            &machine.host().property("user.dir").unwrap_or_default(),
            path,
        ),
    }
}

fn content_of(given: &Value) -> Vec<u8> {
    match given {
        Value::List(list) => list
            .to_bytes()
            .unwrap_or_else(|| print::text(given).into_bytes()),
        other => print::text(other).into_bytes(),
    }
}

fn append(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    write(
        machine,
        &path_of(this),
        &content_of(&given[0]),
        WriteMode::Append,
    )?;
    Ok(this.clone())
}

/// How a method writes that appends if an argument is `true`.
fn mode_of_truth(given: &[Value]) -> WriteMode {
    WriteMode::appending(given.iter().any(|one| matches!(one, Value::Truth(true))))
}

/// How a method writes that has options of opening.
fn mode_of_options(given: &[Value]) -> WriteMode {
    WriteMode::appending(given.iter().any(|one| print::text(one) == "APPEND"))
}

fn is_there(machine: &mut dyn Machine, this: &Value) -> bool {
    machine.host().file_facts(&path_of(this)).is_some()
}

fn with_writer(
    machine: &mut dyn Machine,
    this: &Value,
    given: &[Value],
    mode: WriteMode,
) -> Outcome {
    let writer = readers::writer(path_of(this), mode);
    if mode == WriteMode::Replace {
        write(machine, &path_of(this), b"", mode)?;
    }
    let closure = given.last().cloned().unwrap_or(Value::Null);
    let value = machine.call(&closure, vec![writer.clone()]);
    machine.invoke(&writer, "close", &[])?;
    value
}

fn names(machine: &mut dyn Machine, this: &Value) -> Option<Vec<String>> {
    machine.host().folder(&path_of(this))
}

/// The paths of everything in a folder, recursively, each before its contents.
fn below(machine: &mut dyn Machine, folder: &str) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        machine.work(100)?;
        let names = machine.host().folder(&path).unwrap_or_default();
        machine.take(names.len().saturating_mul(64))?;
        waiting.extend(names.iter().rev().map(|name| joined(&path, name)));
        found.push(path);
    }
    found.remove(0);
    Ok(found)
}

// tidy: table
pub(super) static FILE: Table = Table::new(&[
    row("getText", 0, 1, |machine, this, given| {
        Ok(Value::text(text(machine, &path_of(this), given.first())?))
    }),
    row("setText", 1, 2, |machine, this, given| {
        write(
            machine,
            &path_of(this),
            &content_of(&given[0]),
            WriteMode::Replace,
        )?;
        Ok(Value::Null)
    }),
    row("getBytes", 0, 0, |machine, this, _| {
        Ok(Value::bytes(&bytes(machine, &path_of(this))?))
    }),
    row("readBytes", 0, 0, |machine, this, _| {
        Ok(Value::bytes(&bytes(machine, &path_of(this))?))
    }),
    row("setBytes", 1, 1, |machine, this, given| {
        write(
            machine,
            &path_of(this),
            &content_of(&given[0]),
            WriteMode::Replace,
        )?;
        Ok(Value::Null)
    }),
    row("readLines", 0, 1, |machine, this, given| {
        Ok(Value::list(lines(machine, this, given.first())?))
    }),
    row("eachLine", 1, 2, |machine, this, given| {
        let closure = given.last().cloned().unwrap_or(Value::Null);
        let counts = matches!(&closure, Value::Closure(code) if code.arity() > 1);
        let mut last = Value::Null;
        for (place, line) in lines(machine, this, None)?.into_iter().enumerate() {
            let values = if counts {
                vec![line, Value::count(place + 1)]
            } else {
                vec![line]
            };
            last = machine.call(&closure, values)?;
        }
        Ok(last)
    }),
    row("splitEachLine", 2, 2, |machine, this, given| {
        for line in lines(machine, this, None)? {
            let parts = machine.invoke(&line, "split", &given[..1])?;
            let parts = Value::list(super::values(machine, &parts)?);
            machine.call(&given[1], vec![parts])?;
        }
        Ok(Value::Null)
    }),
    row("write", 1, 2, |machine, this, given| {
        write(
            machine,
            &path_of(this),
            &content_of(&given[0]),
            WriteMode::Replace,
        )?;
        Ok(Value::Null)
    }),
    row("append", 1, 2, append),
    row("leftShift", 1, 1, append),
    row("exists", 0, 0, |machine, this, _| {
        Ok(Value::Truth(is_there(machine, this)))
    }),
    row("canRead", 0, 0, |machine, this, _| {
        Ok(Value::Truth(is_there(machine, this)))
    }),
    row("canWrite", 0, 0, |machine, this, _| {
        Ok(Value::Truth(is_there(machine, this)))
    }),
    row("isFile", 0, 0, |machine, this, _| {
        Ok(Value::Truth(
            machine
                .host()
                .file_facts(&path_of(this))
                .is_some_and(|facts| !facts.is_folder),
        ))
    }),
    row("isDirectory", 0, 0, |machine, this, _| {
        Ok(Value::Truth(
            machine
                .host()
                .file_facts(&path_of(this))
                .is_some_and(|facts| facts.is_folder),
        ))
    }),
    row("length", 0, 0, |machine, this, _| {
        Ok(Value::Long(
            machine
                .host()
                .file_facts(&path_of(this))
                .map_or(0, |facts| facts.bytes.cast_signed()),
        ))
    }),
    row("size", 0, 0, |machine, this, _| {
        Ok(Value::Long(
            machine
                .host()
                .file_facts(&path_of(this))
                .map_or(0, |facts| facts.bytes.cast_signed()),
        ))
    }),
    row("lastModified", 0, 0, |machine, this, _| {
        Ok(Value::Long(
            machine
                .host()
                .file_facts(&path_of(this))
                .map_or(0, |facts| facts.changed_ms),
        ))
    }),
    row("createNewFile", 0, 0, |machine, this, _| {
        let is_new = !is_there(machine, this);
        if is_new {
            write(machine, &path_of(this), b"", WriteMode::Append)?;
        }
        Ok(Value::Truth(is_new))
    }),
    row("mkdir", 0, 0, |machine, this, _| {
        Ok(Value::Truth(machine.host().make_folder(&path_of(this))))
    }),
    row("mkdirs", 0, 0, |machine, this, _| {
        Ok(Value::Truth(machine.host().make_folder(&path_of(this))))
    }),
    row("delete", 0, 0, |machine, this, _| {
        Ok(Value::Truth(machine.host().remove_file(&path_of(this))))
    }),
    row("deleteOnExit", 0, 0, |_, _, _| Ok(Value::Null)),
    row("renameTo", 1, 1, |machine, this, given| {
        Ok(Value::Truth(
            machine
                .host()
                .rename_file(&path_of(this), &path_of(&given[0])),
        ))
    }),
    row("getName", 0, 0, |_, this, _| {
        Ok(Value::text(name(&path_of(this))))
    }),
    row("getFileName", 0, 0, |_, this, _| {
        Ok(file(name(&path_of(this))))
    }),
    row("getPath", 0, 0, |_, this, _| Ok(Value::text(path_of(this)))),
    row("getAbsolutePath", 0, 0, |machine, this, _| {
        Ok(Value::text(absolute(machine, &path_of(this))))
    }),
    row("getCanonicalPath", 0, 0, |machine, this, _| {
        Ok(Value::text(absolute(machine, &path_of(this))))
    }),
    row("toAbsolutePath", 0, 0, |machine, this, _| {
        Ok(file(absolute(machine, &path_of(this))))
    }),
    row("getAbsoluteFile", 0, 0, |machine, this, _| {
        Ok(file(absolute(machine, &path_of(this))))
    }),
    row("getParent", 0, 0, |_, this, _| {
        Ok(Value::optional(parent(&path_of(this))))
    }),
    row("getParentFile", 0, 0, |_, this, _| {
        Ok(parent(&path_of(this)).map_or(Value::Null, file))
    }),
    row("toURI", 0, 0, |machine, this, _| {
        let path = path_of(this);
        let facts = machine.host().file_facts(&path);
        addresses::of_file(
            &absolute(machine, &path),
            facts.is_some_and(|one| one.is_folder),
        )
    }),
    row("toPath", 0, 0, |_, this, _| Ok(this.clone())),
    row("toFile", 0, 0, |_, this, _| Ok(this.clone())),
    row("resolve", 1, 1, |_, this, given| {
        Ok(file(joined(&path_of(this), &path_of(&given[0]))))
    }),
    row("list", 0, 0, |machine, this, _| {
        Ok(names(machine, this).map_or(Value::Null, |names| {
            Value::array(Element::Text, names.into_iter().map(Value::text).collect())
        }))
    }),
    row("listFiles", 0, 1, |machine, this, given| {
        let Some(names) = names(machine, this) else {
            return Ok(Value::Null);
        };
        let mut found = Vec::new();
        for name in names {
            let one = file(joined(&path_of(this), &name));
            let is_wanted = match given.first() {
                Some(closure @ Value::Closure(_)) => {
                    order::truth(&machine.call(closure, vec![one.clone()])?)
                }
                _ => true,
            };
            if is_wanted {
                found.push(one);
            }
        }
        Ok(Value::array(Element::Object, found))
    }),
    row("eachFile", 1, 1, |machine, this, given| {
        for name in names(machine, this).unwrap_or_default() {
            machine.call(&given[0], vec![file(joined(&path_of(this), &name))])?;
        }
        Ok(Value::Null)
    }),
    row("eachFileRecurse", 1, 1, |machine, this, given| {
        for one in below(machine, &path_of(this))? {
            machine.call(&given[0], vec![file(one)])?;
        }
        Ok(Value::Null)
    }),
    row("deleteDir", 0, 0, |machine, this, _| {
        let path = path_of(this);
        let all = below(machine, &path)?;
        let all = all.into_iter().rev().chain([path]);
        let mut is_done = true;
        for one in all {
            is_done &= machine.host().remove_file(&one);
        }
        Ok(Value::Truth(is_done))
    }),
    row("withInputStream", 1, 1, |machine, this, given| {
        let bytes = bytes(machine, &path_of(this))?;
        machine.call(&given[0], vec![readers::stream(&bytes)])
    }),
    row("newInputStream", 0, 0, |machine, this, _| {
        Ok(readers::stream(&bytes(machine, &path_of(this))?))
    }),
    row("withWriter", 1, 2, |machine, this, given| {
        with_writer(machine, this, given, WriteMode::Replace)
    }),
    row("withPrintWriter", 1, 2, |machine, this, given| {
        with_writer(machine, this, given, WriteMode::Replace)
    }),
    row("withWriterAppend", 1, 2, |machine, this, given| {
        with_writer(machine, this, given, WriteMode::Append)
    }),
    row("withReader", 1, 2, |machine, this, given| {
        let text = text(machine, &path_of(this), None)?;
        machine.call(&given[given.len() - 1], vec![readers::reader(&text)])
    }),
    row("newReader", 0, 1, |machine, this, _| {
        let text = text(machine, &path_of(this), None)?;
        Ok(readers::reader(&text))
    }),
    row("newWriter", 0, 2, |_, this, given| {
        Ok(readers::writer(path_of(this), mode_of_truth(given)))
    }),
]);

impl Object for File {
    fn class(&self) -> &'static str {
        "java.io.File"
    }

    fn methods(&self) -> &'static Table {
        &FILE
    }

    fn text(&self) -> String {
        self.0.clone()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .any()
            .downcast_ref::<File>()
            .is_some_and(|other| other.0 == self.0)
    }

    fn is_a(&self, name: &str) -> bool {
        name == "Path"
    }
}

static FILES: Table = Table::new(&[
    row("new", 1, 1, |_, _, given| {
        Ok(file(path_of(&Value::text(text_wanted(given, 0)?))))
    }),
    row("new", 2, 2, |_, _, given| {
        Ok(file(joined(&path_of(&given[0]), &text_of(given, 1))))
    }),
    row("separator", 0, 0, |_, _, _| Ok(Value::text("/"))),
    row("getSeparator", 0, 0, |_, _, _| Ok(Value::text("/"))),
    row("getPathSeparator", 0, 0, |_, _, _| Ok(Value::text(":"))),
    row("createTempFile", 2, 3, |machine, _, given| {
        let random = machine.host().random();
        Ok(file(format!(
            "/tmp/{}{random}{}",
            text_of(given, 0),
            text_of(given, 1)
        )))
    }),
]);

fn path(given: &[Value]) -> Outcome {
    let parts = given.iter().map(path_of);
    Ok(file(
        parts
            .reduce(|path, part| joined(&path, &part))
            .unwrap_or_default(),
    ))
}

static PATHS: Table = Table::new(&[
    row("get", 1, MANY, |_, _, given| path(given)),
    row("of", 1, MANY, |_, _, given| path(given)),
]);

static NIO_FILES: Table = Table::new(&[
    row("readAllLines", 1, 2, |machine, _, given| {
        Ok(Value::list(lines(machine, &given[0], None)?))
    }),
    row("readAllBytes", 1, 1, |machine, _, given| {
        Ok(Value::bytes(&bytes(machine, &path_of(&given[0]))?))
    }),
    row("readString", 1, 2, |machine, _, given| {
        Ok(Value::text(text(machine, &path_of(&given[0]), None)?))
    }),
    row("lines", 1, 2, |machine, _, given| {
        Ok(Value::list(lines(machine, &given[0], None)?))
    }),
    row("exists", 1, 2, |machine, _, given| {
        Ok(Value::Truth(is_there(machine, &given[0])))
    }),
    row("createDirectories", 1, 2, |machine, _, given| {
        machine.host().make_folder(&path_of(&given[0]));
        Ok(given[0].clone())
    }),
    row("delete", 1, 1, |machine, _, given| {
        machine.host().remove_file(&path_of(&given[0]));
        Ok(Value::Null)
    }),
    row("deleteIfExists", 1, 1, |machine, _, given| {
        Ok(Value::Truth(
            machine.host().remove_file(&path_of(&given[0])),
        ))
    }),
    row("size", 1, 1, |machine, _, given| {
        machine.invoke(&given[0], "length", &[])
    }),
    row("write", 2, 4, |machine, _, given| {
        let content = match &given[1] {
            Value::List(list) if list.to_bytes().is_none() => list
                .copied()
                .iter()
                .map(|line| print::text(line) + "\n")
                .collect::<String>()
                .into_bytes(),
            other => content_of(other),
        };
        write(
            machine,
            &path_of(&given[0]),
            &content,
            mode_of_options(given),
        )?;
        Ok(given[0].clone())
    }),
    row("writeString", 2, 4, |machine, _, given| {
        let mode = mode_of_options(given);
        write(machine, &path_of(&given[0]), &content_of(&given[1]), mode)?;
        Ok(given[0].clone())
    }),
]);

static OPTIONS: Table = Table::new(&[
    row("APPEND", 0, 0, |_, _, _| Ok(Value::text("APPEND"))),
    row("CREATE", 0, 0, |_, _, _| Ok(Value::text("CREATE"))),
    row("WRITE", 0, 0, |_, _, _| Ok(Value::text("WRITE"))),
]);

static FILE_UTILS: Table = Table::new(&[
    row("readFileToString", 1, 2, |machine, _, given| {
        Ok(Value::text(text(
            machine,
            &path_of(&given[0]),
            given.get(1),
        )?))
    }),
    row("readLines", 1, 2, |machine, _, given| {
        Ok(Value::list(lines(machine, &given[0], given.get(1))?))
    }),
    row("readFileToByteArray", 1, 1, |machine, _, given| {
        Ok(Value::bytes(&bytes(machine, &path_of(&given[0]))?))
    }),
    row("writeStringToFile", 2, 4, |machine, _, given| {
        let mode = mode_of_truth(given);
        write(machine, &path_of(&given[0]), &content_of(&given[1]), mode)?;
        Ok(Value::Null)
    }),
    row("writeByteArrayToFile", 2, 3, |machine, _, given| {
        let mode = mode_of_truth(given);
        write(machine, &path_of(&given[0]), &content_of(&given[1]), mode)?;
        Ok(Value::Null)
    }),
    row("deleteQuietly", 1, 1, |machine, _, given| {
        Ok(Value::Truth(
            machine.host().remove_file(&path_of(&given[0])),
        ))
    }),
    row("forceMkdir", 1, 1, |machine, _, given| {
        machine.host().make_folder(&path_of(&given[0]));
        Ok(Value::Null)
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.io.File",
        statics: &FILES,
    },
    Class {
        name: "java.nio.file.Paths",
        statics: &PATHS,
    },
    Class {
        name: "java.nio.file.Path",
        statics: &PATHS,
    },
    Class {
        name: "java.nio.file.Files",
        statics: &NIO_FILES,
    },
    Class {
        name: "java.nio.file.StandardOpenOption",
        statics: &OPTIONS,
    },
    Class {
        name: "org.apache.commons.io.FileUtils",
        statics: &FILE_UTILS,
    },
];
