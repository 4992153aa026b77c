//! Hooks in a simulated world.
//!
//! Must not know the system. Invariant: nothing here waits.

use std::collections::BTreeMap;
use std::time::Duration;

use super::testing::Simulated;
use super::*;
use crate::file::Node;

fn hook(yaml: &str) -> HookSpec {
    HookSpec::of(&Node::parse(yaml).expect("the test's YAML is good"), None)
        .expect("the hook is good")
}

fn perform(world: &mut Simulated, hook: &HookSpec, changes: &mut Vec<Undo>) -> Result<(), String> {
    let meanings = BTreeMap::from([("secret.KEY".to_owned(), "opensesame".to_owned())]);
    let mut record = |undo: Undo| {
        changes.push(undo);
        Ok(())
    };
    let mut performer = Performer {
        world,
        meanings: &meanings,
        record: &mut record,
        heeds_stop: true,
    };
    performer
        .perform_one(hook)
        .map_err(|error| error.to_string())
}

fn run(world: &mut Simulated, yaml: &str) -> Result<(), String> {
    perform(world, &hook(yaml), &mut Vec::new())
}

#[test]
fn tries_are_counted_and_the_last_reason_is_told() {
    let mut world = Simulated::default();
    world.answer("deploy", Err("no route"));
    world.answer("deploy", Ok("done"));
    assert_eq!(run(&mut world, "{exec: deploy, retries: 2}"), Ok(()));
    assert_eq!(world.done(), ["deploy", "deploy"]);
    world.answer("deploy", Err("no route"));
    world.answer("deploy", Err("no route"));
    let error = run(&mut world, "{exec: deploy, retries: 1}").expect_err("both tries fail");
    assert_eq!(error, "hook \"deploy\" (line 1): no route (after 2 tries)");
}

#[test]
fn secrets_are_filled_in_at_the_last_moment() {
    let mut world = Simulated::default();
    let login = hook("{exec: 'login ${secret.KEY} $${HOME}'}");
    assert!(!login.identity().contains("opensesame"));
    perform(&mut world, &login, &mut Vec::new()).expect("it succeeds");
    assert_eq!(world.done(), ["login opensesame ${HOME}"]);
}

#[test]
fn every_condition_is_waited_for() {
    for (yaml, seconds) in [
        ("{wait: {port: 'h:80'}}", 3),
        ("{wait: {rollout: deployment/api, context: c}}", 30),
        ("{wait: {http: 'http://up/'}}", 7),
        ("{wait: {log: {file: f, match: 'ready on \\d+'}}}", 5),
        (
            "{wait: {prometheus: {url: 'http://p', query: 'up', condition: '== 1'}}}",
            9,
        ),
        ("{wait: {cpu_idle: {below: 0.2, for: 4s}}}", 14),
    ] {
        let mut world = Simulated::default();
        let at = Duration::from_secs;
        world
            .log
            .borrow_mut()
            .push((at(0), "ready on 1\n".to_owned()));
        world.log.borrow_mut().push((at(1), "ready ".to_owned()));
        world.log.borrow_mut().push((at(5), "on 8080\n".to_owned()));
        let ok = |status, body: &str| HttpAnswer {
            status,
            body: body.to_owned(),
        };
        let query = "http://p/api/v1/query?query=up";
        let answer = |value: &str| {
            format!(
                r#"{{"status":"success","data":{{"resultType":"vector","result":[{{"value":[1,"{value}"]}}]}}}}"#
            )
        };
        world.pages.borrow_mut().extend([
            ("http://up/".to_owned(), at(2), ok(503, "")),
            ("http://up/".to_owned(), at(7), ok(204, "")),
            (query.to_owned(), at(0), ok(200, &answer("0"))),
            (query.to_owned(), at(9), ok(200, &answer("1"))),
        ]);
        world
            .cores
            .borrow_mut()
            .extend([(at(0), 1.5), (at(10), 0.1)]);
        assert_eq!(run(&mut world, yaml), Ok(()), "{yaml}");
        let took = world.now.get();
        assert!(
            took >= at(seconds) && took < at(seconds + 3),
            "{yaml} took {took:?}"
        );
    }
}

#[test]
fn a_wait_in_vain_says_what_was_seen_last() {
    let mut world = Simulated::default();
    let error =
        run(&mut world, "{wait: {http: 'http://up/', timeout: 10s}}").expect_err("nobody answers");
    assert!(
        error.ends_with("timed out after 10s: connection refused"),
        "{error}"
    );
    assert!(world.now.get() >= Duration::from_secs(10));
    world.stop.set(true);
    let error = run(&mut world, "{wait: {http: 'http://up/'}}").expect_err("it was asked to stop");
    assert!(error.ends_with("asked to stop while waiting"), "{error}");
}

#[test]
fn after_a_request_to_stop_only_cleanup_goes_on() {
    let hooks = [hook("{exec: first}"), hook("{exec: second}")];
    let mut world = Simulated::default();
    world.stop.set(true);
    for heeds_stop in [true, false] {
        let mut performer = Performer {
            world: &mut world,
            meanings: &BTreeMap::new(),
            record: &mut |_| Ok(()),
            heeds_stop,
        };
        let done = performer.perform(&hooks).map_err(|error| error.why);
        match heeds_stop {
            true => assert_eq!(done, Err("asked to stop".to_owned())),
            false => assert_eq!(done, Ok(())),
        }
    }
    assert_eq!(world.done(), ["first", "second"]);
}

