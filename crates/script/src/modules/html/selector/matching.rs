//! Matches nodes of a page against a selector.
//!
//! Must not know the syntax of selectors. Invariants: results for a node are cached, so that time grows with
//! the number of nodes and parts, not with the number of paths; the cache is bounded, and may be cleared.

use std::collections::HashMap;

use super::{
    Attribute, Chain, Combinator, Compound, Count, Group, Nth, Span, Test, Text, Value, Wording,
};
use crate::modules::html::render;
use crate::modules::html::tree::{Kind, Tree};

/// Maximum cached results, some dozens of bytes each.
const KEPT_MAX: usize = 1 << 20;

/// Matching on one page, with cached results.
pub(super) struct Matching<'a> {
    tree: &'a Tree,
    /// By number of a compound or test, and node: whether a node on its axis matches.
    answers: HashMap<(u32, u32), bool>,
    places: HashMap<(Count, u32), i64>,
}

impl<'a> Matching<'a> {
    pub(super) fn new(tree: &'a Tree) -> Matching<'a> {
        Matching {
            tree,
            answers: HashMap::new(),
            places: HashMap::new(),
        }
    }

    pub(super) fn group(&mut self, group: &Group, at: u32) -> bool {
        group.0.iter().any(|chain| {
            let last = chain.compounds.len() - 1;
            self.chain(chain, last, at)
        })
    }

    /// Whether a node matches the end of a chain cut after one of its compounds.
    fn chain(&mut self, chain: &Chain, last: usize, at: u32) -> bool {
        let (combinator, compound) = &chain.compounds[last];
        if !self.compound(compound, at) {
            return false;
        }
        let Some(before) = last.checked_sub(1) else {
            return true;
        };
        match combinator {
            Combinator::ChildOf => {
                let parent = self.tree.parent(at);
                parent.is_some_and(|parent| self.chain(chain, before, parent))
            }
            Combinator::RightBehind => {
                let is_passed =
                    |at: &u32| matches!(self.tree.kind(*at), Kind::Text | Kind::Comment);
                let beside = self.tree.before(at).find(|at| !is_passed(at));
                beside.is_some_and(|beside| self.chain(chain, before, beside))
            }
            Combinator::Within => self.some(chain, before, at, Tree::parent),
            Combinator::Behind => self.some(chain, before, at, |tree, at| tree.before(at).next()),
        }
    }

    /// Whether any node on an axis of another matches the end of the cut chain.
    fn some(
        &mut self,
        chain: &Chain,
        last: usize,
        from: u32,
        next: impl Fn(&Tree, u32) -> Option<u32>,
    ) -> bool {
        let number = chain.number + last as u32;
        let mut passed = Vec::new();
        let mut at = from;
        let answer = loop {
            if let Some(known) = self.answers.get(&(number, at)) {
                break *known;
            }
            passed.push(at);
            match next(self.tree, at) {
                None => break false,
                Some(other) if self.chain(chain, last, other) => break true,
                Some(other) => at = other,
            }
        };
        for at in passed {
            self.keep(number, at, answer);
        }
        answer
    }

    fn keep(&mut self, number: u32, at: u32, answer: bool) {
        if self.answers.len() >= KEPT_MAX {
            self.answers.clear();
        }
        self.answers.insert((number, at), answer);
    }

    fn compound(&mut self, compound: &Compound, at: u32) -> bool {
        if compound.0.is_empty() {
            return self.is_element(at);
        }
        compound.0.iter().all(|test| self.test(test, at))
    }

    fn is_element(&self, at: u32) -> bool {
        self.tree.kind(at) == Kind::Element
    }

    fn test(&mut self, test: &Test, at: u32) -> bool {
        match test {
            Test::Text(span, wording) => return self.is_worded(*span, wording, at),
            Test::Language(language) => return self.is_in_language(language, at),
            _ if !self.is_element(at) => return false,
            _ => {}
        }
        match test {
            Test::Name(name) => self.is_named(at, &[name]),
            Test::Attribute(attribute) => self.has(attribute, at),
            Test::Not(group) => !self.group(group, at),
            Test::Has(number, group) => self.holds(*number, group, at),
            Test::HasChild(group) => {
                let tree = self.tree;
                tree.children(at).any(|child| self.group(group, child))
            }
            Test::Nth(nth) => nth.is_at(self.place(nth.count, at)),
            Test::Only { is_of_name } => [false, true].iter().all(|is_from_last| {
                let count = Count {
                    is_from_last: *is_from_last,
                    is_of_name: *is_of_name,
                };
                self.place(count, at) == 1
            }),
            Test::Input => self.is_named(at, &["input", "select", "textarea", "button"]),
            Test::Empty => self
                .tree
                .children(at)
                .all(|child| match self.tree.kind(child) {
                    Kind::Element => false,
                    Kind::Text => self
                        .tree
                        .own_text(child)
                        .is_none_or(|text| text.trim().is_empty()),
                    _ => true,
                }),
            Test::Root => {
                let parent = self.tree.parent(at);
                parent.is_some_and(|parent| self.tree.kind(parent) == Kind::Document)
            }
            Test::Link => {
                self.is_named(at, &["a", "area", "link"]) && self.has_attribute(at, "href")
            }
            Test::Enabled if self.is_named(at, &["a", "area", "link"]) => {
                self.has_attribute(at, "href")
            }
            Test::Enabled => self.can_be_disabled(at) && !self.is_disabled(at),
            Test::Disabled => self.can_be_disabled(at) && self.is_disabled(at),
            Test::Checked if self.is_named(at, &["option"]) => self.has_attribute(at, "selected"),
            Test::Checked => {
                let kind = self.tree.attribute(at, "type").unwrap_or_default();
                let is_box = matches!(kind.to_ascii_lowercase().as_str(), "checkbox" | "radio");
                is_box && self.is_named(at, &["input"]) && self.has_attribute(at, "checked")
            }
            Test::Never | Test::Text(..) | Test::Language(_) => false,
        }
    }

    fn is_named(&self, at: u32, names: &[&str]) -> bool {
        self.is_element(at) && names.contains(&self.tree.name(at).as_str())
    }

    fn has_attribute(&self, at: u32, name: &str) -> bool {
        self.tree.attribute(at, name).is_some()
    }

    fn has(&self, attribute: &Attribute, at: u32) -> bool {
        let value = self.tree.attribute(at, &attribute.name);
        match (&attribute.value, value) {
            (Value::IsNot(text), value) => value.is_none_or(|value| !text.is(&value)),
            (wanted, Some(value)) => wanted.suits(&value),
            (_, None) => false,
        }
    }

    fn holds(&mut self, number: u32, group: &Group, at: u32) -> bool {
        if let Some(known) = self.answers.get(&(number, at)) {
            return *known;
        }
        let answer = self.tree.within(at).any(|inside| self.group(group, inside));
        self.keep(number, at, answer);
        answer
    }

    fn is_worded(&self, span: Span, wording: &Wording, at: u32) -> bool {
        let text = match (span, self.tree.kind(at)) {
            (_, Kind::Document) => String::new(),
            (Span::Whole, _) => render::text(self.tree, &[at]),
            (Span::Own, _) => {
                let own: Vec<u32> = self.tree.children(at).collect();
                let is_text = |at: &u32| self.tree.kind(*at) == Kind::Text;
                own.into_iter()
                    .filter(is_text)
                    .filter_map(|at| self.tree.own_text(at))
                    .collect()
            }
        };
        match wording {
            Wording::Holds(part) => text.to_lowercase().contains(part.as_str()),
            Wording::Fits(pattern) => pattern.is_match(&text),
        }
    }

    fn is_in_language(&self, language: &str, at: u32) -> bool {
        let mut around = std::iter::successors(Some(at), |at| self.tree.parent(*at));
        around.any(|at| {
            let said = self.tree.attribute(at, "lang");
            let rest = said.as_deref().and_then(|said| said.strip_prefix(language));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    }

    fn can_be_disabled(&self, at: u32) -> bool {
        let fields = ["button", "input", "select", "textarea", "option"];
        self.is_named(at, &fields) || self.is_named(at, &HOLDERS)
    }

    fn is_disabled(&self, at: u32) -> bool {
        self.has_attribute(at, "disabled")
            || (!self.is_named(at, &HOLDERS) && self.is_in_disabled_set(at))
    }

    /// Whether a field is in a disabled fieldset, except in its first legend.
    fn is_in_disabled_set(&self, at: u32) -> bool {
        let mut inside = at;
        while let Some(around) = self.tree.parent(inside) {
            let is_off =
                self.is_named(around, &["fieldset"]) && self.has_attribute(around, "disabled");
            let is_legend = |at: u32| self.is_named(at, &["legend"]);
            if is_off && (!is_legend(inside) || self.tree.before(inside).any(is_legend)) {
                return true;
            }
            inside = around;
        }
        false
    }

    /// The position of an element among its siblings, from 1.
    fn place(&mut self, count: Count, at: u32) -> i64 {
        let tree = self.tree;
        let name = tree.name(at);
        let is_counted = |at: &u32| {
            tree.kind(*at) == Kind::Element && (!count.is_of_name || tree.name(*at) == name)
        };
        let mut passed = Vec::new();
        let mut next = Some(at);
        let mut place = 0;
        while let Some(at) = next {
            if let Some(known) = self.places.get(&(count, at)) {
                place = *known;
                break;
            }
            passed.push(at);
            next = match count.is_from_last {
                true => tree.after(at).find(is_counted),
                false => tree.before(at).find(is_counted),
            };
        }
        if self.places.len() >= KEPT_MAX {
            self.places.clear();
        }
        for at in passed.into_iter().rev() {
            place += 1;
            self.places.insert((count, at), place);
        }
        place
    }
}

/// Elements disabled only by their own attribute, not by a fieldset around them.
const HOLDERS: [&str; 3] = ["optgroup", "menuitem", "fieldset"];

impl Nth {
    fn is_at(self, place: i64) -> bool {
        let past = place - self.start;
        match self.step {
            0 => past == 0,
            step => past % step == 0 && past / step >= 0,
        }
    }
}

impl Value {
    fn suits(&self, value: &str) -> bool {
        let is_said = !value.trim().is_empty();
        match self {
            Value::Any => true,
            Value::IsNot(text) => !text.is(value),
            Value::Is(text) => text.is(value),
            Value::HasWord(text) => {
                let words = value.split([' ', '\t', '\r', '\n', '\x0c']);
                words
                    .filter(|word| !word.is_empty())
                    .any(|word| text.is(word))
            }
            Value::HasLanguage(text) => {
                let front = value.split_at_checked(text.text.len());
                front.is_some_and(|(front, rest)| {
                    text.is(front) && (rest.is_empty() || rest.starts_with('-'))
                })
            }
            Value::Begins(text) => {
                is_said && text.in_case(value).starts_with(&text.in_case(&text.text))
            }
            Value::Ends(text) => {
                is_said && text.in_case(value).ends_with(&text.in_case(&text.text))
            }
            Value::Holds(text) => {
                is_said && text.in_case(value).contains(&text.in_case(&text.text))
            }
            Value::Fits(pattern) => pattern.is_match(value),
        }
    }
}

impl Text {
    fn is(&self, value: &str) -> bool {
        value == self.text || (self.ignores_case && self.in_case(value) == self.in_case(&self.text))
    }

    /// The text in the case used for comparison.
    fn in_case(&self, text: &str) -> String {
        match self.ignores_case {
            true => text.to_lowercase(),
            false => text.to_owned(),
        }
    }
}
