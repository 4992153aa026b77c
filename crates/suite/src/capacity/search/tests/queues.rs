//! Validation tests: for queues with many servers and known theory, the search finds the theoretical capacity.
//!
//! Arrivals are a Poisson process and service times exponential (M/M/k), simulated request by request, so
//! probes have the noise and autocorrelation of real ones.

use loadline_metric::TimeTrend;
use loadline_model::Nanos;
use loadline_model::result::Row;
use loadline_sim::{Law, Server, ServerPlan};

use super::super::super::answer::Capacity;
use super::super::super::figures::{Figures, piled_up};
use super::super::super::slo::Slo;
use super::*;

const NS: f64 = 1e9;

/// A queue with its law.
#[derive(Clone, Copy)]
struct Queue {
    servers: u32,
    mean_s: f64,
}

impl Queue {
    /// The chance to wait (Erlang's C formula), by the recurrence of his B formula.
    fn chance_to_wait(self, rate: f64) -> f64 {
        let load = rate * self.mean_s;
        let blocked = (1..=self.servers).fold(1.0, |blocked, servers| {
            load * blocked / (f64::from(servers) + load * blocked)
        });
        let servers = f64::from(self.servers);
        servers * blocked / (servers - load * (1.0 - blocked))
    }

    /// The probability that a request takes longer from arrival to response (D. Gross and C. Harris, Fundamentals of
    /// Queueing Theory, section 2.3).
    fn chance_beyond(self, rate: f64, seconds: f64) -> f64 {
        let load = rate * self.mean_s;
        let spare = f64::from(self.servers) - 1.0 - load;
        let service = (-seconds / self.mean_s).exp();
        let waiting = if spare.abs() < 1e-9 {
            seconds / self.mean_s
        } else {
            (1.0 - (-spare * seconds / self.mean_s).exp()) / spare
        };
        service * (1.0 + self.chance_to_wait(rate) * waiting)
    }

    /// The highest rate at which a percentile is within a bound.
    fn capacity(self, percentile: f64, seconds: f64) -> f64 {
        let (mut low, mut high) = (0.0, f64::from(self.servers) / self.mean_s);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            match self.chance_beyond(middle, seconds) <= 1.0 - percentile / 100.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }

    /// What a probe of a rate measures.
    fn probe(self, order: &Order, seed: u64) -> Figures {
        let law = Law::Exponential {
            mean_ns: self.mean_s * NS,
        };
        let gaps = Law::Exponential {
            mean_ns: NS / order.rate,
        };
        let mut random = seeded(seed);
        let mut server = Server::new(ServerPlan::new(law, self.servers, seed ^ 0x5eed));
        let end = order.length().as_secs_f64() * NS;
        let mut times = TimeTrend::new();
        let mut spans = Vec::new();
        let mut at = gaps.draw(&mut random);
        while (at as f64) < end {
            let done = server.submit(Nanos(at)).at.0;
            spans.push((at, done));
            if at as f64 >= order.warm_up.as_secs_f64() * NS {
                times.record(done - at);
            }
            at += gaps.draw(&mut random);
        }
        figures(times, &rows(order, &spans))
    }
}

/// The seconds of a probe with the requests in flight at their ends.
fn rows(order: &Order, spans: &[(u64, u64)]) -> Vec<Row> {
    const SECOND: u64 = 1_000_000_000;
    let count = order.length().as_secs() as usize;
    let (mut offered, mut begun_less_done) = (vec![0_u64; count], vec![0_i64; count]);
    for (at, done) in spans {
        let (begun_in, done_in) = ((at / SECOND) as usize, (done / SECOND) as usize);
        if begun_in < count {
            offered[begun_in] += 1;
            begun_less_done[begun_in] += 1;
        }
        if done_in < count {
            begun_less_done[done_in] -= 1;
        }
    }
    let mut under_way = 0;
    let warm_up = order.warm_up.as_nanos() as u64;
    let row = |number: usize| {
        under_way += begun_less_done[number];
        Row {
            at_ns: number as u64 * SECOND,
            span_ns: SECOND,
            offered: Some(offered[number]),
            active_vus: u64::try_from(under_way).unwrap_or(0),
            warm_up: (number as u64) * SECOND < warm_up,
            ..Row::default()
        }
    };
    (0..count).map(row).collect()
}

fn figures(times: TimeTrend, rows: &[Row]) -> Figures {
    Figures {
        throughput: 0.0,
        piled_up: piled_up(rows),
        ..Figures::faultless(times)
    }
}

fn seeded(seed: u64) -> rand_xoshiro::Xoshiro256PlusPlus {
    use rand_xoshiro::rand_core::SeedableRng;
    rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// What a search finds, as the middle of its interval over the truth.
fn found(queue: Queue, bound_ms: u32, seed: u64) -> (f64, usize) {
    let slo: Slo = format!("p(99)<{bound_ms}ms").parse().expect("objectives");
    let mut probes = 0;
    let answer = run(settings(), |order| {
        probes += 1;
        Report::of(&slo, &queue.probe(order, seed * 1_000 + probes))
    });
    let Capacity::Between { held, broke } = answer.capacity else {
        panic!("{:?}", answer.capacity);
    };
    let truth = queue.capacity(99.0, f64::from(bound_ms) / 1e3);
    (f64::midpoint(held, broke) / truth, answer.probes.len())
}

#[test]
fn the_formula_meets_the_single_server_and_the_tables() {
    let one = Queue {
        servers: 1,
        mean_s: 0.01,
    };
    // With one server the sojourn time is exponential with rate 1 / mean - rate.
    assert!((one.chance_beyond(50.0, 0.1) - (-5.0_f64).exp()).abs() < 1e-12);
    assert!((one.capacity(99.0, 0.1) - (100.0 - 100.0_f64.ln() / 0.1)).abs() < 1e-6);
    // Erlang C of 20 servers under 16 erlang is 0.2561.
    let twenty = Queue {
        servers: 20,
        mean_s: 1.0,
    };
    assert!(
        (twenty.chance_to_wait(16.0) - 0.2561).abs() < 1e-4,
        "{}",
        twenty.chance_to_wait(16.0)
    );
}

#[test]
fn capacities_are_those_of_theory() {
    for (servers, mean_s, bound_ms) in [
        (1, 0.002, 20),
        (1, 0.002, 60),
        (4, 0.01, 80),
        (4, 0.01, 200),
        (20, 0.05, 300),
        (20, 0.05, 400),
    ] {
        let queue = Queue { servers, mean_s };
        let mut errors: Vec<f64> = (1..=5)
            .map(|seed| {
                let (ratio, probes) = found(queue, bound_ms, seed);
                assert!(
                    probes <= 45,
                    "{servers} servers, {bound_ms} ms: {probes} probes"
                );
                ratio - 1.0
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        let worst = errors
            .iter()
            .fold(0.0_f64, |worst, error| worst.max(error.abs()));
        assert!(worst < 0.05, "{servers} servers, {bound_ms} ms: {errors:?}");
    }
}
