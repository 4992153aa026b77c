//! Evaluates expressions.
//!
//! Must not know what methods do. Invariant: the left operand is evaluated first.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{Code, Expr, Key, Number, Operator, Type};
use super::super::classes;
use super::super::convert;
use super::super::decimal::Decimal;
use super::super::library;
use super::super::map::{Map, MapKind};
use super::super::number;
use super::super::operators;
use super::super::order;
use super::super::thrown::Thrown;
use super::super::value::{Machine as _, Outcome, Range, RangeOf, Value};
use super::frame::{Frame, Place};
use super::{Interpreter, MethodReference, ScriptClosure};

impl Interpreter<'_> {
    pub(super) fn expression(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        self.work(1)?;
        let nesting = super::NESTING.get();
        if nesting >= super::DEEPEST_EXPRESSION {
            return Err(Thrown::bare("java.lang.StackOverflowError"));
        }
        super::NESTING.set(nesting + 1);
        let outcome = self.expression_here(expression, frame);
        super::NESTING.set(nesting);
        if let (Ok(value), true) = (&outcome, self.noted.is_some()) {
            self.note(expression, false, value);
        }
        outcome
    }

    /// Operators of equal precedence, one after another.
    pub(super) fn chain(
        &mut self,
        first: &Expr,
        rest: &[(Operator, Expr)],
        frame: &Rc<Frame>,
    ) -> Outcome {
        let mut value = self.expression(first, frame)?;
        for (operator, right) in rest {
            let with = self.expression(right, frame)?;
            value = self.operate(*operator, &value, &with)?;
            self.note(right, true, &value);
        }
        Ok(value)
    }

    fn expression_here(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        match expression {
            Expr::Null => Ok(Value::Null),
            Expr::Truth(truth) => Ok(Value::Truth(*truth)),
            Expr::Number(number) => Ok(number_value(number)),
            Expr::Char(one) => Ok(Value::Char(*one)),
            Expr::Text(text) => Ok(Value::Text(Arc::clone(text))),
            Expr::Variable(name) => {
                let value = self.variable(name, frame)?;
                self.told_now(value)
            }
            Expr::Call { .. } => self.call_expression(expression, frame),
            Expr::Binary(operator, left, right) => {
                let left = self.expression(left, frame)?;
                let right = self.expression(right, frame)?;
                self.operate(*operator, &left, &right)
            }
            Expr::Chain(first, rest) => self.chain(first, rest, frame),
            Expr::Property { .. } => self.property_expression(expression, frame),
            Expr::Composed(pieces) => self.composed(pieces, frame),
            Expr::Assign { .. } | Expr::AssignIfFalse { .. } | Expr::AssignMany { .. } => {
                self.assign_expression(expression, frame)
            }
            Expr::And(left, right) => {
                let holds = self.holds(left, frame)? && self.holds(right, frame)?;
                Ok(Value::Truth(holds))
            }
            Expr::Or(left, right) => {
                let holds = self.holds(left, frame)? || self.holds(right, frame)?;
                Ok(Value::Truth(holds))
            }
            Expr::Not(value) => Ok(Value::Truth(!self.holds(value, frame)?)),
            Expr::Index { of, at, is_safe } if self.is_groovy() => {
                self.index(of, at, *is_safe, frame)
            }
            Expr::Index { of, at, is_safe } => self
                .index(of, at, *is_safe, frame)
                .map_err(Thrown::in_index),
            _ => self.rarer(expression, frame),
        }
    }

    fn rarer(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        match expression {
            Expr::Path(name) if **name == *"void" && !self.is_groovy() => Ok(Value::Void),
            Expr::Path(name) => Ok(Value::Class(Arc::clone(name))),
            Expr::This | Expr::Super => Ok(match frame.home() {
                Some(home) => home.this.clone(),
                None => Value::object(super::calls::ScriptObject),
            }),
            Expr::List(values) => {
                let values = self.values_of(values, frame)?;
                self.take(values.len() * 24)?;
                Ok(Value::list(values))
            }
            Expr::Map(entries) => self.map(entries, frame),
            Expr::Range { from, to, is_open } => {
                let from = self.expression(from, frame)?;
                let to = self.expression(to, frame)?;
                range(&from, &to, *is_open)
            }
            Expr::Negative(value) => {
                let value = self.expression(value, frame)?;
                match number::negated(&value) {
                    Some(value) => Ok(value),
                    None => self.invoke(&value, "negative", &[]),
                }
            }
            Expr::Positive(value) => self.expression(value, frame),
            Expr::Complement(value) => {
                let value = self.expression(value, frame)?;
                operators::complement(&value)
            }
            Expr::Closure(code) => Ok(self.closure_of(Arc::clone(code), frame)),
            Expr::Reference(of, name) => {
                let of = self.expression(of, frame)?;
                Ok(Value::Closure(Rc::new(MethodReference {
                    of,
                    name: Arc::clone(name),
                })))
            }
            Expr::Spread(_) => Err(Thrown::argument("a spread outside of a list or a call")),
            _ => self.rarest(expression, frame),
        }
    }

    fn rarest(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        match expression {
            Expr::Ternary(condition, then, other) => match self.holds(condition, frame)? {
                true => self.expression(then, frame),
                false => self.expression(other, frame),
            },
            Expr::Elvis(value, other) => {
                let value = self.expression(value, frame)?;
                match order::truth(&value) {
                    true => Ok(value),
                    false => self.expression(other, frame),
                }
            }
            Expr::Step {
                target,
                is_up,
                is_prefix,
            } => self.step(target, *is_up, *is_prefix, frame),
            Expr::CallValue { of, given } => {
                let callee = self.expression(of, frame)?;
                let given = self.given(given, frame)?;
                self.call_value(&callee, given)
            }
            Expr::New { class, given } => {
                let given = self.given(given, frame)?;
                let class = self.class_of_type(class)?;
                let made = self.construct(&class, given);
                match self.is_groovy() {
                    true => made,
                    false => made.map_err(Thrown::in_constructor),
                }
            }
            Expr::NewArray {
                class,
                lengths,
                values,
            } => self.new_array(class, lengths, values.as_deref(), frame),
            Expr::Cast { to, value, is_as } => {
                let value = self.expression(value, frame)?;
                if let Some(own) = self.as_own(&value, to)? {
                    return Ok(own);
                }
                match is_as {
                    true => convert::coerce(self, value, to),
                    false => convert::cast(self, value, to),
                }
            }
            Expr::InstanceOf {
                value,
                class,
                is_not,
            } => {
                let value = self.expression(value, frame)?;
                Ok(Value::Truth(convert::is_instance(&value, class) != *is_not))
            }
            _ => Err(Thrown::argument(
                "an expression that cannot be evaluated here",
            )),
        }
    }

    pub(super) fn closure_of(&self, code: Arc<Code>, frame: &Rc<Frame>) -> Value {
        Value::Closure(Rc::new(ScriptClosure {
            code,
            frame: Rc::clone(frame),
            shared: Rc::clone(&self.shared),
            curried: Vec::new(),
            curried_behind: Vec::new(),
            delegate: std::cell::RefCell::default(),
        }))
    }

    /// The value of a variable.
    pub(super) fn variable(&mut self, name: &Arc<str>, frame: &Rc<Frame>) -> Outcome {
        if let Some(value) = frame.get(name) {
            return Ok(value);
        }
        for place in frame.places(name) {
            match place {
                Place::Variable(frame, at) => return Ok(frame.value_at(at)),
                Place::Delegate(delegate) => match self.property_of(&delegate, name) {
                    Ok(value) => return Ok(value),
                    Err(Thrown::Exception(exception))
                        if exception.is_a("groovy.lang.MissingPropertyException") => {}
                    Err(thrown) => return Err(thrown),
                },
            }
        }
        if let Some(home) = frame.home() {
            return self.variable_of(&home, name);
        }
        if let Some(value) = self.bindings.bound(name) {
            return Ok(value);
        }
        if let Some(value) = self.imported_constant(name)? {
            return Ok(value);
        }
        if let Some(class) = self.class_named(name) {
            return Ok(Value::Class(class));
        }
        if !self.is_groovy() {
            return Ok(Value::Void);
        }
        match &**name {
            "out" => Ok(Value::object(super::calls::Output)),
            "binding" => Ok(Value::object(library::Binding)),
            "args" => Ok(Value::array(super::super::value::Element::Text, Vec::new())),
            _ => Err(Thrown::of(
                "groovy.lang.MissingPropertyException",
                format!("No such property: {name} for class: Script1"),
            )),
        }
    }

    /// The full name of a class by its own name, or by its import, in the script.
    pub(super) fn class_named(&self, name: &str) -> Option<Arc<str>> {
        let imports = &self.shared.imports;
        let last = name.rsplit('.').next().unwrap_or(name);
        if let Some(class) = self.shared.classes.get(last) {
            return Some(Arc::clone(&class.definition.name));
        }
        if let Some((_, path)) = imports.iter().find(|(known, _)| **known == *name) {
            let path = path.strip_prefix("static ").unwrap_or(path);
            return Some(classes::full_name(path).map_or_else(|| path.into(), Arc::from));
        }
        if let Some(found) = classes::full_name(name) {
            return Some(found.into());
        }
        imports.iter().find_map(|(_, path)| {
            let package = path.strip_suffix(".*")?;
            classes::in_package(package, name).map(Arc::from)
        })
    }

    pub(super) fn class_of_type(&self, class: &Type) -> Outcome<Arc<str>> {
        self.class_named(&class.name).ok_or_else(|| {
            Thrown::of(
                "java.lang.ClassNotFoundException",
                format!("unable to resolve class {}", class.name),
            )
        })
    }

    /// The values of a list or a call, including spread ones.
    pub(super) fn values_of(&mut self, values: &[Expr], frame: &Rc<Frame>) -> Outcome<Vec<Value>> {
        let mut found = Vec::with_capacity(values.len());
        for value in values {
            match value {
                Expr::Spread(inner) => {
                    let inner = self.expression(inner, frame)?;
                    if !inner.is_null() {
                        found.extend(library::values(self, &inner)?);
                    }
                }
                value => found.push(self.expression(value, frame)?),
            }
        }
        Ok(found)
    }

    pub(super) fn map(&mut self, entries: &[(Key, Expr)], frame: &Rc<Frame>) -> Outcome {
        let map = Map::new(MapKind::Linked);
        self.take(entries.len() * 64)?;
        for (key, value) in entries {
            let key = match key {
                Key::Name(name) => Value::Text(Arc::clone(name)),
                Key::Value(key) => self.expression(key, frame)?,
                Key::Spread => {
                    if let Value::Map(other) = self.expression(value, frame)? {
                        for (key, value) in order::entries(&other) {
                            map.put(&key, value);
                        }
                    }
                    continue;
                }
            };
            let value = self.expression(value, frame)?;
            map.put(&key, value);
        }
        Ok(Value::Map(map))
    }

    fn index(&mut self, of: &Expr, at: &[Expr], is_safe: bool, frame: &Rc<Frame>) -> Outcome {
        let of_value = self.expression(of, frame)?;
        if is_safe && of_value.is_null() {
            return Ok(Value::Null);
        }
        // `String[]` as a value is a type.
        if let (Value::Class(name), []) = (&of_value, at) {
            return Ok(Value::Class(format!("{name}[]").into()));
        }
        let mut at = self.values_of(at, frame)?;
        let at = match at.len() {
            1 => at.swap_remove(0),
            _ => Value::list(at),
        };
        if of_value.is_null() {
            return Err(Thrown::null_call("getAt"));
        }
        let is_array = matches!(&of_value, Value::List(list) if list.is_array());
        if !self.is_groovy() && !is_array {
            return Err(Thrown::of("bsh.EvalError", "Not an array"));
        }
        match self.invoke_own(&of_value, "getAt", std::slice::from_ref(&at))? {
            Some(value) => Ok(value),
            None => library::at(self, &of_value, &at),
        }
    }

    fn property_expression(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        let Expr::Property {
            of,
            name,
            is_safe,
            is_spread,
        } = expression
        else {
            return Ok(Value::Null);
        };
        let name: Arc<str> = match &**name {
            Expr::Text(name) => Arc::clone(name),
            other => {
                let name = self.expression(other, frame)?;
                super::super::print::text(&name).into()
            }
        };
        // A class by its full name, if the path does not start with a variable.
        if name.starts_with(char::is_uppercase)
            && let Some(path) = super::super::paths::dotted(of)
            && path.starts_with(char::is_lowercase)
            && let Some(class) = classes::full_name(&format!("{path}.{name}"))
        {
            return Ok(Value::Class(class.into()));
        }
        let is_own = matches!(**of, Expr::This | Expr::Super);
        if let Some(home) = frame.home().filter(|_| is_own) {
            return match self.field_of(&home, &name)? {
                Some(value) => Ok(value),
                None => self.property_of(&home.this, &name),
            };
        }
        let owner = of;
        let of = self.expression(owner, frame)?;
        if matches!(of, Value::Void) {
            let path = super::super::paths::dotted(owner).unwrap_or_default();
            let message = format!("Class or variable not found: {path}.{name}");
            return Err(Thrown::of("bsh.EvalError", message));
        }
        if *is_safe && of.is_null() {
            return Ok(Value::Null);
        }
        if *is_spread {
            if of.is_null() {
                return Ok(Value::Null);
            }
            let values = library::values(self, &of)?;
            let mut found = Vec::with_capacity(values.len());
            for value in values {
                found.push(match value.is_null() {
                    true => Value::Null,
                    false => self.property_of(&value, &name)?,
                });
            }
            return Ok(Value::list(found));
        }
        self.property_of(&of, &name)
    }

    pub(super) fn property_of(&mut self, of: &Value, name: &str) -> Outcome {
        if of.is_null() {
            if !self.is_groovy() {
                return Err(Thrown::bare("java.lang.NullPointerException"));
            }
            return Err(Thrown::of(
                "java.lang.NullPointerException",
                format!("Cannot get property '{name}' on null object"),
            ));
        }
        if of.of::<super::calls::ScriptObject>().is_some() {
            if name == "class" {
                return Ok(Value::Class("Script1".into()));
            }
            return self.variable(&name.into(), &Frame::root());
        }
        if let Some(value) = self.property_of_own(of, name)? {
            return Ok(value);
        }
        if let Value::Closure(_) = of
            && let Some(value) = self.closure_method(of, &library::getter("get", name), &[])?
        {
            return Ok(value);
        }
        library::property(self, of, name)
    }

    fn new_array(
        &mut self,
        class: &Type,
        lengths: &[Expr],
        values: Option<&[Expr]>,
        frame: &Rc<Frame>,
    ) -> Outcome {
        if let Some(values) = values {
            let values = self.values_of(values, frame)?;
            let class = Type {
                name: class.name.clone(),
                dimensions: class.dimensions.max(1),
            };
            return convert::cast(self, Value::list(values), &class);
        }
        let mut counts = Vec::new();
        for length in lengths {
            let length = self.expression(length, frame)?;
            let count = number::int_of(&length).unwrap_or(0);
            let count = usize::try_from(count).map_err(|_| {
                Thrown::of("java.lang.NegativeArraySizeException", count.to_string())
            })?;
            counts.push(count);
        }
        let all = counts
            .iter()
            .fold(1_usize, |all, count| all.saturating_mul((*count).max(1)));
        self.take(all.saturating_mul(24))?;
        Ok(empty_array(class, &counts))
    }
}

