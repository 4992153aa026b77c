//! The body that the options describe.
//!
//! Must not know headers except the content type that it implies. Invariant: a file that is read later can be
//! opened now.

use loadline_model::request::BodySource;

use super::multipart;
use super::templates::Templates;
use crate::Files;
use crate::cli::bench::BodyArgs;

/// The content type of URL-encoded forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// A body and the content type that it implies.
pub(super) struct Body {
    pub(super) source: BodySource,
    /// `None`: it implies none.
    pub(super) content_type: Option<String>,
}

impl Body {
    /// Whether there is no body.
    pub(super) fn is_empty(&self) -> bool {
        self.source == BodySource::None
    }
}

/// The body.
pub(super) fn body(
    args: &BodyArgs,
    files: &Files,
    templates: &mut Templates<'_>,
) -> Result<Body, String> {
    let (source, content_type) = if let Some(text) = &args.body {
        (of_text("-b", text.clone().into_bytes(), templates)?, None)
    } else if let Some(path) = &args.body_file {
        (of_file(path, args.stream, files, templates)?, None)
    } else if !args.form.is_empty() {
        (
            of_text("-F", form(&args.form).into_bytes(), templates)?,
            Some(FORM.to_owned()),
        )
    } else if !args.multipart.is_empty() {
        let (bytes, content_type) = multipart::encode(&args.multipart, files)?;
        (BodySource::from_bytes(bytes), Some(content_type))
    } else if args.stream {
        return Err("--stream needs a body: give -b or -D".to_owned());
    } else {
        (BodySource::None, None)
    };
    let source = if args.stream {
        in_chunks(source)?
    } else {
        source
    };
    Ok(Body {
        source,
        content_type,
    })
}

fn of_file(
    path: &str,
    stream: bool,
    files: &Files,
    templates: &mut Templates<'_>,
) -> Result<BodySource, String> {
    let place = |error| format!("-D: {error}");
    // Standard input cannot be read again for each request.
    if stream && path != "-" {
        files.check(path).map_err(place)?;
        return Ok(BodySource::StreamFile { path: path.into() });
    }
    of_text(
        &format!("-D {path}"),
        files.read(path).map_err(place)?,
        templates,
    )
}

/// Bytes, or a template if they are text with placeholders.
fn of_text(
    place: &str,
    bytes: Vec<u8>,
    templates: &mut Templates<'_>,
) -> Result<BodySource, String> {
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains("{{") => text,
        _ => return Ok(BodySource::from_bytes(bytes)),
    };
    let template = templates.parse(place, text)?;
    match template.as_literal() {
        Some(_) => Ok(BodySource::from_bytes(bytes)),
        None => Ok(BodySource::Template { template }),
    }
}

fn in_chunks(source: BodySource) -> Result<BodySource, String> {
    match source {
        BodySource::Bytes { bytes, length } => Ok(BodySource::StreamBytes { bytes, length }),
        BodySource::Template { .. } => {
            Err("--stream sends a body as it is: drop the {{…}}, or give --no-templates".to_owned())
        }
        BodySource::None => Err("--stream needs a body: the one given is empty".to_owned()),
        other => Ok(other),
    }
}

/// Fields URL-encoded as in HTML forms (WHATWG URL, section 5.2), except placeholders, which stay.
fn form(fields: &[(String, String)]) -> String {
    let encoded = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    encoded.collect::<Vec<_>>().join("&")
}

fn encode(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((hole, after)) = after.split_once("}}") else {
            break;
        };
        encode_plain(before, &mut out);
        out.push_str("{{");
        out.push_str(hole);
        out.push_str("}}");
        rest = after;
    }
    encode_plain(rest, &mut out);
    out
}

fn encode_plain(text: &str, out: &mut String) {
    out.extend(url::form_urlencoded::byte_serialize(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_as_browsers_do() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            form(&[field("a b", "c&d"), field("é", "x=y")]),
            "a+b=c%26d&%C3%A9=x%3Dy"
        );
        assert_eq!(form(&[field("n", "{{counter}}&")]), "n={{counter}}%26");
        assert_eq!(form(&[field("n", "{{open")]), "n=%7B%7Bopen");
    }
}
