//! Quantiles of Student's t distribution.
//!
//! Source: G. W. Hill, Algorithm 396, Communications of the ACM 13 (1970), which takes any number of degrees from one
//! on, whole or not; one and two have closed forms. Must not know what is estimated. Invariant: falls as degrees
//! grow.

use std::f64::consts::{FRAC_PI_2, PI};

/// The value that |t| exceeds with this chance; fewer degrees than one count as one.
pub(super) fn two_sided_quantile(chance: f64, degrees: f64) -> f64 {
    let n = degrees.max(1.0);
    if (n - 1.0).abs() < 1e-9 {
        return 1.0 / (chance * FRAC_PI_2).tan();
    }
    if (n - 2.0).abs() < 1e-9 {
        return (2.0 / (chance * (2.0 - chance)) - 2.0).sqrt();
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * n;
    let mut y = (d * chance).powf(2.0 / n);
    if y > 0.05 + a {
        let x = normal_deviate(chance / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0)
            + 0.5 / (n + 4.0))
            * y
            - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    (n * y).sqrt()
}

/// The value that a standard normal stays below with this chance, one half at most: the approximation of Abramowitz
/// and Stegun (26.2.23), then two steps of Newton on the distribution function.
fn normal_deviate(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = t - above / below;
    for _ in 0..2 {
        let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
        x += (upper_tail(x) - chance) / density;
    }
    -x
}

/// The chance that a standard normal exceeds a value above one: a continued fraction (Abramowitz and Stegun, 26.2.14).
fn upper_tail(x: f64) -> f64 {
    let mut fraction = x;
    for term in (1..=200).rev() {
        fraction = x + f64::from(term) / fraction;
    }
    (-x * x / 2.0).exp() / (2.0 * PI).sqrt() / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_meet_the_tables() {
        for (degrees, expected) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (120.0, 1.980),
            (1e6, 1.960),
        ] {
            let found = two_sided_quantile(0.05, degrees);
            assert!((found - expected).abs() < 2e-3, "{degrees}: {found}");
        }
    }

    #[test]
    fn quantiles_fall_as_degrees_grow() {
        let found: Vec<f64> = (10..200)
            .map(|n| two_sided_quantile(0.05, f64::from(n) / 10.0))
            .collect();
        assert!(
            found.windows(2).all(|pair| pair[1] <= pair[0] + 2e-2),
            "{found:?}"
        );
    }
}
