//! A parsed page: numbered nodes in document order.
//!
//! The parser's own tree matches selectors and holds texts; the positions of nodes are kept beside it, so that
//! the descendants of a node are a range of numbers. Must not know scripts. Invariant: a node's number is
//! greater than its parent's, and the numbers of its descendants follow its own.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use dom_query::{Document, NodeData, NodeId, NodeRef, TreeNode};

use super::parse::{OPEN_MAX, Refusal, parse};
use super::selector::Selector;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Doctype,
    Element,
    Text,
    Comment,
}

impl Kind {
    /// Its number in the DOM (`Node.nodeType`).
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

/// A direction in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Its child elements.
    Children,
    /// All its children.
    Contents,
    /// Its ancestor elements, the nearest first.
    Parents,
    /// All its ancestors, the nearest first.
    Ancestors,
    /// The sibling elements after it.
    Next,
    /// The sibling elements before it, the nearest first.
    Prev,
    /// All siblings after it.
    After,
    /// All siblings before it, the nearest first.
    Before,
    /// Its sibling elements.
    Siblings,
}

impl Axis {
    /// The axis with a name.
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

    /// Whether all nodes beyond a node on this axis are on that node's axis as well.
    fn is_one_way(self) -> bool {
        !matches!(self, Axis::Children | Axis::Contents | Axis::Siblings)
    }
}

struct Place {
    id: NodeId,
    kind: Kind,
    /// `None` for the document.
    parent: Option<u32>,
    /// The number after its last descendant.
    end: u32,
    /// The number of the previous sibling; its own for the first.
    before: u32,
}

/// The namespace of HTML.
const HTML: &str = "http://www.w3.org/1999/xhtml";
/// Nodes matched between two checks whether the result is still wanted.
const NODES_PER_LOOK: usize = 64;

/// A parsed page.
pub(super) struct Tree {
    document: Document,
    places: Vec<Place>,
}

impl Tree {
    /// Parses a page ([`parse`]).
    ///
    /// # Errors
    /// It exceeds a limit, or `is_wanted` returns false.
    pub(super) fn parse(source: String, is_wanted: impl FnMut() -> bool) -> Result<Tree, Refusal> {
        let document = parse(source, is_wanted)?;
        let places = places_of(&document)?;
        Ok(Tree { document, places })
    }

