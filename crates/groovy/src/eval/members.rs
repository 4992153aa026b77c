//! Methods, properties and construction of a script's objects and classes.
//!
//! Must not know how a class was parsed. Invariant: names in a class's method are those of the class, never
//! those of the script.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{Code, Definition, Type};
use super::super::convert;
use super::super::library;
use super::super::print;
use super::super::thrown::{Exception, Own, Thrown};
use super::super::value::{Element, Machine as _, Outcome, Value};
use super::Interpreter;
use super::calls::came_to;
use super::classes::{Home, ScriptClass};
use super::frame::Frame;
use super::instance::Instance;

impl Interpreter<'_> {
    /// Calls a method of a script's object or class; `None`: it has none.
    pub(super) fn invoke_own(
        &mut self,
        receiver: &Value,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        match receiver {
            Value::Object(_) => {
                let Some(instance) = Instance::of(receiver) else {
                    return Ok(None);
                };
                let shared = Rc::clone(&instance.shared);
                self.within(&shared, |this| this.invoke_instance(instance, name, given))
            }
            Value::Class(class) => match self.own_class(class) {
                Some(class) => self.invoke_class(&class, name, given),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn invoke_instance(
        &mut self,
        instance: &Instance,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let class = Rc::clone(&instance.class);
        if let Some(value) = self.method_at(&instance.value(), &class, 0, name, given)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.accessor(instance, name, given)? {
            return Ok(Some(value));
        }
        if let Some(value) = of_constant(instance, name, given) {
            return match value {
                Ok(value) => Ok(Some(value)),
                Err(step) => self.beside(instance, step).map(Some),
            };
        }
        if let Some(value) = of_exception(instance, name, given) {
            return Ok(Some(value));
        }
        match (name, given) {
            ("getClass", []) => {
                return Ok(Some(Value::Class(class.definition.name.clone())));
            }
            ("getAt" | "getProperty", [Value::Text(name)]) => {
                return self.property_of_own(&instance.value(), name);
            }
            ("putAt" | "setProperty", [Value::Text(name), value]) => {
                let is_set = self.set_property_of_own(&instance.value(), name, value)?;
                return Ok(is_set.then_some(Value::Null));
            }
            _ => {}
        }
        if let Some(callee @ Value::Closure(_)) = instance.field(name) {
            return self.call_value(&callee, given.to_vec()).map(Some);
        }
        let is_common = library::has_method(&instance.value(), name);
        if is_common
            || class
                .method(0, "methodMissing", 2, &|_| true, false)
                .is_none()
        {
            return Ok(None);
        }
        let asked = [
            Value::text(name),
            Value::array(Element::Object, given.to_vec()),
        ];
        self.method_at(&instance.value(), &class, 0, "methodMissing", &asked)
    }

    /// Calls a method, looked up from an index of the lineage on; `None`: there is none.
    fn method_at(
        &mut self,
        this: &Value,
        class: &Rc<ScriptClass>,
        from: usize,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let fits = |code: &Code| fits(code, given);
        let wants_static = matches!(this, Value::Class(_));
        let found = class.method(from, name, given.len(), &fits, wants_static);
        let Some((at, method)) = found else {
            return Ok(None);
        };
        let Some(code) = method.code.as_ref().map(Arc::clone) else {
            return Ok(None);
        };
        let this = match method.is_static {
            true => Value::Class(class.definition.name.clone()),
            false => this.clone(),
        };
        self.run_member(&home(&this, class, at), &code, given)
            .map(Some)
    }

    fn run_member(&mut self, home: &Rc<Home>, code: &Code, given: &[Value]) -> Outcome {
        // A method found through its class counts as two levels of depth.
        self.enter()?;
        let outcome = self.enter().and_then(|()| {
            let frame = Frame::of_home(home);
            let outcome = self
                .take_parameters(code, given.to_vec(), &frame)
                .and_then(|()| self.statements(&code.body.statements, &frame, true));
            self.leave();
            outcome
        });
        self.leave();
        let value = came_to(outcome?);
        match &code.gives {
            Some(kind) if *kind.name == *"void" => Ok(Value::Null),
            kind => self.as_kind(value, kind.as_ref()),
        }
    }

    /// `getName`, `isName` and `setName` of a property without an explicit one.
    fn accessor(
        &mut self,
        instance: &Instance,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        let property = |rest: &str| {
            let mut characters = rest.chars();
            let first = characters.next()?;
            let small = format!("{}{}", first.to_lowercase(), characters.as_str());
            let is_one = |name: &str| {
                instance
                    .class
                    .field(name)
                    .is_some_and(|one| one.is_property)
            };
            [small.as_str(), rest]
                .into_iter()
                .find(|name| is_one(name))
                .map(str::to_owned)
        };
        let rest = |prefix: &str| name.strip_prefix(prefix).and_then(property);
        match given {
            [] => {
                let name = rest("get").or_else(|| rest("is"));
                Ok(name.and_then(|name| instance.field(&name)))
            }
            [value] => match rest("set") {
                Some(name) => {
                    let is_set = self.set_property_of_own(&instance.value(), &name, value)?;
                    Ok(is_set.then_some(Value::Null))
                }
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The next or previous value of an enum, wrapping around.
    fn beside(&mut self, instance: &Instance, step: i32) -> Outcome {
        let class = Rc::clone(&instance.class);
        self.ready(&class)?;
        let count = i32::try_from(class.definition.constants.len()).unwrap_or(1);
        let at = instance.constant.as_ref().map_or(0, |(_, place)| *place);
        let place = usize::try_from((at + step).rem_euclid(count.max(1))).unwrap_or(0);
        let name = &class.definition.constants[place].0;
        Ok(own_static(&class, name).unwrap_or(Value::Null))
    }

    fn invoke_class(
        &mut self,
        class: &Rc<ScriptClass>,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        self.ready(class)?;
        let this = Value::Class(class.definition.name.clone());
        if let Some(value) = self.method_at(&this, class, 0, name, given)? {
            return Ok(Some(value));
        }
        match (name, given) {
            ("values", []) if class.is_enum() => {
                let constants = class.definition.constants.iter();
                let values = constants.filter_map(|(name, _)| own_static(class, name));
                Ok(Some(Value::array(Element::Object, values.collect())))
            }
            ("valueOf", [name]) if class.is_enum() => {
                self.value_of_enum(class, &print::text(name)).map(Some)
            }
            ("new" | "newInstance", _) => self.make(class, given.to_vec(), None).map(Some),
            _ => {
                if let Some(callee @ Value::Closure(_)) = self.static_of(class, name)? {
                    return self.call_value(&callee, given.to_vec()).map(Some);
                }
                Ok(None)
            }
        }
    }

    /// A static variable of a class or of one above it.
    fn static_of(&mut self, class: &Rc<ScriptClass>, name: &str) -> Outcome<Option<Value>> {
        match self.owner_of_static(class, name)? {
            Some((owner, _)) => Ok(own_static(&owner, name)),
            None => Ok(None),
        }
    }

    fn owner_of_static(
        &mut self,
        class: &Rc<ScriptClass>,
        name: &str,
    ) -> Outcome<Option<(Rc<ScriptClass>, Arc<Definition>)>> {
        for definition in &class.lineage {
            let is_field = definition
                .fields
                .iter()
                .any(|one| one.is_static && *one.name == *name);
            let is_constant = definition.constants.iter().any(|one| *one.0 == *name);
            if !is_field && !is_constant {
                continue;
            }
            if let Some(owner) = self.own_class(&definition.name) {
                self.ready(&owner)?;
                return Ok(Some((owner, Arc::clone(definition))));
            }
        }
        Ok(None)
    }

    fn set_static(&mut self, class: &Rc<ScriptClass>, name: &str, value: &Value) -> Outcome<bool> {
        let Some((owner, definition)) = self.owner_of_static(class, name)? else {
            return Ok(false);
        };
        let field = definition.fields.iter().find(|one| *one.name == *name);
        let kind = field.and_then(|field| field.kind.as_ref());
        let value = self.as_kind(value.clone(), kind)?;
        let mut statics = owner.statics.borrow_mut();
        let place = statics.iter_mut().find(|(known, _)| **known == *name);
        let before = place.map(|(_, place)| std::mem::replace(place, value));
        drop(statics);
        Ok(before.is_some())
    }

    /// A property of a script's object or class; `None`: it has none.
    pub(super) fn property_of_own(&mut self, of: &Value, name: &str) -> Outcome<Option<Value>> {
        match of {
            Value::Object(_) => {
                let Some(instance) = Instance::of(of) else {
                    return Ok(None);
                };
                let shared = Rc::clone(&instance.shared);
                self.within(&shared, |this| this.property_of_instance(instance, name))
            }
            Value::Class(class) => {
                let Some(class) = self.own_class(class) else {
                    return Ok(None);
                };
                self.ready(&class)?;
                if let Some(value) = self.got(of, &class, name)? {
                    return Ok(Some(value));
                }
                match self.static_of(&class, name)? {
                    Some(value) => Ok(Some(value)),
                    None => {
                        let inner = self.own_class(name);
                        Ok(inner.map(|inner| Value::Class(inner.definition.name.clone())))
                    }
                }
            }
            _ => Ok(None),
        }
    }

    /// The value of a getter.
    fn got(&mut self, this: &Value, class: &Rc<ScriptClass>, name: &str) -> Outcome<Option<Value>> {
        for prefix in ["get", "is"] {
            let getter = library::getter(prefix, name);
            if let Some(value) = self.method_at(this, class, 0, &getter, &[])? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn property_of_instance(&mut self, instance: &Instance, name: &str) -> Outcome<Option<Value>> {
        let (this, class) = (instance.value(), Rc::clone(&instance.class));
        if let Some(value) = self.got(&this, &class, name)? {
            return Ok(Some(value));
        }
        if let Some(value) = instance.field(name) {
            return Ok(Some(value));
        }
        if let Some(value) = self.static_of(&class, name)? {
            return Ok(Some(value));
        }
        if name == "class" {
            return Ok(Some(Value::Class(class.definition.name.clone())));
        }
        let getter = library::getter("get", name);
        if let Some(value) = of_exception(instance, &getter, &[]) {
            return Ok(Some(value));
        }
        self.method_at(&this, &class, 0, "propertyMissing", &[Value::text(name)])
    }

    /// Sets a property of a script's object or class; returns whether it exists.
    pub(super) fn set_property_of_own(
        &mut self,
        of: &Value,
        name: &str,
        value: &Value,
    ) -> Outcome<bool> {
        if let Value::Class(class) = of {
            return match self.own_class(class) {
                Some(class) => self.set_static(&class, name, value),
                None => Ok(false),
            };
        }
        let Some(instance) = Instance::of(of) else {
            return Ok(false);
        };
        let shared = Rc::clone(&instance.shared);
        self.within(&shared, |this| {
            let class = Rc::clone(&instance.class);
            let setter = library::getter("set", name);
            let given = std::slice::from_ref(value);
            if this.method_at(of, &class, 0, &setter, given)?.is_some() {
                return Ok(true);
            }
            match class.field(name) {
                Some(field) if field.is_final || class.has(|given| given.is_constant) => {
                    Err(Thrown::of(
                        "groovy.lang.ReadOnlyPropertyException",
                        format!(
                            "Cannot set readonly property: {name} for class: {}",
                            class.definition.full
                        ),
                    ))
                }
                Some(_) => this.set_raw(&class, of, name, value).map(|()| true),
                None => this.set_static(&class, name, value),
            }
        })
    }

    /// The value of a name in a method of a class.
    pub(super) fn variable_of(&mut self, home: &Home, name: &Arc<str>) -> Outcome {
        if let Some(value) = self.field_of(home, name)? {
            return Ok(value);
        }
        if let Some(value) = self.property_of_own(&home.this, name)? {
            return Ok(value);
        }
        match self.class_named(name) {
            Some(class) => Ok(Value::Class(class)),
            None => Err(library::no_property(&home.this, name)),
        }
    }

    /// A field of an object, bypassing getters, or a static variable.
    pub(super) fn field_of(&mut self, home: &Home, name: &str) -> Outcome<Option<Value>> {
        let field = Instance::of(&home.this).and_then(|instance| instance.field(name));
        match field {
            Some(value) => Ok(Some(value)),
            None => self.static_of(&home.class, name),
        }
    }

    /// Sets a field directly; returns whether it exists.
    pub(super) fn set_field(&mut self, home: &Home, name: &str, value: &Value) -> Outcome<bool> {
        let is_object = Instance::of(&home.this).is_some();
        if is_object && home.class.field(name).is_some() {
            return self
                .set_raw(&home.class, &home.this, name, value)
                .map(|()| true);
        }
        self.set_static(&home.class, name, value)
    }

    pub(super) fn set_variable_of(
        &mut self,
        home: &Home,
        name: &Arc<str>,
        value: &Value,
    ) -> Outcome<()> {
        let is_set = self.set_field(home, name, value)?
            || self.set_property_of_own(&home.this, name, value)?;
        match is_set {
            true => Ok(()),
            false => Err(library::no_property(&home.this, name)),
        }
    }

    /// A call of a name without a receiver in a method of a class; `None`: the class has no such method.
    pub(super) fn call_of(
        &mut self,
        home: &Home,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        if let Some(value) = self.invoke_own(&home.this, name, given)? {
            return Ok(Some(value));
        }
        if let Some(callee @ Value::Closure(_)) = self.field_of(home, name)? {
            return self.call_value(&callee, given.to_vec()).map(Some);
        }
        if home.class.is_enum() && matches!(name, "values" | "valueOf") {
            let class = Rc::clone(&home.class);
            return self.invoke_class(&class, name, given);
        }
        match library::has_method(&home.this, name) {
            true => self.invoke(&home.this, name, given).map(Some),
            false => Ok(None),
        }
    }

    /// Calls a method of the superclass.
    pub(super) fn call_above(&mut self, home: &Home, name: &str, given: &[Value]) -> Outcome {
        let found = self.method_at(&home.this, &home.class, home.at + 1, name, given)?;
        if let Some(value) = found {
            return Ok(value);
        }
        let Some(instance) = Instance::of(&home.this) else {
            return Err(library::missing(&home.this, name, given));
        };
        if let Some(value) = of_exception(instance, name, given) {
            return Ok(value);
        }
        match (name, given) {
            ("toString", []) => Ok(Value::text(instance.plain_text())),
            ("equals", [other]) => Ok(Value::Truth(super::super::operators::is_same(
                &home.this, other,
            ))),
            ("hashCode", []) => Ok(Value::Int(0)),
            _ => Err(library::missing(&home.this, name, given)),
        }
    }

    /// Whether a class has a static method with this name.
    pub(super) fn has_static(&self, class: &str, name: &str) -> bool {
        match self.own_class(class) {
            Some(own) => own.method(0, name, 1, &|_| true, true).is_some(),
            None => library::has_static(class, name),
        }
    }

    /// An exception of a script's class, ready to throw.
    pub(super) fn thrown_own(&mut self, value: &Value) -> Outcome<Thrown> {
        let Some(instance) = Instance::of(value) else {
            return Err(convert::cannot_cast(value, "java.lang.Throwable"));
        };
        let message = match self.invoke(value, "getMessage", &[])? {
            Value::Null => None,
            message => Some(print::text(&message).into()),
        };
        let class = &instance.class;
        let above = class.lineage.iter().skip(1).map(|one| one.name.clone());
        let above = above.chain(class.base.map(Arc::from));
        let mut exception = Exception::new(class.definition.full.clone(), message);
        exception.cause = instance.cause.borrow().clone();
        if let Some(object) = instance.me.upgrade() {
            let above = above.collect();
            exception.own = Some(Own { object, above });
        }
        Ok(Thrown::Exception(Rc::new(exception)))
    }
}

pub(super) fn home(this: &Value, class: &Rc<ScriptClass>, at: usize) -> Rc<Home> {
    Rc::new(Home {
        this: this.clone(),
        class: Rc::clone(class),
        at,
    })
}

pub(super) fn own_static(class: &ScriptClass, name: &str) -> Option<Value> {
    let statics = class.statics.borrow();
    let found = statics.iter().find(|(known, _)| **known == *name);
    found.map(|(_, value)| value.clone())
}

/// Methods of all enum values; `Err`: the distance of another value to return.
fn of_constant(instance: &Instance, name: &str, given: &[Value]) -> Option<Result<Value, i32>> {
    let (constant, place) = instance.constant.as_ref()?;
    Some(match (name, given) {
        ("name", []) => Ok(Value::Text(constant.clone())),
        ("ordinal", []) => Ok(Value::Int(*place)),
        ("getDeclaringClass", []) => Ok(Value::Class(instance.class.definition.name.clone())),
        ("compareTo", [other]) => {
            let other = Instance::of(other).and_then(|other| other.constant.as_ref());
            Ok(Value::Int(place - other.map_or(0, |(_, place)| *place)))
        }
        ("next", []) => Err(1),
        ("previous", []) => Err(-1),
        _ => return None,
    })
}

/// Methods of all exceptions.
fn of_exception(instance: &Instance, name: &str, given: &[Value]) -> Option<Value> {
    instance.class.base?;
    Some(match (name, given) {
        ("getMessage" | "getLocalizedMessage", []) => {
            Value::optional(instance.message.borrow().clone())
        }
        ("getCause", []) => {
            let cause = instance.cause.borrow();
            cause.as_ref().map_or(Value::Null, super::instance::caught)
        }
        ("getStackTrace", []) => Value::array(Element::Object, Vec::new()),
        ("printStackTrace" | "addSuppressed", _) => Value::Null,
        _ => return None,
    })
}

/// Whether arguments match the types of code's parameters.
pub(super) fn fits(code: &Code, given: &[Value]) -> bool {
    let parameters = code.parameters.as_deref().unwrap_or_default();
    given.iter().zip(parameters).all(|(value, parameter)| {
        let kind = parameter.kind.as_ref().filter(|_| !parameter.takes_rest);
        kind.is_none_or(|kind| accepts(kind, value))
    })
}

fn accepts(kind: &Type, value: &Value) -> bool {
    let name = kind.name.rsplit('.').next().unwrap_or(&kind.name);
    let is_primitive = super::super::parser::PRIMITIVES.contains(&name);
    if value.is_null() {
        return !is_primitive;
    }
    if kind.dimensions > 0 {
        return matches!(value, Value::List(list) if list.is_array());
    }
    match name {
        "Object" | "def" => true,
        "String" => matches!(value, Value::Text(_) | Value::Composed(_)),
        "int" | "Integer" | "short" | "Short" => matches!(value, Value::Int(_) | Value::Byte(_)),
        "long" | "Long" => matches!(value, Value::Int(_) | Value::Long(_) | Value::Byte(_)),
        "double" | "Double" | "float" | "Float" => value.is_number(),
        "BigDecimal" => value.is_number() && !matches!(value, Value::Double(_) | Value::Float(_)),
        "boolean" | "Boolean" => matches!(value, Value::Truth(_)),
        "char" | "Character" => matches!(value, Value::Char(_)),
        "byte" | "Byte" => matches!(value, Value::Byte(_)),
        _ if convert::is_of_class(value, name) => true,
        // Closures implement any interface; an unknown name accepts any type.
        _ if matches!(value, Value::Closure(_)) => true,
        _ => {
            let is_own = Instance::of(value).is_some();
            !is_own && super::super::classes::any_full_name(name).is_none()
        }
    }
}
