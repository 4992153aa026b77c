//! Iteration: over lists, ranges, sets, maps, texts; iterators, entries; and the classes that create
//! collections.
//!
//! Must not know what is done with the values. Invariant: a map's values are its entries.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::super::map::{Map, MapKind};
use super::super::number;
use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, List, ListKind, Machine, Object, Outcome, Value};
use super::Class;

/// An entry of a map.
pub(super) struct Entry {
    pub(super) key: Value,
    pub(super) value: RefCell<Value>,
    /// Its map, so that its value can be set.
    pub(super) map: Option<Rc<Map>>,
}

/// An iterator.
pub(super) struct Iterator {
    values: Vec<Value>,
    next: Cell<usize>,
    of: Option<Value>,
}

pub(super) static ENTRY: Table = Table::new(&[
    row("getKey", 0, 0, |_, this, _| {
        Ok(this
            .of::<Entry>()
            .map_or(Value::Null, |entry| entry.key.clone()))
    }),
    row("getValue", 0, 0, |_, this, _| {
        Ok(this
            .of::<Entry>()
            .map_or(Value::Null, |entry| entry.value.borrow().clone()))
    }),
    row("setValue", 1, 1, |_, this, given| {
        let Some(entry) = this.of::<Entry>() else {
            return Ok(Value::Null);
        };
        if let Some(map) = &entry.map {
            map.put(&entry.key, given[0].clone());
        }
        Ok(entry.value.replace(given[0].clone()))
    }),
]);

impl Object for Entry {
    fn class(&self) -> &'static str {
        "java.util.LinkedHashMap$Entry"
    }

    fn methods(&self) -> &'static Table {
        &ENTRY
    }

    fn text(&self) -> String {
        format!(
            "{}={}",
            print::text(&self.key),
            print::text(&self.value.borrow())
        )
    }

    fn is_a(&self, name: &str) -> bool {
        matches!(name, "Entry" | "Map.Entry")
    }
}

pub(super) static ITERATOR: Table = Table::new(&[
    row("hasNext", 0, 0, |_, this, _| {
        let iterator = this.of::<Iterator>();
        Ok(Value::Truth(
            iterator.is_some_and(|it| it.next.get() < it.values.len()),
        ))
    }),
    row("hasMoreTokens", 0, 0, |_, this, _| {
        let iterator = this.of::<Iterator>();
        Ok(Value::Truth(
            iterator.is_some_and(|it| it.next.get() < it.values.len()),
        ))
    }),
    row("hasMoreElements", 0, 0, |_, this, _| {
        let iterator = this.of::<Iterator>();
        Ok(Value::Truth(
            iterator.is_some_and(|it| it.next.get() < it.values.len()),
        ))
    }),
    row("next", 0, 0, |_, this, _| next(this)),
    row("nextToken", 0, 0, |_, this, _| next(this)),
    row("nextElement", 0, 0, |_, this, _| next(this)),
    row("countTokens", 0, 0, |_, this, _| {
        Ok(this.of::<Iterator>().map_or(Value::Int(0), |it| {
            Value::count(it.values.len() - it.next.get())
        }))
    }),
    row("remove", 0, 0, |_, this, _| {
        if let Some(it) = this.of::<Iterator>()
            && let Some(last) = it.next.get().checked_sub(1)
        {
            match &it.of {
                Some(Value::List(list)) => {
                    let mut items = list.items.borrow_mut();
                    if let Some(at) = items
                        .iter()
                        .position(|one| super::super::operators::is_same(one, &it.values[last]))
                    {
                        items.remove(at);
                    }
                }
                Some(Value::Map(map) | Value::Set(map)) => {
                    let key = match it.values[last].of::<Entry>() {
                        Some(entry) => entry.key.clone(),
                        None => it.values[last].clone(),
                    };
                    map.remove(&key);
                }
                _ => {}
            }
        }
        Ok(Value::Null)
    }),
]);

fn next(this: &Value) -> Outcome {
    let Some(it) = this.of::<Iterator>() else {
        return Ok(Value::Null);
    };
    let at = it.next.get();
    let value = it.values.get(at).cloned();
    it.next.set(at + 1);
    value.ok_or_else(|| Thrown::bare("java.util.NoSuchElementException"))
}

