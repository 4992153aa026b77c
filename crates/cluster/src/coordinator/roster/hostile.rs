//! A coordinator without a network, for fuzzing its input.
//!
//! Must not make assumptions about messages. Invariant: it never panics, whatever the bytes are.

use std::time::Duration;

use loadline_metric::MetricRegistry;
use prost::Message as _;

use super::{Expected, Roster, SILENCE_MAX, nanos};
use crate::batch::{samples_received, values_received};
use crate::generated::{Batch, FromAgent};

/// Feeds messages to a coordinator without a network. Each is preceded by its length as four bytes (little
/// endian) and the number of its link as one byte. Messages of link 255 are single values, and link 254 closes
/// the link given by the message's first byte. For fuzzing.
///
/// # Panics
/// Never, whatever the bytes are; that is what it tests.
pub fn hear_hostile(mut bytes: &[u8]) {
    let mut roster = Roster::new(Expected {
        wanted: 2,
        idle: 1,
        version: "1.0.0".to_owned(),
        is_replaceable: true,
        end: None,
        is_resumable: true,
        awaited_for: Duration::from_secs(1),
        run: "run".to_owned(),
        test: String::new(),
    });
    let mut now = 0;
    while let Some((head, rest)) = bytes.split_at_checked(5) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let (message, after) = rest.split_at(length.min(rest.len()));
        bytes = after;
        now += nanos(SILENCE_MAX) / 5;
        if head[4] == u8::MAX
            && let Ok(mut batch) = Batch::decode(message)
        {
            let _ = samples_received(&mut batch);
            let _ = values_received(&mut batch, &MetricRegistry::new());
        } else if let (0xfe, Some(link)) = (head[4], message.first()) {
            roster.closed(now, (*link).into());
        } else if let Ok(FromAgent { what: Some(said) }) = FromAgent::decode(message) {
            roster.heard(now, head[4].into(), said);
        }
        roster.tick(now);
        for seat in &roster.seats {
            roster.live_of(seat.share);
        }
        if roster.is_ready() && !roster.is_closed {
            roster.close();
            roster.start(now, None);
        }
    }
    roster.end(0, "");
}
