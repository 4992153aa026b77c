//! Functions that read or write files.
//!
//! Must not know where files are. Invariant: a file is read through the host, which returns the same bytes
//! during the whole run; an unreadable file yields `**ERR**`, as in JMeter.

use std::sync::Arc;

use loadline_java::charset::Charset;
use loadline_java::decimal_format::DecimalFormat;
use loadline_java::numbers;

use super::{Call, Outcome};
use crate::host::{LogLevel, WriteMode};
use crate::scope::{LineCursor, Rows, Scope, locked};
use crate::thrown::Thrown;

/// JMeter's value for a file that cannot be read.
const UNREADABLE: &str = "**ERR**";

/// `__FileToString(file[,encoding][,variable])`: the whole text.
pub(super) fn file_to_string(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let file = call.argument(0, scope);
    let charset = charset(&call.argument(1, scope))?;
    match scope.host.world().read_file(&file) {
        Ok(bytes) => out.push_str(&charset.decode(&bytes)),
        Err(fault) => {
            warn(scope, "o.a.j.f.FileToString", &fault.told);
            out.push_str(UNREADABLE);
        }
    }
    Ok(())
}

/// `__StringToFile(file,text[,append][,encoding])`: `true` or `false` for success; `\n` in the text is a line
/// break.
pub(super) fn string_to_file(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let file = call.argument(0, scope);
    let file = file.trim();
    let text = call.argument(1, scope).replace("\\n", "\n");
    let append = call.optional(2, scope).filter(|given| !given.is_empty());
    let append = append.is_none_or(|given| given.trim().eq_ignore_ascii_case("true"));
    let mode = WriteMode::appending(append);
    let charset = charset(&call.argument(3, scope));
    let written = match (file, charset) {
        ("", _) => Err("a file to write to has no name".to_owned()),
        (_, Err(unknown)) => Err(format!("unknown encoding {}", unknown.message)),
        (_, Ok(charset)) => {
            let world = scope.host.world();
            world.write_file(file, &charset.encode(&text), mode)
        }
    };
    if let Err(why) = &written {
        warn(scope, "o.a.j.f.StringToFile", why);
    }
    out.push_str(if written.is_ok() { "true" } else { "false" });
    Ok(())
}

/// The character set with a name; UTF-8 if blank.
fn charset(name: &str) -> Result<Charset, Thrown> {
    match name.trim() {
        "" => Ok(Charset::UTF_8),
        name => Charset::named(name).ok_or_else(|| Thrown {
            class: "java.nio.charset.UnsupportedCharsetException",
            message: name.to_owned(),
        }),
    }
}

/// `__StringFromFile(file[,variable][,first number][,last number])`: the next line, shared by all threads; at
/// the end it restarts, or continues with the file of the next number, and there is no line after the last one.
/// If no variable is given, a default one stores the line.
pub(super) fn string_from_file(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    push_line(call, scope, out)?;
    if call.optional(1, scope).is_none() {
        scope.variables.put("StringFromFile_", &out[start..]);
    }
    Ok(())
}

fn push_line(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let pattern = call.argument(0, scope);
    let first = call
        .optional(2, scope)
        .and_then(|text| numbers::parse_long(text.trim()));
    let last = call
        .optional(3, scope)
        .and_then(|text| numbers::parse_long(text.trim()));
    let format = first.and_then(|_| DecimalFormat::new(&pattern));
    let name = |number: i64| match &format {
        None => pattern.clone().into_owned(),
        Some(format) => format.format_long(number),
    };
    let mut cursors = locked(&scope.commons.cursors);
    let cursor = cursors.entry(call.site).or_insert_with(|| LineCursor {
        number: first.unwrap_or(0),
        ..LineCursor::default()
    });
    // The second attempt is for a file that reached its end; one without a line has `null`.
    let mut otherwise = "null";
    for _ in 0..2 {
        if cursor.file.is_empty() {
            if first.is_some() && last.is_some_and(|last| cursor.number > last) {
                return Err(Thrown {
                    class: "org.apache.jorphan.util.JMeterStopThreadException",
                    message: "End of sequence".to_owned(),
                });
            }
            cursor.file = name(cursor.number);
            cursor.at = 0;
        }
        let Ok(bytes) = scope.host.world().read_file(&cursor.file) else {
            cursor.file.clear();
            otherwise = UNREADABLE;
            break;
        };
        if let Some((line, next)) = line_at(&bytes, cursor.at) {
            out.push_str(&String::from_utf8_lossy(line));
            cursor.at = next;
            return Ok(());
        }
        cursor.file.clear();
        if first.is_some() {
            cursor.number += 1;
        }
    }
    out.push_str(otherwise);
    Ok(())
}

/// The line at an offset, and the offset of the next one; `None` at the end.
fn line_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let length = rest
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .unwrap_or(rest.len());
    let broken = match &rest[length..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    Some((&rest[..length], at + length + broken))
}

/// `__CSVRead(file,column | next | *alias)`: a column of the thread's current row; `next` releases the row, and
/// the following access to a column takes the next row, shared by all threads. The last row is followed by the
/// first.
pub(super) fn csv_read(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let column = call.argument(1, scope);
    if column.starts_with('*') {
        let mut aliases = locked(&scope.commons.aliases);
        aliases.insert(column.into_owned(), name.into_owned());
        return Ok(());
    }
    if column == "next()" || column == "next" {
        scope.memory.rows.insert(name.into_owned(), None);
        return Ok(());
    }
    let Some(column) = numbers::parse_int(&column).and_then(|at| usize::try_from(at).ok()) else {
        return Ok(());
    };
    let rows = match rows(&name, scope) {
        Ok(rows) => rows,
        Err(why) => {
            warn(scope, "o.a.j.f.CSVRead", &why);
            return Ok(());
        }
    };
    let at = match scope.memory.rows.get(&*name).copied().flatten() {
        Some(at) => at,
        None => {
            let at = rows.take(&scope.commons.rows, &name, scope.commons.part);
            scope.memory.rows.insert(name.into_owned(), Some(at));
            at
        }
    };
    let field = rows.0.get(at).and_then(|row| row.get(column));
    out.push_str(field.map_or("", String::as_str));
    Ok(())
}

/// The rows of a file or alias, read once per run.
fn rows(name: &str, scope: &Scope<'_>) -> Result<Arc<Rows>, String> {
    let mut tables = locked(&scope.commons.tables);
    if let Some(rows) = tables.get(name) {
        return Ok(Arc::clone(rows));
    }
    let file = locked(&scope.commons.aliases).get(name).cloned();
    let bytes = scope
        .host
        .world()
        .read_file(file.as_deref().unwrap_or(name))?;
    let rows = Arc::new(Rows::read(&String::from_utf8_lossy(&bytes)));
    tables.insert(name.to_owned(), Arc::clone(&rows));
    Ok(rows)
}

fn warn(scope: &Scope<'_>, class: &str, why: &str) {
    scope.host.world().log(LogLevel::Warn, class, why);
}
