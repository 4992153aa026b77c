//! Values of a script, and what runs it as the library sees it.
//!
//! Must not know how a script is read. Invariant: a value belongs to one thread; what two names share, both see change.

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

/// What something comes to, or what it threw.
pub type Outcome<T = Value> = Result<T, Thrown>;

/// A value of a script.
#[derive(Clone)]
pub enum Value {
    /// Nothing.
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
    /// A set: a map whose values mean nothing.
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
    /// BeanShell's `void`: a name that nobody has set.
    Void,
}

/// A text with values in it.
pub struct Composed {
    /// Texts and values in turn, beginning with a text.
    pub texts: Vec<Arc<str>>,
    /// The values between them.
    pub values: Vec<Value>,
}

/// Which list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `java.util.ArrayList`.
    Growing,
    /// `java.util.LinkedList` and its like.
    Linked,
    /// `Arrays.asList`: values change, the length does not.
    Fixed,
    /// Nothing changes.
    Constant,
    /// An array, whose elements are of a kind.
    Array(Element),
}

/// What an array is of.
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
    /// Which list it is.
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
    /// What it is of.
    pub of: RangeOf,
}

/// What a range is of.
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

/// Something that is called with values; what runs the script knows how.
pub trait Callable: Any {
    /// Itself, to find out what it is.
    fn any(&self) -> &dyn Any;

    /// How many values it takes.
    fn arity(&self) -> usize;
}

/// An object that is none of the values above.
pub trait Object: Any {
    /// The full name of its class.
    fn class(&self) -> &str;

    /// The methods that it has.
    fn methods(&self) -> &'static Table;

    /// Itself, to find out what it is.
    fn any(&self) -> &dyn Any;

    /// It as a text.
    fn text(&self) -> String {
        format!("{}@1b2c3d", self.class())
    }

    /// Whether it is as good as another.
    fn equals(&self, other: &dyn Object) -> bool {
        std::ptr::addr_eq(self.any(), other.any())
    }

    /// Whether it equals texts that say what it says.
    fn is_like_text(&self) -> bool {
        false
    }

    /// How it compares with another; `None`: it does not.
    fn compare(&self, _: &dyn Object) -> Option<Ordering> {
        None
    }

    /// Its hash code.
    fn hash(&self) -> i32 {
        0
    }

    /// Whether it counts as true.
    fn truth(&self) -> bool {
        true
    }

    /// Calls a method that the table does not have; `None`: there is none.
    ///
    /// # Errors
    /// What it throws.
    fn call(&self, _: &mut dyn Machine, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    /// A property that is no method; `None`: there is none.
    ///
    /// # Errors
    /// What it throws.
    fn property(&self, _: &mut dyn Machine, _: &str) -> Outcome<Option<Value>> {
        Ok(None)
    }

    /// Sets a property that has no method; whether there is one.
    ///
    /// # Errors
    /// What it throws.
    fn set_property(&self, _: &mut dyn Machine, _: &str, _: &Value) -> Outcome<bool> {
        Ok(false)
    }

    /// Whether it is of a class, beside its own.
    fn is_a(&self, _: &str) -> bool {
        false
    }

    /// Its values by name, where JSON tells it by them.
    fn values_by_name(&self) -> Option<Vec<(Arc<str>, Value)>> {
        None
    }

    /// Its values, where it has some to go through.
    ///
    /// # Errors
    /// What it throws.
    fn iterate(&self, _: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        Ok(None)
    }
}

/// What a script finds by name, and leaves.
pub trait Bindings: Host {
    /// What is bound to a name; `None`: nothing is.
    fn bound(&mut self, name: &str) -> Option<Value>;

    /// Binds a value to a name, as a script does with a name that it has not declared.
    fn bind(&mut self, name: &str, value: Value);

    /// Asks an object of the host's for a method; `None`: it has none of that name. `number`: which of those that have
    /// the object's name it is.
    ///
    /// # Errors
    /// What it throws.
    fn ask(
        &mut self,
        object: &'static str,
        number: usize,
        method: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>>;

    /// Makes an object of one of the host's classes; `None`: it cannot be made of what is given.
    ///
    /// # Errors
    /// What it throws.
    fn make(&mut self, class: &str, given: &[Value]) -> Outcome<Option<Value>>;

    /// It as a host.
    fn host(&mut self) -> &mut dyn Host;
}

/// What runs a script, as the library sees it.
pub trait Machine {
    /// What the script has from outside.
    fn host(&mut self) -> &mut dyn Host;

    /// What it finds by name.
    fn bindings(&mut self) -> &mut dyn Bindings;

    /// Counts work; a script that does too much ends.
    ///
    /// # Errors
    /// It has done too much.
    fn work(&mut self, steps: u64) -> Outcome<()>;

    /// Counts memory, in bytes.
    ///
    /// # Errors
    /// It has taken too much.
    fn take(&mut self, bytes: usize) -> Outcome<()>;

    /// Calls a method of a value.
    ///
    /// # Errors
    /// What it throws.
    fn invoke(&mut self, receiver: &Value, name: &str, given: &[Value]) -> Outcome;

    /// A property of a value.
    ///
    /// # Errors
    /// What it throws.
    fn property(&mut self, of: &Value, name: &str) -> Outcome;

    /// Calls a closure.
    ///
    /// # Errors
    /// What it throws.
    fn call(&mut self, callee: &Value, given: Vec<Value>) -> Outcome;

    /// Calls a closure with an object that its names are looked for in first.
    ///
    /// # Errors
    /// What it throws.
    fn call_on(&mut self, callee: &Value, delegate: Value, given: Vec<Value>) -> Outcome;

    /// Goes one level deeper; must be followed by `leave`.
    ///
    /// # Errors
    /// It is too deep.
    fn enter(&mut self) -> Outcome<()>;

    /// Comes back from a level.
    fn leave(&mut self);

    /// Whether texts are compared by what they are, as Java does.
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

    /// A number, as small as it can be.
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

    /// A text, or nothing.
    pub fn optional(text: Option<impl Into<Arc<str>>>) -> Value {
        text.map_or(Value::Null, Value::text)
    }

    /// Whether it is nothing.
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

    /// The object of a type, if it is one.
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

    /// Whether its length may change.
    #[must_use]
    pub fn may_grow(&self) -> bool {
        matches!(self.kind, ListKind::Growing | ListKind::Linked)
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

    /// The bytes of an array of bytes; `None`: it is none.
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

    /// Its value at a place.
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

/// How many values are being turned into a text within one another on this thread: a list may hold itself.
pub(crate) struct Nesting(());

thread_local! {
    static NESTING: Cell<usize> = const { Cell::new(0) };
}

impl Nesting {
    /// Goes one deeper; `None`: that is too deep.
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
