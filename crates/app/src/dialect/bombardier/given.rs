//! The header lines of -H, merged as the tool's clients merge them.
//!
//! Must not know which lines a client adds. Invariant: a name occurs once, with the last value.

use super::flags::Flags;
use crate::cli::values;
use crate::dialect::is_written_by_go;
use loadline_go::header::canonical;
use loadline_report::bombardier::Client;

/// The user's lines, in the order in which their names first occurred.
pub(super) struct GivenHeaders {
    lines: Vec<(String, String)>,
}

impl GivenHeaders {
    /// # Errors
    /// A line that cannot be sent.
    pub(super) fn merge(flags: &Flags) -> Result<GivenHeaders, String> {
        let mut given = GivenHeaders { lines: Vec::new() };
        for (name, value) in &flags.headers {
            values::header_name(name)?;
            values::header_value(value)?;
            // Go's client gets names as written, except for those that it looks up.
            let known = canonical(name);
            let spelled = match flags.client {
                Client::NetHttp1 if !matches!(&*known, "Host" | "User-Agent") => name.clone(),
                _ => known.clone(),
            };
            if known == "Host" || !is_written_by_go(&known) {
                given.set(spelled, value.trim_matches([' ', '\t']));
            }
        }
        Ok(given)
    }

    fn set(&mut self, name: String, value: &str) {
        match self.lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.lines.push((name, value.to_owned())),
        }
    }

    /// Adds a line unless there is one with the same name.
    pub(super) fn add(&mut self, name: &str, value: String) {
        if !self.lines.iter().any(|(known, _)| known == name) {
            self.lines.push((name.to_owned(), value));
        }
    }

    /// Removes a line.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.lines.iter().position(|(known, _)| known == name)?;
        Some(self.lines.remove(at).1)
    }

    /// Whether the user wants the connection to be closed.
    pub(super) fn closes(&self) -> bool {
        let is_close = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("Connection") && value.eq_ignore_ascii_case("close")
        };
        self.lines.iter().any(is_close)
    }

    /// The lines in their original order.
    pub(super) fn in_order(self) -> impl Iterator<Item = (String, String)> {
        self.lines.into_iter()
    }

    /// The lines sorted by name.
    pub(super) fn by_name(mut self) -> impl Iterator<Item = (String, String)> {
        self.lines.sort();
        self.lines.into_iter()
    }
}
