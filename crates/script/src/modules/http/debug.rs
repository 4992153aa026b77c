//! Logs requests and responses for `--http-debug`.
//!
//! Must not change what is sent. Invariant: costs one comparison when off.

use std::collections::BTreeMap;

use loadline_model::uuid;

use super::call::Call;
use crate::hop::{HopAnswer, HopRequest};
use crate::host::LogLevel;
use crate::program::HttpDebug;
use crate::vu::VuState;

/// Logs a request that is about to be sent; returns the id under which its response is logged.
pub(super) fn request(state: &VuState, call: &Call, request: &HopRequest) -> Option<String> {
    let level = state.program.settings.http.debug;
    if level == HttpDebug::Off {
        return None;
    }
    let mut dump = format!("{} {} HTTP/1.1\n", request.method, request.target);
    for (at, (name, value)) in request.headers.iter().enumerate() {
        field(&mut dump, name, value);
        if let Some(body) = &request.body
            && at == 1
        {
            field(&mut dump, "Content-Length", &body.len().to_string());
        }
    }
    // Like Go's dump, which is made from a copy of the request.
    let says_nothing = |name: &str| {
        let mut names = request.headers.iter().map(|(name, _)| name);
        !names.any(|known| known.eq_ignore_ascii_case(name))
    };
    if &*request.method != "HEAD" && says_nothing("Accept-Encoding") && says_nothing("Range") {
        field(&mut dump, "Accept-Encoding", "gzip");
    }
    dump.push('\n');
    let body = request.body.as_deref().unwrap_or_default();
    let id = uuid::text(state.host.random(), state.host.random());
    say(state, call, "Request", dump, body, &id);
    Some(id)
}

/// Logs a received response to a request of this method.
pub(super) fn answer(state: &VuState, call: &Call, method: &str, answer: &HopAnswer, id: &str) {
    let mut fields: Vec<(String, String)> = answer
        .headers
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .collect();
    sort(&mut fields, method);
    let mut dump = format!(
        "{} {} {}\n",
        answer.protocol.name(),
        answer.status,
        answer.reason.as_deref().unwrap_or_default()
    );
    for (name, value) in fields {
        field(&mut dump, &loadline_go::header::canonical(&name), &value);
    }
    dump.push('\n');
    say(state, call, "Response", dump, &answer.body, id);
}

/// As Go writes them: a length stands before all other fields, and a zero length after them, unless requests of the
/// method have bodies.
fn sort(fields: &mut [(String, String)], method: &str) {
    let has_body = matches!(method, "POST" | "PUT" | "PATCH");
    let rank = |(name, value): &(String, String)| match name.eq_ignore_ascii_case("Content-Length")
    {
        true if value == "0" && !has_body => 2,
        true => 0,
        false => 1,
    };
    fields.sort_by(|left, right| (rank(left), &left.0).cmp(&(rank(right), &right.0)));
}

/// Whether bodies are logged too, also those that the script discards.
pub(super) fn shows_bodies(state: &VuState) -> bool {
    state.program.settings.http.debug == HttpDebug::Full
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn field(dump: &mut String, name: &str, value: &str) {
    for part in [name, ": ", value, "\n"] {
        dump.push_str(part);
    }
}

fn say(state: &VuState, call: &Call, what: &str, head: String, body: &[u8], id: &str) {
    let mut message = format!("{what}:\n{head}");
    if shows_bodies(state) {
        message.push_str(&String::from_utf8_lossy(body));
    }
    message.push('\n');
    let iteration = state.iteration.get().to_string();
    let vu = state.ids.shown.to_string();
    let metadata = state.metadata.borrow().clone();
    let tags = [Some(&*call.base), call.tags.as_ref(), metadata.as_deref()];
    let mut fields: BTreeMap<&str, &str> = (tags.into_iter().flatten())
        .flat_map(|tags| tags.iter())
        .collect();
    fields.extend([
        ("iter", iteration.as_str()),
        ("request_id", id),
        ("source", "http-debug"),
        ("vu", vu.as_str()),
    ]);
    let fields: Vec<(&str, &str)> = fields.into_iter().collect();
    state.log(LogLevel::Info, &message, &fields);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_length_stands_first_only_in_answers_to_requests_with_bodies() {
        let names = |method: &str, length: &str| {
            let fields = [("Date", "d"), ("Content-Length", length), ("Age", "1")];
            let mut fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
            sort(&mut fields, method);
            fields.map(|(name, _)| name).join(" ")
        };
        assert_eq!(names("GET", "0"), "Age Date Content-Length");
        assert_eq!(names("POST", "0"), "Content-Length Age Date");
        assert_eq!(names("GET", "5"), "Content-Length Age Date");
    }
}
