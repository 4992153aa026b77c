//! The binary: passes the process's arguments and environment to the library, and returns its exit code.
//!
//! Must not know the meaning of any argument. Invariants: the only way out is the returned exit code; the stack is
//! as large as the work needs, whatever `ulimit -s` says.

use std::process::ExitCode;
use std::thread;

/// The size of the stack; memory is taken only for what is used of it.
const STACK_BYTES: usize = 16 << 20;

fn main() -> ExitCode {
    // The stack of the process's first thread is limited by the environment, that of another is not.
    let code = thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(run)
        .map_or_else(
            |_| run(),
            |work| {
                work.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            },
        );
    ExitCode::from(code)
}

/// Does the whole work of the process; returns its exit code.
fn run() -> u8 {
    loadline_app::main_with(
        std::env::args_os().collect(),
        &loadline_app::Env::of_process(),
    )
    .code()
}
