//! Values of templates as Go's `encoding/json` writes them.
//!
//! Must not know reports. Invariant: the output is valid JSON; numbers that JSON cannot hold become
//! null (Go gives up on the whole text).

use loadline_go::json::{number, string};

use crate::go_template::{List, Value};

/// One value as JSON without white space.
pub(crate) fn encode(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Missing | Value::Nil => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) | Value::Duration(value) => out.push_str(&value.to_string()),
        Value::Uint(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&number(*value)),
        Value::Text(text) => out.push_str(&string(text)),
        Value::Bytes(bytes) => out.push_str(&string(&String::from_utf8_lossy(bytes))),
        Value::Uuid(_) => out.push_str(&string(&crate::go_template::show::printed(value))),
        Value::List(list) => write_list(list, out),
        Value::Map(rows) => {
            let key = |key: &Value| match key {
                Value::Text(text) => text.to_string(),
                other => crate::go_template::show::printed(other),
            };
            write_rows(rows.iter().map(|(name, value)| (key(name), value)), out);
        }
        Value::Object(object) => {
            write_rows(
                object
                    .fields()
                    .map(|(name, value)| (name.to_owned(), value)),
                out,
            );
        }
    }
}

fn write_list(list: &List, out: &mut String) {
    out.push('[');
    for (at, item) in (0..list.len()).filter_map(|at| list.get(at)).enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        write(&item, out);
    }
    out.push(']');
}

fn write_rows<'a>(rows: impl Iterator<Item = (String, &'a Value)>, out: &mut String) {
    out.push('{');
    for (at, (name, value)) in rows.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        out.push_str(&string(&name));
        out.push(':');
        write(value, out);
    }
    out.push('}');
}
