//! Patterns, matchers, and methods of texts that use them.
//!
//! Must not know the contents of closures. Invariant: a search takes a bounded number of steps.
// tidy: table

mod translate;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fancy_regex::{Regex, RegexBuilder};

use super::super::number;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, Machine, Object, Outcome, Value};
use super::Class;
use super::int_of;
use translate::translated;

/// Backtracking steps after which a search is aborted.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A pattern.
pub(super) struct Pattern {
    source: String,
    regex: Regex,
    /// The same, for matching whole texts.
    whole: Regex,
}

/// A pattern and a text.
pub(super) struct Matcher {
    pattern: Rc<Pattern>,
    text: String,
    /// The groups of the current match, in bytes; empty: there is no match.
    found: RefCell<Vec<Option<(usize, usize)>>>,
    /// Where the next search starts.
    from: Cell<usize>,
    /// How much of the text has been copied to a replacement.
    appended: Cell<usize>,
}

fn built(source: &str) -> Outcome<Regex> {
    let mut builder = RegexBuilder::new(source);
    builder.backtrack_limit(BACKTRACK_LIMIT);
    builder.build().map_err(|fault| {
        Thrown::of(
            "java.util.regex.PatternSyntaxException",
            format!("{fault} near {source}"),
        )
    })
}

fn compile(source: &str, flags: i32) -> Outcome<Rc<Pattern>> {
    let mut body = match flags & 16 {
        0 => translated(source),
        _ => fancy_regex::escape(source).into_owned(),
    };
    let names = [(2, 'i'), (8, 'm'), (32, 's'), (4, 'x')];
    let set: String = names
        .iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|(_, name)| *name)
        .collect();
    if !set.is_empty() {
        body = format!("(?{set}){body}");
    }
    Ok(Rc::new(Pattern {
        source: source.to_owned(),
        whole: built(&format!("\\A(?:{body})\\z"))?,
        regex: built(&body)?,
    }))
}

thread_local! {
    /// Cache of patterns by source: scripts create the same ones again and again.
    static KNOWN: RefCell<std::collections::HashMap<String, Rc<Pattern>>> = RefCell::default();
}

fn known(source: &str) -> Outcome<Rc<Pattern>> {
    if let Some(pattern) = KNOWN.with_borrow(|known| known.get(source).cloned()) {
        return Ok(pattern);
    }
    let pattern = compile(source, 0)?;
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= 200 {
            known.clear();
        }
        known.insert(source.to_owned(), Rc::clone(&pattern));
    });
    Ok(pattern)
}

/// A pattern as a value.
///
/// # Errors
/// It is invalid.
pub(crate) fn pattern(source: &str) -> Outcome {
    Ok(Value::Object(known(source)? as Rc<dyn Object>))
}

pub(super) fn is_pattern(value: &Value) -> bool {
    value.of::<Pattern>().is_some()
}

fn pattern_of(value: &Value) -> Outcome<Rc<Pattern>> {
    match value {
        Value::Object(object) if object.any().is::<Pattern>() => {
            let source = value.of::<Pattern>().map(|pattern| pattern.source.clone());
            // A pattern created with flags includes them: it is used unchanged.
            match value.of::<Pattern>() {
                Some(pattern) => Ok(Rc::new(Pattern {
                    source: source.unwrap_or_default(),
                    regex: pattern.regex.clone(),
                    whole: pattern.whole.clone(),
                })),
                None => Err(Thrown::bare("java.lang.NullPointerException")),
            }
        }
        Value::Null => Err(Thrown::bare("java.lang.NullPointerException")),
        other => known(&print::text(other)),
    }
}

fn runaway<E>(_: E) -> Thrown {
    Thrown::bare("java.lang.StackOverflowError")
}

type Groups = Vec<Option<(usize, usize)>>;

fn search(regex: &Regex, text: &str, from: usize) -> Outcome<Option<Groups>> {
    let found = regex.captures_from_pos(text, from).map_err(runaway)?;
    Ok(found.map(|captures| {
        (0..captures.len())
            .map(|group| captures.get(group).map(|one| (one.start(), one.end())))
            .collect()
    }))
}

/// Where the next search starts after a match.
fn behind(text: &str, found: &Groups) -> usize {
    let (start, end) = found[0].unwrap_or((0, 0));
    match start == end {
        true => end + text[end..].chars().next().map_or(1, char::len_utf8),
        false => end,
    }
}

