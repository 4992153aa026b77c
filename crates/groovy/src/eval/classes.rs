//! The classes that a script defines, as it runs.
//!
//! Must not know what their methods do. Invariant: a class knows those above it, and ends where one is above itself.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{ClassKind, Code, Definition, Field, Method, Name, Type};
use super::super::thrown::exception_class;
use super::super::value::Value;
use super::calls::takes_so_many;

/// So many classes may be above one another.
const MOST_ABOVE: usize = 20;

/// A class of a script.
pub(crate) struct ScriptClass {
    pub(crate) definition: Arc<Definition>,
    /// It, and the classes, traits and interfaces above it: the nearest first.
    pub(super) lineage: Vec<Arc<Definition>>,
    /// The class of Java's above them all, which is one of exceptions.
    pub(super) base: Option<&'static str>,
    /// Its own static variables, and the values of an enum.
    pub(super) statics: RefCell<Vec<(Name, Value)>>,
    pub(super) is_ready: Cell<bool>,
}

/// Whose method runs.
pub(crate) struct Home {
    /// The object, or the class where the method is a static one.
    pub(super) this: Value,
    pub(super) class: Rc<ScriptClass>,
    /// Which of the lineage has the method.
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

/// Gathers a class and those above it; the class of exceptions above them, if one is.
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
    // Of several traits the last one counts first.
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

    /// Forgets what static variables hold: what a script leaves behind must not hold the script.
    pub(super) fn forget(&self) {
        let values = self.statics.take();
        self.is_ready.set(false);
        drop(values);
    }

    /// The fields of its objects, those of the classes above first.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        let all = self.lineage.iter().rev().flat_map(|one| &one.fields);
        all.filter(|field| !field.is_static)
    }

    /// Its properties, in the order in which they are told.
    pub(super) fn properties(&self) -> impl Iterator<Item = &Field> {
        let own = self.definition.fields.iter();
        own.filter(|field| field.is_property && !field.is_static)
    }

    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        let mut all = self.lineage.iter().flat_map(|one| &one.fields);
        all.find(|field| *field.name == *name && !field.is_static)
    }

    /// The method of a name that fits best, from a place of the lineage on, and the place that it is at.
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

    /// Whether it or one above is called so.
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

    /// Whether some class of its has an annotation's gift.
    pub(super) fn has(&self, gift: impl Fn(&super::super::ast::Given) -> bool) -> bool {
        self.lineage.iter().any(|one| gift(&one.given))
    }
}
