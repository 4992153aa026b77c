//! Evaluates an expression on a document.
//!
//! Must not know texts of expressions. Invariant: node sets are in document order, each node once.

use std::collections::HashSet;

use super::parser::{Axis, Expression, Step, Test};
use super::{Dialect, XPath, functions};

/// A node: of the tree, or an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node<'a, 'i> {
    Tree(roxmltree::Node<'a, 'i>),
    Attribute(roxmltree::Node<'a, 'i>, usize),
}

impl<'a, 'i> Node<'a, 'i> {
    /// Position in document order; attributes come after their element.
    fn order(self) -> (usize, usize) {
        match self {
            Node::Tree(node) => (node.id().get_usize(), 0),
            Node::Attribute(node, index) => (node.id().get_usize(), index + 1),
        }
    }

    /// The text of the node and all its descendants.
    pub(crate) fn text(self) -> String {
        match self {
            Node::Tree(node) if node.is_element() || node.is_root() => {
                let texts = node.descendants().filter(|one| one.is_text());
                texts.filter_map(|one| one.text()).collect()
            }
            Node::Tree(node) => node.pi().map_or_else(
                || node.text().unwrap_or_default().to_owned(),
                |instruction| instruction.value.unwrap_or_default().to_owned(),
            ),
            Node::Attribute(node, index) => node
                .attributes()
                .nth(index)
                .map_or("", |one| one.value())
                .to_owned(),
        }
    }

    /// Namespace and local name; empty if there is none.
    pub(super) fn expanded(self) -> (Option<&'a str>, &'a str) {
        match self {
            Node::Tree(node) if node.is_element() => {
                (node.tag_name().namespace(), node.tag_name().name())
            }
            Node::Tree(_) => (None, ""),
            Node::Attribute(node, index) => match node.attributes().nth(index) {
                Some(attribute) => (attribute.namespace(), attribute.name()),
                None => (None, ""),
            },
        }
    }

    /// The name as in the document, with its prefix.
    pub(super) fn written_name(self) -> &'a str {
        let (source, range) = match self {
            Node::Tree(node) if node.is_element() => {
                let source = node.document().input_text();
                let start = node.range().start + 1;
                let rest = source.get(start..).unwrap_or_default();
                let end = rest.find(|one: char| one.is_whitespace() || matches!(one, '/' | '>'));
                (source, start..start + end.unwrap_or(0))
            }
            Node::Tree(_) => return "",
            Node::Attribute(node, index) => match node.attributes().nth(index) {
                Some(attribute) => (node.document().input_text(), attribute.range_qname()),
                None => return "",
            },
        };
        source.get(range).unwrap_or_else(|| self.expanded().1)
    }
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a, 'i> {
    Nodes(Vec<Node<'a, 'i>>),
    Text(String),
    Number(f64),
    Truth(bool),
}

impl Value<'_, '_> {
    pub(crate) fn text(&self) -> String {
        match self {
            Value::Nodes(nodes) => nodes.first().map(|node| node.text()).unwrap_or_default(),
            Value::Text(text) => text.clone(),
            Value::Number(number) => functions::number_text(*number),
            Value::Truth(truth) => truth.to_string(),
        }
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(u8::from(*truth)),
            other => functions::to_number(&other.text()),
        }
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Truth(truth) => *truth,
        }
    }
}

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub(super) struct At<'e, 'a, 'i> {
    pub(super) node: Node<'a, 'i>,
    pub(super) position: usize,
    pub(super) size: usize,
    pub(super) dialect: Dialect,
    /// Prefixes and namespaces.
    pub(super) prefixes: &'e [(String, String)],
}

impl XPath {
    /// The value of the expression for a document.
    ///
    /// # Errors
    /// An unknown prefix, or a node set where none is allowed.
    pub(crate) fn evaluate<'a, 'i>(
        &self,
        document: &'a roxmltree::Document<'i>,
        dialect: Dialect,
        prefixes: &[(String, String)],
    ) -> Result<Value<'a, 'i>, String> {
        let at = At {
            node: Node::Tree(document.root()),
            position: 1,
            size: 1,
            dialect,
            prefixes,
        };
        evaluate(&self.expression, at)
    }
}

