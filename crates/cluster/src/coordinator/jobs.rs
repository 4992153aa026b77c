//! What each agent is to do: the plan with its segment, and the script.
//!
//! Must not know who the agents are. Invariant: the segments of all jobs are the whole plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_model::TestPlan;
use loadline_model::plan::PlanSegment;
use loadline_model::segment::{Ratio, Segment, SegmentSequence};

use crate::generated::to_agent::What;
use crate::generated::{Chunk, Job, Script};

/// Most bytes of an archive.
const ARCHIVE_MAX: usize = 64 << 20;
/// Bytes of a piece of it.
const CHUNK: usize = 1 << 20;

/// A script as agents load it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The script and all that it reads, as k6's archive.
    pub archive: Vec<u8>,
    /// Values of `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Whether the compatibility mode is `base`.
    pub lacks_global: bool,
    /// Whether libraries are fetched although they are built in.
    pub remote_libs: bool,
    /// Whether values are kept by all their tags.
    pub by_all_tags: bool,
    /// Whether distinct series are counted.
    pub counts_series: bool,
}

/// The jobs of a test.
#[derive(Debug)]
pub(super) struct Jobs {
    plan: Arc<TestPlan>,
    program: Option<Program>,
    sequence: SegmentSequence,
}

impl Jobs {
    /// Cuts a plan into equal parts.
    pub(super) fn new(
        plan: Arc<TestPlan>,
        program: Option<Program>,
        agents: u32,
    ) -> Result<Jobs, String> {
        plan.validate()?;
        if plan.segment.is_some() {
            return Err("a part of a test (--execution-segment) is not cut further: give --agents or the segment".to_owned());
        }
        let bytes = program.as_ref().map_or(0, |program| program.archive.len());
        if bytes > ARCHIVE_MAX {
            return Err(format!(
                "the script and what it reads are {} MiB; agents take {} MiB at most",
                bytes >> 20,
                ARCHIVE_MAX >> 20
            ));
        }
        Ok(Jobs {
            plan,
            program,
            sequence: equal_parts(agents).map_err(|error| error.to_string())?,
        })
    }

    /// What an agent is told of its job.
    pub(super) fn of(&self, number: u32) -> Result<Vec<What>, String> {
        let segments = self.sequence.segments();
        let segment = segments.get(number as usize).copied();
        let segment = segment.ok_or_else(|| format!("there is no part {number}"))?;
        let part = PlanSegment::new(segment, Some(self.sequence.clone()));
        let plan = TestPlan {
            segment: Some(part.map_err(|error| error.to_string())?),
            ..(*self.plan).clone()
        };
        let plan = serde_json::to_vec(&plan)
            .map_err(|error| format!("the plan cannot be written: {error}"))?;
        let script = self.program.as_ref().map(|program| Script {
            archive_bytes: program.archive.len() as u64,
            env: program.env.clone().into_iter().collect(),
            lacks_global: program.lacks_global,
            remote_libs: program.remote_libs,
            by_all_tags: program.by_all_tags,
            counts_series: program.counts_series,
        });
        let pieces = self.program.iter();
        let pieces = pieces.flat_map(|program| program.archive.chunks(CHUNK));
        let pieces = pieces.map(|bytes| {
            What::Program(Chunk {
                bytes: bytes.to_vec(),
            })
        });
        let job = What::Job(Job { plan, script });
        Ok(std::iter::once(job).chain(pieces).collect())
    }
}

fn equal_parts(agents: u32) -> Result<SegmentSequence, loadline_model::segment::SegmentError> {
    let all = u64::from(agents.max(1));
    let at = |part: u64| Ratio::new(part, all).expect("a part of a whole");
    let segments: Result<Vec<Segment>, _> = (0..all)
        .map(|part| Segment::new(at(part), at(part + 1)))
        .collect();
    SegmentSequence::new(segments?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_equal_and_whole() {
        for agents in [1, 2, 3, 7, 10, 50, 500] {
            let sequence = equal_parts(agents).expect("parts");
            assert_eq!(sequence.segments().len(), agents as usize);
            let shares = sequence.scale_all(1_000);
            assert_eq!(shares.iter().sum::<u64>(), 1_000, "{agents}");
            let (least, most) = (shares.iter().min(), shares.iter().max());
            assert!(most.expect("one") - least.expect("one") <= 1, "{agents}");
        }
    }
}
