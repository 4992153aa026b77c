//! Texts with placeholders, and the files of lines that placeholders name.
//!
//! Must not know where a text is used. Invariant: each file of lines is read once.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_model::template::{Lines, Template};

use crate::Files;

/// Parses texts with placeholders.
pub(super) struct Templates<'a> {
    files: &'a Files,
    /// Whether texts are sent unchanged.
    literal: bool,
    lines: BTreeMap<String, Lines>,
}

impl<'a> Templates<'a> {
    pub(super) fn new(files: &'a Files, literal: bool) -> Self {
        Templates {
            files,
            literal,
            lines: BTreeMap::new(),
        }
    }

    /// The text's template; `place` names the option or file in messages.
    pub(super) fn parse(&mut self, place: &str, text: &str) -> Result<Template, String> {
        if self.literal {
            return Ok(Template::literal(text));
        }
        let (files, known) = (self.files, &mut self.lines);
        let mut read = |name: &str| lines_of(files, known, name);
        Template::parse(text, &mut read)
            .map_err(|why| format!("{place}: {why}; --no-templates sends {{{{…}}}} as it is"))
    }
}

fn lines_of(
    files: &Files,
    known: &mut BTreeMap<String, Lines>,
    name: &str,
) -> Result<Lines, String> {
    if let Some(lines) = known.get(name) {
        return Ok(Arc::clone(lines));
    }
    let text = files.read_text(name).map_err(|error| error.to_string())?;
    let lines: Lines = Arc::new(text.lines().map(str::to_owned).collect());
    known.insert(name.to_owned(), Arc::clone(&lines));
    Ok(lines)
}
