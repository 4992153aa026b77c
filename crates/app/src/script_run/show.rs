//! The header and the progress of a script run on standard output.
//!
//! Must not know layouts. Invariant: nothing is shown if the user asked for quiet.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use loadline_metric::{Aggregated, BuiltIn, MetricId};
use loadline_model::event::{Before, NOT_BEGUN_MARK, RunEvent};
use loadline_model::plan::{Behaviour, Scenario};
use loadline_model::result::{Row, StopReason};
use loadline_model::{Executor, Nanos, Snapshot};
use loadline_report::k6::{
    self as layouts, ProgressState, ScenarioDescription, ScenarioProgress, ScenarioStatus,
    TestDescription, TestPhase,
};

use super::scaled::scaled;
use crate::Env;
use crate::k6::{Identity, K6Error, ScriptRun};
use crate::terminal::tui::Tui;
use crate::terminal::{print, style};

/// What is shown during a script run.
pub(super) struct Show {
    is_quiet: bool,
    /// Width of the terminal in columns; `None`: standard output is not a terminal.
    columns: Option<usize>,
    colour: bool,
    state: ProgressState,
    /// Time since the start of the load.
    elapsed: Duration,
    /// The time that the test took before the load: for `setup()`.
    before: Duration,
    /// The part of the plan's scenarios that this process runs.
    scenarios: Vec<Scenario>,
    starts: BTreeMap<String, (Duration, Option<Duration>)>,
    /// Whether the last event was from `setup()`.
    is_in_setup: bool,
    /// The full-screen view; `None`: progress is shown here.
    tui: Option<Tui>,
}

impl Show {
    /// # Errors
    /// The plan's segment is invalid.
    pub(super) fn new(run: &ScriptRun, env: &Env) -> Result<Show, K6Error> {
        let share = run.plan.share(0, 1).map_err(K6Error::config)?;
        let mut scenarios: Vec<Scenario> = run
            .plan
            .scenarios
            .iter()
            .map(|scenario| Scenario {
                executor: scaled(&scenario.executor, &share),
                ..scenario.clone()
            })
            .collect();
        // In the order of the list of planned scenarios.
        scenarios.sort_by(|a, b| (a.start_time, &a.name).cmp(&(b.start_time, &b.name)));
        let is_terminal = std::io::stdout().is_terminal();
        let spans = |s: &Scenario| (s.name.clone(), (s.start_time, s.executor.duration()));
        Ok(Show {
            is_quiet: run.quiet,
            columns: if is_terminal {
                style::columns(env)
            } else {
                None
            },
            colour: style::of_stdout(run.no_color, env).color,
            state: ProgressState {
                phase: TestPhase::Running,
                elapsed: Duration::ZERO,
                max_duration: run.max_duration,
                active_vus: 0,
                made_vus: run.max_vus,
                complete: 0,
                interrupted: 0,
                scenarios: scenarios.iter().map(waiting).collect(),
            },
            elapsed: Duration::ZERO,
            before: Duration::ZERO,
            starts: scenarios.iter().map(spans).collect(),
            is_in_setup: false,
            tui: None,
            scenarios,
        })
    }

    /// Shows what is going to run.
    pub(super) fn head(
        &self,
        run: &ScriptRun,
        script: &str,
        identity: Identity,
        outputs: Vec<String>,
    ) {
        if self.is_quiet {
            return;
        }
        let banner = match identity {
            Identity::Loadline => concat!("loadline ", env!("CARGO_PKG_VERSION")),
            Identity::K6 => concat!(
                "k6 v2.2.0, as loadline ",
                env!("CARGO_PKG_VERSION"),
                " runs it"
            ),
        };
        let described = TestDescription {
            banner,
            script,
            outputs,
            segment: run.plan.segment_share(),
            max_vus: run.max_vus,
            max_duration: run.max_duration,
            scenarios: self.scenarios.iter().map(described).collect(),
        };
        // A reader that closed the stream has seen what it wanted.
        drop(print::to_stdout(&layouts::header(&described, self.colour)));
    }

    /// Leaves the display to a full-screen view.
    pub(super) fn hand_to(&mut self, tui: Tui) {
        self.is_quiet = true;
        self.tui = Some(tui);
    }

