//! Plans of our own under `loadline jmeter`, held against what was seen of JMeter with the same plans.
//!
//! Must not know what a plan is about. Invariant: JMeter itself is wanted for recording alone; the golden files stand
//! in for it.

use std::collections::BTreeSet;

use loadline_e2e::{jmeter, topics};

topics! {
    jmeter::hold:
    assert cli ctl data extract file fun group http mix module plugin real sample save script timer
}

#[test]
fn every_topic_is_tested_and_every_plan_recorded() {
    let there: BTreeSet<String> = jmeter::topics().into_iter().collect();
    let tested: BTreeSet<String> = TESTED.iter().map(|topic| (*topic).to_owned()).collect();
    assert_eq!(there, tested);
    assert_eq!(jmeter::strays(), Vec::<String>::new());
}
