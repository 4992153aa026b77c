//! Suites with a simulated executor, on a failing disk.
//!
//! Must not know processes. Invariant: nothing here waits.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::RunResult;
use loadline_model::audit::AuditedOutput;
use proptest::prelude::*;

use super::*;
use crate::file::SuiteFile;
use crate::gates::tests::result;
use crate::hooks::testing::Simulated;
use crate::outcome::{RowStatus, SuiteOutcome};
use crate::plan::{Plan, Surroundings};
use crate::state::testing::{Loss, MemoryDisk};
use crate::state::{Disk, RunState, StateError, StateFolder, SuiteRecord};

mod judged;
mod observers;

/// An executor whose results follow from the row alone.
struct Pretended {
    disk: Arc<MemoryDisk>,
    world: Simulated,
    /// Command lines of loads that were run to their end.
    ran: Rc<RefCell<Vec<String>>>,
    /// Loads that fail this often, by a word of their command line.
    fails: BTreeMap<String, u32>,
    /// It is asked to stop during this load, from one on.
    stops_at: Option<usize>,
    /// What the runs' outputs leave about their audits.
    audits: Vec<AuditedOutput>,
}

impl Executor for Pretended {
    fn run(
        &mut self,
        order: &RunOrder,
        beat: &mut dyn FnMut(Beat),
    ) -> Result<RunFiles, ExecuteError> {
        let line = order.command.join(" ");
        beat(Beat {
            elapsed: Duration::from_secs(61),
            line: Some(format!("at work on {line}")),
        });
        let left = self
            .fails
            .iter_mut()
            .find(|(word, left)| line.contains(*word) && **left > 0);
        let fails = left.map(|(_, left)| *left -= 1).is_some();
        let sent = if line.contains("silent") { 0 } else { 100 };
        let mut result = result(if fails { 50 } else { sent }, sent);
        result.verdict.headline = line.clone();
        result.environment.command = order.command.clone();
        let bytes = serde_json::to_vec(&result).expect("a result can be written");
        let dead = |error: std::io::Error| ExecuteError {
            why: error.to_string(),
        };
        self.disk.write(&order.log, line.as_bytes()).map_err(dead)?;
        self.disk
            .write(&order.journal, &[0xff, 0xfe])
            .map_err(dead)?;
        self.disk.write(&order.result, &bytes).map_err(dead)?;
        if !self.audits.is_empty() {
            let audits = serde_json::to_vec(&self.audits).expect("audits can be written");
            self.disk.write(&order.audits, &audits).map_err(dead)?;
        }
        if order.phase == PhaseKind::Load {
            self.ran.borrow_mut().push(line);
            if self.stops_at == Some(self.ran.borrow().len()) {
                self.world.stop.set(true);
            }
        }
        Ok(RunFiles {
            exit_code: Some(0),
            timed_out: false,
        })
    }

    fn should_stop(&self) -> bool {
        self.world.stop.get()
    }
}

/// A suite with everything that it is run with.
struct Bench {
    plan: Plan,
    disk: Arc<MemoryDisk>,
    world: Simulated,
    ran: Rc<RefCell<Vec<String>>>,
    fails: BTreeMap<String, u32>,
    stops_at: Option<usize>,
    audits: Vec<AuditedOutput>,
    secrets: BTreeMap<String, String>,
    events: RefCell<Vec<SuiteEvent>>,
}

const SUITE: &str = "
name: two by two
target: http://target/
prepare: [{exec: set up}]
cleanup: [{exec: tear down}]
defaults: {bench: '-n 100', vus: 5, repeat: 2}
order: interleaved
groups:
  - name: main
    before: [{testbed: {control: 'http://c', component: api, scale: '${axis.replicas}'}}]
    axes: {replicas: [1, 3]}
  - name: other
    prepare: [{exec: group up}]
    cleanup: [{exec: group down}]
    rows: [{name: hot, hey: '-n 100', phases: {smoke: false, warm_up: 5s}}]
";

