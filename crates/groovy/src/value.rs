//! Values of a script, and the interpreter's interface for the library.
//!
//! Must not know how a script is parsed. Invariant: a value belongs to one thread; changes are visible through
//! all references.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use num_bigint::BigInt;

use super::decimal::Decimal;
use super::host::Host;
use super::map::Map;
use super::table::Table;
use super::thrown::{Exception, Thrown};

/// A result, or an exception.
pub type Outcome<T = Value> = Result<T, Thrown>;

/// A value of a script.
#[derive(Clone)]
pub enum Value {
    /// `null`.
    Null,
    /// `boolean`.
    Truth(bool),
    /// `char`.
    Char(char),
    /// `byte`.
    Byte(i8),
    /// `int`.
    Int(i32),
    /// `long`.
    Long(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `java.math.BigInteger`.
    Whole(Rc<BigInt>),
    /// `java.math.BigDecimal`.
    Decimal(Rc<Decimal>),
    /// `java.lang.String`.
    Text(Arc<str>),
    /// `groovy.lang.GString`.
    Composed(Rc<Composed>),
    /// A list or an array.
    List(Rc<List>),
    /// A map.
    Map(Rc<Map>),
    /// A set: a map with unused values.
    Set(Rc<Map>),
    /// A range of numbers or characters.
    Range(Rc<Range>),
    /// A closure.
    Closure(Rc<dyn Callable>),
    /// A class, by its full name.
    Class(Arc<str>),
    /// An exception.
    Exception(Rc<Exception>),
    /// Anything else.
    Object(Rc<dyn Object>),
    /// BeanShell's `void`: an undefined name.
    Void,
}

/// A text with embedded values.
pub struct Composed {
    /// The texts around the values, starting with a text.
    pub texts: Vec<Arc<str>>,
    /// The values between them.
    pub values: Vec<Value>,
}

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `java.util.ArrayList`.
    Growing,
    /// `java.util.LinkedList` and similar ones.
    Linked,
    /// `Arrays.asList`: values can change, the length cannot.
    Fixed,
    /// Immutable.
    Constant,
    /// A stream of values, whose own extremes and sums are optional values.
    Stream,
    /// A stream of numbers.
    NumberStream,
    /// An array with its element type.
    Array(Element),
}

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Anything.
    Object,
    /// Texts.
    Text,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `double`.
    Double,
    /// `float`.
    Float,
    /// `byte`.
    Byte,
    /// `char`.
    Char,
    /// `boolean`.
    Truth,
}

/// A list.
pub struct List {
    /// Its kind.
    pub kind: ListKind,
    /// Its values.
    pub items: RefCell<Vec<Value>>,
}

/// A range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first value.
    pub from: i64,
    /// The last value.
    pub to: i64,
    /// Whether it is empty, as `0..<0` is.
    pub is_empty: bool,
    /// The type of its values.
    pub of: RangeOf,
}

/// The type of a range's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeOf {
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// Texts of one character.
    Text,
    /// `char`.
    Char,
}

/// A callable value; the interpreter knows how to call it.
pub trait Callable: Any {
    /// Its number of parameters.
    fn arity(&self) -> usize;
}

impl dyn Callable {
    /// Itself, for downcasting.
    #[must_use]
    pub fn any(&self) -> &dyn Any {
        self
    }
}

/// An object other than the values above.
pub trait Object: Any {
    /// The full name of its class.
    fn class(&self) -> &str;

    /// Its methods.
    fn methods(&self) -> &'static Table;

    /// Its text.
    fn text(&self) -> String {
        format!("{}@1b2c3d", self.class())
    }

    /// Whether it is equal to another.
    fn equals(&self, other: &dyn Object) -> bool {
        std::ptr::addr_eq(self, other)
    }

    /// Whether it is equal to a text with the same content.
    fn is_like_text(&self) -> bool {
        false
    }

    /// Its order relative to another; `None`: they cannot be compared.
    fn compare(&self, _: &dyn Object) -> Option<Ordering> {
        None
    }

