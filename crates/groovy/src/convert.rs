//! Conversions of values to a type: by assignment, cast and `as`.
//!
//! Must not know methods. Invariant: an impossible conversion is an exception, in Groovy's words.

use std::rc::Rc;

use super::ast::Type;
use super::decimal::Decimal;
use super::library;
use super::map::{Map, MapKind};
use super::number;
use super::order;
use super::print;
use super::thrown::Thrown;
use super::value::{Element, List, ListKind, Machine, Outcome, Value};

/// The name of a type without its package.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The element type of an array.
#[must_use]
pub(crate) fn element_of(name: &str) -> Element {
    match short(name) {
        "String" => Element::Text,
        "int" => Element::Int,
        "long" => Element::Long,
        "double" => Element::Double,
        "float" => Element::Float,
        "byte" => Element::Byte,
        "char" => Element::Char,
        "boolean" => Element::Truth,
        _ => Element::Object,
    }
}

/// The initial value of a variable with a type.
#[must_use]
pub(crate) fn initial(kind: &Type) -> Value {
    if kind.dimensions > 0 {
        return Value::Null;
    }
    match &*kind.name {
        "int" | "short" => Value::Int(0),
        "long" => Value::Long(0),
        "double" => Value::Double(0.0),
        "float" => Value::Float(0.0),
        "byte" => Value::Byte(0),
        "char" => Value::Char('\0'),
        "boolean" => Value::Truth(false),
        _ => Value::Null,
    }
}

/// The exception for a value that cannot be cast to a class.
#[must_use]
pub(crate) fn cannot_cast(value: &Value, class: &str) -> Thrown {
    let try_other = match (value.is_null(), boxed(class)) {
        (true, Some(other)) => format!(". Try '{other}' instead"),
        _ => String::new(),
    };
    Thrown::of(
        "org.codehaus.groovy.runtime.typehandling.GroovyCastException",
        format!(
            "Cannot cast object '{}' with class '{}' to class '{class}'{try_other}",
            print::text(value),
            print::class_name(value)
        ),
    )
}

fn boxed(class: &str) -> Option<&'static str> {
    Some(match class {
        "int" => "java.lang.Integer",
        "long" => "java.lang.Long",
        "double" => "java.lang.Double",
        "float" => "java.lang.Float",
        "byte" => "java.lang.Byte",
        "short" => "java.lang.Short",
        "char" => "java.lang.Character",
        "boolean" => "java.lang.Boolean",
        _ => return None,
    })
}

/// The full name of a type in a script, for messages.
fn told(name: &str) -> String {
    match super::classes::any_full_name(name) {
        Some(full) => full.to_owned(),
        None => name.to_owned(),
    }
}

/// Converts a value for assignment to a variable of a type.
///
/// # Errors
/// It cannot be converted.
pub(crate) fn assign(machine: &mut dyn Machine, value: Value, kind: &Type) -> Outcome {
    cast(machine, value, kind)
}

