//! Axes: mapping from values to positions, and round numbers as labels.
//!
//! Must not know SVG. Invariant: ticks ascend, are within the axis and at most a dozen; positions are finite
//! whatever the values.

/// The unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Per second.
    Rate,
    /// Nanoseconds.
    Span,
    /// Processor cores.
    Cores,
    /// Bytes.
    Size,
}

/// An axis of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_logarithmic: bool,
    pub(super) quantity: Quantity,
}

/// Values beyond these are drawn at the end of the axis.
const LEAST: f64 = 1e-6;
const MOST: f64 = 1e19;
/// Approximate number of labels of an axis.
const TICKS: f64 = 5.0;
/// A larger ratio between values needs a logarithmic axis.
const LINEAR_BELOW: f64 = 12.0;

impl Axis {
    /// From zero to a round number above the largest value.
    pub(super) fn linear(most: f64, quantity: Quantity) -> Axis {
        // A file may contain any number; values that no run reaches need not be drawn to scale.
        let most = match most {
            most if most > 0.0 => most.clamp(LEAST, MOST),
            _ => 1.0,
        };
        let step = round_step(most / TICKS, quantity);
        Axis {
            low: 0.0,
            high: (most / step).ceil() * step,
            is_logarithmic: false,
            quantity,
        }
    }

    /// For times: logarithmic if they are far apart, else linear.
    pub(super) fn of_times(least: f64, most: f64) -> Axis {
        /// The end of the axis if all times are below a clock's resolution, in nanoseconds.
        const MILLISECOND: f64 = 1e6;
        if most == 0.0 {
            return Axis::linear(MILLISECOND, Quantity::Span);
        }
        let least = least.max(1.0);
        if most.is_nan() || most <= least * LINEAR_BELOW {
            return Axis::linear(most, Quantity::Span);
        }
        Axis {
            low: ladder_below(least),
            high: ladder_above(most),
            is_logarithmic: true,
            quantity: Quantity::Span,
        }
    }

    /// Whether a value is on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The position of a value, from 0 at the low end to 1 at the high one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.is_logarithmic {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Round values with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.is_logarithmic {
            self.decades()
        } else {
            let step = round_step(self.high / TICKS, self.quantity);
            let count = (self.high / step + 1e-9).floor() as u32;
            (0..=count).map(|tick| f64::from(tick) * step).collect()
        };
        values
            .into_iter()
            .map(|value| (value, label(value, self.high, self.quantity)))
            .collect()
    }

    /// Decades, with intermediate values if there is room.
    fn decades(&self) -> Vec<f64> {
        let spans = (self.high / self.low).log10();
        let steps: &[f64] = match spans {
            spans if spans <= 2.0 => &[1.0, 2.0, 5.0],
            spans if spans <= 4.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let mut found = Vec::new();
        let mut decade = 10_f64.powf(self.low.log10().floor());
        while decade <= self.high * 1.001 && found.len() < 40 {
            let inside = |value: &f64| (self.low * 0.999..=self.high * 1.001).contains(value);
            found.extend(steps.iter().map(|step| step * decade).filter(inside));
            decade *= 10.0;
        }
        found
    }
}

/// 1, 2 or 5 times a power of ten (of two for bytes in no case: labels are decimal), at least so large.
fn round_step(least: f64, quantity: Quantity) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|step| step * decade);
    let mut fitting = step.filter(|step| *step >= least * 0.999);
    let step = fitting.next().unwrap_or(decade * 10.0);
    match quantity {
        // Nanoseconds and bytes are whole.
        Quantity::Span | Quantity::Size => step.max(1.0),
        Quantity::Rate | Quantity::Cores => step,
    }
}

fn ladder_below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let below = [5.0, 2.0, 1.0].into_iter().map(|step| step * decade);
    below
        .into_iter()
        .find(|step| *step <= value)
        .unwrap_or(decade)
}

fn ladder_above(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let above = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade);
    above
        .into_iter()
        .find(|step| *step >= value)
        .unwrap_or(decade * 10.0)
}