pub(super) fn evaluate<'a, 'i>(
    expression: &Expression,
    at: At<'_, 'a, 'i>,
) -> Result<Value<'a, 'i>, String> {
    Ok(match expression {
        Expression::Text(text) => Value::Text(text.clone()),
        Expression::Number(number) => Value::Number(*number),
        Expression::Negative(inner) => Value::Number(-evaluate(inner, at)?.number()),
        Expression::Binary(operator, left, right) => binary(operator, left, right, at)?,
        Expression::Call(name, arguments) => {
            let arguments = arguments.iter().map(|argument| evaluate(argument, at));
            let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
            functions::call(name, &arguments, at)?
        }
        Expression::Path(from_root, steps) => {
            let start = match at.node {
                Node::Tree(node) | Node::Attribute(node, _) if *from_root => {
                    Node::Tree(node.document().root())
                }
                node => node,
            };
            Value::Nodes(walk(vec![start], steps, at)?)
        }
        Expression::Filter(primary, predicates, steps) => {
            let Value::Nodes(mut nodes) = evaluate(primary, at)? else {
                return Err("Can not convert the expression to a NodeList!".to_owned());
            };
            for predicate in predicates {
                nodes = kept(nodes, predicate, at)?;
            }
            Value::Nodes(walk(nodes, steps, at)?)
        }
    })
}

fn walk<'a, 'i>(
    mut nodes: Vec<Node<'a, 'i>>,
    steps: &[Step],
    at: At<'_, 'a, 'i>,
) -> Result<Vec<Node<'a, 'i>>, String> {
    for step in steps {
        let mut next = Vec::new();
        let mut seen = HashSet::new();
        for node in nodes {
            let mut found = Vec::new();
            for candidate in along(node, step.axis) {
                if passes(candidate, step, at)? {
                    found.push(candidate);
                }
            }
            for predicate in &step.predicates {
                found = kept(found, predicate, at)?;
            }
            next.extend(found.into_iter().filter(|one| seen.insert(one.order())));
        }
        next.sort_by_key(|node| node.order());
        nodes = next;
    }
    Ok(nodes)
}

/// The nodes that match a predicate; a number selects by position.
fn kept<'a, 'i>(
    nodes: Vec<Node<'a, 'i>>,
    predicate: &Expression,
    at: At<'_, 'a, 'i>,
) -> Result<Vec<Node<'a, 'i>>, String> {
    let size = nodes.len();
    let mut kept = Vec::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let position = index + 1;
        let value = evaluate(
            predicate,
            At {
                node,
                position,
                size,
                ..at
            },
        )?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a position in a document in memory"
        )]
        let holds = match value {
            Value::Number(number) => number == position as f64,
            other => other.truth(),
        };
        if holds {
            kept.push(node);
        }
    }
    Ok(kept)
}

/// The nodes of an axis, the nearest first.
fn along<'a, 'i>(node: Node<'a, 'i>, axis: Axis) -> Vec<Node<'a, 'i>> {
    let tree = match node {
        Node::Tree(tree) => tree,
        Node::Attribute(owner, _) => {
            return match axis {
                Axis::Parent => vec![Node::Tree(owner)],
                Axis::Itself | Axis::DescendantOrSelf => vec![node],
                Axis::Ancestor => owner.ancestors().map(Node::Tree).collect(),
                Axis::AncestorOrSelf => [node]
                    .into_iter()
                    .chain(owner.ancestors().map(Node::Tree))
                    .collect(),
                _ => Vec::new(),
            };
        }
    };
    match axis {
        Axis::Child => tree.children().map(Node::Tree).collect(),
        Axis::Descendant => tree.descendants().skip(1).map(Node::Tree).collect(),
        Axis::DescendantOrSelf => tree.descendants().map(Node::Tree).collect(),
        Axis::Parent => tree.parent().map(Node::Tree).into_iter().collect(),
        Axis::Ancestor => tree.ancestors().skip(1).map(Node::Tree).collect(),
        Axis::AncestorOrSelf => tree.ancestors().map(Node::Tree).collect(),
        Axis::Itself => vec![node],
        Axis::Attribute => (0..tree.attributes().len())
            .map(|index| Node::Attribute(tree, index))
            .collect(),
        Axis::FollowingSibling => tree.next_siblings().skip(1).map(Node::Tree).collect(),
        Axis::PrecedingSibling => tree.prev_siblings().skip(1).map(Node::Tree).collect(),
        Axis::Following => {
            let behind = tree.ancestors().flat_map(|one| one.next_siblings().skip(1));
            behind
                .flat_map(|one| one.descendants())
                .map(Node::Tree)
                .collect()
        }
        Axis::Preceding => {
            let before = tree.ancestors().flat_map(|one| one.prev_siblings().skip(1));
            let below = |one: roxmltree::Node<'a, 'i>| {
                let mut nodes: Vec<_> = one.descendants().collect();
                nodes.reverse();
                nodes
            };
            before.flat_map(below).map(Node::Tree).collect()
        }
    }
}

