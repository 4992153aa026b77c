//! The binary: hands the process's arguments and environment to the library, and its exit code back.
//!
//! Must not know what any argument means. Invariant: the only way out is the returned exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = loadline_app::main_with(
        std::env::args_os().collect(),
        &loadline_app::Env::of_process(),
    );
    ExitCode::from(code.code())
}