fn plan_of(yaml: &str) -> Plan {
    let file = SuiteFile::parse("s.yaml", yaml).expect("the suite is good");
    let surroundings = Surroundings {
        read: &|_| Ok(b"script".to_vec()),
        variable: &|_| None,
    };
    Plan::of(&file, &surroundings).expect("the suite can be planned")
}

impl Bench {
    fn new(yaml: &str) -> Bench {
        Bench {
            plan: plan_of(yaml),
            disk: Arc::default(),
            world: Simulated::default(),
            ran: Rc::default(),
            fails: BTreeMap::new(),
            stops_at: None,
            audits: Vec::new(),
            secrets: BTreeMap::new(),
            events: RefCell::default(),
        }
    }

    fn state(&self) -> StateFolder {
        StateFolder::new(PathBuf::from("/s.state"), self.disk.clone())
    }

    fn run(&self) -> Result<SuiteEnd, StateError> {
        let mut executor = Pretended {
            disk: self.disk.clone(),
            world: self.world.clone(),
            ran: self.ran.clone(),
            fails: self.fails.clone(),
            stops_at: self.stops_at,
            audits: self.audits.clone(),
        };
        let settings = RunSettings {
            only: None,
            failed_again: false,
            secrets: self.secrets.clone(),
            facts: BTreeMap::new(),
            component_patterns: Vec::new(),
            unix_ms: &|| 1_000,
        };
        let mut world = self.world.clone();
        let mut tell = |event| self.events.borrow_mut().push(event);
        run(
            &self.plan,
            &self.state(),
            &mut executor,
            &mut world,
            &settings,
            &mut tell,
        )
    }

    fn outcome(&self) -> SuiteOutcome {
        let record = SuiteRecord::of(&self.plan, BTreeMap::new());
        self.state()
            .outcome(&record)
            .expect("the state can be read")
    }
}

/// What a document could say of an outcome.
fn told(outcome: &SuiteOutcome) -> String {
    let rows = outcome.rows.iter().map(|row| {
        let runs: Vec<String> = row
            .runs
            .iter()
            .map(|run| {
                format!(
                    "{} {} {}",
                    run.repetition, run.file, run.result.verdict.headline
                )
            })
            .collect();
        format!(
            "{} {:?} {:?} {:?} {runs:?}\n",
            row.id, row.status, row.reasons, row.labels
        )
    });
    rows.collect()
}

#[test]
fn a_suite_is_run_in_order_with_its_hooks_and_changes_are_taken_back() {
    let bench = Bench::new(SUITE);
    let end = bench.run().expect("the disk is well");
    assert_eq!(
        (end.passed, end.failed, end.pending),
        (3, 0, 0),
        "{:?}",
        bench.outcome().rows
    );
    assert!(end.problems.is_empty() && !end.interrupted);
    let done = bench.world.done();
    assert_eq!(done.first().map(String::as_str), Some("set up"));
    let place = |what: &str| done.iter().position(|line| line == what).expect(what);
    assert!(place("group up") < place("group down") && place("group down") < place("tear down"));
    assert_eq!(
        done.last().map(String::as_str),
        Some("undo replicas of api at http://c")
    );
    assert_eq!(bench.world.replicas.borrow()["api"], 1);
    assert_eq!(bench.ran.borrow().len(), 6);
    assert!(
        bench
            .ran
            .borrow()
            .iter()
            .all(|line| line.ends_with("http://target/"))
    );
    assert!(
        bench
            .state()
            .changes()
            .expect("the state can be read")
            .is_empty()
    );
}

#[test]
fn what_is_whole_is_not_run_again_and_what_changed_is() {
    let bench = Bench::new(SUITE);
    bench.run().expect("the disk is well");
    bench.run().expect("the disk is well");
    assert_eq!(bench.ran.borrow().len(), 6);
    let done = bench.world.done().len();
    let changed = Bench {
        plan: plan_of(&SUITE.replace("hey: '-n 100'", "hey: '-n 200'")),
        disk: bench.disk.clone(),
        ..Bench::new(SUITE)
    };
    assert_eq!(changed.outcome().rows[2].status, RowStatus::Pending);
    changed.run().expect("the disk is well");
    assert_eq!(changed.ran.borrow().len(), 2);
    assert_eq!(bench.world.done().len(), done);
    let files = changed.disk.files();
    let kept = |(path, _): &&(PathBuf, Vec<u8>)| {
        path.starts_with("/s.state/history") && path.ends_with("result.json")
    };
    assert_eq!(
        files.iter().filter(kept).count(),
        2,
        "what was measured before is kept"
    );
}

