//! Any text as a testbed file.
//!
//! Invariant checked: a file can be started, or is refused in one line that names the file and, behind a
//! semicolon, what to do; a place that is named lies inside of the text.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loadline_target::testbed;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let Err(error) = testbed::check(Path::new("testbed.yaml"), text) else {
        return;
    };
    let told = error.to_string();
    assert!(told.starts_with("testbed.yaml:"), "{told}");
    assert!(error.problem.contains(';'), "{told}");
    if let Some((line, column)) = error.place {
        // A carriage return ends a line too: YAML 1.2.2, section 5.4.
        let lines = text.split(['\n', '\r']).count() as u64;
        assert!((1..=lines + 1).contains(&line) && column >= 1, "{told}");
    }
});
