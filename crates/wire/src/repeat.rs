//! Recognises a head that is the same, byte for byte, as the one before it on the connection.
//!
//! It must not know the parser's states or limits. Invariant: the head that it returns for some bytes is the one
//! that the scanner finds in them.

use crate::framing::Facts;
use crate::head::Fields;
use crate::scan::RawHead;

/// Longest head that is kept, in bytes: most are shorter, and a connection must stay small.
const KEPT_MAX: usize = 1024;

/// The last head of a connection. A target that sends bodies of the same length sends the same head until the second
/// of its Date is over: comparing costs a twentieth of scanning.
#[derive(Debug, Default)]
pub(crate) struct LastHead(Option<Box<Kept>>);

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    status: u16,
    minor: u8,
    reason: Option<Place>,
    content_type: Option<Place>,
    fields: Place,
    /// Without what they borrow from the bytes.
    facts: Facts<'static>,
}

/// Where a part of a head is in its bytes.
#[derive(Debug, Clone, Copy)]
struct Place {
    from: u16,
    to: u16,
}

impl Place {
    /// The place of `part`, which is a slice of `whole`, which is not longer than [`KEPT_MAX`].
    fn of(part: &[u8], whole: &[u8]) -> Self {
        let from = part.as_ptr().addr() - whole.as_ptr().addr();
        Self {
            from: from as u16,
            to: (from + part.len()) as u16,
        }
    }

    #[inline]
    fn within(self, whole: &[u8]) -> &[u8] {
        &whole[usize::from(self.from)..usize::from(self.to)]
    }
}

impl LastHead {
    /// The head at the start of `bytes` if it is the last one again.
    #[inline]
    pub(crate) fn again<'a>(&self, bytes: &'a [u8]) -> Option<RawHead<'a>> {
        let kept = self.0.as_deref()?;
        let len = kept.bytes.len();
        let head = bytes.get(..len).filter(|head| *head == kept.bytes)?;
        let mut facts: Facts<'a> = kept.facts;
        facts.content_type = kept.content_type.map(|place| place.within(head));
        Some(RawHead {
            status: kept.status,
            minor: kept.minor,
            reason: kept.reason.map(|place| place.within(head)),
            fields: Fields::new(kept.fields.within(head)),
            facts,
            len,
        })
    }

    /// Keeps `head`, which was found at the start of `bytes`, unless it is long or odd.
    pub(crate) fn keep(&mut self, bytes: &[u8], head: &RawHead<'_>) {
        let facts = head.facts.unborrowed().filter(|_| head.len <= KEPT_MAX);
        let Some(facts) = facts else {
            self.0 = None;
            return;
        };
        let bytes = &bytes[..head.len];
        let place = |part: &[u8]| Place::of(part, bytes);
        let mut own = match &mut self.0 {
            Some(kept) => std::mem::take(&mut kept.bytes),
            None => Vec::with_capacity(bytes.len()),
        };
        own.clear();
        own.extend_from_slice(bytes);
        let kept = Kept {
            bytes: own,
            status: head.status,
            minor: head.minor,
            reason: head.reason.map(place),
            content_type: head.facts.content_type.map(place),
            fields: place(head.fields.lines()),
            facts,
        };
        match &mut self.0 {
            Some(before) => **before = kept,
            None => self.0 = Some(Box::new(kept)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::scan::{Scan, scan_head};

    fn scanned(bytes: &[u8]) -> RawHead<'_> {
        match scan_head(bytes, &Limits::DEFAULT) {
            Ok(Scan::Complete(head)) => head,
            _ => panic!("no head in {}", bytes.escape_ascii()),
        }
    }

    fn kept(bytes: &[u8]) -> LastHead {
        let mut last = LastHead::default();
        last.keep(bytes, &scanned(bytes));
        last
    }

    #[test]
    fn the_same_head_again_is_what_the_scanner_finds() {
        for head in [
            &b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nok"[..],
            b"HTTP/1.0 404\nconnection: close, keep-alive\n\n",
            b"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\nX: \r\n\r\n0\r\n\r\n",
        ] {
            let again = kept(head).again(head);
            assert_eq!(
                again.map(|head| format!("{head:?}")),
                Some(format!("{:?}", scanned(head))),
            );
        }
    }

    #[test]
    fn another_head_or_a_part_of_it_is_not_the_same() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        let mut last = kept(head);
        assert!(last.again(&head[..head.len() - 1]).is_none());
        assert!(
            last.again(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
                .is_none()
        );
        let longer = b"HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n";
        last.keep(longer, &scanned(longer));
        assert!(last.again(head).is_none());
        assert!(last.again(longer).is_some());
    }

    #[test]
    fn long_and_odd_heads_are_not_kept() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(KEPT_MAX));
        for head in [
            long.as_bytes(),
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        ] {
            assert!(kept(head).again(head).is_none());
        }
    }
}
