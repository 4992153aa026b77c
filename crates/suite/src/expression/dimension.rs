//! The dimension of a quantity: powers of time, bytes and cores, so that adding milliseconds to bytes is
//! refused.
//!
//! Must not know formats. Invariant: an amount is always in base units (seconds, bytes, cores), whatever unit
//! it was read or is shown in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Powers of the base units; all zero for plain numbers, counts and shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dimension {
    time: i8,
    bytes: i8,
    cores: i8,
}

impl Dimension {
    /// Counts, shares, plain numbers.
    pub const NUMBER: Dimension = Dimension::of(0, 0, 0);
    /// Seconds.
    pub const TIME: Dimension = Dimension::of(1, 0, 0);
    /// Bytes.
    pub const BYTES: Dimension = Dimension::of(0, 1, 0);
    /// Per second.
    pub const RATE: Dimension = Dimension::of(-1, 0, 0);
    /// Bytes per second.
    pub const BYTE_RATE: Dimension = Dimension::of(-1, 1, 0);
    /// Cores.
    pub const CORES: Dimension = Dimension::of(0, 0, 1);

    const fn of(time: i8, bytes: i8, cores: i8) -> Dimension {
        Dimension { time, bytes, cores }
    }

    /// The dimension of a product.
    #[must_use]
    pub fn times(self, other: Dimension) -> Dimension {
        Dimension {
            time: self.time.saturating_add(other.time),
            bytes: self.bytes.saturating_add(other.bytes),
            cores: self.cores.saturating_add(other.cores),
        }
    }

    /// The dimension of a quotient.
    #[must_use]
    pub fn over(self, other: Dimension) -> Dimension {
        Dimension {
            time: self.time.saturating_sub(other.time),
            bytes: self.bytes.saturating_sub(other.bytes),
            cores: self.cores.saturating_sub(other.cores),
        }
    }

    /// The dimension from the suffix of an observed metric's name (`cpu_cores`, `memory_bytes`); `None` if it
    /// has none.
    #[must_use]
    pub fn of_metric(name: &str) -> Option<Dimension> {
        const ENDINGS: [(&str, Dimension); 9] = [
            ("bytes_per_s", Dimension::BYTE_RATE),
            ("per_s", Dimension::RATE),
            ("cores", Dimension::CORES),
            ("bytes", Dimension::BYTES),
            ("seconds", Dimension::TIME),
            ("ratio", Dimension::NUMBER),
            ("restarts", Dimension::NUMBER),
            ("replicas", Dimension::NUMBER),
            ("threads", Dimension::NUMBER),
        ];
        let ends = |ending: &str| {
            let before = name.strip_suffix(ending);
            before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
        };
        let found = ENDINGS.iter().find(|(ending, _)| ends(ending));
        found.map(|(_, dimension)| *dimension)
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Dimension::NUMBER => f.write_str("a plain number"),
            Dimension::TIME => f.write_str("a duration"),
            Dimension::BYTES => f.write_str("bytes"),
            Dimension::RATE => f.write_str("a rate per second"),
            Dimension::BYTE_RATE => f.write_str("bytes per second"),
            Dimension::CORES => f.write_str("cores"),
            Dimension { time, bytes, cores } => {
                write!(f, "s^{time} B^{bytes} cores^{cores}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_quotients_keep_their_powers() {
        assert_eq!(Dimension::BYTES.over(Dimension::TIME), Dimension::BYTE_RATE);
        assert_eq!(Dimension::RATE.times(Dimension::TIME), Dimension::NUMBER);
        assert_eq!(
            Dimension::CORES.over(Dimension::CORES),
            Dimension::of_metric("throttled_ratio").expect("a ratio is a number")
        );
    }

    #[test]
    fn names_tell_their_unit_at_the_end_alone() {
        assert_eq!(
            Dimension::of_metric("network_bytes_per_s"),
            Some(Dimension::BYTE_RATE)
        );
        assert_eq!(Dimension::of_metric("bytes"), Some(Dimension::BYTES));
        assert_eq!(Dimension::of_metric("kilobytes"), None);
        assert_eq!(Dimension::of_metric("value"), None);
    }
}
