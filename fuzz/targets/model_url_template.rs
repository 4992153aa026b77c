//! Any text as a URL, a template and a check.
//!
//! Invariant checked: no panic; what parses as a URL parses again from its parts to the same; a
//! template renders the same bytes for the same filling, its literal parts unchanged; a check gives
//! the same answer each time.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use loadline_model::check::{Answer, Check};
use loadline_model::template::{Filling, Template};
use loadline_model::url::parse;

fuzz_target!(|text: &str| {
    urls(text);
    templates(text);
    checks(text);
});

fn urls(text: &str) {
    let Ok(url) = parse(text) else { return };
    assert!(url.target.starts_with('/'));
    let again = parse(&format!("{}{}", url.origin, url.target)).expect("its parts are a URL");
    assert_eq!((&again.origin, &again.target), (&url.origin, &url.target));
}

fn templates(text: &str) {
    let mut lines = |_: &str| Ok(Arc::new(vec!["line".to_owned()]));
    let Ok(template) = Template::parse(text, &mut lines) else {
        return;
    };
    assert_eq!(template.source(), text);
    let first = render(&template);
    assert_eq!(first, render(&template));
    if let Some(literal) = template.as_literal() {
        assert_eq!(first, literal.as_bytes());
    }
}

fn render(template: &Template) -> Vec<u8> {
    let mut word = 1_u64;
    let mut random = || {
        word = word
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        word
    };
    let mut filling = Filling {
        counter: 7,
        vu: 3,
        unix_ms: 1,
        random: &mut random,
    };
    let mut out = Vec::new();
    template.render(&mut filling, &mut out);
    out
}

fn checks(text: &str) {
    let Ok(check) = Check::parse(text) else {
        return;
    };
    let answer = Answer {
        status: 200,
        headers: &[(b"content-type", b"text/plain")],
        body: text.as_bytes(),
        body_size: text.len() as u64,
        service_time_ns: 1,
    };
    assert_eq!(check.passes(&answer), check.passes(&answer));
}
