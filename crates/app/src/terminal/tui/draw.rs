//! The screen as a whole: head, charts, panels, keys.
//!
//! Must not know terminals or clocks. Invariant: any size is drawn, the smallest with a word on it.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::result::RunResult;
use loadline_model::{Nanos, TestPlan};
use loadline_report::describe;
use loadline_report::units::planned;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::line;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, LineGauge, Paragraph};

use super::{lines, panels, tables};
use crate::web::state::Phase;

/// Below this nothing can be read.
const WIDTH_MIN: u16 = 50;
const HEIGHT_MIN: u16 = 14;
/// From this on panels stand beside the charts.
const WIDE: u16 = 104;
const PANELS: u16 = 46;

/// What is shown.
pub(super) struct Shown {
    pub(super) plan: Arc<TestPlan>,
    pub(super) phase: Phase,
    /// The result that it would be now; `None` before the start.
    pub(super) result: Option<Arc<RunResult>>,
    pub(super) is_stopping: bool,
    pub(super) is_paused: bool,
    pub(super) can_pause: bool,
    /// News to come until it is forgotten that somebody wanted to pause what cannot be paused.
    pub(super) says_no_pause: u8,
    pub(super) shows_help: bool,
    pub(super) body: Body,
    pub(super) look: Look,
}

/// What is shown above or beside the panels, or on a narrow screen in their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Body {
    /// Rates and times over the time of the run.
    #[default]
    Charts,
    /// How many requests took how long.
    Distribution,
    /// Requests by name.
    Names,
}

/// Styles, without a colour where none is wanted.
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

    /// The share that is done; `None` where only a stop ends the run.
    fn share(&self) -> Option<f64> {
        let done = self.result.as_ref().map_or(0, |result| {
            let counts = &result.totals.seen.counts;
            counts.completed + counts.failed_total()
        });
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

/// Draws the whole screen.
pub(super) fn draw(frame: &mut Frame<'_>, shown: &Shown) {
    let area = frame.area();
    if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
        let text = format!("The view needs {WIDTH_MIN} × {HEIGHT_MIN}; q stops the run");
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(4),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_head(frame, head, shown);
    if area.width >= WIDE {
        let [body, side] =
            Layout::horizontal([Constraint::Min(1), Constraint::Length(PANELS)]).areas(body);
        draw_body(frame, body, shown);
        panels::draw(frame, side, shown);
    } else if shown.body == Body::Charts {
        let [body, below] =
            Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(body);
        draw_body(frame, body, shown);
        panels::draw(frame, below, shown);
    } else {
        // A table wants all rows that there are.
        draw_body(frame, body, shown);
    }
    draw_foot(frame, foot, shown);
    if shown.shows_help {
        draw_help(frame, area, shown);
    }
}

fn draw_body(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    match shown.body {
        Body::Charts => lines::draw(frame, area, shown),
        Body::Distribution => tables::distribution(frame, area, shown),
        Body::Names => tables::names(frame, area, shown),
    }
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let look = shown.look;
    let [title, load, gauge, state] = Layout::vertical([Constraint::Length(1); 4]).areas(area);
    let name = match &shown.plan.script {
        Some(script) => script.script.clone(),
        None => describe::requests(&shown.plan),
    };
    let head = Line::from(vec![
        Span::styled(
            concat!("loadline ", env!("CARGO_PKG_VERSION"), "  "),
            look.accent(),
        ),
        Span::styled(name, look.strong()),
    ]);
    frame.render_widget(head, title);
    frame.render_widget(
        Line::styled(describe::load(&shown.plan), look.faint()),
        load,
    );
    let elapsed = planned(Duration::from_secs(shown.elapsed().as_secs()));
    let of = shown
        .plan
        .duration()
        .map_or_else(String::new, |time| format!(" / {}", planned(time)));
    let label = format!("{elapsed}{of}  {}", phase_word(shown));
    match shown.share() {
        None => frame.render_widget(Line::from(label), gauge),
        Some(share) => {
            let label = format!("{label}  {:3.0} %", share * 100.0);
            let style = if shown.is_stopping {
                look.caution()
            } else {
                look.accent()
            };
            let bar = LineGauge::default()
                .ratio(share)
                .label(label)
                .filled_symbol(line::THICK_HORIZONTAL)
                .filled_style(style)
                .unfilled_symbol(line::HORIZONTAL)
                .unfilled_style(look.faint());
            frame.render_widget(bar, gauge);
        }
    }
    frame.render_widget(panels::state(shown), state);
}

fn phase_word(shown: &Shown) -> &'static str {
    match shown.phase {
        _ if shown.is_stopping => "stopping: running requests may end",
        Phase::Preparing => "preparing",
        Phase::Waiting => "waiting (p starts the run)",
        Phase::Setup => "setup()",
        Phase::Running if shown.is_paused => "paused",
        Phase::Running => "running",
        Phase::Ended => "ended",
    }
}

fn draw_foot(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let look = shown.look;
    if shown.says_no_pause > 0 {
        let text =
            "only scenarios that are controlled from outside can be paused    q stop    ? help";
        frame.render_widget(Line::styled(text, look.caution()), area);
        return;
    }
    let stop = if shown.is_stopping {
        " stop at once   "
    } else {
        " stop   "
    };
    let pause = match (shown.may_pause(), shown.is_paused) {
        (false, _) => None,
        (true, true) => Some(("p", " go on   ")),
        (true, false) => Some(("p", " pause   ")),
    };
    let views = [
        ("d", " distribution   "),
        ("n", " names   "),
        ("?", " help"),
    ];
    let keys = [("q", stop)].into_iter().chain(pause).chain(views);
    let spans = keys.flat_map(|(key, what)| {
        [
            Span::styled(key, look.strong()),
            Span::styled(what, look.faint()),
        ]
    });
    frame.render_widget(Line::from(spans.collect::<Vec<_>>()), area);
}

const HELP: [&str; 10] = [
    "q, Ctrl-C   stop: running requests may end;",
    "            again to stop at once",
    "p, space    pause, or go on (scenarios that are",
    "            controlled from outside, --paused)",
    "d           distribution of times, or charts again",
    "n           requests by name, or charts again",
    "?           show or hide this",
    "Esc         hide this; charts",
    "",
    "The summary is printed when the run has ended.",
];

fn draw_help(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let (width, height) = (52.min(area.width), (HELP.len() as u16 + 2).min(area.height));
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::bordered()
        .title(" keys ")
        .title_alignment(Alignment::Center);
    let text: Vec<Line<'_>> = HELP.iter().map(|line| Line::from(*line)).collect();
    frame.render_widget(
        Paragraph::new(text).block(block.border_style(shown.look.accent())),
        place,
    );
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
