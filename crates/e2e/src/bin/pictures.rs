//! Retakes the pictures of pages: those that tests compare with, and that of the README. Run by
//! `cargo xtask pictures`.
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
