//! The whole screen: header, charts, panels, keys.
//!
//! Must not know terminals or clocks. Invariant: any size can be drawn; if it is too small, a message says so.

use std::time::Duration;

use loadline_model::TestPlan;
use loadline_report::describe;
use loadline_report::k6::by_tag::shortened;
use loadline_report::units::{count, planned};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::symbols::line;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, LineGauge, Paragraph};

use super::shown::{Body, Shown};
use super::{lines, panels, tables};
use crate::web::state::Phase;

/// Below this size nothing is readable.
const WIDTH_MIN: u16 = 50;
const HEIGHT_MIN: u16 = 14;
/// From this width on, panels are beside the charts.
const WIDE: u16 = 104;
const PANELS: u16 = 46;

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
        // A table uses all available rows.
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
    let result = shown.result.as_deref();
    let command: &[String] = result.map_or(&[], |result| &result.environment.command);
    let name = match &shown.plan.script {
        Some(script) => script.script.clone(),
        None => describe::title(&shown.plan, command),
    };
    const OURS: &str = concat!("loadline ", env!("CARGO_PKG_VERSION"), "  ");
    let name = shortened(&name, usize::from(area.width).saturating_sub(OURS.len()));
    let head = Line::from(vec![
        Span::styled(OURS, look.accent()),
        Span::styled(name, look.strong()),
    ]);
    frame.render_widget(head, title);
    let text = load_within(&shown.plan, usize::from(area.width));
    frame.render_widget(Line::styled(text, look.faint()), load);
    let elapsed = planned(Duration::from_secs(shown.elapsed().as_secs()));
    let plan = &shown.plan;
    let of = match plan.duration() {
        None => String::new(),
        // Iterations end the run, at this time at the latest.
        Some(time) if plan.time_filled() < Some(time) => format!(" / at most {}", planned(time)),
        Some(time) => format!(" / {}", planned(time)),
    };
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
    frame.render_widget(panels::state(shown, area.width), state);
}

/// The load in one line; of several scenarios that have no room only their number, as panels have the rest.
fn load_within(plan: &TestPlan, width: usize) -> String {
    let text = describe::load(plan);
    let scenarios = plan.scenarios.len();
    match text.chars().count() > width && scenarios > 1 {
        true => format!(
            "{scenarios} scenarios, up to {} VUs",
            count(plan.max_vus().into())
        ),
        false => shortened(&text, width),
    }
}

fn phase_word(shown: &Shown) -> &'static str {
    match shown.phase {
        _ if shown.is_stopping => "stopping: requests are interrupted",
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
        let text = "only externally controlled scenarios can be paused";
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
        (true, true) => Some(("p", " resume   ")),
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
    "q, Ctrl-C   stop: requests are interrupted;",
    "            again to exit at once",
    "p, space    pause or resume (externally controlled",
    "            scenarios, --paused)",
    "d           distribution of times, or charts again",
    "n           requests by name, or charts again",
    "?           show or hide this",
    "Esc         hide this, or back to the charts",
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