fn empty_array(class: &Type, counts: &[usize]) -> Value {
    let (count, rest) = match counts {
        [] => return Value::Null,
        [count, rest @ ..] => (*count, rest),
    };
    let element = convert::element_of(&class.name);
    if rest.is_empty() && class.dimensions <= counts.len() {
        let initial = convert::initial(&Type {
            name: class.name.clone(),
            dimensions: 0,
        });
        return Value::array(element, vec![initial; count]);
    }
    let inner = (0..count).map(|_| {
        empty_array(
            &Type {
                name: class.name.clone(),
                dimensions: class.dimensions.saturating_sub(1),
            },
            rest,
        )
    });
    Value::array(super::super::value::Element::Object, inner.collect())
}

/// A number literal.
fn number_value(number: &Number) -> Value {
    match number {
        Number::Int(number) => Value::Int(*number),
        Number::Long(number) => Value::Long(*number),
        Number::Double(number) => Value::Double(*number),
        Number::Float(number) => Value::Float(*number),
        Number::Whole(digits) => match digits.parse() {
            Ok(number) => Value::Whole(Rc::new(number)),
            Err(_) => Value::Null,
        },
        Number::Decimal(digits) => match Decimal::parse(digits) {
            Some(number) => number::decimal(number),
            None => Value::Null,
        },
    }
}

