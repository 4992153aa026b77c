//! Any strings as the parts of a request.
//!
//! Invariant checked: what is built has exactly the lines that were asked for, so nothing put in
//! can inject one; what cannot be sent so is refused.
//!
//! The parts of the input are separated by the byte 0xFF: flags, method, target, host, then
//! header names and values by turns.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_wire::{RequestHead, RequestTarget};

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|&byte| byte == 0xff);
    let flags = parts
        .next()
        .and_then(|flags| flags.first().copied())
        .unwrap_or_default();
    let mut text = || parts.next().and_then(|part| str::from_utf8(part).ok());
    let (Some(method), Some(target), Some(host)) = (text(), text(), text()) else {
        return;
    };
    let mut headers = Vec::new();
    while let (Some(name), Some(value)) = (text(), text()) {
        headers.push((name, value));
    }
    let form = match flags & 3 {
        0 => RequestTarget::Origin(target),
        1 => RequestTarget::Absolute(target),
        2 => RequestTarget::Authority(target),
        _ => RequestTarget::Asterisk,
    };
    let begun = RequestHead::new(method, form).host(host);
    let begun = if flags & 4 == 0 {
        begun
    } else {
        begun.content_length(data.len() as u64)
    };
    let filled = headers
        .iter()
        .fold(begun, |head, (name, value)| head.header(name, value));
    if let Ok(bytes) = filled.finish() {
        let target = if flags & 3 == 3 { "*" } else { target };
        let mut expected = vec![
            format!("{method} {target} HTTP/1.1"),
            format!("Host: {host}"),
        ];
        if flags & 4 != 0 {
            expected.push(format!("Content-Length: {}", data.len()));
        }
        expected.extend(
            headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}")),
        );
        check(&bytes, &expected);
    }
});

fn check(bytes: &[u8], expected: &[String]) {
    let text = str::from_utf8(bytes).expect("only UTF-8 went in");
    let head = text
        .strip_suffix("\r\n\r\n")
        .expect("a head ends with a blank line");
    assert!(
        head.split("\r\n").eq(expected.iter().map(String::as_str)),
        "{text:?}"
    );
    assert!(
        !head.replace("\r\n", "").contains(['\r', '\n', '\0']),
        "{text:?}"
    );
}
