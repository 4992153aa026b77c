//! `pause`, `resume`, `scale`, `status` and `stats`: control a running test through its REST API.
//!
//! Source of paths and documents: k6's reference (JSON:API). Must not know the server. Invariant: a response
//! that does not arrive in time ends the command.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use loadline_model::ExitCode;
use serde_json::{Map, Value, json};

use crate::Ending;
use crate::cli::script::ScriptCommand;
use crate::k6::json::Json;
use crate::k6::{K6Error, K6Invocation};

/// Default address of a test.
const ADDRESS: &str = "localhost:6565";
/// Timeout for connecting, and for each part of the response.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum bytes of a response; a status has less than a thousand.
const ANSWER_MAX: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
/// The test is unreachable, or refuses; exit code 255.
pub(super) fn run(invocation: &K6Invocation) -> Result<ExitCode, K6Error> {
    let address = invocation.asked_address().unwrap_or(ADDRESS);
    let ask =
        |path: &str, wanted: Option<&Value>| ask(address, invocation.control_token(), path, wanted);
    if invocation.command == ScriptCommand::Stats {
        let answer = ask("/v1/metrics", None)?;
        let shown = answer["data"].as_array().map(|metrics| measured(metrics));
        let shown = shown.ok_or_else(|| unlike_a_test(address, &answer))?;
        return Ok(Ending::answer(shown).tell());
    }
    let wanted = match invocation.command {
        ScriptCommand::Pause => Some(json!({"paused": true})),
        ScriptCommand::Resume => Some(json!({"paused": false})),
        ScriptCommand::Scale => Some(scaled(invocation)?),
        _ => None,
    };
    let answer = ask("/v1/status", wanted.as_ref())?;
    let attributes = &answer["data"]["attributes"];
    let shown = attributes.as_object().map(shown);
    let shown = shown.ok_or_else(|| unlike_a_test(address, &answer))?;
    Ok(Ending::answer(shown).tell())
}

/// Sends attributes of the status to the test at an address.
///
/// # Errors
/// The test is unreachable, or refuses.
pub(super) fn change(
    address: &str,
    token: Option<&str>,
    attributes: &Value,
) -> Result<(), K6Error> {
    let answer = ask(address, token, "/v1/status", Some(attributes))?;
    match answer["data"]["attributes"].is_object() {
        true => Ok(()),
        false => Err(unlike_a_test(address, &answer)),
    }
}

fn scaled(invocation: &K6Invocation) -> Result<Value, K6Error> {
    let mut wanted = Map::new();
    let (vus, max) = invocation.scale;
    wanted.extend(vus.map(|vus| ("vus".to_owned(), Value::from(vus))));
    wanted.extend(max.map(|max| ("vus-max".to_owned(), Value::from(max))));
    match wanted.is_empty() {
        true => Err(K6Error::other("Specify either -u/--vus or -m/--max")),
        false => Ok(Value::Object(wanted)),
    }
}

/// The error for a response that is not a document of the API.
fn unlike_a_test(address: &str, answer: &Value) -> K6Error {
    K6Error::other(match answer["errors"][0]["detail"].as_str() {
        Some(why) => why.to_owned(),
        None => format!("{address} is not the API of a running test"),
    })
}

/// One line per metric: its name, and its values with their names.
fn measured(metrics: &[Value]) -> String {
    let row = |metric: &Value| {
        let sample = metric["attributes"]["sample"].as_object();
        let values = sample.into_iter().flatten();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name}={}", Json::from_value(value).compact()))
            .collect();
        let name = metric["id"].as_str().unwrap_or_default();
        format!("{name}: {}\n", values.join(" "))
    };
    metrics.iter().map(row).collect()
}

/// One line per attribute, in the order of the document's names.
fn shown(attributes: &Map<String, Value>) -> String {
    let rows = attributes.iter();
    rows.map(|(name, value)| format!("{name}: {}\n", Json::from_value(value).compact()))
        .collect()
}

/// Sends the given attributes, or requests the current ones.
fn ask(
    address: &str,
    token: Option<&str>,
    path: &str,
    wanted: Option<&Value>,
) -> Result<Value, K6Error> {
    let unreachable = |why: &dyn std::fmt::Display| {
        K6Error::other(format!(
            "no running test responds at {address}: {why}; is it running with --address {address}?"
        ))
    };
    let address = &with_host(address);
    let request = request(address, token, path, wanted);
    let answer = exchange(address, &request).map_err(|error| unreachable(&error))?;
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| unreachable(&"the response has no end of its head"))?;
    serde_json::from_str(body.trim()).map_err(|_| unlike_a_test(address, &Value::Null))
}

/// Uses HTTP/1.0, so that the response ends when the connection does.
fn request(address: &str, token: Option<&str>, path: &str, wanted: Option<&Value>) -> String {
    let (method, body) = match wanted {
        None => ("GET", String::new()),
        Some(attributes) => {
            let document =
                json!({"data": {"type": "status", "id": "default", "attributes": attributes}});
            ("PATCH", document.to_string())
        }
    };
    let length = body.len();
    let token = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n{token}\r\n{body}"
    )
}

/// A port without a host is on this machine.
fn with_host(address: &str) -> String {
    match address.strip_prefix(':') {
        Some(port) => format!("localhost:{port}"),
        None => address.to_owned(),
    }
}

fn exchange(address: &str, request: &str) -> std::io::Result<String> {
    let mut tried = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, PATIENCE) {
            Ok(stream) => return converse(stream, request),
            Err(error) => tried = error,
        }
    }
    Err(tried)
}

fn converse(mut stream: TcpStream, request: &str) -> std::io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server with one response; returns its address and, at the end, the request that it received.
    fn server(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut seen = [0; 4096];
            let length = stream.read(&mut seen).expect("a request");
            stream.write_all(answer.as_bytes()).expect("a reader");
            String::from_utf8_lossy(&seen[..length]).into_owned()
        });
        (address, thread)
    }

    #[test]
    fn a_test_is_asked_and_told() {
        let (address, thread) = server(
            "HTTP/1.0 200 OK\r\n\r\n{\"data\":{\"attributes\":{\"paused\":false,\"vus\":3}}}",
        );
        let answer = ask(
            &address,
            Some("word"),
            "/v1/status",
            Some(&json!({"paused": false})),
        )
        .expect("an answer");
        let attributes = answer["data"]["attributes"]
            .as_object()
            .expect("attributes");
        assert_eq!(shown(attributes), "paused: false\nvus: 3\n");
        let seen = thread.join().expect("the server ends");
        assert!(seen.starts_with("PATCH /v1/status HTTP/1.0\r\n"), "{seen}");
        assert!(seen.contains("\"paused\":false"), "{seen}");
        assert!(
            seen.contains("\r\nAuthorization: Bearer word\r\n"),
            "{seen}"
        );
    }

    #[test]
    fn metrics_are_told_line_by_line() {
        let metrics = json!([
            {"id": "iterations", "attributes": {"sample": {"count": 8, "rate": 3.5}}},
            {"id": "vus", "attributes": {"sample": {"value": 2}}},
        ]);
        let metrics = metrics.as_array().expect("a list");
        assert_eq!(
            measured(metrics),
            "iterations: count=8 rate=3.5\nvus: value=2\n"
        );
    }

    #[test]
    fn nobody_there_is_told_with_the_next_step() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        drop(listener);
        let told = ask(&address, None, "/v1/status", None)
            .expect_err("nobody listens")
            .to_string();
        assert!(told.contains("is it running with --address"), "{told}");
    }
}
