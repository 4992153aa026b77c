//! Error messages of Go's `net/http` for response lines that violate HTTP's grammar.
//!
//! Source of the wordings: the output of k6 2.2.0 and hey 0.1.5 for each fault on loopback. Must not know
//! requests. Invariant: pure functions from lines to words.

use crate::quote::quoted_bytes;

/// The fault that `net/http` finds in an invalid status line; `None` if only the version is not supported here.
#[must_use]
pub fn status_line_fault(line: &[u8]) -> Option<String> {
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

/// The fault of a chunk size line, as far as it was received; what follows the line does not matter.
#[must_use]
pub fn chunk_size_fault(line: &[u8]) -> &'static str {
    if let Some(end) = line.iter().position(|&byte| byte == b'\n') {
        match line[..end].iter().position(|&byte| byte == b'\r') {
            None => return "chunked line ends with bare LF",
            Some(at) if at + 1 < end => return "invalid CR in chunked line",
            Some(_) => {}
        }
    }
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit());
    match (digits.count(), line.first()) {
        (17.., _) => "http chunk length too large",
        (0, Some(b'\r' | b';')) => "empty hex number for chunk length",
        _ => "invalid byte in chunk length",
    }
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
            (b";a=b\r\nhello", "empty hex number for chunk length"),
            (b"5\nhello", "chunked line ends with bare LF"),
            (b"5;a\nb\r\nhello", "chunked line ends with bare LF"),
            (b"5;a\rb\r\nhello", "invalid CR in chunked line"),
            (b"5\r\r\nhello", "invalid CR in chunked line"),
            (b"5 5\r\nhe\rllo", "invalid byte in chunk length"),
            (b"00000000000000005", "http chunk length too large"),
        ] {
            assert_eq!(chunk_size_fault(line), fault, "{line:?}");
        }
    }
}