fn every(regex: &Regex, text: &str) -> Outcome<Vec<Groups>> {
    let mut all = Vec::new();
    let mut from = 0;
    while from <= text.len()
        && let Some(found) = search(regex, text, from)?
    {
        from = behind(text, &found);
        all.push(found);
    }
    Ok(all)
}

fn piece(text: &str, group: Option<(usize, usize)>) -> Value {
    group.map_or(Value::Null, |(start, end)| Value::text(&text[start..end]))
}

/// A match as Groovy returns it: a text, or a list of texts if there are groups.
fn as_value(text: &str, found: &Groups) -> Value {
    match found.len() {
        1 => piece(text, found[0]),
        _ => Value::list(found.iter().map(|group| piece(text, *group)).collect()),
    }
}

/// Expands a replacement with `$1` and `${name}`.
fn expanded(regex: &Regex, text: &str, found: &Groups, to: &str, out: &mut String) -> Outcome<()> {
    let mut rest = to.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            '\\' => match rest.next() {
                Some(next) => out.push(next),
                None => return Err(Thrown::argument("character to be escaped is missing")),
            },
            '$' => {
                let group = match rest.peek() {
                    Some('{') => {
                        rest.next();
                        let name: String = rest.by_ref().take_while(|one| *one != '}').collect();
                        let place = regex.capture_names().position(|one| one == Some(&*name));
                        place.ok_or_else(|| {
                            Thrown::argument(format!("No group with name {{{name}}}"))
                        })?
                    }
                    Some(digit) if digit.is_ascii_digit() => {
                        let mut group = digit.to_digit(10).unwrap_or(0) as usize;
                        rest.next();
                        while let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(10)) {
                            let longer = group * 10 + digit as usize;
                            if longer >= found.len() {
                                break;
                            }
                            group = longer;
                            rest.next();
                        }
                        group
                    }
                    _ => return Err(Thrown::argument("Illegal group reference")),
                };
                let place = found.get(group).ok_or_else(|| {
                    Thrown::of(
                        "java.lang.IndexOutOfBoundsException",
                        format!("No group {group}"),
                    )
                })?;
                if let Some((start, end)) = place {
                    out.push_str(&text[*start..*end]);
                }
            }
            other => out.push(other),
        }
    }
    Ok(())
}

/// Replaces matches of a pattern: all, or the first.
pub(super) fn replace(
    machine: &mut dyn Machine,
    text: &str,
    with: &Value,
    to: &str,
    all: bool,
) -> Outcome {
    let pattern = pattern_of(with)?;
    let mut out = String::new();
    let mut at = 0;
    let mut found = every(&pattern.regex, text)?;
    if !all {
        found.truncate(1);
    }
    for one in &found {
        let (start, end) = one[0].unwrap_or((0, 0));
        out.push_str(&text[at..start]);
        let before = out.len();
        expanded(&pattern.regex, text, one, to, &mut out)?;
        machine.take(out.len() - before)?;
        at = end;
    }
    machine.take(text.len())?;
    out.push_str(&text[at..]);
    Ok(Value::text(out))
}

/// Replaces matches of a pattern by the result of a closure.
pub(super) fn replace_by(
    machine: &mut dyn Machine,
    text: &str,
    with: &Value,
    closure: &Value,
    is_first: bool,
) -> Outcome {
    let pattern = pattern_of(with)?;
    let mut out = String::new();
    let mut at = 0;
    let mut found = every(&pattern.regex, text)?;
    if is_first {
        found.truncate(1);
    }
    for one in &found {
        let (start, end) = one[0].unwrap_or((0, 0));
        out.push_str(&text[at..start]);
        let groups = given_groups(closure, text, one);
        out.push_str(&print::text(&machine.call(closure, groups)?));
        at = end;
    }
    out.push_str(&text[at..]);
    Ok(Value::text(out))
}

/// The groups as arguments of a closure: separate, or as a list.
fn given_groups(closure: &Value, text: &str, found: &Groups) -> Vec<Value> {
    let takes_many = matches!(closure, Value::Closure(code) if code.arity() > 1);
    match takes_many {
        true => found.iter().map(|group| piece(text, *group)).collect(),
        false => vec![as_value(text, found)],
    }
}

pub(super) fn is_whole(with: &Value, text: &str) -> Outcome<bool> {
    pattern_of(with)?.whole.is_match(text).map_err(runaway)
}

