//! The progress of a test while it runs: a line for the test and one for each scenario.
//!
//! Measured on k6 v2.2.0. Must not know clocks or terminals: times and the terminal's width are arguments.
//! Invariant: a block has one line per scenario, so that it can be redrawn in place.

use std::time::Duration;

use loadline_model::Executor;

use super::describe::{duration, highest_rate};
use super::paint::Paint;
use crate::page::{pad_left, pad_right};

/// Columns of names at least: those of `Init`.
const NAME_MIN: usize = 4;
/// Columns of a bar at most.
const BAR_MAX: usize = 38;

/// What the test is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestPhase {
    /// Virtual users are being initialized: done, and total.
    Init(u64, u64),
    /// It was started paused and waits for `resume`.
    Paused,
    /// `setup()` runs.
    Setup,
    /// Scenarios run, or have run.
    Running,
}

/// The progress of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressState {
    /// What it does.
    pub phase: TestPhase,
    /// Time since it began.
    pub elapsed: Duration,
    /// The longest that it can take, graceful stops included.
    pub max_duration: Duration,
    /// Active virtual users.
    pub active_vus: u64,
    /// Virtual users initialized.
    pub made_vus: u64,
    /// Iterations run to their end.
    pub complete: u64,
    /// Iterations cut short.
    pub interrupted: u64,
    /// The scenarios, in the order of their lines.
    pub scenarios: Vec<ScenarioProgress>,
}

/// What a scenario is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioStatus {
    /// Its start is this far away.
    Waiting(Duration),
    /// Iterations start.
    Running,
    /// No more iterations start; some are still running.
    Stopping,
    /// All is done.
    Done,
    /// It was cut short.
    Interrupted,
}

/// The progress of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioProgress {
    /// Name.
    pub name: String,
    /// What starts its iterations.
    pub executor: Executor,
    /// What it does.
    pub status: ScenarioStatus,
    /// Time since its start; stands still when it is done.
    pub elapsed: Duration,
    /// Active virtual users.
    pub active_vus: u64,
    /// Virtual users made for it.
    pub made_vus: u64,
    /// Iterations run to their end.
    pub iterations: u64,
    /// Iterations per second planned for now; only for arrival rates.
    pub rate_now: f64,
}

impl ScenarioProgress {
    /// Whether all its planned iterations were run; never true if they are not counted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.executor
            .planned_iterations()
            .is_some_and(|planned| self.iterations >= planned)
    }

    /// Marks it as ended: its time is over, or it is complete. Remaining shared iterations were not run.
    pub fn end(&mut self) {
        let is_shared = matches!(self.executor, Executor::SharedIterations { .. });
        self.status = match is_shared && !self.is_complete() {
            true => ScenarioStatus::Interrupted,
            false => ScenarioStatus::Done,
        };
    }
}

/// The progress as plain lines, with an empty line before.
#[must_use]
pub fn progress(state: &ProgressState) -> String {
    let lines = lines(state, None, Paint { colour: false });
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The progress as a block for a terminal with this many columns, and how many lines it has.
#[must_use]
pub fn block(state: &ProgressState, columns: usize, colour: bool) -> (String, usize) {
    let lines = lines(state, Some(columns), Paint { colour });
    let block = lines.iter().map(|line| format!("{line}\x1b[K\n")).collect();
    (block, lines.len())
}

fn lines(state: &ProgressState, columns: Option<usize>, paint: Paint) -> Vec<String> {
    let names = state
        .scenarios
        .iter()
        .map(|scenario| scenario.name.chars().count());
    let name_width = names.max().unwrap_or(0).max(NAME_MIN);
    let cells: Vec<Vec<String>> = state
        .scenarios
        .iter()
        .map(|s| cells(s, state.phase))
        .collect();
    let widths = widths(&cells);
    let mut lines = vec![String::new(), headline(state, name_width)];
    let laid_out: Vec<String> = cells.iter().map(|row| aligned(row, &widths)).collect();
    let widest = laid_out
        .iter()
        .map(|cells| cells.chars().count())
        .max()
        .unwrap_or(0);
    let bar_columns = columns.map(|columns| {
        // Name, mark, brackets and the spaces between them.
        columns
            .saturating_sub(name_width + 3 + 2 + widest)
            .min(BAR_MAX)
    });
    for (scenario, cells) in state.scenarios.iter().zip(laid_out) {
        let mark = mark(scenario.status, paint);
        let bar = match bar_columns {
            Some(columns) => bar(share(scenario), columns, paint),
            None => percent(share(scenario)),
        };
        let name = pad_right(&scenario.name, name_width);
        lines.push(format!("{name} {mark} [{bar}]{cells}"));
    }
    lines
}

fn headline(state: &ProgressState, name_width: usize) -> String {
    match state.phase {
        TestPhase::Init(made, wanted) => {
            let done = if wanted > 0 {
                made as f64 / wanted as f64
            } else {
                1.0
            };
            format!(
                "{}   [{}] {made}/{wanted} VUs initialized",
                pad_right("Init", name_width),
                percent(done)
            )
        }
        TestPhase::Paused => run_line("paused", name_width),
        TestPhase::Setup => run_line("setup()", name_width),
        TestPhase::Running => format!(
            "running ({}), {}/{} VUs, {} complete and {} interrupted iterations",
            fixed(state.elapsed, state.max_duration),
            of(state.active_vus, state.made_vus),
            state.made_vus,
            state.complete,
            state.interrupted
        ),
    }
}

fn run_line(what: &str, name_width: usize) -> String {
    let name = pad_right("Run", name_width);
    format!("{name}   [{}] {what}", percent(1.0))
}

/// A number with as many digits as the number that it is out of.
fn of(part: u64, whole: u64) -> String {
    format!("{part:0width$}", width = whole.to_string().len())
}

/// How wide each column is. As in k6, the last cell of a row counts for none: nothing is to be aligned after it.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let inner = rows.iter().filter(|row| at + 1 < row.len());
        inner.map(|row| row[at].chars().count()).max()
    };
    (0..count).map_while(width).collect()
}

