//! Takes the pictures of pages anew: those that tests hold pages against, and that of the README. `cargo xtask pictures`
//! calls it.
//!
//! Must not know pages. Invariant: nothing is written without a browser.

use std::process::ExitCode;

use loadline_e2e::{browser, pictures};

fn main() -> ExitCode {
    if !browser::is_there() {
        #[expect(clippy::print_stderr, reason = "a tool for developers")]
        {
            eprintln!("pictures: install chromium first");
        }
        return ExitCode::FAILURE;
    }
    pictures::record();
    ExitCode::SUCCESS
}
