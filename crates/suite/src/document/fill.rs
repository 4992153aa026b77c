//! Fills a table's cells: evaluates each column over a row's repetitions and formats the result.
//!
//! Must not know kinds of documents. Invariant: a cell over repetitions is the median of its runs, with its
//! interval if requested and known.

use std::cmp::Ordering;

use super::DocumentError;
use super::compile::{Column, Content, Table};
use super::doubts::Doubts;
use super::names::Names;
use super::source::DocumentRows;
use crate::expression::{Expression, Quantity, Scope, Value, evaluate};
use crate::statistics::{Interval, combined, median};

/// A table with the rows that it takes, in its order.
pub(super) struct Filled<'a, R> {
    pub(super) table: &'a Table,
    pub(super) rows: &'a R,
    /// Numbers of rows.
    pub(super) order: Vec<usize>,
    /// What is doubtful about them; nothing where the table has no notes.
    pub(super) doubts: Doubts,
    /// Whether intervals are written where columns want them.
    pub(super) has_intervals: bool,
    names: &'a Names<'a>,
    /// For each row that the table names, those that may be meant.
    others: Vec<Vec<usize>>,
}

/// The value of an expression over a row's runs.
pub(super) struct ExpressionOutcome {
    pub(super) value: Value<'static>,
    pub(super) interval: Option<Interval>,
    /// The values of single runs; empty if there are fewer than two.
    pub(super) by_run: Vec<Value<'static>>,
}

impl<'a, R: DocumentRows> Filled<'a, R> {
    /// Takes and sorts the rows.
    ///
    /// # Errors
    /// The table names a row that is not there.
    pub(super) fn new(
        table: &'a Table,
        rows: &'a R,
        names: &'a Names<'a>,
    ) -> Result<Self, DocumentError> {
        let mut others = Vec::new();
        for (other, place) in &table.others {
            let meant = meant_by(other, rows);
            if meant.is_empty() {
                return Err(DocumentError::at(
                    place,
                    format!("no row is `{other}`"),
                    "write a row's id, or label=value as one row has it".to_owned(),
                ));
            }
            others.push(meant);
        }
        let mut filled = Filled {
            table,
            rows,
            order: (0..rows.count())
                .filter(|row| takes(table, rows, *row))
                .collect(),
            doubts: Doubts::default(),
            has_intervals: true,
            names,
            others,
        };
        if !table.sort.is_empty() {
            let key = |row: usize| {
                let values = table
                    .sort
                    .iter()
                    .map(|sort| filled.find(sort, row, false).value);
                (values.collect::<Vec<_>>(), row)
            };
            let mut sorted: Vec<_> = filled.order.iter().map(|row| key(*row)).collect();
            sorted.sort_by(|one, other| compare(&one.0, &other.0));
            filled.order = sorted.into_iter().map(|(_, row)| row).collect();
        }
        if table.has_notes {
            filled.doubts = Doubts::of(rows, &filled.order);
        }
        Ok(filled)
    }

    /// Writes the cells of a row, with the marks of its doubts after the first figure; passes each cell to
    /// `put`, and whether it contains a value.
    pub(super) fn write_row(&self, row: usize, mut put: impl FnMut(usize, &str, bool)) {
        let mut marks = self.doubts.marks(row);
        let mut cell = String::new();
        for (at, column) in self.table.columns.iter().enumerate() {
            cell.clear();
            let is_filled = self.write(row, column, &mut cell);
            if is_filled && column.is_measured() && !marks.is_empty() {
                cell.truncate(cell.trim_end().len());
                cell.push(' ');
                cell.push_str(&std::mem::take(&mut marks));
            }
            put(at, cell.trim(), is_filled);
        }
    }

    /// Writes a cell, and returns whether it has a value; a column filled in by hand is left empty.
    pub(super) fn write(&self, row: usize, column: &Column, out: &mut String) -> bool {
        let content = column.content.as_ref();
        content.is_some_and(|content| self.write_content(row, content, out))
    }

