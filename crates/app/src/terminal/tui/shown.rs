//! The content of the screen, and its styles.
//!
//! Must not know how it is drawn. Invariant: without colours no information is lost.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::result::RunResult;
use loadline_model::{Nanos, TestPlan};
use ratatui::style::{Color, Modifier, Style};

use crate::web::state::Phase;

/// The content of the screen.
pub(super) struct Shown {
    pub(super) plan: Arc<TestPlan>,
    pub(super) phase: Phase,
    /// The result so far; `None` before the start.
    pub(super) result: Option<Arc<RunResult>>,
    pub(super) is_stopping: bool,
    pub(super) is_paused: bool,
    pub(super) can_pause: bool,
    /// Number of updates for which the message is shown that the run cannot be paused.
    pub(super) says_no_pause: u8,
    pub(super) shows_help: bool,
    pub(super) body: Body,
    pub(super) look: Look,
}

/// What is shown above or beside the panels, or on a narrow screen instead of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Body {
    /// Rates and times over the time of the run.
    #[default]
    Charts,
    /// A histogram of times.
    Distribution,
    /// Requests by name.
    Names,
}

/// Styles; without colours if they are disabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    color: bool,
}

impl Look {
    pub(super) fn new(color: bool) -> Look {
        Look { color }
    }

    fn colored(self, color: Color) -> Style {
        match self.color {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn faint(self) -> Style {
        self.colored(Color::DarkGray)
    }

    pub(super) fn good(self) -> Style {
        self.colored(Color::Green)
    }

    pub(super) fn bad(self) -> Style {
        self.colored(Color::Red)
    }

    pub(super) fn caution(self) -> Style {
        self.colored(Color::Yellow)
    }

    pub(super) fn accent(self) -> Style {
        self.colored(Color::Cyan)
    }

    pub(super) fn second(self) -> Style {
        self.colored(Color::Magenta)
    }
}

impl Shown {
    pub(super) fn new(
        plan: &Arc<TestPlan>,
        color: bool,
        can_pause: bool,
        is_paused: bool,
    ) -> Shown {
        Shown {
            plan: Arc::clone(plan),
            phase: Phase::Preparing,
            result: None,
            is_stopping: false,
            is_paused,
            can_pause,
            says_no_pause: 0,
            shows_help: false,
            body: Body::default(),
            look: Look::new(color),
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        let ns = self
            .result
            .as_ref()
            .map_or(0, |result| result.totals.elapsed_ns);
        Nanos(ns).into()
    }

    /// Whether the run can be paused now, or waits for its start.
    pub(super) fn may_pause(&self) -> bool {
        let waits = matches!(self.phase, Phase::Preparing | Phase::Waiting) && self.is_paused;
        self.can_pause || waits
    }

    /// The completed share; `None` if only a stop ends the run.
    pub(super) fn share(&self) -> Option<f64> {
        let done = self
            .result
            .as_ref()
            .map_or(0, |result| result.totals.seen.counts.outcomes().done());
        let is_script = self.plan.sends_several();
        let by_count = self.plan.planned_iterations().filter(|_| !is_script);
        let by_count = by_count.map(|planned| done as f64 / planned.max(1) as f64);
        let by_time = self.plan.duration().filter(|time| !time.is_zero());
        let by_time = by_time.map(|time| self.elapsed().as_secs_f64() / time.as_secs_f64());
        let share = match (by_count, by_time) {
            (Some(count), Some(time)) => count.max(time),
            (count, time) => count.or(time)?,
        };
        Some(share.clamp(0.0, 1.0))
    }
}
