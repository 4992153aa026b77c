//! Any selector on any page: `parseHTML(page).find(selector)`.
//!
//! Invariants checked: the script sees elements, or an exception that says why; the same each time; what is found
//! matches the selector.
//!
//! The first line of the input is the selector; the rest is the page.
#![no_main]

mod script;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use script::Rehearsal;

const SCRIPT: &str = "
    import { parseHTML } from 'k6/html';
    import http from 'k6/http';
    const seen = (page) => {
        try {
            const found = parseHTML(page).find(__ENV.SELECTOR);
            const texts = found.toArray().map((element) => element.text());
            const others = found.not(__ENV.SELECTOR).size();
            return JSON.stringify({ size: found.size(), others, texts, html: found.html() });
        } catch (e) {
            return 'thrown ' + e.message;
        }
    };
    export default function () {
        const page = http.get('http://host/').body;
        console.log(seen(page));
        console.log(seen(page));
    }";

thread_local! {
    static VU: RefCell<Rehearsal> = RefCell::new(Rehearsal::new(SCRIPT));
}

fuzz_target!(|text: &str| {
    let (selector, page) = text.split_once('\n').unwrap_or((text, ""));
    let env = vec![("SELECTOR".to_owned(), selector.to_owned())];
    let lines = VU.with_borrow_mut(|vu| vu.iterate(env, page.as_bytes()));
    let [first, second] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(first, second);
    if let Some(why) = first.strip_prefix("thrown ") {
        assert!(!why.is_empty());
        return;
    }
    let found: serde_json::Value = serde_json::from_str(first).expect("it is JSON");
    assert_eq!(found["others"], 0, "{first}");
    let texts = found["texts"].as_array().map(Vec::len);
    assert_eq!(
        found["size"].as_u64(),
        texts.map(|count| count as u64),
        "{first}"
    );
});