    pub(super) fn write_content(&self, row: usize, content: &Content, out: &mut String) -> bool {
        let mut values = Vec::with_capacity(content.values.len());
        let mut interval = None;
        for (n, (of, _)) in content.values.iter().enumerate() {
            let found = self.find(of, row, content.interval && self.has_intervals && n == 0);
            if let (Value::Number(quantity), Some(mut found)) = (&found.value, found.interval) {
                // The interval of few runs may reach where no rate and no time can be.
                if of.is_figure() {
                    found.low = found.low.max(0.0);
                }
                interval = Some((*quantity, found));
            }
            values.push(found.value);
        }
        let begin = out.len();
        let is_filled = content
            .format
            .write(&values, &self.table.blank, &content.list, out);
        if let Some((quantity, interval)) = interval {
            let ends =
                [interval.low, interval.high].map(|amount| self.end(content, quantity, amount));
            // Ends that read as the value itself would say nothing.
            if ends.iter().any(|end| *end != out[begin..]) {
                out.push_str(&format!(" ({} to {})", ends[0], ends[1]));
            }
        }
        is_filled
    }

    /// An end of the interval of the cell's first value, as the cell is written.
    fn end(&self, content: &Content, of: Quantity, amount: f64) -> String {
        let mut end = String::new();
        let value = [Value::number(amount, of.dimension)];
        let _ = content
            .format
            .write(&value, &self.table.blank, &content.list, &mut end);
        end
    }

    /// What an expression comes to over a row's runs, with its interval where it is wanted.
    pub(super) fn find(
        &self,
        of: &Expression,
        row: usize,
        wants_interval: bool,
    ) -> ExpressionOutcome {
        let others = self.others_of(of, row);
        let at = |run: Option<usize>, swapped: Option<(usize, usize)>| {
            let scope = RunScope {
                filled: self,
                row,
                run,
                others: &others,
                swapped,
            };
            self.names.renamed(evaluate(of, &scope).into_owned())
        };
        let runs = self.rows.runs(row);
        if runs < 2 || !of.is_measured() {
            return ExpressionOutcome {
                value: at((runs > 0).then_some(0), None),
                interval: None,
                by_run: Vec::new(),
            };
        }
        let by_run: Vec<Value<'static>> = (0..runs).map(|run| at(Some(run), None)).collect();
        let value = over_runs(by_run.clone());
        // Held against itself a row is what it is.
        let is_its_own = of.others().iter().any(|other| others[*other] == row);
        let interval =
            (wants_interval && !is_its_own && matches!(value, Value::Number(_))).then(|| {
                let mut parts = vec![amounts(&by_run)];
                for other in of.others() {
                    let of_run = |run| {
                        let own = (0..runs).map(|own| at(Some(own), Some((*other, run))));
                        median(&amounts(&own.collect::<Vec<_>>()))
                    };
                    let its_runs = self.rows.runs(others[*other]);
                    parts.push((0..its_runs).filter_map(of_run).collect());
                }
                let parts: Vec<&[f64]> = parts.iter().map(Vec::as_slice).collect();
                combined(&parts)?.interval
            });
        ExpressionOutcome {
            value,
            interval: interval.flatten(),
            by_run,
        }
    }

    /// The row meant by each reference of the table: the one most similar to this row. Empty without references.
    pub(super) fn others_of(&self, of: &Expression, row: usize) -> Vec<usize> {
        if of.others().is_empty() {
            return Vec::new();
        }
        let nearest = |meant: &Vec<usize>| {
            let like = |other: &usize| (self.rows.likeness(row, *other), std::cmp::Reverse(*other));
            meant.iter().copied().max_by_key(like).unwrap_or(row)
        };
        self.others.iter().map(nearest).collect()
    }
}

fn takes<R: DocumentRows>(table: &Table, rows: &R, row: usize) -> bool {
    let wanted = &table.rows;
    wanted
        .group
        .as_deref()
        .is_none_or(|group| rows.group(row) == Some(group))
        && wanted
            .labels
            .iter()
            .all(|(name, value)| rows.label(row, name) == Some(value))
}

/// The rows that `row("…")` may mean: the one of this identity, else those with these labels (`a=1, b=2`).
fn meant_by<R: DocumentRows>(name: &str, rows: &R) -> Vec<usize> {
    let all = || 0..rows.count();
    if let Some(row) = all().find(|row| rows.id(*row) == name) {
        return vec![row];
    }
    let Some(wanted) = labels_in(name) else {
        return Vec::new();
    };
    all()
        .filter(|row| wanted.fit(|name| rows.label(*row, name)))
        .collect()
}

/// Labels that a row must have.
pub(super) struct WantedLabels<'n>(Vec<(&'n str, &'n str)>);

