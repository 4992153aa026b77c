//! Any path into any body: `Response.json(path)`.
//!
//! Invariant checked: the script sees JSON, nothing, or an exception that says why; the same each time.
//!
//! The first line of the input is the path; the rest is the body.
#![no_main]

mod script;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use script::Rehearsal;

const SCRIPT: &str = "
    import http from 'k6/http';
    const seen = (response) => {
        try {
            const found = response.json(__ENV.PATH);
            return found === undefined ? 'nothing' : 'found ' + JSON.stringify(found);
        } catch (e) {
            return 'thrown ' + e.message;
        }
    };
    export default function () {
        const response = http.get('http://host/');
        console.log(seen(response));
        console.log(seen(response));
    }";

thread_local! {
    static VU: RefCell<Rehearsal> = RefCell::new(Rehearsal::new(SCRIPT));
}

fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|byte| *byte == b'\n');
    let (path, body) = at.map_or((data, &[][..]), |at| (&data[..at], &data[at + 1..]));
    let Ok(path) = str::from_utf8(path) else {
        return;
    };
    let env = vec![("PATH".to_owned(), path.to_owned())];
    let lines = VU.with_borrow_mut(|vu| vu.iterate(env, body));
    let [first, second] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(first, second);
    let (what, text) = first.split_once(' ').unwrap_or((first, ""));
    match what {
        "nothing" => assert!(text.is_empty()),
        "found" => assert!(
            text == "undefined" || serde_json::from_str::<serde_json::Value>(text).is_ok(),
            "{text}"
        ),
        "thrown" => assert!(!text.is_empty()),
        other => panic!("{other}"),
    }
});
