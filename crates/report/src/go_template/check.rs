//! Static checks of a template, without executing it.
//!
//! Must not evaluate. Invariant: a template that another one names exists, and constant formats contain no
//! unsupported verb.

use super::node::{Branch, Command, Function, Node, Operand, Pipe};
use super::value::Value;
use super::{Template, TemplateError, printf};

/// Refuses templates that would fail in every execution.
pub(super) fn check(template: &Template) -> Result<(), TemplateError> {
    for nodes in std::iter::once(&template.main).chain(template.defined.values()) {
        each_node(nodes, &mut |node| check_node(template, node))?;
        each_command(nodes, &mut check_format)?;
    }
    Ok(())
}

fn check_node(template: &Template, node: &Node) -> Result<(), TemplateError> {
    match node {
        Node::Template { line, name, .. } if !template.defined.contains_key(name) => Err(
            TemplateError::new(*line, format!("template {name:?} not defined")),
        ),
        _ => Ok(()),
    }
}

fn check_format(command: &Command) -> Result<(), TemplateError> {
    let is_printf = matches!(command.head, Operand::Function(Function::Printf));
    let Some(Operand::Constant(Value::Text(format))) = command.arguments.first() else {
        return Ok(());
    };
    match printf::unsupported_verb(format) {
        Some(verb) if is_printf => Err(TemplateError::new(
            command.line,
            format!("printf verb {verb} is not supported"),
        )),
        _ => Ok(()),
    }
}

/// Whether any field, method or function of that name is used.
pub(super) fn mentions(nodes: &[Node], wanted: &str) -> bool {
    let mut found = false;
    let visited = each_command(nodes, &mut |command| {
        found |= operands(command).any(|operand| match operand {
            Operand::Field(names) | Operand::Variable(_, names) | Operand::Chain(_, names) => {
                names.iter().any(|name| name.as_ref() == wanted)
            }
            Operand::Function(Function::Host(name)) => *name == wanted,
            _ => false,
        });
        Ok(())
    });
    visited.is_ok() && found
}

/// Whether the dot or the dollar sign is used without a field.
pub(super) fn uses_dot(nodes: &[Node]) -> bool {
    let mut found = false;
    let visited = each_command(nodes, &mut |command| {
        found |= operands(command).any(|operand| match operand {
            Operand::Dot => true,
            Operand::Variable(name, fields) => name.is_empty() && fields.is_empty(),
            _ => false,
        });
        Ok(())
    });
    visited.is_ok() && found
}

fn operands(command: &Command) -> impl Iterator<Item = &Operand> {
    std::iter::once(&command.head).chain(&command.arguments)
}

type Visit<'a, T> = &'a mut dyn FnMut(&T) -> Result<(), TemplateError>;

fn each_node(nodes: &[Node], visit: Visit<'_, Node>) -> Result<(), TemplateError> {
    for node in nodes {
        visit(node)?;
        if let Node::If(branch) | Node::With(branch) | Node::Range(branch) = node {
            each_node(&branch.body, visit)?;
            each_node(&branch.otherwise, visit)?;
        }
    }
    Ok(())
}

fn each_command(nodes: &[Node], visit: Visit<'_, Command>) -> Result<(), TemplateError> {
    for node in nodes {
        match node {
            Node::Action(pipe)
            | Node::Template {
                data: Some(pipe), ..
            } => in_pipe(pipe, visit)?,
            Node::If(Branch {
                pipe,
                body,
                otherwise,
            })
            | Node::With(Branch {
                pipe,
                body,
                otherwise,
            })
            | Node::Range(Branch {
                pipe,
                body,
                otherwise,
            }) => {
                in_pipe(pipe, visit)?;
                each_command(body, visit)?;
                each_command(otherwise, visit)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn in_pipe(pipe: &Pipe, visit: Visit<'_, Command>) -> Result<(), TemplateError> {
    for command in &pipe.commands {
        visit(command)?;
        for operand in operands(command) {
            match operand {
                Operand::Pipe(inner) => in_pipe(inner, visit)?,
                Operand::Chain(inner, _) => {
                    if let Operand::Pipe(inner) = inner.as_ref() {
                        in_pipe(inner, visit)?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
