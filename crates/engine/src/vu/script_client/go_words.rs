//! Pieces of the texts in which Go programs tell of failures, because people search logs for them.
//!
//! Source of the wordings: what k6 v2.2.0 printed for each fault on loopback. Must not know
//! requests. Invariant: plain functions from facts to words.

use loadline_go::quote::quoted_bytes;
use loadline_model::civil::Civil;

/// What is wrong with a line that should be a status line, as `net/http` finds it; `None` when
/// only the version is one that is not spoken here.
pub(super) fn status_line_fault(line: &[u8]) -> Option<String> {
    let end = line.iter().position(|&byte| byte == b'\n');
    let line = &line[..end.unwrap_or(line.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(space) = line.iter().position(|&byte| byte == b' ') else {
        return Some(format!("malformed HTTP response {}", quoted_bytes(line)));
    };
    let (version, rest) = (&line[..space], line[space..].trim_ascii_start());
    let code = rest.split(|&byte| byte == b' ').next().unwrap_or(rest);
    if code.len() != 3 || !code.iter().all(u8::is_ascii_digit) {
        return Some(format!("malformed HTTP status code {}", quoted_bytes(code)));
    }
    let known = matches!(version, [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
        if major.is_ascii_digit() && minor.is_ascii_digit());
    (!known).then(|| format!("malformed HTTP version {}", quoted_bytes(version)))
}

/// What is wrong with the line of a chunk's size, as far as it came.
pub(super) fn chunk_size_fault(line: &[u8]) -> &'static str {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit());
    match (digits.count(), line.first()) {
        (17.., _) => "http chunk length too large",
        (0, Some(b'\r')) => "empty hex number for chunk length",
        (digits, _) if line.get(digits) == Some(&b'\n') => "chunked line ends with bare LF",
        _ => "invalid byte in chunk length",
    }
}

/// The name of an HTTP/2 error code.
pub(super) fn http2_code(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    match NAMES.get(code as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("unknown error code 0x{code:x}"),
    }
}

/// An instant in RFC 3339, UTC, to the second.
pub(super) fn rfc3339(unix_seconds: u64) -> String {
    let at = Civil::of_unix_s(unix_seconds);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_are_judged_as_in_go() {
        for (line, fault) in [
            (
                &b"garbage is here\r\n\r\n"[..],
                Some(r#"malformed HTTP status code "is""#),
            ),
            (
                b"HTTP/1.1 abc OK",
                Some(r#"malformed HTTP status code "abc""#),
            ),
            (b"HTTP/1.1 20", Some(r#"malformed HTTP status code "20""#)),
            (b"HTTP/x 200 OK", Some(r#"malformed HTTP version "HTTP/x""#)),
            (
                b"HTTP/1.1\r\n",
                Some(r#"malformed HTTP response "HTTP/1.1""#),
            ),
            (
                b"\x15\x03\x01\x00\x02\x02F",
                Some(r#"malformed HTTP response "\x15\x03\x01\x00\x02\x02F""#),
            ),
            (b"HTTP/9.1 200 OK", None),
        ] {
            assert_eq!(status_line_fault(line).as_deref(), fault);
        }
    }

    #[test]
    fn sizes_of_chunks_are_judged_as_in_go() {
        for (line, fault) in [
            (&b"zz\r\n"[..], "invalid byte in chunk length"),
            (b"", "invalid byte in chunk length"),
            (b"\r\nhello", "empty hex number for chunk length"),
            (b"5\nhello", "chunked line ends with bare LF"),
            (b"00000000000000005", "http chunk length too large"),
        ] {
            assert_eq!(chunk_size_fault(line), fault, "{line:?}");
        }
    }

    #[test]
    fn instants_are_dated() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_795_259_556), "2026-11-21T11:12:36Z");
        assert_eq!(rfc3339(1_609_459_200), "2021-01-01T00:00:00Z");
    }

    #[test]
    fn codes_have_names() {
        assert_eq!(http2_code(2), "INTERNAL_ERROR");
        assert_eq!(http2_code(99), "unknown error code 0x63");
    }
}
