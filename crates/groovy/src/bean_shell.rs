//! What BeanShell tells of exceptions: not themselves, but the call in which they were thrown.
//!
//! Must not know what throws. Invariant: a script that catches an exception does not see these words.

use std::rc::Rc;
use std::sync::Arc;

use super::ast::Expr;
use super::paths;
use super::thrown::{Exception, Thrown};

/// The class of BeanShell's own errors, which are told by their message.
const OWN: &str = "bsh.EvalError";

impl Exception {
    /// The same exception, with other words for it.
    fn with_words(&self, words: Option<Arc<str>>) -> Thrown {
        Thrown::Exception(Rc::new(Exception {
            words,
            ..self.clone()
        }))
    }
}

impl Thrown {
    /// As thrown by a call of a method that is no method of the script.
    pub(crate) fn in_call(self, of: &Expr, method: &str) -> Thrown {
        let of = paths::dotted(of).map_or_else(String::new, |of| of + ".");
        self.in_place(&format!("Method Invocation {of}{method}"))
    }

    /// As thrown by a constructor.
    pub(crate) fn in_constructor(self) -> Thrown {
        self.in_place("Object constructor")
    }

    /// As thrown by an index of an array: of this, BeanShell tells nothing.
    pub(crate) fn in_index(self) -> Thrown {
        self.in_place("")
    }

    fn in_place(self, place: &str) -> Thrown {
        match &self {
            Thrown::Exception(exception) if exception.words.is_none() && !self.is_own() => {
                exception.with_words(Some(place.into()))
            }
            _ => self,
        }
    }

    /// A method was called on null: of this, BeanShell tells nothing.
    pub(crate) fn null_in_call() -> Thrown {
        let message = "Null Pointer in Method Invocation";
        Exception::new("java.lang.NullPointerException", Some(message.into()))
            .with_words(Some("".into()))
    }

    /// As thrown by a script that has caught it.
    pub(crate) fn thrown_again(exception: Rc<Exception>) -> Thrown {
        match exception.words {
            Some(_) => exception.with_words(None),
            None => Thrown::Exception(exception),
        }
    }

    /// A division by zero, of which BeanShell tells only where it was.
    pub(crate) fn by_zero_in_operator() -> Thrown {
        Exception::new("java.lang.ArithmeticException", Some("/ by zero".into()))
            .with_words(Some("Arithemetic Exception in binary op".into()))
    }

    /// As told of a value for a declared variable with a type.
    pub(crate) fn in_typed_declaration(self) -> Thrown {
        const PLACE: &str = "Typed variable declaration";
        let Thrown::Exception(exception) = &self else {
            return self;
        };
        let before = match self.is_own() || is_of_missing_method(exception) {
            true => Some(own_words(exception)),
            false => exception.words.as_deref().map(str::to_owned),
        };
        let before = before.filter(|before| !before.is_empty());
        let words = before.map_or_else(|| PLACE.to_owned(), |before| format!("{PLACE} : {before}"));
        exception.with_words(Some(words.into()))
    }

    fn is_own(&self) -> bool {
        matches!(self, Thrown::Exception(exception) if *exception.class == *OWN)
    }

    /// What BeanShell appends to the text of the script.
    #[must_use]
    pub fn told_by_bean_shell(&self) -> String {
        let words = match self {
            Thrown::End(_) => "TargetError".to_owned(),
            Thrown::Exception(exception) => match &exception.words {
                Some(words) => words.to_string(),
                None => own_words(exception),
            },
        };
        match words.as_str() {
            "" => words,
            _ => format!(" : {words}"),
        }
    }
}

/// The words for an exception with no others.
fn own_words(exception: &Exception) -> String {
    let message = exception.message.as_deref().unwrap_or_default();
    match *exception.class == *OWN {
        true => message.to_owned(),
        false if is_of_missing_method(exception) => {
            missing(message).unwrap_or_else(|| "TargetError".to_owned())
        }
        false => "TargetError".to_owned(),
    }
}

fn is_of_missing_method(exception: &Exception) -> bool {
    &*exception.class == "groovy.lang.MissingMethodException"
}

/// The message for a missing method, from Groovy's; `None`: it is none.
fn missing(told: &str) -> Option<String> {
    let told = told.strip_prefix("No signature of method: ")?;
    let (called, rest) = told.split_once("() is applicable for argument types: (")?;
    let (class, method) = called.rsplit_once('.')?;
    let types = rest
        .split(')')
        .next()?
        .split(", ")
        .filter(|one| !one.is_empty());
    let types: Vec<String> = types.map(|one| format!("java.lang.{one}")).collect();
    let given = match types.as_slice() {
        [] => String::new(),
        types => format!(" {} ", types.join(", ")),
    };
    Some(format!(
        "Error in method invocation: Method {method}({given}) not found in class'{class}'"
    ))
}
