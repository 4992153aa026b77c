//! A parsed page: nodes by number, in the order of the document.
//!
//! The parser's own tree answers selectors and holds texts; where nodes lie is kept beside it, so
//! that what is within a node is a range of numbers. Must not know scripts. Invariant: a node's
//! number is greater than its parent's, and the numbers of its descendants follow its own.

use std::ops::Range;

use dom_query::{Document, NodeData, NodeId, NodeRef, TreeNode};
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use super::selector::Selector;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Doctype,
    Element,
    Text,
    Comment,
}

impl Kind {
    /// The DOM's number of it (`Node.nodeType`).
    pub(super) fn number(self) -> u32 {
        match self {
            Kind::Element => 1,
            Kind::Text => 3,
            Kind::Comment => 8,
            Kind::Document => 9,
            Kind::Doctype => 10,
        }
    }
}

/// A way through the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Elements that are its children.
    Children,
    /// All its children.
    Contents,
    /// Elements around it, the nearest first.
    Parents,
    /// All nodes around it, the nearest first.
    Ancestors,
    /// Elements beside it and after it.
    Next,
    /// Elements beside it and before it, the nearest first.
    Prev,
    /// All nodes beside it and after it.
    After,
    /// All nodes beside it and before it, the nearest first.
    Before,
    /// Elements beside it.
    Siblings,
}

impl Axis {
    /// The axis of a name.
    pub(super) fn named(name: &str) -> Option<Axis> {
        Some(match name {
            "children" => Axis::Children,
            "contents" => Axis::Contents,
            "parents" => Axis::Parents,
            "ancestors" => Axis::Ancestors,
            "next" => Axis::Next,
            "prev" => Axis::Prev,
            "after" => Axis::After,
            "before" => Axis::Before,
            "siblings" => Axis::Siblings,
            _ => return None,
        })
    }
}

struct Place {
    id: NodeId,
    kind: Kind,
    /// `None` for the document.
    parent: Option<u32>,
    /// The number after its last descendant.
    end: u32,
}

/// A parsed page.
pub(super) struct Tree {
    document: Document,
    places: Vec<Place>,
}

impl Tree {
    /// Parses a page as browsers do; scripts count as enabled, so `noscript` holds text.
    pub(super) fn parse(source: String) -> Tree {
        let options = ParseOpts {
            tree_builder: TreeBuilderOpts {
                scripting_enabled: true,
                ..TreeBuilderOpts::default()
            },
            ..ParseOpts::default()
        };
        let document = parse_document(Document::default(), options).one(source);
        let places = places_of(&document);
        Tree { document, places }
    }