/// A round value with its unit; `most` decides the unit where all labels share one.
fn label(value: f64, most: f64, quantity: Quantity) -> String {
    let scaled = |scale: f64, unit: &str| {
        let text = format!("{:.3}", value / scale);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        format!("{text}{unit}")
    };
    match quantity {
        _ if value == 0.0 => "0".to_owned(),
        Quantity::Rate if most >= 2e6 => scaled(1e6, "M"),
        Quantity::Rate if most >= 2e3 => scaled(1e3, "K"),
        Quantity::Rate | Quantity::Cores => scaled(1.0, ""),
        Quantity::Span if value < 1e3 => scaled(1.0, " ns"),
        Quantity::Span if value < 1e6 => scaled(1e3, " µs"),
        Quantity::Span if value < 1e9 => scaled(1e6, " ms"),
        Quantity::Span => scaled(1e9, " s"),
        Quantity::Size if most >= 2e9 => scaled(1e9, " GB"),
        Quantity::Size if most >= 2e6 => scaled(1e6, " MB"),
        Quantity::Size => scaled(1e3, " kB"),
    }
}

/// Steps of time that people count in, in seconds.
const TIME_STEPS: [f64; 16] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0,
    3_600.0,
];
const TIME_TICKS: f64 = 10.0;

/// Instants to label on an axis of this many seconds, and the labels' unit.
pub(super) fn time_ticks(seconds: f64) -> (Vec<(f64, String)>, &'static str) {
    let wanted = seconds / TIME_TICKS;
    let step = TIME_STEPS.into_iter().find(|step| *step >= wanted);
    // Beyond hours, whole hours: as many as it takes.
    let step = step.unwrap_or_else(|| (wanted / 3_600.0).ceil() * 3_600.0);
    let (written, unit): (fn(f64) -> String, &str) = match seconds {
        seconds if seconds <= 120.0 => (|at| format!("{}", (at * 10.0).round() / 10.0), "seconds"),
        seconds if seconds <= 3_600.0 => (|at| clock(at as u64), "minutes:seconds"),
        _ => (|at| clock(at as u64 / 60), "hours:minutes"),
    };
    let count = (seconds / step + 1e-9).floor() as u32;
    let ticks = (0..=count.min(24)).map(|tick| f64::from(tick) * step);
    (ticks.map(|at| (at, written(at))).collect(), unit)
}

fn clock(count: u64) -> String {
    format!("{}:{:02}", count / 60, count % 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_carry_units() {
        assert_eq!(
            labels(&Axis::linear(38_000.0, Quantity::Rate)),
            ["0", "10K", "20K", "30K", "40K"]
        );
        assert_eq!(
            labels(&Axis::linear(1.7, Quantity::Cores)),
            ["0", "0.5", "1", "1.5", "2"]
        );
        assert_eq!(
            labels(&Axis::linear(31e6, Quantity::Size)),
            ["0", "10 MB", "20 MB", "30 MB", "40 MB"]
        );
        assert_eq!(labels(&Axis::linear(0.0, Quantity::Rate))[0], "0");
        let wide = Axis::of_times(80_000.0, 9e6);
        assert_eq!(labels(&wide), ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms"]);
        assert!(!Axis::of_times(80_000.0, 400_000.0).is_logarithmic);
    }

    #[test]
    fn what_no_run_reaches_has_an_axis_too() {
        for most in [f64::MAX, f64::INFINITY, f64::MIN_POSITIVE, -1.0, f64::NAN] {
            let axis = Axis::linear(most, Quantity::Cores);
            assert!(axis.high.is_finite() && axis.high > 0.0, "{most}: {axis:?}");
            assert!((2..=16).contains(&axis.ticks().len()), "{most}: {axis:?}");
        }
    }

    #[test]
    fn time_is_labelled_as_people_count_it() {
        let (ticks, unit) = time_ticks(30.0);
        assert_eq!(
            (ticks.len(), ticks[1].1.as_str(), unit),
            (7, "5", "seconds")
        );
        let (ticks, unit) = time_ticks(1_800.0);
        assert_eq!((ticks[1].1.as_str(), unit), ("5:00", "minutes:seconds"));
        let (ticks, unit) = time_ticks(7_200.0);
        assert_eq!((ticks[1].1.as_str(), unit), ("0:15", "hours:minutes"));
    }

    proptest! {
        #[test]
        fn axes_hold_whatever_comes(least in 0.0_f64..1e15, most in 0.0_f64..1e18, value in -1e18_f64..1e18) {
            for axis in [Axis::of_times(least, most), Axis::linear(most, Quantity::Rate), Axis::linear(most, Quantity::Size)] {
                let ticks = axis.ticks();
                prop_assert!((1..=16).contains(&ticks.len()), "{axis:?} {ticks:?}");
                prop_assert!(ticks.is_sorted_by(|one, other| one.0 < other.0));
                prop_assert!((0.0..=1.0).contains(&axis.place(value)));
                prop_assert!(axis.high * 1.000_001 >= most.min(f64::MAX));
            }
            prop_assert!(time_ticks(most).0.len() <= 25);
        }
    }
}
