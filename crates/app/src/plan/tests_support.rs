//! Plans of sample command lines, for the tests of this crate.
//!
//! Must not know what is tested. Invariant: no test uses a disk through it.

use std::collections::BTreeMap;

use loadline_model::TestPlan;

use crate::cli::{self, Command};
use crate::{Env, Files};

/// The plan of a `bench` command line, with files held in memory.
pub(crate) fn outcome(
    words: &[String],
    env: &Env,
    files: &[(&str, &str)],
) -> Result<TestPlan, String> {
    let parsed = cli::parse(words).map_err(|ending| ending.err)?;
    let Command::Bench(args) = parsed.command else {
        return Err("not a bench".to_owned());
    };
    let files: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect();
    super::bench(&args, env, &Files::Memory(files), 7)
}

/// The plan of a valid command line without files.
pub(crate) fn plan_of(words: &[String]) -> TestPlan {
    outcome(words, &Env::default(), &[]).expect("a good command line")
}
