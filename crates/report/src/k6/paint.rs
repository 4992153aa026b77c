//! The colours of k6's summary and progress.
//!
//! Must not know the coloured text. Invariant: without colour the text is unchanged.

/// Whether escape sequences are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) colour: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn good_or_bad(self, good: bool, text: &str) -> String {
        if good {
            self.green(text)
        } else {
            self.red(text)
        }
    }

    pub(super) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    pub(super) fn white(self, text: &str) -> String {
        self.with("37", text)
    }

    pub(super) fn faint_cyan(self, text: &str) -> String {
        self.with("2;36", text)
    }

    pub(super) fn faint_white(self, text: &str) -> String {
        self.with("2;37", text)
    }

    /// Faint as progress bars are: ended by its own code.
    pub(super) fn faint(self, text: &str) -> String {
        if self.colour {
            format!("\x1b[2m{text}\x1b[22m")
        } else {
            text.to_owned()
        }
    }
}
