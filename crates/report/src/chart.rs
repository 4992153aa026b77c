//! Sparklines, bars, and readable histogram bounds.
//!
//! Must not know what is drawn. Invariant: zero draws nothing or the lowest mark, the largest value the full
//! one.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Distinguishes zero from a small value.
const NOTHING: char = '·';
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// One character a value, from zero to the largest.
pub(crate) fn sparkline(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let level = |value: &f64| {
        if *value <= 0.0 {
            return NOTHING;
        }
        LEVELS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    values.iter().map(level).collect()
}

/// A bar of at most `cells` cells, in eighths; a value above zero is always visible.
#[must_use]
pub fn bar(value: u64, most: u64, cells: usize) -> String {
    if value == 0 || most == 0 {
        return String::new();
    }
    let eighths = ((value as f64 / most as f64 * cells as f64 * 8.0).round() as usize).max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Ladders of round numbers within a decade, the coarsest first.
const LADDERS: [&[f64]; 2] = [&[1.0], &[1.0, 2.0, 5.0]];
const ROWS_MAX: usize = 12;
/// Ratio of the largest to the smallest value up to which steps are equal.
const LINEAR_BELOW: f64 = 12.0;
/// Rows above the 99th percentile; a longer tail is drawn by decades.
const TAIL_MAX: usize = 8;

/// Round upper bounds that cover the values from the smallest to the largest: about ten up to the
/// 99th percentile, where nearly all values lie, and far apart beyond it.
pub(crate) fn round_bounds(min: f64, p99: f64, max: f64) -> Vec<f64> {
    let mut bounds = body_bounds(min, p99.clamp(min, max));
    let last = bounds.last().copied().unwrap_or(max);
    if last < max {
        let tail = ladder_bounds(last * (1.0 + 1e-9), max, LADDERS[1]);
        let coarse = ladder_bounds(last * (1.0 + 1e-9), max, LADDERS[0]);
        bounds.extend(if tail.len() > TAIL_MAX { coarse } else { tail });
    }
    bounds
}

/// The finest ladder with few enough steps; equal steps if the values are close together.
fn body_bounds(min: f64, max: f64) -> Vec<f64> {
    if max <= 0.0 {
        return vec![max];
    }
    let min = min.max(max / 1e6).max(1.0);
    // Unequal steps would distort a shape that fits on equal ones.
    if max / min < LINEAR_BELOW {
        return linear_bounds(min, max);
    }
    let of_ladder = |ladder: &&[f64]| ladder_bounds(min, max, ladder);
    let fitting = LADDERS
        .iter()
        .rev()
        .map(of_ladder)
        .find(|bounds| bounds.len() <= ROWS_MAX);
    fitting.unwrap_or_else(|| ladder_bounds(min, max, LADDERS[0]))
}

fn ladder_bounds(min: f64, max: f64, ladder: &[f64]) -> Vec<f64> {
    let mut bounds = Vec::new();
    let mut decade = 10_f64.powf(min.log10().floor());
    while bounds.len() < 200 {
        for step in ladder {
            let bound = step * decade;
            if bound >= min {
                bounds.push(bound);
            }
            if bound >= max {
                return bounds;
            }
        }
        decade *= 10.0;
    }
    bounds
}

fn linear_bounds(min: f64, max: f64) -> Vec<f64> {
    let raw = (max - min) / 10.0;
    if raw <= 0.0 {
        return vec![max];
    }
    let decade = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .iter()
        .map(|s| s * decade)
        .find(|s| *s >= raw);
    let step = step.unwrap_or(raw).max(1.0);
    let first = (min / step).ceil();
    let rows = ((max / step).ceil() - first) as usize;
    (0..=rows.min(ROWS_MAX))
        .map(|row| (first + row as f64) * step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_span_from_nothing_to_full() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0]), "·▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0]), "··");
        assert_eq!(
            [bar(0, 10, 4), bar(10, 10, 4), bar(1, 1_000, 4)],
            ["", "████", "▏"]
        );
    }

    #[test]
    fn bounds_are_few_and_cover_all() {
        for (min, max) in [
            (1e5, 9e8),
            (2e5, 3e5),
            (1.0, 1e12),
            (5e6, 5e6),
            (1e6, 1.000001e6),
            (0.0, 1e3),
            (7e4, 7.2e7),
            (3e8, 4.7e9),
        ] {
            let bounds = round_bounds(min, min + (max - min) * 0.3, max);
            assert!(bounds.len() <= 20, "{min} {max}: {bounds:?}");
            assert!(
                bounds.last().is_some_and(|last| *last >= max),
                "{min} {max}: {bounds:?}"
            );
            assert!(bounds.is_sorted(), "{bounds:?}");
        }
    }
}