impl Object for Iterator {
    fn class(&self) -> &'static str {
        "java.util.ArrayList$Itr"
    }

    fn methods(&self) -> &'static Table {
        &ITERATOR
    }

    fn is_a(&self, name: &str) -> bool {
        matches!(name, "Iterator" | "Enumeration")
    }

    fn iterate(&self, _: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        let rest = self.values.get(self.next.get()..).unwrap_or_default();
        Ok(Some(rest.to_vec()))
    }
}

/// An iterator over a value.
pub(super) fn iterator(machine: &mut dyn Machine, of: &Value) -> Outcome {
    Ok(Value::object(Iterator {
        values: values(machine, of)?,
        next: Cell::new(0),
        of: Some(of.clone()),
    }))
}

/// An iterator over the entries of a map.
#[must_use]
pub fn iterator_over(map: &Rc<Map>) -> Value {
    let entries = order::entries(map).into_iter();
    Value::object(Iterator {
        values: entries.map(|(key, value)| entry(map, key, value)).collect(),
        next: Cell::new(0),
        of: Some(Value::Map(Rc::clone(map))),
    })
}

/// An entry of a map.
pub(super) fn entry(map: &Rc<Map>, key: Value, value: Value) -> Value {
    Value::object(Entry {
        key,
        value: RefCell::new(value),
        map: Some(Rc::clone(map)),
    })
}

/// The values of an iterable; anything else is its own single value, null has none.
///
/// # Errors
/// An exception during the iteration.
pub(crate) fn values(machine: &mut dyn Machine, of: &Value) -> Outcome<Vec<Value>> {
    let found = match of {
        Value::Null | Value::Void => Vec::new(),
        Value::List(list) => list.copied(),
        Value::Range(range) => {
            machine.take(range.len().saturating_mul(24))?;
            range.values().collect()
        }
        Value::Set(set) => order::keys(set),
        Value::Map(map) => {
            let entries = order::entries(map);
            entries
                .into_iter()
                .map(|(key, value)| entry(map, key, value))
                .collect()
        }
        Value::Text(_) | Value::Composed(_) => print::text(of)
            .chars()
            .map(|one| Value::text(one.to_string()))
            .collect(),
        Value::Object(object) => match object.iterate(machine)? {
            Some(values) => values,
            None => vec![of.clone()],
        },
        other => vec![other.clone()],
    };
    machine.take(found.len().saturating_mul(24))?;
    Ok(found)
}

/// The arguments of a variadic method, which may be passed as one array.
#[must_use]
pub(crate) fn spread(given: &[Value]) -> Vec<Value> {
    match given {
        [Value::List(list)] => list.copied(),
        given => given.to_vec(),
    }
}

fn made_list(machine: &mut dyn Machine, kind: ListKind, given: &[Value]) -> Outcome {
    let items = match given {
        [one] if !one.is_number() => values(machine, one)?,
        _ => Vec::new(),
    };
    Ok(Value::List(List::new(kind, items)))
}

fn made_map(machine: &mut dyn Machine, kind: MapKind, given: &[Value]) -> Outcome {
    let map = Map::new(kind);
    if let [by @ Value::Closure(_)] = given {
        // It cannot have been set before.
        let _ = map.by.set(by.clone());
    }
    if let [Value::Map(other)] = given {
        machine.take(other.len() * 64)?;
        for (key, value) in order::entries(other) {
            map.put(&key, value);
        }
    }
    Ok(Value::Map(map))
}

fn made_set(machine: &mut dyn Machine, kind: MapKind, given: &[Value]) -> Outcome {
    let set = Map::new(kind);
    if let [by @ Value::Closure(_)] = given {
        // It cannot have been set before.
        let _ = set.by.set(by.clone());
    } else if let [one] = given
        && !one.is_number()
    {
        for value in values(machine, one)? {
            set.put(&value, Value::Null);
        }
    }
    Ok(Value::Set(set))
}

