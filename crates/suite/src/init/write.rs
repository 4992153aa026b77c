//! Lines of YAML with comments.
//!
//! Must not know suites. Invariant: no input text can end a comment, a quote or a line.

/// A file that is being written.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
}

impl Text {
    /// A literal line; `depth` counts steps of two spaces.
    pub(super) fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// What people read.
    pub(super) fn comment(&mut self, depth: usize, words: &str) {
        let words: String = words
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let line = format!("# {words}");
        self.line(depth, line.trim_end());
    }

    /// A key with a text of anybody's.
    pub(super) fn setting(&mut self, depth: usize, key: &str, value: &str) {
        self.line(depth, &format!("{key}: {}", quoted(value)));
    }

    /// A key with a number or a word of ours.
    pub(super) fn setting_plain(&mut self, depth: usize, key: &str, value: &str) {
        self.line(depth, &format!("{key}: {value}"));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A text in quotes, with nothing in it that a suite would fill in. JSON's quotes are YAML's.
pub(super) fn quoted(text: &str) -> String {
    quoted_with_names(&text.replace("${", "$${"))
}

/// A text in quotes whose names (`${axis.vus}`) are filled in.
pub(super) fn quoted_with_names(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
