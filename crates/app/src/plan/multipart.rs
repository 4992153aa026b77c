//! Multipart forms (RFC 7578).
//!
//! Must not know where a part's text came from. Invariant: the boundary occurs in none of the parts.

use crate::Files;

/// The body and its content type. A part is `NAME=VALUE` or `NAME=@FILE`, and may end with
/// `;type=…` and `;filename=…`.
///
/// # Errors
/// An unreadable file, or a name that cannot be sent.
pub(super) fn encode(
    parts: &[(String, String)],
    files: &Files,
) -> Result<(Vec<u8>, String), String> {
    let parts: Vec<Part> = parts
        .iter()
        .map(|(name, value)| Part::read(name, value, files))
        .collect::<Result<_, _>>()?;
    let boundary = boundary(&parts);
    let mut out = Vec::new();
    for part in &parts {
        out.extend_from_slice(format!("--{boundary}\r\n{}\r\n", part.head).as_bytes());
        out.extend_from_slice(&part.content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((out, format!("multipart/form-data; boundary={boundary}")))
}

struct Part {
    /// Header lines, each with its line end.
    head: String,
    content: Vec<u8>,
}

impl Part {
    fn read(name: &str, value: &str, files: &Files) -> Result<Part, String> {
        let (value, content_type) = take_setting(value, "type");
        let (value, filename) = take_setting(value, "filename");
        let (value, content_type) = match content_type {
            Some(found) => (value, Some(found)),
            None => take_setting(value, "type"),
        };
        let (content, filename) = match value.strip_prefix('@') {
            Some(path) => {
                let content = files
                    .read(path)
                    .map_err(|error| format!("--multipart: {error}"))?;
                (content, Some(filename.unwrap_or_else(|| base_name(path))))
            }
            None => (value.as_bytes().to_vec(), filename),
        };
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
        if let Some(filename) = filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        head.push_str("\r\n");
        let default_type = value.starts_with('@').then_some("application/octet-stream");
        if let Some(content_type) = content_type.or(default_type) {
            crate::cli::values::header_value(content_type)
                .map_err(|why| format!("--multipart {name}: {why}"))?;
            head.push_str(&format!("Content-Type: {content_type}\r\n"));
        }
        Ok(Part { head, content })
    }
}

/// Splits `;key=…` off the end.
fn take_setting<'a>(value: &'a str, key: &str) -> (&'a str, Option<&'a str>) {
    let sign = format!(";{key}=");
    match value.rfind(&sign) {
        Some(at) if !value[at + 1..].contains(';') => {
            (&value[..at], Some(&value[at + sign.len()..]))
        }
        _ => (value, None),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Percent-encodes characters that would end a quoted name (WHATWG HTML, multipart/form-data encoding).
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The first numbered boundary that occurs in none of the parts.
fn boundary(parts: &[Part]) -> String {
    let taken = |boundary: &str| {
        parts.iter().any(|part| {
            part.content
                .windows(boundary.len())
                .any(|window| window == boundary.as_bytes())
        })
    };
    let candidates = (0_u32..).map(|number| format!("loadline-boundary-{number:08}"));
    candidates
        .into_iter()
        .find(|boundary| !taken(boundary))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(parts: &[(&str, &str)]) -> String {
        let files = Files::Memory([("/d/f.txt".to_owned(), b"hello".to_vec())].into());
        let parts: Vec<_> = parts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let (body, content_type) = encode(&parts, &files).expect("good parts");
        assert!(content_type.starts_with("multipart/form-data; boundary=loadline-boundary-"));
        String::from_utf8(body).expect("text")
    }

    #[test]
    fn parts_carry_names_types_and_files() {
        let body = encoded(&[
            ("a", "1"),
            ("f", "@/d/f.txt;type=text/plain"),
            ("j", "{};type=application/json;filename=x.json"),
        ]);
        assert!(body.contains("name=\"a\"\r\n\r\n1\r\n"), "{body}");
        assert!(
            body.contains(
                "name=\"f\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
            ),
            "{body}"
        );
        assert!(
            body.contains(
                "name=\"j\"; filename=\"x.json\"\r\nContent-Type: application/json\r\n\r\n{}\r\n"
            ),
            "{body}"
        );
        assert!(body.ends_with("--\r\n"), "{body}");
    }

    #[test]
    fn the_boundary_occurs_in_no_part() {
        let body = encoded(&[("a", "loadline-boundary-00000000")]);
        assert!(
            body.starts_with("--loadline-boundary-00000001\r\n"),
            "{body}"
        );
    }

    #[test]
    fn unreadable_files_are_named() {
        let parts = [("f".to_owned(), "@/none".to_owned())];
        let error = encode(&parts, &Files::Memory([].into())).expect_err("no such file");
        assert!(
            error.contains("--multipart") && error.contains("/none"),
            "{error}"
        );
    }
}
