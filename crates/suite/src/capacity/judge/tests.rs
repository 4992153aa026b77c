//! Judgements of fictitious figures.
//!
//! Must not know how figures are measured. Invariant: each test varies one thing.

use super::*;

fn figures(times_ms: &[(u64, u64)]) -> Figures {
    let mut times = TimeTrend::new();
    for (ms, count) in times_ms {
        times.record_n(ms * 1_000_000, *count);
    }
    Figures::faultless(times)
}

fn outcome_of(slo: &str, figures: &Figures) -> Outcome {
    judge(&slo.parse().expect("objectives"), figures).outcome
}

const HELD: Outcome = Outcome::Held {
    sureness: Sureness::Sure,
};
const BROKE: Outcome = Outcome::Broke {
    sureness: Sureness::Sure,
};

#[test]
fn a_percentile_is_held_by_the_share_beyond_it() {
    for (slow, expected) in [
        (0, HELD),
        (20, HELD),
        (
            95,
            Outcome::Held {
                sureness: Sureness::Close,
            },
        ),
        (
            105,
            Outcome::Broke {
                sureness: Sureness::Close,
            },
        ),
        (300, BROKE),
    ] {
        let figures = figures(&[(10, 10_000 - slow), (300, slow)]);
        assert_eq!(outcome_of("p(99)<200ms", &figures), expected, "{slow}");
    }
}

#[test]
fn few_samples_decide_only_by_a_wide_margin() {
    let few = |slow| outcome_of("p(99)<200ms", &figures(&[(10, 300 - slow), (300, slow)]));
    assert_eq!(
        few(0),
        Outcome::Held {
            sureness: Sureness::Likely
        }
    );
    assert_eq!(
        few(2),
        Outcome::Inconclusive {
            why: Doubt::FewHeld
        }
    );
    assert_eq!(
        few(4),
        Outcome::Inconclusive {
            why: Doubt::FewBroke
        }
    );
    assert_eq!(few(60), BROKE);
}

#[test]
fn what_was_due_and_not_answered_is_too_late() {
    let late = Figures {
        unanswered: 500,
        ..figures(&[(10, 10_000)])
    };
    assert_eq!(outcome_of("p(99)<200ms", &late), BROKE);
    assert_eq!(outcome_of("max<1m", &late), BROKE);
    assert_eq!(outcome_of("med<200ms", &late), HELD);
}

#[test]
fn shares_are_held_as_written() {
    let wrong = |part| Figures {
        errors: CountOfTotal {
            part,
            whole: 100_000,
        },
        checks: CountOfTotal {
            part: 100_000 - part,
            whole: 100_000,
        },
        ..figures(&[(1, 100_000)])
    };
    for (slo, errors, expected) in [
        ("errors<0.1%", 0, HELD),
        ("errors<0.1%", 50, HELD),
        (
            "errors<0.1%",
            100,
            Outcome::Broke {
                sureness: Sureness::Close,
            },
        ),
        (
            "errors<=0.1%",
            100,
            Outcome::Held {
                sureness: Sureness::Close,
            },
        ),
        ("errors<0.1%", 200, BROKE),
        ("checks=100%", 0, HELD),
        ("checks=100%", 1, BROKE),
        ("errors=0%", 1, BROKE),
        ("checks>99%", 100, HELD),
        ("checks>99%", 2_000, BROKE),
    ] {
        assert_eq!(outcome_of(slo, &wrong(errors)), expected, "{slo} {errors}");
    }
}

#[test]
fn means_and_extremes() {
    let figures = figures(&[(10, 5_000), (30, 5_000)]);
    for (slo, expected) in [
        ("avg<21ms", HELD),
        ("avg<19ms", BROKE),
        (
            "avg<20.1ms",
            Outcome::Held {
                sureness: Sureness::Close,
            },
        ),
        ("max<=30ms", HELD),
        ("max<30ms", BROKE),
        ("min<11ms", HELD),
    ] {
        assert_eq!(outcome_of(slo, &figures), expected, "{slo}");
    }
}

