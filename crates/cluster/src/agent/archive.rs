//! The archive of a job: received in pieces, and kept for the next job.
//!
//! Must not know its content. Invariant: an archive is only used if it has the digest given by the coordinator.

use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::bytes::Bytes;

use crate::coordinator::{ARCHIVE_MAX, digest_of};
use crate::generated::Job;

/// The last archive sent to this process, for when it joins again or stands in.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<(Vec<u8>, Bytes)>);

impl Held {
    /// Its digest; empty if there is none.
    pub(super) fn digest(&self) -> Vec<u8> {
        self.held().0.clone()
    }

    fn held(&self) -> MutexGuard<'_, (Vec<u8>, Bytes)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job whose archive is being received.
#[derive(Debug)]
pub(super) struct Arriving {
    job: Job,
    archive: Vec<u8>,
}

impl Arriving {
    /// # Errors
    /// The archive is too large, or the coordinator wrongly assumes that it is cached.
    pub(super) fn new(job: Job, held: &Held) -> Result<Arriving, String> {
        let bytes = job.archive_bytes;
        if bytes > ARCHIVE_MAX as u64 {
            return Err(format!(
                "its script has {bytes} bytes, more than {ARCHIVE_MAX}"
            ));
        }
        if job.archive_is_held && held.digest() != job.archive_digest {
            return Err("its script is not the one that was sent before".to_owned());
        }
        Ok(Arriving {
            job,
            archive: Vec::new(),
        })
    }

    /// One more piece.
    pub(super) fn take(&mut self, piece: &[u8]) {
        self.archive.extend_from_slice(piece);
    }

    /// Whether nothing is missing.
    pub(super) fn is_whole(&self) -> bool {
        self.job.archive_is_held || self.archive.len() as u64 >= self.job.archive_bytes
    }

    /// The job with its archive, which is cached from now on.
    ///
    /// # Errors
    /// It differs from the one that the coordinator announced.
    pub(super) fn finish(self, held: &Held) -> Result<(Job, Bytes), String> {
        let mut held = held.held();
        if !self.job.archive_is_held {
            let digest = digest_of(&self.archive);
            // A coordinator of an earlier version sends none.
            if !self.job.archive_digest.is_empty() && self.job.archive_digest != digest {
                return Err("its script was damaged in transit".to_owned());
            }
            *held = (digest, self.archive.into());
        }
        Ok((self.job, held.1.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(archive: &[u8], archive_is_held: bool) -> Job {
        Job {
            archive_bytes: archive.len() as u64,
            archive_digest: digest_of(archive),
            archive_is_held,
            ..Job::default()
        }
    }

    #[test]
    fn what_was_sent_once_is_held() {
        let held = Held::default();
        assert!(Arriving::new(job(b"script", true), &held).is_err());
        let mut first = Arriving::new(job(b"script", false), &held).expect("a job");
        first.take(b"scr");
        assert!(!first.is_whole());
        first.take(b"ipt");
        assert!(first.is_whole());
        let (_, archive) = first.finish(&held).expect("it is whole");
        assert_eq!(held.digest(), digest_of(b"script"));
        let again = Arriving::new(job(b"script", true), &held).expect("it is held");
        assert!(again.is_whole());
        let (_, same) = again.finish(&held).expect("it is held");
        assert_eq!(same.as_ptr(), archive.as_ptr());
        let mut changed = Arriving::new(job(b"script", false), &held).expect("a job");
        changed.take(b"scrept");
        assert!(changed.finish(&held).is_err());
        let mut old = Arriving::new(
            Job {
                archive_digest: Vec::new(),
                ..job(b"other", false)
            },
            &held,
        )
        .expect("a job");
        old.take(b"other");
        assert_eq!(old.finish(&held).expect("it is whole").1, &b"other"[..]);
        assert!(Arriving::new(job(b"script", true), &held).is_err());
    }
}
