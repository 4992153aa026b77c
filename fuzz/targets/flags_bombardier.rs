//! Any words as the command line of bombardier, argument files included.
//!
//! Invariant checked: a command line either gives a plan that can be run, or is refused with one of
//! bombardier's exit codes and a text on standard output. What was asked for (help, version) goes to standard
//! error with exit code 0, as there.
//!
//! The words of the input are separated by line ends; what follows a byte 0x01 is the text of an
//! argument file named `f`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_app::{Files, dialect::bombardier};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (line, file) = text.split_once('\u{1}').unwrap_or((text, ""));
    let words: Vec<String> = line.lines().map(str::to_owned).collect();
    let files = Files::Memory([("f".to_owned(), file.as_bytes().to_vec())].into());
    match bombardier::parse(&words, &files, 1) {
        Ok(job) => {
            assert_eq!(job.plan.validate(), Ok(()));
            assert_eq!(
                u64::from(job.plan.client.connections.max(1)),
                match job.spec.client {
                    loadline_report::bombardier::Client::NetHttp2 => 1,
                    _ => job.spec.connections,
                }
            );
        }
        Err(ending) => {
            assert!(ending.code.code() <= 1, "{ending}");
            let (told, silent) = match ending.code.code() {
                0 => (&ending.err, &ending.out),
                _ => (&ending.out, &ending.err),
            };
            assert!(!told.is_empty() && silent.is_empty(), "{ending}");
            let is_asked_for =
                told.starts_with("usage: bombardier ") || told.starts_with("bombardier version ");
            assert!(is_asked_for || ending.code.code() == 1, "{ending}");
        }
    }
});
