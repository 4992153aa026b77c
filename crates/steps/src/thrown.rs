//! Java exceptions as data.
//!
//! Must not know the source. Invariant: an exception has a class and a message.

use loadline_java::numbers;

/// An exception from one of JMeter's functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// Its class.
    pub(crate) class: &'static str,
    /// Its message.
    pub(crate) message: String,
}

impl Thrown {
    /// The exception for a text that is not a number.
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
