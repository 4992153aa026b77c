//! Numbers with units as bombardier prints them: `422.02us`, `3.60ms`, `1.92MB`.
//!
//! Must not know what is measured. Invariant: a unit is used from 85 % of it on, so that two decimals are
//! always meaningful.

struct Ladder {
    base: &'static str,
    scale: f64,
    steps: &'static [&'static str],
}

const BYTES: Ladder = Ladder {
    base: "",
    scale: 1024.0,
    steps: &["KB", "MB", "GB", "TB", "PB"],
};
const MICROSECONDS: Ladder = Ladder {
    base: "us",
    scale: 1000.0,
    steps: &["ms", "s"],
};
const SECONDS: Ladder = Ladder {
    base: "s",
    scale: 60.0,
    steps: &["m", "h"],
};

fn with_unit(value: f64, ladder: &Ladder) -> String {
    let mut amount = value;
    let mut unit = ladder.base;
    for step in ladder.steps {
        if amount < ladder.scale * 0.85 {
            break;
        }
        amount /= ladder.scale;
        unit = step;
    }
    format!("{amount:.2}{unit}")
}

/// Bytes in units of 1024, labelled KB, MB and so on; below 870.4 without a unit.
pub(super) fn binary(bytes: f64) -> String {
    with_unit(bytes, &BYTES)
}

/// Microseconds as us, ms, s; from a second on as s, m, h.
pub(super) fn time_us(microseconds: f64) -> String {
    if microseconds >= 1e6 {
        return with_unit(microseconds / 1e6, &SECONDS);
    }
    with_unit(microseconds, &MICROSECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_percent() {
        assert_eq!(time_us(422.02), "422.02us");
        assert_eq!(time_us(849.0), "849.00us");
        assert_eq!(time_us(851.0), "0.85ms");
        assert_eq!(time_us(950_000.0), "0.95s");
        assert_eq!(time_us(37_010_000.0), "37.01s");
        assert_eq!(time_us(52_000_000.0), "0.87m");
        assert_eq!(binary(125.84), "125.84");
        assert_eq!(binary(1024.0 * 1024.0 * 10.52), "10.52MB");
    }
}
