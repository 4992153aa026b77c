//! The log of a container: its output since its start, and before its last restart.
//!
//! Must not know who reads it. Invariant: timestamps of lines only increase.

use crate::time;

/// A log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// Instants in nanoseconds since 1970, and lines.
    pub(super) lines: Vec<(u64, String)>,
    pub(super) previous: Option<Vec<(u64, String)>>,
    /// Which start of the container it is; a reader of an older one has come to its end.
    pub(super) start: u32,
}

impl Log {
    pub(super) fn print(&mut self, at_unix_ns: u64, line: &str) {
        self.lines.push((at_unix_ns, line.to_owned()));
    }

    pub(super) fn restart(&mut self) {
        self.previous = Some(std::mem::take(&mut self.lines));
        self.start += 1;
    }

    /// The container ended for good.
    pub(super) fn end(&mut self) {
        self.start += 1;
    }
}

/// A line as the server sends it, its stamp with nine digits as kubelets write it.
pub(super) fn shown(line: &(u64, String), has_stamp: bool) -> String {
    let (at, text) = line;
    if !has_stamp {
        return format!("{text}\n");
    }
    let seconds = time::format(*at);
    format!(
        "{}.{:09}Z {text}\n",
        seconds.trim_end_matches('Z'),
        at % 1_000_000_000
    )
}
