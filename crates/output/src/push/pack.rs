//! Packs messages into datagrams.
//!
//! Must not know sockets. Invariant: the datagrams contain all messages in order, each complete; a datagram
//! exceeds the size limit only if its single message does.

/// Limits of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Messages; at least one.
    pub(crate) messages: usize,
    /// Bytes.
    pub(crate) bytes: usize,
}

/// The datagrams for messages that each end with a line end, and the number of messages in each.
pub(super) fn datagrams(
    messages: &[u8],
    limits: Limits,
) -> impl Iterator<Item = (&[u8], u64)> + use<'_> {
    let mut rest = messages;
    std::iter::from_fn(move || {
        let (length, count) = first(rest, limits)?;
        let (datagram, behind) = rest.split_at(length);
        rest = behind;
        // The last message of a datagram needs no line end.
        Some((&datagram[..length - 1], count))
    })
}

/// Length (including line ends) and messages of the first datagram; `None` at the end.
fn first(messages: &[u8], limits: Limits) -> Option<(usize, u64)> {
    let (mut length, mut count) = (0, 0);
    for message in messages.split_inclusive(|byte| *byte == b'\n') {
        let is_full = count >= limits.messages || length + message.len() - 1 > limits.bytes;
        if count > 0 && is_full {
            break;
        }
        length += message.len();
        count += 1;
    }
    (count > 0).then_some((length, count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn datagrams_hold_every_message_once_and_no_more_than_they_may(
            lengths in proptest::collection::vec(1..40_usize, 0..60),
            messages in 1..8_usize,
            bytes in 1..80_usize,
        ) {
            let all: Vec<u8> = lengths
                .iter()
                .flat_map(|length| [vec![b'x'; *length], vec![b'\n']].concat())
                .collect();
            let mut joined = Vec::new();
            for (datagram, count) in datagrams(&all, Limits { messages, bytes }) {
                let held = datagram.split(|byte| *byte == b'\n').count();
                prop_assert_eq!(held as u64, count);
                prop_assert!(held <= messages);
                prop_assert!(datagram.len() <= bytes || held == 1);
                joined.extend(datagram);
                joined.push(b'\n');
            }
            prop_assert_eq!(joined, all);
        }
    }
}
