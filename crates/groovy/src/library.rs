//! Methods and properties of values: Java's classes and Groovy's additions, as far as scripts of plans use
//! them.
//!
//! Must not know scripts. Invariant: a method that no table lists is missing, which is reported in Groovy's
//! words.

mod addresses;
mod any;
mod binding;
mod builders;
mod coding;
mod collections;
mod comparators;
mod counters;
mod dates;
mod digests;
mod elements;
mod files;
mod formats;
mod indexing;
mod json;
mod json_builder;
mod lists;
mod maps;
mod numbers;
mod places;
mod properties;
mod random;
mod readers;
mod regex;
mod sequences;
mod statics;
mod streams;
mod systems;
mod texts;
mod times;
mod units;
mod writing;
mod xml;

use super::ast::Type;
use super::convert;
use super::map::MapKind;
use super::order;
use super::print;
use super::table::Table;
use super::thrown::Thrown;
use super::value::{Machine, Outcome, RangeOf, Value};

pub use addresses::url;
pub(crate) use binding::Binding;
pub(crate) use builders::print_stream;
pub use counters::Counter;
pub(crate) use dates::between as dates_between;
pub(crate) use formats::formatted;
pub(crate) use indexing::{at, element, put_at};
pub(crate) use regex::pattern;
pub use sequences::iterator_over;
pub(crate) use sequences::{spread, values};

/// A class with a name in scripts.
pub(crate) struct Class {
    /// Its full name.
    pub(crate) name: &'static str,
    /// Its static methods; `new` is its constructor, upper-case names are its constants.
    pub(crate) statics: &'static Table,
}

/// All classes with static members, or constructed with `new`.
pub(crate) fn classes() -> impl Iterator<Item = &'static Class> {
    let all: [&[Class]; 12] = [
        statics::CLASSES,
        builders::CLASSES,
        coding::CLASSES,
        dates::CLASSES,
        digests::CLASSES,
        files::CLASSES,
        json::CLASSES,
        random::CLASSES,
        regex::CLASSES,
        sequences::CLASSES,
        systems::CLASSES,
        times::statics::CLASSES,
    ];
    all.into_iter()
        .flatten()
        .chain(readers::CLASSES)
        .chain(json_builder::CLASSES)
        .chain(elements::CLASSES)
        .chain(addresses::CLASSES)
        .chain(comparators::CLASSES)
        .chain(counters::CLASSES)
        .chain(streams::CLASSES)
        .chain(writing::CLASSES)
        .chain(properties::CLASSES)
        .chain(units::CLASSES)
        .chain(xml::CLASSES)
}

fn class(name: &str) -> Option<&'static Class> {
    classes().find(|class| class.name == name)
}

/// All tables of instance methods.
fn all_tables() -> [&'static Table; 50] {
    [
        &any::METHODS,
        &any::EXCEPTION,
        &any::CLASS,
        &binding::BINDING,
        &builders::BUILDER,
        &builders::STREAM,
        &builders::MAYBE,
        &coding::SET,
        &collections::METHODS,
        &dates::DATE,
        &dates::CALENDAR,
        &dates::FORMAT,
        &dates::LOCALE,
        &dates::ZONE,
        &digests::DIGEST,
        &digests::MAC,
        &digests::CODER,
        &files::FILE,
        &json::SLURPER,
        &json_builder::BUILDER,
        &lists::METHODS,
        &maps::METHODS,
        &maps::SET,
        &numbers::METHODS,
        &random::RANDOM,
        &random::UUID,
        &counters::COUNTER,
        &readers::READER,
        &readers::WRITER,
        &regex::MATCHER,
        &regex::PATTERN,
        &sequences::ENTRY,
        &sequences::ITERATOR,
        &systems::THREAD,
        &systems::UNIT,
        &systems::FILE_SERVER,
        &systems::ADDRESS,
        &texts::METHODS,
        &times::TIME,
        &times::FORMATTER,
        &times::SPAN,
        &times::NAME,
        &times::PLACE,
        &addresses::ADDRESS,
        &writing::PATTERN,
        &writing::JOINER,
        &properties::METHODS,
        &systems::ENVIRONMENT,
        &xml::FOUND,
        &xml::READER,
    ]
}

/// Methods of closures, which are handled along with calls of closures.
const OF_CLOSURES: &[&str] = &[
    "call",
    "curry",
    "andThen",
    "compose",
    "setDelegate",
    "setResolveStrategy",
    "memoize",
    "run",
    "apply",
    "accept",
    "test",
    "compare",
    "rcurry",
    "ncurry",
    "reversed",
    "thenComparing",
    "thenComparingInt",
    "thenComparingLong",
];

