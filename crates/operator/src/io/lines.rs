//! Splits a log that arrives in pieces into lines.
//!
//! Must not know the content of lines. Invariant: however long a line is, only a bounded part of it is kept.

/// Maximum length of a line that is passed on; relevant lines are short.
const LINE_MAX: usize = 512;

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Adds bytes; calls with each complete line.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    if !self.is_too_long {
                        each(&String::from_utf8_lossy(&self.begun));
                    }
                    self.begun.clear();
                    self.is_too_long = false;
                }
                _ if self.begun.len() == LINE_MAX => self.is_too_long = true,
                byte => self.begun.push(*byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let text = format!("a\n\n{}\nü b\nrest", "x".repeat(LINE_MAX + 1));
        for size in [1, 2, 7, 1_000] {
            let mut lines = Lines::default();
            let mut all = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                lines.take(piece, |line| all.push(line.to_owned()));
            }
            assert_eq!(all, ["a", "", "ü b"], "{size}");
        }
    }
}