#[test]
fn policies_after_a_failed_run() {
    let yaml = "
name: p
policy: POLICY
defaults: {phases: {smoke: false}}
rows: [{name: a, bench: first http://h/}, {name: b, bench: second http://h/}]
";
    for (policy, fails, ran, end) in [
        ("continue", 1, 2, (1, 1, 0)),
        ("stop", 1, 1, (0, 1, 1)),
        ("retry 2", 2, 4, (2, 0, 0)),
        ("retry 1", 5, 3, (1, 1, 0)),
    ] {
        let bench = Bench {
            fails: BTreeMap::from([("first".to_owned(), fails)]),
            ..Bench::new(&yaml.replace("POLICY", policy))
        };
        let found = bench.run().expect("the disk is well");
        assert_eq!(bench.ran.borrow().len(), ran, "{policy}");
        assert_eq!((found.passed, found.failed, found.pending), end, "{policy}");
    }
    // A row that failed does not wait for its other repetitions.
    let twice = yaml
        .replace("POLICY", "stop")
        .replace("defaults: {", "defaults: {repeat: 2, ");
    let bench = Bench {
        fails: BTreeMap::from([("first".to_owned(), 1)]),
        ..Bench::new(&twice)
    };
    let found = bench.run().expect("the disk is well");
    assert_eq!((found.passed, found.failed, found.pending), (0, 1, 1));
}

#[test]
fn a_smoke_run_that_fails_keeps_the_load_from_being_sent() {
    let bench = Bench {
        fails: BTreeMap::from([("-n 1 ".to_owned(), 1)]),
        ..Bench::new("{name: s, rows: [{name: a, bench: '-c 9 http://h/'}]}")
    };
    let end = bench.run().expect("the disk is well");
    assert_eq!((end.failed, bench.ran.borrow().len()), (1, 0));
    let reasons = bench.outcome().rows[0].reasons.clone();
    assert!(reasons[0].starts_with("smoke: "), "{reasons:?}");
    // A document that could not be written is written when the suite resumes.
    let again = Bench {
        disk: bench.disk,
        ..Bench::new("{name: s, rows: [{name: a, bench: '-c 9 http://h/'}]}")
    };
    assert_eq!(again.run().expect("the disk is well").passed, 1);
}

#[test]
fn a_wish_to_stop_ends_the_suite_after_cleanup_and_the_rest_can_be_resumed() {
    let bench = Bench {
        stops_at: Some(2),
        ..Bench::new(SUITE)
    };
    let end = bench.run().expect("the disk is well");
    assert!(end.interrupted);
    assert_eq!(bench.ran.borrow().len(), 2);
    let done = bench.world.done();
    assert!(
        done.contains(&"tear down".to_owned())
            && done.last().is_some_and(|last| last.starts_with("undo "))
    );
    let whole = Bench::new(SUITE);
    whole.run().expect("the disk is well");
    let resumed = Bench {
        disk: bench.disk,
        ..Bench::new(SUITE)
    };
    resumed.run().expect("the disk is well");
    assert_eq!(
        resumed.ran.borrow().len(),
        5,
        "the run that was stopped is made again"
    );
    assert_eq!(told(&resumed.outcome()), told(&whole.outcome()));
}

#[test]
fn hooks_that_fail_are_told_and_cleanup_is_done() {
    let bench = Bench::new(SUITE);
    bench.world.answer("set up", Err("no such cluster"));
    let end = bench.run().expect("the disk is well");
    assert_eq!(end.problems.len(), 1);
    assert!(end.problems[0].contains("no such cluster"));
    assert_eq!(end.pending, 3);
    assert_eq!(bench.world.done(), ["set up", "tear down"]);
}

#[test]
fn secrets_reach_the_process_and_no_file() {
    let yaml = "
name: s
rows:
  - {name: a, bench: '-H \"X-Key: ${secret.KEY}\" http://h/', env: {TOKEN: '${secret.KEY}', PLAIN: open}}
";
    let none = Bench::new(yaml);
    let end = none.run().expect("the disk is well");
    assert!(
        end.problems[0].contains("set the variable KEY"),
        "{:?}",
        end.problems
    );
    let bench = Bench {
        secrets: BTreeMap::from([("KEY".to_owned(), "open\"sesame".to_owned())]),
        ..Bench::new(yaml)
    };
    let end = bench.run().expect("the disk is well");
    assert_eq!(end.passed, 1);
    assert!(bench.ran.borrow()[0].contains("open\"sesame"));
    for (path, bytes) in bench.disk.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("sesame"), "{}", path.display());
    }
    let told = format!("{:?}", bench.events.borrow());
    assert!(!told.contains("sesame"), "{told}");
    assert_eq!(
        bench.outcome().rows[0].env,
        BTreeMap::from([("PLAIN".to_owned(), "open".to_owned())])
    );
}

