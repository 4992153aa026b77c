//! Amounts of CPU and memory as Kubernetes writes them, such as `100m` and `128Mi`.
//!
//! Must not know what they are of. Invariant: what is no amount is below nothing; the API says what is wrong with it.

use serde_json::Value;

/// Suffixes, longest first, and what they multiply by.
const SUFFIXES: &[(&str, f64)] = &[
    ("Ki", 1_024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// Whether an amount, a text or a number, is below another.
pub(super) fn is_below(amount: &Value, other: &str) -> bool {
    let amount = match amount {
        Value::String(text) => read(text),
        other => other.as_f64(),
    };
    match (amount, read(other)) {
        (Some(amount), Some(other)) => amount < other,
        _ => false,
    }
}

fn read(text: &str) -> Option<f64> {
    let mut suffixes = SUFFIXES.iter();
    let with_suffix =
        suffixes.find_map(|(suffix, times)| Some((text.strip_suffix(suffix)?, times)));
    let (number, times) = with_suffix.unwrap_or((text, &1.0));
    number.parse::<f64>().ok().map(|number| number * times)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_compared() {
        for below in [json!("50m"), json!("0.05"), json!(0.05), json!("99m")] {
            assert!(is_below(&below, "100m"), "{below}");
        }
        for not in [json!("100m"), json!(1), json!("2"), json!("x"), json!(null)] {
            assert!(!is_below(&not, "100m"), "{not}");
        }
        for below in [json!("64Mi"), json!("100M"), json!("1e6"), json!(128)] {
            assert!(is_below(&below, "128Mi"), "{below}");
        }
        assert!(!is_below(&json!("1Gi"), "128Mi"));
    }
}
