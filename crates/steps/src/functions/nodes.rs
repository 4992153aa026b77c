//! `__XPath`: the nodes of a file, one per call.
//!
//! Must not know how expressions are evaluated. Invariant: all threads and all calls with the same file and
//! expression take turns on the same nodes; without a node the value is empty, which is logged at each call.

use super::{Call, Outcome};
use crate::host::LogLevel;
use crate::scope::{NodesInTurn, Scope, locked};
use crate::xpath::{Dialect, Document, Value, XPath, first_value, prefixes};

const CLASS: &str = "o.a.j.f.XPathWrapper";

/// Java's text for a node without a value.
const NO_VALUE: &str = "null";

/// `__XPath(file,expression)`: the value of the next node; the last is followed by the first.
pub(super) fn x_path(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let file = call.argument(0, scope).into_owned();
    let expression = call.argument(1, scope).into_owned();
    let mut nodes = locked(&scope.commons.nodes);
    let key = (file, expression);
    if !nodes.contains_key(&key) {
        match values(&key.0, &key.1, scope) {
            Ok(values) => {
                nodes.insert(key.clone(), NodesInTurn { values, next: 0 });
            }
            Err(why) => scope.host.world().log(LogLevel::Warn, CLASS, &why),
        }
    }
    if let Some(nodes) = nodes.get_mut(&key) {
        out.push_str(&nodes.values[nodes.next]);
        nodes.next = (nodes.next + 1) % nodes.values.len();
    }
    Ok(())
}

/// The values of the nodes that match an expression in a file.
fn values(file: &str, expression: &str, scope: &Scope<'_>) -> Result<Vec<String>, String> {
    let bytes = scope.host.world().read_file(file)?;
    let query = XPath::compile(expression)?;
    let document = Document::xml(&String::from_utf8_lossy(&bytes));
    let tree = document
        .tree()
        .map_err(|fault| format!("{file}: {}", fault.with_place()))?;
    let prefixes = prefixes(&tree, Dialect::Plain, "");
    match query.evaluate(&tree, Dialect::Plain, &prefixes)? {
        Value::Nodes(nodes) if nodes.is_empty() => {
            Err(format!("{file} has no nodes for {expression}"))
        }
        Value::Nodes(nodes) => Ok(nodes
            .into_iter()
            .map(|node| first_value(node).unwrap_or_else(|| NO_VALUE.to_owned()))
            .collect()),
        _ => Err(format!("{expression} gives a value, and not nodes")),
    }
}
