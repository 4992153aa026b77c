//! Texts within markup: HTML, SVG and XML, between tags or in attributes.
//!
//! Must not know elements. Invariant: no text leaves its place, and any text is well-formed.

/// A text as markup has it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(text, &mut out);
    out
}

/// Writes a text as markup has it. Characters that XML 1.0 does not have are told by U+FFFD.
pub fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // As they are, attributes would make spaces of them.
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        assert_eq!(
            escaped("</script><img onerror='a' x=\"b\">&\u{0}\u{ffff}\r\n\té"),
            "&lt;/script&gt;&lt;img onerror=&#39;a&#39; x=&quot;b&quot;&gt;&amp;\u{fffd}\u{fffd}&#13;&#10;&#9;é"
        );
    }
}