static LIST: Table = Table::new(&[
    row("new", 0, 1, |machine, _, given| {
        made_list(machine, ListKind::Growing, given)
    }),
    row("of", 0, MANY, |_, _, given| {
        Ok(Value::List(List::new(ListKind::Constant, spread(given))))
    }),
]);
static LINKED_LIST: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    made_list(machine, ListKind::Linked, given)
})]);
static HASH_MAP: Table = Table::new(&[row("new", 0, 2, |machine, _, given| {
    made_map(machine, MapKind::Hash, given)
})]);
static CONCURRENT_MAP: Table = Table::new(&[row("new", 0, 3, |machine, _, given| {
    made_map(machine, MapKind::Concurrent, given)
})]);
static LINKED_MAP: Table = Table::new(&[row("new", 0, 2, |machine, _, given| {
    made_map(machine, MapKind::Linked, given)
})]);
static TREE_MAP: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    made_map(machine, MapKind::Tree, given)
})]);
static HASH_SET: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    made_set(machine, MapKind::Hash, given)
})]);
static LINKED_SET: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    made_set(machine, MapKind::Linked, given)
})]);
static TREE_SET: Table = Table::new(&[row("new", 0, 1, |machine, _, given| {
    made_set(machine, MapKind::Tree, given)
})]);
static MAP: Table = Table::new(&[row("of", 0, MANY, |_, _, given| {
    let map = Map::new(MapKind::Constant);
    for pair in given.chunks(2) {
        map.put(&pair[0], pair.get(1).cloned().unwrap_or(Value::Null));
    }
    Ok(Value::Map(map))
})]);
static SET: Table = Table::new(&[row("of", 0, MANY, |_, _, given| {
    let set = Map::new(MapKind::Hash);
    for value in spread(given) {
        set.put(&value, Value::Null);
    }
    Ok(Value::Set(set))
})]);
static TOKENIZER: Table = Table::new(&[row("new", 1, 2, |machine, _, given| {
    let tokens = machine.invoke(
        &Value::text(print::text(&given[0])),
        "tokenize",
        &given[1..],
    )?;
    iterator(machine, &tokens)
})]);

static ARRAYS: Table = Table::new(&[
    row("asList", 0, MANY, |_, _, given| {
        Ok(Value::List(List::new(ListKind::Fixed, spread(given))))
    }),
    row("toString", 1, 1, |_, _, given| {
        Ok(Value::text(match &given[0] {
            Value::Null => "null".to_owned(),
            Value::List(list) => print::java_text(&Value::list(list.copied())),
            other => print::java_text(other),
        }))
    }),
    row("sort", 1, 1, |machine, _, given| {
        machine
            .invoke(&given[0], "sort", &[Value::Truth(true)])
            .map(|_| Value::Null)
    }),
    row("fill", 2, 2, |_, _, given| {
        if let Value::List(list) = &given[0] {
            list.items.borrow_mut().fill(given[1].clone());
        }
        Ok(Value::Null)
    }),
    row("stream", 1, 1, |machine, _, given| {
        machine.invoke(&given[0], "stream", &[])
    }),
    row("equals", 2, 2, |_, _, given| {
        Ok(Value::Truth(order::equals(&given[0], &given[1])))
    }),
    row("copyOf", 2, 2, |_, _, given| {
        copied(given, 0, number::int_of(&given[1]).unwrap_or(0))
    }),
    row("copyOfRange", 3, 3, |_, _, given| {
        copied(
            given,
            number::int_of(&given[1]).unwrap_or(0),
            number::int_of(&given[2]).unwrap_or(0),
        )
    }),
]);

fn copied(given: &[Value], from: i32, to: i32) -> Outcome {
    let Value::List(list) = &given[0] else {
        return Err(Thrown::bare("java.lang.NullPointerException"));
    };
    let (from, to) = (
        usize::try_from(from).unwrap_or(0),
        usize::try_from(to).unwrap_or(0),
    );
    let fill = match list.kind {
        ListKind::Array(Element::Byte) => Value::Byte(0),
        ListKind::Array(Element::Int) => Value::Int(0),
        ListKind::Array(Element::Long) => Value::Long(0),
        ListKind::Array(Element::Char) => Value::Char('\0'),
        _ => Value::Null,
    };
    let items = list.items.borrow();
    let values =
        (from..to.min(10_000_000)).map(|at| items.get(at).cloned().unwrap_or_else(|| fill.clone()));
    Ok(Value::List(List::new(list.kind, values.collect())))
}

