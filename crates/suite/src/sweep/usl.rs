//! The Universal Scalability Law over concurrency.
//!
//! `X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`: gamma is what one virtual user gets, alpha the share that has to wait
//! for one another (contention), beta the cost of each pair agreeing (coherency) (N. Gunther, Guerrilla Capacity Planning,
//! 2007, chapter 4). `N / X` is linear in `1 / gamma`, `alpha / gamma` and `beta / gamma`, so relative residuals are least squares
//! without iteration; none of the three may be negative, so the best of the four combinations of kept parameters that
//! has no negative one is taken. Must not know how points were measured. Invariant: no number is NaN, and a fit that the points do
//! not carry is refused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Minimum points with different concurrency: one more than there are parameters.
pub const POINTS_MIN: usize = 4;
/// Minimum ratio of the highest concurrency to the lowest.
pub const FACTOR_MIN: f64 = 4.0;

/// How far a point may be from the law, as a share of it.
const RESIDUAL_MAX: f64 = 0.25;
/// How far a point beyond the peak may be above it, as a factor.
const ABOVE_PEAK_MAX: f64 = 1.05;

/// A fitted law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Requests per second of one virtual user.
    pub gamma: f64,
    /// Contention, 0 or more.
    pub alpha: f64,
    /// Coherency, 0 or more.
    pub beta: f64,
    /// Each point's throughput over that of the law, less one; in the order of the points.
    pub residuals: Vec<f64>,
    /// The share of the variance of throughput that the law explains; below 0 it is worse than the mean.
    pub r_squared: f64,
    /// Where throughput is highest; `None` when the law knows no end (beta is 0).
    pub peak: Option<Peak>,
    /// Requests per second that throughput approaches; `None` if there is a peak, or no contention.
    pub limit: Option<f64>,
}

/// Where throughput is highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Virtual users: `sqrt((1 - alpha) / beta)`.
    pub concurrency: f64,
    /// Requests per second.
    pub throughput: f64,
    /// Whether it is beyond the points, and so was not observed.
    pub is_extrapolated: bool,
}

/// Why no law was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Refusal {
    /// Fewer points than are needed.
    TooFew {
        /// Points of different concurrency that say something about the target.
        have: usize,
    },
    /// The points are too close together to distinguish contention from coherency.
    TooNarrow {
        /// The highest concurrency relative to the lowest.
        factor: f64,
    },
    /// The points do not rise and fall as the law does.
    NoFit,
    /// A point within the range is far from the law, or above the law's maximum.
    Contradicted {
        /// Virtual users there.
        users: f64,
        /// Requests per second there.
        measured: f64,
        /// Requests per second of the law, or of its peak.
        law: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooFew { have } => write!(
                f,
                "the fit needs {POINTS_MIN} or more numbers of VUs at which the generator is not the limit, not {have}"
            ),
            Refusal::TooNarrow { factor } => write!(
                f,
                "the highest number of VUs is only {factor:.1} times the lowest; use {FACTOR_MIN} times or more"
            ),
            Refusal::NoFit => f.write_str("the points do not follow the law"),
            Refusal::Contradicted {
                users,
                measured,
                law,
            } => write!(
                f,
                "at {users:.0} VUs {measured:.0}/s were measured, where the law has {law:.0}/s: it does not \
                 describe this target"
            ),
        }
    }
}

impl Usl {
    /// Fits the law to points `(virtual users, responses per second)`.
    ///
    /// # Errors
    /// Why the points do not allow a fit.
    pub fn fit(points: &[(f64, f64)]) -> Result<Usl, Refusal> {
        let is_good =
            |(users, rate): &&(f64, f64)| *users >= 1.0 && *rate > 0.0 && rate.is_finite();
        let good: Vec<(f64, f64)> = points.iter().filter(is_good).copied().collect();
        let mut users: Vec<f64> = good.iter().map(|point| point.0).collect();
        users.sort_by(f64::total_cmp);
        users.dedup();
        if users.len() < POINTS_MIN {
            return Err(Refusal::TooFew { have: users.len() });
        }
        let factor = users[users.len() - 1] / users[0];
        if factor < FACTOR_MIN {
            return Err(Refusal::TooNarrow { factor });
        }
        let [constant, contention, coherency] = non_negative(&good).ok_or(Refusal::NoFit)?;
        let law = Law {
            gamma: 1.0 / constant,
            alpha: contention / constant,
            beta: coherency / constant,
        };
        let usl = law.told(&good, users[users.len() - 1]);
        match usl.contradiction(&good) {
            Some(refusal) => Err(refusal),
            None => Ok(usl),
        }
    }

    /// The measurement that contradicts the law most; `None` if none does.
    fn contradiction(&self, points: &[(f64, f64)]) -> Option<Refusal> {
        let refusal = |(users, measured): (f64, f64), law| Refusal::Contradicted {
            users,
            measured,
            law,
        };
        let pairs = points.iter().zip(&self.residuals);
        let (point, residual) = pairs.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        if residual.abs() > RESIDUAL_MAX {
            return Some(refusal(*point, self.at(point.0)));
        }
        let peak = self.peak.filter(|peak| !peak.is_extrapolated)?;
        let beyond = points.iter().filter(|point| point.0 > peak.concurrency);
        let above = beyond.filter(|point| point.1 > ABOVE_PEAK_MAX * peak.throughput);
        let highest = above.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(refusal(*highest, peak.throughput))
    }

