//! What `setup()` returns, in the form in which scripts see it.
//!
//! Must not know who runs or reads it. Invariant: text that is no JSON stays as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

/// JSON with sorted object keys, as scripts see it under k6.
pub(crate) fn sorted(json: &str) -> Arc<str> {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(sort),
            Value::Object(rows) => {
                let ordered: BTreeMap<String, Value> = std::mem::take(rows).into_iter().collect();
                rows.extend(ordered);
                rows.values_mut().for_each(sort);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    match serde_json::from_str(json) {
        Ok(mut value) => {
            sort(&mut value);
            value.to_string().into()
        }
        Err(_) => json.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_see_the_keys_of_data_in_order() {
        let given = r#"{"z":1,"a":[{"y":2,"b":"<"}],"m":null}"#;
        assert_eq!(&*sorted(given), r#"{"a":[{"b":"<","y":2}],"m":null,"z":1}"#);
        assert_eq!(&*sorted("no json"), "no json");
    }
}
