//! Any text as a URL or a reference, read by Go's rules.
//!
//! Invariant checked: what is read is written as a text that is read again, and then stays as it is; what a reference leads to is
//! so, too; a refusal says why.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_go::url::Url;

fuzz_target!(|text: &str| {
    let base = Url::parse("http://user:word@base.test:81/a/b?c#d").expect("it is a URL");
    match Url::parse(text) {
        Ok(url) => {
            lasts(&url);
            lasts(&base.resolve(url));
        }
        Err(error) => assert!(error.to_string().starts_with("parse ")),
    }
});

fn lasts(url: &Url) {
    assert!(!url.target_without_spaces().contains(' '));
    if let Ok(again) = Url::parse(&url.text()) {
        let last = Url::parse(&again.text()).expect("what was written twice is read");
        assert_eq!(again.text(), last.text());
    }
}
