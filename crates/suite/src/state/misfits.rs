//! Runs in a state folder that a suite cannot use as they are.
//!
//! Must not know who is informed. Invariant: such a run counts as not made, and never prevents the use of
//! another.

use super::{RESULT, RowRecord, RunState, StateError, StateFolder, SuiteRecord};

impl StateFolder {
    /// Results of complete runs that cannot be read any more.
    #[must_use]
    pub fn damaged(&self, record: &SuiteRecord) -> Vec<StateError> {
        let mut damaged = Vec::new();
        self.each_done(record, |row, repetition, hash| {
            let file = self.run_folder(&row.id, repetition).join(RESULT);
            if hash == row.hash && self.disk.exists(&file) {
                damaged.extend(self.result(&row.id, repetition).err());
            }
        });
        damaged
    }

    /// Rows, by id, that were run with an earlier version of their settings.
    #[must_use]
    pub fn outdated(&self, record: &SuiteRecord) -> Vec<String> {
        let mut outdated: Vec<String> = Vec::new();
        self.each_done(record, |row, _, hash| {
            if hash != row.hash && outdated.last() != Some(&row.id) {
                outdated.push(row.id.clone());
            }
        });
        outdated
    }

    fn each_done(&self, record: &SuiteRecord, mut look: impl FnMut(&RowRecord, u32, &str)) {
        for row in &record.rows {
            for repetition in 1..=row.repeat {
                let status = self.status(&row.id, repetition);
                if let Some(status) = status.filter(|status| status.state == RunState::Done) {
                    look(row, repetition, &status.hash);
                }
            }
        }
    }
}
