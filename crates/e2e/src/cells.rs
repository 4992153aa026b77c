//! Compares cells of a document with independent counts: raw samples, log lines, pages of metrics, the kernel.
//!
//! Must not know how a document is made. Invariant: a cell is correct if it differs from the count by at most
//! [`SHARE`] plus the rounding of its format.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::accounts::Watched;
use crate::clock;
use crate::testbed::Connection;

/// Maximum relative difference between a cell and the count.
pub const SHARE: f64 = 0.02;
/// Error of a rate over one second due to the kernel's ticks, on both sides.
const TICKS: f64 = 0.02;
/// Interval of reading a page.
const PAGE_EVERY: Duration = Duration::from_millis(50);
/// Maximum number of readings kept: enough for minutes.
const PAGES_MAX: usize = 6_000;

/// The first number of a cell.
///
/// # Panics
/// There is none.
#[must_use]
pub fn number(cell: &str) -> f64 {
    let start = cell
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or_else(|| panic!("no number in {cell:?}"));
    let digits: String = cell[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits
        .parse()
        .unwrap_or_else(|why| panic!("{cell:?}: {why}"))
}

/// The components of a cell with their numbers: `a = 1.5, b = 2`.
#[must_use]
pub fn list(cell: &str) -> Vec<(String, f64)> {
    let parts = cell.split(", ").filter_map(|part| part.split_once(" = "));
    parts
        .map(|(name, value)| (name.to_owned(), number(value)))
        .collect()
}

/// Compares a number in a cell with a count; `rounding` is half of the last digit of its format.
///
/// # Panics
/// They differ.
pub fn hold(what: &str, told: f64, counted: f64, rounding: f64) {
    hold_between(what, told, (counted, counted), rounding);
}

/// Compares a number in a cell with a count that lies between two values.
///
/// # Panics
/// They differ.
pub fn hold_between(what: &str, told: f64, (least, most): (f64, f64), rounding: f64) {
    let below = least - SHARE * least.abs() - rounding;
    let above = most + SHARE * most.abs() + rounding;
    assert!(
        (below..=above).contains(&told),
        "{what}: {told} is told, {least} to {most} were counted"
    );
}

/// The two samples between which a quantile lies, whatever its definition.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> (f64, f64) {
    let at = q * (sorted.len() as f64 - 1.0);
    let last = sorted.len().saturating_sub(1);
    let below = (at.floor() as usize).saturating_sub(1);
    let above = (at.ceil() as usize + 1).min(last);
    (sorted[below.min(last)], sorted[above])
}

/// The mean of samples.
#[must_use]
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// A column of comma-separated values, for selected lines.
///
/// # Panics
/// There is no such column, or it does not contain numbers.
#[must_use]
pub fn column(text: &str, name: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<f64> {
    let mut lines = text.lines();
    let head = lines.next().expect("a head");
    let at = head.split(',').position(|column| column == name);
    let at = at.unwrap_or_else(|| panic!("no column {name}: {head}"));
    let cells = lines
        .filter(|line| is_wanted(line))
        .map(|line| line.split(',').nth(at).and_then(|cell| cell.parse().ok()));
    cells
        .map(|cell: Option<f64>| cell.expect("a number"))
        .collect()
}

/// The start and end of a run's load, in seconds since 1970.
///
/// # Panics
/// The result does not contain them.
#[must_use]
pub fn load_of(result: &Value) -> (f64, f64) {
    let totals = &result["totals"];
    let began = totals["started_unix_ms"].as_f64().expect("a start") / 1e3;
    (
        began,
        began + totals["elapsed_ns"].as_f64().expect("a length") / 1e9,
    )
}

/// The points of a series, with times in seconds since 1970.
#[must_use]
pub fn points(result: &Value, observer: &str, component: &str, metric: &str) -> Vec<(f64, f64)> {
    let (began, _) = load_of(result);
    let all = result["observations"]["series"].as_array();
    let is_it = |one: &&Value| {
        one["observer"] == observer && one["component"] == component && one["metric"] == metric
    };
    let points = all.into_iter().flatten().find(is_it);
    let points = points.and_then(|series| series["points"].as_array());
    points
        .into_iter()
        .flatten()
        .filter_map(|point| Some((began + point[0].as_f64()? / 1e9, point[1].as_f64()?)))
        .collect()
}

/// Compares the maximum cores and bytes of a component under load, as in cells, with the kernel's counters of a
/// process between the same times. Bytes are in units of `unit`.
///
/// # Panics
/// They differ.
pub fn hold_process(
    result: &Value,
    (observer, component): (&str, &str),
    watched: &Watched,
    (cores, cores_rounding): (f64, f64),
    (bytes, bytes_rounding): (f64, f64),
) {
    let (from, to) = load_of(result);
    let is_under_load = |at: f64| (from..to).contains(&at);
    let looks = points(result, observer, component, "cpu_cores");
    let spans = looks.windows(2).filter(|pair| is_under_load(pair[1].0));
    let counted = spans
        .map(|pair| watched.cpu.grown(pair[0].0, pair[1].0) / (pair[1].0 - pair[0].0))
        .fold(0.0, f64::max);
    hold(
        &format!("CPU of {component}"),
        cores,
        counted,
        cores_rounding + TICKS,
    );
    let looks = points(result, observer, component, "memory_bytes");
    let looks = looks.into_iter().filter(|(at, _)| is_under_load(*at));
    let counted = looks
        .map(|(at, _)| watched.memory.at(at))
        .fold(0.0, f64::max);
    hold(
        &format!("memory of {component}"),
        bytes,
        counted,
        bytes_rounding,
    );
}

/// A page of metrics that is read repeatedly during a test.
pub struct PageWatch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<(f64, String)>>>,
}

