//! The body of a request: from a script's value to bytes.
//!
//! Text and bytes are sent unchanged; an object becomes a form, one with files a multipart form. Must not know
//! headers except the content type of the result. Invariant: forms have Go's format (`url.Values.Encode`,
//! `mime/multipart`).

use bytes::Bytes;
use rquickjs::function::Opt;
use rquickjs::{Class, Coerced, Ctx, Object, Result, Value};

use super::call::Refused;
use super::{error, go_value};
use crate::kinds::array_buffer;
use crate::modules::bytes::{of_data, of_text};
use crate::modules::go_values::GoText;
use crate::modules::held::{Held, Opaque};
use crate::vu::state;

const FORM: &str = "application/x-www-form-urlencoded";

/// A body with its implied content type.
pub(super) struct Made {
    pub(super) bytes: Bytes,
    /// `None`: left to the script.
    pub(super) content_type: Option<String>,
}

/// The body for a value; `None` if it has none.
pub(super) fn of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<std::result::Result<Option<Made>, Refused>> {
    if value.is_null() || value.is_undefined() {
        return Ok(Ok(None));
    }
    if let Some(bytes) = of_data(value)? {
        return Ok(Ok(Some(Made {
            bytes: bytes.into(),
            content_type: None,
        })));
    }
    if file_of(value).is_some() {
        return Ok(Err(Refused::new(
            "unknown request body type *http.FileData".to_owned(),
        )));
    }
    let kind = go_value::type_name(value);
    match value.as_object() {
        Some(object) if kind.starts_with("map") => Ok(Ok(Some(form(ctx, object)?))),
        _ => Ok(Err(Refused::new(format!(
            "unknown request body type {kind}"
        )))),
    }
}

fn form<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Made> {
    let entries = object
        .props::<String, Value<'js>>()
        .collect::<Result<Vec<_>>>()?;
    if entries.iter().any(|(_, value)| file_of(value).is_some()) {
        return multipart(ctx, &entries);
    }
    let mut fields = Vec::new();
    for (name, value) in entries {
        match value.as_array() {
            Some(array) => {
                for item in array.iter::<Value<'js>>() {
                    fields.push((name.clone(), formatted(&item?)?));
                }
            }
            None => fields.push((name, formatted(&value)?)),
        }
    }
    Ok(Made {
        bytes: encode_form(fields).into(),
        content_type: Some(FORM.to_owned()),
    })
}

/// A field's value in Go's format.
fn formatted(value: &Value<'_>) -> Result<Vec<u8>> {
    match value.is_string() {
        true => of_text(value),
        false => go_value::format(value).map(String::into_bytes),
    }
}

/// Go's `url.Values.Encode`: sorted by name.
pub(super) fn encode_form<T: AsRef<[u8]>>(mut fields: Vec<(String, T)>) -> String {
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    let mut out = String::new();
    for (name, value) in &fields {
        if !out.is_empty() {
            out.push('&');
        }
        escape(name.as_bytes(), &mut out);
        out.push('=');
        escape(value.as_ref(), &mut out);
    }
    out
}

fn escape(text: &[u8], out: &mut String) {
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char);
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn multipart<'js>(ctx: &Ctx<'js>, entries: &[(String, Value<'js>)]) -> Result<Made> {
    let boundary = boundary(ctx);
    let mut body = Vec::new();
    for (name, value) in entries {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let disposition = format!(
            "Content-Disposition: form-data; name=\"{}\"",
            field_name(name)
        );
        body.extend_from_slice(disposition.as_bytes());
        match file_of(value) {
            Some(file) => {
                let filename: Coerced<String> = file.get("filename")?;
                let content_type: Coerced<String> = file.get("content_type")?;
                let head = format!(
                    "; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                    in_quotes(&filename.0),
                    content_type.0
                );
                body.extend_from_slice(head.as_bytes());
                body.extend_from_slice(&of_data(&file.get("data")?)?.unwrap_or_default());
            }
            None => {
                body.extend_from_slice(b"\r\n\r\n");
                body.extend_from_slice(&formatted(value)?);
            }
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Made {
        bytes: body.into(),
        content_type: Some(format!("multipart/form-data; boundary={boundary}")),
    })
}

/// Thirty random bytes, as in Go's `mime/multipart`.
fn boundary(ctx: &Ctx<'_>) -> String {
    let host = &state(ctx).host;
    let mut text: String = (0..4).map(|_| format!("{:016x}", host.random())).collect();
    text.truncate(60);
    text
}

/// A field's name in quotes: it cannot end its line. As in k6, a file's name can.
fn field_name(text: &str) -> String {
    in_quotes(text).replace('\r', "%0D").replace('\n', "%0A")
}

fn in_quotes(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Marks an object as made by `file`.
pub(super) struct FileData;

impl Opaque for FileData {
    const CLASS: &'static str = "FileData";
}

fn file_of<'js>(value: &Value<'js>) -> Option<Object<'js>> {
    let object = value.as_object()?;
    object
        .instance_of::<Held<FileData>>()
        .then(|| object.clone())
}

/// `file(data, filename, contentType)`
pub(super) fn file<'js>(
    ctx: Ctx<'js>,
    data: Opt<Value<'js>>,
    filename: Opt<GoText>,
    content_type: Opt<GoText>,
) -> Result<Class<'js, Held<FileData>>> {
    let data = data.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    if !data.is_string() && data.as_object().and_then(array_buffer).is_none() {
        let kind = go_value::type_name(&data);
        let message = format!("invalid type {kind}, expected string or ArrayBuffer");
        return Err(error::throw(&ctx, &message));
    }
    let filename = match filename.0 {
        Some(name) => name.0,
        None => state(&ctx).host.unix_ns().to_string(),
    };
    let content_type = content_type.0.map(|kind| kind.0);
    let file = Held::make(ctx, FileData)?;
    file.set("data", data)?;
    file.set("filename", filename)?;
    file.set(
        "content_type",
        content_type
            .as_deref()
            .unwrap_or("application/octet-stream"),
    )?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::{encode_form, field_name};

    #[test]
    fn forms_are_gos() {
        let fields = [("b c", "\n"), ("a", "\u{e9}&=+ /~-_.*"), ("a", "2")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            encode_form(fields.to_vec()),
            "a=%C3%A9%26%3D%2B+%2F~-_.%2A&a=2&b+c=%0A"
        );
    }

    #[test]
    fn the_name_of_a_field_adds_no_line() {
        assert_eq!(field_name("a\"\\\r\nX: y"), "a\\\"\\\\%0D%0AX: y");
    }
}
