//! Requests and answers written to the log, as `--http-debug` asks for.
//!
//! Must not change what is sent. Invariant: costs one comparison when it is off.

use std::fmt::Write;

use crate::hop::{HopAnswer, HopRequest};
use crate::host::LogLevel;
use crate::program::HttpDebug;
use crate::vu::VuState;

/// Writes a request that is about to be sent.
pub(super) fn request(state: &VuState, request: &HopRequest) {
    let level = state.program.settings.http.debug;
    if level == HttpDebug::Off {
        return;
    }
    let mut dump = format!("{} {} HTTP/1.1\r\n", request.method, request.target);
    let length = request.body.as_ref().map(|body| body.len());
    for (at, (name, value)) in request.headers.iter().enumerate() {
        field(&mut dump, name, value);
        if at == 1
            && let Some(length) = length
        {
            field(&mut dump, "Content-Length", &length.to_string());
        }
    }
    dump.push_str("\r\n");
    if level == HttpDebug::Full
        && let Some(body) = &request.body
    {
        dump.push_str(&String::from_utf8_lossy(body));
    }
    say(state, "Request", &dump);
}

/// Writes an answer that was received.
pub(super) fn answer(state: &VuState, answer: &HopAnswer) {
    let level = state.program.settings.http.debug;
    if level == HttpDebug::Off {
        return;
    }
    let mut dump = format!("{} {} {}\r\n", answer.protocol.name(), answer.status, answer.reason);
    for (name, value) in answer.headers.iter() {
        field(&mut dump, &String::from_utf8_lossy(name), &String::from_utf8_lossy(value));
    }
    dump.push_str("\r\n");
    if level == HttpDebug::Full {
        dump.push_str(&String::from_utf8_lossy(&answer.body));
    }
    say(state, "Response", &dump);
}

fn field(dump: &mut String, name: &str, value: &str) {
    writeln!(dump, "{name}: {value}\r").expect("writing to a text cannot fail");
}

fn say(state: &VuState, what: &str, dump: &str) {
    let message = format!("{what}:\n{dump}\n");
    state.log(LogLevel::Info, &message, &[("source", "http-debug")]);
}
