//! `HtmlExtractor`: texts and attributes selected by CSS selectors.
//!
//! Must not know samplers. Invariant: an invalid selector only sets the default, and leaves the other variables
//! unchanged.

use dom_query::{Document, Matcher, NodeRef};

use super::{Wanted, put_default, take_count, variable_looked_at};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

const CLASS: &str = "o.a.j.e.HtmlExtractor";

/// Elements on separate lines, or on a separate part of a line (table cells).
const BLOCKS: [&str; 46] = [
    "html",
    "head",
    "body",
    "frameset",
    "script",
    "noscript",
    "style",
    "meta",
    "link",
    "title",
    "frame",
    "noframes",
    "section",
    "nav",
    "aside",
    "hgroup",
    "header",
    "footer",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "pre",
    "div",
    "blockquote",
    "hr",
    "address",
    "figure",
    "form",
    "fieldset",
    "dl",
    "dt",
    "dd",
    "li",
    "table",
    "caption",
    "tr",
    "th",
    "td",
    "article",
    "main",
];

/// Elements whose white space is kept.
const VERBATIM: [&str; 3] = ["title", "pre", "textarea"];

/// Elements whose text is not visible.
const SILENT: [&str; 2] = ["script", "style"];

/// Extracts texts or attributes of the elements selected by a CSS selector.
#[derive(Clone, Debug, Default)]
pub struct HtmlExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The variable that it sets, and the prefix of further ones.
    pub variable: Text,
    /// The selector.
    pub selector: Compiled<Result<Matcher, String>>,
    /// The attribute; blank: the element's text.
    pub attribute: Text,
    /// Number of the match, from 1; 0 and blank: a random one; negative: all.
    pub match_number: Text,
    /// The value if nothing matches.
    pub default: Text,
    /// Whether an empty default is also set.
    pub default_empty: bool,
    /// Whether white space is kept, and missing attributes do not match: as in JODD, not Jsoup.
    pub is_jodd: bool,
}

/// Parses a selector of JODD or Jsoup.
///
/// # Errors
/// It is invalid, or contains an unsupported construct.
pub fn read_selector(text: &str, is_jodd: bool) -> Result<Matcher, String> {
    let written = with_quotes(text);
    let written = match is_jodd {
        true => written,
        false => with_places(&written),
    };
    Matcher::new(&with_values_in_quotes(&written))
        .map_err(|fault| format!("Could not parse query '{text}': {fault:?}"))
}