    fn node(&self, at: u32) -> Option<NodeRef<'_>> {
        let place = self.places.get(at as usize)?;
        Some(NodeRef::new(place.id, &self.document.tree))
    }

    fn read<T>(&self, at: u32, read: impl FnOnce(&TreeNode) -> Option<T>) -> Option<T> {
        self.node(at)?.query(read)?
    }

    /// The kind of a node; an invalid number counts as a comment.
    pub(super) fn kind(&self, at: u32) -> Kind {
        self.places
            .get(at as usize)
            .map_or(Kind::Comment, |place| place.kind)
    }

    /// The numbers of a node's descendants.
    pub(super) fn within(&self, at: u32) -> Range<u32> {
        let end = self.places.get(at as usize).map_or(0, |place| place.end);
        at.saturating_add(1)..end
    }

    /// Whether the first node is inside the second.
    pub(super) fn is_within(&self, inside: u32, outer: u32) -> bool {
        self.within(outer).contains(&inside)
    }

    /// The number of the parent; `None` for the document.
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

    /// The descendants of some nodes that match a selector, each once; of their children only elements.
    ///
    /// # Errors
    /// The result is no longer wanted, or the selector is refused.
    pub(super) fn find(
        &self,
        nodes: &[u32],
        selector: &Selector,
        mut is_wanted: impl FnMut() -> bool,
    ) -> Result<Vec<u32>, Refusal> {
        let mut found = Vec::new();
        let room = if nodes.len() > 1 {
            self.places.len()
        } else {
            0
        };
        let mut is_seen = vec![false; room];
        for outer in nodes {
            if is_seen.get(*outer as usize) == Some(&true) {
                // It is inside an earlier one, and so are all its descendants.
                continue;
            }
            let mut is_new = |at: &u32| {
                let seen = is_seen.get_mut(*at as usize);
                !seen.is_some_and(|seen| std::mem::replace(seen, true))
            };
            let is_searched =
                |at: &u32| self.kind(*at) == Kind::Element || self.parent(*at) != Some(*outer);
            let mut new = self.within(*outer).filter(is_searched).filter(&mut is_new);
            loop {
                let some: Vec<u32> = new.by_ref().take(NODES_PER_LOOK).collect();
                if some.is_empty() {
                    break;
                }
                if !is_wanted() {
                    return Err(Refusal::Unwanted);
                }
                found.extend(self.filter(some, selector)?);
            }
        }
        Ok(found)
    }

    /// The nodes that match a selector.
    ///
    /// # Errors
    /// The selector is refused.
    pub(super) fn filter(
        &self,
        nodes: impl IntoIterator<Item = u32>,
        selector: &Selector,
    ) -> Result<Vec<u32>, Refusal> {
        selector.matching(self, nodes.into_iter())
    }

    /// The nodes on an axis of others, each once, nearest first; at most `most` per node. Time depends on the
    /// result's size, even if axes overlap.
    pub(super) fn along(&self, nodes: &[u32], axis: Axis, most: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        let mut first_of: HashMap<Option<u32>, u32> = HashMap::new();
        for at in nodes {
            if axis == Axis::Siblings && most == usize::MAX {
                let first = *first_of.entry(self.parent(*at)).or_insert(*at);
                if first != *at {
                    // All but the first itself are known.
                    let is_new = self.kind(first) == Kind::Element && known.insert(first);
                    found.extend(is_new.then_some(first));
                    continue;
                }
            }
            let mut passed = 0;
            self.walk(*at, axis, |node| {
                let is_new = known.insert(node);
                if is_new {
                    found.push(node);
                }
                passed += 1;
                // Everything beyond a known node is known as well.
                passed < most && (is_new || !axis.is_one_way())
            });
        }
        found
    }

    /// Visits the nodes on an axis of a node, the nearest first, while `visit` returns true.
    fn walk(&self, at: u32, axis: Axis, mut visit: impl FnMut(u32) -> bool) {
        let is_element = |at: &u32| self.kind(*at) == Kind::Element;
        let visit = &mut visit;
        match axis {
            Axis::Contents => self.children(at).all(visit),
            Axis::Children => self.children(at).filter(is_element).all(visit),
            Axis::Ancestors => self.around(at).all(visit),
            Axis::Parents => self.around(at).filter(is_element).all(visit),
            Axis::After => self.after(at).all(visit),
            Axis::Next => self.after(at).filter(is_element).all(visit),
            Axis::Before => self.before(at).all(visit),
            Axis::Prev => self.before(at).filter(is_element).all(visit),
            Axis::Siblings => {
                let parent = self.parent(at).into_iter();
                let beside = parent.flat_map(|parent| self.children(parent));
                let beside = beside.filter(|other| *other != at);
                beside.filter(is_element).all(visit)
            }
        };
    }

    fn around(&self, at: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.parent(at), |at| self.parent(*at))
    }

    /// The siblings after it, the nearest first.
    pub(super) fn after(&self, at: u32) -> impl Iterator<Item = u32> {
        let end = self.parent(at).map_or(0, |parent| self.within(parent).end);
        let behind = move |at: u32| Some(self.within(at).end).filter(|next| *next < end);
        std::iter::successors(behind(at), move |at| behind(*at))
    }

    /// The siblings before it, the nearest first.
    pub(super) fn before(&self, at: u32) -> impl Iterator<Item = u32> {
        let before = |at: u32| {
            let before = self.places.get(at as usize)?.before;
            (before != at).then_some(before)
        };
        std::iter::successors(before(at), move |at| before(*at))
    }

    /// `div`, `#text`, `#comment`, `#document`; for a document type its name.
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

    /// The namespace of an element; that of HTML for anything else.
    pub(super) fn namespace(&self, at: u32) -> String {
        self.read(at, |node| match &node.data {
            NodeData::Element(element) => Some(element.name.ns.to_string()),
            _ => None,
        })
        .unwrap_or_else(|| HTML.to_owned())
    }

    /// The text of a text or comment node.
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

    /// Names and values of all attributes; sorted where k6's parser sorts them.
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

/// Elements whose attributes are compared, and therefore sorted, by k6's parser.
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

