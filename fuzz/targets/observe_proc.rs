//! Any text as a file of `/proc`.
//!
//! Invariant checked: what is read of a process is written as the kernel writes it and read again to the same; numbers are
//! finite, and only the table's own inodes listen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::parse::proc;

fuzz_target!(|text: &str| {
    if let Some(stat) = proc::process_stat(text) {
        let written = format!(
            "{} ({}) {} {} 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 {} 0 {} 0 {} 0\n",
            stat.pid,
            stat.name,
            stat.state,
            stat.parent,
            stat.cpu_ticks,
            stat.children_ticks,
            stat.threads,
            stat.start_ticks,
            stat.resident_pages
        );
        assert_eq!(proc::process_stat(&written), Some(stat));
    }
    for inode in proc::listening_inodes(text, 8080) {
        assert!(text.contains(&inode.to_string()) || text.contains(&format!("0{inode}")));
    }
    for bytes in [proc::proportional_bytes(text), proc::resident_bytes(text)] {
        assert!(bytes.is_none_or(|bytes| bytes.is_multiple_of(1024)));
    }
    if let Some(ignores) = proc::ignores_children(text) {
        let mask = if ignores { "10000" } else { "0" };
        let written = format!("SigIgn:\t{mask}\n");
        assert_eq!(proc::ignores_children(&written), Some(ignores));
    }
    assert!(proc::pressure(text).is_none_or(f64::is_finite));
    assert!(proc::machine_stat(text).is_none_or(|stat| stat.stolen_ticks <= stat.busy_ticks));
    // An empty pattern fits an empty name only; a star fits whatever it is called.
    assert!(proc::is_called("*", text, text));
});
