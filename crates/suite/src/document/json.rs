//! Every table as data: each cell as formatted, and its values in base units with interval and runs.
//!
//! Must not know where values come from. Invariant: keys have a fixed order, so the same outcome gives the same
//! bytes.

use serde_json::{Map, Value as Json, json};

use super::Content;
use super::compile::Column;
use super::fill::Filled;
use super::source::{DocumentRows, status_name};
use crate::expression::{Quantity, Value};

/// The version of the layout.
const SCHEMA: &str = "loadline/document/v1";

pub(super) fn write<R: DocumentRows>(content: &Content<'_, R>) -> String {
    let tables: Vec<Json> = content.tables.iter().map(table).collect();
    let methodology: Map<String, Json> = content
        .methodology
        .iter()
        .map(|entry| (entry.name.to_owned(), json!(entry.values)))
        .collect();
    let document = json!({
        "schema": SCHEMA,
        "title": content.title,
        "tables": tables,
        "methodology": methodology,
    });
    let mut out = serde_json::to_string_pretty(&document).expect("keys are texts");
    out.push('\n');
    out
}

fn table<R: DocumentRows>(table: &Filled<'_, R>) -> Json {
    let columns: Vec<&str> = table
        .table
        .columns
        .iter()
        .map(|column| column.title.as_str())
        .collect();
    let rows: Vec<Json> = table.order.iter().map(|row| one_row(table, *row)).collect();
    json!({ "name": table.table.name, "columns": columns, "rows": rows })
}

fn one_row<R: DocumentRows>(table: &Filled<'_, R>, row: usize) -> Json {
    let cells: Map<String, Json> = table
        .table
        .columns
        .iter()
        .map(|column| (column.title.clone(), cell(table, row, column)))
        .collect();
    json!({
        "id": table.rows.id(row),
        "group": table.rows.group(row),
        "status": status_name(table.rows.status(row)),
        "reasons": table.rows.reasons(row),
        "runs": table.rows.runs(row),
        "doubts": table.doubts.of_row(row).collect::<Vec<_>>(),
        "cells": cells,
    })
}

fn cell<R: DocumentRows>(table: &Filled<'_, R>, row: usize, column: &Column) -> Json {
    let mut text = String::new();
    table.write(row, column, &mut text);
    let Some(content) = &column.content else {
        return json!({ "text": text });
    };
    let values: Vec<Json> = content
        .values
        .iter()
        .map(|(value, _)| {
            let found = table.find(value, row, true);
            let interval = found
                .interval
                .map(|interval| json!([interval.low, interval.high]));
            let mut out = data(&found.value);
            if let (Some(interval), Json::Object(of)) = (interval, &mut out) {
                of.insert("interval".to_owned(), interval);
            }
            out
        })
        .collect();
    json!({ "text": text, "values": values })
}

fn quantity(of: &Quantity) -> Json {
    json!({ "amount": of.amount, "measures": of.dimension.to_string() })
}

fn data(value: &Value<'_>) -> Json {
    match value {
        Value::Missing => Json::Null,
        Value::Number(of) => quantity(of),
        Value::Truth(truth) => json!(truth),
        Value::Text(text) => json!(text),
        Value::List(items) => Json::Array(
            items
                .iter()
                .map(|(name, of)| json!({ "component": name, "value": quantity(of) }))
                .collect(),
        ),
    }
}