    /// Throughput at a concurrency according to the law, per second.
    #[must_use]
    pub fn at(&self, users: f64) -> f64 {
        let Usl {
            gamma, alpha, beta, ..
        } = *self;
        Law { gamma, alpha, beta }.at(users)
    }
}

#[derive(Clone, Copy)]
struct Law {
    gamma: f64,
    alpha: f64,
    beta: f64,
}

impl Law {
    fn at(&self, users: f64) -> f64 {
        self.gamma * users / (1.0 + self.alpha * (users - 1.0) + self.beta * users * (users - 1.0))
    }

    fn told(&self, points: &[(f64, f64)], most_users: f64) -> Usl {
        let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
        let squares = |rest: &dyn Fn(&(f64, f64)) -> f64| {
            points.iter().map(|point| rest(point).powi(2)).sum::<f64>()
        };
        let unexplained = squares(&|(users, rate)| rate - self.at(*users));
        let all = squares(&|(_, rate)| rate - mean);
        let peak = self.peak(most_users);
        Usl {
            gamma: self.gamma,
            alpha: self.alpha,
            beta: self.beta,
            residuals: points
                .iter()
                .map(|(users, rate)| rate / self.at(*users) - 1.0)
                .collect(),
            r_squared: if all > 0.0 {
                1.0 - unexplained / all
            } else {
                0.0
            },
            peak,
            limit: (peak.is_none() && self.alpha > 0.0).then(|| self.gamma / self.alpha),
        }
    }

    fn peak(&self, most_users: f64) -> Option<Peak> {
        if self.beta <= 0.0 {
            return None;
        }
        // Where contention alone is more than whole, one virtual user is the best.
        let concurrency = ((1.0 - self.alpha).max(0.0) / self.beta).sqrt().max(1.0);
        Some(Peak {
            concurrency,
            throughput: self.at(concurrency),
            is_extrapolated: concurrency > most_users,
        })
    }
}

/// The parameters of `N / X` that leave the least relative residuals and are not negative.
fn non_negative(points: &[(f64, f64)]) -> Option<[f64; 3]> {
    let rows: Vec<[f64; 3]> = points
        .iter()
        .map(|(users, rate)| {
            let per_user = rate / users;
            [
                per_user,
                per_user * (users - 1.0),
                per_user * users * (users - 1.0),
            ]
        })
        .collect();
    const KEPT: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
    let candidates = KEPT.iter().filter_map(|kept| {
        let parameters = least_squares(&rows, kept)?;
        let is_possible = parameters[0] > 0.0
            && parameters
                .iter()
                .all(|value| *value >= 0.0 && value.is_finite());
        is_possible.then(|| (left_over(&rows, &parameters), parameters))
    });
    let best = candidates.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(best.1)
}

fn left_over(rows: &[[f64; 3]], parameters: &[f64; 3]) -> f64 {
    let rest = |row: &[f64; 3]| {
        1.0 - row
            .iter()
            .zip(parameters)
            .map(|(one, other)| one * other)
            .sum::<f64>()
    };
    rows.iter().map(|row| rest(row).powi(2)).sum()
}

