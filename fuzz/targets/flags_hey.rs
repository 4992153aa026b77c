//! Any words as the command line of hey.
//!
//! Invariant checked: a command line either gives a plan that can be run, or is refused with one of
//! hey's exit codes and a text on standard error.
//!
//! The words of the input are separated by line ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_app::{Files, dialect::hey};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    let files = Files::Memory([("b".to_owned(), b"body".to_vec())].into());
    match hey::parse(&words, &files, 1) {
        Ok(job) => assert_eq!(job.plan.validate(), Ok(())),
        Err(ending) => {
            assert!(ending.code.code() <= 2, "{ending}");
            assert!(ending.out.is_empty() && !ending.err.is_empty(), "{ending}");
        }
    }
});