static COLLECTIONS: Table = Table::new(&[
    row("shuffle", 1, 2, |machine, _, given| {
        machine.invoke(&given[0], "shuffle", &given[1..])
    }),
    row("sort", 1, 1, |machine, _, given| {
        machine.invoke(&given[0], "sort", &[]).map(|_| Value::Null)
    }),
    row("sort", 2, 2, |machine, _, given| {
        machine
            .invoke(&given[0], "sort", &given[1..])
            .map(|_| Value::Null)
    }),
    row("reverse", 1, 1, |_, _, given| {
        if let Value::List(list) = &given[0] {
            list.items.borrow_mut().reverse();
        }
        Ok(Value::Null)
    }),
    row("max", 1, 1, |machine, _, given| {
        machine.invoke(&given[0], "max", &[])
    }),
    row("min", 1, 1, |machine, _, given| {
        machine.invoke(&given[0], "min", &[])
    }),
    row("swap", 3, 3, |machine, _, given| {
        machine
            .invoke(&given[0], "swap", &given[1..])
            .map(|_| Value::Null)
    }),
    row("frequency", 2, 2, |machine, _, given| {
        machine.invoke(&given[0], "count", &given[1..])
    }),
    row("addAll", 2, MANY, |machine, _, given| {
        machine.invoke(&given[0], "addAll", &[Value::list(given[1..].to_vec())])
    }),
    row("unmodifiableList", 1, 1, |machine, _, given| {
        Ok(Value::List(List::new(
            ListKind::Constant,
            values(machine, &given[0])?,
        )))
    }),
    row("synchronizedList", 1, 1, |_, _, given| Ok(given[0].clone())),
    row("synchronizedMap", 1, 1, |_, _, given| Ok(given[0].clone())),
    row("unmodifiableMap", 1, 1, |_, _, given| Ok(given[0].clone())),
    row("reverseOrder", 0, 1, |_, _, given| {
        super::comparators::reversed(given)
    }),
    row("emptyList", 0, 0, |_, _, _| {
        Ok(Value::List(List::new(ListKind::Constant, Vec::new())))
    }),
    row("emptyMap", 0, 0, |_, _, _| {
        Ok(Value::Map(Map::new(MapKind::Constant)))
    }),
    row("singletonList", 1, 1, |_, _, given| {
        Ok(Value::List(List::new(ListKind::Constant, given.to_vec())))
    }),
    row("nCopies", 2, 2, |_, _, given| {
        let count = usize::try_from(number::int_of(&given[0]).unwrap_or(0))
            .unwrap_or(0)
            .min(10_000_000);
        Ok(Value::List(List::new(
            ListKind::Constant,
            vec![given[1].clone(); count],
        )))
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.ArrayList",
        statics: &LIST,
    },
    Class {
        name: "java.util.List",
        statics: &LIST,
    },
    Class {
        name: "java.util.Vector",
        statics: &LIST,
    },
    Class {
        name: "java.util.Stack",
        statics: &LIST,
    },
    Class {
        name: "java.util.concurrent.CopyOnWriteArrayList",
        statics: &LIST,
    },
    Class {
        name: "java.util.LinkedList",
        statics: &LINKED_LIST,
    },
    Class {
        name: "java.util.ArrayDeque",
        statics: &LINKED_LIST,
    },
    Class {
        name: "java.util.concurrent.ConcurrentLinkedQueue",
        statics: &LINKED_LIST,
    },
    Class {
        name: "java.util.concurrent.LinkedBlockingQueue",
        statics: &LINKED_LIST,
    },
    Class {
        name: "java.util.HashMap",
        statics: &HASH_MAP,
    },
    Class {
        name: "java.util.Hashtable",
        statics: &HASH_MAP,
    },
    Class {
        name: "java.util.concurrent.ConcurrentHashMap",
        statics: &CONCURRENT_MAP,
    },
    Class {
        name: "java.util.LinkedHashMap",
        statics: &LINKED_MAP,
    },
    Class {
        name: "java.util.TreeMap",
        statics: &TREE_MAP,
    },
    Class {
        name: "java.util.HashSet",
        statics: &HASH_SET,
    },
    Class {
        name: "java.util.LinkedHashSet",
        statics: &LINKED_SET,
    },
    Class {
        name: "java.util.TreeSet",
        statics: &TREE_SET,
    },
    Class {
        name: "java.util.Map",
        statics: &MAP,
    },
    Class {
        name: "java.util.Set",
        statics: &SET,
    },
    Class {
        name: "java.util.StringTokenizer",
        statics: &TOKENIZER,
    },
    Class {
        name: "java.util.Arrays",
        statics: &ARRAYS,
    },
    Class {
        name: "java.util.Collections",
        statics: &COLLECTIONS,
    },
];