    /// Shows the changes of an event.
    pub(super) fn event(&mut self, event: &RunEvent) {
        if let Some(tui) = &self.tui {
            tui.event(event);
        }
        match event {
            RunEvent::Before(before) => self.draw_before(*before),
            RunEvent::Mark(mark) => self.is_in_setup |= mark.kind == NOT_BEGUN_MARK,
            RunEvent::Second { row, delta } => self.second(row, delta),
            RunEvent::TearingDown { at, iterations } => self.tear_down((*at).into(), *iterations),
            _ => {}
        }
    }

    fn second(&mut self, row: &Row, delta: &Snapshot) {
        // The last moment of the load is reported after teardown().
        let until = Nanos(row.at_ns + row.span_ns).into();
        self.elapse(self.elapsed.max(until));
        self.count(delta, until);
        if row.span_ns >= 1_000_000_000 {
            self.draw();
        }
    }

    /// Moves the display to a time since the start of the load; as in k6, the test's own includes `setup()`.
    fn elapse(&mut self, to: Duration) {
        self.elapsed = to;
        self.state.elapsed = self.before + to;
    }

    fn tear_down(&mut self, at: Duration, iterations: (u64, u64)) {
        (self.state.complete, self.state.interrupted) = iterations;
        let is_next_second = at.as_secs() > self.elapsed.as_secs();
        self.elapse(at);
        self.state.active_vus = 0;
        for scenario in &mut self.state.scenarios {
            scenario.active_vus = 0;
            let (start, duration) = self.starts[&scenario.name];
            // A scenario whose time is not over was interrupted, and stops there.
            if duration.is_some_and(|duration| start + duration < at) {
                advance(scenario, at, (start, duration), Duration::ZERO);
            }
        }
        if is_next_second {
            self.draw();
        }
    }

    fn draw_before(&mut self, before: Before) {
        self.is_in_setup = before == Before::Setup;
        self.state.phase = match before {
            Before::Paused => TestPhase::Paused,
            Before::Setup => TestPhase::Setup,
            Before::SetUp(took) => {
                self.before = took;
                return self.elapse(self.elapsed);
            }
        };
        for scenario in &mut self.state.scenarios {
            scenario.status = ScenarioStatus::Running;
        }
        self.draw();
        self.state.phase = TestPhase::Running;
    }

    /// Shows how the run ended, with the numbers of complete and interrupted `iterations`.
    pub(super) fn end(&mut self, iterations: (u64, u64), stop: StopReason) {
        if self.is_in_setup {
            return self.draw_before(Before::Setup);
        }
        self.state.active_vus = 0;
        (self.state.complete, self.state.interrupted) = iterations;
        for scenario in &mut self.state.scenarios {
            scenario.active_vus = 0;
            let (_, duration) = self.starts[&scenario.name];
            let is_early = duration.is_none_or(|duration| scenario.elapsed < duration);
            let was_ended = stop != StopReason::Finished;
            match scenario.status {
                ScenarioStatus::Done | ScenarioStatus::Interrupted => {}
                // Otherwise it may start and end within the last moment.
                ScenarioStatus::Waiting(_) if was_ended => {}
                _ if was_ended && is_early => scenario.status = ScenarioStatus::Interrupted,
                _ => scenario.end(),
            }
        }
        self.draw();
        print::leave_foot();
    }

    fn count(&mut self, delta: &Snapshot, until: Duration) {
        let Some(script) = delta.script.as_deref() else {
            return;
        };
        let value = |metric: MetricId| match script.root.values.get(&metric) {
            Some(Aggregated::Counter(counter)) => counter.total(),
            Some(Aggregated::Gauge(gauge)) => gauge.last().unwrap_or(0.0),
            _ => 0.0,
        };
        // Iterations report their bytes, even interrupted ones.
        self.is_in_setup &= !script.root.values.contains_key(&BuiltIn::DataSent.id());
        let complete = value(BuiltIn::Iterations.id()) as u64;
        self.state.complete += complete;
        self.state.active_vus = value(BuiltIn::Vus.id()) as u64;
        if script.root.values.contains_key(&BuiltIn::VusMax.id()) {
            self.state.made_vus = value(BuiltIn::VusMax.id()) as u64;
        }
        for scenario in &mut self.state.scenarios {
            let (start, duration) = self.starts[&scenario.name];
            let change = delta.scenarios.get(scenario.name.as_str());
            let change = change.copied().unwrap_or_default();
            scenario.iterations += change.iterations;
            self.state.interrupted += change.interrupted;
            scenario.active_vus = scenario.active_vus.saturating_add_signed(change.vus_active);
            if makes_vus_as_wanted(&scenario.executor) {
                scenario.made_vus += change.vus_made;
            }
            let last_end = Duration::from_nanos(change.last_end_ns);
            advance(scenario, until, (start, duration), last_end);
        }
    }

