//! Header lines, and the values of headers set by other options.
//!
//! Must not know argument syntax. Invariant: a line from the user replaces loadline's own line with the same
//! name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadline_model::request::HeaderTemplate;
use loadline_model::template::Template;

/// The User-Agent of loadline's own commands.
pub(crate) const USER_AGENT: &str = concat!("loadline/", env!("CARGO_PKG_VERSION"));

/// Header lines in order.
#[derive(Default)]
pub(crate) struct Headers {
    lines: Vec<HeaderTemplate>,
}

impl Headers {
    /// Appends a line.
    pub(crate) fn push(&mut self, name: &str, value: Template) {
        self.lines.push(HeaderTemplate {
            name: name.to_owned(),
            value,
        });
    }

    /// Appends a line with a fixed value.
    pub(crate) fn push_text(&mut self, name: &str, value: &str) {
        self.push(name, Template::literal(value));
    }

    /// Whether there is a line with this name, ignoring case.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.lines
            .iter()
            .any(|line| line.name.eq_ignore_ascii_case(name))
    }

    /// Appends a line with a fixed value unless there is one with the same name.
    pub(crate) fn push_default(&mut self, name: &str, value: &str) {
        if !self.contains(name) {
            self.push_text(name, value);
        }
    }

    /// The lines.
    pub(crate) fn into_lines(self) -> Vec<HeaderTemplate> {
        self.lines
    }
}

/// The value of an Authorization header for basic authentication (RFC 7617).
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}
