//! The values of templates: a small closed set instead of Go's reflection.
//!
//! Must not know how they are printed. Invariant: maps are sorted by key, as Go's templates range
//! over them.

use std::fmt;
use std::rc::Rc;

/// The implementation of an object's method.
pub type Method = Rc<dyn Fn(&[Value]) -> Result<Value, String>>;

/// One value.
#[derive(Clone, Debug)]
pub enum Value {
    /// The value of a missing key of a map.
    Missing,
    /// Go's `nil`.
    Nil,
    /// True or false.
    Bool(bool),
    /// A signed integer of any of Go's sizes.
    Int(i64),
    /// An unsigned integer of any of Go's sizes.
    Uint(u64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Rc<str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A span of time in nanoseconds, printed as Go's `time.Duration`.
    Duration(i64),
    /// A UUID.
    Uuid([u8; 16]),
    /// A slice.
    List(Rc<List>),
    /// A map, sorted by key.
    Map(Rc<Vec<(Value, Value)>>),
    /// A struct.
    Object(Rc<Object>),
}

/// A slice, packed if all values have the same kind.
#[derive(Clone, Debug)]
pub enum List {
    /// Any values.
    Values(Vec<Value>),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// Integers.
    Ints(Vec<i64>),
}

/// A field or method of an object.
#[derive(Clone)]
pub enum Member {
    /// A field.
    Field(Value),
    /// A method; without arguments it reads like a field.
    Method(Method),
}

/// A struct: named members in the order of declaration.
#[derive(Clone, Debug)]
pub struct Object {
    /// Go's name of the type, for messages.
    pub type_name: &'static str,
    /// Fields and methods.
    pub members: Vec<(&'static str, Member)>,
    /// Its printed form; `None`: its fields in braces.
    pub text: Option<String>,
    /// Whether Go has a pointer to it, and prints an ampersand before the braces.
    pub pointer: bool,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Member::Field(value) => value.fmt(f),
            Member::Method(_) => f.write_str("method"),
        }
    }
}

impl List {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            List::Values(values) => values.len(),
            List::Floats(values) => values.len(),
            List::Ints(values) => values.len(),
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at a position.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<Value> {
        match self {
            List::Values(values) => values.get(position).cloned(),
            List::Floats(values) => values.get(position).map(|value| Value::Float(*value)),
            List::Ints(values) => values.get(position).map(|value| Value::Int(*value)),
        }
    }

    /// The values from one index to another, both within the list.
    #[must_use]
    pub fn slice(&self, from: usize, to: usize) -> Option<List> {
        Some(match self {
            List::Values(values) => List::Values(values.get(from..to)?.to_vec()),
            List::Floats(values) => List::Floats(values.get(from..to)?.to_vec()),
            List::Ints(values) => List::Ints(values.get(from..to)?.to_vec()),
        })
    }
}

impl Object {
    /// The member with this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, member)| member)
    }

    /// The fields, without the methods.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.members
            .iter()
            .filter_map(|(name, member)| match member {
                Member::Field(value) => Some((*name, value)),
                Member::Method(_) => None,
            })
    }
}

impl Value {
    /// Text as a value.
    #[must_use]
    pub fn text(text: &str) -> Value {
        Value::Text(Rc::from(text))
    }

    /// A list of any values.
    #[must_use]
    pub fn list(values: Vec<Value>) -> Value {
        Value::List(Rc::new(List::Values(values)))
    }

    /// A list of numbers.
    #[must_use]
    pub fn floats(values: Vec<f64>) -> Value {
        Value::List(Rc::new(List::Floats(values)))
    }

    /// A struct with fields only.
    #[must_use]
    pub fn object(type_name: &'static str, fields: Vec<(&'static str, Value)>) -> Value {
        let members = fields
            .into_iter()
            .map(|(name, value)| (name, Member::Field(value)));
        Value::Object(Rc::new(Object {
            type_name,
            members: members.collect(),
            text: None,
            pointer: false,
        }))
    }

    /// Go's name of the type, for messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Missing | Value::Nil => "nil",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint64",
            Value::Float(_) => "float64",
            Value::Text(_) => "string",
            Value::Bytes(_) => "[]uint8",
            Value::Duration(_) => "time.Duration",
            Value::Uuid(_) => "uuid.UUID",
            Value::List(list) => match list.as_ref() {
                List::Values(_) => "slice",
                List::Floats(_) => "[]float64",
                List::Ints(_) => "[]int",
            },
            Value::Map(_) => "map",
            Value::Object(object) => object.type_name,
        }
    }

    /// Whether it counts as true in a condition: not false, zero, nil or empty.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Value::Missing | Value::Nil => false,
            Value::Bool(value) => *value,
            Value::Int(value) | Value::Duration(value) => *value != 0,
            Value::Uint(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Text(value) => !value.is_empty(),
            Value::Bytes(value) => !value.is_empty(),
            Value::List(value) => !value.is_empty(),
            Value::Map(value) => !value.is_empty(),
            Value::Uuid(_) | Value::Object(_) => true,
        }
    }

    /// The number as a float, for an argument that requires one.
    ///
    /// # Errors
    /// Names the type, which is not a number.
    pub fn as_float(&self) -> Result<f64, String> {
        match self {
            Value::Float(value) => Ok(*value),
            Value::Int(value) | Value::Duration(value) => Ok(*value as f64),
            Value::Uint(value) => Ok(*value as f64),
            other => Err(format!(
                "wrong type {}; expected a number",
                other.type_name()
            )),
        }
    }

    /// The number as an integer, for an argument that requires one.
    ///
    /// # Errors
    /// Names the type, which is not an integer.
    pub fn as_int(&self) -> Result<i64, String> {
        match self {
            Value::Int(value) | Value::Duration(value) => Ok(*value),
            Value::Uint(value) => {
                i64::try_from(*value).map_err(|_| format!("{value} is too large"))
            }
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Ok(*value as i64),
            other => Err(format!(
                "wrong type {}; expected an integer",
                other.type_name()
            )),
        }
    }
}