#[test]
fn long_rows_give_signs_of_life() {
    let bench = Bench::new(
        "{name: e, rows: [{name: a, bench: 'http://h/', mode: endurance, duration: 24h}]}",
    );
    bench.run().expect("the disk is well");
    let events = bench.events.borrow();
    let beats = events
        .iter()
        .filter(|event| matches!(event, SuiteEvent::Heartbeat { .. }));
    assert_eq!(beats.count(), 1);
}

/// Runs a suite whose disk fails at an operation, restarts it until it ends, and returns the outcome.
fn survive(operations: &[u64], loss: Loss) -> (String, BTreeMap<String, u32>) {
    let bench = Bench::new(SUITE);
    for operation in operations {
        bench.disk.die_at(*operation, loss);
        let ended = bench.run();
        let died = bench.disk.is_dead();
        assert_eq!(
            ended.is_err(),
            died,
            "a suite ends well exactly where its disk does"
        );
        bench.disk.start_again();
        if !died {
            break;
        }
    }
    let end = bench.run().expect("the disk is well");
    assert_eq!(
        (end.passed, end.failed, end.pending),
        (3, 0, 0),
        "{operations:?}"
    );
    for row in &bench.plan.rows {
        for repetition in 1..=row.settings.repeat {
            let status = bench
                .state()
                .status(&row.id, repetition)
                .expect("every run has a status");
            assert_eq!(status.state, RunState::Done);
        }
    }
    assert!(
        bench
            .state()
            .changes()
            .expect("the state can be read")
            .is_empty()
    );
    (
        told(&bench.outcome()),
        bench.world.replicas.borrow().clone(),
    )
}

