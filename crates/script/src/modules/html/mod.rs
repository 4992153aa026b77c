//! `k6/html`: parsing and searching of pages, in the manner of jQuery.
//!
//! The tree of a page is held in Rust and shared by all its selections; a selection is a list of node numbers.
//! Methods are JavaScript on top of a few natives. Must not know where pages come from. Invariant: trees never
//! change, so node numbers stay valid.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod attributes;
mod parse;
mod render;
mod selector;
#[cfg(test)]
mod tests;
mod tree;

use std::rc::Rc;

use loadline_go::url::Url;
use rquickjs::function::IntoJsFunc;
use rquickjs::{Class, Ctx, Error, Exception, Function, IntoJs, Object, Result, Value};

use crate::globals::builtin_namespace;
use crate::go_error;
use crate::modules::bytes;
use crate::modules::held::{Held, Opaque};
use crate::natives::{Body, Builtin};
use crate::vu::{cancellation, state};
use parse::Refusal;
use selector::Selector;
use tree::{Axis, Tree};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/html",
    body: Body::Script {
        text: include_str!("selection.js"),
        natives,
    },
};

/// The elements of pages, for the module above.
pub(super) const ELEMENTS: Builtin = Builtin {
    name: "loadline:html/elements",
    body: Body::Script {
        text: include_str!("element.js"),
        natives,
    },
};

/// A page, as held by scripts.
struct Page {
    tree: Rc<Tree>,
    /// Where it came from, which its references are relative to; empty for a text of the script.
    address: Url,
}

impl Opaque for Page {
    const CLASS: &'static str = "Page";
}

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    go_error::add_to(&natives)?;
    add(&natives, "parse", parse)?;
    add(&natives, "query", query)?;
    add(&natives, "filter", filter)?;
    add(&natives, "text", text)?;
    add(&natives, "inner", inner)?;
    add(&natives, "attribute", attribute)?;
    add(&natives, "attributes", attributes)?;
    add(&natives, "nodeName", node_name)?;
    add(&natives, "nodeType", node_type)?;
    add(&natives, "nodeValue", node_value)?;
    add(&natives, "namespace", namespace)?;
    add(&natives, "axis", axis)?;
    add(&natives, "nearest", nearest)?;
    add(&natives, "contains", contains)?;
    add(&natives, "address", address)?;
    add(&natives, "resolved", resolved)?;
    add(&natives, "elements", elements)?;
    Ok(natives)
}

fn add<'js, P>(
    natives: &Object<'js>,
    name: &str,
    body: impl IntoJsFunc<'js, P> + 'js,
) -> Result<()> {
    natives.set(name, Function::new(natives.ctx().clone(), body)?)
}

type PageOf<'js> = Class<'js, Held<Page>>;

fn tree(page: &PageOf<'_>) -> Rc<Tree> {
    Rc::clone(&page.borrow().0.tree)
}

/// Parses a text from an address; returns the page, or why it is refused.
fn parse<'js>(ctx: Ctx<'js>, source: Value<'js>, address: String) -> Result<Value<'js>> {
    let source = bytes::text(&source)?;
    let address = Url::parse(&address).unwrap_or_default();
    match Tree::parse(source, || !state(&ctx).interrupt()).map(Rc::new) {
        Ok(tree) => Held::make(ctx.clone(), Page { tree, address })?.into_js(&ctx),
        Err(Refusal::Unwanted) => Err(cancellation(&ctx)),
        Err(refusal) => refusal.message().into_js(&ctx),
    }
}

/// The descendants that match a selector, in the order of the first node that leads to each.
fn query<'js>(
    ctx: Ctx<'js>,
    page: PageOf<'js>,
    nodes: Vec<u32>,
    selector: Value<'js>,
) -> Result<Vec<u32>> {
    let selector = bytes::text(&selector)?;
    let is_wanted = || !state(&ctx).interrupt();
    let found = Selector::parse(&selector).and_then(|it| tree(&page).find(&nodes, &it, is_wanted));
    found.map_err(|refusal| refused(&ctx, refusal))
}

/// The nodes that match a selector.
fn filter<'js>(
    ctx: Ctx<'js>,
    page: PageOf<'js>,
    nodes: Vec<u32>,
    selector: Value<'js>,
) -> Result<Vec<u32>> {
    let selector = bytes::text(&selector)?;
    let found = Selector::parse(&selector).and_then(|it| tree(&page).filter(nodes, &it));
    found.map_err(|refusal| refused(&ctx, refusal))
}

fn refused(ctx: &Ctx<'_>, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Unwanted => cancellation(ctx),
        refusal => Exception::throw_message(ctx, &refusal.message()),
    }
}

fn text(page: PageOf<'_>, nodes: Vec<u32>) -> String {
    render::text(&tree(&page), &nodes)
}

fn inner(page: PageOf<'_>, node: u32) -> String {
    render::inner(&tree(&page), node)
}

fn attribute<'js>(
    ctx: Ctx<'js>,
    page: PageOf<'js>,
    node: u32,
    name: Value<'js>,
) -> Result<Value<'js>> {
    let value = tree(&page).attribute(node, &bytes::text(&name)?);
    shown(&ctx, value)
}

fn shown<'js>(ctx: &Ctx<'js>, text: Option<String>) -> Result<Value<'js>> {
    match text {
        Some(text) => text.into_js(ctx),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn attributes(page: PageOf<'_>, node: u32) -> Vec<Vec<String>> {
    let all = tree(&page).attributes(node);
    all.into_iter()
        .map(|(name, value)| vec![name, value])
        .collect()
}

fn node_name(page: PageOf<'_>, node: u32) -> String {
    tree(&page).name(node)
}

fn node_type(page: PageOf<'_>, node: u32) -> u32 {
    tree(&page).kind(node).number()
}

fn node_value<'js>(ctx: Ctx<'js>, page: PageOf<'js>, node: u32) -> Result<Value<'js>> {
    shown(&ctx, tree(&page).own_text(node))
}

fn namespace(page: PageOf<'_>, node: u32) -> String {
    tree(&page).namespace(node)
}

/// Where a page came from; empty for a text of the script.
fn address(page: PageOf<'_>) -> String {
    page.borrow().0.address.text()
}

/// A reference in a page as an address; undefined if it cannot be read.
fn resolved<'js>(ctx: Ctx<'js>, page: PageOf<'js>, reference: String) -> Result<Value<'js>> {
    let reference = Url::parse(&reference).ok();
    let found = reference.map(|it| page.borrow().0.address.resolve(it).text());
    shown(&ctx, found)
}

/// The nodes on an axis of others, each once, nearest first.
fn axis(page: PageOf<'_>, nodes: Vec<u32>, way: String) -> Vec<u32> {
    along(&page, &nodes, &way, usize::MAX)
}

/// For each node the nearest node on an axis, each once.
fn nearest(page: PageOf<'_>, nodes: Vec<u32>, way: String) -> Vec<u32> {
    along(&page, &nodes, &way, 1)
}

fn along(page: &PageOf<'_>, nodes: &[u32], way: &str, most: usize) -> Vec<u32> {
    match Axis::named(way) {
        Some(axis) => tree(page).along(nodes, axis, most),
        None => Vec::new(),
    }
}

/// Whether the second node is inside the first.
fn contains(page: PageOf<'_>, outer: u32, inside: u32) -> bool {
    tree(&page).is_within(inside, outer)
}

/// The exports of the module of elements.
fn elements(ctx: Ctx<'_>) -> Result<Object<'_>> {
    builtin_namespace(&ctx, ELEMENTS.name)
}