/// Java's `split`: trailing empty parts are dropped unless there is a limit.
pub(super) fn split(text: &str, with: &Value, limit: i32) -> Outcome {
    let pattern = pattern_of(with)?;
    let mut parts: Vec<&str> = Vec::new();
    let mut at = 0;
    for one in every(&pattern.regex, text)? {
        let (start, end) = one[0].unwrap_or((0, 0));
        if limit > 0 && parts.len() + 1 == limit.unsigned_abs() as usize {
            break;
        }
        if end == 0 || start == end && start == text.len() {
            continue;
        }
        parts.push(&text[at..start]);
        at = end;
    }
    parts.push(&text[at..]);
    if limit == 0 {
        while parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
    }
    if limit == 0 && parts.len() == 1 && parts[0].is_empty() && !text.is_empty() {
        parts.pop();
    }
    Ok(Value::array(
        Element::Text,
        parts.into_iter().map(Value::text).collect(),
    ))
}

pub(super) fn first(
    machine: &mut dyn Machine,
    text: &str,
    with: &Value,
    closure: Option<&Value>,
) -> Outcome {
    let pattern = pattern_of(with)?;
    match (search(&pattern.regex, text, 0)?, closure) {
        (None, _) => Ok(Value::Null),
        (Some(found), Some(closure)) => machine.call(closure, given_groups(closure, text, &found)),
        (Some(found), None) => Ok(piece(text, found[0])),
    }
}

pub(super) fn all(
    machine: &mut dyn Machine,
    text: &str,
    with: &Value,
    closure: Option<&Value>,
) -> Outcome {
    let pattern = pattern_of(with)?;
    let mut values = Vec::new();
    for found in every(&pattern.regex, text)? {
        values.push(match closure {
            Some(closure) => machine.call(closure, given_groups(closure, text, &found))?,
            None => piece(text, found[0]),
        });
    }
    Ok(Value::list(values))
}

pub(super) static PATTERN: Table = Table::new(&[
    row("matcher", 1, 1, |_, this, given| {
        Ok(Value::object(Matcher {
            pattern: pattern_of(this)?,
            text: print::text(&given[0]),
            found: RefCell::default(),
            from: Cell::new(0),
            appended: Cell::new(0),
        }))
    }),
    row("pattern", 0, 0, |_, this, _| {
        Ok(Value::optional(
            this.of::<Pattern>().map(|pattern| pattern.source.as_str()),
        ))
    }),
    row("split", 1, 2, |_, this, given| {
        let limit = if given.len() > 1 {
            int_of(given, 1)?
        } else {
            0
        };
        split(&print::text(&given[0]), this, limit)
    }),
]);

impl Object for Pattern {
    fn class(&self) -> &'static str {
        "java.util.regex.Pattern"
    }

    fn methods(&self) -> &'static Table {
        &PATTERN
    }

    fn text(&self) -> String {
        self.source.clone()
    }
}

