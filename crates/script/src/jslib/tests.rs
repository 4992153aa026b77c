//! The libraries, each tested by a script whose console lines are those that k6 v2.2.0 writes for the same
//! script and the same text of the library.

use url::Url;

use super::find;
use crate::testing::Rehearsal;
use crate::vu::Ending;

/// Runs a script of this folder and compares its output.
fn says(script: &str, expected: &str) {
    let rehearsed = Rehearsal::new(script).run();
    for ending in &rehearsed.endings {
        assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
    }
    let said: Vec<String> = rehearsed
        .log()
        .iter()
        .filter_map(|line| line.strip_suffix(" source=console"))
        .filter_map(|line| line.split_once(' ').map(|(_, message)| message.to_owned()))
        .collect();
    // Stack traces name the engine's own places.
    let is_message = |line: &&str| !line.is_empty() && !line.trim_start().starts_with("at ");
    let said = said.join("\n");
    let said: Vec<&str> = said.lines().filter(is_message).collect();
    let expected: Vec<&str> = expected.lines().filter(is_message).collect();
    assert_eq!(said, expected);
}

macro_rules! scripts {
    ($($test:ident: $name:literal,)+) => { $(
        #[test]
        fn $test() {
            says(
                include_str!(concat!("tests/", $name, ".js")),
                include_str!(concat!("tests/", $name, ".txt")),
            );
        }
    )+ };
}

scripts! {
    expect: "expect",
    formdata: "formdata",
    httpx: "httpx",
    k6_summary: "k6-summary",
    k6_testing: "k6-testing",
    k6_utils: "k6-utils",
    k6chaijs: "k6chaijs",
    papaparse: "papaparse",
    tempo: "tempo",
    totp: "totp",
}

#[test]
fn expectations_become_checks() {
    let script = "import { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';\n\
                  export default function () { describe('group', () => {\n\
                  expect(200, 'status').to.equal(200); expect(1, 'one').to.equal(2);\n\
                  expect(3, 'three').to.equal(3); }) }";
    let rehearsed = Rehearsal::new(script).run();
    let checks = rehearsed.world.checks.borrow();
    let seen: Vec<(&str, bool)> = checks
        .iter()
        .map(|(_, name, ok)| (name.as_str(), *ok))
        .collect();
    assert_eq!(
        seen,
        [
            ("expected status to equal 200", true),
            ("expected one to equal 2", false)
        ]
    );
}

#[test]
fn a_failed_expectation_of_k6_testing_ends_the_test() {
    let script = "import { expect } from 'https://jslib.k6.io/k6-testing/0.5.0/index.js';\n\
                  export default function () { expect(1).toBe(2); console.log('not reached'); }";
    let rehearsed = Rehearsal::new(script).run();
    assert!(rehearsed.world.aborted.borrow().is_some());
    assert!(
        !rehearsed
            .log()
            .iter()
            .any(|line| line.contains("not reached"))
    );
}

#[test]
fn other_addresses_and_versions_are_not_here() {
    let is_here = |text: &str| find(&Url::parse(text).expect("it is an address")).is_some();
    assert!(is_here("https://jslib.k6.io/url/1.0.0/index.js"));
    assert!(is_here(
        "https://jslib.k6.io/http-instrumentation-pyroscope/1.0.2/index.js"
    ));
    assert!(!is_here("https://jslib.k6.io/k6-utils/9.0.0/index.js"));
    assert!(!is_here("https://jslib.k6.io/k6-utils/1.2.0/other.js"));
    assert!(!is_here("https://jslib.k6.io/aws/0.11.0/s3.js"));
    assert!(!is_here("https://example.com/k6-utils/1.2.0/index.js"));
}