    /// Its hash code.
    fn hash(&self) -> i32 {
        0
    }

    /// Whether it is true as a condition.
    fn truth(&self) -> bool {
        true
    }

    /// Calls a method that is not in the table; `None`: there is none.
    ///
    /// # Errors
    /// An exception from it.
    fn call(&self, _: &mut dyn Machine, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    /// A property without a getter method; `None`: there is none.
    ///
    /// # Errors
    /// An exception from it.
    fn property(&self, _: &mut dyn Machine, _: &str) -> Outcome<Option<Value>> {
        Ok(None)
    }

    /// Sets a property without a setter method; returns whether it exists.
    ///
    /// # Errors
    /// An exception from it.
    fn set_property(&self, _: &mut dyn Machine, _: &str, _: &Value) -> Outcome<bool> {
        Ok(false)
    }

    /// Whether it is an instance of a class other than its own.
    fn is_a(&self, _: &str) -> bool {
        false
    }

    /// Its values by name, if JSON represents it by them.
    fn values_by_name(&self) -> Option<Vec<(Arc<str>, Value)>> {
        None
    }

    /// Its values, if it can be iterated.
    ///
    /// # Errors
    /// An exception from it.
    fn iterate(&self, _: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        Ok(None)
    }
}

impl dyn Object {
    /// Itself, for downcasting.
    #[must_use]
    pub fn any(&self) -> &dyn Any {
        self
    }
}

/// The names that a script reads and sets.
pub trait Bindings: Host {
    /// The value bound to a name; `None`: there is none.
    fn bound(&mut self, name: &str) -> Option<Value>;

    /// Binds a value to a name, for undeclared names in a script.
    fn bind(&mut self, name: &str, value: Value);

    /// All bound names, sorted.
    fn names(&self) -> Vec<String>;

    /// Calls a method of a host's object; `None`: it has no such method. `number`: the object's number among
    /// those with the same name.
    ///
    /// # Errors
    /// An exception from it.
    fn ask(
        &mut self,
        object: &'static str,
        number: usize,
        method: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>>;

    /// Constructs an object of a host's class; `None`: the arguments are invalid.
    ///
    /// # Errors
    /// An exception from it.
    fn make(&mut self, class: &str, given: &[Value]) -> Outcome<Option<Value>>;

    /// Itself as a host.
    fn host(&mut self) -> &mut dyn Host;
}

/// The interpreter, as seen by the library.
pub trait Machine {
    /// The environment of the script.
    fn host(&mut self) -> &mut dyn Host;

    /// Its bindings.
    fn bindings(&mut self) -> &mut dyn Bindings;

    /// Counts work; a script that exceeds the limit ends.
    ///
    /// # Errors
    /// The limit is exceeded.
    fn work(&mut self, steps: u64) -> Outcome<()>;

    /// Counts memory, in bytes.
    ///
    /// # Errors
    /// The limit is exceeded.
    fn take(&mut self, bytes: usize) -> Outcome<()>;

    /// Calls a method of a value.
    ///
    /// # Errors
    /// An exception from it.
    fn invoke(&mut self, receiver: &Value, name: &str, given: &[Value]) -> Outcome;

    /// A property of a value.
    ///
    /// # Errors
    /// An exception from it.
    fn property(&mut self, of: &Value, name: &str) -> Outcome;

    /// Calls a closure.
    ///
    /// # Errors
    /// An exception from it.
    fn call(&mut self, callee: &Value, given: Vec<Value>) -> Outcome;

    /// Calls a closure with an object in which its names are looked up first.
    ///
    /// # Errors
    /// An exception from it.
    fn call_on(&mut self, callee: &Value, delegate: Value, given: Vec<Value>) -> Outcome;

    /// Enters a level of depth; must be followed by `leave`.
    ///
    /// # Errors
    /// The limit is exceeded.
    fn enter(&mut self) -> Outcome<()>;

    /// Leaves a level.
    fn leave(&mut self);

