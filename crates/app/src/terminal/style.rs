//! Colour and width, derived from the terminal and the environment.
//!
//! Must not know what is shown. Invariant: `--no-color` beats `NO_COLOR` beats `CLICOLOR_FORCE` beats the
//! terminal.

use std::io::IsTerminal;

use loadline_report::Style;

use crate::Env;

/// Width in columns if it is unknown.
const WIDTH: usize = 100;
/// Maximum width of reports: longer lines are hard to read.
const WIDTH_MAX: usize = 140;

/// The style of text on standard output.
pub(crate) fn of_stdout(no_color: bool, env: &Env) -> Style {
    style(no_color, env, std::io::stdout().is_terminal())
}

/// The style of text on standard error.
pub(crate) fn of_stderr(no_color: bool, env: &Env) -> Style {
    style(no_color, env, std::io::stderr().is_terminal())
}

fn style(no_color: bool, env: &Env, is_terminal: bool) -> Style {
    let color = !no_color && wants_color(env, is_terminal);
    let known = if is_terminal { columns(env) } else { None };
    Style {
        color,
        width: known.unwrap_or(WIDTH).min(WIDTH_MAX),
    }
}

/// The terminal's width in columns; `None` if there is no terminal.
pub(crate) fn columns(env: &Env) -> Option<usize> {
    let given = env.get("COLUMNS").and_then(|text| text.parse().ok());
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    given.or_else(measured).filter(|columns| *columns > 0)
}

/// See <https://no-color.org> and <https://bixense.com/clicolors>.
fn wants_color(env: &Env, is_terminal: bool) -> bool {
    if env.get("NO_COLOR").is_some() {
        return false;
    }
    if env.get("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    is_terminal && env.get("TERM") != Some("dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_on_colour() {
        for (no_color, env, is_terminal, color) in [
            (false, Env::default(), true, true),
            (false, Env::default(), false, false),
            (true, Env::from([("CLICOLOR_FORCE", "1")]), true, false),
            (
                false,
                Env::from([("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]),
                true,
                false,
            ),
            (false, Env::from([("NO_COLOR", "")]), true, true),
            (false, Env::from([("CLICOLOR_FORCE", "1")]), false, true),
            (false, Env::from([("TERM", "dumb")]), true, false),
        ] {
            assert_eq!(style(no_color, &env, is_terminal).color, color, "{env:?}");
        }
    }

    #[test]
    fn a_pipe_has_the_default_width() {
        assert_eq!(
            style(false, &Env::from([("COLUMNS", "40")]), false).width,
            WIDTH
        );
        assert_eq!(
            style(false, &Env::from([("COLUMNS", "72")]), true).width,
            72
        );
        assert_eq!(
            style(false, &Env::from([("COLUMNS", "500")]), true).width,
            WIDTH_MAX
        );
    }
}
