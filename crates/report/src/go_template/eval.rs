//! Executes a parsed template.
//!
//! Must not know text. Invariant: every node and operand costs a step, so that no template runs
//! longer than its limits allow.

use super::node::{Branch, Command, Function, Node, Operand, Pipe};
use super::value::{List, Value};
use super::{Host, Limits, Template, TemplateError, calls, functions, show};

type Result<T> = std::result::Result<T, TemplateError>;

/// Whether a loop continues after a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

struct State<'a> {
    template: &'a Template,
    host: &'a mut dyn Host,
    limits: Limits,
    steps: u64,
    depth: usize,
    variables: Vec<(&'a str, Value)>,
    out: String,
}

/// Executes `template` with `data` as its dot.
pub(super) fn render(
    template: &Template,
    data: &Value,
    host: &mut dyn Host,
    limits: Limits,
) -> Result<String> {
    let mut state = State {
        template,
        host,
        limits,
        steps: 0,
        depth: 0,
        variables: vec![("", data.clone())],
        out: String::new(),
    };
    state.nodes(&template.main, data)?;
    Ok(state.out)
}

fn at<T>(line: usize, result: std::result::Result<T, String>) -> Result<T> {
    result.map_err(|what| TemplateError::new(line, what))
}

impl<'a> State<'a> {
    fn step(&mut self, line: usize) -> Result<()> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(TemplateError::new(
                line,
                format!("more than {} steps", self.limits.steps),
            ));
        }
        Ok(())
    }

    fn write(&mut self, line: usize, text: &str) -> Result<()> {
        if self.out.len() + text.len() > self.limits.output {
            let limit = self.limits.output;
            return Err(TemplateError::new(
                line,
                format!("more than {limit} bytes of output"),
            ));
        }
        self.out.push_str(text);
        Ok(())
    }

    fn nodes(&mut self, nodes: &'a [Node], dot: &Value) -> Result<Flow> {
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &'a Node, dot: &Value) -> Result<Flow> {
        self.step(0)?;
        match node {
            Node::Text(text) => self.write(0, text)?,
            Node::Action(pipe) => {
                let value = self.pipe(pipe, dot)?;
                if pipe.variables.is_empty() {
                    self.write(pipe.line, &show::printed(&value))?;
                }
            }
            Node::If(branch) => return self.choose(branch, dot, false),
            Node::With(branch) => return self.choose(branch, dot, true),
            Node::Range(branch) => return self.range(branch, dot),
            Node::Template { line, name, data } => self.include(*line, name, data.as_ref(), dot)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn choose(&mut self, branch: &'a Branch, dot: &Value, moves_dot: bool) -> Result<Flow> {
        let scope = self.variables.len();
        let value = self.pipe(&branch.pipe, dot)?;
        let flow = match (value.is_true(), moves_dot) {
            (true, true) => self.nodes(&branch.body, &value),
            (true, false) => self.nodes(&branch.body, dot),
            (false, _) => self.nodes(&branch.otherwise, dot),
        };
        self.variables.truncate(scope);
        flow
    }

    fn range(&mut self, branch: &'a Branch, dot: &Value) -> Result<Flow> {
        let scope = self.variables.len();
        let value = self.pipe(&branch.pipe, dot)?;
        let body = self.variables.len();
        let mut ran = false;
        let mut position = 0_usize;
        while let Some((key, item)) = at(branch.pipe.line, item_of(&value, position))? {
            if matches!(value, Value::Int(_)) && branch.pipe.variables.len() > 1 {
                let what = "can't use an integer to iterate over more than one variable";
                return Err(TemplateError::new(branch.pipe.line, what));
            }
            ran = true;
            position += 1;
            self.set_loop_variables(&branch.pipe, key, &item);
            let flow = self.nodes(&branch.body, &item)?;
            self.variables.truncate(body);
            if flow == Flow::Break {
                break;
            }
            self.step(branch.pipe.line)?;
        }
        let flow = if ran {
            Ok(Flow::Next)
        } else {
            self.nodes(&branch.otherwise, dot)
        };
        self.variables.truncate(scope);
        flow
    }

    /// With one variable the item, with two the key and the item.
    fn set_loop_variables(&mut self, pipe: &'a Pipe, key: Value, item: &Value) {
        match pipe.variables.as_slice() {
            [name] => self.assign(name, item.clone()),
            [first, second] => {
                self.assign(first, key);
                self.assign(second, item.clone());
            }
            _ => {}
        }
    }

    fn assign(&mut self, name: &str, value: Value) {
        if let Some(slot) = self
            .variables
            .iter_mut()
            .rev()
            .find(|(known, _)| *known == name)
        {
            slot.1 = value;
        }
    }

    fn include(
        &mut self,
        line: usize,
        name: &str,
        data: Option<&'a Pipe>,
        dot: &Value,
    ) -> Result<()> {
        let template = self.template;
        let Some(body) = template.defined.get(name) else {
            return Err(TemplateError::new(
                line,
                format!("template {name:?} not defined"),
            ));
        };
        let value = match data {
            Some(pipe) => self.pipe(pipe, dot)?,
            None => Value::Missing,
        };
        if self.depth == self.limits.depth {
            let limit = self.limits.depth;
            return Err(TemplateError::new(
                line,
                format!("templates nested more than {limit} deep"),
            ));
        }
        self.depth += 1;
        let outside = std::mem::replace(&mut self.variables, vec![("", value.clone())]);
        self.nodes(body, &value)?;
        self.variables = outside;
        self.depth -= 1;
        Ok(())
    }

    fn pipe(&mut self, pipe: &'a Pipe, dot: &Value) -> Result<Value> {
        let mut value = None;
        for command in &pipe.commands {
            value = Some(self.command(command, dot, value)?);
        }
        let value = value.unwrap_or(Value::Nil);
        for name in &pipe.variables {
            if pipe.assigns {
                self.assign(name, value.clone());
            } else {
                self.variables.push((name, value.clone()));
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        command: &'a Command,
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value> {
        self.step(command.line)?;
        let has_arguments = !command.arguments.is_empty() || piped.is_some();
        match &command.head {
            Operand::Function(function) => self.call(*function, command, dot, piped),
            Operand::Field(names) => {
                let arguments = self.arguments(command, dot, piped)?;
                at(command.line, calls::chain(dot, names, &arguments))
            }
            Operand::Variable(name, fields) if !fields.is_empty() => {
                let arguments = self.arguments(command, dot, piped)?;
                let value = self.variable(name);
                at(command.line, calls::chain(&value, fields, &arguments))
            }
            Operand::Chain(inner, fields) => {
                let arguments = self.arguments(command, dot, piped)?;
                let value = self.operand(inner, dot, command.line)?;
                at(command.line, calls::chain(&value, fields, &arguments))
            }
            Operand::Nil => Err(TemplateError::new(command.line, "nil is not a command")),
            _ if has_arguments => Err(TemplateError::new(
                command.line,
                "can't give argument to non-function",
            )),
            operand => self.operand(operand, dot, command.line),
        }
    }

    fn call(
        &mut self,
        function: Function,
        command: &'a Command,
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value> {
        if let Function::And | Function::Or = function {
            return self.short_circuit(function, command, dot, piped);
        }
        let arguments = self.arguments(command, dot, piped)?;
        let result = match function {
            Function::Host(name) => self.host.call(name, &arguments),
            built_in => functions::call(built_in, &arguments),
        };
        at(command.line, result)
    }

    /// `and` and `or` stop at the first argument that decides.
    fn short_circuit(
        &mut self,
        function: Function,
        command: &'a Command,
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value> {
        let mut value = Value::Nil;
        for operand in &command.arguments {
            value = self.operand(operand, dot, command.line)?;
            if value.is_true() == (function == Function::Or) {
                return Ok(value);
            }
        }
        Ok(piped.unwrap_or(value))
    }

    fn arguments(
        &mut self,
        command: &'a Command,
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(command.arguments.len() + 1);
        for operand in &command.arguments {
            values.push(self.operand(operand, dot, command.line)?);
        }
        values.extend(piped);
        Ok(values)
    }

    fn operand(&mut self, operand: &'a Operand, dot: &Value, line: usize) -> Result<Value> {
        self.step(line)?;
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Nil => Ok(Value::Nil),
            Operand::Constant(value) => Ok(value.clone()),
            Operand::Field(names) => at(line, calls::chain(dot, names, &[])),
            Operand::Variable(name, fields) => {
                at(line, calls::chain(&self.variable(name), fields, &[]))
            }
            Operand::Function(Function::Host(name)) => at(line, self.host.call(name, &[])),
            Operand::Function(function) => at(line, functions::call(*function, &[])),
            Operand::Pipe(pipe) => self.pipe(pipe, dot),
            Operand::Chain(inner, fields) => {
                let value = self.operand(inner, dot, line)?;
                at(line, calls::chain(&value, fields, &[]))
            }
        }
    }

    fn variable(&self, name: &str) -> Value {
        let found = self
            .variables
            .iter()
            .rev()
            .find(|(known, _)| *known == name);
        found.map_or(Value::Nil, |(_, value)| value.clone())
    }
}

/// The key and item at a position of the ranged value; `None` after the last.
fn item_of(value: &Value, position: usize) -> std::result::Result<Option<(Value, Value)>, String> {
    let index = Value::Int(position as i64);
    Ok(match value {
        Value::Nil | Value::Missing => None,
        Value::List(list) => List::get(list, position).map(|item| (index, item)),
        Value::Bytes(bytes) => bytes
            .get(position)
            .map(|byte| (index, Value::Uint(u64::from(*byte)))),
        Value::Map(rows) => rows.as_ref().get(position).cloned(),
        Value::Int(count) => (index.as_int()? < *count).then(|| (index.clone(), index)),
        Value::Text(_) => return Err("range can't iterate over text".to_owned()),
        other => return Err(format!("range can't iterate over {}", other.type_name())),
    })
}
