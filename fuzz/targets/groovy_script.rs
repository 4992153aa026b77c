//! Any script in Groovy and in BeanShell, read, checked and run.
//!
//! Invariant checked: each of them ends, without a panic; a script that runs twice prints and comes to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_groovy::{Dialect, Script};

#[path = "../../crates/groovy/tests/desk/mod.rs"]
mod desk;

use desk::Desk;

fuzz_target!(|source: &str| {
    for dialect in [Dialect::Groovy, Dialect::BeanShell] {
        let Ok(script) = Script::read(source, dialect) else {
            continue;
        };
        let _ = script.unsupported(&|_, _| None);
        let [first, second] = [(); 2].map(|()| {
            let mut desk = Desk::default();
            let ended = script.run(&mut desk).is_ok();
            (ended, desk.printed)
        });
        assert_eq!(first, second, "{source}");
    }
});
