//! What each agent is told of its job.
//!
//! Must not know what is in it. Invariant: all agents are told the same.

use crate::generated::to_agent::What;
use crate::generated::{Chunk, Job};

/// Most bytes of an archive.
pub(crate) const ARCHIVE_MAX: usize = 64 << 20;
/// Bytes of a piece of it.
const CHUNK: usize = 1 << 20;

/// From what agents make the test anew.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The plan's; its form is that of who starts the agents.
    pub plan: Vec<u8>,
    /// The script and all that it reads, as k6's archive; empty for other runs.
    pub archive: Vec<u8>,
    /// Whether each value of a script is delivered.
    pub wants_values: bool,
    /// Whether each request is delivered.
    pub wants_samples: bool,
    /// Whether each result of a plan of steps is delivered.
    pub wants_results: bool,
}

impl Recipe {
    /// Whether it can be sent.
    pub(super) fn check(&self) -> Result<(), String> {
        for (what, bytes) in [
            ("the script and what it reads", self.archive.len()),
            (
                "the command line and the files that it names",
                self.plan.len(),
            ),
        ] {
            if bytes > ARCHIVE_MAX {
                let (mib, most) = (bytes.div_ceil(1 << 20), ARCHIVE_MAX >> 20);
                return Err(format!(
                    "{what} are {mib} MiB; agents take {most} MiB at most"
                ));
            }
        }
        Ok(())
    }

    /// As it is told.
    pub(super) fn told(&self) -> impl Iterator<Item = What> {
        let job = What::Job(Job {
            recipe: self.plan.clone(),
            archive_bytes: self.archive.len() as u64,
            wants_values: self.wants_values,
            wants_samples: self.wants_samples,
            wants_results: self.wants_results,
        });
        let pieces = self.archive.chunks(CHUNK).map(|bytes| {
            What::Program(Chunk {
                bytes: bytes.to_vec(),
            })
        });
        std::iter::once(job).chain(pieces)
    }
}
