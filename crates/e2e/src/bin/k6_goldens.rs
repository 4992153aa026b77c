//! Records the golden files of the differential suite; run by `cargo xtask k6-goldens`.
//!
//! Must not know what is observed. Invariant: it ends with an error unless every requested script was recorded.

use std::process::ExitCode;

use loadline_e2e::{k6, stops};

/// Arguments: the path of the real k6, and a part of the titles of the scripts to record.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [peer, only] = arguments.as_slice() else {
        return ExitCode::FAILURE;
    };
    let only = only.to_string_lossy();
    if only.is_empty() || only == "stops" {
        stops::record(peer);
    }
    if only != "stops" {
        k6::record(peer, &only);
    }
    ExitCode::SUCCESS
}