/// Casts: `(Type) value`.
///
/// # Errors
/// It cannot be converted.
pub(crate) fn cast(machine: &mut dyn Machine, value: Value, to: &Type) -> Outcome {
    if to.dimensions > 0 {
        return array(machine, value, to);
    }
    let name = short(&to.name);
    let is_primitive = boxed(&to.name).is_some();
    if value.is_null() {
        return match is_primitive {
            true if *to.name == *"boolean" => Ok(Value::Truth(false)),
            true => Err(cannot_cast(&value, &to.name)),
            false => Ok(Value::Null),
        };
    }
    match name {
        "String" => match value {
            Value::Text(_) => Ok(value),
            _ if machine.is_bean_shell() => Err(bean_shell_cast(&value, "java.lang.String")),
            other => Ok(Value::text(print::text(&other))),
        },
        "boolean" | "Boolean" if machine.is_bean_shell() => match value {
            Value::Truth(_) => Ok(value),
            other => Err(bean_shell_cast(&other, &told(&to.name))),
        },
        "boolean" | "Boolean" => Ok(Value::Truth(order::truth(&value))),
        "int" | "Integer" | "long" | "Long" | "short" | "Short" | "byte" | "Byte" | "double"
        | "Double" | "float" | "Float" | "BigDecimal" | "BigInteger" | "Number" => {
            let number = match &value {
                Value::Text(text) if !machine.is_bean_shell() => {
                    let mut characters = text.chars();
                    match (characters.next(), characters.next()) {
                        (Some(one), None) if name != "Number" => {
                            Value::Int(u32::from(one).cast_signed())
                        }
                        _ => return Err(cannot_cast(&value, &told(&to.name))),
                    }
                }
                number if number.is_number() => value.clone(),
                Value::Char(_) if name != "Number" => value.clone(),
                _ if machine.is_bean_shell() => {
                    return Err(bean_shell_cast(&value, &told(&to.name)));
                }
                _ => return Err(cannot_cast(&value, &told(&to.name))),
            };
            numeric(&number, name).ok_or_else(|| cannot_cast(&value, &told(&to.name)))
        }
        "char" | "Character" => match &value {
            Value::Char(_) => Ok(value),
            Value::Text(text) if text.chars().count() == 1 => {
                Ok(Value::Char(text.chars().next().unwrap_or('\0')))
            }
            number if number.is_number() => {
                let code = number::int_of(number).unwrap_or(0).cast_unsigned() & 0xffff;
                Ok(Value::Char(char::from_u32(code).unwrap_or('\u{fffd}')))
            }
            _ => Err(cannot_cast(&value, &told(&to.name))),
        },
        _ => collection(machine, value, to, name),
    }
}

fn bean_shell_cast(value: &Value, class: &str) -> Thrown {
    Thrown::of(
        "bsh.EvalError",
        format!("Can't assign {} to {class}", print::class_name(value)),
    )
}

/// A list, set, map, or anything else.
fn collection(machine: &mut dyn Machine, value: Value, to: &Type, name: &str) -> Outcome {
    let is_sequence = matches!(value, Value::List(_) | Value::Range(_) | Value::Set(_));
    match name {
        "List" | "ArrayList" | "Collection" | "Iterable" if is_sequence => match &value {
            Value::List(list) if !list.is_array() => Ok(value),
            Value::Range(_) => Ok(value),
            Value::Set(_) if name == "Collection" || name == "Iterable" => Ok(value),
            _ => Ok(Value::list(library::values(machine, &value)?)),
        },
        "LinkedList" | "Queue" | "Deque" | "Stack" | "Vector"
            if matches!(value, Value::List(_)) =>
        {
            Ok(value)
        }
        "Set" | "HashSet" | "LinkedHashSet" | "TreeSet" | "SortedSet" if is_sequence => {
            match &value {
                Value::Set(_) => Ok(value),
                _ => set(machine, &value, name),
            }
        }
        "Map" | "HashMap" | "LinkedHashMap" | "TreeMap" if matches!(value, Value::Map(_)) => {
            Ok(value)
        }
        "List" | "ArrayList" | "Set" | "Map" | "HashMap" | "LinkedHashMap" | "Collection"
        | "HashSet" => match is_instance(&value, to) || machine.is_bean_shell() {
            true => Ok(value),
            false => Err(cannot_cast(&value, &told(&to.name))),
        },
        "Closure" | "Object" | "def" | "var" | "Runnable" | "Callable" | "Comparator" => Ok(value),
        "Date" | "File" | "StringBuilder" | "Calendar" | "Random" | "SimpleDateFormat" | "UUID"
            if !is_instance(&value, to) && !machine.is_bean_shell() =>
        {
            Err(cannot_cast(&value, &told(&to.name)))
        }
        _ => Ok(value),
    }
}

fn set(machine: &mut dyn Machine, value: &Value, name: &str) -> Outcome {
    let kind = match name {
        "TreeSet" | "SortedSet" => MapKind::Tree,
        "HashSet" => MapKind::Hash,
        _ => MapKind::Linked,
    };
    let set = Map::new(kind);
    for one in library::values(machine, value)? {
        set.put(&one, Value::Null);
    }
    Ok(Value::Set(set))
}

