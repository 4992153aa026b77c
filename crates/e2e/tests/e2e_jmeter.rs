//! The suite's own plans under `loadline jmeter`, compared with recordings of JMeter with the same plans.
//!
//! Must not know the topic of a plan. Invariant: JMeter itself is only needed for recording; the golden files
//! replace it.

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
