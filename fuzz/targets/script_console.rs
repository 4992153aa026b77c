//! Any JSON as a value that a script writes to its console, bare and within other values.
//!
//! Invariant checked: each call gives one line, the same each time; a text stands bare, and lists and objects
//! stand in their brackets.
#![no_main]

mod script;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use script::Rehearsal;
use serde_json::Value;

const SCRIPT: &str = "
    export default function () {
        const text = __ENV.VALUE;
        let value;
        try { value = JSON.parse(text); } catch (e) { return; }
        console.log(value);
        console.info(value);
        const cyclic = { value, twice: [value, value] };
        cyclic.self = cyclic;
        console.warn([value], cyclic, new Proxy([value], {}));
        console.error(new Error(text), new Map([[text, value]]), new Date(text), Symbol.for(text).description);
        const bytes = new TextEncoder().encode(text);
        console.debug(bytes, bytes.buffer, new DataView(bytes.buffer), () => value, { get it() { return value; } });
    }";

thread_local! {
    static VU: RefCell<Rehearsal> = RefCell::new(Rehearsal::new(SCRIPT));
}

fuzz_target!(|text: &str| {
    let env = vec![("VALUE".to_owned(), text.to_owned())];
    let lines = VU.with_borrow_mut(|vu| vu.iterate(env, &[]));
    if lines.is_empty() {
        return;
    }
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert_eq!(lines[0], lines[1]);
    assert!(lines[2].starts_with("[ "), "{}", lines[2]);
    match serde_json::from_str(text) {
        Ok(Value::String(text)) => assert_eq!(lines[0], text),
        Ok(Value::Array(_)) => assert!(lines[0].starts_with('[') && lines[0].ends_with(']')),
        Ok(Value::Object(_)) => assert!(lines[0].starts_with('{') && lines[0].ends_with('}')),
        Ok(Value::Bool(is_true)) => assert_eq!(lines[0], is_true.to_string()),
        Ok(Value::Null) => assert_eq!(lines[0], "null"),
        // Numbers are written as JavaScript does, and the two parsers differ in how deep they go.
        Ok(Value::Number(_)) | Err(_) => {}
    }
});
