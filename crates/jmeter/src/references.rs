//! Properties that are references, as XStream writes a repeated value.
//!
//! Must not know the meaning of properties. Invariant: following references terminates for any plan, and their
//! targets are small: a short text written before.

use roxmltree::Node;

/// The message for an unresolvable one.
pub(crate) const LEADS_NOWHERE: &str =
    "its reference leads to no text before it: write the text in its place";

/// Maximum bytes of a referenced property.
const SIZE_MAX: usize = 4_096;

/// The property referenced by a property, or itself; `None`: its reference does not lead to an earlier text.
pub(crate) fn resolved<'a, 'input>(property: Node<'a, 'input>) -> Option<Node<'a, 'input>> {
    let Some(path) = property.attribute("reference") else {
        return Some(property);
    };
    let meant = at(property, path)?;
    let is_text = meant.children().all(|child| !child.is_element());
    let is_before = meant.range().start < property.range().start;
    let is_fit = meant.is_element() && is_text && is_before && meant.range().len() <= SIZE_MAX;
    (is_fit && !meant.has_attribute("reference")).then_some(meant)
}

/// The node at a path: `../stringProp[2]` from here, `/a/b` from the root.
fn at<'a, 'input>(from: Node<'a, 'input>, path: &str) -> Option<Node<'a, 'input>> {
    let (start, steps) = match path.strip_prefix('/') {
        Some(steps) => (from.document().root(), steps),
        None => (from, path),
    };
    steps.split('/').try_fold(start, |node, step| match step {
        ".." => node.parent(),
        "." => Some(node),
        step => child(node, step),
    })
}

/// The child for a step: `name`, or `name[2]`.
fn child<'a, 'input>(node: Node<'a, 'input>, step: &str) -> Option<Node<'a, 'input>> {
    let (name, place) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
        Some((name, place)) => (name, place.parse::<usize>().ok()?),
        None => (step, 1),
    };
    let mut named = node
        .children()
        .filter(|child| child.is_element() && child.tag_name().name() == name);
    named.nth(place.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn references_lead_to_what_was_written_before() {
        let text = "<a><b><s name='1'>x</s><s name='2'>y</s></b><b><s reference='../../b/s[2]'/>\
                    <s reference='/a/b/s'/><s reference='../s'/><s reference='../s[9]'/>\
                    <s reference='../s[5]'/><s reference='../../../../..'/></b></a>";
        let document = Document::parse(text).expect("XML");
        let second = document.root_element().last_element_child().expect("b");
        let led = second.children().map(|node| resolved(node)?.text());
        let led: Vec<Option<&str>> = led.collect();
        assert_eq!(led, [Some("y"), Some("x"), None, None, None, None]);
    }
}
