//! The variables of a block and its enclosing blocks.
//!
//! Must not know statements. Invariant: a name is looked up from the inside out.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::ast::{Name, Type};
use super::super::value::Value;
use super::classes::Home;

/// A variable.
struct Variable {
    name: Name,
    kind: Option<Type>,
    value: Value,
}

/// The variables of a block.
pub(crate) struct Frame {
    variables: RefCell<Vec<Variable>>,
    around: Option<Rc<Frame>>,
    /// An object in which names are looked up before the enclosing blocks.
    pub(super) delegate: Option<Value>,
    /// The object and class of the method.
    home: Option<Rc<Home>>,
}

/// Where a name is defined.
pub(crate) enum Place {
    Variable(Rc<Frame>, usize),
    Delegate(Value),
}

fn is_name(one: &Name, other: &str) -> bool {
    std::ptr::eq(one.as_ptr(), other.as_ptr()) && one.len() == other.len() || **one == *other
}

impl Frame {
    pub(crate) fn root() -> Rc<Frame> {
        Rc::new(Frame {
            variables: RefCell::default(),
            around: None,
            delegate: None,
            home: None,
        })
    }

    /// The frame of a method, which has its own root.
    pub(crate) fn of_method() -> Rc<Frame> {
        Rc::new(Frame {
            variables: RefCell::default(),
            around: Some(Frame::root()),
            delegate: None,
            home: None,
        })
    }

    /// The frame of a method of a class.
    pub(crate) fn of_home(home: &Rc<Home>) -> Rc<Frame> {
        Rc::new(Frame {
            variables: RefCell::default(),
            around: None,
            delegate: None,
            home: Some(Rc::clone(home)),
        })
    }

    /// The object and class of the method, or of the enclosing one.
    pub(crate) fn home(&self) -> Option<Rc<Home>> {
        self.home.clone()
    }

    pub(crate) fn within(around: &Rc<Frame>) -> Rc<Frame> {
        Frame::with_delegate(around, None)
    }

    pub(crate) fn with_delegate(around: &Rc<Frame>, delegate: Option<Value>) -> Rc<Frame> {
        Rc::new(Frame {
            variables: RefCell::default(),
            around: Some(Rc::clone(around)),
            delegate,
            home: around.home.clone(),
        })
    }

    /// Declares or redeclares a variable.
    pub(crate) fn declare(&self, name: &Name, kind: Option<Type>, value: Value) {
        let mut variables = self.variables.borrow_mut();
        match variables.iter_mut().find(|one| is_name(&one.name, name)) {
            Some(variable) => {
                variable.kind = kind;
                variable.value = value;
            }
            None => variables.push(Variable {
                name: name.clone(),
                kind,
                value,
            }),
        }
    }

    /// The value of a name, if it is a variable of this block or an enclosing one.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let mut frame = self;
        loop {
            let variables = frame.variables.borrow();
            if let Some(variable) = variables.iter().find(|one| is_name(&one.name, name)) {
                return Some(variable.value.clone());
            }
            drop(variables);
            frame = frame.around.as_deref()?;
        }
    }

    /// Where a name may be defined: a variable of this block or an enclosing one, or else the delegates in lookup
    /// order.
    pub(crate) fn places(self: &Rc<Frame>, name: &str) -> Vec<Place> {
        let mut delegates = Vec::new();
        let mut frame = Rc::clone(self);
        loop {
            let at = frame
                .variables
                .borrow()
                .iter()
                .position(|one| is_name(&one.name, name));
            if let Some(at) = at {
                return vec![Place::Variable(frame, at)];
            }
            if let Some(delegate) = &frame.delegate {
                delegates.push(Place::Delegate(delegate.clone()));
            }
            let Some(around) = &frame.around else {
                return delegates;
            };
            let around = Rc::clone(around);
            frame = around;
        }
    }

    pub(crate) fn value_at(&self, at: usize) -> Value {
        self.variables.borrow()[at].value.clone()
    }

    pub(crate) fn kind_at(&self, at: usize) -> Option<Type> {
        self.variables.borrow()[at].kind.clone()
    }

    pub(crate) fn set_at(&self, at: usize, value: Value) {
        // The old value may own this frame: it is dropped when nothing is borrowed.
        let before = std::mem::replace(&mut self.variables.borrow_mut()[at].value, value);
        drop(before);
    }
}

impl Frame {
    /// Whether it has an enclosing block, so that new names are local to it in BeanShell.
    pub(crate) fn is_inner(&self) -> bool {
        self.around.is_some()
    }
}