/// The labels in a name (`a=1, b=2`); `None`: it is not made of labels.
pub(super) fn labels_in(name: &str) -> Option<WantedLabels<'_>> {
    let pairs = name.split(',').map(|part| part.split_once('='));
    let trimmed = pairs.map(|pair| pair.map(|(name, value)| (name.trim(), value.trim())));
    trimmed.collect::<Option<_>>().map(WantedLabels)
}

impl WantedLabels<'_> {
    /// Whether a row has all of them.
    pub(super) fn fit<'r>(&self, label: impl Fn(&str) -> Option<&'r str>) -> bool {
        self.0
            .iter()
            .all(|(name, value)| label(name) == Some(value))
    }
}

fn amounts(values: &[Value<'_>]) -> Vec<f64> {
    let number = |value: &Value<'_>| match value {
        Value::Number(quantity) => Some(quantity.amount),
        _ => None,
    };
    values.iter().filter_map(number).collect()
}

/// One value of several runs: medians of numbers, component by component of lists; of words those that occur.
fn over_runs(values: Vec<Value<'static>>) -> Value<'static> {
    let known: Vec<Value<'static>> = values
        .into_iter()
        .filter(|value| !value.is_missing())
        .collect();
    match known.first() {
        None => Value::Missing,
        Some(Value::Number(first)) => {
            let dimension = first.dimension;
            median(&amounts(&known))
                .map_or(Value::Missing, |amount| Value::number(amount, dimension))
        }
        Some(Value::List(_)) => Value::List(list_over_runs(&known)),
        Some(Value::Truth(first)) => {
            let same = known.iter().all(|value| *value == Value::Truth(*first));
            if same {
                Value::Truth(*first)
            } else {
                Value::Missing
            }
        }
        Some(_) => {
            let mut texts: Vec<String> = Vec::new();
            for value in &known {
                match value {
                    Value::Text(text) if !texts.iter().any(|known| known == text) => {
                        texts.push(text.to_string());
                    }
                    _ => {}
                }
            }
            Value::Text(texts.join(", ").into())
        }
    }
}

fn list_over_runs(values: &[Value<'_>]) -> Vec<(String, Quantity)> {
    let mut all: Vec<(&String, Quantity, Vec<f64>)> = Vec::new();
    for value in values {
        let Value::List(items) = value else { continue };
        for (name, quantity) in items {
            match all.iter_mut().find(|(known, _, _)| *known == name) {
                Some((_, _, amounts)) => amounts.push(quantity.amount),
                None => all.push((name, *quantity, vec![quantity.amount])),
            }
        }
    }
    let of = |(name, quantity, amounts): (&String, Quantity, Vec<f64>)| {
        let amount = median(&amounts)?;
        Some((name.clone(), Quantity { amount, ..quantity }))
    };
    all.into_iter().filter_map(of).collect()
}

fn compare(one: &[Value<'_>], other: &[Value<'_>]) -> Ordering {
    let pairs = one.iter().zip(other);
    let order = |(one, other): (&Value<'_>, &Value<'_>)| match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.amount.total_cmp(&other.amount),
        (Value::Text(one), Value::Text(other)) => {
            match (one.parse::<f64>(), other.parse::<f64>()) {
                (Ok(one), Ok(other)) => one.total_cmp(&other),
                // Numbers before words.
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(other),
            }
        }
        // Missing values come last.
        (one, other) => one.is_missing().cmp(&other.is_missing()),
    };
    pairs
        .map(order)
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

/// One run of a row, other rows at their medians but for one that may be at one of its runs.
struct RunScope<'s, 'a, R> {
    filled: &'s Filled<'a, R>,
    row: usize,
    run: Option<usize>,
    others: &'s [usize],
    swapped: Option<(usize, usize)>,
}

impl<R: DocumentRows> Scope for RunScope<'_, '_, R> {
    fn value(&self, path: usize) -> Value<'_> {
        let rows = self.filled.rows;
        match self.run {
            _ if !self.filled.table.paths[path].is_measured() => rows.fact(self.row, path),
            Some(run) => rows.measured(self.row, run, path),
            None => Value::Missing,
        }
    }

    fn other(&self, other: usize, path: usize) -> Value<'_> {
        let rows = self.filled.rows;
        let row = self.others[other];
        if !self.filled.table.paths[path].is_measured() {
            return rows.fact(row, path);
        }
        match self.swapped {
            Some((swapped, run)) if swapped == other => rows.measured(row, run, path),
            _ => over_runs(
                (0..rows.runs(row))
                    .map(|run| rows.measured(row, run, path).into_owned())
                    .collect(),
            ),
        }
    }
}