/// The readings of a page.
pub struct Pages(Vec<(f64, String)>);

impl PageWatch {
    /// Starts reading; `url` has no path.
    #[must_use]
    pub fn start(url: String, path: &'static str) -> PageWatch {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let read = move || {
            let mut pages = Vec::new();
            while !told.load(Ordering::Relaxed) && pages.len() < PAGES_MAX {
                // Its server may be restarted.
                let page = Connection::try_to(&url)
                    .and_then(|mut connection| connection.try_ask("GET", path, ""));
                if let Ok(page) = page {
                    pages.push((clock::unix_s(), page.body));
                }
                clock::pause(PAGE_EVERY);
            }
            pages
        };
        PageWatch {
            stop,
            thread: Some(std::thread::spawn(read)),
        }
    }

    /// Stops, and returns the readings.
    ///
    /// # Panics
    /// Reading panicked.
    #[must_use]
    pub fn end(mut self) -> Pages {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it has not ended yet");
        Pages(thread.join().expect("it reads"))
    }
}

impl Drop for PageWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Pages {
    /// The quantile of a histogram over a period, as computed by PromQL's `histogram_quantile`.
    ///
    /// # Panics
    /// The page was not read on both sides of the period.
    #[must_use]
    pub fn quantile(&self, metric: &str, (from, to): (f64, f64), q: f64) -> f64 {
        let before = self.0.iter().rev().find(|(at, _)| *at <= from);
        let before = before.map(|(_, page)| buckets(page, metric));
        let after = self.0.iter().find(|(at, _)| *at >= to);
        let (_, after) = after.expect("the page was read afterwards");
        let mut grown: Vec<(f64, f64)> = buckets(after, metric)
            .into_iter()
            .map(|(bound, count)| {
                let known = before
                    .as_ref()
                    .and_then(|before| before.get(&bound).copied());
                (f64::from_bits(bound), count - known.unwrap_or_default())
            })
            .collect();
        grown.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = grown.last().expect("it has buckets").1;
        let wanted = q * all;
        let at = grown.partition_point(|(_, count)| *count < wanted);
        let (lower, below) = at.checked_sub(1).map_or((0.0, 0.0), |below| grown[below]);
        let (upper, count) = grown[at];
        lower + (upper - lower) * (wanted - below) / (count - below)
    }
}

/// The counts of a histogram's buckets by the bit patterns of their bounds, summed over all other labels.
fn buckets(page: &str, metric: &str) -> BTreeMap<u64, f64> {
    let mut counts = BTreeMap::new();
    let name = format!("{metric}_bucket");
    for line in page.lines().filter(|line| line.starts_with(&name)) {
        let bound = line
            .split("le=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let bound = bound.map(|bound| match bound {
            "+Inf" => f64::INFINITY,
            bound => bound.parse().expect("a bound is a number"),
        });
        let count = line
            .rsplit(' ')
            .next()
            .and_then(|count| count.parse::<f64>().ok());
        if let Some((bound, count)) = bound.zip(count) {
            *counts.entry(f64::to_bits(bound)).or_insert(0.0) += count;
        }
    }
    counts
}