/// Every cell has a space on both sides, but for one in a column without a width.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let cell = |(at, cell): (usize, &String)| match widths.get(at) {
        None => format!(" {cell}"),
        Some(width) => format!(" {}", pad_right(cell, width + 1)),
    };
    cells.iter().enumerate().map(cell).collect()
}

fn mark(status: ScenarioStatus, paint: Paint) -> String {
    match status {
        ScenarioStatus::Waiting(_) => paint.faint("•"),
        ScenarioStatus::Running => " ".to_owned(),
        ScenarioStatus::Stopping => "↓".to_owned(),
        ScenarioStatus::Done => paint.green("✓"),
        ScenarioStatus::Interrupted => paint.red("✗"),
    }
}

fn percent(share: f64) -> String {
    format!(
        " {}% ",
        pad_left(&format!("{:.0}", (share * 100.0).floor()), 3)
    )
}

fn bar(share: f64, columns: usize, paint: Paint) -> String {
    let filled = ((share * columns as f64) as usize).min(columns);
    let done = match filled {
        0 => String::new(),
        all if all == columns => "=".repeat(all),
        some => format!("{}>", "=".repeat(some - 1)),
    };
    format!("{done}{}", paint.faint(&"-".repeat(columns - filled)))
}

/// How much of a scenario is done: of its iterations where they are counted, else of its time.
fn share(scenario: &ScenarioProgress) -> f64 {
    let is_shared = matches!(scenario.executor, Executor::SharedIterations { .. });
    match scenario.status {
        ScenarioStatus::Waiting(_) => return 0.0,
        ScenarioStatus::Done | ScenarioStatus::Stopping if !is_shared => return 1.0,
        _ => {}
    }
    let share = match scenario.executor.planned_iterations() {
        Some(planned) => scenario.iterations as f64 / planned.max(1) as f64,
        None => match scenario.executor.duration() {
            Some(length) if !length.is_zero() => {
                scenario.elapsed.as_secs_f64() / length.as_secs_f64()
            }
            _ => 0.0,
        },
    };
    share.clamp(0.0, 1.0)
}

/// The text after the bar: virtual users, time, and the count or rate of iterations.
fn cells(scenario: &ScenarioProgress, phase: TestPhase) -> Vec<String> {
    if phase != TestPhase::Running {
        return Vec::new();
    }
    if let ScenarioStatus::Waiting(left) = scenario.status {
        return vec!["waiting".to_owned(), format!("{:.1}s", left.as_secs_f64())];
    }
    let busy = format!(
        "{}/{} VUs",
        of(scenario.active_vus, scenario.made_vus),
        scenario.made_vus
    );
    let time = time(scenario);
    let done = scenario.iterations;
    match &scenario.executor {
        Executor::ConstantVus { vus, .. } => vec![format!("{vus} VUs"), time],
        Executor::RampingVus { .. }
        | Executor::ExternallyControlled { .. }
        | Executor::ThreadGroup(_) => vec![busy, time],
        Executor::SharedIterations {
            vus, iterations, ..
        } => vec![
            format!("{vus} VUs"),
            time,
            format!("{}/{iterations} shared iters", of(done, *iterations)),
        ],
        Executor::PerVuIterations {
            vus, iterations, ..
        } => {
            let all = scenario.executor.planned_iterations().unwrap_or_default();
            let counted = format!("{}/{all} iters, {iterations} per VU", of(done, all));
            vec![format!("{vus} VUs"), time, counted]
        }
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
            let width = format!("{:.2}", highest_rate(&scenario.executor)).len();
            let rate = format!("{:0width$.2} iters/s", scenario.rate_now);
            vec![busy, time, rate]
        }
    }
}

