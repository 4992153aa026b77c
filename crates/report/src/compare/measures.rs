//! What is compared: each measure with its unit, the better direction, its value for a whole run, and, if
//! available, its value in each second.
//!
//! Must not know how values are compared. Invariant: an identifier names one measure.

use loadline_model::ErrorClass;
use loadline_model::rates::steady_rows;
use loadline_model::result::{Percentiles, Row, RunResult, TimeMetric};

use super::numbers::Unit;
use super::{Better, Side, answers};

type Whole<'a> = Box<dyn Fn(&RunResult) -> Option<f64> + 'a>;
type Second = fn(&Row) -> Option<f64>;

/// Something that every result may have.
pub(super) struct Measure<'a> {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) better: Better,
    whole: Whole<'a>,
    /// Its value in a second, and how many responses a second needs on average for it.
    second: Option<(Second, f64)>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(
        id: impl Into<String>,
        label: impl Into<String>,
        (unit, better): (Unit, Better),
        whole: impl Fn(&RunResult) -> Option<f64> + 'a,
    ) -> Measure<'a> {
        Measure {
            id: id.into(),
            label: label.into(),
            unit,
            better,
            whole: Box::new(whole),
            second: None,
        }
    }

    /// With its values per second, if seconds have at least this many responses on average.
    fn by_second(mut self, answers_min: f64, second: Second) -> Measure<'a> {
        self.second = Some((second, answers_min));
        self
    }

    /// Whether it is compared with its own spread.
    pub(super) fn is_tested(&self) -> bool {
        self.second.is_some()
    }

    pub(super) fn value_of(&self, result: &RunResult) -> Option<f64> {
        (self.whole)(result).filter(|value| value.is_finite())
    }

    /// Its values in the steady seconds; `None` if seconds have too few responses, or no value.
    pub(super) fn series_of(&self, result: &RunResult) -> Option<Vec<f64>> {
        let (second, answers_min) = self.second?;
        let rows = steady_rows(&result.plan, &result.series);
        let answers: u64 = rows.iter().map(|row| row.completed + row.failed).sum();
        if rows.is_empty() || (answers as f64) < answers_min * rows.len() as f64 {
            return None;
        }
        rows.into_iter().map(second).collect()
    }
}

/// All measures by section, for the results at hand.
pub(super) fn all<'a>(sides: &[Side<'a>]) -> Vec<(&'static str, Vec<Measure<'a>>)> {
    vec![
        ("Rates", rates()),
        ("Service time", service_time()),
        ("Response time", response_time()),
        ("Failures", failures(sides)),
        ("Responses by shape", answers::shapes(sides)),
        ("Checks", answers::checks(sides)),
        ("Script metrics", answers::metrics(sides)),
        ("Generator", generator()),
    ]
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn rates<'a>() -> Vec<Measure<'a>> {
    const RATE: (Unit, Better) = (Unit::Rate, Better::Higher);
    vec![
        Measure::new("goodput", "Goodput", RATE, |run| {
            Some(run.totals.rates.goodput)
        })
        .by_second(0.0, |row| row.per_second(row.good)),
        // Not tested: it would only repeat what goodput and failures say.
        Measure::new("rps", "Throughput", RATE, |run| {
            Some(run.totals.rates.average)
        }),
        Measure::new("steady_rps", "  in steady state", RATE, |run| {
            run.totals.rates.steady
        }),
        Measure::new("offered", "Offered", (Unit::Rate, Better::Neither), |run| {
            run.totals.rates.offered
        }),
        Measure::new(
            "delivered",
            "Delivered",
            (Unit::Share, Better::Higher),
            RunResult::delivered_share,
        ),
    ]
}

/// Responses that a second needs for its own percentile to be meaningful: two beyond it.
const FOR_P50: f64 = 10.0;
const FOR_P90: f64 = 20.0;
const FOR_P95: f64 = 40.0;
const FOR_P99: f64 = 200.0;

fn service_time<'a>() -> Vec<Measure<'a>> {
    let [p50, p90, p95, p99, p99_9, max, mean] = times("service_time");
    vec![
        p50.by_second(FOR_P50, |row| row.service_time_ns.map(|of| of.p50 as f64)),
        p90.by_second(FOR_P90, |row| row.service_time_ns.map(|of| of.p90 as f64)),
        p95.by_second(FOR_P95, |row| p95_of(row.service_time_ns)),
        p99.by_second(FOR_P99, |row| row.service_time_ns.map(|of| of.p99 as f64)),
        p99_9,
        max,
        mean,
    ]
}

fn response_time<'a>() -> Vec<Measure<'a>> {
    let [p50, p90, p95, p99, p99_9, max, mean] = times("response_time");
    vec![
        p50.by_second(FOR_P50, |row| row.response_time_ns.map(|of| of.p50 as f64)),
        p90.by_second(FOR_P90, |row| row.response_time_ns.map(|of| of.p90 as f64)),
        p95.by_second(FOR_P95, |row| p95_of(row.response_time_ns)),
        p99.by_second(FOR_P99, |row| row.response_time_ns.map(|of| of.p99 as f64)),
        p99_9,
        max,
        mean,
    ]
}

fn p95_of(times: Option<Percentiles>) -> Option<f64> {
    times.and_then(|of| of.p95).map(|ns| ns as f64)
}

/// Percentiles, largest and mean of a time metric of whole runs.
fn times<'a>(metric: &'static str) -> [Measure<'a>; 7] {
    type Part = fn(&TimeMetric) -> Option<u64>;
    let parts: [(&str, Part); 7] = [
        ("p50", |of| of.p50),
        ("p90", |of| of.p90),
        ("p95", |of| of.p95),
        ("p99", |of| of.p99),
        ("p99.9", |of| of.p99_9),
        ("max", |of| of.max),
        ("mean", |of| of.mean),
    ];
    parts.map(|(name, part)| {
        Measure::new(
            format!("{metric}.{name}"),
            name,
            (Unit::Span, Better::Lower),
            move |run| {
                let metric = run.times(&format!("{metric}_ns"))?;
                part(metric).map(|ns| ns as f64)
            },
        )
    })
}

