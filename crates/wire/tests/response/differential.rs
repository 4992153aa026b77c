//! Compares heads with `httparse`, an independent parser.
//!
//! Invariant: whatever `httparse` accepts is accepted here with the same meaning; what only this crate accepts
//! is one of the listed leniencies.

use loadline_wire::{Limits, RequestKind, WireError};
use proptest::prelude::*;

use crate::events::{Event, Field, HeadEvent, transcript};

fn ours(head: &[u8]) -> Result<Option<HeadEvent>, WireError> {
    let seen = transcript([head], RequestKind::Head, Limits::default());
    match (seen.events.into_iter().next(), seen.error) {
        (Some(Event::Head(head)), _) => Ok(Some(head)),
        (_, Some(WireError::TruncatedHead { .. } | WireError::ClosedBeforeResponse)) => Ok(None),
        (_, Some(error)) => Err(error),
        (event, None) => panic!("neither head nor error but {event:?}"),
    }
}

type Theirs = (u16, u8, Vec<Field>, usize);

fn theirs(head: &[u8]) -> Result<Option<Theirs>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; 300];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(head)? {
        httparse::Status::Complete(length) => length,
        httparse::Status::Partial => return Ok(None),
    };
    let fields = response
        .headers
        .iter()
        .map(|header| (header.name.as_bytes().to_vec(), header.value.to_vec()))
        .collect();
    let status = response.code.expect("a complete head has a status");
    let minor = response.version.expect("a complete head has a version");
    Ok(Some((status, minor, fields, length)))
}

/// What this crate accepts and `httparse` does not.
fn is_lenient(head: &[u8], ours: &HeadEvent) -> bool {
    let control = |bytes: &[u8]| {
        bytes
            .iter()
            .any(|&byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
    };
    let folded = head.windows(2).any(|pair| matches!(pair, b"\n " | b"\n\t"));
    let blank_first = !head.starts_with(b"H");
    let later_version = ours.minor > 1;
    let odd_reason = control(&ours.reason) || !ours.reason.is_ascii();
    let odd_value = ours.headers.iter().any(|(_, value)| control(value));
    let odd_name = ours.headers.iter().any(|(name, _)| name.contains(&b' '));
    let odd_line = !head.starts_with(b"HTTP/1.") || head.starts_with(b"HTTP/1.1  ");
    folded || blank_first || later_version || odd_reason || odd_value || odd_name || odd_line
}

fn compare(head: &[u8]) -> Result<(), TestCaseError> {
    match (ours(head), theirs(head)) {
        (Ok(Some(ours)), Ok(Some((status, minor, fields, length)))) => {
            prop_assert_eq!(
                (ours.status, ours.minor, &ours.headers),
                (status, minor, &fields)
            );
            let blank = head
                .iter()
                .take_while(|byte| matches!(byte, b'\r' | b'\n'))
                .count();
            prop_assert_eq!(ours.wire_len + blank, length);
        }
        (Ok(Some(ours)), Err(error)) => {
            prop_assert!(is_lenient(head, &ours), "{error}: {}", head.escape_ascii());
        }
        (Ok(Some(ours)), Ok(None)) => {
            prop_assert!(is_lenient(head, &ours), "partial: {}", head.escape_ascii());
        }
        // Below 100 there is no status: RFC 9110 section 15. httparse does not check framing.
        (Err(error), Ok(Some((status, ..)))) => {
            let is_framing = matches!(
                error,
                WireError::BadContentLength { .. }
                    | WireError::ConflictingContentLength { .. }
                    | WireError::BadTransferEncoding { .. }
            );
            prop_assert!(
                status < 100 || is_framing,
                "only httparse takes {}: {error}",
                head.escape_ascii()
            );
        }
        (Ok(None), Ok(Some(_))) => {
            prop_assert!(
                false,
                "only httparse finds the end of {}",
                head.escape_ascii()
            );
        }
        (Err(_) | Ok(None), Err(_) | Ok(None)) => {}
    }
    Ok(())
}

fn head() -> impl Strategy<Value = Vec<u8>> {
    let name = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}";
    let value = "[ \t]{0,2}([!-~\u{80}-\u{ff}][ -~\t]{0,30})?";
    let line = (name, value, prop_oneof![Just("\r\n"), Just("\n")])
        .prop_map(|(name, value, end)| format!("{name}:{value}{end}"));
    let lines = prop::collection::vec(line, 0..12);
    (100u16..1000, "( [ -~]{0,20})?", lines).prop_map(|(status, reason, lines)| {
        format!("HTTP/1.1 {status}{reason}\r\n{}\r\n", lines.concat()).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sound_heads_mean_the_same(head in head()) {
        prop_assert!(theirs(&head).is_ok_and(|head| head.is_some()));
        compare(&head)?;
    }

    #[test]
    fn spoilt_heads_are_judged_alike(
        mut head in head(),
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (at, byte) in spoilt {
            let at = at.index(head.len());
            head[at] = byte;
        }
        compare(&head)?;
    }
}
