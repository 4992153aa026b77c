//! Batches of samples as text, through the caller's row formatter.
//!
//! Must not know files. Invariant: the buffer holds at most one batch and is reused.

use loadline_model::sample::Sample;

/// Makes rows of samples.
pub(super) struct Rows<F> {
    format: F,
    text: String,
}

impl<F: FnMut(&Sample, &mut String)> Rows<F> {
    pub(super) fn new(format: F) -> Self {
        Rows {
            format,
            text: String::new(),
        }
    }

    /// The rows of a batch, one after the other as the formatter made them.
    pub(super) fn of(&mut self, batch: &[Sample]) -> &[u8] {
        self.text.clear();
        for sample in batch {
            (self.format)(sample, &mut self.text);
        }
        self.text.as_bytes()
    }
}