fn passes(node: Node<'_, '_>, step: &Step, at: At<'_, '_, '_>) -> Result<bool, String> {
    let is_principal = match node {
        Node::Tree(tree) => tree.is_element() && step.axis != Axis::Attribute,
        Node::Attribute(..) => step.axis == Axis::Attribute,
    };
    Ok(match (&step.test, node) {
        (Test::AnyNode, _) => true,
        (Test::Text, Node::Tree(tree)) => tree.is_text(),
        (Test::Comment, Node::Tree(tree)) => tree.is_comment(),
        (Test::Instruction, Node::Tree(tree)) => tree.is_pi(),
        (Test::Name(prefix, local), node) if is_principal => {
            named(node, (prefix.as_deref(), local), step.by_written_name, at)?
        }
        _ => false,
    })
}

fn named(
    node: Node<'_, '_>,
    (prefix, local): (Option<&str>, &str),
    by_written_name: bool,
    at: At<'_, '_, '_>,
) -> Result<bool, String> {
    let (namespace, name) = node.expanded();
    match prefix {
        None if local == "*" => Ok(true),
        None if at.dialect == Dialect::Plain => {
            let written = node.written_name();
            let written = match (by_written_name, written.split_once(':')) {
                (false, Some((_, local))) => local,
                _ => written,
            };
            Ok(written == local)
        }
        None => Ok(namespace.is_none() && name == local),
        Some("*") if at.dialect == Dialect::Later => Ok(name == local),
        Some(prefix) => {
            let found = at.prefixes.iter().find(|(one, _)| one == prefix);
            let Some((_, wanted)) = found else {
                return Err(match at.dialect {
                    Dialect::Later => undeclared(prefix),
                    _ => format!("Prefix must resolve to a namespace: {prefix}"),
                });
            };
            let same = at.dialect != Dialect::Plain && namespace == Some(wanted.as_str());
            Ok(same && (local == "*" || name == local))
        }
    }
}

/// Saxon's words for a prefix that the expression's lines do not declare.
pub(super) fn undeclared(prefix: &str) -> String {
    format!("Namespace prefix '{prefix}' has not been declared")
}

fn binary<'a, 'i>(
    operator: &str,
    left: &Expression,
    right: &Expression,
    at: At<'_, 'a, 'i>,
) -> Result<Value<'a, 'i>, String> {
    let left = evaluate(left, at)?;
    match operator {
        "or" => return Ok(Value::Truth(left.truth() || evaluate(right, at)?.truth())),
        "and" => return Ok(Value::Truth(left.truth() && evaluate(right, at)?.truth())),
        _ => {}
    }
    let right = evaluate(right, at)?;
    let (a, b) = (left.number(), right.number());
    Ok(match operator {
        "|" => {
            let (Value::Nodes(mut nodes), Value::Nodes(others)) = (left, right) else {
                return Err("Can not convert the expression to a NodeList!".to_owned());
            };
            nodes.extend(others);
            nodes.sort_by_key(|node| node.order());
            nodes.dedup_by_key(|node| node.order());
            Value::Nodes(nodes)
        }
        "+" => Value::Number(a + b),
        "-" => Value::Number(a - b),
        "*" => Value::Number(a * b),
        "div" => Value::Number(a / b),
        "idiv" => Value::Number((a / b).trunc()),
        "mod" => Value::Number(a % b),
        _ => Value::Truth(compare(operator, &left, &right)),
    })
}

/// A node set matches if any of its nodes does.
fn compare(operator: &str, left: &Value<'_, '_>, right: &Value<'_, '_>) -> bool {
    match (left, right) {
        (Value::Nodes(_), Value::Truth(_)) | (Value::Truth(_), Value::Nodes(_)) => compare_one(
            operator,
            &Value::Truth(left.truth()),
            &Value::Truth(right.truth()),
        ),
        (Value::Nodes(nodes), other) => nodes
            .iter()
            .any(|node| compare(operator, &Value::Text(node.text()), other)),
        (other, Value::Nodes(nodes)) => nodes
            .iter()
            .any(|node| compare(operator, other, &Value::Text(node.text()))),
        _ => compare_one(operator, left, right),
    }
}

fn compare_one(operator: &str, left: &Value<'_, '_>, right: &Value<'_, '_>) -> bool {
    let (a, b) = (left.number(), right.number());
    let equal = match (left, right) {
        (Value::Truth(_), _) | (_, Value::Truth(_)) => left.truth() == right.truth(),
        (Value::Number(_), _) | (_, Value::Number(_)) => a == b,
        _ => left.text() == right.text(),
    };
    match operator {
        "=" | "eq" => equal,
        "!=" | "ne" => !equal,
        "<" | "lt" => a < b,
        "<=" | "le" => a <= b,
        ">" | "gt" => a > b,
        _ => a >= b,
    }
}
