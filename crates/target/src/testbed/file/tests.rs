//! Testbed files as people write them, valid and invalid.

use super::*;
use crate::testbed::plan::{ComponentKind, Policy};
use proptest::prelude::*;
use std::time::Duration;

fn parse_text(text: &str) -> Result<TestbedPlan, TestbedFileError> {
    parse(Path::new("testbed.yaml"), text)
}

const WHOLE: &str = "
seed: 7
control: 9900
components:
  api:
    service:
      replicas: 2
      port: 8001
      time: { mean: 10ms, law: lognormal, cv: 0.5 }
      workers: 4
      queue: 50
      memory: { base: 20MB, per_request: 64KiB, leak: 1kB, cap: 200MB }
      failing: 0.01
      empty: 0.5
      slow: { replica: 1, factor: 3 }
      warm_up: { factor: 2, time: 10s }
      log: { file: api.log, template: '{status} {path}' }
      restart: never
  gate:
    gateway:
      to: spread
      cpu: 100us
      routes:
        - { path: /heavy, rewrite: /anything, cpu: 2ms, cpu_per_kb: 0.1ms }
  spread: { balancer: { to: api, policy: least-connections, level: http } }
  pinned: { balancer: { to: api, policy: pinned, pattern: [1] } }
  sink: { queue: { consumers: 2, rate: 100 } }
  jobs: { service: { cpu: 1ms } }
  front: { autoscaler: { to: jobs, min: 0, max: 3, cold: 2s } }
  far: { network: { to: gate, delay: 20ms, bandwidth: 1MB, loss: 0.01, reset: 0.001 } }
";

#[test]
fn everything_that_can_be_written() {
    let plan = parse_text(WHOLE).unwrap();
    assert_eq!((plan.seed, plan.control.port()), (7, 9900));
    let named = |name: &str| plan.components.iter().find(|c| c.name == name).unwrap();
    let api = named("api");
    assert_eq!((api.replicas, api.port, api.restart_after), (2, 8001, None));
    let ComponentKind::Service(service) = &api.kind else {
        panic!("a service")
    };
    assert_eq!((service.workers, service.room), (4, 50));
    assert_eq!(service.memory.per_request, 65_536);
    assert_eq!(api.kind.factor_of(1), 3.0);
    let ComponentKind::Gateway(gateway) = &named("gate").kind else {
        panic!("a gateway")
    };
    let paths: Vec<&str> = gateway
        .routes
        .iter()
        .map(|route| route.path.as_str())
        .collect();
    assert_eq!(paths, ["/heavy", "/"]);
    assert_eq!(gateway.routes[1].cpu, Duration::from_micros(100));
    let ComponentKind::Balancer(pinned) = &named("pinned").kind else {
        panic!("a balancer")
    };
    assert_eq!(pinned.policy, Policy::Pinned(vec![1]));
    let ComponentKind::Queue(queue) = &named("sink").kind else {
        panic!("a queue")
    };
    assert_eq!(queue.interval, Duration::from_millis(20));
    assert_eq!(
        named("jobs").replicas,
        0,
        "an autoscaler begins at its minimum"
    );
}

/// A file, where its mistake stands, and a part of what is said.
const MISTAKES: [(&str, &str, &str); 20] = [
    (
        "components:\n  a: { service: { workerz: 2 } }\n",
        "2:",
        "workerz",
    ),
    (
        "components:\n  a:\n    service:\n      time: 10parsec\n",
        "4:13:",
        "unit",
    ),
    (
        "components:\n  a:\n    service:\n      workers: 0\n",
        "4:16:",
        "write 1 to",
    ),
    (
        "components:\n  a:\n    service:\n      failing: 2\n",
        "4:16:",
        "write 0 to 1",
    ),
    (
        "components:\n  a:\n    gateway: { to: b }\n",
        "3:",
        "no component \"b\"",
    ),
    (
        "components:\n  a:\n    gateway: { to: a }\n",
        "3:",
        "come back",
    ),
    (
        "components:\n  a:\n    gateway: { cpu: 1ms }\n",
        "3:",
        "leads nowhere",
    ),
    (
        "components:\n  a: { queue: { rate: 1, rate_each: 1 } }\n",
        "2:",
        "one of them",
    ),
    ("components:\n  A: { service: {} }\n", "2:", "a-z"),
    (
        "components:\n  a: { service: { port: 80 } }\n  b: { service: { port: 79, replicas: 2 } }\n",
        "3:",
        "port 80",
    ),
    (
        "components:\n  a: { service: { memory: { base: 1GB, cap: 1GB } } }\n",
        "2:",
        "base + 32MB",
    ),
    (
        "components:\n  q: { queue: { rate: 1 } }\n  a: { autoscaler: { to: q } }\n",
        "3:",
        "no replicas",
    ),
    (
        "components:\n  s: { service: {} }\n  b: { balancer: { to: s, policy: pinned, level: http } }\n",
        "3:",
        "pinned",
    ),
    (
        "components:\n  s: { service: { log: { file: x, template: '{what}' } } }\n",
        "2:",
        "write one of",
    ),
    (
        "components:\n  s: { service: { routes: no-such-file } }\n",
        "2:",
        "no-such-file",
    ),
    ("components:\n  \"a\\nb\": { service: {} }\n", "2:", "a\\nb"),
    (
        "components:\n  a: { service: { queue: \"2\\n\\n3\" } }\n",
        "2:",
        "2\\n\\n3",
    ),
    ("components: {}\n", "1:", "at least one"),
    ("components: [\n", "", ";"),
    ("", "", ";"),
];

#[test]
fn every_mistake_is_told_with_place_and_way_out() {
    for (text, place, part) in MISTAKES {
        let error = parse_text(text).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("testbed.yaml:{place}")),
            "{text}\n{error}"
        );
        assert!(
            error.contains(part) && error.contains(';'),
            "{text}\n{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in "\\PC{0,200}") {
        if let Err(error) = parse_text(&text) {
            prop_assert!(error.to_string().starts_with("testbed.yaml:"));
        }
    }

    #[test]
    fn a_file_changed_anywhere_is_taken_or_refused(
        changes in prop::collection::vec((0..WHOLE.len(), "[-:{}\\[\\]0-9a-z \\n&*'\"#|>]{0,3}"), 1..4),
    ) {
        let mut text = WHOLE.to_owned();
        for (at, with) in changes {
            let at = at.min(text.len().saturating_sub(1));
            text.replace_range(at..=at, &with);
        }
        if let Err(error) = parse_text(&text) {
            let told = error.to_string();
            prop_assert!(told.starts_with("testbed.yaml:") && told.contains(';'), "{}", told);
            prop_assert_eq!(told.lines().count(), 1);
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_taken_or_refused(at in 0..WHOLE.len()) {
        if let Err(error) = parse_text(&WHOLE[..at]) {
            prop_assert!(error.to_string().starts_with("testbed.yaml:"));
        }
    }
}
