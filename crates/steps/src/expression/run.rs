//! Executes statements in a scope.
//!
//! Must not know how scripts are parsed. Invariant: each part of a script is evaluated at most once, so
//! evaluation terminates.

use super::Dialect;
use super::method_names::Method;
use super::methods;
use super::objects::Object;
use super::operators::apply;
use super::parser::{Node, Prefix, Step};
use super::value::{Outcome, Value, thrown};
use crate::host::LogLevel;
use crate::sample::Sample;
use crate::scope::Scope;

/// Executes statements: the value of the last one, or of a `return`.
pub(super) fn run(statements: &[Node], dialect: Dialect, scope: &mut Scope<'_>) -> Outcome {
    let mut machine = Machine {
        scope,
        dialect,
        locals: Vec::new(),
        returned: false,
    };
    machine.block(statements)
}

struct Machine<'m, 'a> {
    scope: &'m mut Scope<'a>,
    dialect: Dialect,
    locals: Vec<(String, Value)>,
    /// Whether a `return` was executed, which ends the script.
    returned: bool,
}

impl Machine<'_, '_> {
    fn block(&mut self, statements: &[Node]) -> Outcome {
        let mut value = Value::Null;
        for statement in statements {
            value = self.value(statement)?;
            if self.returned {
                break;
            }
        }
        Ok(value)
    }

