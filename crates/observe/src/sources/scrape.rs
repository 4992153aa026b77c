//! `scrape`: a metrics page in the text format of Prometheus.
//!
//! Must not know who serves the page. Invariant: counter resets cause neither negative rates nor jumps.

mod history;
mod metric;

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::observation::RunWindow;
use regex::Regex;

use super::{Counter, Source, Tick};
use crate::parse::exposition::{MetricsPage, Sample, parse};
use crate::readings::{Gap, Readings};
use crate::spec::ScrapeSettings;
use crate::web::Client;
use metric::{Metric, MetricShape, SamplePart, part_of, shape_of};

/// Maximum components per page.
const COMPONENTS_MAX: usize = crate::spec::COMPONENTS_MAX;
/// Maximum histograms whose whole run is kept, for its quantiles.
const HISTORIES_MAX: usize = 64;

/// Reads a page of metrics.
pub(super) struct ScrapeSource {
    page: PageReader,
    /// By component.
    metrics: BTreeMap<String, Metric>,
    left_out: bool,
    /// When the last page arrived.
    last_unix_ns: Option<u64>,
}

/// Fetches a page and selects the wanted samples.
struct PageReader {
    settings: ScrapeSettings,
    client: Client,
    filters: Vec<(String, Filter)>,
    /// The detected shapes of the metrics, in their order.
    shapes: Vec<Option<MetricShape>>,
}

/// The required value of a label.
enum Filter {
    Equals(String),
    Matches(Regex),
}

impl ScrapeSource {
    pub(super) fn new(
        settings: &ScrapeSettings,
        timeout: Duration,
    ) -> Result<ScrapeSource, String> {
        Ok(ScrapeSource {
            page: PageReader::new(settings, timeout)?,
            metrics: BTreeMap::new(),
            left_out: false,
            last_unix_ns: None,
        })
    }

    fn take(&mut self, page: &MetricsPage<'_>, observer: &str) {
        for (index, name) in self.page.settings.metric.iter().enumerate() {
            let Some(shape) = self.page.shapes[index] else {
                continue;
            };
            for sample in &page.samples {
                let Some(part) = part_of(sample, name, shape) else {
                    continue;
                };
                let component = self.page.component(sample, name, observer);
                if !self.metrics.contains_key(&component) && self.metrics.len() >= COMPONENTS_MAX {
                    self.left_out = true;
                    continue;
                }
                let keeps_history = self.metrics.len() < HISTORIES_MAX;
                let metric = self.metrics.entry(component);
                let metric = metric.or_insert_with(|| Metric::new(shape, keeps_history));
                metric.put(part, series_key(sample), sample.value);
            }
        }
    }
}

impl Source for ScrapeSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let text = self.page.get()?;
        // Rates are computed between the times at which pages arrived.
        let now = tick.clock.unix_ns();
        readings.read_at(now);
        let observer = readings.observer();
        let page = self.page.pick(&text)?;
        self.take(&page, &observer);
        let absent = self.page.absent(&page);
        let since = self.last_unix_ns.replace(now);
        for (component, metric) in &mut self.metrics {
            metric.tell(component, since, now, readings);
        }
        for name in &absent {
            readings.missing(&observer, without(name));
        }
        if self.left_out {
            let text = format!(
                "the page has more than {COMPONENTS_MAX} components; the others are left out"
            );
            readings.missing(&observer, text);
        }
        match absent.len() == self.page.settings.metric.len() {
            true => Err(Gap(without(&absent.join(", ")))),
            false => Ok(()),
        }
    }

    fn conclude(&mut self, window: &RunWindow, readings: &mut Readings) -> Result<(), Gap> {
        for (component, metric) in &self.metrics {
            metric.conclude(component, window, readings);
        }
        Ok(())
    }
}

/// The sum of a metric's series, as a stage of a pipeline.
pub(super) struct ScrapeCounter {
    page: PageReader,
}

impl ScrapeCounter {
    pub(super) fn new(
        settings: &ScrapeSettings,
        timeout: Duration,
    ) -> Result<ScrapeCounter, String> {
        Ok(ScrapeCounter {
            page: PageReader::new(settings, timeout)?,
        })
    }
}

