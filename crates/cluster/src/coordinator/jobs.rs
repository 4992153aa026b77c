//! The job sent to each agent.
//!
//! Must not know its content. Invariant: all agents get the same.

use aws_lc_rs::digest::{SHA256, digest};
use prost::bytes::Bytes;

use crate::generated::Job;

/// Maximum bytes of an archive.
pub(crate) const ARCHIVE_MAX: usize = 64 << 20;

/// Everything from which agents rebuild the test.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// That of the plan; its format belongs to the program that starts the agents.
    pub plan: Vec<u8>,
    /// The script and everything that it reads, as k6's archive; empty for other runs.
    pub archive: Bytes,
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
}

/// A recipe as sent to agents, with the description of its archive.
pub(super) struct Told {
    recipe: Recipe,
    /// Digest of the archive; empty if there is none.
    digest: Vec<u8>,
}

impl Told {
    pub(super) fn new(recipe: Recipe) -> Told {
        Told {
            digest: digest_of(&recipe.archive),
            recipe,
        }
    }

    /// The job of an agent that has an archive with this digest, and the archive that has to follow; empty: none.
    pub(super) fn to(&self, held: &[u8]) -> (Job, Bytes) {
        let is_held = !held.is_empty() && held == self.digest;
        let job = Job {
            recipe: self.recipe.plan.clone(),
            archive_bytes: self.recipe.archive.len() as u64,
            wants_values: self.recipe.wants_values,
            wants_samples: self.recipe.wants_samples,
            wants_results: self.recipe.wants_results,
            archive_digest: self.digest.clone(),
            archive_is_held: is_held,
        };
        let archive = match is_held {
            true => Bytes::new(),
            // All links share it.
            false => self.recipe.archive.clone(),
        };
        (job, archive)
    }
}

/// The digest of an archive; empty for an empty one.
pub(crate) fn digest_of(archive: &[u8]) -> Vec<u8> {
    match archive {
        [] => Vec::new(),
        archive => digest(&SHA256, archive).as_ref().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_not_sent_to_who_holds_it() {
        let archive = Bytes::from_static(b"script");
        let told = Told::new(Recipe {
            archive: archive.clone(),
            ..Recipe::default()
        });
        let (job, follows) = told.to(&[]);
        assert_eq!(
            (job.archive_is_held, follows.as_ptr()),
            (false, archive.as_ptr())
        );
        let (again, follows) = told.to(&job.archive_digest);
        assert!(again.archive_is_held && follows.is_empty());
        assert!(!told.to(b"another").0.archive_is_held);
        let none = Told::new(Recipe::default());
        assert!(!none.to(&[]).0.archive_is_held, "there is nothing to hold");
    }
}
