//! Text in markup: HTML, SVG and XML, between tags or in attributes.
//!
//! Must not know elements. Invariant: text cannot break out of its place, and any text is well-formed.

/// Escapes text for markup.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(text, &mut out);
    out
}

/// Appends text escaped for markup. Characters that XML 1.0 does not allow become U+FFFD.
pub fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Unescaped, attributes would turn them into spaces.
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
