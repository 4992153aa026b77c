//! Any JSON as the options of a k6 script, any words as flags over them.
//!
//! Invariant checked: options either give a plan that can be run, or are refused with a message and
//! exit code 104 or 255; what `inspect` prints is JSON.
//!
//! The first line of the input is the JSON; the words of the lines behind it are flags.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_app::Env;
use loadline_app::cli::script::ScriptCommand;
use loadline_app::k6::{Identity, K6Invocation, Reading, ScriptFacts};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (options, flags) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(options) = serde_json::from_str(options) else {
        return;
    };
    let mut words: Vec<String> = flags.lines().map(str::to_owned).collect();
    words.push("t.js".to_owned());
    let read = K6Invocation::parse(Identity::K6, ScriptCommand::Run, &words, &Env::default());
    let invocation = match read {
        Ok(Reading::Invocation(invocation)) => invocation,
        Ok(Reading::Help(_)) => return,
        Err(error) => return assert!(error.code.code() >= 104 && !error.to_string().is_empty()),
    };
    let facts = ScriptFacts {
        url: "file:///t.js",
        options: &options,
        exports: None,
        metrics: None,
        config: None,
        seed: 1,
    };
    match invocation.consolidate(&facts) {
        Ok(run) => assert_eq!(run.plan.validate(), Ok(())),
        Err(error) => assert!(error.code.code() >= 104 && !error.to_string().is_empty()),
    }
    if let Ok((text, _)) = invocation.inspect(&facts) {
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "{text}"
        );
    }
});