    fn value(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Null => Ok(Value::Null),
            Node::Truth(truth) => Ok(Value::Truth(*truth)),
            Node::Number(text) => Value::number(text, self.dialect),
            Node::Text(text) => Ok(Value::Text(text.clone())),
            Node::Template(parts) => {
                let mut text = String::new();
                for part in parts {
                    text.push_str(&self.value(part)?.text());
                }
                Ok(Value::Text(text))
            }
            Node::List(items) => Ok(Value::List(self.values(items)?)),
            Node::Name(name) => {
                let local = self.locals.iter().rev().find(|(known, _)| known == name);
                local
                    .map(|(_, value)| value.clone())
                    .ok_or_else(|| format!("No such property: {name}"))
            }
            Node::Object(Object::ThreadName) => Ok(Value::Text(self.scope.thread.name.clone())),
            Node::Object(object) => Ok(Value::Object(*object)),
            // An operand that throws, such as an undefined name, is empty.
            Node::Prefix(prefix @ (Prefix::Empty | Prefix::Size), operand) => {
                let operand = self.value(operand).unwrap_or(Value::Null);
                self.prefixed(*prefix, &operand)
            }
            Node::Prefix(prefix, operand) => {
                let operand = self.value(operand)?;
                self.prefixed(*prefix, &operand)
            }
            Node::Chain(first, others) => {
                let mut left = self.value(first)?;
                for (operator, right) in others {
                    let right = self.value(right)?;
                    left = apply(*operator, &left, &right, self.dialect)?;
                }
                Ok(left)
            }
            Node::All(terms) => self.until(terms, false),
            Node::Any(terms) => self.until(terms, true),
            Node::Steps(base, steps) => self.stepped(base, steps),
            Node::Choice(..)
            | Node::Else(..)
            | Node::Assign(..)
            | Node::Block(_)
            | Node::Return(_) => self.controlled(node),
        }
    }

    fn values(&mut self, nodes: &[Node]) -> Result<Vec<Value>, String> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    /// Nodes that decide which other nodes are evaluated.
    fn controlled(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Choice(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                // Null selects the other branch.
                let holds = condition != Value::Null && condition.truth()?;
                self.value(if holds { then } else { otherwise })
            }
            Node::Else(value, otherwise, only_null) => {
                // What throws, such as an undefined name, is null.
                let value = self.value(value).unwrap_or(Value::Null);
                let stays = value != Value::Null && (*only_null || value.truth()?);
                if stays {
                    Ok(value)
                } else {
                    self.value(otherwise)
                }
            }
            Node::Assign(name, value) => {
                let value = self.value(value)?;
                self.locals.push((name.clone(), value.clone()));
                Ok(value)
            }
            Node::Block(statements) => self.block(statements),
            Node::Return(value) => {
                let value = self.value(value)?;
                self.returned = true;
                Ok(value)
            }
            other => self.value(other),
        }
    }

    /// Evaluates conditions up to the first one with the value `decisive`.
    fn until(&mut self, terms: &[Node], decisive: bool) -> Outcome {
        for term in terms {
            if self.value(term)?.truth()? == decisive {
                return Ok(Value::Truth(decisive));
            }
        }
        Ok(Value::Truth(!decisive))
    }

    fn prefixed(&self, prefix: Prefix, operand: &Value) -> Outcome {
        match prefix {
            Prefix::Not => Ok(Value::Truth(!operand.truth()?)),
            Prefix::Plus if operand.is_number() => Ok(operand.clone()),
            Prefix::Minus => match operand {
                Value::Int(number) => Ok(Value::Int(number.wrapping_neg())),
                Value::Long(number) => Ok(Value::Long(number.wrapping_neg())),
                Value::Double(number) => Ok(Value::Double(-number)),
                Value::Decimal(number) => Ok(Value::Decimal(number.negated())),
                _ => thrown("a minus before what is not a number"),
            },
            Prefix::Plus => thrown("a plus before what is not a number"),
            Prefix::Complement => Ok(Value::whole(!operand.long()?)),
            Prefix::Empty => Ok(Value::Truth(match operand {
                Value::Null => true,
                Value::Text(text) => text.is_empty(),
                Value::List(list) => list.is_empty(),
                _ => false,
            })),
            Prefix::Size => match operand {
                Value::Null => Ok(Value::Int(0)),
                other => methods::call(other, Method::Size, &[], self.dialect),
            },
        }
    }

    fn stepped(&mut self, base: &Node, steps: &[Step]) -> Outcome {
        let mut value = self.value(base)?;
        for step in steps {
            let safe = matches!(step, Step::Call(_, _, true) | Step::Property(_, true));
            if safe && value == Value::Null {
                return Ok(Value::Null);
            }
            value = match step {
                Step::Call(method, arguments, _) => {
                    let arguments = self.values(arguments)?;
                    self.call(&value, *method, &arguments)?
                }
                Step::Property(name, _) => self.property(&value, name)?,
                Step::Index(at) => {
                    let at = self.value(at)?;
                    self.indexed(&value, &at)?
                }
            };
        }
        Ok(value)
    }

    fn indexed(&self, value: &Value, at: &Value) -> Outcome {
        match value {
            Value::Text(text) => methods::at_index(text, at.long()?),
            Value::List(list) => methods::item(list, at.long()?),
            Value::Object(_) => self.property(value, &at.text()),
            _ => thrown("an index into what is not a list"),
        }
    }

    /// A property: of a map its entry, of other values the result of the getter.
    fn property(&self, value: &Value, name: &str) -> Outcome {
        match value {
            Value::Object(Object::Variables) => Ok(Value::from_option(
                self.scope.variables.get(name).map(str::to_owned),
            )),
            Value::Object(Object::Properties) => Ok(Value::from_option(
                self.scope.host.world().own_property(name),
            )),
            _ => {
                let getter = Method::getter(name);
                let getter = getter.ok_or_else(|| format!("No such property: {name}"))?;
                match value {
                    Value::Object(object) => self.ask(*object, getter),
                    _ => methods::call(value, getter, &[], self.dialect),
                }
            }
        }
    }

    fn call(&mut self, receiver: &Value, method: Method, given: &[Value]) -> Outcome {
        match receiver {
            Value::Object(Object::Variables) => self.of_variables(method, given),
            Value::Object(Object::Properties) => self.of_properties(method, given),
            Value::Object(Object::Log) => self.of_log(method, given),
            Value::Object(object) if given.is_empty() => self.ask(*object, method),
            Value::Object(_) => thrown("no such method"),
            _ => methods::call(receiver, method, given, self.dialect),
        }
    }

    fn of_variables(&mut self, method: Method, given: &[Value]) -> Outcome {
        match (method, given) {
            (Method::Get, [name]) => Ok(Value::from_option(
                self.scope.variables.get(&name.text()).map(str::to_owned),
            )),
            (Method::Put, [name, value]) => {
                match value {
                    Value::Null => {
                        self.scope.variables.remove(&name.text());
                    }
                    Value::Text(text) => self.scope.variables.put(name.text(), text.as_str()),
                    // Java's method only accepts texts.
                    _ => return thrown("vars.put takes texts; use toString()"),
                }
                Ok(Value::Null)
            }
            (Method::Remove, [name]) => Ok(Value::from_option(
                self.scope.variables.remove(&name.text()),
            )),
            (Method::GetIteration, []) => Ok(Value::whole(
                i64::try_from(self.scope.iteration).unwrap_or(i64::MAX),
            )),
            (Method::GetThreadName, []) => Ok(Value::Text(self.scope.thread.name.clone())),
            _ => thrown("no such method of vars"),
        }
    }

    fn of_properties(&mut self, method: Method, given: &[Value]) -> Outcome {
        let host = self.scope.host;
        match (method, given) {
            (Method::Get | Method::GetProperty, [name]) => {
                Ok(Value::from_option(host.world().own_property(&name.text())))
            }
            (Method::GetProperty, [name, default]) => {
                let value = host.world().own_property(&name.text());
                Ok(value.map_or(default.clone(), Value::Text))
            }
            (Method::Put | Method::SetProperty, [name, value]) => Ok(Value::from_option(
                host.world().set_property(&name.text(), &value.text()),
            )),
            _ => thrown("no such method of props"),
        }
    }

    fn of_log(&self, method: Method, given: &[Value]) -> Outcome {
        let level = match method {
            Method::Debug => LogLevel::Debug,
            Method::Info => LogLevel::Info,
            Method::Warn => LogLevel::Warn,
            Method::Error => LogLevel::Error,
            _ => return thrown("no such method of log"),
        };
        let class = match self.dialect {
            Dialect::Jexl2 => "o.a.j.f.Jexl2Function",
            Dialect::Jexl3 => "o.a.j.f.Jexl3Function",
        };
        let message = given.first().map_or(String::new(), Value::text);
        self.scope.host.world().log(level, class, &message);
        Ok(Value::Null)
    }

    /// Methods without arguments that return data of the thread and its last sample.
    fn ask(&self, object: Object, method: Method) -> Outcome {
        let thread = self.scope.thread;
        match (object, method) {
            (Object::Context, Method::GetThreadNum) => {
                Ok(Value::whole(i64::from(thread.number) - 1))
            }
            (Object::Context, Method::GetThread) => Ok(Value::Object(Object::Thread)),
            (Object::Context, Method::GetThreadGroup) => Ok(Value::Object(Object::Group)),
            (Object::Context, Method::GetVariables) => Ok(Value::Object(Object::Variables)),
            (Object::Context, Method::GetProperties) => Ok(Value::Object(Object::Properties)),
            (Object::Context, Method::GetCurrentSampler) => Ok(Value::Object(Object::Sampler)),
            (Object::Context, Method::GetPreviousResult) => Ok(match self.scope.previous {
                Some(_) => Value::Object(Object::Previous),
                None => Value::Null,
            }),
            (Object::Thread, Method::GetThreadName) => Ok(Value::Text(thread.name.clone())),
            (Object::Group, Method::GetName) => Ok(Value::Text(thread.group.clone())),
            (Object::Sampler, Method::GetName) => Ok(Value::Text(self.scope.sampler.to_owned())),
            (Object::Previous, _) => match self.scope.previous {
                Some(sample) => of_sample(sample, method),
                None => thrown("there is no sample yet"),
            },
            _ => thrown("no such method"),
        }
    }
}

/// Methods that return data of a sample.
fn of_sample(sample: &Sample, method: Method) -> Outcome {
    Ok(match method {
        Method::GetResponseCode => Value::Text(sample.code.clone()),
        Method::GetResponseMessage => Value::Text(sample.message.clone()),
        Method::GetResponseDataAsString => Value::Text(sample.text().into_owned()),
        Method::GetSampleLabel => Value::Text(sample.label.clone()),
        Method::GetThreadName => Value::Text(sample.thread_name.clone()),
        Method::IsSuccessful => Value::Truth(sample.success),
        Method::GetTime => Value::Long(i64::try_from(sample.elapsed_ms).unwrap_or(i64::MAX)),
        _ => return thrown("no such method of a sample"),
    })
}
