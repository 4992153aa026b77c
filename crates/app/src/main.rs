//! The binary: passes the process's arguments and environment to the library, and returns its exit code.
//!
//! Must not know the meaning of any argument. Invariant: the only way out is the returned exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = loadline_app::main_with(
        std::env::args_os().collect(),
        &loadline_app::Env::of_process(),
    );
    ExitCode::from(code.code())
}
