//! Any words as the options of `loadline bench`.
//!
//! Invariant checked: a command line either gives a plan that can be run, or is refused with exit
//! code 104 (help: 0) and a text; nothing is read from a disk.
//!
//! The words of the input are separated by line ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_app::cli::{self, Command};
use loadline_app::{Env, Files, plan};

const PEM: &[u8] = b"-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let words: Vec<String> = ["loadline", "bench"]
        .into_iter()
        .chain(text.lines())
        .map(str::to_owned)
        .collect();
    let command = match cli::parse(&words) {
        Ok(cli) => cli.command,
        Err(ending) => {
            let answered = ending.code.code() == 0 && !ending.out.is_empty();
            let refused = ending.code.code() == 104 && !ending.err.is_empty();
            assert!(answered || refused, "{ending}");
            return;
        }
    };
    let Command::Bench(args) = command else {
        panic!("bench is not bench")
    };
    let file = |name: &str, bytes: &[u8]| (name.to_owned(), bytes.to_vec());
    let files = [
        file("t", b"{\"n\":{{counter}}}"),
        file("l", b"a\nb\n"),
        file("u", b"http://h/\nPUT h/{{vu}}"),
        file("p", PEM),
    ];
    let env = Env::from([("http_proxy", "http://p:1"), ("no_proxy", "h")]);
    match plan::bench(&args, &env, &Files::Memory(files.into()), 1) {
        Ok(plan) => assert_eq!(plan.validate(), Ok(())),
        Err(why) => assert!(!why.is_empty()),
    }
});