/// Converts a number to another kind; `None`: it has no such value.
fn numeric(value: &Value, name: &str) -> Option<Value> {
    Some(match name {
        "int" | "Integer" => Value::Int(number::int_of(value)?),
        "short" | "Short" => Value::Int(i32::from(number::long_of(value)? as i16)),
        "byte" | "Byte" => Value::Byte(number::long_of(value)? as i8),
        "long" | "Long" => Value::Long(number::long_of(value)?),
        "double" | "Double" => Value::Double(number::double_of(value)?),
        "float" | "Float" => Value::Float(number::double_of(value)? as f32),
        "BigDecimal" => number::decimal(number::decimal_of(value)?),
        "BigInteger" => Value::Whole(Rc::new(number::whole_of(value)?)),
        _ => value.clone(),
    })
}

/// Coerces: `value as Type`.
///
/// # Errors
/// It cannot be converted.
pub(crate) fn coerce(machine: &mut dyn Machine, value: Value, to: &Type) -> Outcome {
    if to.dimensions > 0 || value.is_null() {
        return match to.dimensions {
            0 => Ok(Value::Null),
            _ => array(machine, value, to),
        };
    }
    let name = short(&to.name);
    let is_text = matches!(value, Value::Text(_) | Value::Composed(_));
    match name {
        "String" => Ok(Value::text(print::text(&value))),
        "int" | "Integer" | "long" | "Long" | "short" | "Short" | "byte" | "Byte" | "double"
        | "Double" | "float" | "Float" | "BigDecimal" | "BigInteger"
            if is_text =>
        {
            parsed(&print::text(&value), name)
        }
        "boolean" | "Boolean" => Ok(Value::Truth(order::truth(&value))),
        "char" | "Character" if is_text => {
            let text = print::text(&value);
            match text.chars().count() {
                1 => Ok(Value::Char(text.chars().next().unwrap_or('\0'))),
                _ => Err(cannot_cast(&value, "java.lang.Character")),
            }
        }
        "List" | "ArrayList" if is_text => {
            let text = print::text(&value);
            Ok(Value::list(
                text.chars()
                    .map(|one| Value::text(one.to_string()))
                    .collect(),
            ))
        }
        "List" | "ArrayList" | "Collection" | "LinkedList" => match &value {
            Value::List(list) if !list.is_array() => Ok(value),
            Value::Range(_) if name == "List" => Ok(value),
            Value::Set(_) if name == "Collection" => Ok(value),
            _ => Ok(Value::list(library::values(machine, &value)?)),
        },
        "File" if is_text => {
            library::construct(machine, "java.io.File", &[Value::text(print::text(&value))])
        }
        "TreeMap" if matches!(value, Value::Map(_)) => {
            let copy = Map::new(MapKind::Tree);
            if let Value::Map(map) = &value {
                for (key, value) in order::entries(map) {
                    copy.put(&key, value);
                }
            }
            Ok(Value::Map(copy))
        }
        _ => cast(machine, value, to),
    }
}

/// Parses a number.
///
/// # Errors
/// The text is not a number.
pub(crate) fn parsed(text: &str, name: &str) -> Outcome {
    let text = text.trim();
    let complaint = || {
        let message = loadline_java::numbers::complaint(text);
        Thrown::of("java.lang.NumberFormatException", message)
    };
    Ok(match name {
        "int" | "Integer" | "short" | "Short" | "byte" | "Byte" => {
            let number = loadline_java::numbers::parse_int(text).ok_or_else(complaint)?;
            match name {
                "byte" | "Byte" => Value::Byte(number as i8),
                _ => Value::Int(number),
            }
        }
        "long" | "Long" => {
            Value::Long(loadline_java::numbers::parse_long(text).ok_or_else(complaint)?)
        }
        "double" | "Double" => Value::Double(parsed_double(text)?),
        "float" | "Float" => Value::Float(parsed_double(text)? as f32),
        "BigDecimal" => number::decimal(Decimal::parse(text).ok_or_else(|| bad_decimal(text))?),
        _ => {
            let digits = text.strip_prefix('+').unwrap_or(text);
            let number = digits.parse().map_err(|_| {
                Thrown::of(
                    "java.lang.NumberFormatException",
                    match text {
                        "" => "Zero length BigInteger".to_owned(),
                        _ => format!("For input string: \"{text}\""),
                    },
                )
            })?;
            Value::Whole(Rc::new(number))
        }
    })
}

