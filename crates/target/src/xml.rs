//! The little XML that the server needs: escaping, and finding the first element with a name.
//!
//! It must not know SOAP. Invariant: documents with a DTD are refused, so entities cannot expand.

use roxmltree::{Document, Node, ParsingOptions};

/// Parses a document without a DTD and with at most 10,000 nodes.
///
/// # Errors
/// What is wrong and where, in the parser's words.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, String> {
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: 10_000,
        ..Default::default()
    };
    Document::parse_with_options(text, options).map_err(|e| e.to_string())
}

/// The text of the first element with that local name, in document order.
pub(crate) fn first_text(document: &Document<'_>, name: &str) -> Option<String> {
    document
        .descendants()
        .find(|node| node.tag_name().name() == name)
        .map(|node| text_of(&node))
}

/// All text below a node.
pub(crate) fn text_of(node: &Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|n| n.text())
        .collect()
}

/// Escapes text for element content and attribute values.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_local_name_and_joins_text() {
        let document = parse("<a:x xmlns:a='u'><a:y>1<b>2</b></a:y><y>3</y></a:x>").unwrap();
        assert_eq!(first_text(&document, "y").as_deref(), Some("12"));
        assert_eq!(first_text(&document, "z"), None);
    }

    #[test]
    fn entity_bombs_are_refused() {
        assert!(parse("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>").is_err());
        let wide = format!("<a>{}</a>", "<b/>".repeat(20_000));
        assert!(parse(&wide).is_err());
    }

    #[test]
    fn escaping_survives_a_parse() {
        let raw = "a<b>&\"c'd";
        let document = format!("<x y=\"{0}\">{0}</x>", escape(raw));
        let parsed = parse(&document).unwrap();
        assert_eq!(parsed.root_element().text(), Some(raw));
        assert_eq!(parsed.root_element().attribute("y"), Some(raw));
    }
}