/// Whether any value has a method with this name.
pub(crate) fn is_known_method(name: &str) -> bool {
    OF_CLOSURES.contains(&name)
        || all_tables().iter().any(|table| table.has(name))
        || [&units::DURATION, &times::UNIT]
            .iter()
            .any(|table| table.has(name))
}

/// Whether every value has a method.
pub(crate) fn is_common(name: &str) -> bool {
    any::METHODS.has(name)
}

/// Whether methods called on this class are its static ones: it is a known class other than `java.lang.Class`.
pub(crate) fn is_class_method_only(name: &str) -> bool {
    class(name).is_some() && !matches!(name, "java.lang.Class")
}

/// Whether any class has a static method with this name.
pub(crate) fn is_static_anywhere(name: &str) -> bool {
    classes().any(|class| class.statics.has(name))
}

/// The tables of a value's methods, in lookup order.
fn tables(value: &Value) -> [&'static Table; 3] {
    let none = &any::NOTHING;
    let any = &any::METHODS;
    match value {
        Value::Text(_) | Value::Composed(_) | Value::Char(_) => [&texts::METHODS, any, none],
        Value::List(_) | Value::Range(_) => [&lists::METHODS, &collections::METHODS, any],
        Value::Set(_) => [&maps::SET, &collections::METHODS, any],
        Value::Map(map) if map.kind == MapKind::Properties => {
            [&properties::METHODS, &maps::METHODS, any]
        }
        Value::Map(_) => [&maps::METHODS, any, none],
        Value::Object(object) => [object.methods(), any, none],
        Value::Exception(_) => [&any::EXCEPTION, any, none],
        Value::Class(_) => [&any::CLASS, any, none],
        number if number.is_number() => [&numbers::METHODS, any, none],
        _ => [any, none, none],
    }
}

/// Whether a value has a method with this name.
pub(crate) fn has_method(value: &Value, name: &str) -> bool {
    if let Value::Class(class) = value
        && has_static(class, name)
    {
        return true;
    }
    tables(value).iter().any(|table| table.has(name))
}

/// Whether a class has a static method with this name.
pub(crate) fn has_static(name: &str, method: &str) -> bool {
    class(name).is_some_and(|class| class.statics.has(method))
}

/// The exception for a missing method.
pub(crate) fn missing(receiver: &Value, name: &str, given: &[Value]) -> Thrown {
    let (classes, values) = print::listed(given);
    let (of, prefix) = match receiver {
        Value::Class(name) => (&**name, "static "),
        other => (print::class_name(other), ""),
    };
    Thrown::of(
        "groovy.lang.MissingMethodException",
        format!(
            "No signature of method: {prefix}{of}.{name}() is applicable for argument types: ({classes}) values: {values}"
        ),
    )
}

/// Calls a method of a value.
///
/// # Errors
/// It does not exist, or it throws.
pub(crate) fn invoke(
    machine: &mut dyn Machine,
    receiver: &Value,
    name: &str,
    given: &[Value],
) -> Outcome {
    machine.work(2)?;
    machine.enter()?;
    let outcome = invoke_deeper(machine, receiver, name, given);
    machine.leave();
    outcome
}

fn invoke_deeper(
    machine: &mut dyn Machine,
    receiver: &Value,
    name: &str,
    given: &[Value],
) -> Outcome {
    if let Value::Class(class_name) = receiver
        && let Some(class) = class(class_name)
        && name != "new"
        && let Some(row) = class.statics.find(name, given.len())
    {
        return (row.body)(machine, receiver, given);
    }
    if let Value::Object(object) = receiver
        && let Some(value) = object.call(machine, name, given)?
    {
        return Ok(value);
    }
    if receiver.is_null()
        && !machine.is_bean_shell()
        && let Some(value) = any::of_null(machine, name, given)?
    {
        return Ok(value);
    }
    if receiver.is_null() && !any::is_known_to_null(name, given.len()) {
        return Err(Thrown::null_call(name));
    }
    for table in tables(receiver) {
        if let Some(row) = table.find(name, given.len()) {
            return (row.body)(machine, receiver, given);
        }
    }
    // Groovy passes `null` to a method with one parameter that is called without arguments.
    if given.is_empty()
        && let Some(row) = tables(receiver)
            .iter()
            .find_map(|table| table.find(name, 1))
        && row.least == 1
    {
        return Err(missing(receiver, name, given));
    }
    Err(missing(receiver, name, given))
}

