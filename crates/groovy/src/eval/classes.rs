//! The classes of a script at run time.
//!
//! Must not know what their methods do. Invariant: a class knows its superclasses, up to the first repetition.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{ClassKind, Code, Definition, Field, Method, Name, Type};
use super::super::thrown::exception_class;
use super::super::value::Value;
use super::calls::takes_so_many;

/// Maximum number of classes above a class.
const MOST_ABOVE: usize = 20;

/// A class of a script.
pub(crate) struct ScriptClass {
    pub(crate) definition: Arc<Definition>,
    /// The class with its superclasses, traits and interfaces: the nearest first.
    pub(super) lineage: Vec<Arc<Definition>>,
    /// The Java class above them all, which is an exception class.
    pub(super) base: Option<&'static str>,
    /// Its own static variables, and the values of an enum.
    pub(super) statics: RefCell<Vec<(Name, Value)>>,
    pub(super) is_ready: Cell<bool>,
}

/// The owner of the running method.
pub(crate) struct Home {
    /// The object, or the class for a static method.
    pub(super) this: Value,
    pub(super) class: Rc<ScriptClass>,
    /// Index of the method's class in the lineage.
    pub(super) at: usize,
}

/// The classes of a script by name.
pub(super) fn defined(definitions: &[Arc<Definition>]) -> HashMap<Name, Rc<ScriptClass>> {
    let classes = definitions.iter().map(|definition| {
        let mut lineage = Vec::new();
        let base = gather(definition, definitions, &mut lineage);
        let class = ScriptClass {
            definition: Arc::clone(definition),
            lineage,
            base,
            statics: RefCell::default(),
            is_ready: Cell::new(false),
        };
        (definition.name.clone(), Rc::new(class))
    });
    classes.collect()
}

/// Collects a class and those above it; returns the exception class above them, if any.
fn gather(
    definition: &Arc<Definition>,
    all: &[Arc<Definition>],
    lineage: &mut Vec<Arc<Definition>>,
) -> Option<&'static str> {
    let is_known = lineage.iter().any(|one| one.name == definition.name);
    if is_known || lineage.len() >= MOST_ABOVE {
        return None;
    }
    lineage.push(Arc::clone(definition));
    // Of several traits the last one has precedence.
    for interface in definition.interfaces.iter().rev() {
        if let Some(above) = named(all, interface) {
            gather(above, all, lineage);
        }
    }
    let parent = definition.parent.as_ref()?;
    match named(all, parent) {
        Some(above) => gather(above, all, lineage),
        None => exception_class(&parent.name),
    }
}

fn named<'d>(all: &'d [Arc<Definition>], name: &Type) -> Option<&'d Arc<Definition>> {
    let last = name.name.rsplit('.').next();
    all.iter().find(|one| Some(&*one.name) == last)
}

impl ScriptClass {
    pub(super) fn is_enum(&self) -> bool {
        self.definition.kind == ClassKind::Enum
    }

    /// Clears the static variables: values that outlive a script must not keep it alive.
    pub(super) fn forget(&self) {
        let values = self.statics.take();
        self.is_ready.set(false);
        drop(values);
    }

    /// The fields of its objects, inherited ones first.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        let all = self.lineage.iter().rev().flat_map(|one| &one.fields);
        all.filter(|field| !field.is_static)
    }

    /// Its properties, in the order of `toString`.
    pub(super) fn properties(&self) -> impl Iterator<Item = &Field> {
        let own = self.definition.fields.iter();
        own.filter(|field| field.is_property && !field.is_static)
    }

    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let mut all = self.lineage.iter().flat_map(|one| &one.fields);
        all.find(|field| *field.name == *name && !field.is_static)
    }

    /// The best matching method with a name, from an index of the lineage on, with its index.
    pub(super) fn method(
        &self,
        from: usize,
        name: &str,
        count: usize,
        fits: &dyn Fn(&Code) -> bool,
        wants_static: bool,
    ) -> Option<(usize, &Method)> {
        for (at, definition) in self.lineage.iter().enumerate().skip(from) {
            let of_name = definition.methods.iter().filter(|method| {
                let code = method.code.as_deref();
                *method.name == *name
                    && (method.is_static || !wants_static)
                    && code.is_some_and(|code| takes_so_many(code, count))
            });
            let of_name: Vec<&Method> = of_name.collect();
            let mut fitting = of_name.iter();
            let best = fitting.find(|one| one.code.as_deref().is_some_and(fits));
            if let Some(method) = best.or(of_name.first().filter(|_| of_name.len() == 1)) {
                return Some((at, method));
            }
        }
        None
    }

    /// Whether it or a class above has this name.
    pub(super) fn is_a(&self, name: &str) -> bool {
        let is_named = |kind: &Type| kind.name.rsplit('.').next() == Some(name);
        let own = self.lineage.iter().any(|one| {
            *one.name == *name || *one.full == *name || one.interfaces.iter().any(is_named)
        });
        let base = self.base;
        own || base.is_some_and(|base| super::super::thrown::is_below(base, name))
            || name == "GroovyObject"
            || self.is_enum() && matches!(name, "Enum" | "Comparable")
    }

    /// Whether any of its classes has an addition from an annotation.
    pub(super) fn has(&self, gift: impl Fn(&super::super::ast::Given) -> bool) -> bool {
        self.lineage.iter().any(|one| gift(&one.given))
    }
}