    /// Whether texts are compared by identity, as in Java.
    fn is_bean_shell(&self) -> bool;
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A growing list.
    #[must_use]
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(List::new(ListKind::Growing, items))
    }

    /// An array.
    #[must_use]
    pub fn array(of: Element, items: Vec<Value>) -> Value {
        Value::List(List::new(ListKind::Array(of), items))
    }

    /// Bytes, as an array.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Value {
        let items = bytes.iter().map(|byte| Value::Byte(byte.cast_signed()));
        Value::array(Element::Byte, items.collect())
    }

    /// An object.
    pub fn object(object: impl Object) -> Value {
        Value::Object(Rc::new(object))
    }

    /// A number, of the smallest type that fits.
    #[must_use]
    pub fn whole(number: i64) -> Value {
        match i32::try_from(number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Long(number),
        }
    }

    /// A length.
    #[must_use]
    pub fn count(count: usize) -> Value {
        Value::Int(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// A text, or null.
    pub fn optional(text: Option<impl Into<Arc<str>>>) -> Value {
        text.map_or(Value::Null, Value::text)
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null | Value::Void)
    }

    /// Whether it is a number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Value::Byte(_)
                | Value::Int(_)
                | Value::Long(_)
                | Value::Float(_)
                | Value::Double(_)
                | Value::Whole(_)
                | Value::Decimal(_)
        )
    }

    /// The object as a Rust type, if it is of that type.
    #[must_use]
    pub fn of<T: 'static>(&self) -> Option<&T> {
        match self {
            Value::Object(object) => object.any().downcast_ref(),
            _ => None,
        }
    }
}

impl List {
    /// A list.
    #[must_use]
    pub fn new(kind: ListKind, items: Vec<Value>) -> Rc<List> {
        Rc::new(List {
            kind,
            items: RefCell::new(items),
        })
    }

    /// Whether its length can change.
    #[must_use]
    pub fn may_grow(&self) -> bool {
        matches!(self.kind, ListKind::Growing | ListKind::Linked)
    }

    /// Whether it is a stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.kind, ListKind::Stream | ListKind::NumberStream)
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        matches!(self.kind, ListKind::Array(_))
    }

    /// Its values, copied.
    #[must_use]
    pub fn copied(&self) -> Vec<Value> {
        self.items.borrow().clone()
    }

    /// The bytes of a byte array; `None`: not a byte array.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        if self.kind != ListKind::Array(Element::Byte) {
            return None;
        }
        let items = self.items.borrow();
        let bytes = items.iter().map(|item| match item {
            Value::Byte(byte) => Some(byte.cast_unsigned()),
            _ => None,
        });
        bytes.collect()
    }
}

impl Range {
    /// How many values it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.is_empty {
            true => 0,
            false => usize::try_from(self.from.abs_diff(self.to))
                .unwrap_or(usize::MAX)
                .saturating_add(1),
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Its value at an index.
    #[must_use]
    pub fn at(&self, index: usize) -> Value {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let number = match self.from <= self.to {
            true => self.from.saturating_add(index),
            false => self.from.saturating_sub(index),
        };
        let character = || {
            let code = u32::try_from(number).unwrap_or(0xfffd);
            char::from_u32(code).unwrap_or('\u{fffd}')
        };
        match self.of {
            RangeOf::Int => i32::try_from(number).map_or(Value::Long(number), Value::Int),
            RangeOf::Long => Value::Long(number),
            RangeOf::Text => Value::text(character().to_string()),
            RangeOf::Char => Value::Char(character()),
        }
    }

    /// Its values.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }
}

/// Depth of nested conversions to text on this thread: a list may contain itself.
pub(crate) struct Nesting(());

thread_local! {
    static NESTING: Cell<usize> = const { Cell::new(0) };
}

impl Nesting {
    /// Enters a level; `None`: too deep.
    pub(crate) fn enter() -> Option<Nesting> {
        let depth = NESTING.get();
        (depth < 100).then(|| {
            NESTING.set(depth + 1);
            Nesting(())
        })
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        NESTING.set(NESTING.get().saturating_sub(1));
    }
}
