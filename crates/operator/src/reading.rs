//! Reads objects of all kinds.
//!
//! Must not know their fields. Invariant: a test keeps the specification with which it started; later edits
//! change nothing.

use serde_json::{Value, json};

use crate::test::{Refusal, Test};
use crate::{load_suite, load_test, test_run};
use loadline_model::test_kind::TestKind;

/// Reads an object from the API.
///
/// # Errors
/// It cannot be run.
pub fn read(kind: TestKind, object: &Value) -> Result<Test, Refusal> {
    match kind {
        TestKind::TestRun | TestKind::K6 => test_run::read(kind, object),
        TestKind::LoadTest => load_test::read(object),
        TestKind::LoadSuite => load_suite::read(object),
    }
}

/// The test as it was started. `agents`: the number with which it started; `is_made`: whether its agents were
/// created.
///
/// # Errors
/// It was not started, and cannot be run.
pub fn begun(kind: TestKind, object: &Value, agents: u32, is_made: bool) -> Result<Test, Refusal> {
    let mut run = match read(kind, object) {
        Ok(run) => run,
        Err(refusal) if !is_made => return Err(refusal),
        Err(_) => {
            // Fields that name its objects cannot be edited, and no more objects are created.
            let mut plain = json!({"metadata": object["metadata"], "spec": plain(kind)});
            plain["metadata"]["annotations"] = Value::Null;
            read(kind, &plain)?
        }
    };
    if agents > 0 {
        run.parallelism = agents;
    }
    Ok(run)
}

/// The minimal test that can be run.
fn plain(kind: TestKind) -> Value {
    match kind {
        TestKind::TestRun | TestKind::K6 | TestKind::LoadTest => {
            json!({"script": {"localFile": "/test/test.js"}})
        }
        TestKind::LoadSuite => json!({"suite": {"configMap": {"name": "suite"}}}),
    }
}
