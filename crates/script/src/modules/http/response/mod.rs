//! `Response`: the result of a request as seen by the script.
//!
//! Its fields look like own properties, also to `JSON.stringify` and `Object.keys`, but are created on access:
//! most are never read. Must not know how requests are sent. Invariant: a field has the same value each time,
//! or the one set by the script.

mod build;
mod headers;
mod json;
mod modifiers;
mod page;

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};

use rquickjs::class::{
    ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName, Readable, Trace, Tracer,
};
use rquickjs::function::Constructor;
use rquickjs::object::Property;
use rquickjs::{Atom, Class, Ctx, Exception, Function, JsLifetime, Object, Result, Value, qjs};

use super::answer::Facts;
use crate::lazy::GO_METHOD;
use crate::vu::state;

macro_rules! fields {
    ($($variant:ident = $name:literal;)+) => {
        /// A field of a response, in k6's order; the last four are methods.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        enum Field { $($variant,)+ }

        impl Field {
            const ALL: &'static [Field] = &[$(Field::$variant),+];

            fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)+ }
            }
        }
    };
}

fields! {
    RemoteIp = "remote_ip";
    RemotePort = "remote_port";
    Url = "url";
    Status = "status";
    StatusText = "status_text";
    Proto = "proto";
    Headers = "headers";
    Cookies = "cookies";
    Body = "body";
    Timings = "timings";
    TlsVersion = "tls_version";
    TlsCipherSuite = "tls_cipher_suite";
    Ocsp = "ocsp";
    Error = "error";
    ErrorCode = "error_code";
    Request = "request";
    ClickLink = "clickLink";
    Html = "html";
    Json = "json";
    SubmitForm = "submitForm";
}

const FIELDS: usize = Field::ALL.len();

impl Field {
    fn is_method(self) -> bool {
        matches!(
            self,
            Field::ClickLink | Field::Html | Field::Json | Field::SubmitForm
        )
    }
}

/// The engine's atom numbers of the fields' names, in this virtual user.
pub(super) struct FieldAtoms([u32; FIELDS]);

impl FieldAtoms {
    /// The prototype keeps the names alive as long as there are responses, so the numbers stay valid.
    fn new(ctx: &Ctx<'_>) -> Result<FieldAtoms> {
        let mut atoms = [0; FIELDS];
        for (place, field) in atoms.iter_mut().zip(Field::ALL) {
            *place = number_of(&Atom::from_str(ctx.clone(), field.name())?);
        }
        Ok(FieldAtoms(atoms))
    }

    fn field(&self, atom: &Atom<'_>) -> Option<Field> {
        let number = number_of(atom);
        let at = self.0.iter().position(|known| *known == number)?;
        Some(Field::ALL[at])
    }
}

/// The engine's number of an atom, which is only exposed to hashers.
fn number_of(atom: &Atom<'_>) -> u32 {
    struct Number(u32);
    impl Hasher for Number {
        fn write(&mut self, _: &[u8]) {}
        fn write_u32(&mut self, number: u32) {
            self.0 = number;
        }
        fn finish(&self) -> u64 {
            u64::from(self.0)
        }
    }
    let mut number = Number(0);
    atom.hash(&mut number);
    number.0
}

/// The result of a request.
pub(super) struct Response<'js> {
    facts: RefCell<Facts>,
    /// Fields that were read or set.
    values: RefCell<Vec<(Field, Value<'js>)>>,
    /// The whole body as parsed JSON, after the first access.
    json: RefCell<Option<Value<'js>>>,
    /// Whether the body was validated as JSON.
    is_json: Cell<bool>,
    atoms: std::rc::Rc<FieldAtoms>,
}

/// The name of the request to which a value is the response; `None`: it is none.
pub(crate) fn name_of_request(value: &Value<'_>) -> Option<String> {
    let response = Class::<Response<'_>>::from_object(value.as_object()?)?;
    let response = response.try_borrow().ok()?;
    let facts = response.facts.try_borrow().ok()?;
    let call = facts.call.as_ref()?;
    let name = call.name.as_deref().unwrap_or(&call.address.masked);
    Some(
        state(value.ctx())
            .program
            .settings
            .secrets
            .redacted(name)
            .into_owned(),
    )
}

// SAFETY: the lifetime stands for that of the context in all fields.
unsafe impl<'js> JsLifetime<'js> for Response<'js> {
    type Changed<'to> = Response<'to>;
}

impl<'js> Trace<'js> for Response<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        if let Ok(values) = self.values.try_borrow() {
            for (_, value) in values.iter() {
                value.trace(tracer);
            }
        }
        if let Ok(json) = self.json.try_borrow() {
            json.trace(tracer);
        }
    }
}

/// Whether an object is a response.
pub(crate) fn is_response(object: &Object<'_>) -> bool {
    Class::<Response<'_>>::from_object(object).is_some()
}