/// Numbers the nodes.
///
/// # Errors
/// Elements are nested deeper than [`OPEN_MAX`].
fn places_of(document: &Document) -> Result<Vec<Place>, Refusal> {
    let mut places: Vec<Place> = Vec::with_capacity(document.tree.len());
    let mut open: Vec<u32> = Vec::new();
    // By level, the last numbered node.
    let mut last: Vec<u32> = Vec::new();
    // A node to number, or `None` where the open one ends.
    let mut todo = vec![Some(document.tree.root_id())];
    while let Some(next) = todo.pop() {
        let Some(id) = next else {
            let at = open.pop().expect("every end has its beginning");
            places[at as usize].end = places.len() as u32;
            last.truncate(open.len() + 1);
            continue;
        };
        let node = NodeRef::new(id, &document.tree);
        let read = node.query(|node| (kind_of(&node.data), contents_of(&node.data)));
        let Some((Some(kind), contents)) = read else {
            continue;
        };
        if kind == Kind::Element && open.len() > OPEN_MAX {
            return Err(Refusal::TooDeep);
        }
        let at = places.len() as u32;
        let before = last.get(open.len()).copied().unwrap_or(at);
        last.truncate(open.len());
        last.push(at);
        places.push(Place {
            id,
            kind,
            parent: open.last().copied(),
            end: at + 1,
            before,
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
    Ok(places)
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

/// The contents of a `template` are in a separate document.
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

    fn parsed(source: &str) -> Tree {
        Tree::parse(source.to_owned(), || true).expect("it keeps the bounds")
    }

    /// The slow implementation, whose results the fast one must match.
    fn each_along(tree: &Tree, nodes: &[u32], axis: Axis, most: usize) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for at in nodes {
            let of_one = tree.along(&[*at], axis, usize::MAX);
            let new = of_one.into_iter().take(most);
            let new: Vec<u32> = new.filter(|node| !found.contains(node)).collect();
            found.extend(new);
        }
        found
    }

    const AXES: [Axis; 9] = [
        Axis::Children,
        Axis::Contents,
        Axis::Parents,
        Axis::Ancestors,
        Axis::Next,
        Axis::Prev,
        Axis::After,
        Axis::Before,
        Axis::Siblings,
    ];

    #[test]
    fn nothing_of_a_page_takes_more_than_its_share() {
        let nested = |levels: usize| format!("{}x", "<div>".repeat(levels));
        assert!(Tree::parse(nested(OPEN_MAX - 2), || true).is_ok());
        for levels in [OPEN_MAX - 1, 100_000] {
            let refused = Tree::parse(nested(levels), || true).err();
            assert_eq!(refused, Some(Refusal::TooDeep));
        }
        for tag in ["template", "svg", "b", "table><td", "ul><li"] {
            let source = format!("<{tag}>").repeat(100_000);
            assert_eq!(Tree::parse(source, || true).err(), Some(Refusal::TooDeep));
        }
        let begun: String = (0..500).map(|n| format!("<b a={n}>")).collect();
        let source = format!("<p>{begun}{}", "<p>x".repeat(100_000));
        assert_eq!(
            Tree::parse(source, || true).err(),
            Some(Refusal::TooManyNodes)
        );
        let mut looks = 0;
        let source = "<p>x".repeat(100_000);
        let refused = Tree::parse(source, || {
            looks += 1;
            looks < 3
        });
        assert_eq!(refused.err(), Some(Refusal::Unwanted));
    }

    #[test]
    fn what_lies_beside_many_nodes_is_found_in_one_go() {
        let tree = parsed(&"<p>x".repeat(100_000));
        let selector = Selector::parse("p").expect("it is short");
        let all = tree.find(&[0], &selector, || true).expect("it is wanted");
        for axis in AXES {
            assert!(tree.along(&all, axis, 1).len() <= all.len() + 4);
            assert!(tree.along(&all, axis, usize::MAX).len() <= 2 * all.len());
        }
    }

    proptest! {
        #[test]
        fn several_nodes_lead_to_what_each_leads_to(
            source in PIECE,
            picked in prop::collection::vec(0_usize..30, 0..6),
            most in prop::sample::select(vec![1, usize::MAX]),
        ) {
            let tree = parsed(&source);
            let mut nodes: Vec<u32> = picked.iter().map(|at| (at % tree.places.len()) as u32).collect();
            nodes.dedup();
            for axis in AXES {
                prop_assert_eq!(tree.along(&nodes, axis, most), each_along(&tree, &nodes, axis, most));
            }
        }

        #[test]
        fn numbers_of_what_is_within_follow_a_nodes_own(source in PIECE) {
            let tree = parsed(&source);
            for at in 0..tree.places.len() as u32 {
                let along = |axis| tree.along(&[at], axis, usize::MAX);
                let children = along(Axis::Contents);
                let within = tree.within(at);
                prop_assert_eq!(children.first().copied().unwrap_or(within.end), within.start.min(within.end));
                for pair in children.windows(2) {
                    prop_assert_eq!(tree.within(pair[0]).end, pair[1]);
                }
                for (index, child) in children.iter().enumerate() {
                    let beside = |axis| tree.along(&[*child], axis, usize::MAX);
                    let before: Vec<u32> = children[..index].iter().rev().copied().collect();
                    prop_assert_eq!(beside(Axis::After), &children[index + 1..]);
                    prop_assert_eq!(beside(Axis::Before), before);
                }
                for child in children {
                    prop_assert_eq!(tree.parent(child), Some(at));
                    prop_assert!(tree.is_within(child, at) && !tree.is_within(at, child));
                }
            }
        }

        #[test]
        fn what_is_rendered_has_the_same_text(source in "[a-z <>&/bp=\"']{0,40}") {
            let tree = parsed(&source);
            let again = parsed(&super::super::render::inner(&tree, 0));
            let text = |tree: &Tree| super::super::render::text(tree, &[0]);
            prop_assert_eq!(text(&again), text(&tree));
        }
    }
}