/// Whether all brackets of a selector are closed; otherwise it is invalid.
#[must_use]
pub fn are_brackets_closed(selector: &str) -> bool {
    let mut open = Vec::new();
    for one in selector.chars() {
        match one {
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' | ']' if open.pop() != Some(one) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// Quotes the text of `:contains(text)`: required in CSS, optional in JMeter's selectors.
fn with_quotes(selector: &str) -> String {
    const CONTAINS: &str = ":contains(";
    let mut out = String::new();
    let mut rest = selector;
    while let Some(at) = rest.find(CONTAINS) {
        let (before, behind) = rest.split_at(at + CONTAINS.len());
        out.push_str(before);
        rest = behind;
        let end = rest
            .find(')')
            .filter(|_| !rest.trim_start().starts_with(['"', '\'']));
        if let Some(end) = end {
            out.push_str(&format!("\"{}\"", rest[..end].replace('"', "\\\"")));
            rest = &rest[end..];
        }
    }
    out + rest
}

/// Converts `:eq(n)`, `:lt(n)` and `:gt(n)`, which count child elements from 0, to CSS.
fn with_places(selector: &str) -> String {
    let mut out = selector.to_owned();
    for (name, written) in [(":eq(", ""), (":lt(", "-n+"), (":gt(", "n+")] {
        let mut from = 0;
        while let Some(at) = out[from..].find(name).map(|at| from + at) {
            let inside = at + name.len();
            let number = out[inside..]
                .find(')')
                .map(|end| &out[inside..inside + end]);
            let number = number.and_then(|number| number.trim().parse::<u32>().ok());
            from = inside;
            let (Some(number), Some(end)) = (number, out[inside..].find(')')) else {
                continue;
            };
            let number = match name {
                ":eq(" => u64::from(number) + 1,
                ":lt(" => u64::from(number),
                _ => u64::from(number) + 2,
            };
            out.replace_range(at..=inside + end, &format!(":nth-child({written}{number})"));
        }
    }
    out
}

/// Whether Java reads a text as a URL of its own, as Jsoup asks for `abs:href`: the page's URL is not known to it.
fn is_absolute(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let known = ["http", "https", "ftp", "file", "mailto", "jar"];
    scheme.is_some_and(|scheme| known.iter().any(|one| one.eq_ignore_ascii_case(scheme)))
}

/// Quotes attribute values, as CSS requires except for identifiers: `a[href^=/x]`.
fn with_values_in_quotes(selector: &str) -> String {
    let mut out = String::with_capacity(selector.len() + 8);
    let mut rest = selector;
    while let Some(at) = rest.find('[') {
        let (before, behind) = rest.split_at(at + 1);
        out.push_str(before);
        rest = behind;
        let Some(end) = rest.find(']') else {
            break;
        };
        let (inside, behind) = rest.split_at(end);
        match inside.split_once('=') {
            Some((name, value)) if !value.trim_start().starts_with(['"', '\'']) => {
                let value = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
                out.push_str(&format!("{name}=\"{value}\""));
                rest = behind;
            }
            Some((_, value)) => {
                // A bracket inside the quotes does not end it.
                let quote = value.trim_start().chars().next().unwrap_or('"');
                let opened = rest.find(quote).unwrap_or(end);
                let closed = rest[opened + 1..].find(quote);
                let end = closed.map_or(end, |closed| opened + 1 + closed + 1);
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            None => {
                out.push_str(inside);
                rest = behind;
            }
        }
    }
    out + rest
}

impl HtmlExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) {
        let variable = self.variable.evaluate(scope);
        let wanted = Wanted::of(&self.match_number, scope);
        put_default(&variable, &self.default, self.default_empty, scope);
        let read = |text: &str| read_selector(text, self.is_jodd);
        let (_, selector) = self.selector.get(scope, read);
        let selector = match selector.as_ref() {
            Ok(selector) => selector,
            Err(fault) => {
                let name = self.name.evaluate(scope);
                let message = format!("{name}: Error while generating result. {fault}");
                return scope.host.world().log(LogLevel::Warn, CLASS, &message);
            }
        };
        let found = self.find(selector, sample, wanted, scope);
        let before = take_count(&variable, scope.variables);
        let one = wanted.index(found.len(), scope);
        let mut kept = 0;
        if wanted == Wanted::All {
            kept = found.len();
            scope
                .variables
                .put(format!("{variable}_matchNr"), kept.to_string());
            for (index, value) in found.iter().enumerate() {
                if let Some(value) = value {
                    scope
                        .variables
                        .put(format!("{variable}_{}", index + 1), value.as_str());
                }
            }
        } else if let Some(Some(value)) = one.map(|one| &found[one]) {
            scope.variables.put(variable.as_ref(), value.as_str());
        }
        for index in kept + 1..=before {
            scope.variables.remove(&format!("{variable}_{index}"));
        }
    }

    fn find(
        &self,
        selector: &Matcher,
        sample: &Sample,
        wanted: Wanted,
        scope: &mut Scope<'_>,
    ) -> Vec<Option<String>> {
        let attribute = self.attribute.evaluate(scope);
        let attribute = Some(attribute.trim()).filter(|attribute| !attribute.is_empty());
        let mut found = Vec::new();
        let mut look = |text: &str| {
            let document = Document::from(text);
            let left = wanted.limit() - found.len();
            let elements = document.select_matcher(selector);
            found.extend(elements.iter().take(left).map(|one| {
                let node = one.nodes().first().copied();
                node.and_then(|node| self.value_of(&node, attribute))
            }));
        };
        match &self.apply_to {
            ApplyTo::Variable(variable) => {
                let element = format!("CSS Selector Extractor '{}'", self.name.source());
                let value =
                    variable_looked_at(variable, CLASS, &element, scope).unwrap_or_default();
                if !value.is_empty() {
                    look(&value);
                }
            }
            apply_to => apply_to
                .samples(sample)
                .iter()
                .for_each(|one| look(&one.text())),
        }
        found
    }

    fn value_of(&self, node: &NodeRef<'_>, attribute: Option<&str>) -> Option<String> {
        match attribute {
            Some(attribute) => {
                let name = attribute.to_ascii_lowercase();
                let absolute = name.strip_prefix("abs:").filter(|_| !self.is_jodd);
                let value = node
                    .attr(absolute.unwrap_or(&name))
                    .map(|value| value.to_string())
                    .filter(|value| absolute.is_none() || is_absolute(value));
                if self.is_jodd {
                    value
                } else {
                    Some(value.unwrap_or_default())
                }
            }
            None if self.is_jodd => Some(node.text().trim().to_owned()),
            None => Some(visible_text(node)),
        }
    }
}

/// The text of an element and its descendants: white space is collapsed, and blocks and line breaks separate
/// words.
fn visible_text(top: &NodeRef<'_>) -> String {
    let mut out = String::new();
    let part = |out: &mut String| {
        if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    };
    let mut current = *top;
    // Depth first without recursion: pages may be nested deeply.
    loop {
        let parent = current
            .parent()
            .and_then(|parent| parent.node_name())
            .unwrap_or_default();
        if current.is_text() && VERBATIM.contains(&&*parent) {
            out.push_str(&current.text());
        } else if current.is_text() && !SILENT.contains(&&*parent) {
            for character in current.text().chars() {
                if matches!(character, ' ' | '\t' | '\n' | '\u{c}' | '\r') || character == '\u{a0}'
                {
                    part(&mut out);
                } else {
                    out.push(character);
                }
            }
        } else if current.is_element() {
            let name = current.node_name().unwrap_or_default();
            if &*name == "br" || BLOCKS.contains(&&*name) {
                part(&mut out);
            }
        }
        if let Some(child) = current.first_child() {
            current = child;
            continue;
        }
        loop {
            if current.id == top.id {
                return out.trim().to_owned();
            }
            if let Some(next) = current.next_sibling() {
                current = next;
                break;
            }
            let Some(parent) = current.parent() else {
                return out.trim().to_owned();
            };
            current = parent;
            let name = current.node_name().unwrap_or_default();
            if current.id != top.id && BLOCKS.contains(&&*name) {
                part(&mut out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_of_jsoup_are_those_of_css() {
        for (given, written) in [
            ("li:eq(0)", "li:nth-child(1)"),
            ("li:lt(2) a:gt( 3 )", "li:nth-child(-n+2) a:nth-child(n+5)"),
            ("li:eq(x)", "li:eq(x)"),
            ("li:eq(", "li:eq("),
        ] {
            assert_eq!(with_places(given), written);
        }
        for (given, written) in [
            ("a[href^=/x]", "a[href^=\"/x\"]"),
            ("a[href=\"a]b\"][x=y]", "a[href=\"a]b\"][x=\"y\"]"),
            ("a[href] b", "a[href] b"),
            ("a[href=", "a[href="),
        ] {
            assert_eq!(with_values_in_quotes(given), written);
        }
    }
}
