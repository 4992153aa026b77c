//! Where a load curve bends, and where its p99 leaves the quiet level.
//!
//! The knee is the point farthest above the straight line from the origin of the curve to its end, both axes drawn from 0 to 1
//! (V. Satopaa and others, "Finding a Kneedle in a Haystack", ICDCS Workshops 2011, without its smoothing: points of a sweep are
//! few and each is an average). Must not know what the load is. Invariant: no knee is told of a straight line.

use serde::{Deserialize, Serialize};

/// Fewest points in which a knee can be seen.
const POINTS_MIN: usize = 4;
/// A point that is less than this above the line is on it, of 1.
const ABOVE_MIN: f64 = 0.1;
/// If throughput beyond a knee is this many times that of the knee, it keeps rising.
const RISES_ON: f64 = 1.35;
/// The p99 leaves its quiet level at this many times it.
const LEAVES_AT: f64 = 3.0;

/// Where throughput bends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The load there.
    pub load: f64,
    /// Responses per second there.
    pub throughput: f64,
    /// Its distance above the line, from 0 to 1: near 0 the curve is almost straight.
    pub above: f64,
}

/// Why there is no knee.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum NoKnee {
    /// Fewer points than are needed.
    TooFew {
        /// Points that say something about the target.
        have: usize,
    },
    /// The curve is almost a straight line.
    Straight,
    /// Throughput keeps rising beyond the bend.
    Contradicted {
        /// The load at which it bends.
        bend: f64,
        /// Responses per second there.
        throughput: f64,
        /// A load beyond, with the most responses.
        load: f64,
        /// Responses per second there.
        measured: f64,
    },
}

/// The knee of points `(load, throughput)`, ascending in load.
///
/// # Errors
/// The curve does not bend or keeps rising, or there are fewer than four points.
pub fn knee(points: &[(f64, f64)]) -> Result<Knee, NoKnee> {
    if points.len() < POINTS_MIN {
        return Err(NoKnee::TooFew { have: points.len() });
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let lowest = points
        .iter()
        .map(|point| point.1)
        .fold(f64::INFINITY, f64::min);
    let highest = points
        .iter()
        .map(|point| point.1)
        .fold(f64::NEG_INFINITY, f64::max);
    let (width, height) = (last - first, highest - lowest);
    if !(width > 0.0 && height > 0.0) {
        return Err(NoKnee::Straight);
    }
    let above =
        |(load, throughput): &(f64, f64)| (throughput - lowest) / height - (load - first) / width;
    let farthest = points
        .iter()
        .max_by(|one, other| above(one).total_cmp(&above(other)))
        .expect("there are four points or more");
    let knee = Knee {
        load: farthest.0,
        throughput: farthest.1,
        above: above(farthest),
    };
    if knee.above < ABOVE_MIN {
        return Err(NoKnee::Straight);
    }
    let beyond = points
        .iter()
        .filter(|point| point.0 > knee.load && point.1 > RISES_ON * knee.throughput);
    match beyond.max_by(|one, other| one.1.total_cmp(&other.1)) {
        None => Ok(knee),
        Some((load, measured)) => Err(NoKnee::Contradicted {
            bend: knee.load,
            throughput: knee.throughput,
            load: *load,
            measured: *measured,
        }),
    }
}

/// Where the p99 leaves its quiet level permanently.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Departure {
    /// The last load at which it was quiet.
    pub quiet_until: f64,
    /// The next load, at which it was not.
    pub from: f64,
    /// The quiet level in nanoseconds: the median of the lower half of the loads.
    pub quiet_ns: f64,
}

/// Where the p99 of points `(load, nanoseconds)`, ascending in load, exceeds three times its quiet level and
/// stays above it; `None` if it does not, or with fewer than four points.
#[must_use]
pub fn departure(points: &[(f64, f64)]) -> Option<Departure> {
    if points.len() < POINTS_MIN {
        return None;
    }
    let mut quiet: Vec<f64> = points[..points.len() / 2]
        .iter()
        .map(|point| point.1)
        .collect();
    quiet.sort_by(f64::total_cmp);
    let quiet_ns = quiet[quiet.len() / 2];
    let last_quiet = points
        .iter()
        .rposition(|point| point.1 <= LEAVES_AT * quiet_ns)?;
    let from = points.get(last_quiet + 1)?;
    Some(Departure {
        quiet_until: points[last_quiet].0,
        from: from.0,
        quiet_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(throughput: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (1..=20)
            .map(|step| 100.0 * f64::from(step))
            .map(|load| (load, throughput(load)))
            .collect()
    }

    #[test]
    fn a_knee_is_where_the_curve_bends() {
        let flat = knee(&curve(|load| load.min(800.0))).expect("it bends");
        assert_eq!((flat.load, flat.throughput), (800.0, 800.0));
        let falling = curve(|load| {
            if load <= 800.0 {
                load
            } else {
                1_200.0 - load / 2.0
            }
        });
        assert_eq!(knee(&falling).map(|knee| knee.load), Ok(800.0));
        // Of 1 - e^(-x) from 0 to 4 the point farthest above the line is where the slope is that of the line.
        let smooth: Vec<(f64, f64)> = (0..=400)
            .map(|x| f64::from(x) / 100.0)
            .map(|x| (x, 1.0 - (-x).exp()))
            .collect();
        let slope: f64 = (1.0 - (-4.0_f64).exp()) / 4.0;
        let found = knee(&smooth).expect("it bends").load;
        assert!((found + slope.ln()).abs() < 0.01, "{found}");
    }

    #[test]
    fn a_straight_line_has_none() {
        assert_eq!(knee(&curve(|load| load)), Err(NoKnee::Straight));
        assert_eq!(
            knee(&curve(|load| load + 20.0 * (load / 100.0).sin())),
            Err(NoKnee::Straight)
        );
        assert_eq!(knee(&curve(|_| 5.0)), Err(NoKnee::Straight));
        // A plateau between two rises is no knee.
        let goes_on = curve(|load| match load {
            low if low <= 800.0 => low,
            high if high <= 1_400.0 => 800.0,
            top => top - 600.0,
        });
        assert_eq!(
            knee(&goes_on),
            Err(NoKnee::Contradicted {
                bend: 800.0,
                throughput: 800.0,
                load: 2_000.0,
                measured: 1_400.0
            })
        );
        assert_eq!(
            knee(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]),
            Err(NoKnee::TooFew { have: 3 })
        );
    }

    #[test]
    fn the_p99_leaves_once_and_for_all() {
        let leaves =
            departure(&curve(|load| if load < 1_500.0 { 2e6 } else { 9e6 })).expect("it leaves");
        assert_eq!(
            (leaves.quiet_until, leaves.from, leaves.quiet_ns),
            (1_400.0, 1_500.0, 2e6)
        );
        // One spike on the way is none.
        let spiky = |load: f64| {
            if load == 600.0 || load > 1_700.0 {
                9e6
            } else {
                2e6
            }
        };
        assert_eq!(
            departure(&curve(spiky)).map(|leaves| leaves.from),
            Some(1_800.0)
        );
        assert_eq!(departure(&curve(|_| 2e6)), None);
    }
}
