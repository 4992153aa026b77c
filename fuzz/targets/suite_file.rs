//! Any text as a suite file, planned with files that are empty and an environment with one variable.
//!
//! Invariant checked: a refusal has a place in the file and says what to do; what is planned is planned again to the
//! same rows, whose identities differ, and every repetition of every row is run once.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use loadline_suite::file::{FileError, SuiteFile};
use loadline_suite::plan::{Plan, Surroundings};

fn plan(text: &str) -> Result<Plan, FileError> {
    let file = SuiteFile::parse("suite.yaml", text)?;
    let surroundings = Surroundings {
        read: &|_| Ok(Vec::new()),
        variable: &|name| (name == "A").then(|| "a".to_owned()),
    };
    Plan::of(&file, &surroundings)
}

fuzz_target!(|text: &str| {
    match plan(text) {
        Ok(planned) => {
            let ids: BTreeSet<&str> = planned.rows.iter().map(|row| row.id.as_str()).collect();
            assert_eq!(ids.len(), planned.rows.len());
            let runs: BTreeSet<(usize, u32)> = planned
                .runs
                .iter()
                .map(|run| (run.row, run.repetition))
                .collect();
            let repetitions: usize = planned
                .rows
                .iter()
                .map(|row| row.settings.repeat as usize)
                .sum();
            assert_eq!((runs.len(), planned.runs.len()), (repetitions, repetitions));
            let again = plan(text).expect("it was planned before");
            let hashes = |plan: &Plan| {
                plan.rows
                    .iter()
                    .map(|row| row.hash.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(hashes(&again), hashes(&planned));
        }
        Err(error) => {
            assert!(error.problem.at.line > 0, "{error}");
            assert!(
                !error.problem.what.is_empty() && !error.problem.fix.is_empty(),
                "{error}"
            );
        }
    }
});