/// Time passed and planned; the latter alone when a scenario of a planned length is over.
fn time(scenario: &ScenarioProgress) -> String {
    let Some(length) = scenario.executor.duration() else {
        return fixed(scenario.elapsed, scenario.elapsed);
    };
    let is_counted = scenario.executor.planned_iterations().is_some();
    let is_spent =
        scenario.elapsed >= length && matches!(scenario.executor, Executor::PerVuIterations { .. });
    let is_over = matches!(
        scenario.status,
        ScenarioStatus::Done | ScenarioStatus::Stopping
    );
    if is_over && (!is_counted || is_spent) {
        return duration(length);
    }
    let passed = fixed(scenario.elapsed.min(length), length);
    match scenario.executor {
        Executor::RampingVus { .. } => format!("{passed}/{}", fixed(length, length)),
        _ => format!("{passed}/{}", duration(length)),
    }
}

/// A span in tenths of seconds with all the units and leading digits that `longest` has.
fn fixed(span: Duration, longest: Duration) -> String {
    let tenths = (span.as_secs_f64() * 10.0).round() as u64;
    let longest = longest.as_secs();
    let units = [(86_400, u64::MAX, 'd'), (3_600, 24, 'h'), (60, 60, 'm')];
    let mut out = String::new();
    for (seconds, per_greater, name) in units {
        if longest < seconds {
            continue;
        }
        let value = tenths / (seconds * 10) % per_greater;
        let width = if out.is_empty() {
            (longest / seconds).to_string().len()
        } else {
            2
        };
        out.push_str(&format!("{value:0width$}{name}"));
    }
    // Seconds and their tenth; the point takes two columns more.
    let width = if out.is_empty() {
        longest.to_string().len()
    } else {
        2
    } + 2;
    let seconds = if out.is_empty() { tenths } else { tenths % 600 } as f64 / 10.0;
    format!("{out}{seconds:0width$.1}s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64, longest_s: u64) -> String {
        fixed(Duration::from_millis(ms), Duration::from_secs(longest_s))
    }

    #[test]
    fn spans_keep_the_width_of_the_longest() {
        assert_eq!(at(1_040, 2), "1.0s");
        assert_eq!(at(1_500, 31), "01.5s");
        assert_eq!(at(600, 90), "0m00.6s");
        assert_eq!(at(61_250, 630), "01m01.3s");
        assert_eq!(at(3_723_000, 7_200), "1h02m03.0s");
        assert_eq!(at(1_000, 90_030), "0d00h00m01.0s");
    }

    fn state() -> ProgressState {
        let scenario = |name: &str, executor, status, elapsed| ScenarioProgress {
            name: name.to_owned(),
            executor,
            status,
            elapsed: Duration::from_millis(elapsed),
            active_vus: 4,
            made_vus: 5,
            iterations: 4,
            rate_now: 1.0,
        };
        let looping = Executor::ConstantVus {
            vus: 3,
            duration: Some(Duration::from_secs(2)),
        };
        let shared = Executor::SharedIterations {
            vus: 2,
            iterations: 4,
            max_duration: Some(Duration::from_secs(90)),
        };
        let later = Executor::PerVuIterations {
            vus: 2,
            iterations: 2,
            max_duration: Some(Duration::from_secs(5)),
        };
        ProgressState {
            phase: TestPhase::Running,
            elapsed: Duration::from_millis(998),
            max_duration: Duration::from_secs(120),
            active_vus: 7,
            made_vus: 46,
            complete: 84,
            interrupted: 0,
            scenarios: vec![
                scenario("cvus", looping, ScenarioStatus::Running, 999),
                scenario("shared", shared, ScenarioStatus::Done, 600),
                scenario("pvu", later, ScenarioStatus::Waiting(Duration::ZERO), 0),
            ],
        }
    }

    #[test]
    fn plain_lines_are_k6s() {
        assert_eq!(
            progress(&state()),
            "\n\
             running (0m01.0s), 07/46 VUs, 84 complete and 0 interrupted iterations\n\
             cvus     [  49% ] 3 VUs    1.0s/2s       \n\
             shared ✓ [ 100% ] 2 VUs    0m00.6s/1m30s  4/4 shared iters\n\
             pvu    • [   0% ] waiting  0.0s          \n"
        );
    }

    #[test]
    fn more_iterations_than_can_be_counted_are_shown() {
        let mut state = state();
        state.scenarios.truncate(1);
        state.scenarios[0].executor = Executor::PerVuIterations {
            vus: 2,
            iterations: u64::MAX,
            max_duration: Some(Duration::from_secs(5)),
        };
        assert!(
            progress(&state).contains("[   0% ]"),
            "{}",
            progress(&state)
        );
    }

    #[test]
    fn a_terminal_gets_a_block_of_whole_lines() {
        let (first, lines) = block(&state(), 120, true);
        assert_eq!(lines, 5);
        assert!(first.starts_with("\x1b[K\nrunning (0m01.0s)"));
        let bar = "==================\x1b[2m--------------------\x1b[22m";
        assert!(
            first.contains(&format!("[{}] 3 VUs", bar.replacen("==\x1b", "=>\x1b", 1))),
            "{first}"
        );
        assert_eq!(first.matches('\n').count(), lines);
        assert_eq!(block(&state(), 40, true).1, lines);
    }
}
