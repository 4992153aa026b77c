//! Retries of a request that its peer did not process, as in Go's client.
//!
//! Must not know connections. Invariant: the number of retries is limited, whatever the peer does. Source:
//! `RoundTripOpt` of `golang.org/x/net/http2`, without its jitter.

use std::time::Duration;

use super::{Stop, StopSign};

/// How often a request is sent again.
const AGAIN_MAX: u32 = 7;

/// How often a request was not processed so far.
#[derive(Debug, Default)]
pub(crate) struct TurnedAway(u32);

impl TurnedAway {
    /// Waits until the request may be sent again; returns whether to send it.
    ///
    /// # Errors
    /// A stop came first.
    pub(crate) async fn wait(&mut self, stop: &impl StopSign) -> Result<bool, Stop> {
        let Some(pause) = self.next_pause() else {
            return Ok(false);
        };
        if !pause.is_zero() {
            stop.guard(tokio::time::sleep(pause)).await?;
        }
        Ok(true)
    }

    /// None before the first time, then a second, then twice that each time.
    fn next_pause(&mut self) -> Option<Duration> {
        let times = self.0;
        self.0 += 1;
        match times {
            0 => Some(Duration::ZERO),
            1..AGAIN_MAX => Some(Duration::from_secs(1 << (times - 1))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end() {
        let mut turned_away = TurnedAway::default();
        let pauses = std::iter::from_fn(|| turned_away.next_pause());
        let seconds: Vec<u64> = pauses.map(|pause| pause.as_secs()).collect();
        assert_eq!(seconds, [0, 1, 2, 4, 8, 16, 32]);
        assert_eq!(turned_away.next_pause(), None);
    }
}
