//! The header fields of a response as returned by Go's client.
//!
//! Fields about the connection or the framing are removed. Must not know the script's values. Invariant: each
//! name occurs once, its values joined in wire order.

use loadline_go::header::canonical;

use super::super::answer::Facts;
use crate::hop::HopProtocol;

/// Names and values to show, in the order of first occurrence.
pub(super) fn shown(facts: &Facts) -> Vec<(String, String)> {
    let mut fields: Vec<Field> = Vec::with_capacity(facts.headers.fields.len());
    for (name, value) in facts.headers.iter() {
        let name = canonical(&String::from_utf8_lossy(name));
        let value = String::from_utf8_lossy(value).into_owned();
        match fields.iter_mut().find(|field| field.name == name) {
            Some(field) => field.values.push(value),
            None => fields.push(Field {
                name,
                values: vec![value],
            }),
        }
    }
    match facts.protocol {
        Some(HopProtocol::Http2) => remove(&mut fields, "Trailer"),
        Some(protocol) => fix_http1(&mut fields, protocol, facts),
        None => {}
    }
    let joined = |field: Field| (field.name, field.values.join(", "));
    fields.into_iter().map(joined).collect()
}

struct Field {
    name: String,
    values: Vec<String>,
}

fn fix_http1(fields: &mut Vec<Field>, protocol: HopProtocol, facts: &Facts) {
    let is_1_1 = protocol == HopProtocol::Http11;
    let is_chunked = is_1_1 && find(fields, "Transfer-Encoding").is_some();
    remove(fields, "Transfer-Encoding");
    if is_1_1 && find(fields, "Connection").is_some_and(says_close) {
        remove(fields, "Connection");
    }
    let is_head = facts
        .call
        .as_ref()
        .is_some_and(|call| &*call.method == "HEAD");
    let has_body = !is_head && !matches!(facts.status, 100..=199 | 204 | 304);
    if is_chunked && has_body {
        remove(fields, "Content-Length");
    }
    if is_chunked {
        remove(fields, "Trailer");
    }
    if let Some(length) = find(fields, "Content-Length") {
        length.values.truncate(1);
    }
    let is_uncached = find(fields, "Pragma").is_some_and(|field| field.values[0] == "no-cache");
    if is_uncached && find(fields, "Cache-Control").is_none() {
        fields.push(Field {
            name: "Cache-Control".to_owned(),
            values: vec!["no-cache".to_owned()],
        });
    }
}

fn says_close(connection: &mut Field) -> bool {
    let mut tokens = connection.values.iter().flat_map(|value| value.split(','));
    tokens.any(|token| token.trim().eq_ignore_ascii_case("close"))
}

fn find<'a>(fields: &'a mut [Field], name: &str) -> Option<&'a mut Field> {
    fields.iter_mut().find(|field| field.name == name)
}

fn remove(fields: &mut Vec<Field>, name: &str) {
    fields.retain(|field| field.name != name);
}
