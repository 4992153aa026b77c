//! The arguments of a call, and their assignment to the parameters of a method or closure.
//!
//! Must not know what is called. Invariant: a parameter without an argument has its default.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{Arguments, Code, Parameter};
use super::super::convert;
use super::super::library;
use super::super::paths;
use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Outcome, Value};
use super::Interpreter;
use super::frame::Frame;

impl Interpreter<'_> {
    /// The arguments of a call; named ones come first, as a map.
    pub(super) fn given(&mut self, given: &Arguments, frame: &Rc<Frame>) -> Outcome<Vec<Value>> {
        if given.named.is_empty() {
            let values = self.values_of(&given.values, frame)?;
            let void = values.iter().position(|one| matches!(one, Value::Void));
            return match void.and_then(|place| given.values.get(place)) {
                None => Ok(values),
                Some(argument) => {
                    let name = paths::dotted(argument).unwrap_or_default();
                    let message = format!("Undefined argument: {name} ");
                    Err(Thrown::of("bsh.EvalError", message))
                }
            };
        }
        let mut values = vec![self.map(&given.named, frame)?];
        values.extend(self.values_of(&given.values, frame)?);
        Ok(values)
    }

    /// Assigns arguments to the parameters of code.
    pub(super) fn take_parameters(
        &mut self,
        code: &Code,
        mut given: Vec<Value>,
        frame: &Rc<Frame>,
    ) -> Outcome<()> {
        let Some(parameters) = &code.parameters else {
            let it = given.into_iter().next().unwrap_or(Value::Null);
            frame.declare(&it_name(), None, it);
            return Ok(());
        };
        let count = parameters.len();
        // A closure with several parameters unpacks a list.
        if code.name.is_empty()
            && given.len() == 1
            && count > 1
            && matches!(given[0], Value::List(_) | Value::Range(_))
        {
            given = library::values(self, &given[0])?;
        }
        let takes_rest = parameters.last().is_some_and(|last| last.takes_rest);
        if takes_rest && given.len() + 1 >= count {
            let rest = given.split_off(count - 1);
            let is_array = matches!(rest.as_slice(), [Value::List(list)] if list.is_array());
            match is_array {
                true => given.extend(rest),
                false => given.push(Value::array(super::super::value::Element::Object, rest)),
            }
        }
        let needed = parameters.iter().filter(|one| one.default.is_none());
        if takes_rest && given.len() + 1 < count && given.len() + 1 == needed.count() {
            given.push(Value::array(
                super::super::value::Element::Object,
                Vec::new(),
            ));
        }
        if given.is_empty() && count == 1 && code.name.is_empty() && parameters[0].default.is_none()
        {
            given.push(Value::Null);
        }
        let wanted = parameters
            .iter()
            .filter(|one| one.default.is_none())
            .count();
        if given.len() > count || given.len() < wanted {
            return Err(not_applicable(code, &given));
        }
        let mut spare = given.len() - wanted;
        let mut given = given.into_iter();
        for parameter in parameters {
            let value = match &parameter.default {
                None => given.next().unwrap_or(Value::Null),
                Some(default) if spare == 0 => self.expression(default, frame)?,
                Some(_) => {
                    spare -= 1;
                    given.next().unwrap_or(Value::Null)
                }
            };
            self.take_parameter(parameter, value, frame)?;
        }
        Ok(())
    }

    fn take_parameter(
        &mut self,
        parameter: &Parameter,
        value: Value,
        frame: &Rc<Frame>,
    ) -> Outcome<()> {
        let value = match &parameter.kind {
            Some(kind) if !parameter.takes_rest => convert::assign(self, value, kind)?,
            _ => value,
        };
        frame.declare(&parameter.name, parameter.kind.clone(), value);
        Ok(())
    }
}

fn it_name() -> Arc<str> {
    thread_local! {
        static IT: Arc<str> = "it".into();
    }
    IT.with(Arc::clone)
}

pub(super) fn not_applicable(code: &Code, given: &[Value]) -> Thrown {
    let (classes, values) = print::listed(given);
    let (name, class) = match code.name.is_empty() {
        true => ("doCall", "Script1$_run_closure1"),
        false => (&*code.name, "Script1"),
    };
    Thrown::of(
        "groovy.lang.MissingMethodException",
        format!(
            "No signature of method: {class}.{name}() is applicable for argument types: ({classes}) values: {values}"
        ),
    )
}
