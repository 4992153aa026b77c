//! Lines and indentation of XML, as Saxon writes it.
//!
//! Must not know how nodes are written. Invariant: text keeps its place; only blanks between tags change.

use roxmltree::Node;

/// Spaces of a level.
const LEVEL: usize = 3;

/// Where the writer is in its line.
#[derive(Default)]
pub(super) struct Lines {
    /// Whether lines are indented.
    is_on: bool,
    level: usize,
    is_after_start: bool,
    is_after_end: bool,
    is_same_line: bool,
    /// Blanks that count only if no tag follows that begins a line.
    blanks: String,
}

impl Lines {
    pub(super) fn indented() -> Lines {
        Lines {
            is_on: true,
            ..Lines::default()
        }
    }

    /// Prepares the place of a node; `false`: it is not to be written now.
    pub(super) fn begin(&mut self, node: Node<'_, '_>, is_top: bool, out: &mut String) -> bool {
        if !self.is_on {
            return true;
        }
        if node.is_text() {
            let text = node.text().unwrap_or_default();
            if !is_top && text.bytes().all(|one| one.is_ascii_whitespace()) {
                text.clone_into(&mut self.blanks);
                return false;
            }
            self.keep(out);
            self.is_same_line &= !text.contains('\n');
            (self.is_after_start, self.is_after_end) = (false, false);
        } else if node.is_element() {
            self.line_if(self.is_after_start || self.is_after_end, out);
            self.level += 1;
            self.is_same_line = true;
            (self.is_after_start, self.is_after_end) = (true, false);
        } else {
            self.line_if(self.is_after_end, out);
        }
        true
    }

    /// Prepares the place of an element's end.
    pub(super) fn end(&mut self, out: &mut String) {
        if !self.is_on {
            return;
        }
        self.level = self.level.saturating_sub(1);
        self.line_if(self.is_after_end && !self.is_same_line, out);
        self.is_same_line = false;
        (self.is_after_start, self.is_after_end) = (false, true);
    }

    fn line_if(&mut self, is_new: bool, out: &mut String) {
        if !is_new {
            self.keep(out);
            return;
        }
        self.blanks.clear();
        out.push('\n');
        out.push_str(&" ".repeat(self.level * LEVEL));
    }

    fn keep(&mut self, out: &mut String) {
        out.push_str(&self.blanks);
        self.blanks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Node as AnyNode;
    use super::super::write_indented;

    /// Recorded with Saxon, as JMeter 5.6.3 uses it.
    #[test]
    fn fragments_are_indented() {
        let cases = [
            (
                "<item id='1'><name>A</name><price>10</price></item>",
                "<item id=\"1\">\n   <name>A</name>\n   <price>10</price>\n</item>",
            ),
            (
                "<item>\n <name>A</name>\n <price>10</price>\n</item>",
                "<item>\n   <name>A</name>\n   <price>10</price>\n</item>",
            ),
            (
                "<item><b/>text<c>x</c></item>",
                "<item>\n   <b/>text<c>x</c>\n</item>",
            ),
            (
                "<item><a><b><c>1</c></b></a><d/></item>",
                "<item>\n   <a>\n      <b>\n         <c>1</c>\n      </b>\n   </a>\n   <d/>\n</item>",
            ),
            (
                "<item a='1' b='&quot;&lt;'>x &amp; y<!-- c --></item>",
                "<item a=\"1\" b=\"&#34;&lt;\">x &amp; y<!-- c --></item>",
            ),
            (
                "<item><name> </name><e></e></item>",
                "<item>\n   <name> </name>\n   <e/>\n</item>",
            ),
            (
                "<item>\n  <a><b>1</b><c>2</c></a></item>",
                "<item>\n   <a>\n      <b>1</b>\n      <c>2</c>\n   </a>\n</item>",
            ),
        ];
        for (source, told) in cases {
            let tree = roxmltree::Document::parse(source).expect("it is XML");
            let written = write_indented(AnyNode::Tree(tree.root_element()));
            assert_eq!(written, told, "{source}");
        }
    }
}
