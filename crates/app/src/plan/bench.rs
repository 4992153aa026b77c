//! The plan of `loadline bench`.
//!
//! Must not know argument syntax. Invariant: the returned plan has passed `TestPlan::validate`.

use std::collections::BTreeMap;

use loadline_model::plan::AggregationPlan;
use loadline_model::{Behaviour, OnExhausted, Scenario, TestPlan};

use super::{client, load, requests};
use crate::cli::bench::BenchArgs;
use crate::{Env, Files};

/// The plan that the options of `loadline bench` describe; `seed` is the default seed.
///
/// # Errors
/// Names the option or file that cannot be run, and the next step.
pub fn bench(args: &BenchArgs, env: &Env, files: &Files, seed: u64) -> Result<TestPlan, String> {
    let seed = args.load.seed.unwrap_or(seed);
    let mix = requests::mix(args, files)?;
    let client = client::client(args, &mix.requests, env, files)?;
    let executor = load::executor(
        &args.load,
        client.protocol.streams(),
        args.connection.timeout,
        seed,
    )?;
    let plan = TestPlan {
        scenarios: vec![Scenario {
            name: "bench".to_owned(),
            start_time: std::time::Duration::ZERO,
            executor,
            on_exhausted: OnExhausted::Queue,
            pacing: args.load.pacing,
            graceful_stop: args.load.graceful_stop,
            queue_grace: args.load.graceful_stop,
            behaviour: Behaviour::Requests(mix),
            checks: args.results.expect.clone(),
            tags: BTreeMap::new(),
        }],
        client,
        thresholds: args.results.threshold.clone(),
        warm_up: args.load.warm_up,
        start_window: args.load.start_window,
        workers: args.load.workers,
        aggregation: AggregationPlan {
            by_header: args.results.by.clone(),
            samples: args.results.csv.is_some(),
            ..AggregationPlan::default()
        },
        labels: args.results.label.iter().cloned().collect(),
        tags: args.results.tag.iter().cloned().collect(),
        seed,
        segment: None,
        script: None,
        script_thresholds: Vec::new(),
    };
    check_warm_up(&plan)?;
    plan.validate()?;
    Ok(plan)
}

fn check_warm_up(plan: &TestPlan) -> Result<(), String> {
    match plan.duration() {
        Some(duration) if plan.warm_up >= duration => Err(format!(
            "--warm-up {:?} leaves nothing of a run of {duration:?}; shorten it, or raise -z",
            plan.warm_up
        )),
        _ => Ok(()),
    }
}