    fn node(&self, at: u32) -> Option<NodeRef<'_>> {
        let place = self.places.get(at as usize)?;
        Some(NodeRef::new(place.id, &self.document.tree))
    }

    fn read<T>(&self, at: u32, read: impl FnOnce(&TreeNode) -> Option<T>) -> Option<T> {
        self.node(at)?.query(read)?
    }

    /// What a node is; a number that is none counts as a comment.
    pub(super) fn kind(&self, at: u32) -> Kind {
        self.places
            .get(at as usize)
            .map_or(Kind::Comment, |place| place.kind)
    }

    /// The numbers of what is within a node.
    pub(super) fn within(&self, at: u32) -> Range<u32> {
        let end = self.places.get(at as usize).map_or(0, |place| place.end);
        at.saturating_add(1)..end
    }

    /// Whether the first node lies within the second.
    pub(super) fn is_within(&self, inside: u32, outer: u32) -> bool {
        self.within(outer).contains(&inside)
    }

    /// The number of the node around; `None` for the document.
    pub(super) fn parent(&self, at: u32) -> Option<u32> {
        self.places.get(at as usize)?.parent
    }

    /// The numbers of a node's children.
    pub(super) fn children(&self, at: u32) -> impl Iterator<Item = u32> {
        let Range { start, end } = self.within(at);
        let mut next = start;
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let child = next;
            next = self.places[child as usize].end;
            Some(child)
        })
    }

    /// What a selector matches within some nodes, each once.
    pub(super) fn find(&self, nodes: &[u32], selector: &Selector) -> Vec<u32> {
        let mut found = Vec::new();
        let mut is_found = vec![
            false;
            if nodes.len() > 1 {
                self.places.len()
            } else {
                0
            }
        ];
        for outer in nodes {
            for at in self.within(*outer) {
                if !self.matches(at, selector) {
                    continue;
                }
                match is_found.get_mut(at as usize) {
                    Some(known) if *known => continue,
                    Some(known) => *known = true,
                    None => {}
                }
                found.push(at);
            }
        }
        found
    }

    /// Those of some nodes that a selector matches.
    pub(super) fn filter(&self, mut nodes: Vec<u32>, selector: &Selector) -> Vec<u32> {
        nodes.retain(|at| self.matches(*at, selector));
        nodes
    }

    fn matches(&self, at: u32, selector: &Selector) -> bool {
        self.kind(at) == Kind::Element && self.node(at).is_some_and(|node| selector.matches(&node))
    }

    /// The nodes that lie some way from a node.
    pub(super) fn along(&self, at: u32, axis: Axis) -> Vec<u32> {
        match axis {
            Axis::Contents => self.children(at).collect(),
            Axis::Children => self.elements(self.children(at)),
            Axis::Ancestors => {
                std::iter::successors(self.parent(at), |at| self.parent(*at)).collect()
            }
            Axis::Parents => self.elements(self.along(at, Axis::Ancestors)),
            Axis::After => self.beside(at).filter(|other| *other > at).collect(),
            Axis::Next => self.elements(self.along(at, Axis::After)),
            Axis::Before => {
                let mut before: Vec<u32> = self.beside(at).filter(|other| *other < at).collect();
                before.reverse();
                before
            }
            Axis::Prev => self.elements(self.along(at, Axis::Before)),
            Axis::Siblings => self.elements(self.beside(at).filter(|other| *other != at)),
        }
    }

    fn beside(&self, at: u32) -> impl Iterator<Item = u32> {
        self.parent(at)
            .into_iter()
            .flat_map(|parent| self.children(parent))
    }

    fn elements(&self, nodes: impl IntoIterator<Item = u32>) -> Vec<u32> {
        nodes
            .into_iter()
            .filter(|at| self.kind(*at) == Kind::Element)
            .collect()
    }

    /// `div`, `#text`, `#comment`, `#document`; of a document type its name.
    pub(super) fn name(&self, at: u32) -> String {
        match self.kind(at) {
            Kind::Document => "#document".to_owned(),
            Kind::Text => "#text".to_owned(),
            Kind::Comment => "#comment".to_owned(),
            Kind::Element | Kind::Doctype => self
                .read(at, |node| match &node.data {
                    NodeData::Element(element) => Some(element.name.local.to_string()),
                    NodeData::Doctype { name, .. } => Some(name.to_string()),
                    _ => None,
                })
                .unwrap_or_default(),
        }
    }

    /// The name of the namespace of an element; empty for anything else.
    pub(super) fn namespace(&self, at: u32) -> String {
        self.read(at, |node| match &node.data {
            NodeData::Element(element) => Some(element.name.ns.to_string()),
            _ => None,
        })
        .unwrap_or_default()
    }

    /// The text of a text or a comment.
    pub(super) fn own_text(&self, at: u32) -> Option<String> {
        self.read(at, |node| match &node.data {
            NodeData::Text { contents } | NodeData::Comment { contents } => {
                Some(contents.to_string())
            }
            _ => None,
        })
    }

    /// An attribute's value.
    pub(super) fn attribute(&self, at: u32, name: &str) -> Option<String> {
        self.read(at, |node| match &node.data {
            NodeData::Element(element) => element
                .attrs
                .iter()
                .find(|attribute| *attribute.name.local == *name)
                .map(|attribute| attribute.value.to_string()),
            _ => None,
        })
    }

    /// Names and values of all attributes; where the parser of k6 sorts them, sorted.
    pub(super) fn attributes(&self, at: u32) -> Vec<(String, String)> {
        let all = self.read(at, |node| match &node.data {
            NodeData::Element(element) => {
                let pairs = element.attrs.iter().map(|attribute| {
                    let local = &attribute.name.local;
                    let name = match &attribute.name.prefix {
                        Some(prefix) => format!("{prefix}:{local}"),
                        None => local.to_string(),
                    };
                    (name, attribute.value.to_string())
                });
                let mut pairs: Vec<(String, String)> = pairs.collect();
                if is_formatting(&element.name.local) {
                    pairs.sort();
                }
                Some(pairs)
            }
            _ => None,
        });
        all.unwrap_or_default()
    }

    /// Public and system identifier of a document type.
    pub(super) fn doctype_ids(&self, at: u32) -> (String, String) {
        self.read(at, |node| match &node.data {
            NodeData::Doctype {
                public_id,
                system_id,
                ..
            } => Some((public_id.to_string(), system_id.to_string())),
            _ => None,
        })
        .unwrap_or_default()
    }
}

