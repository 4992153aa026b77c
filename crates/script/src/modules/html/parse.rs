//! The text of a page becomes a tree, within bounds.
//!
//! The parser looks through all open elements for many a tag, so that its time is bounded by how
//! many those may be; as in k6, 512. Must not know scripts. Invariant: time and memory grow with
//! the page's length alone, and whoever asks for the page is asked every few kilobytes whether it
//! is still wanted.

use std::cell::Cell;

use dom_query::{Document, NodeId};
use html5ever::interface::Tracer;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use super::attributes::{self, ATTRIBUTES_MAX};
use super::selector::{LEVELS_MAX, PARTS_MAX};

/// Elements that may be open at a time (golang.org/x/net/html, `insertOpenElement`).
pub(super) const OPEN_MAX: usize = 512;
/// What the parser holds of a page that keeps [`OPEN_MAX`]: open elements, elements of formatting
/// that are begun again, and a few others.
const HELD_MAX: usize = 2 * OPEN_MAX + 8;
/// Bytes read between two looks at the bounds.
const PIECE_BYTES: usize = 4096;
/// Nodes that a page may have however short it is; a longer one has no more than it has bytes.
/// Elements of formatting that are never ended would make hundreds out of each `<p>`.
const NODES_LEAST: usize = 10_000;

/// Why a page is not read, or not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// More elements are open than may be.
    TooDeep,
    /// It would become more nodes than it has bytes.
    TooManyNodes,
    /// A tag of it has more than [`ATTRIBUTES_MAX`] attributes.
    TooManyAttributes,
    /// A selector has more parts than it may have.
    TooManyParts,
    /// The system has no memory for a selector's depth.
    NoMemory,
    /// It is wanted no more.
    Unwanted,
}

impl Refusal {
    /// The message that a script gets.
    pub(super) fn message(self) -> String {
        let what = match self {
            // The words of golang.org/x/net/html.
            Refusal::TooDeep => "open stack of elements exceeds 512 nodes",
            Refusal::TooManyNodes => {
                "the page has more nodes than bytes; end its elements of formatting"
            }
            Refusal::TooManyAttributes => {
                &format!("a tag of the page has more than {ATTRIBUTES_MAX} attributes")
            }
            Refusal::TooManyParts => &format!(
                "the selector has more than {PARTS_MAX} parts or {LEVELS_MAX} levels: search in two steps"
            ),
            Refusal::NoMemory => "there is no memory for so deep a selector",
            Refusal::Unwanted => "the page is no longer needed",
        };
        format!("html: {what}")
    }
}

/// Parses a page as browsers do; scripts count as enabled, so `noscript` holds text. The depth is
/// bounded, but checked to the element only by whoever goes through the tree.
///
/// # Errors
/// When it exceeds a bound, or `is_wanted` says no.
pub(super) fn parse(
    source: String,
    mut is_wanted: impl FnMut() -> bool,
) -> Result<Document, Refusal> {
    if attributes::are_too_many(source.as_bytes()) {
        return Err(Refusal::TooManyAttributes);
    }
    let nodes_max = source.len().max(NODES_LEAST);
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: true,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Document::default(), options);
    for piece in pieces(source) {
        parser.process(piece);
        let builder = &parser.tokenizer.sink;
        let held = Held::default();
        builder.trace_handles(&held);
        if held.0.get() > HELD_MAX {
            return Err(Refusal::TooDeep);
        }
        let document = &builder.sink;
        if document.tree.len() > nodes_max {
            return Err(Refusal::TooManyNodes);
        }
        document.errors.borrow_mut().clear();
        if !is_wanted() {
            return Err(Refusal::Unwanted);
        }
    }
    Ok(parser.finish())
}

/// A text in pieces that share its memory.
fn pieces(source: String) -> impl Iterator<Item = StrTendril> {
    let whole = StrTendril::from(source);
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = whole.len().min(start + PIECE_BYTES);
        let end = whole.ceil_char_boundary(end);
        let piece = (start < end).then(|| whole.subtendril(start as u32, (end - start) as u32));
        start = end;
        piece
    })
}

/// Counts what the parser holds.
#[derive(Default)]
struct Held(Cell<usize>);

impl Tracer for Held {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}