impl<'js> Response<'js> {
    /// The script object for the result of a request.
    pub(super) fn make(ctx: &Ctx<'js>, facts: Facts) -> Result<Value<'js>> {
        let slot = state(ctx).slot(|| RefCell::new(None::<std::rc::Rc<FieldAtoms>>));
        let known = slot.borrow().clone();
        let atoms = match known {
            Some(atoms) => atoms,
            None => {
                // The prototype comes first: it keeps the names alive.
                Class::<Response<'js>>::prototype(ctx)?;
                let atoms = std::rc::Rc::new(FieldAtoms::new(ctx)?);
                *slot.borrow_mut() = Some(std::rc::Rc::clone(&atoms));
                atoms
            }
        };
        let response = Response {
            facts: RefCell::new(facts),
            values: RefCell::default(),
            json: RefCell::default(),
            is_json: Cell::default(),
            atoms,
        };
        Class::instance(ctx.clone(), response).map(Class::into_value)
    }

    fn value(&self, ctx: &Ctx<'js>, field: Field) -> Result<Value<'js>> {
        let known = self
            .values
            .borrow()
            .iter()
            .find(|(other, _)| *other == field)
            .map(|(_, value)| value.clone());
        if let Some(value) = known {
            return Ok(value);
        }
        match field {
            Field::Status => {
                return Ok(Value::new_int(
                    ctx.clone(),
                    i32::from(self.facts.borrow().status),
                ));
            }
            Field::ErrorCode => {
                return Ok(Value::new_int(
                    ctx.clone(),
                    i32::from(self.facts.borrow().error_code),
                ));
            }
            _ => {}
        }
        let value = self.built(ctx, field)?;
        self.values.borrow_mut().push((field, value.clone()));
        Ok(value)
    }

    fn built(&self, ctx: &Ctx<'js>, field: Field) -> Result<Value<'js>> {
        if field == Field::Body {
            return build::body(ctx, &mut self.facts.borrow_mut());
        }
        if field.is_method() {
            let prototype = Class::<Response<'js>>::prototype(ctx)?;
            return match prototype {
                Some(prototype) => prototype.get(field.name()),
                None => Ok(Value::new_undefined(ctx.clone())),
            };
        }
        build::field(ctx, &self.facts.borrow(), field)
    }
}

impl<'js> JsClass<'js> for Response<'js> {
    const NAME: &'static str = "Response";
    const KIND: ClassKind = ClassKind::Exotic;
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let prototype = Object::new(ctx.clone())?;
        for field in Field::ALL {
            let made = match field {
                Field::ClickLink => Some(Function::new(ctx.clone(), page::click_link)?),
                Field::Html => Some(Function::new(ctx.clone(), page::html)?),
                Field::Json => Some(Function::new(ctx.clone(), json::json)?),
                Field::SubmitForm => Some(Function::new(ctx.clone(), page::submit_form)?),
                _ => None,
            };
            let value = match made {
                Some(method) => method.with_name(GO_METHOD)?.into_value(),
                None => Value::new_undefined(ctx.clone()),
            };
            prototype.prop(field.name(), Property::from(value))?;
        }
        Ok(Some(prototype))
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _: Value<'js>,
    ) -> Result<Value<'js>> {
        let this = this.borrow();
        match this.atoms.field(&atom) {
            Some(field) => this.value(ctx, field),
            None => match Class::<Response<'js>>::prototype(ctx)? {
                Some(prototype) => prototype.get(atom),
                None => Ok(Value::new_undefined(ctx.clone())),
            },
        }
    }

    fn exotic_set_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _: Value<'js>,
        value: Value<'js>,
    ) -> Result<bool> {
        // SAFETY: the value is alive. QuickJS frees it after this call, and so does the caller in rquickjs
        // 0.14, which assumes ownership: the second free gets a reference.
        unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), value.as_raw()) };
        let this = this.borrow();
        let Some(field) = this.atoms.field(&atom) else {
            let name = atom.to_string()?;
            let message = format!("Cannot assign to property {name} of a host object");
            return Err(Exception::throw_type(ctx, &message));
        };
        let mut values = this.values.borrow_mut();
        let before = values.iter_mut().find(|(other, _)| *other == field);
        let before = match before {
            Some((_, known)) => Some(std::mem::replace(known, value)),
            None => {
                values.push((field, value));
                None
            }
        };
        // Freeing a value may run code: no borrow may be held then.
        drop(values);
        drop(before);
        Ok(true)
    }

    fn exotic_delete_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<bool> {
        if this.borrow().atoms.field(&atom).is_none() {
            return Ok(true);
        }
        let message = format!(
            "Cannot delete property {} from a Go type",
            atom.to_string()?
        );
        Err(Exception::throw_type(ctx, &message))
    }

    fn exotic_has_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<bool> {
        if this.borrow().atoms.field(&atom).is_some() {
            return Ok(true);
        }
        match Class::<Response<'js>>::prototype(ctx)? {
            Some(prototype) => prototype.contains_key(atom),
            None => Ok(false),
        }
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<Option<PropertyDescriptor<'js>>> {
        let this = this.borrow();
        let Some(field) = this.atoms.field(&atom) else {
            return Ok(None);
        };
        let value = this.value(ctx, field)?;
        Ok(Some(PropertyDescriptor::new_value(
            value, false, true, true,
        )))
    }

    fn exotic_get_own_property_names(
        _: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> Result<Vec<PropertyName<'js>>> {
        Field::ALL
            .iter()
            .map(|field| {
                Ok(PropertyName {
                    atom: Atom::from_str(ctx.clone(), field.name())?,
                    is_enumerable: true,
                })
            })
            .collect()
    }
}
