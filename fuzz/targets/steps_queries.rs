//! Any text as a JSONPath and as an XPath.
//!
//! Invariant checked: it is read, or refused with a reason; the same each time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_steps::json_path::JsonPath;
use loadline_steps::xpath::XPath;

fuzz_target!(|text: &str| {
    for fault in [JsonPath::compile(text).err(), XPath::compile(text).err()] {
        assert!(fault.is_none_or(|fault| !fault.is_empty()));
    }
    assert_eq!(JsonPath::compile(text).err(), JsonPath::compile(text).err());
});
