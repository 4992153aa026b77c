//! A word-sized curve of a figure over the run, next to its value.
//!
//! Must not know what the figure is. Invariant: a gap in the values is a gap in the curve, and its size does
//! not grow with the run.

use std::fmt::Write as _;

use super::markup::Html;

/// Points of a curve.
const POINTS_MAX: usize = 60;
/// The curve's own units of height.
const HEIGHT: f64 = 20.0;

/// How neighbours are merged if there are more values than points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// Their mean.
    Mean,
    /// The largest.
    Most,
}

/// The curve, from zero to the maximum; nothing for fewer than two values.
pub(super) fn write(html: &mut Html, values: &[Option<f64>], how: Joined) {
    let per_point = values.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<Option<f64>> = values
        .chunks(per_point)
        .map(|some| joined(some, how))
        .collect();
    let most = points.iter().flatten().copied().fold(0.0, f64::max);
    if points.iter().flatten().count() < 2 {
        return;
    }
    let width = (points.len() - 1).to_string();
    html.between(
        "<svg class=\"spark\" aria-hidden=\"true\" preserveAspectRatio=\"none\" viewBox=\"0 -1 ",
        &width,
        " 22\">",
    );
    html.between("<path d=\"", &path(&points, most), "\"/></svg>");
}

fn joined(some: &[Option<f64>], how: Joined) -> Option<f64> {
    let known = some
        .iter()
        .flatten()
        .copied()
        .filter(|value| value.is_finite());
    match how {
        Joined::Most => known.reduce(f64::max),
        Joined::Mean => {
            let (count, sum) =
                known.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
            (count > 0).then(|| sum / f64::from(count))
        }
    }
}

/// Lines from point to point; a point after a gap starts a new line.
fn path(points: &[Option<f64>], most: f64) -> String {
    let mut out = String::new();
    let mut is_begun = false;
    for (x, value) in points.iter().enumerate() {
        let Some(value) = value else {
            is_begun = false;
            continue;
        };
        let part = if most > 0.0 { value / most } else { 0.0 };
        let order = if is_begun { 'L' } else { 'M' };
        write!(out, "{order}{x} {:.1}", HEIGHT * (1.0 - part))
            .expect("writing to a string cannot fail");
        is_begun = true;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[Option<f64>], how: Joined) -> String {
        let mut html = Html::default();
        write(&mut html, values, how);
        html.finish()
    }

    #[test]
    fn a_curve_goes_from_zero_to_the_most_and_keeps_gaps() {
        let curve = of(
            &[Some(0.0), Some(5.0), None, Some(10.0), Some(10.0)],
            Joined::Mean,
        );
        assert!(curve.contains("viewBox=\"0 -1 4 22\""), "{curve}");
        assert!(
            curve.contains("d=\"M0 20.0L1 10.0M3 0.0L4 0.0\""),
            "{curve}"
        );
        assert_eq!(of(&[Some(1.0), None], Joined::Mean), "");
    }

    #[test]
    fn a_long_run_is_joined() {
        let values: Vec<Option<f64>> = (0..6_000).map(|n| Some(f64::from(n % 100))).collect();
        let flat = of(&values, Joined::Most);
        assert!(
            flat.contains("M0 0.0L1 0.0L2 0.0"),
            "the most of each: {flat}"
        );
        assert!(of(&values, Joined::Mean).len() < 1_000);
    }
}