    fn draw(&mut self) {
        if self.is_quiet {
            return;
        }
        let text = match self.columns {
            Some(columns) => {
                let (text, lines) = layouts::block(&self.state, columns, self.colour);
                return print::show_foot(text, lines);
            }
            None => layouts::progress(&self.state),
        };
        drop(print::to_stdout(&text));
    }

    /// Removes the block from the screen, and restores the screen: further output takes its place.
    pub(super) fn leave(&mut self) {
        self.tui = None;
        print::clear_foot();
    }
}

impl Drop for Show {
    /// Whatever ended the test is told after the block.
    fn drop(&mut self) {
        print::leave_foot();
    }
}

/// Updates a scenario to its state at a time of the test.
fn advance(
    scenario: &mut ScenarioProgress,
    at: Duration,
    (start, duration): (Duration, Option<Duration>),
    last_end: Duration,
) {
    if matches!(
        scenario.status,
        ScenarioStatus::Done | ScenarioStatus::Interrupted
    ) {
        return;
    }
    if at <= start {
        scenario.status = ScenarioStatus::Waiting(start - at);
        return;
    }
    scenario.elapsed = at - start;
    scenario.rate_now = rate_at(&scenario.executor, scenario.elapsed);
    let is_over = duration.is_some_and(|duration| scenario.elapsed > duration);
    if scenario.is_complete() {
        scenario.elapsed = last_end.saturating_sub(start);
        scenario.end();
    } else if !is_over {
        scenario.status = ScenarioStatus::Running;
    } else if scenario.active_vus > 0 {
        scenario.status = ScenarioStatus::Stopping;
    } else {
        scenario.end();
    }
}

fn described(scenario: &Scenario) -> ScenarioDescription<'_> {
    let exec = match &scenario.behaviour {
        Behaviour::Script(function) => Some(function.exec.as_str()),
        Behaviour::Requests(_) | Behaviour::Steps(_) => None,
    };
    ScenarioDescription {
        name: &scenario.name,
        executor: &scenario.executor,
        exec: exec.filter(|exec| *exec != "default"),
        start_time: scenario.start_time,
        graceful_stop: scenario.graceful_stop,
    }
}

fn waiting(scenario: &Scenario) -> ScenarioProgress {
    ScenarioProgress {
        name: scenario.name.clone(),
        executor: scenario.executor.clone(),
        status: ScenarioStatus::Waiting(scenario.start_time),
        elapsed: Duration::ZERO,
        active_vus: 0,
        made_vus: match makes_vus_as_wanted(&scenario.executor) {
            true => 0,
            false => u64::from(scenario.executor.max_vus()),
        },
        iterations: 0,
        rate_now: 0.0,
    }
}

/// Whether virtual users are created when needed instead of all at the start.
fn makes_vus_as_wanted(executor: &Executor) -> bool {
    matches!(
        executor,
        Executor::ConstantArrivalRate { .. }
            | Executor::RampingArrivalRate { .. }
            | Executor::ExternallyControlled { .. }
    )
}

/// The planned starts per second of an open model, at a time since its start.
fn rate_at(executor: &Executor, elapsed: Duration) -> f64 {
    match executor {
        Executor::ConstantArrivalRate { rate, .. } => rate.starts_per_second(),
        Executor::RampingArrivalRate {
            start_rate, stages, ..
        } => {
            let mut rate = start_rate.starts_per_second();
            let mut left = elapsed;
            for stage in stages {
                let target = stage.target.starts_per_second();
                if left < stage.duration {
                    let share = left.as_secs_f64() / stage.duration.as_secs_f64();
                    return rate + (target - rate) * share;
                }
                left -= stage.duration;
                rate = target;
            }
            rate
        }
        _ => 0.0,
    }
}
