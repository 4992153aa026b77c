//! Student's t distribution: how far a mean may lie from the truth by chance.
//!
//! The distribution function is the regularised incomplete beta function, by its continued fraction
//! (NIST Digital Library of Mathematical Functions, 8.17.22, evaluated by Lentz's method); quantiles
//! are found by bisection. Must not know what is compared. Invariant: no result is NaN.

/// Limit on the terms; the continued fraction converges earlier for all arguments that occur.
const TERMS_MAX: u32 = 300;
const PRECISION: f64 = 1e-14;
/// Replaces zero where a fraction would be divided by it.
const TINY: f64 = 1e-300;
/// Bisections in the search for a quantile: more than the bits of a double.
const HALVINGS: u32 = 100;
/// Far beyond any quantile that is requested.
const QUANTILE_MAX: f64 = 1e6;

/// The value that |t| exceeds with this probability, for the given degrees of freedom; infinite for less than a
/// tenth of a degree.
#[must_use]
pub fn two_sided_quantile(chance: f64, degrees: f64) -> f64 {
    if degrees.is_nan() || degrees < 0.1 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, QUANTILE_MAX);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if two_sided_chance(middle, degrees) > chance {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The probability that |t| is at least this large.
#[must_use]
pub fn two_sided_chance(t: f64, degrees: f64) -> f64 {
    if !t.is_finite() {
        return 0.0;
    }
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The regularised incomplete beta function.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let logarithm = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let front = logarithm.exp();
    // The fraction converges fast only on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let apart = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..TERMS_MAX {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / apart(1.0 + numerator * d);
            c = apart(1.0 + numerator / c);
            factor = c * d;
            fraction *= factor;
        }
        if (factor - 1.0).abs() < PRECISION {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function above zero: Stirling's series after the argument was raised
/// beyond ten (NIST Digital Library of Mathematical Functions, 5.11.1 and 5.5.1).
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut raised) = (x, 0.0);
    while x < 10.0 {
        raised += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - raised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_meet_the_tables() {
        for (degrees, chance, expected) in [
            (1.0, 0.05, 12.706),
            (2.0, 0.05, 4.303),
            (4.0, 0.01, 4.604),
            (10.0, 0.05, 2.228),
            (10.0, 0.001, 4.587),
            (30.0, 0.05, 2.042),
            (120.0, 0.01, 2.617),
            (1e7, 0.05, 1.960),
        ] {
            let found = two_sided_quantile(chance, degrees);
            assert!(
                (found - expected).abs() < 1e-3,
                "{degrees} {chance}: {found}"
            );
        }
        assert_eq!(two_sided_quantile(0.05, 0.0), f64::INFINITY);
    }

    #[test]
    fn a_chance_is_that_of_its_quantile() {
        for degrees in [0.5, 1.0, 3.7, 25.0, 400.0] {
            for chance in [0.5, 0.05, 0.001] {
                let t = two_sided_quantile(chance, degrees);
                assert!((two_sided_chance(t, degrees) - chance).abs() < 1e-6);
            }
        }
        assert_eq!(two_sided_chance(0.0, 5.0), 1.0);
        assert_eq!(two_sided_chance(f64::INFINITY, 5.0), 0.0);
    }

    #[test]
    fn gamma_is_the_factorial() {
        let mut factorial: f64 = 1.0;
        for n in 1..20_u32 {
            assert!(
                (ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-9,
                "{n}"
            );
            factorial *= f64::from(n);
        }
        let half = std::f64::consts::PI.sqrt().ln();
        assert!((ln_gamma(0.5) - half).abs() < 1e-9);
    }
}