#[test]
fn the_generator_is_told_apart_from_the_target() {
    let slow = |limit| Figures {
        limit,
        ..figures(&[(300, 10_000)])
    };
    let of = |limit| outcome_of("p(99)<200ms", &slow(limit));
    assert_eq!(of(Limit::Target), BROKE);
    assert_eq!(
        of(Limit::Generator),
        Outcome::Inconclusive {
            why: Doubt::Generator
        }
    );
    assert_eq!(of(Limit::Plan), Outcome::Inconclusive { why: Doubt::Plan });
}

#[test]
fn a_late_generator_says_nothing_of_the_target() {
    let slow = |limit, lag_ms: u64, is_shared| Figures {
        limit,
        lag_p99_ns: lag_ms * 1_000_000,
        is_shared,
        ..figures(&[(300, 10_000)])
    };
    let of = |figures| outcome_of("p(99)<200ms", &figures);
    let void = Outcome::Inconclusive {
        why: Doubt::Generator,
    };
    assert_eq!(of(slow(Limit::Nobody, 30, false)), void);
    assert_eq!(of(slow(Limit::Nobody, 2, false)), BROKE);
    assert_eq!(of(slow(Limit::Target, 30, false)), BROKE, "weighed already");
    assert_eq!(of(slow(Limit::Target, 30, true)), void);
    assert_eq!(
        outcome_of("p(99)<2s", &slow(Limit::Nobody, 300, false)),
        HELD
    );
}

#[test]
fn a_load_that_piles_up_is_not_carried_however_fast_its_answers() {
    let piling = |piled_up| Figures {
        piled_up: Some(piled_up),
        ..figures(&[(10, 10_000)])
    };
    assert_eq!(outcome_of("p(99)<2s", &piling(0.01)), HELD);
    assert_eq!(
        outcome_of("p(99)<2s", &piling(0.03)),
        Outcome::Broke {
            sureness: Sureness::Close
        }
    );
    assert_eq!(outcome_of("p(99)<2s", &piling(0.1)), BROKE);
    let missing = Figures {
        is_delivered: false,
        ..figures(&[(10, 10_000)])
    };
    let judgement = judge(&"p(99)<2s".parse().expect("objectives"), &missing);
    assert_eq!(judgement.outcome, BROKE);
    assert_eq!(
        judgement.not_carried.as_deref(),
        Some("the offered load was not delivered")
    );
}

#[test]
fn a_target_has_recovered_unless_it_surely_has_not() {
    let slo: Slo = "p(99)<200ms".parse().expect("objectives");
    let look = |figures: &Figures| Look::of(&slo, figures);
    assert_eq!(look(&figures(&[(10, 59), (300, 1)])), Look::Recovered);
    let slow = Figures {
        throughput: 2.0,
        ..figures(&[(300, 60)])
    };
    assert_eq!(look(&slow), Look::NotYet);
    let none = Figures {
        throughput: 0.0,
        ..figures(&[])
    };
    assert_eq!(look(&none), Look::Silent);
}

#[test]
fn of_several_distributions_the_worst_decides() {
    let mut both = figures(&[(10, 10_000)]);
    both.times.extend(figures(&[(300, 10_000)]).times);
    assert_eq!(outcome_of("p(99)<200ms", &both), BROKE);
    let empty = figures(&[]);
    assert!(matches!(
        outcome_of("p(99)<200ms", &empty),
        Outcome::Inconclusive { .. }
    ));
}

#[test]
fn intervals_meet_the_textbook() {
    // Newcombe (1998), table I: 81 of 263 is 0.2553 to 0.3662.
    let (low, high) = wilson(81.0 / 263.0, 263.0);
    assert!(
        (low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4,
        "{low} {high}"
    );
}
