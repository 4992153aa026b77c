//! Log lines from a template, one per request or message.
//!
//! It must not know who writes them. Invariant: a line is written in one piece, so that readers never see half
//! of one, and several processes may share the file.

use crate::testbed::calendar;
use crate::testbed::plan::LogPlan;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// What a line may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LinePiece {
    Text(String),
    Time,
    UnixMs,
    Component,
    Replica,
    Method,
    Path,
    Status,
    ElapsedMs,
    Count,
}

/// The names of pieces between braces.
const PIECES: [(&str, LinePiece); 9] = [
    ("time", LinePiece::Time),
    ("unix_ms", LinePiece::UnixMs),
    ("component", LinePiece::Component),
    ("replica", LinePiece::Replica),
    ("method", LinePiece::Method),
    ("path", LinePiece::Path),
    ("status", LinePiece::Status),
    ("elapsed_ms", LinePiece::ElapsedMs),
    ("count", LinePiece::Count),
];

/// A template that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineTemplate(Vec<LinePiece>);

impl LineTemplate {
    /// Reads a template: text with `{name}` in it.
    ///
    /// # Errors
    /// Names what is unknown and lists what there is.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains(['\n', '\r']) {
            return Err("it holds a line end; write one line".to_owned());
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) = behind
                .split_once('}')
                .ok_or_else(|| format!("{{ without }} in {text:?}; close it"))?;
            let found = PIECES.iter().find(|(known, _)| *known == name);
            let (_, piece) = found.ok_or_else(|| {
                let names = PIECES.map(|(name, _)| name).join(", ");
                format!("unknown {{{name}}}; write one of {names}")
            })?;
            pieces.push(LinePiece::Text(before.to_owned()));
            pieces.push(piece.clone());
            rest = after;
        }
        pieces.push(LinePiece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    fn render(&self, entry: &AccessLogEntry<'_>, who: (&str, u32), count: u64) -> String {
        let mut line = String::with_capacity(128);
        for piece in &self.0 {
            let written = match piece {
                LinePiece::Text(text) => line.write_str(text),
                LinePiece::Time => line.write_str(&calendar::rfc3339(entry.at)),
                LinePiece::UnixMs => write!(line, "{}", unix_ms(entry.at)),
                LinePiece::Component => line.write_str(who.0),
                LinePiece::Replica => write!(line, "{}", who.1),
                LinePiece::Method => line.write_str(entry.method),
                LinePiece::Path => line.write_str(entry.path),
                LinePiece::Status => write!(line, "{}", entry.status),
                LinePiece::ElapsedMs => write!(line, "{:.3}", entry.elapsed.as_secs_f64() * 1e3),
                LinePiece::Count => write!(line, "{count}"),
            };
            written.expect("writing to memory cannot fail");
        }
        line.push('\n');
        line
    }
}

fn unix_ms(at: SystemTime) -> u128 {
    at.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis()
}

/// What one line is about.
pub(crate) struct AccessLogEntry<'a> {
    pub(crate) at: SystemTime,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    pub(crate) elapsed: Duration,
}

/// An open log.
pub(super) struct Log {
    file: Mutex<(File, u64)>,
    template: LineTemplate,
    component: String,
    replica: u32,
}

impl Log {
    /// Opens the file for lines behind those it has.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn open(plan: &LogPlan, component: &str, replica: u32) -> io::Result<Self> {
        let told = |error: io::Error| {
            let text = format!("log file {}: {error}; check the path", plan.file.display());
            io::Error::new(error.kind(), text)
        };
        let open = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&plan.file);
        Ok(Self {
            file: Mutex::new((open.map_err(told)?, 0)),
            template: LineTemplate::parse(&plan.template).map_err(io::Error::other)?,
            component: component.to_owned(),
            replica,
        })
    }

    /// Writes a line; one that cannot be written is gone, as a full disk must not stop the service.
    pub(super) fn write(&self, entry: &AccessLogEntry<'_>) {
        let mut file = self
            .file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.1 += 1;
        let count = file.1;
        let line = self
            .template
            .render(entry, (&self.component, self.replica), count);
        drop(file.0.write_all(line.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_filled_in() {
        let template = "{time} {unix_ms} {component}/{replica} {method} {path} {status} {elapsed_ms} #{count}.";
        let template = LineTemplate::parse(template).unwrap();
        let entry = AccessLogEntry {
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_500),
            method: "GET",
            path: "/a",
            status: 200,
            elapsed: Duration::from_micros(1_250),
        };
        let line = template.render(&entry, ("api", 3), 7);
        assert_eq!(
            line,
            "1970-01-01T00:00:01.500Z 1500 api/3 GET /a 200 1.250 #7.\n"
        );
    }

    #[test]
    fn mistakes_are_told_with_a_way_out() {
        for (text, part) in [
            ("{what}", "write one of"),
            ("a {", "close it"),
            ("a\nb", "one line"),
        ] {
            let error = LineTemplate::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
