//! Evaluates a path on a document.
//!
//! Must not know texts of paths. Invariant: its depth is at most that of document and path together.

use std::cell::Cell;

use super::{Found, JsonPath, PathFault, Step};
use crate::json::Json;

/// One evaluation.
struct Walk<'p, 'j> {
    path: &'p JsonPath,
    root: &'j Json,
    /// Whether anything missing ends the evaluation: a filter asks whether the path exists.
    strict: bool,
    /// For each step the index of the element from which a scan came; Jayway keeps the last.
    scanned: Vec<Cell<Option<usize>>>,
    found: Vec<Found<'j>>,
}

impl JsonPath {
    /// All results in document order.
    pub(super) fn walk<'j>(
        &self,
        document: &'j Json,
        root: &'j Json,
        strict: bool,
    ) -> Result<Vec<Found<'j>>, PathFault> {
        let mut walk = Walk {
            path: self,
            root,
            strict,
            scanned: vec![Cell::new(None); self.steps.len()],
            found: Vec::new(),
        };
        walk.step(0, Found::Within(document))?;
        if walk.found.is_empty() && self.is_definite() {
            return Err(PathFault::NotFound(format!(
                "No results for path: {}",
                self.shown(self.steps.len(), '\'')
            )));
        }
        Ok(walk.found)
    }

    /// The value of a definite path, otherwise the list of results.
    pub(super) fn value<'j>(
        &self,
        document: &'j Json,
        root: &'j Json,
        strict: bool,
    ) -> Result<Found<'j>, PathFault> {
        let mut found = self.walk(document, root, strict)?;
        if self.is_definite() {
            return Ok(found
                .pop()
                .expect("a definite path that finds nothing is a fault"));
        }
        Ok(Found::Made(Json::Array(
            found.into_iter().map(Found::into_owned).collect(),
        )))
    }

    /// The first steps of the path, as shown in messages.
    fn shown(&self, count: usize, quote: char) -> String {
        let steps = self.steps[..count].iter();
        let start = if self.from_root { "$" } else { "@" };
        steps.fold(start.to_owned(), |shown, step| {
            shown + &fragment(step, Some(quote))
        })
    }
}

/// A step as shown in messages, with its own quotes or these.
fn fragment(step: &Step, quote: Option<char>) -> String {
    match step {
        Step::Names(names, own) => {
            let quote = quote.unwrap_or(*own);
            let names = names.iter().map(|name| format!("{quote}{name}{quote}"));
            format!("[{}]", names.collect::<Vec<_>>().join(","))
        }
        Step::Indices(indices) => {
            let indices = indices.iter().map(i64::to_string);
            format!("[{}]", indices.collect::<Vec<_>>().join(","))
        }
        Step::Slice(from, to) => {
            let bound =
                |bound: &Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
            format!("[{}:{}]", bound(from), bound(to))
        }
        Step::Wildcard => "[*]".to_owned(),
        Step::Scan => "..".to_owned(),
        Step::Filter(_) => "[?]".to_owned(),
        Step::Function(name, arguments) if arguments.is_empty() => format!(".{name}()"),
        Step::Function(name, _) => format!(".{name}(...)"),
    }
}

