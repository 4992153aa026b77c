//! Arguments, environment and files → test plan → run → exit code; nothing else.
//!
//! The pieces: [`cli`] declares loadline's own options, [`dialect`] reads the command lines of other
//! tools, [`plan`] turns either into a `TestPlan`, `commands` runs it, `terminal` shows it. Must not
//! know how load is made or measured. Invariant: bad input is refused before anything is sent.

mod agents;
mod charts;
pub mod cli;
mod commands;
pub mod dialect;
mod ending;
mod environment;
mod files;
mod http;
mod jmeter;
mod journal;
pub mod k6;
mod last_word;
mod observers;
mod outputs;
mod pages;
pub mod plan;
mod recipe;
mod rest;
mod result_files;
mod script_run;
mod state_folder;
mod terminal;
mod wanted_agents;
mod web;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use loadline_model::ExitCode;

pub use ending::Ending;
pub use environment::Env;
pub use files::{FileError, Files};
pub use wanted_agents::WantedAgents;

/// Runs the command named by the arguments, starting with the program's own name, and returns its exit code.
#[must_use]
pub fn main_with(arguments: Vec<OsString>, env: &Env) -> ExitCode {
    terminal::signals::survive_file_limit();
    let _at_work = last_word::mark_at_work(env);
    let act = || readable(arguments).and_then(|arguments| commands::dispatch(&arguments, env));
    // After a panic only a message follows: the panic has described itself, and nothing else of the process
    // continues.
    let ended = catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| {
        let message =
            "loadline crashed, see the message above; this is a defect of loadline: please report it";
        Err(Ending::refusal(ExitCode::Internal, message))
    });
    match ended {
        Ok(code) => code,
        Err(ending) => ending.tell(),
    }
}

/// Arguments as text; all arguments of loadline are text.
fn readable(arguments: Vec<OsString>) -> Result<Vec<String>, Ending> {
    let texts = arguments.into_iter().enumerate().map(|(position, argument)| {
        argument.into_string().map_err(|raw| {
            Ending::usage(&format!(
                "argument {position} ({}) is not valid UTF-8; rename the file, or percent-encode the URL",
                raw.display()
            ))
        })
    });
    texts.collect()
}
