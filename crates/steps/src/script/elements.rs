//! A sampler's elements that scripts hold: its header fields, arguments and cookies, and those that they
//! create.
//!
//! Must not know the sampler. Invariant: an element is accessible by its number as long as the script runs;
//! elements that are not accessed are not evaluated.

use std::sync::Arc;

use loadline_groovy::bound::Bound;
use loadline_groovy::number::int_of;
use loadline_groovy::print;
use loadline_groovy::value::Value;

use super::value::ScriptObject;
use crate::http::{HeaderField, HttpArgument, PresetCookie};
use crate::sample::AssertionOutcome;
use crate::text::Text;

/// An element held by a script.
#[derive(Clone, Debug)]
pub(super) enum Element {
    /// A header manager, by the numbers of its fields.
    Headers(Vec<usize>),
    /// A header field.
    Header(HeaderField),
    /// A list of arguments, by their numbers.
    Arguments(Vec<usize>),
    /// An argument.
    Argument(HttpArgument),
    /// The cookie manager of the sampler.
    Cookies,
    /// A cookie.
    Cookie(PresetCookie),
    /// The result of an assertion.
    Finding(AssertionOutcome),
    /// A sub-sample.
    Below(Below),
}

/// The place of a sub-sample.
#[derive(Clone, Debug)]
pub(super) struct Below {
    /// The sample above.
    pub(super) of: ScriptObject,
    /// The number of each sub-sample on the way to it.
    pub(super) path: Vec<usize>,
    /// Its label.
    pub(super) label: Arc<str>,
}

/// Kinds of elements, with their class and methods.
const KINDS: &[(&str, &str, &[&str])] = &[
    (
        "headerManager",
        "org.apache.jmeter.protocol.http.control.HeaderManager",
        &[
            "add",
            "clear",
            "get",
            "getHeader",
            "getHeaders",
            "iterator",
            "remove",
            "removeHeaderNamed",
            "size",
        ],
    ),
    (
        "header",
        "org.apache.jmeter.protocol.http.control.Header",
        &[
            "getName",
            "getObjectValue",
            "getValue",
            "setName",
            "setValue",
        ],
    ),
    (
        "arguments",
        "org.apache.jmeter.config.Arguments",
        &[
            "addArgument",
            "clear",
            "getArgument",
            "getArgumentCount",
            "getArguments",
            "iterator",
            "removeAllArguments",
            "removeArgument",
        ],
    ),
    (
        "argument",
        "org.apache.jmeter.protocol.http.util.HTTPArgument",
        &[
            "getContentType",
            "getName",
            "getObjectValue",
            "getValue",
            "isAlwaysEncoded",
            "isUseEquals",
            "setAlwaysEncoded",
            "setContentType",
            "setMetaData",
            "setName",
            "setUseEquals",
            "setValue",
        ],
    ),
    (
        "cookieManager",
        "org.apache.jmeter.protocol.http.control.CookieManager",
        &[
            "add",
            "clear",
            "get",
            "getCookieCount",
            "getCookies",
            "iterator",
            "remove",
        ],
    ),
    (
        "cookie",
        "org.apache.jmeter.protocol.http.control.Cookie",
        &[
            "getDomain",
            "getName",
            "getObjectValue",
            "getPath",
            "getSecure",
            "getValue",
            "setDomain",
            "setName",
            "setPath",
            "setSecure",
            "setValue",
        ],
    ),
    (
        "assertionResult",
        "org.apache.jmeter.assertions.AssertionResult",
        &["getFailureMessage", "getName", "isError", "isFailure"],
    ),
    (
        "subResult",
        "org.apache.jmeter.samplers.SampleResult",
        &["getAssertionResults", "getSubResults"],
    ),
];

/// Whether a kind of elements, or any kind, has a method.
pub(super) fn has(kind: Option<&str>, method: &str) -> bool {
    let mut kinds = KINDS
        .iter()
        .filter(|(name, _, _)| kind.is_none_or(|kind| kind == *name));
    kinds.any(|(_, _, methods)| methods.contains(&method))
}

/// The elements held by a script.
#[derive(Debug, Default)]
pub(super) struct Held {
    all: Vec<Element>,
    /// The sampler's header manager, once accessed.
    pub(super) headers: Option<usize>,
    /// The sampler's arguments, once accessed.
    pub(super) arguments: Option<usize>,
    /// Whether anything was changed since the last write-back.
    pub(super) is_changed: bool,
}

impl Held {
    /// Adds an element; returns its number.
    pub(super) fn hold(&mut self, element: Element) -> usize {
        self.all.push(element);
        self.all.len() - 1
    }

    pub(super) fn hold_fields(&mut self, fields: &[HeaderField]) -> usize {
        let fields = fields.iter().cloned();
        let numbers = fields
            .map(|field| self.hold(Element::Header(field)))
            .collect();
        self.hold(Element::Headers(numbers))
    }

