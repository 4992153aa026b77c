//! Exceptions of a script.
//!
//! Must not know what throws. Invariant: a script can catch exceptions, but never the order to end.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// What ends a script's run early.
#[derive(Clone)]
pub enum Thrown {
    /// A Java exception.
    Exception(Rc<Exception>),
    /// The script must end, with the reason.
    End(String),
}

/// An exception.
#[derive(Clone)]
pub struct Exception {
    /// The full name of its class.
    pub class: Arc<str>,
    /// Its message.
    pub message: Option<Arc<str>>,
    /// Its cause.
    pub cause: Option<Rc<Exception>>,
    /// Set if its class is one of the script's.
    pub own: Option<Own>,
    /// What BeanShell tells instead; `None`: nothing else.
    pub(crate) words: Option<Arc<str>>,
}

/// An exception of a script's class.
#[derive(Clone)]
pub struct Own {
    /// The object.
    pub object: Rc<dyn Any>,
    /// The classes above its own, the nearest first.
    pub above: Vec<Arc<str>>,
}

impl Exception {
    /// An exception.
    pub fn new(class: impl Into<Arc<str>>, message: Option<Arc<str>>) -> Exception {
        Exception {
            class: class.into(),
            message,
            cause: None,
            own: None,
            words: None,
        }
    }

    /// Its Java text: the class, a colon and the message.
    #[must_use]
    pub fn told(&self) -> String {
        match &self.message {
            Some(message) if *self.class == *POWER_ASSERTION => {
                format!("Assertion failed: \n\n{message}\n")
            }
            Some(message) => format!("{}: {message}", self.class),
            None => self.class.to_string(),
        }
    }

    /// Whether it is an instance of a class or one of its subclasses.
    #[must_use]
    pub fn is_a(&self, class: &str) -> bool {
        let Some(Own { above, .. }) = &self.own else {
            return is_below(&self.class, class);
        };
        *self.class == *class
            || above.iter().any(|name| **name == *class)
            || above.last().is_some_and(|base| is_below(base, class))
    }

    /// Whether it is an error instead of an exception, so that `catch (Exception e)` does not catch it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_a("java.lang.Error")
    }
}

/// Whether an exception class is the same as another one, or a subclass.
#[must_use]
pub(crate) fn is_below(name: &str, class: &str) -> bool {
    let mut at = name;
    loop {
        if at == class || at.rsplit('.').next() == Some(class) {
            return true;
        }
        match parent(at) {
            Some(above) => at = above,
            None => return false,
        }
    }
}

/// The class of a failed `assert` without a message of its own.
pub(crate) const POWER_ASSERTION: &str =
    "org.codehaus.groovy.runtime.powerassert.PowerAssertionError";

/// Exception classes, each with its superclass. That of unlisted ones is `java.lang.Exception`.
const PARENTS: &[(&str, &str)] = &[
    ("java.lang.Exception", "java.lang.Throwable"),
    ("java.lang.Error", "java.lang.Throwable"),
    ("java.lang.AssertionError", "java.lang.Error"),
    (POWER_ASSERTION, "java.lang.AssertionError"),
    ("java.lang.StackOverflowError", "java.lang.Error"),
    ("java.lang.OutOfMemoryError", "java.lang.Error"),
    ("java.lang.RuntimeException", "java.lang.Exception"),
    (
        "java.lang.IllegalArgumentException",
        "java.lang.RuntimeException",
    ),
    (
        "java.lang.NumberFormatException",
        "java.lang.IllegalArgumentException",
    ),
    (
        "java.util.regex.PatternSyntaxException",
        "java.lang.IllegalArgumentException",
    ),
    (
        "java.util.IllegalFormatException",
        "java.lang.IllegalArgumentException",
    ),
    (
        "java.util.UnknownFormatConversionException",
        "java.util.IllegalFormatException",
    ),
    (
        "java.util.MissingFormatArgumentException",
        "java.util.IllegalFormatException",
    ),
    (
        "java.util.IllegalFormatConversionException",
        "java.util.IllegalFormatException",
    ),
    (
        "groovy.json.JsonException",
        "groovy.lang.GroovyRuntimeException",
    ),
    (
        "groovy.lang.GroovyRuntimeException",
        "java.lang.RuntimeException",
    ),
    (
        "groovy.lang.MissingPropertyException",
        "groovy.lang.GroovyRuntimeException",
    ),
    (
        "groovy.lang.MissingMethodException",
        "groovy.lang.GroovyRuntimeException",
    ),
    (
        "java.lang.IllegalStateException",
        "java.lang.RuntimeException",
    ),
    (
        "java.lang.NullPointerException",
        "java.lang.RuntimeException",
    ),
    (
        "java.lang.ArithmeticException",
        "java.lang.RuntimeException",
    ),
    ("java.lang.ClassCastException", "java.lang.RuntimeException"),
    (
        "org.codehaus.groovy.runtime.typehandling.GroovyCastException",
        "java.lang.ClassCastException",
    ),
    (
        "java.lang.IndexOutOfBoundsException",
        "java.lang.RuntimeException",
    ),
    (
        "java.lang.ArrayIndexOutOfBoundsException",
        "java.lang.IndexOutOfBoundsException",
    ),
    (
        "java.lang.StringIndexOutOfBoundsException",
        "java.lang.IndexOutOfBoundsException",
    ),
    (
        "java.lang.NegativeArraySizeException",
        "java.lang.RuntimeException",
    ),
    (
        "java.lang.UnsupportedOperationException",
        "java.lang.RuntimeException",
    ),
    (
        "java.util.ConcurrentModificationException",
        "java.lang.RuntimeException",
    ),
    (
        "java.util.NoSuchElementException",
        "java.lang.RuntimeException",
    ),
    (
        "java.util.InputMismatchException",
        "java.util.NoSuchElementException",
    ),
    (
        "java.util.EmptyStackException",
        "java.lang.RuntimeException",
    ),
    ("java.time.DateTimeException", "java.lang.RuntimeException"),
    (
        "java.time.format.DateTimeParseException",
        "java.time.DateTimeException",
    ),
    (
        "java.time.temporal.UnsupportedTemporalTypeException",
        "java.time.DateTimeException",
    ),
    ("java.io.UncheckedIOException", "java.lang.RuntimeException"),
    ("java.io.FileNotFoundException", "java.io.IOException"),
    ("java.nio.file.NoSuchFileException", "java.io.IOException"),
    (
        "java.io.UnsupportedEncodingException",
        "java.io.IOException",
    ),
    (
        "java.security.NoSuchAlgorithmException",
        "java.security.GeneralSecurityException",
    ),
    (
        "java.security.InvalidKeyException",
        "java.security.GeneralSecurityException",
    ),
];