#[test]
fn whichever_file_operation_is_the_last_the_resumed_outcome_is_the_same() {
    let whole = Bench::new(SUITE);
    whole.run().expect("the disk is well");
    let expected = (
        told(&whole.outcome()),
        whole.world.replicas.borrow().clone(),
    );
    let operations = whole.disk.operations();
    assert!(
        operations > 100,
        "{operations} operations are too few to prove anything"
    );
    for operation in 1..=operations {
        assert_eq!(
            survive(&[operation], Loss::Process),
            expected,
            "operation {operation}"
        );
        assert_eq!(
            survive(&[operation], Loss::Power),
            expected,
            "operation {operation}, without power"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_suite_survives_death_after_death(deaths in prop::collection::vec(1..300_u64, 1..6), power in any::<bool>()) {
        let whole = Bench::new(SUITE);
        whole.run().expect("the disk is well");
        let expected = (told(&whole.outcome()), whole.world.replicas.borrow().clone());
        let loss = if power { Loss::Power } else { Loss::Process };
        prop_assert_eq!(survive(&deaths, loss), expected);
    }

    #[test]
    fn a_plateau_is_found_where_it_begins(level in 100.0..10_000.0_f64, ramp in 0..40_usize, steady in 60..200_usize, noise in 0.0..0.02_f64) {
        let wobble = |second: usize| 1.0 + noise * (((second * 7_919) % 13) as f64 / 6.0 - 1.0);
        let rates: Vec<f64> = (0..ramp)
            .map(|second| level * second as f64 / ramp as f64)
            .chain((0..steady).map(|_| level))
            .enumerate()
            .map(|(second, rate)| rate * wobble(second))
            .collect();
        let found = figures::plateau(&rates).expect("two thirds and more are steady");
        prop_assert!((found.level / level - 1.0).abs() < 0.02);
        prop_assert!(found.from <= ramp + 1 && found.from + 12 >= ramp.min(ramp * 4 / 5), "{} after {ramp}", found.from);
    }
}

#[test]
fn throughput_that_still_grows_has_no_plateau() {
    let growing: Vec<f64> = (0..120).map(|second| f64::from(second) * 10.0).collect();
    assert_eq!(figures::plateau(&growing), None);
    assert_eq!(figures::plateau(&[100.0; 19]), None);
    assert_eq!(figures::plateau(&[0.0; 60]), None);
}

/// A run of some hours whose throughput and memory change.
fn hours(hours: u64) -> RunResult {
    use loadline_model::observation::{ObservedSeries, Point};
    use loadline_model::result::Row;
    let mut result = result(100, 100);
    let minutes = hours * 60;
    result.series = (0..=minutes)
        .map(|minute| Row {
            at_ns: minute * 60_000_000_000,
            span_ns: 60_000_000_000,
            completed: 6_000 - minute * 10,
            ..Row::default()
        })
        .collect();
    result.observations.series.push(ObservedSeries {
        observer: "api".to_owned(),
        component: "api".to_owned(),
        metric: "memory_bytes".to_owned(),
        points: (0..minutes)
            .map(|minute| Point(minute as i64 * 60_000_000_000, 1e6 * minute as f64))
            .collect(),
        per_point: 1,
        peak: None,
    });
    result
}

#[test]
fn the_first_hour_is_held_against_the_last_and_leaks_are_told_per_hour() {
    let result = hours(4);
    let (first, last) = figures::first_and_last_hour(&result).expect("it lasts four hours");
    assert!(
        first.throughput > 94.0 && last.throughput < 66.0,
        "{first:?} {last:?}"
    );
    let slopes = figures::leak_slopes(&result);
    assert!((slopes["api.api.memory_bytes"] / 60e6 - 1.0).abs() < 1e-9);
    assert_eq!(figures::first_and_last_hour(&hours(1)), None);
}

#[test]
fn growth_is_told_in_numbers_as_people_write_them() {
    for (series, per_hour, text) in [
        (
            "a.a.memory_bytes",
            13_002_342.4,
            "grew by 12.4 MiB per hour",
        ),
        ("a.a.memory_bytes", -4096.0, "neither grew nor shrank"),
        ("a.a.threads", -2.5, "shrank by 2.5 per hour"),
        ("a.a.open_files", 0.0, "neither grew nor shrank"),
    ] {
        assert_eq!(
            figures::leak_note(series, per_hour),
            format!("{series} {text}")
        );
    }
}

#[test]
fn the_first_success_lies_in_the_first_second_with_one() {
    let mut result = hours(1);
    assert_eq!(figures::time_to_first_success(&result), None);
    result.series[2].good = 5;
    assert_eq!(figures::time_to_first_success(&result), Some(120.0));
}

#[test]
fn folders_of_runs_are_named_after_rows() {
    let bench = Bench::new(SUITE);
    bench.run().expect("the disk is well");
    let id = &bench.plan.rows[2].id;
    assert!(id.starts_with("other-hot-"), "{id}");
    let folder = bench.state().run_folder(id, 1);
    assert!(
        bench.disk.exists(&folder.join("warm-up.json"))
            && bench.disk.exists(Path::new(&folder.join("log.txt")))
    );
}