impl<'j> Walk<'_, 'j> {
    fn is_leaf(&self, index: usize) -> bool {
        index + 1 == self.path.steps.len()
    }

    /// Whether a missing value at this step is an error, because there is no alternative.
    fn is_sure(&self, index: usize) -> bool {
        self.path.steps_are_definite(index)
    }

    fn step(&mut self, index: usize, value: Found<'j>) -> Result<(), PathFault> {
        let path = self.path;
        let Some(step) = path.steps.get(index) else {
            self.found.push(value);
            return Ok(());
        };
        match step {
            Step::Names(names, _) => self.names(index, names, &value),
            Step::Indices(indices) => {
                if self.is_array(index, &value)? {
                    for wanted in indices {
                        self.element(index, &value, *wanted)?;
                    }
                }
                Ok(())
            }
            Step::Slice(from, to) => {
                if self.is_array(index, &value)? {
                    for wanted in bounds(*from, *to, length(&value)) {
                        self.element(index, &value, wanted)?;
                    }
                }
                Ok(())
            }
            Step::Wildcard => self.all(index, &value),
            Step::Scan => self.scan(index + 1, &value),
            Step::Filter(filter) => self.filtered(index, filter, &value),
            Step::Function(name, arguments) => {
                let given = super::functions::call(name, arguments, &value, self.root)?;
                if !self.is_leaf(index) {
                    self.found.push(Found::Made(given.clone()));
                }
                self.step(index + 1, Found::Made(given))
            }
        }
    }

    fn names(
        &mut self,
        index: usize,
        names: &[String],
        value: &Found<'j>,
    ) -> Result<(), PathFault> {
        if !matches!(**value, Json::Object(_)) {
            if !self.is_sure(index) {
                return Ok(());
            }
            return Err(PathFault::NotFound(format!(
                "Expected to find an object with property {} in path {} but found '{}'. This is not a json object \
                 according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                fragment(&self.path.steps[index], None),
                self.path.shown(index, '\''),
                value.class()
            )));
        }
        if names.len() > 1 && self.is_leaf(index) {
            let members = names
                .iter()
                .filter_map(|name| Some((name.clone(), value.get(name)?.clone())));
            self.found
                .push(Found::Made(Json::Object(members.collect())));
            return Ok(());
        }
        for name in names {
            match member(value, name) {
                Some(member) => self.named(index, member)?,
                None => self.missing(index, name)?,
            }
        }
        Ok(())
    }

    /// Continues with a member. After a scan of an array, Jayway only accepts a leaf from the element whose
    /// index the step before it names.
    fn named(&mut self, index: usize, member: Found<'j>) -> Result<(), PathFault> {
        if self.is_leaf(index)
            && let Some(element) = self.scanned[index].get()
        {
            let before = index
                .checked_sub(1)
                .map(|before| fragment(&self.path.steps[before], None));
            if before != Some(format!("[{element}]")) {
                return Ok(());
            }
        }
        self.step(index + 1, member)
    }

    fn missing(&self, index: usize, name: &str) -> Result<(), PathFault> {
        let place = || format!("{}['{name}']", self.path.shown(index, '\''));
        if self.is_leaf(index) {
            if self.strict {
                return Err(PathFault::NotFound(format!(
                    "No results for path: {}",
                    place()
                )));
            }
            return Ok(());
        }
        if self.strict || self.path.steps_are_definite(index + 1) {
            return Err(PathFault::NotFound(format!(
                "Missing property in path {}",
                place()
            )));
        }
        Ok(())
    }

    fn is_array(&self, index: usize, value: &Json) -> Result<bool, PathFault> {
        let message = match value {
            Json::Array(_) => return Ok(true),
            _ if !self.is_sure(index) => return Ok(false),
            Json::Null => format!("The path {} is null", self.path.shown(index, '\'')),
            other => {
                let rest = self.path.steps[index..]
                    .iter()
                    .map(|step| fragment(step, None));
                format!(
                    "Filter: {} can only be applied to arrays. Current context is: {}",
                    rest.collect::<String>(),
                    other.shown()
                )
            }
        };
        Err(PathFault::NotFound(message))
    }

    /// Continues with an element; from the end if the index is negative.
    fn element(&mut self, index: usize, value: &Found<'j>, wanted: i64) -> Result<(), PathFault> {
        let place = if wanted < 0 {
            wanted + length(value)
        } else {
            wanted
        };
        match usize::try_from(place)
            .ok()
            .and_then(|place| element(value, place))
        {
            Some(element) => self.step(index + 1, element),
            None => Ok(()),
        }
    }

    fn all(&mut self, index: usize, value: &Found<'j>) -> Result<(), PathFault> {
        for child in children(value) {
            match self.step(index + 1, child) {
                Err(PathFault::NotFound(_))
                    if !self.strict && matches!(**value, Json::Array(_)) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    fn filtered(
        &mut self,
        index: usize,
        filter: &super::Filter,
        value: &Found<'j>,
    ) -> Result<(), PathFault> {
        match &**value {
            Json::Object(_) if filter.accepts(value, self.root)? => {
                return self.step(index + 1, value.clone());
            }
            Json::Object(_) => {}
            Json::Array(_) => {
                for child in children(value) {
                    if filter.accepts(&child, self.root)? {
                        self.step(index + 1, child)?;
                    }
                }
            }
            other if self.is_sure(index) => {
                return Err(PathFault::NotFound(format!(
                    "Filter: {} can not be applied to primitives. Current context is: {}",
                    fragment(&self.path.steps[index], None),
                    other.shown()
                )));
            }
            _ => {}
        }
        Ok(())
    }

    /// Tries the step at `index` on a value and all its descendants.
    fn scan(&mut self, index: usize, value: &Found<'j>) -> Result<(), PathFault> {
        let is_array = match **value {
            Json::Array(_) => true,
            Json::Object(_) => false,
            _ => return Ok(()),
        };
        if self.is_tried(index, value)? {
            if is_array && !self.is_leaf(index) {
                for (place, child) in children(value).into_iter().enumerate() {
                    self.scanned[index + 1].set(Some(place));
                    self.step(index + 1, child)?;
                }
            } else {
                self.step(index, value.clone())?;
            }
        }
        for child in children(value) {
            self.scan(index, &child)?;
        }
        Ok(())
    }

    /// Whether a scan tries a step on a value.
    fn is_tried(&self, index: usize, value: &Json) -> Result<bool, PathFault> {
        Ok(match &self.path.steps[index] {
            Step::Names(names, _) => {
                let has_all = || names.iter().all(|name| value.get(name).is_some());
                matches!(value, Json::Object(_))
                    && (!self.path.step_is_definite(index) || has_all())
            }
            Step::Indices(_) | Step::Slice(..) => matches!(value, Json::Array(_)),
            Step::Wildcard => true,
            Step::Filter(filter) => filter.accepts(value, self.root)?,
            Step::Scan | Step::Function(..) => false,
        })
    }
}

fn length(value: &Json) -> i64 {
    match value {
        Json::Array(elements) => i64::try_from(elements.len()).unwrap_or(i64::MAX),
        _ => 0,
    }
}

/// The indices of a slice in an array of this length.
fn bounds(from: Option<i64>, to: Option<i64>, length: i64) -> std::ops::Range<i64> {
    match (from, to) {
        (Some(from), None) => (if from < 0 { from + length } else { from }).max(0)..length,
        (None, Some(to)) => 0..(if to < 0 { to + length } else { to }).min(length),
        // If both are given, a negative index means an element from the end only when it is accessed.
        (Some(from), Some(to)) => from.max(-length)..to.min(length),
        (None, None) => 0..0,
    }
}

/// A member of a value that may be owned.
fn member<'j>(value: &Found<'j>, name: &str) -> Option<Found<'j>> {
    match value {
        Found::Within(value) => value.get(name).map(Found::Within),
        Found::Made(value) => value.get(name).cloned().map(Found::Made),
    }
}

fn element<'j>(value: &Found<'j>, place: usize) -> Option<Found<'j>> {
    match value {
        Found::Within(Json::Array(elements)) => elements.get(place).map(Found::Within),
        Found::Made(Json::Array(elements)) => elements.get(place).cloned().map(Found::Made),
        _ => None,
    }
}

fn children<'j>(value: &Found<'j>) -> Vec<Found<'j>> {
    match value {
        Found::Within(Json::Array(elements)) => elements.iter().map(Found::Within).collect(),
        Found::Within(Json::Object(members)) => members
            .iter()
            .map(|(_, value)| Found::Within(value))
            .collect(),
        Found::Made(Json::Array(elements)) => elements.iter().cloned().map(Found::Made).collect(),
        Found::Made(Json::Object(members)) => members
            .iter()
            .map(|(_, value)| Found::Made(value.clone()))
            .collect(),
        _ => Vec::new(),
    }
}