impl Counter for ScrapeCounter {
    fn totals(&mut self, _: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
        let text = self.page.get()?;
        let page = self.page.pick(&text)?;
        let mut totals = Vec::new();
        for (index, name) in self.page.settings.metric.iter().enumerate() {
            let Some(shape) = self.page.shapes[index] else {
                continue;
            };
            for sample in &page.samples {
                let counts = matches!(
                    part_of(sample, name, shape),
                    Some(SamplePart::Value | SamplePart::Count)
                );
                if counts && sample.value.is_finite() {
                    let key = format!("{}{}", sample.name, series_key(sample));
                    totals.push((key, sample.value));
                }
            }
        }
        Ok(totals)
    }

    fn absent(&self) -> String {
        without(&self.page.settings.metric.join(", "))
    }
}

fn without(metrics: &str) -> String {
    format!("the page has no metric {metrics} with these labels")
}

impl PageReader {
    fn new(settings: &ScrapeSettings, timeout: Duration) -> Result<PageReader, String> {
        let filters = settings.labels.iter().map(|(name, value)| {
            let filter = match value.strip_prefix('~') {
                // A pattern must match the whole value, as in PromQL.
                Some(pattern) => {
                    Filter::Matches(crate::parse::pattern(&format!("^(?:{pattern})$"))?)
                }
                None => Filter::Equals(value.clone()),
            };
            Ok((name.clone(), filter))
        });
        Ok(PageReader {
            filters: filters.collect::<Result<_, String>>()?,
            client: Client::new(&settings.url, &settings.access, timeout)?,
            shapes: vec![None; settings.metric.len()],
            settings: settings.clone(),
        })
    }

    fn get(&self) -> Result<String, Gap> {
        self.client.get(&self.settings.url)
    }

    /// Selects the wanted samples; detects the shapes of metrics.
    fn pick<'a>(&mut self, text: &'a str) -> Result<MetricsPage<'a>, Gap> {
        let names = &self.settings.metric;
        let mut page = parse(text, |name| {
            let mut names = names.iter();
            names.any(|wanted| {
                let behind = name.strip_prefix(wanted.as_str());
                behind.is_some_and(|behind| {
                    matches!(behind, "" | "_bucket" | "_count" | "_sum" | "_total")
                })
            })
        });
        page.samples.retain(|sample| {
            self.filters.iter().all(|(name, filter)| {
                let value = sample.label(name).unwrap_or_default();
                match filter {
                    Filter::Equals(wanted) => value == wanted,
                    Filter::Matches(pattern) => pattern.is_match(value),
                }
            })
        });
        if page.samples.is_empty() && page.bad_lines > 0 {
            return Err(Gap(format!(
                "the page is not in the text format of metrics: {}",
                crate::parse::shown(text)
            )));
        }
        for (index, name) in names.iter().enumerate() {
            if self.shapes[index].is_none() {
                self.shapes[index] = shape_of(name, &page, &self.settings);
            }
        }
        Ok(page)
    }

    /// Metrics that the page does not have.
    fn absent(&self, page: &MetricsPage<'_>) -> Vec<&str> {
        let names = self.settings.metric.iter().zip(&self.shapes);
        let absent = names.filter(|(name, shape)| {
            let has = |shape: MetricShape| {
                page.samples
                    .iter()
                    .any(|s| part_of(s, name, shape).is_some())
            };
            !shape.is_some_and(has)
        });
        absent.map(|(name, _)| name.as_str()).collect()
    }

    /// The component of a sample, from the labels in `by`.
    fn component(&self, sample: &Sample<'_>, metric: &str, observer: &str) -> String {
        let by = &self.settings.by;
        let labels = match by.as_slice() {
            [] => String::new(),
            [all] if all == "*" => all_labels(sample),
            [one] => sample.label(one).unwrap_or_default().to_owned(),
            several => {
                let values = several
                    .iter()
                    .map(|name| sample.label(name).unwrap_or_default());
                values.collect::<Vec<_>>().join(",")
            }
        };
        match (self.settings.metric.len() > 1, labels.is_empty()) {
            (false, true) => observer.to_owned(),
            (false, false) => labels,
            (true, true) => metric.to_owned(),
            (true, false) => format!("{metric} {labels}"),
        }
    }
}

/// The labels that distinguish series, without those that distinguish parts of one series.
fn all_labels(sample: &Sample<'_>) -> String {
    let labels = sample.labels.iter();
    let labels = labels.filter(|(name, _)| !matches!(&**name, "le" | "quantile"));
    let mut pairs: Vec<String> = labels
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.sort_unstable();
    pairs.join(",")
}

/// Identifies a series across pages.
fn series_key(sample: &Sample<'_>) -> String {
    all_labels(sample)
}

#[cfg(test)]
mod tests;
