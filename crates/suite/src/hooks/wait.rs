//! Waits until a condition holds.
//!
//! Must not know hooks. Invariant: a wait ends: by the condition, its time limit, or a request to stop.

use std::time::Duration;

use loadline_model::duration;
use loadline_observe::parse::prometheus::only_value;
use regex::Regex;

use super::spec::{Condition, CpuOf, HttpCall};
use super::world::{NewLines, World};

/// Wait between two looks at first; it grows up to [`LOOK_MAX`].
const LOOK: Duration = Duration::from_millis(50);
/// Longest wait between two looks.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Time that one request of a look may take.
const REQUEST: Duration = Duration::from_secs(5);
/// CPU use is measured over windows of at least this length: the system's clock ticks are 10 ms.
const CPU_WINDOW: Duration = Duration::from_millis(500);

/// The state before a hook's action, with which the condition is compared.
#[derive(Default)]
pub(super) struct Baseline {
    /// What is written to the log from then on; `None`: no log is waited for.
    log: Option<Box<dyn NewLines>>,
}

impl Baseline {
    /// Looks before the hook.
    pub(super) fn of(condition: &Condition, world: &mut dyn World) -> Baseline {
        match condition {
            Condition::Log { file, .. } => Baseline {
                log: Some(world.new_lines(file)),
            },
            _ => Baseline::default(),
        }
    }
}

/// The result of a check.
enum LookOutcome {
    Holds,
    NotYet(String),
}

/// Checks until the condition holds.
///
/// # Errors
/// It did not hold in time, or a stop was requested; the text says what was seen last.
pub(super) fn await_condition(
    condition: &Condition,
    baseline: Baseline,
    timeout: Duration,
    world: &mut dyn World,
    heeds_stop: bool,
) -> Result<(), String> {
    let start = world.now();
    let mut wait = LOOK;
    let mut watch = Watch::of(condition, baseline);
    loop {
        let seen = match watch.look(condition, world) {
            LookOutcome::Holds => return Ok(()),
            LookOutcome::NotYet(seen) => seen,
        };
        if heeds_stop && world.should_stop() {
            return Err("asked to stop while waiting".to_owned());
        }
        let waited = world.now().saturating_sub(start);
        if waited >= timeout {
            let timeout = duration::text(timeout);
            return Err(format!("timed out after {timeout}: {seen}"));
        }
        world.pause(wait.min(timeout - waited));
        wait = (wait * 3 / 2).min(LOOK_MAX);
    }
}

/// What is kept between looks.
struct Watch {
    log: Option<Box<dyn NewLines>>,
    pattern: Option<Regex>,
    /// When the processor was looked at, and its time then.
    cpu: Option<(Duration, f64)>,
    quiet_since: Option<Duration>,
}

impl Watch {
    fn of(condition: &Condition, baseline: Baseline) -> Watch {
        let pattern = match condition {
            // It was compiled when the file was read.
            Condition::Log { pattern, .. } => Regex::new(pattern).ok(),
            _ => None,
        };
        Watch {
            log: baseline.log,
            pattern,
            cpu: None,
            quiet_since: None,
        }
    }

    fn look(&mut self, condition: &Condition, world: &mut dyn World) -> LookOutcome {
        let by = |held: Result<bool, String>, otherwise: String| match held {
            Ok(true) => LookOutcome::Holds,
            Ok(false) => LookOutcome::NotYet(otherwise),
            Err(why) => LookOutcome::NotYet(why),
        };
        match condition {
            Condition::Rollout(cluster, workload) => {
                let otherwise = format!("the rollout of {workload} is not complete");
                by(world.is_rolled_out(cluster, workload), otherwise)
            }
            Condition::Replicas(cluster, workload, count) => {
                let otherwise = format!("{workload} does not have {count} replicas");
                by(world.has_replicas(cluster, workload, *count), otherwise)
            }
            Condition::Port(address) => {
                let otherwise = format!("{address} takes no connections");
                by(Ok(world.takes_connections(address)), otherwise)
            }
            Condition::Http(call) => look_http(call, world),
            Condition::Log { file, .. } => by(self.look_log(), format!("no such line in {file}")),
            Condition::Prometheus {
                url,
                query,
                comparison,
            } => match prometheus(url, query, world) {
                Ok(value) if comparison.holds(value) => LookOutcome::Holds,
                Ok(value) => LookOutcome::NotYet(format!("the query gave {value}")),
                Err(why) => LookOutcome::NotYet(why),
            },
            Condition::CpuIdle { of, below, span } => self.look_cpu(of, *below, *span, world),
        }
    }

    /// Whether a line that was written since the last look matches.
    fn look_log(&mut self) -> Result<bool, String> {
        let (Some(log), Some(pattern)) = (&mut self.log, &self.pattern) else {
            return Ok(false);
        };
        let mut found = false;
        log.read(&mut |line| found |= pattern.is_match(line))?;
        Ok(found)
    }

    fn look_cpu(
        &mut self,
        of: &CpuOf,
        below: f64,
        span: Duration,
        world: &mut dyn World,
    ) -> LookOutcome {
        let now = world.now();
        let used = match world.cpu_seconds(of) {
            Ok(used) => used,
            Err(why) => return LookOutcome::NotYet(why),
        };
        let Some((at, before)) = self.cpu else {
            self.cpu = Some((now, used));
            return LookOutcome::NotYet("the CPU has been read only once so far".to_owned());
        };
        let window = now.saturating_sub(at);
        if window < CPU_WINDOW {
            return LookOutcome::NotYet("the CPU has been read only once so far".to_owned());
        }
        self.cpu = Some((now, used));
        let cores = (used - before) / window.as_secs_f64();
        if cores >= below {
            self.quiet_since = None;
            return LookOutcome::NotYet(format!("{cores:.2} cores are in use"));
        }
        let since = *self.quiet_since.get_or_insert(at);
        if now.saturating_sub(since) >= span {
            LookOutcome::Holds
        } else {
            LookOutcome::NotYet(format!("quiet for less than {}", duration::text(span)))
        }
    }
}

fn look_http(call: &HttpCall, world: &mut dyn World) -> LookOutcome {
    match world.http(call, REQUEST) {
        Ok(answer) if call.accepts(answer.status) => LookOutcome::Holds,
        Ok(answer) => LookOutcome::NotYet(format!("{} answered with {}", call.url, answer.status)),
        Err(why) => LookOutcome::NotYet(why),
    }
}

/// The only value of an instant query, as Prometheus' HTTP API returns it.
fn prometheus(url: &str, query: &str, world: &mut dyn World) -> Result<f64, String> {
    let encoded = loadline_http::encoded(query);
    let url = format!("{}/api/v1/query?query={encoded}", url.trim_end_matches('/'));
    let answer = world.http(&HttpCall::get(&url, None), REQUEST)?;
    only_value(answer.status, &answer.body)
}