/// Constructs an object of a class.
///
/// # Errors
/// It cannot be constructed, or the constructor throws.
pub(crate) fn construct(machine: &mut dyn Machine, name: &str, given: &[Value]) -> Outcome {
    machine.work(4)?;
    let receiver = Value::Class(name.into());
    if let Some(row) = class(name).and_then(|class| class.statics.find("new", given.len())) {
        return (row.body)(machine, &receiver, given);
    }
    if let Some(exception) = any::new_exception(name, given) {
        return Ok(exception);
    }
    let (classes, values) = print::listed(given);
    Err(Thrown::of(
        "groovy.lang.GroovyRuntimeException",
        format!("Could not find matching constructor for: {name}({classes}) {values}")
            .trim_end_matches([' ', '[', ']']),
    ))
}

/// A property of a value.
///
/// # Errors
/// It does not exist, or its getter throws.
pub(crate) fn property(machine: &mut dyn Machine, of: &Value, name: &str) -> Outcome {
    match of {
        Value::Map(map) => {
            return maps::get(machine, map, &Value::text(name));
        }
        Value::Class(class_name) => {
            let statics = class(class_name).map(|class| class.statics);
            if let Some(row) = statics.and_then(|statics| statics.find(name, 0))
                && name.starts_with(char::is_uppercase)
            {
                return (row.body)(machine, of, &[]);
            }
            if statics.is_some_and(|statics| statics.has(&getter("get", name))) {
                return invoke(machine, of, &getter("get", name), &[]);
            }
            if name == "out" || name == "err" {
                return Ok(Value::object(builders::Printer));
            }
            if name == "length" || name == "class" {
                return Ok(of.clone());
            }
        }
        Value::List(list) if list.is_array() && name == "length" => {
            return Ok(Value::count(list.items.borrow().len()));
        }
        Value::List(_) | Value::Range(_) | Value::Set(_) if !has_getter(of, name) => {
            let mut found = Vec::new();
            for value in values(machine, of)? {
                if !value.is_null() {
                    let one = machine.property(&value, name);
                    found.push(one.map_err(|thrown| thrown.of_one(print::class_name(of), name))?);
                }
            }
            return Ok(Value::list(found));
        }
        Value::Object(object) => {
            if let Some(value) = object.property(machine, name)? {
                return Ok(value);
            }
        }
        _ => {}
    }
    for prefix in ["get", "is"] {
        let method = getter(prefix, name);
        if let Value::Object(object) = of
            && let Some(value) = object.call(machine, &method, &[])?
        {
            return Ok(value);
        }
        let row = tables(of).iter().find_map(|table| table.find(&method, 0));
        if let Some(row) = row {
            return (row.body)(machine, of, &[]);
        }
    }
    Err(no_property(of, name))
}

fn has_getter(of: &Value, name: &str) -> bool {
    ["get", "is"].iter().any(|prefix| {
        let method = getter(prefix, name);
        name != "first"
            && name != "last"
            && tables(of)
                .iter()
                .any(|table| table.find(&method, 0).is_some())
    })
}

pub(crate) fn no_property(of: &Value, name: &str) -> Thrown {
    let class = match of {
        Value::Class(name) => name,
        other => print::class_name(other),
    };
    Thrown::of(
        "groovy.lang.MissingPropertyException",
        format!("No such property: {name} for class: {class}"),
    )
}

/// The name of the getter or setter of a property.
pub(crate) fn getter(prefix: &str, name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) => format!("{prefix}{}{}", first.to_uppercase(), characters.as_str()),
        None => prefix.to_owned(),
    }
}

/// Sets a property of a value.
///
/// # Errors
/// It does not exist, or its setter throws.
pub(crate) fn set_property(
    machine: &mut dyn Machine,
    of: &Value,
    name: &str,
    value: &Value,
) -> Outcome<()> {
    if let Value::Map(map) = of {
        maps::may_change(map)?;
        machine.take(64)?;
        maps::insert(machine, map, &Value::text(name), value.clone())?;
        return Ok(());
    }
    let method = getter("set", name);
    let given = std::slice::from_ref(value);
    if let Value::Object(object) = of
        && (object.set_property(machine, name, value)?
            || object.call(machine, &method, given)?.is_some())
    {
        return Ok(());
    }
    let row = tables(of).iter().find_map(|table| table.find(&method, 1));
    match row {
        Some(row) => (row.body)(machine, of, given).map(drop),
        None => Err(no_property(of, name)),
    }
}

