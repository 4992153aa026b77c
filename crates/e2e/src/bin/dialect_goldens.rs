//! Records what hey and bombardier do with the suite's command lines; run by `cargo xtask dialect-goldens`.
//!
//! Must not know what is observed. Invariant: it ends with an error unless every line was recorded.

use std::process::ExitCode;

use loadline_e2e::dialects::{Tool, record};

/// Arguments: the path of hey, the path of bombardier.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [hey, bombardier] = arguments.as_slice() else {
        return ExitCode::FAILURE;
    };
    record(Tool::Hey, hey);
    record(Tool::Bombardier, bombardier);
    ExitCode::SUCCESS
}