fn matcher(this: &Value) -> Outcome<&Matcher> {
    this.of::<Matcher>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

fn group(this: &Value, given: &[Value]) -> Outcome<Option<(usize, usize)>> {
    let matcher = matcher(this)?;
    let found = matcher.found.borrow();
    if found.is_empty() {
        return Err(Thrown::of(
            "java.lang.IllegalStateException",
            "No match found",
        ));
    }
    let place = match given.first() {
        None => 0,
        Some(Value::Text(name)) => {
            let mut names = matcher.pattern.regex.capture_names();
            names
                .position(|one| one == Some(&**name))
                .ok_or_else(|| Thrown::argument(format!("No group with name <{name}>")))?
        }
        Some(place) => usize::try_from(number::int_of(place).unwrap_or(-1)).unwrap_or(usize::MAX),
    };
    found.get(place).copied().ok_or_else(|| {
        let shown = given.first().map_or_else(String::new, print::text);
        Thrown::of(
            "java.lang.IndexOutOfBoundsException",
            format!("No group {shown}"),
        )
    })
}

fn find(this: &Value, from: usize) -> Outcome<bool> {
    let matcher = matcher(this)?;
    let found = match from <= matcher.text.len() {
        true => search(&matcher.pattern.regex, &matcher.text, from)?,
        false => None,
    };
    let is_found = found.is_some();
    let found = found.unwrap_or_default();
    matcher.from.set(if is_found {
        behind(&matcher.text, &found)
    } else {
        matcher.text.len() + 1
    });
    matcher.found.replace(found);
    Ok(is_found)
}

/// All matches, for Groovy's counting and iteration: afterwards, the matcher is at its end.
fn all_of(this: &Value) -> Outcome<Vec<Groups>> {
    let matcher = matcher(this)?;
    matcher.from.set(matcher.text.len() + 1);
    matcher.found.borrow_mut().clear();
    every(&matcher.pattern.regex, &matcher.text)
}

fn units_before(text: &str, at: usize) -> Value {
    Value::count(text[..at].encode_utf16().count())
}

pub(super) static MATCHER: Table = Table::new(&[
    row("find", 0, 0, |_, this, _| {
        let from = matcher(this)?.from.get();
        Ok(Value::Truth(find(this, from)?))
    }),
    row("find", 1, 1, |_, this, given| {
        let from = usize::try_from(int_of(given, 0)?).unwrap_or(0);
        Ok(Value::Truth(find(this, from)?))
    }),
    row("matches", 0, 0, |_, this, _| {
        let matcher = matcher(this)?;
        let found = search(&matcher.pattern.whole, &matcher.text, 0)?;
        let is_found = found.is_some();
        matcher.found.replace(found.unwrap_or_default());
        Ok(Value::Truth(is_found))
    }),
    row("lookingAt", 0, 0, |_, this, _| {
        let is_found = find(this, 0)? && group(this, &[])?.is_some_and(|(start, _)| start == 0);
        Ok(Value::Truth(is_found))
    }),
    row("group", 0, 1, |_, this, given| {
        Ok(piece(&matcher(this)?.text, group(this, given)?))
    }),
    row("groupCount", 0, 0, |_, this, _| {
        Ok(Value::count(
            matcher(this)?.pattern.regex.captures_len() - 1,
        ))
    }),
    row("hasGroup", 0, 0, |_, this, _| {
        Ok(Value::Truth(
            matcher(this)?.pattern.regex.captures_len() > 1,
        ))
    }),
    row("start", 0, 1, |_, this, given| {
        let place = group(this, given)?;
        Ok(place.map_or(Value::Int(-1), |(start, _)| {
            units_before(
                this.of::<Matcher>().map_or("", |one| one.text.as_str()),
                start,
            )
        }))
    }),
    row("end", 0, 1, |_, this, given| {
        let place = group(this, given)?;
        Ok(place.map_or(Value::Int(-1), |(_, end)| {
            units_before(
                this.of::<Matcher>().map_or("", |one| one.text.as_str()),
                end,
            )
        }))
    }),
    row("reset", 0, 0, |_, this, _| {
        let matcher = matcher(this)?;
        matcher.from.set(0);
        matcher.found.borrow_mut().clear();
        Ok(this.clone())
    }),
    row("replaceAll", 1, 1, |machine, this, given| {
        let matcher = matcher(this)?;
        let pattern = Value::Object(Rc::clone(&matcher.pattern) as Rc<dyn Object>);
        match &given[0] {
            Value::Closure(_) => replace_by(machine, &matcher.text, &pattern, &given[0], false),
            to => replace(machine, &matcher.text, &pattern, &print::text(to), true),
        }
    }),
    row("replaceFirst", 1, 1, |machine, this, given| {
        let matcher = matcher(this)?;
        let pattern = Value::Object(Rc::clone(&matcher.pattern) as Rc<dyn Object>);
        replace(
            machine,
            &matcher.text,
            &pattern,
            &print::text(&given[0]),
            false,
        )
    }),
    row("appendReplacement", 2, 2, |machine, this, given| {
        let matcher = matcher(this)?;
        let found = matcher.found.borrow().clone();
        let Some(Some((start, end))) = found.first().copied() else {
            return Err(Thrown::of(
                "java.lang.IllegalStateException",
                "No match available",
            ));
        };
        let mut out = matcher.text[matcher.appended.get()..start].to_owned();
        expanded(
            &matcher.pattern.regex,
            &matcher.text,
            &found,
            &print::text(&given[1]),
            &mut out,
        )?;
        matcher.appended.set(end);
        machine.invoke(&given[0], "append", &[Value::text(out)])?;
        Ok(this.clone())
    }),
    row("appendTail", 1, 1, |machine, this, given| {
        let matcher = matcher(this)?;
        let tail = Value::text(&matcher.text[matcher.appended.get()..]);
        machine.invoke(&given[0], "append", &[tail])
    }),
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(all_of(this)?.len()))
    }),
    row("getCount", 0, 0, |_, this, _| {
        Ok(Value::count(all_of(this)?.len()))
    }),
    row("getAt", 1, 1, |machine, this, given| {
        let matcher = matcher(this)?;
        let all = every(&matcher.pattern.regex, &matcher.text)?;
        let all: Vec<Value> = all
            .iter()
            .map(|found| as_value(&matcher.text, found))
            .collect();
        let index = int_of(given, 0);
        let length = all.len() as i64;
        match index {
            Ok(index) if i64::from(index) >= length || i64::from(index) < -length => {
                Err(Thrown::of(
                    "java.lang.IndexOutOfBoundsException",
                    format!(
                        "index is out of range {}..{} (index = {index})",
                        -length,
                        length - 1
                    ),
                ))
            }
            index => {
                if let Some(place) = index.ok().and_then(|index| usize::try_from(index).ok()) {
                    // The matcher is positioned after the requested match.
                    matcher.from.set(0);
                    for _ in 0..=place {
                        find(this, matcher.from.get())?;
                    }
                }
                super::at(machine, &Value::list(all), &given[0])
            }
        }
    }),
    row("each", 1, 1, |machine, this, given| {
        let matcher = matcher(this)?;
        for found in all_of(this)? {
            machine.call(&given[0], given_groups(&given[0], &matcher.text, &found))?;
        }
        Ok(this.clone())
    }),
    row("collect", 0, 1, |machine, this, given| {
        all_of(this)?;
        let all = Value::list(super::values(machine, this)?);
        machine.invoke(&all, "collect", given)
    }),
    row("findAll", 0, 1, |machine, this, given| {
        all_of(this)?;
        let all = Value::list(super::values(machine, this)?);
        machine.invoke(&all, "findAll", given)
    }),
    row("asBoolean", 0, 0, |_, this, _| {
        Ok(Value::Truth(find(this, 0)?))
    }),
    row("iterator", 0, 0, |machine, this, _| {
        let all = Value::list(super::values(machine, this)?);
        super::sequences::iterator(machine, &all)
    }),
]);

