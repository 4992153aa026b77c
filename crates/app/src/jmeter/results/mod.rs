//! Where the samples of a plan go: the results file, the files of listeners, and the lines on the console.
//!
//! Runs on a separate thread. Must not know the plan's threads. Invariant: all received samples are written, in
//! whole rows, before the run is reported as finished.

mod backends;
mod file;
mod outlets;
mod summaries;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_steps::listener::Heard;
use loadline_steps::sample::Sample;

pub(crate) use self::backends::Backends;
pub(crate) use self::outlets::Outlets;
pub(crate) use self::summaries::{Summaries, name_of_run};
use super::world::now_ms;

/// Maximum delay before a sample is written to its file.
const FLUSH_EVERY_MS: u32 = 1_000;

/// The outcome of the samples of a run.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Successful samples, without transactions.
    pub(crate) good: u64,
    /// Samples of HTTP requests.
    pub(crate) requests: u64,
    /// The successful ones of them.
    pub(crate) good_requests: u64,
    /// Why a file could not be written, as the message that the user got; `None`: all were written.
    pub(crate) fault: Option<String>,
}

/// All receivers of samples.
pub(crate) struct Hearers {
    /// The results file, if requested, and those of listeners.
    pub(crate) outlets: Outlets,
    /// The lines of JMeter's console; `None`: they are not printed.
    pub(crate) summaries: Option<Summaries>,
    /// Metrics stores.
    pub(crate) backends: Backends,
}

/// Receives all samples of a run.
pub(crate) fn take(samples: &Receiver<Vec<Heard>>, hearers: Hearers) -> Taken {
    let Hearers {
        mut outlets,
        mut summaries,
        mut backends,
    } = hearers;
    let mut taken = Taken::default();
    let mut flushed_ms = now_ms();
    loop {
        backends.look();
        if now_ms() - flushed_ms >= i64::from(FLUSH_EVERY_MS) {
            outlets.flush();
            flushed_ms = now_ms();
        }
        match samples.recv_timeout(Duration::from_millis(FLUSH_EVERY_MS.into())) {
            Ok(batch) => {
                for heard in &batch {
                    if heard.is_result() {
                        taken.count(&heard.sample);
                    }
                    if let Some(summaries) = &mut summaries {
                        summaries.take(heard);
                    }
                    backends.take(heard);
                    outlets.take(heard);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Some(summaries) = &mut summaries {
        summaries.finish();
    }
    taken.fault = outlets.close().err();
    backends.finish();
    taken
}

impl Taken {
    /// Counts a sample; for a transaction, the samples below it.
    fn count(&mut self, sample: &Sample) {
        if sample.is_transaction {
            return sample.children.iter().for_each(|below| self.count(below));
        }
        let (is_request, is_good) = (u64::from(sample.url.is_some()), u64::from(sample.success));
        self.good += is_good;
        self.requests += is_request;
        self.good_requests += is_request * is_good;
    }

    /// Whether anything succeeded: among requests, if there were any.
    pub(crate) fn has_good(&self) -> bool {
        match self.requests {
            0 => self.good > 0,
            _ => self.good_requests > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_counts_by_the_samples_below_it() {
        let below = |success| Sample {
            url: Some("http://h/".to_owned()),
            success,
            ..Sample::default()
        };
        let mut taken = Taken::default();
        assert!(!taken.has_good());
        taken.count(&Sample {
            is_transaction: true,
            success: true,
            children: vec![below(false), below(false)],
            ..Sample::default()
        });
        taken.count(&Sample {
            success: true,
            ..Sample::default()
        });
        assert!(!taken.has_good(), "no request was answered well");
        taken.count(&below(true));
        assert!(taken.has_good());
    }
}