fn failures<'a>(sides: &[Side<'a>]) -> Vec<Measure<'a>> {
    const SHARE: (Unit, Better) = (Unit::Share, Better::Lower);
    let mut all = vec![
        Measure::new("errors", "Failed or wrong", SHARE, |run| {
            run.totals.seen.counts.outcomes().error_share()
        })
        .by_second(1.0, |row| row.outcomes().error_share()),
        Measure::new("wrong", "Responses not good", SHARE, |run| {
            run.totals.seen.counts.outcomes().wrong_share()
        })
        .by_second(1.0, |row| row.outcomes().wrong_share()),
        Measure::new("failed", "Failed requests", SHARE, |run| {
            run.totals.seen.counts.outcomes().failed_share()
        })
        .by_second(1.0, |row| row.outcomes().failed_share()),
    ];
    let failed_of = |class: ErrorClass| {
        let mut runs = sides.iter().flat_map(|side| &side.runs);
        runs.any(|run| run.totals.seen.counts.failed[class.index()] > 0)
    };
    for class in ErrorClass::ALL
        .iter()
        .copied()
        .filter(|class| failed_of(*class))
    {
        let id = format!("errors.{}", class.name());
        let label = format!("  {}", class.name());
        all.push(Measure::new(id, label, SHARE, move |run| {
            let counts = &run.totals.seen.counts;
            share(counts.failed[class.index()], counts.outcomes().done())
        }));
    }
    all.push(Measure::new(
        "dropped",
        "Dropped iterations",
        (Unit::Count, Better::Lower),
        |run| {
            run.plan
                .is_open()
                .then_some(run.totals.seen.counts.dropped as f64)
        },
    ));
    all
}

/// In a shorter run, startup dominates the resource use.
const CPU_SPAN_MIN_NS: u64 = 100_000_000;

fn generator<'a>() -> Vec<Measure<'a>> {
    let cpu = |run: &RunResult| {
        let cores = run.totals.cpu_cores();
        cores.filter(|_| run.totals.elapsed_ns >= CPU_SPAN_MIN_NS)
    };
    vec![
        Measure::new("cpu", "CPU", (Unit::Cores, Better::Lower), cpu)
            .by_second(0.0, |row| Some(row.generator.cpu_cores)),
        Measure::new(
            "cpu_per_request",
            "CPU per request",
            (Unit::Span, Better::Lower),
            |run| run.totals.cpu_per_request_ns(),
        ),
        Measure::new("rss", "Peak memory", (Unit::Size, Better::Lower), |run| {
            let bytes = run.totals.rss_max_bytes;
            (bytes > 0).then_some(bytes as f64)
        }),
        Measure::new(
            "lag",
            "Schedule lag p99",
            (Unit::Span, Better::Lower),
            |run| {
                let lag = &run.totals.seen.schedule_lag;
                lag.quantile(0.99)
            },
        ),
    ]
}