impl Object for Matcher {
    fn class(&self) -> &'static str {
        "java.util.regex.Matcher"
    }

    fn methods(&self) -> &'static Table {
        &MATCHER
    }

    fn text(&self) -> String {
        format!(
            "java.util.regex.Matcher[pattern={} region=0,{} lastmatch=]",
            self.pattern.source,
            self.text.len()
        )
    }

    /// A matcher is true if its pattern is found, and is then positioned at that match.
    fn truth(&self) -> bool {
        let from = self.from.get();
        let found = match from <= self.text.len() {
            true => search(&self.pattern.regex, &self.text, from).ok().flatten(),
            false => None,
        };
        let is_found = found.is_some();
        let found = found.unwrap_or_default();
        if is_found {
            self.from.set(behind(&self.text, &found));
        }
        self.found.replace(found);
        is_found
    }

    fn iterate(&self, _: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        let all = every(&self.pattern.regex, &self.text)?;
        Ok(Some(
            all.iter()
                .map(|found| as_value(&self.text, found))
                .collect(),
        ))
    }
}

fn flags(given: &[Value]) -> i32 {
    given.get(1).and_then(number::int_of).unwrap_or(0)
}

static STATICS: Table = Table::new(&[
    row("compile", 1, 2, |_, _, given| {
        Ok(Value::Object(
            compile(&super::text_wanted(given, 0)?, flags(given))? as Rc<dyn Object>,
        ))
    }),
    row("matches", 2, 2, |_, _, given| {
        Ok(Value::Truth(is_whole(&given[0], &print::text(&given[1]))?))
    }),
    row("quote", 1, 1, |_, _, given| {
        Ok(Value::text(format!("\\Q{}\\E", print::text(&given[0]))))
    }),
    row("CASE_INSENSITIVE", 0, 0, |_, _, _| Ok(Value::Int(2))),
    row("MULTILINE", 0, 0, |_, _, _| Ok(Value::Int(8))),
    row("DOTALL", 0, 0, |_, _, _| Ok(Value::Int(32))),
    row("COMMENTS", 0, 0, |_, _, _| Ok(Value::Int(4))),
    row("LITERAL", 0, 0, |_, _, _| Ok(Value::Int(16))),
    row("UNICODE_CASE", 0, 0, |_, _, _| Ok(Value::Int(64))),
]);

static MATCHER_STATICS: Table = Table::new(&[row("quoteReplacement", 1, 1, |_, _, given| {
    Ok(Value::text(
        print::text(&given[0])
            .replace('\\', "\\\\")
            .replace('$', "\\$"),
    ))
})]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.regex.Pattern",
        statics: &STATICS,
    },
    Class {
        name: "java.util.regex.Matcher",
        statics: &MATCHER_STATICS,
    },
];