#[test]
fn changes_are_recorded_before_they_are_made_and_taken_back_in_reverse() {
    let mut world = Simulated::default();
    let mut changes = Vec::new();
    let scale = hook("{testbed: {control: 'http://c', component: api, scale: 3}}");
    perform(&mut world, &scale, &mut changes).expect("it succeeds");
    let other = hook(
        "{kubernetes: {context: c, scale: deployment/web, replicas: 0}, wait: {replicas: {workload: deployment/web, count: 0}, context: c}}",
    );
    perform(&mut world, &other, &mut changes).expect("it succeeds");
    assert_eq!(world.replicas.borrow()["api"], 3);
    assert_eq!(restore(&mut world, &changes), Vec::new());
    assert_eq!(
        *world.replicas.borrow(),
        BTreeMap::from([("api".to_owned(), 1), ("deployment/web".to_owned(), 1)])
    );
    assert_eq!(
        world.done()[2..],
        ["undo c deployment/web", "undo replicas of api at http://c"]
    );
}

#[test]
fn bad_hooks_are_refused_with_their_place_and_the_fix() {
    for (yaml, told) in [
        ("{exec: a, sleep: 1s}", "does `exec` and `sleep`"),
        ("{timeout: 1s}", "does nothing"),
        (
            "{kubernetes: {restart: deployment/a}}",
            "the cluster is not named",
        ),
        (
            "{kubernetes: {context: c, scale: deployment/a}}",
            "needs a number of replicas",
        ),
        (
            "{kubernetes: {context: c, resources: deployment/a, container: main}}",
            "does not say what to change",
        ),
        (
            "{wait: {log: {file: f, match: '('}}}",
            "not a regular expression",
        ),
        (
            "{wait: {prometheus: {url: u, query: q, condition: about 3}}}",
            "not a comparison",
        ),
        ("{wait: {cpu_idle: {of: nobody, below: 1}}}", "`of` got"),
        ("{http: {url: u, expect: 42}}", "not a status"),
        (
            "{testbed: {control: 'http://c', component: a, restart: false}}",
            "`restart` is false",
        ),
        (
            "{testbed: {control: 'http://c', component: a, cold: '${secret.X}'}}",
            "`cold` got \"${secret.X}\"",
        ),
    ] {
        let node = Node::parse(yaml).expect("the test's YAML is good");
        let problem = HookSpec::of(&node, None).expect_err(yaml);
        assert!(problem.what.contains(told), "{yaml}: {}", problem.what);
        assert!(problem.at.line == 1 && !problem.fix.is_empty(), "{yaml}");
    }
}

#[test]
fn what_a_hook_changed_is_waited_for_where_it_was_changed() {
    let waited_in = |yaml: &str, usual: Option<&Cluster>| {
        let node = Node::parse(yaml).expect("the test's YAML is good");
        let hook =
            HookSpec::of(&node, usual).unwrap_or_else(|problem| panic!("{yaml}: {problem:?}"));
        match &hook.wait[0].condition {
            Condition::Rollout(cluster, _) | Condition::Replicas(cluster, ..) => {
                (cluster.context.clone(), cluster.namespace.clone())
            }
            other => panic!("{other:?}"),
        }
    };
    let target = Cluster {
        context: "target".to_owned(),
        namespace: "usual".to_owned(),
    };
    let restart = "kubernetes: {restart: deployment/api, context: lab, namespace: shop}";
    for (wait, place) in [
        ("{rollout: deployment/api}", ("lab", "shop")),
        (
            "{replicas: {workload: deployment/api, count: 2}}",
            ("lab", "shop"),
        ),
        (
            "{rollout: deployment/api, namespace: other}",
            ("lab", "other"),
        ),
        (
            "{rollout: deployment/api, context: b, namespace: c}",
            ("b", "c"),
        ),
    ] {
        let yaml = format!("{{{restart}, wait: {wait}}}");
        for usual in [None, Some(&target)] {
            let (context, namespace) = waited_in(&yaml, usual);
            assert_eq!((&*context, &*namespace), place, "{yaml}");
        }
    }
    let (context, namespace) = waited_in(
        "{exec: 'true', wait: {rollout: deployment/api}}",
        Some(&target),
    );
    assert_eq!((&*context, &*namespace), ("target", "usual"));
}

#[test]
fn a_query_that_cannot_be_judged_says_why() {
    for (status, body, told) in [
        (
            400,
            r#"{"status":"error","errorType":"bad_data","error":"parse error at char 3"}"#,
            "the server answered 400: the query failed: \"parse error at char 3\"",
        ),
        (
            200,
            r#"{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"1"]}]}}"#,
            "the query gives 2 series",
        ),
        (
            200,
            r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#,
            "the query gives no value",
        ),
    ] {
        let mut world = Simulated::default();
        let page = HttpAnswer {
            status,
            body: body.to_owned(),
        };
        let url = "http://p/api/v1/query?query=up".to_owned();
        world.pages.borrow_mut().push((url, Duration::ZERO, page));
        let yaml =
            "{wait: {prometheus: {url: 'http://p', query: up, condition: '== 1'}, timeout: 2s}}";
        let error = run(&mut world, yaml).expect_err("it cannot hold");
        assert!(error.contains(told), "{error}");
    }
}