fn parsed_double(text: &str) -> Outcome<f64> {
    loadline_java::numbers::parse_double(text).ok_or_else(|| {
        let message = match text {
            "" => "empty String".to_owned(),
            _ => format!("For input string: \"{text}\""),
        };
        Thrown::of("java.lang.NumberFormatException", message)
    })
}

fn bad_decimal(text: &str) -> Thrown {
    let odd = text
        .chars()
        .find(|one| !one.is_ascii_digit() && !matches!(one, '.' | '-' | '+' | 'e' | 'E'));
    match odd {
        Some(odd) => Thrown::of(
            "java.lang.NumberFormatException",
            format!(
                "Character {odd} is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."
            ),
        ),
        None => Thrown::bare("java.lang.NumberFormatException"),
    }
}

/// An array of a type.
fn array(machine: &mut dyn Machine, value: Value, to: &Type) -> Outcome {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let of = match to.dimensions {
        1 => element_of(&to.name),
        _ => Element::Object,
    };
    if let Value::List(list) = &value
        && list.kind == ListKind::Array(of)
    {
        return Ok(value);
    }
    if let (Value::Text(text), Element::Char) = (&value, of) {
        return Ok(Value::array(of, text.chars().map(Value::Char).collect()));
    }
    let inner = Type {
        name: to.name.clone(),
        dimensions: to.dimensions - 1,
    };
    let is_list = matches!(value, Value::List(_) | Value::Range(_) | Value::Set(_));
    let values = match is_list {
        true => library::values(machine, &value)?,
        false => return Err(cannot_cast(&value, &format!("[L{};", told(&to.name)))),
    };
    machine.take(values.len().saturating_mul(24))?;
    let mut items = Vec::with_capacity(values.len());
    for one in values {
        items.push(match inner.dimensions {
            0 => coerce(machine, one, &inner)?,
            _ => array(machine, one, &inner)?,
        });
    }
    Ok(Value::List(List::new(ListKind::Array(of), items)))
}

/// Whether a value is of a class.
#[must_use]
pub(crate) fn is_instance(value: &Value, class: &Type) -> bool {
    let name = short(&class.name);
    if value.is_null() {
        return false;
    }
    if class.dimensions > 0 {
        let of = element_of(&class.name);
        return matches!(value, Value::List(list) if list.kind == ListKind::Array(of));
    }
    is_of_class(value, name)
}

/// Whether a value is of a class that is named without its package.
#[must_use]
pub(crate) fn is_of_class(value: &Value, name: &str) -> bool {
    if name == "Object" || print::simple_class_name(value) == name {
        return true;
    }
    let above: &[&str] = match value {
        Value::Text(_) => &["CharSequence", "Comparable", "Serializable"],
        Value::Composed(_) => &["GString", "CharSequence", "Comparable"],
        number if number.is_number() => &["Number", "Comparable"],
        Value::List(list) if list.is_array() => &[],
        Value::List(_) | Value::Range(_) => {
            &["List", "Collection", "Iterable", "AbstractList", "Range"]
        }
        Value::Set(set) if set.kind == MapKind::Linked => {
            &["Set", "Collection", "Iterable", "HashSet"]
        }
        Value::Set(_) => &["Set", "Collection", "Iterable"],
        Value::Map(map) if map.kind == MapKind::Linked => &["Map", "HashMap", "AbstractMap"],
        Value::Map(_) => &["Map", "AbstractMap"],
        Value::Closure(_) => &["Closure", "Runnable", "Callable"],
        Value::Exception(exception) => return exception.is_a(name),
        Value::Object(object) => return object.is_a(name),
        _ => &[],
    };
    match (value, name) {
        (Value::List(_), "Range") => false,
        _ => above.contains(&name),
    }
}
