//! Construction of objects of a script's classes.
//!
//! Must not know how they are used. Invariant: the superclass initializes its part of an object before the
//! subclass does.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{Arguments, Code, Expr, Field, Name, Statement, Type};
use super::super::convert;
use super::super::library;
use super::super::order;
use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Machine as _, Outcome, Value};
use super::Interpreter;
use super::calls::takes_so_many;
use super::classes::ScriptClass;
use super::frame::Frame;
use super::instance::Instance;
use super::members::{fits, home, own_static};

impl Interpreter<'_> {
    pub(super) fn own_class(&self, name: &str) -> Option<Rc<ScriptClass>> {
        let classes = &self.shared.classes;
        match classes.is_empty() {
            true => None,
            false => classes.get(name).map(Rc::clone),
        }
    }

    /// Constructs an object of a class.
    pub(super) fn construct(&mut self, class: &Arc<str>, given: Vec<Value>) -> Outcome {
        match self.own_class(class) {
            Some(class) => self.make(&class, given, None),
            None => library::construct(self, class, &given),
        }
    }

    /// Initializes the static variables of a class.
    pub(super) fn ready(&mut self, class: &Rc<ScriptClass>) -> Outcome<()> {
        if class.is_ready.replace(true) {
            return Ok(());
        }
        let definition = Arc::clone(&class.definition);
        let home = home(&Value::Class(definition.name.clone()), class, 0);
        let frame = Frame::of_home(&home);
        for (place, (name, given)) in definition.constants.iter().enumerate() {
            let given = self.given(given, &frame)?;
            let place = i32::try_from(place).unwrap_or(i32::MAX);
            let value = self.make(class, given, Some((name.clone(), place)))?;
            class.statics.borrow_mut().push((name.clone(), value));
        }
        for field in definition.fields.iter().filter(|field| field.is_static) {
            let value = self.first_value(field, &frame)?;
            class.statics.borrow_mut().push((field.name.clone(), value));
        }
        Ok(())
    }

    fn first_value(&mut self, field: &Field, frame: &Rc<Frame>) -> Outcome {
        match (&field.value, &field.kind) {
            (Some(value), _) => {
                let value = self.expression(value, frame)?;
                self.as_kind(value, field.kind.as_ref())
            }
            (None, Some(kind)) => Ok(convert::initial(kind)),
            (None, None) => Ok(Value::Null),
        }
    }

    /// Converts a value to a type, which may be a class of the script.
    pub(super) fn as_kind(&mut self, value: Value, kind: Option<&Type>) -> Outcome {
        let Some(kind) = kind else {
            return Ok(value);
        };
        match self.as_own(&value, kind)? {
            Some(own) => Ok(own),
            None => convert::assign(self, value, kind),
        }
    }

    /// Converts a value to a class of the script; `None`: it stays unchanged, or the type is not such a class.
    pub(super) fn as_own(&mut self, value: &Value, kind: &Type) -> Outcome<Option<Value>> {
        let Some(class) = self.own_class(&kind.name).filter(|_| kind.dimensions == 0) else {
            return Ok(None);
        };
        match value {
            Value::Map(_) if !class.is_enum() => {
                self.make(&class, vec![value.clone()], None).map(Some)
            }
            Value::List(list) if !class.is_enum() => {
                self.make(&class, list.copied(), None).map(Some)
            }
            Value::Text(_) | Value::Composed(_) if class.is_enum() => {
                self.value_of_enum(&class, &print::text(value)).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn value_of_enum(&mut self, class: &Rc<ScriptClass>, name: &str) -> Outcome {
        self.ready(class)?;
        let is_constant = class.definition.constants.iter().any(|one| *one.0 == *name);
        let found = own_static(class, name).filter(|_| is_constant);
        found.ok_or_else(|| {
            let of = &class.definition.full;
            Thrown::argument(format!("No enum constant {of}.{name}"))
        })
    }

    pub(super) fn make(
        &mut self,
        class: &Rc<ScriptClass>,
        given: Vec<Value>,
        constant: Option<(Name, i32)>,
    ) -> Outcome {
        self.ready(class)?;
        let first = |field: &Field| match &field.kind {
            Some(kind) => convert::initial(kind),
            None => Value::Null,
        };
        let fields: Vec<_> = class
            .fields()
            .map(|one| (one.name.clone(), first(one)))
            .collect();
        self.take(64 + fields.len() * 40)?;
        let instance = Rc::new_cyclic(|me| Instance {
            me: me.clone(),
            class: Rc::clone(class),
            shared: Rc::clone(&self.shared),
            fields: fields.into(),
            constant,
            message: None.into(),
            cause: None.into(),
        });
        let this = Value::Object(instance);
        self.enter()?;
        let outcome = self.construct_at(class, 0, &this, given);
        self.leave();
        outcome.map(|()| this)
    }

    /// Initializes the part of an object that belongs to one of its classes.
    fn construct_at(
        &mut self,
        class: &Rc<ScriptClass>,
        at: usize,
        this: &Value,
        given: Vec<Value>,
    ) -> Outcome<()> {
        let definition = Arc::clone(&class.lineage[at]);
        if let Some(code) = fitting(&definition.constructors, &given) {
            return self.construct_by(&code, class, at, this, given);
        }
        if !definition.constructors.is_empty() && given.is_empty() {
            return Err(no_constructor(&definition.full, &given));
        }
        let gifts = &definition.given;
        match given.as_slice() {
            [named @ Value::Map(_)] => {
                self.construct_at(class, at, this, Vec::new())?;
                self.set_named(class, this, named)
            }
            [] => {
                self.construct_above(class, at, this, Vec::new())?;
                self.first_values(class, at, this)
            }
            values if gifts.is_made_of_values && definition.constructors.is_empty() => {
                self.construct_above(class, at, this, Vec::new())?;
                self.first_values(class, at, this)?;
                let fields = definition.fields.iter();
                let mut fields = fields.filter(|one| one.is_property && !one.is_static);
                for value in values {
                    let field = fields.next();
                    let field = field.ok_or_else(|| no_constructor(&definition.full, values))?;
                    self.set_raw(class, this, &field.name, value)?;
                }
                Ok(())
            }
            _ if gifts.has_constructors_above => {
                self.construct_above(class, at, this, given)?;
                self.first_values(class, at, this)
            }
            values => Err(no_constructor(&definition.full, values)),
        }
    }

    fn construct_by(
        &mut self,
        code: &Arc<Code>,
        class: &Rc<ScriptClass>,
        at: usize,
        this: &Value,
        given: Vec<Value>,
    ) -> Outcome<()> {
        let frame = Frame::of_home(&home(this, class, at));
        self.take_parameters(code, given, &frame)?;
        let mut statements = code.body.statements.as_slice();
        let first = statements.first().and_then(call_of_constructor);
        let (is_this, given) = match first {
            Some((is_this, given)) => {
                statements = &statements[1..];
                (is_this, self.given(given, &frame)?)
            }
            None => (false, Vec::new()),
        };
        match is_this {
            true => {
                self.enter()?;
                let outcome = self.construct_at(class, at, this, given);
                self.leave();
                outcome?;
            }
            false => {
                self.construct_above(class, at, this, given)?;
                self.first_values(class, at, this)?;
            }
        }
        self.statements(statements, &frame, false).map(drop)
    }

    /// Initializes the part of an object that belongs to the superclass.
    fn construct_above(
        &mut self,
        class: &Rc<ScriptClass>,
        at: usize,
        this: &Value,
        given: Vec<Value>,
    ) -> Outcome<()> {
        let definition = Arc::clone(&class.lineage[at]);
        let Some(parent) = &definition.parent else {
            return Ok(());
        };
        let last = parent.name.rsplit('.').next();
        let mut lineage = class.lineage.iter();
        let above = lineage.position(|one| Some(&*one.name) == last);
        // A class that inherits from itself ends there.
        if let Some(above) = above.filter(|above| *above > at) {
            return self.construct_at(class, above, this, given);
        }
        let Some(instance) = Instance::of(this) else {
            return Ok(());
        };
        for (place, value) in given.iter().enumerate() {
            let cause = match value {
                Value::Exception(exception) => Some(Rc::clone(exception)),
                own if super::instance::is_thrown(own) => match self.thrown_own(own)? {
                    Thrown::Exception(exception) => Some(exception),
                    end @ Thrown::End(_) => return Err(end),
                },
                _ => None,
            };
            match cause {
                Some(cause) => {
                    if place == 0 {
                        instance.message.replace(Some(cause.told().into()));
                    }
                    instance.cause.replace(Some(cause));
                }
                None if place == 0 && !value.is_null() => {
                    instance.message.replace(Some(print::text(value).into()));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Sets the initial values of fields in a class and its traits.
    fn first_values(&mut self, class: &Rc<ScriptClass>, at: usize, this: &Value) -> Outcome<()> {
        let definition = Arc::clone(&class.lineage[at]);
        for interface in &definition.interfaces {
            let above = class
                .lineage
                .iter()
                .position(|one| one.name == interface.name);
            if let Some(above) = above.filter(|above| *above != at) {
                self.first_values(class, above, this)?;
            }
        }
        let frame = Frame::of_home(&home(this, class, at));
        let fields = definition.fields.iter();
        for field in fields.filter(|one| !one.is_static && one.value.is_some()) {
            let value = self.first_value(field, &frame)?;
            if let Some(instance) = Instance::of(this) {
                instance.set_field(&field.name, value);
            }
        }
        Ok(())
    }

    fn set_named(&mut self, class: &Rc<ScriptClass>, this: &Value, named: &Value) -> Outcome<()> {
        let Value::Map(named) = named else {
            return Ok(());
        };
        for (key, value) in order::entries(named) {
            let name: Arc<str> = print::text(&key).into();
            if class.has(|given| given.is_constant) && class.field(&name).is_some() {
                self.set_raw(class, this, &name, &value)?;
                continue;
            }
            self.set_property(this, &name, value)?;
        }
        Ok(())
    }

    /// Sets a field directly, even if it is read-only.
    pub(super) fn set_raw(
        &mut self,
        class: &Rc<ScriptClass>,
        this: &Value,
        name: &str,
        value: &Value,
    ) -> Outcome<()> {
        let kind = class.field(name).and_then(|field| field.kind.as_ref());
        let value = self.as_kind(value.clone(), kind)?;
        if let Some(instance) = Instance::of(this) {
            instance.set_field(name, value);
        }
        Ok(())
    }
}

/// The call of another constructor at the start of a constructor; returns whether it is one of the same class.
fn call_of_constructor(statement: &Statement) -> Option<(bool, &Arguments)> {
    let Statement::Expression(Expr::CallValue { of, given }) = statement else {
        return None;
    };
    match **of {
        Expr::This => Some((true, given)),
        Expr::Super => Some((false, given)),
        _ => None,
    }
}

/// The constructor that best matches the arguments.
fn fitting(constructors: &[Arc<Code>], given: &[Value]) -> Option<Arc<Code>> {
    let takes = |code: &&Arc<Code>| takes_so_many(code, given.len());
    let all: Vec<&Arc<Code>> = constructors.iter().filter(takes).collect();
    let best = all.iter().find(|code| fits(code, given));
    let is_named = matches!(given, [Value::Map(_)]);
    let only = all.first().filter(|_| all.len() == 1 && !is_named);
    best.or(only).map(|code| Arc::clone(code))
}

/// The exception if no constructor accepts the arguments.
fn no_constructor(class: &str, given: &[Value]) -> Thrown {
    let (classes, _) = print::listed(given);
    Thrown::of(
        "groovy.lang.GroovyRuntimeException",
        format!("Could not find matching constructor for: {class}({classes})"),
    )
}