/// Elements whose attributes the parser of k6 compares, and sorts to that end.
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// Numbers the nodes; without recursion, since pages may be nested as deep as they are long.
fn places_of(document: &Document) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    // A node to number, or `None` where the one that is open ends.
    let mut todo = vec![Some(document.tree.root_id())];
    while let Some(next) = todo.pop() {
        let Some(id) = next else {
            let at = open.pop().expect("every end has its beginning");
            places[at as usize].end = places.len() as u32;
            continue;
        };
        let node = NodeRef::new(id, &document.tree);
        let read = node.query(|node| (kind_of(&node.data), contents_of(&node.data)));
        let Some((Some(kind), contents)) = read else {
            continue;
        };
        let at = places.len() as u32;
        places.push(Place {
            id,
            kind,
            parent: open.last().copied(),
            end: at + 1,
        });
        open.push(at);
        todo.push(None);
        let of_template = contents.map(|id| NodeRef::new(id, &document.tree));
        todo.extend(node.children_it(true).map(|child| Some(child.id)));
        let contents = of_template
            .iter()
            .flat_map(|contents| contents.children_it(true));
        todo.extend(contents.map(|child| Some(child.id)));
    }
    places
}

fn kind_of(data: &NodeData) -> Option<Kind> {
    match data {
        NodeData::Document | NodeData::Fragment => Some(Kind::Document),
        NodeData::Doctype { .. } => Some(Kind::Doctype),
        NodeData::Text { .. } => Some(Kind::Text),
        NodeData::Comment { .. } => Some(Kind::Comment),
        NodeData::Element(_) => Some(Kind::Element),
        NodeData::ProcessingInstruction { .. } => None,
    }
}

/// What a `template` holds lies in a document of its own.
fn contents_of(data: &NodeData) -> Option<NodeId> {
    match data {
        NodeData::Element(element) => element.template_contents,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECE: &str = "(<[a-z]{1,3}|</|>|<table>|<td>|<p>|</p>|<b>|</b>|<svg>|<template>|<select>|<!--|-->|[a-z &;\"'=]{1,4}){0,30}";

    proptest! {
        #[test]
        fn numbers_of_what_is_within_follow_a_nodes_own(source in PIECE) {
            let tree = Tree::parse(source);
            for at in 0..tree.places.len() as u32 {
                let children: Vec<u32> = tree.along(at, Axis::Contents);
                let within = tree.within(at);
                prop_assert_eq!(children.first().copied().unwrap_or(within.end), within.start.min(within.end));
                for pair in children.windows(2) {
                    prop_assert_eq!(tree.within(pair[0]).end, pair[1]);
                }
                for child in children {
                    prop_assert_eq!(tree.parent(child), Some(at));
                    prop_assert!(tree.is_within(child, at) && !tree.is_within(at, child));
                }
            }
        }

        #[test]
        fn what_is_rendered_has_the_same_text(source in "[a-z <>&/bp=\"']{0,40}") {
            let tree = Tree::parse(source);
            let again = Tree::parse(super::super::render::inner(&tree, 0));
            let text = |tree: &Tree| super::super::render::text(tree, &[0]);
            prop_assert_eq!(text(&again), text(&tree));
        }
    }
}