/// Whether a value matches a case, except for closures.
///
/// # Errors
/// An exception from the case.
pub(crate) fn is_case(machine: &mut dyn Machine, case: &Value, value: &Value) -> Outcome<bool> {
    Ok(match case {
        Value::Null => value.is_null(),
        Value::List(list) => list
            .items
            .borrow()
            .iter()
            .any(|one| order::java_equals(one, value)),
        Value::Set(set) => set.has(value),
        Value::Map(map) => map.get(value).is_some_and(|found| order::truth(&found)),
        // A range of `int` contains no `long` and no decimal, whatever their values.
        Value::Range(range)
            if range.of == RangeOf::Int && !matches!(value, Value::Int(_) | Value::Whole(_)) =>
        {
            false
        }
        Value::Range(range) => match super::number::long_of(value) {
            Some(number) if value.is_number() => {
                let (low, high) = (range.from.min(range.to), range.from.max(range.to));
                let is_whole = order::equals(value, &Value::Long(number));
                !range.is_empty && is_whole && (low..=high).contains(&number)
            }
            _ => range.values().any(|one| order::equals(&one, value)),
        },
        Value::Class(name) => convert::is_instance(
            value,
            &Type {
                name: name.clone(),
                dimensions: 0,
            },
        ),
        _ if regex::is_pattern(case) => {
            let found = invoke(machine, case, "matcher", &[Value::text(print::text(value))])?;
            order::truth(&invoke(machine, &found, "matches", &[])?)
        }
        other => order::equals(other, value),
    })
}

/// `=~` and `==~`.
///
/// # Errors
/// The pattern is invalid.
pub(crate) fn regex_operator(
    machine: &mut dyn Machine,
    is_whole: bool,
    text: &Value,
    with: &Value,
) -> Outcome {
    if text.is_null() {
        return match is_whole {
            true => Ok(Value::Truth(false)),
            false => Err(Thrown::bare("java.lang.NullPointerException")),
        };
    }
    let pattern = match regex::is_pattern(with) {
        true => with.clone(),
        false => pattern(&print::text(with))?,
    };
    let matcher = invoke(
        machine,
        &pattern,
        "matcher",
        &[Value::text(print::text(text))],
    )?;
    match is_whole {
        true => invoke(machine, &matcher, "matches", &[]),
        false => Ok(matcher),
    }
}

/// A text argument.
fn text_of(given: &[Value], place: usize) -> String {
    given.get(place).map_or_else(String::new, print::text)
}

/// A text argument that must not be null.
fn text_wanted(given: &[Value], place: usize) -> Outcome<String> {
    match given.get(place) {
        None | Some(Value::Null) => Err(Thrown::bare("java.lang.NullPointerException")),
        Some(value) => Ok(print::text(value)),
    }
}

/// An `int` argument.
fn int_of(given: &[Value], place: usize) -> Outcome<i32> {
    let value = given.get(place).unwrap_or(&Value::Null);
    super::number::int_of(value).ok_or_else(|| convert::cannot_cast(value, "int"))
}

/// A `long` argument.
fn long_of(given: &[Value], place: usize) -> Outcome<i64> {
    let value = given.get(place).unwrap_or(&Value::Null);
    super::number::long_of(value).ok_or_else(|| convert::cannot_cast(value, "long"))
}

/// A `double` argument.
fn double_of(given: &[Value], place: usize) -> Outcome<f64> {
    let value = given.get(place).unwrap_or(&Value::Null);
    super::number::double_of(value).ok_or_else(|| convert::cannot_cast(value, "double"))
}

/// An argument with bytes, as an array.
fn bytes_of(given: &[Value], place: usize) -> Outcome<Vec<u8>> {
    let value = given.get(place).unwrap_or(&Value::Null);
    let bytes = match value {
        Value::List(list) => list.to_bytes(),
        Value::Null => return Err(Thrown::bare("java.lang.NullPointerException")),
        _ => None,
    };
    bytes.ok_or_else(|| convert::cannot_cast(value, "[B"))
}

/// A map with insertion order.
fn linked() -> std::rc::Rc<super::map::Map> {
    super::map::Map::new(MapKind::Linked)
}

/// An end of a list or of another order.
#[derive(Clone, Copy, Debug)]
enum End {
    First,
    Last,
}

impl End {
    /// Its place among so many; 0 if there are none.
    fn of(self, length: usize) -> usize {
        match self {
            End::First => 0,
            End::Last => length.saturating_sub(1),
        }
    }
}
