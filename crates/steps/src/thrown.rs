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

/// The class of exceptions for texts that are not numbers.
const NO_NUMBER: &str = "java.lang.NumberFormatException";

impl Thrown {
    /// The exception for a text that is not a number.
    pub(crate) fn no_number(text: &str) -> Thrown {
        Thrown {
            class: NO_NUMBER,
            message: numbers::complaint(text),
        }
    }

    /// Whether it is for a text that is not a number.
    pub(crate) fn is_no_number(&self) -> bool {
        self.class == NO_NUMBER
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
