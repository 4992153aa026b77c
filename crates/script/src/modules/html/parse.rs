//! Parses the text of a page into a tree, within limits.
//!
//! For many tags the parser searches all open elements, so its time is bounded by limiting their number to 512,
//! as in k6. Must not know scripts. Invariant: time and memory depend only on the page's length, and every few
//! kilobytes the caller is asked whether the page is still wanted.

use std::cell::Cell;

use dom_query::{Document, NodeId};
use html5ever::interface::Tracer;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use super::attributes::{self, ATTRIBUTES_MAX};
use super::selector::{LEVELS_MAX, PARTS_MAX};

/// Maximum open elements (golang.org/x/net/html, `insertOpenElement`).
pub(super) const OPEN_MAX: usize = 512;
/// Nodes that the parser holds for a page within [`OPEN_MAX`]: open elements, formatting elements to
/// reconstruct, and a few others.
const HELD_MAX: usize = 2 * OPEN_MAX + 8;
/// Bytes read between two checks of the limits.
const PIECE_BYTES: usize = 4096;
/// Minimum of the node limit for short pages; longer ones may have as many nodes as bytes. Unclosed formatting
/// elements would create hundreds of nodes for each `<p>`.
const NODES_LEAST: usize = 10_000;

/// Why a page is not parsed, or not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Too many open elements.
    TooDeep,
    /// More nodes than bytes.
    TooManyNodes,
    /// A tag has more than [`ATTRIBUTES_MAX`] attributes.
    TooManyAttributes,
    /// A selector has too many parts.
    TooManyParts,
    /// There is no memory for a selector's depth.
    NoMemory,
    /// The result is no longer wanted.
    Unwanted,
}

impl Refusal {
    /// The message for the script.
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

/// Parses a page as browsers do; scripting counts as enabled, so `noscript` contains text. The depth is
/// limited, but the exact limit is only checked by code that walks the tree.
///
/// # Errors
/// It exceeds a limit, or `is_wanted` returns false.
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

/// Counts the nodes that the parser holds.
#[derive(Default)]
struct Held(Cell<usize>);

impl Tracer for Held {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}
