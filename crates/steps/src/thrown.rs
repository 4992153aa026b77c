//! Exceptions of Java's, as data.
//!
//! Must not know what threw one. Invariant: an exception has a class and a message.

use loadline_java::numbers;

/// An exception of JMeter's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// Its class.
    pub(crate) class: &'static str,
    /// Its message.
    pub(crate) message: String,
}

impl Thrown {
    /// What is thrown for a text that is no number.
    pub(crate) fn no_number(text: &str) -> Thrown {
        Thrown {
            class: "java.lang.NumberFormatException",
            message: numbers::complaint(text),
        }
    }
}

impl<T: Into<String>> From<T> for Thrown {
    fn from(message: T) -> Thrown {
        Thrown {
            class: "java.lang.IllegalArgumentException",
            message: message.into(),
        }
    }
}
