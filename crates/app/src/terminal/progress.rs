//! Live progress: a block redrawn each second, or a plain line from time to time.
//!
//! Must not know the content of the lines. Invariant: a hidden cursor is shown again, whatever ends the run.

use std::io::{IsTerminal, Write};

use loadline_model::{RunEvent, TestPlan};
use loadline_report::Style;
use loadline_report::progress::{self, Progress};

/// Rows (seconds) between two plain lines.
const LINE_EVERY: u64 = 5;

/// How progress is shown on one stream.
pub(crate) struct Live<W: Write> {
    out: W,
    seen: Progress,
    manner: Manner,
}

enum Manner {
    Silent,
    /// Number of lines of the block on the screen, which the next block replaces.
    Block {
        style: Style,
        lines: usize,
    },
    Lines {
        rows: u64,
    },
}

impl Live<std::io::Stderr> {
    /// Progress on standard error: a block on a terminal, lines in a pipe, nothing if quiet.
    pub(crate) fn on_stderr(plan: &TestPlan, quiet: bool, style: Style) -> Self {
        let out = std::io::stderr();
        let manner = match (quiet, out.is_terminal()) {
            (true, _) => Manner::Silent,
            (false, true) => Manner::Block { style, lines: 0 },
            (false, false) => Manner::Lines { rows: 0 },
        };
        Live {
            out,
            seen: Progress::new(plan),
            manner,
        }
    }
}

impl<W: Write> Live<W> {
    /// Shows the changes of an event. A stream error ends the progress, not the run.
    pub(crate) fn show(&mut self, event: &RunEvent) {
        let RunEvent::Second { row, .. } = event else {
            return;
        };
        self.seen.add(row);
        let text = match &mut self.manner {
            Manner::Silent => return,
            Manner::Block { style, lines } => block(&self.seen, *style, lines),
            Manner::Lines { rows } => {
                *rows += 1;
                if *rows % LINE_EVERY != 0 {
                    return;
                }
                progress::line(&self.seen) + "\n"
            }
        };
        if self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush())
            .is_err()
        {
            self.manner = Manner::Silent;
        }
    }

    /// Removes the block from the screen, so that the report replaces it.
    pub(crate) fn clear(&mut self) {
        if let Manner::Block { lines, .. } = &mut self.manner
            && *lines > 0
        {
            let text = format!("{}\x1b[J\x1b[?25h", up(*lines));
            *lines = 0;
            let _ = self
                .out
                .write_all(text.as_bytes())
                .and_then(|()| self.out.flush());
        }
    }
}

impl<W: Write> Drop for Live<W> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The block with the control sequences that replace the previous one: cursor hidden, moved up, each line
/// cleared to its end.
fn block(seen: &Progress, style: Style, lines: &mut usize) -> String {
    let text = progress::block(seen, &style);
    let moved = if *lines == 0 {
        "\x1b[?25l".to_owned()
    } else {
        up(*lines)
    };
    *lines = text.lines().count();
    let cleared: String = text.lines().map(|line| format!("{line}\x1b[K\n")).collect();
    format!("{moved}{cleared}\x1b[J")
}

fn up(lines: usize) -> String {
    format!("\r\x1b[{lines}A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use loadline_model::Snapshot;
    use loadline_model::result::Row;

    fn second(number: u64) -> RunEvent {
        let row = Row {
            at_ns: number * 1_000_000_000,
            span_ns: 1_000_000_000,
            ..Row::default()
        };
        RunEvent::Second {
            row,
            delta: Arc::new(Snapshot::default()),
        }
    }

    fn shown(manner: Manner, seconds: u64) -> String {
        let words = ["loadline", "bench", "-z", "20s", "h"].map(str::to_owned);
        let plan = crate::plan::tests_support::plan_of(&words);
        let mut out = Vec::new();
        let mut live = Live {
            out: &mut out,
            seen: Progress::new(&plan),
            manner,
        };
        (0..seconds).for_each(|number| live.show(&second(number)));
        drop(live);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_pipe_gets_a_line_every_five_seconds() {
        assert_eq!(shown(Manner::Lines { rows: 0 }, 12).lines().count(), 2);
    }

    #[test]
    fn a_terminal_gets_its_cursor_back() {
        let text = shown(
            Manner::Block {
                style: Style::default(),
                lines: 0,
            },
            3,
        );
        assert_eq!(
            (
                text.matches("\x1b[?25l").count(),
                text.matches("\x1b[?25h").count()
            ),
            (1, 1)
        );
        assert!(text.ends_with("\x1b[?25h"), "{text:?}");
    }

    #[test]
    fn quiet_is_silent() {
        assert_eq!(shown(Manner::Silent, 9), "");
    }
}
