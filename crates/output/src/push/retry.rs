//! How often, and after which waits, something is retried.
//!
//! Must not know what is retried, nor clocks. Invariant: the waits end.

use std::time::Duration;

/// Waits that double from the first to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// The first wait.
    pub(crate) first: Duration,
    /// The longest.
    pub(crate) longest: Duration,
    /// How many waits there are.
    pub(crate) waits: u32,
}

impl Default for Retry {
    /// Half a minute in total: enough for a restarting server, and not too long for one that is gone.
    fn default() -> Retry {
        Retry {
            first: Duration::from_millis(250),
            longest: Duration::from_secs(4),
            waits: 11,
        }
    }
}

impl Retry {
    /// The wait after this many failures, at least one; `None`: no further retry.
    pub(crate) fn wait(&self, failures: u32) -> Option<Duration> {
        if failures > self.waits {
            return None;
        }
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1));
        let wait = doubled.and_then(|times| self.first.checked_mul(times));
        Some(wait.unwrap_or(self.longest).min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let retry = Retry::default();
        let waits: Vec<u128> = (1..)
            .map_while(|failures| retry.wait(failures))
            .map(|wait| wait.as_millis())
            .collect();
        assert_eq!(
            waits,
            [
                250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000
            ]
        );
        assert_eq!(waits.iter().sum::<u128>(), 31_750);
    }
}
