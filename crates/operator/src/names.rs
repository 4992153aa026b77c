//! Names of the objects of a test.
//!
//! Must not know their purpose. Invariant: two tests have different secrets, even if they have the same name.

use crate::test::Test;
use loadline_model::test_kind::TestKind;

/// The manager label of our objects.
pub const MANAGER: &str = "loadline-operator";

/// Names of the objects of a test.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The owner.
    pub kind: TestKind,
    name: &'a str,
    uid: &'a str,
}

impl<'a> Names<'a> {
    /// The names for a test.
    #[must_use]
    pub fn of(run: &'a Test) -> Names<'a> {
        Names::new(run.kind, &run.name, &run.uid)
    }

    /// The names for a test with this name.
    #[must_use]
    pub fn new(kind: TestKind, name: &'a str, uid: &'a str) -> Names<'a> {
        Names { kind, name, uid }
    }

    /// Job, host and Service of the coordinator, or of the only pod.
    #[must_use]
    pub fn coordinator(&self) -> String {
        self.kind.coordinator(self.name)
    }

    /// The Job of all agents, if there is one.
    #[must_use]
    pub fn agents(&self) -> String {
        format!("{}-agent", self.name)
    }

    /// An agent and its host, counted from 1; also its Job if each agent has its own.
    #[must_use]
    pub fn agent(&self, number: u32) -> String {
        match self.kind.is_indexed() {
            // The cluster counts from 0.
            true => format!("{}-{}", self.agents(), number.saturating_sub(1)),
            false => format!("{}-{number}", self.name),
        }
    }

    /// The Secret with the identities. Its name is unique, so that the leftover of an earlier test with the
    /// same name is not used.
    #[must_use]
    pub fn secret(&self) -> String {
        self.own("identity")
    }

    /// The ConfigMap with the result.
    #[must_use]
    pub fn results(&self) -> String {
        self.own("results")
    }

    /// The ConfigMap with the files embedded in the test.
    #[must_use]
    pub fn files(&self) -> String {
        self.own("files")
    }

    fn own(&self, what: &str) -> String {
        let uid = self.uid.get(..8).unwrap_or(self.uid);
        format!("{}-{what}-{uid}", self.name)
    }

    /// The number of the agent that a Job belongs to, if each agent has its own.
    #[must_use]
    pub fn number(&self, job: &str) -> Option<u32> {
        let number = job.strip_prefix(self.name)?.strip_prefix('-')?;
        let number = number.parse().ok().filter(|number| *number > 0)?;
        (self.agent(number) == job).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_tells_its_agent() {
        let names = Names::new(TestKind::TestRun, "t-1", "0123456789");
        assert_eq!(names.number("t-1-12"), Some(12));
        for other in [
            "t-1",
            "t-1-0",
            "t-1-012",
            "t-1-+1",
            "t-12",
            "t-1-coordinator",
            "x-1-1",
        ] {
            assert_eq!(names.number(other), None, "{other}");
        }
        assert_eq!(names.secret(), "t-1-identity-01234567");
    }
}
