//! Agents that will not come: their processes have ended before they joined.
//!
//! Must not know processes. Invariant: a test does not wait for an agent that is known to have ended.

use super::Roster;

impl Roster {
    /// The process of an agent has ended. One that joined was heard, or is missed by its connection.
    pub(in crate::coordinator) fn process_ended(&mut self, name: &str, how: &str) {
        let has_joined = self.seats.iter().any(|seat| seat.name == name);
        let why = format!(
            "{name}: its process ended before it joined ({how}); its standard error says why"
        );
        if !self.is_closed && !has_joined && !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::coordinator::roster::Expected;

    #[test]
    fn nobody_waits_for_an_agent_whose_process_has_ended() {
        let mut roster = Roster::new(Expected {
            wanted: 2,
            idle: 0,
            version: String::new(),
            is_replaceable: true,
            end: None,
            is_resumable: true,
            awaited_for: Duration::from_secs(1),
            run: String::new(),
            test: String::new(),
        });
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
}