/// A range between two values.
fn range(from: &Value, to: &Value, is_open: bool) -> Outcome {
    let point = |value: &Value| match value {
        Value::Int(_) | Value::Byte(_) => Some((number::long_of(value)?, RangeOf::Int)),
        Value::Long(_) => Some((number::long_of(value)?, RangeOf::Long)),
        Value::Decimal(_) | Value::Double(_) => Some((number::long_of(value)?, RangeOf::Int)),
        Value::Char(one) => Some((i64::from(u32::from(*one)), RangeOf::Char)),
        Value::Text(text) => {
            let mut characters = text.chars();
            let first = characters.next()?;
            characters
                .next()
                .is_none()
                .then(|| (i64::from(u32::from(first)), RangeOf::Text))
        }
        _ => None,
    };
    let (Some((first, of)), Some((last, other))) = (point(from), point(to)) else {
        return Err(Thrown::argument(format!(
            "Incompatible Argument classes for ObjectRange {} and {}",
            super::super::print::class_name(from),
            super::super::print::class_name(to)
        )));
    };
    let of = if other == RangeOf::Long { other } else { of };
    let (last, is_empty) = match is_open {
        false => (last, false),
        true if first == last => (last, true),
        true if first < last => (last - 1, false),
        true => (last + 1, false),
    };
    Ok(Value::Range(Rc::new(Range {
        from: first,
        to: last,
        is_empty,
        of,
    })))
}
