//! Any text as a Markdown document with blocks between markers.
//!
//! Invariant checked: replacing blocks changes no byte outside of them and is a fixpoint; replacing none changes
//! nothing; a refusal names a line of the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_suite::document::blocks::{find, replace};

const BODY: &str = "| a |\n| - |\n| 1 |\n";

fuzz_target!(|text: &str| match find(text) {
    Ok(found) => {
        assert_eq!(replace(text, &found, &[]), text);
        let bodies: Vec<(&str, String)> = found
            .iter()
            .map(|block| (block.name, BODY.to_owned()))
            .collect();
        let new = replace(text, &found, &bodies);
        let again = find(&new).expect("the markers are as they were");
        assert_eq!(again.len(), found.len());
        let (mut old_at, mut new_at) = (0, 0);
        for (old, new_block) in found.iter().zip(&again) {
            assert_eq!(old.name, new_block.name);
            assert_eq!(&text[old_at..old.begin], &new[new_at..new_block.begin]);
            assert_eq!(new_block.body.replace("\r\n", "\n"), BODY);
            (old_at, new_at) = (old.end, new_block.end);
        }
        assert_eq!(&text[old_at..], &new[new_at..]);
        assert_eq!(replace(&new, &again, &bodies), new);
    }
    Err(error) => {
        let lines = text.split_inclusive('\n').count() as u64;
        assert!((1..=lines).contains(&error.line), "{error}");
    }
});
