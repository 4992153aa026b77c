//! Takes over the terminal and restores it.
//!
//! Must not know what is drawn. Invariant: whatever ends it (the end of the run, a panic of any thread), the
//! terminal is restored once, and before a panic is reported.

use std::io::{self, Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};

use super::draw::draw;
use super::shown::Shown;
use crate::terminal::print;

/// Whether the terminal is taken over.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal, taken over until this is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Those of the terminal, which is then restored.
    pub(super) fn take() -> io::Result<Screen> {
        HOOK.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                told(panic);
            }));
        });
        print::hold();
        TAKEN.store(true, Ordering::SeqCst);
        let taken = enable_raw_mode()
            .and_then(|()| execute!(stdout(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match taken {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Columns and rows, if known.
    pub(super) fn size(&self) -> Option<(u16, u16)> {
        size().ok()
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// Those of the terminal; also if it was restored in the meantime.
    pub(super) fn draw(&mut self, shown: &Shown) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::from(io::ErrorKind::NotConnected));
        }
        self.terminal.draw(|frame| draw(frame, shown)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal if it is taken over.
pub(in crate::terminal) fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A closed terminal needs no restoring.
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    print::release();
}
