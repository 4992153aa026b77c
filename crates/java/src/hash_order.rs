//! The order in which a `java.util.HashMap` gives out keys that are texts.
//!
//! Source: the documentation of `String.hashCode` and the order that OpenJDK 17 shows. Must not know values. Invariant:
//! every key comes once. More than eight keys in one slot, which Java keeps as a tree, come in the order of a list.

/// Indices of the keys of a map that was copied from another of this order.
#[must_use]
pub fn of_copy(keys: &[&str]) -> Vec<usize> {
    // A copy gets the first power of two above the count at three quarters full.
    in_slots(keys, (keys.len() * 4 / 3 + 1).next_power_of_two())
}

/// Indices of the keys of a map that grew key by key from its usual size.
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

    /// Recorded from JMeter 5.6.3, which keeps its summaries so.
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
