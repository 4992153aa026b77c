//! A comparison as data: `loadline/comparison/v1`.
//!
//! Must not know layouts for people. Invariant: every number that the other layouts round is unrounded here.

use serde_json::{Map, Value, json};

use super::{Basis, Cells, Change, Comparison, Outcome, Row};

/// The version of the layout.
const SCHEMA: &str = "loadline/comparison/v1";

impl Comparison {
    /// The whole comparison as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let sides: Vec<Value> = self
            .sides
            .iter()
            .map(|(name, runs)| json!({"name": name, "runs": runs}))
            .collect();
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|one| json!({"bearing": one.bearing.name(), "path": one.path, "values": one.values}))
            .collect();
        let rows = self
            .sections
            .iter()
            .flat_map(|section| section.rows.iter().map(|row| row_json(section.title, row)));
        json!({
            "schema": SCHEMA,
            "sides": sides,
            "differences": differences,
            "caution": super::differences::caution(&self.differences),
            "intervals": {
                "basis": match self.basis { Basis::Seconds => "steady-seconds", Basis::Runs => "runs" },
                "tests": self.tests,
                "confidence_of_all": 1.0 - super::LEVEL,
            },
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

fn row_json(section: &str, row: &Row) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("section", json!(section));
    put("id", json!(row.id));
    put("label", json!(row.label.trim()));
    match &row.cells {
        Cells::Words(words) => put("words", json!(words)),
        Cells::Numbers {
            unit,
            values,
            changes,
        } => {
            put("unit", json!(unit.name()));
            put("values", json!(values));
            put("changes", changes.iter().map(change_json).collect());
        }
    }
    Value::Object(fields)
}

fn change_json(change: &Change) -> Value {
    let test = change.test.map(|test| {
        json!({
            "means": [test.first, test.second],
            "low": test.low,
            "high": test.high,
            "superiority": test.superiority,
            "effect": test.size(),
            "outcome": match test.outcome {
                Outcome::Alike => "alike",
                Outcome::Better => "better",
                Outcome::Worse => "worse",
                Outcome::Differs => "differs",
            },
        })
    });
    json!({"by": change.by, "test": test})
}
