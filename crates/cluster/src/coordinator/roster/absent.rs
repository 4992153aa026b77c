//! Agents that will not come: their processes ended before they joined, or no connections can be accepted.
//!
//! Must not know processes or sockets. Invariant: a test does not wait for an agent that is known not to come.

use super::Roster;

impl Roster {
    /// The process of an agent has ended. If it had joined, its connection shows the loss.
    pub(in crate::coordinator) fn process_ended(&mut self, name: &str, how: &str) {
        let has_joined = self.seats.iter().any(|seat| seat.name == name);
        let why =
            format!("{name}: its process ended before it joined ({how}); see its standard error");
        if !has_joined {
            self.cannot_begin(why);
        }
    }

    /// All agents that have joined, by name.
    pub(in crate::coordinator) fn names(&self) -> Vec<String> {
        self.seats.iter().map(|seat| seat.name.clone()).collect()
    }

    /// No more agents can be accepted. A test that has started continues with the existing ones.
    pub(in crate::coordinator) fn nobody_can_join(&mut self, why: &str) {
        self.cannot_begin(format!("agents cannot join: {why}"));
    }

    fn cannot_begin(&mut self, why: String) {
        if !self.is_closed && !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadline_model::RunCommand;

    use super::*;
    use crate::coordinator::roster::Expected;

    fn roster() -> Roster {
        Roster::new(Expected {
            wanted: 2,
            idle: 0,
            version: String::new(),
            is_replaceable: true,
            end: None,
            is_resumable: true,
            awaited_for: Duration::from_secs(1),
            run: String::new(),
            test: String::new(),
        })
    }

    #[test]
    fn nobody_waits_for_an_agent_whose_process_has_ended() {
        let mut roster = roster();
        assert!(!roster.is_ready());
        for _ in 0..2 {
            roster.process_ended("agent-1", "exit status: 255");
        }
        assert!(roster.is_ready());
        let (workers, _) = roster.close();
        assert_eq!(workers, 1, "one failure is told");
        roster.process_ended("agent-2", "exit status: 0");
        assert_eq!(
            roster.failures.len(),
            1,
            "a test that began waits for nobody"
        );
    }

    #[test]
    fn nobody_waits_for_agents_that_cannot_be_let_in() {
        let mut roster = roster();
        for _ in 0..2 {
            roster.nobody_can_join("no files are left");
        }
        assert!(roster.is_ready());
        let (workers, acts) = roster.close();
        let told = format!("{acts:?}");
        assert_eq!(workers, 1, "it is told once");
        assert!(
            told.contains("agents cannot join: no files are left"),
            "{told}"
        );
    }

    #[test]
    fn a_test_that_is_stopped_waits_for_nobody() {
        let mut roster = roster();
        roster.order(RunCommand::Pause);
        assert!(!roster.is_ready());
        roster.order(RunCommand::Interrupt);
        assert!(roster.is_ready());
        let (workers, acts) = roster.close();
        assert_eq!((workers, acts.len()), (0, 0), "nothing failed");
    }
}