/// The least squares of `rows * parameters = 1` with some parameters kept and the others zero, by the normal equations
/// of columns scaled to length one.
fn least_squares(rows: &[[f64; 3]], kept: &[usize]) -> Option<[f64; 3]> {
    let lengths: Vec<f64> = kept
        .iter()
        .map(|column| {
            rows.iter()
                .map(|row| row[*column].powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    if lengths
        .iter()
        .any(|length| *length <= 0.0 || !length.is_finite())
    {
        return None;
    }
    let scaled = |row: &[f64; 3], position: usize| row[kept[position]] / lengths[position];
    let size = kept.len();
    let mut matrix: Vec<Vec<f64>> = (0..size)
        .map(|one| {
            let products = (0..size).map(|other| {
                rows.iter()
                    .map(|row| scaled(row, one) * scaled(row, other))
                    .sum()
            });
            let right = rows.iter().map(|row| scaled(row, one)).sum();
            products.chain([right]).collect()
        })
        .collect();
    let solved = solve(&mut matrix)?;
    let mut parameters = [0.0; 3];
    for (position, column) in kept.iter().enumerate() {
        parameters[*column] = solved[position] / lengths[position];
    }
    Some(parameters)
}

/// Gauss's elimination with pivots of a matrix whose last column is the right side; `None` when it is all but singular.
fn solve(matrix: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = matrix.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|one, other| {
            matrix[*one][column]
                .abs()
                .total_cmp(&matrix[*other][column].abs())
        })?;
        matrix.swap(column, pivot);
        if matrix[column][column].abs() < 1e-12 {
            return None;
        }
        let pivot_row = matrix[column].clone();
        for row in &mut matrix[column + 1..] {
            let factor = row[column] / pivot_row[column];
            for (value, of_pivot) in row.iter_mut().zip(&pivot_row) {
                *value -= factor * of_pivot;
            }
        }
    }
    let mut solved = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size)
            .map(|column| matrix[row][column] * solved[column])
            .sum();
        solved[row] = (matrix[row][size] - known) / matrix[row][row];
    }
    Some(solved)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(law: Law, users: &[f64]) -> Vec<(f64, f64)> {
        users.iter().map(|users| (*users, law.at(*users))).collect()
    }

    const USERS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-6 * other.abs().max(1e-6)
    }

    #[test]
    fn a_law_is_found_from_its_points() {
        let law = Law {
            gamma: 1_000.0,
            alpha: 0.05,
            beta: 0.000_4,
        };
        let fit = Usl::fit(&points(law, &USERS)).expect("eight points");
        assert!(
            is_near(fit.gamma, 1_000.0) && is_near(fit.alpha, 0.05) && is_near(fit.beta, 0.000_4),
            "{fit:?}"
        );
        assert!(fit.r_squared > 0.999_999 && fit.residuals.iter().all(|rest| rest.abs() < 1e-9));
        let peak = fit.peak.expect("beta is above zero");
        assert!(is_near(peak.concurrency, (0.95_f64 / 0.000_4).sqrt()) && !peak.is_extrapolated);
        assert!(
            is_near(peak.throughput, law.at(peak.concurrency))
                && is_near(fit.at(16.0), law.at(16.0))
        );
        assert_eq!(fit.limit, None);
    }

    #[test]
    fn without_coherency_there_is_a_limit_and_no_peak() {
        let law = Law {
            gamma: 500.0,
            alpha: 0.1,
            beta: 0.0,
        };
        let fit = Usl::fit(&points(law, &USERS)).expect("eight points");
        assert!(fit.beta < 1e-9);
        assert!(fit.peak.is_none_or(|peak| peak.is_extrapolated));
        let linear: Vec<(f64, f64)> = USERS.iter().map(|users| (*users, 300.0 * users)).collect();
        let fit = Usl::fit(&linear).expect("eight points");
        assert!(
            is_near(fit.gamma, 300.0) && fit.alpha < 1e-9 && fit.beta < 1e-9,
            "{fit:?}"
        );
    }

    #[test]
    fn a_law_that_a_measurement_contradicts_is_withheld() {
        // Faster than linear, which the law does not know.
        let better: Vec<(f64, f64)> = USERS
            .iter()
            .map(|users| (*users, 100.0 * users.powf(1.2)))
            .collect();
        let refused = Usl::fit(&better).expect_err("one user is far from the line");
        assert!(
            matches!(refused, Refusal::Contradicted { users: 1.0, .. }),
            "{refused:?}"
        );
        assert!(
            refused
                .to_string()
                .starts_with("at 1 VUs 100/s were measured"),
            "{refused}"
        );
    }

    #[test]
    fn points_that_carry_no_fit_are_refused() {
        let law = Law {
            gamma: 1_000.0,
            alpha: 0.05,
            beta: 0.000_4,
        };
        assert_eq!(
            Usl::fit(&points(law, &[1.0, 2.0, 4.0])),
            Err(Refusal::TooFew { have: 3 })
        );
        assert_eq!(
            Usl::fit(&points(law, &[4.0, 4.0, 4.0, 16.0])),
            Err(Refusal::TooFew { have: 2 })
        );
        assert_eq!(
            Usl::fit(&points(law, &[4.0, 5.0, 6.0, 8.0])),
            Err(Refusal::TooNarrow { factor: 2.0 })
        );
        let silent = [(1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (8.0, 5.0)];
        assert_eq!(Usl::fit(&silent), Err(Refusal::TooFew { have: 1 }));
    }

    proptest! {
        #[test]
        fn noise_moves_the_law_little(
            gamma in 1.0_f64..1e5, alpha in 0.01_f64..0.3, beta in 0.0_f64..0.01, noise in prop::collection::vec(-0.02_f64..0.02, 8),
        ) {
            let law = Law { gamma, alpha, beta };
            let noisy: Vec<(f64, f64)> = points(law, &USERS).iter().zip(&noise).map(|((users, rate), noise)| (*users, rate * (1.0 + noise))).collect();
            let fit = Usl::fit(&noisy).expect("eight points");
            prop_assert!(fit.gamma > 0.0 && fit.alpha >= 0.0 && fit.beta >= 0.0);
            for users in USERS {
                prop_assert!((fit.at(users) / law.at(users) - 1.0).abs() < 0.04, "{:?}", fit);
            }
        }

        #[test]
        fn no_number_is_nan(points in prop::collection::vec((0.0_f64..1e5, 0.0_f64..1e7), 0..20)) {
            if let Ok(fit) = Usl::fit(&points) {
                let numbers = [fit.gamma, fit.alpha, fit.beta, fit.r_squared];
                prop_assert!(numbers.iter().chain(&fit.residuals).all(|number| number.is_finite()), "{:?}", fit);
                prop_assert!(fit.alpha >= 0.0 && fit.beta >= 0.0);
            }
        }
    }
}
