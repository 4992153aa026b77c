//! The iteration order of text keys in a `java.util.HashMap`.
//!
//! Source: the documentation of `String.hashCode` and the observed order in OpenJDK 17. Must not know values.
//! Invariant: every key occurs once. More than eight keys in one slot, which Java stores as a tree, are in list
//! order.

/// Indices of the keys in a map copied from another one with this order.
#[must_use]
pub fn of_copy(keys: &[&str]) -> Vec<usize> {
    // A copy gets the first power of two that the keys fill to less than three quarters.
    in_slots(keys, (keys.len() * 4 / 3 + 1).next_power_of_two())
}

/// Indices of the keys in a map that grew key by key from the default size.
#[must_use]
pub fn of_grown(keys: &[&str]) -> Vec<usize> {
    in_slots(
        keys,
        (keys.len() * 4).div_ceil(3).next_power_of_two().max(16),
    )
}

fn in_slots(keys: &[&str], slots: usize) -> Vec<usize> {
    let slots = slots as u32;
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|index| spread(keys[*index]) & (slots - 1));
    order
}

/// A text's hash code, with its upper half mixed into the lower.
fn spread(key: &str) -> u32 {
    let hash = key.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(keys: &[&str]) -> String {
        let order = of_copy(keys);
        order
            .iter()
            .map(|index| keys[*index])
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn keys_come_as_java_gives_them_out() {
        assert_eq!(ordered(&["id", "items", "s"]), "id s items");
        assert_eq!(
            ordered(&["category", "author", "title", "price"]),
            "category title author price"
        );
        assert_eq!(
            ordered(&["p", "n", "m", "i", "d", "e", "g"]),
            "p d e g i m n"
        );
        assert_eq!(ordered(&[]), "");
    }

    /// Recorded with JMeter 5.6.3, which stores its summaries in this way.
    #[test]
    fn a_map_that_grew_has_sixteen_slots_at_least() {
        let keys = ["one", "below a", "inP", "inN", "summary", "x qq vv"];
        let order: Vec<&str> = of_grown(&keys)
            .into_iter()
            .map(|index| keys[index])
            .collect();
        assert_eq!(
            order,
            ["below a", "summary", "one", "inN", "inP", "x qq vv"]
        );
    }
}
