//! Where lost agents ran, as reported.
//!
//! Must not know who reported it. Invariant: unknown parts are omitted.

use super::*;

#[test]
fn a_lost_agent_is_named_with_its_pod_and_node() {
    for (pod, node, named) in [
        ("t-1-x", "n-1", "one (pod t-1-x on node n-1) was lost"),
        ("t-1-x", "", "one (pod t-1-x) was lost"),
        ("", "n\n1", "one (node n1) was lost"),
        ("", "", "one was lost"),
    ] {
        let mut roster = roster_of(1, 0);
        let hello = Said::Hello(Hello {
            version: "1.4.2".to_owned(),
            name: "one".to_owned(),
            pod: pod.to_owned(),
            node: node.to_owned(),
            ..Hello::default()
        });
        roster.heard(0, 0, hello);
        roster.heard(0, 0, ready_with(1, "one"));
        roster.close();
        roster.start(0, None);
        let lost = gone(roster.closed(S, 0));
        assert!(lost[0].1.why.starts_with(named), "{}", lost[0].1.why);
    }
}