fn parent(class: &str) -> Option<&'static str> {
    if class == "java.lang.Throwable" {
        return None;
    }
    let found = PARENTS.iter().find(|(below, _)| *below == class);
    Some(found.map_or("java.lang.Exception", |(_, above)| above))
}

/// The full name of an exception class by its name without package; `None`: unknown.
#[must_use]
pub fn exception_class(name: &str) -> Option<&'static str> {
    let known = PARENTS.iter().flat_map(|(below, above)| [*below, *above]);
    let more = [
        "java.io.IOException",
        "java.security.GeneralSecurityException",
        "java.text.ParseException",
        "java.lang.InterruptedException",
        "java.lang.CloneNotSupportedException",
        "java.lang.ClassNotFoundException",
        "java.lang.NoSuchFieldException",
        "java.lang.NoSuchMethodException",
        "java.util.concurrent.TimeoutException",
        "java.util.concurrent.ExecutionException",
        "java.net.URISyntaxException",
        "java.net.MalformedURLException",
        "java.net.UnknownHostException",
    ];
    let mut all = known.chain(more);
    all.find(|class| *class == name || class.rsplit('.').next() == Some(name))
}

impl Thrown {
    /// An exception with a message.
    pub fn of(class: &'static str, message: impl Into<Arc<str>>) -> Thrown {
        Thrown::Exception(Rc::new(Exception::new(class, Some(message.into()))))
    }

    /// An exception without a message.
    #[must_use]
    pub fn bare(class: &'static str) -> Thrown {
        Thrown::Exception(Rc::new(Exception::new(class, None)))
    }

    /// `java.lang.IllegalArgumentException`.
    pub fn argument(message: impl Into<Arc<str>>) -> Thrown {
        Thrown::of("java.lang.IllegalArgumentException", message)
    }

    /// The exception for a method call on null.
    #[must_use]
    pub fn null_call(method: &str) -> Thrown {
        Thrown::of(
            "java.lang.NullPointerException",
            format!("Cannot invoke method {method}() on null object"),
        )
    }

    /// Whether it is a Java error, which code that catches exceptions does not catch.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self, Thrown::Exception(exception) if exception.is_error())
    }

    /// What a list of a class throws where one of its values lacks a property.
    pub(crate) fn of_one(self, class: &str, name: &str) -> Thrown {
        const MISSING: &str = "groovy.lang.MissingPropertyException";
        match &self {
            Thrown::Exception(exception) if *exception.class == *MISSING => {
                let why = exception.told();
                Thrown::of(
                    MISSING,
                    format!("Exception evaluating property '{name}' for {class}, Reason: {why}"),
                )
            }
            _ => self,
        }
    }

    /// Its Java text.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Thrown::Exception(exception) => exception.told(),
            Thrown::End(why) => why.clone(),
        }
    }
}