    pub(super) fn hold_arguments(&mut self, arguments: &[HttpArgument]) -> usize {
        let arguments = arguments.iter().cloned();
        let numbers = arguments
            .map(|one| self.hold(Element::Argument(one)))
            .collect();
        self.hold(Element::Arguments(numbers))
    }

    /// The element with a number.
    pub(super) fn get(&self, number: usize) -> Option<&Element> {
        self.all.get(number)
    }

    /// The same, mutable.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Element> {
        self.is_changed = true;
        self.all.get_mut(number)
    }

    /// The element numbers in a list.
    pub(super) fn list(&self, number: usize) -> &[usize] {
        match self.get(number) {
            Some(Element::Headers(list) | Element::Arguments(list)) => list,
            _ => &[],
        }
    }

    /// The same, mutable.
    pub(super) fn list_mut(&mut self, number: usize) -> Option<&mut Vec<usize>> {
        match self.get_mut(number) {
            Some(Element::Headers(list) | Element::Arguments(list)) => Some(list),
            _ => None,
        }
    }

    /// The fields of a header manager.
    pub(super) fn fields(&self, number: usize) -> Vec<HeaderField> {
        self.held(number, |one| match one {
            Element::Header(field) => Some(field),
            _ => None,
        })
    }

    /// The items of a list of arguments.
    pub(super) fn arguments_of(&self, number: usize) -> Vec<HttpArgument> {
        self.held(number, |one| match one {
            Element::Argument(argument) => Some(argument),
            _ => None,
        })
    }

    /// The items of one kind in a list.
    fn held<T: Clone>(&self, number: usize, of: impl Fn(&Element) -> Option<&T>) -> Vec<T> {
        let numbers = self.list(number).iter();
        let held = numbers.filter_map(|one| of(self.get(*one)?).cloned());
        held.collect()
    }

    /// An element as seen by a script.
    pub(super) fn value(&self, number: usize) -> Value {
        let Some(element) = self.get(number) else {
            return Value::Null;
        };
        let (kind, told) = match element {
            Element::Headers(_) => (0, None),
            Element::Header(_) => (1, None),
            Element::Arguments(_) => (2, None),
            Element::Argument(_) => (3, None),
            Element::Cookies => (4, None),
            Element::Cookie(_) => (5, None),
            Element::Finding(found) => (6, Some(found.name.as_str().into())),
            Element::Below(below) => (7, Some(below.label.as_ref().into())),
        };
        let (name, class, _) = KINDS[kind];
        Value::object(Bound {
            name,
            number,
            class,
            told,
        })
    }

    /// All elements of a list, as seen by a script.
    pub(super) fn values(&self, number: usize) -> Value {
        let list = self.list(number).iter();
        Value::list(list.map(|one| self.value(*one)).collect())
    }

    /// Creates an element of a class; `None`: the arguments are invalid.
    pub(super) fn make(&mut self, class: &str, given: &[Value]) -> Option<Value> {
        let texts: Vec<Text> = given.iter().map(literal).collect();
        let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
        let element = match (class.rsplit('.').next()?, given.len()) {
            ("HeaderManager", 0) => Element::Headers(Vec::new()),
            ("Arguments", 0) => Element::Arguments(Vec::new()),
            ("Header", 0 | 2) => Element::Header(HeaderField {
                name: text(0),
                value: text(1),
            }),
            ("HTTPArgument", 0 | 2 | 3) => Element::Argument(argument(text(0), text(1), true)),
            ("HTTPArgument", 4) => {
                let is_encoded = matches!(given[3], Value::Truth(true));
                Element::Argument(argument(text(0), text(1), !is_encoded))
            }
            ("Cookie", 0) => Element::Cookie(PresetCookie::default()),
            ("Cookie", 6 | 8) => Element::Cookie(PresetCookie {
                name: text(0),
                value: text(1),
                domain: text(2),
                path: text(3),
                secure: matches!(given[4], Value::Truth(true)),
                says_path: !matches!(given.get(6), Some(Value::Truth(false))),
                with_subdomains: !matches!(given.get(7), Some(Value::Truth(false))),
            }),
            _ => return None,
        };
        let number = self.hold(element);
        Some(self.value(number))
    }
}

/// An argument created by a script.
pub(super) fn argument(name: Text, value: Text, encode: bool) -> HttpArgument {
    HttpArgument {
        name,
        value,
        encode,
        equals: "=",
        content_type: Text::default(),
    }
}

/// The number of the element in a value; `None`: it is not of this kind.
pub(super) fn number_of(value: Option<&Value>, kind: &str) -> Option<usize> {
    let Value::Object(object) = value? else {
        return None;
    };
    let bound = object.any().downcast_ref::<Bound>()?;
    (bound.name == kind).then_some(bound.number)
}

/// A value as a literal text; empty for null.
pub(super) fn literal(value: &Value) -> Text {
    match value {
        Value::Null => Text::default(),
        value => Text::literal(&print::text(value)),
    }
}

/// A value as an index in a list.
pub(super) fn place(value: &Value) -> Option<usize> {
    int_of(value).and_then(|place| usize::try_from(place).ok())
}
