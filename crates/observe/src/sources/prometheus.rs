//! `prometheus`: queries in PromQL, at each interval or after the run.
//!
//! Must not know what a query means. Invariant: a query without a result is a gap.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_http::encoded;
use loadline_model::observation::RunWindow;

use super::{Counter, Source, Tick};
use crate::conduct::steady_or_all;
use crate::parse::placeholders::{Times, asks_about_steady, expand, seconds};
use crate::parse::prometheus::{LabelledReading, parse_answer};
use crate::readings::{Gap, Readings};
use crate::spec::{PrometheusSettings, QueryMode};
use crate::web::Client;

/// A query over a whole run may take longer than a look.
const CONCLUDE_TIMEOUT_MIN: Duration = Duration::from_secs(30);
/// Points requested per series (the server's own limit is 11,000).
const POINTS_MAX: u64 = 10_000;
/// Maximum series per query.
const SERIES_MAX: usize = crate::spec::COMPONENTS_MAX;

/// Asks a Prometheus server.
pub(super) struct PrometheusSource {
    settings: PrometheusSettings,
    mode: QueryMode,
    step: Duration,
    client: Client,
    /// The client for queries over the whole run.
    patient: Client,
    has_answered: bool,
}

impl PrometheusSource {
    pub(super) fn new(
        settings: &PrometheusSettings,
        interval: Duration,
        timeout: Duration,
    ) -> Result<PrometheusSource, String> {
        let client = |timeout| Client::new(&settings.url, &settings.access, timeout);
        Ok(PrometheusSource {
            mode: settings.mode(),
            step: settings.step.unwrap_or(interval),
            client: client(timeout)?,
            patient: client(timeout.max(CONCLUDE_TIMEOUT_MIN))?,
            settings: settings.clone(),
            has_answered: false,
        })
    }

    fn over_the_run(&self, query: &str, window: &RunWindow) -> Result<Vec<LabelledReading>, Gap> {
        let (from, to) = (window.start_unix_ns, window.end_unix_ns);
        let span_ms = to.saturating_sub(from) / 1_000_000;
        let step_ms = self
            .step
            .as_millis()
            .max(u128::from(span_ms / POINTS_MAX))
            .max(1);
        let url = format!(
            "{}?query={}&start={}&end={}&step={}",
            endpoint(&self.settings.url, "query_range"),
            encoded(query),
            seconds(from),
            seconds(to),
            step_ms as f64 / 1e3
        );
        found(&self.patient, &url)
    }

    fn at_the_end(
        &self,
        query: &str,
        window: &RunWindow,
    ) -> Result<(u64, Vec<LabelledReading>), Gap> {
        let end = match asks_about_steady(&self.settings.query) {
            true => steady_or_all(window).1,
            false => window.end_unix_ns,
        };
        let found = found(
            &self.patient,
            &instant_url(&self.settings.url, query, Some(end)),
        )?;
        Ok((end, found))
    }
}

impl Source for PrometheusSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        if self.mode != QueryMode::Instant {
            // Whether such a server exists is checked once, while it can still be fixed.
            if !self.has_answered {
                found(
                    &self.client,
                    &instant_url(&self.settings.url, "vector(1)", None),
                )?;
                self.has_answered = true;
            }
            return Ok(());
        }
        let url = instant_url(&self.settings.url, &self.settings.query, None);
        let all = found(&self.client, &url)?;
        readings.read_at(tick.clock.unix_ns());
        let metric = &self.settings.metric;
        let mut is_empty = true;
        for (component, (_, value)) in last_points(&all, readings) {
            readings.put(&component, metric, value);
            is_empty = false;
        }
        match is_empty {
            true => Err(Gap::new("the query gives no value")),
            false => Ok(()),
        }
    }

    fn conclude(&mut self, window: &RunWindow, readings: &mut Readings) -> Result<(), Gap> {
        if self.mode == QueryMode::Instant {
            return Ok(());
        }
        wait(self.settings.settle);
        let query = expand(&self.settings.query, &times(window)).map_err(Gap)?;
        let metric = self.settings.metric.clone();
        let mut is_empty = true;
        if self.mode == QueryMode::Range {
            let all = self.over_the_run(&query, window)?;
            for (component, found) in components(&all, readings) {
                for (at_unix_ns, value) in &found.points {
                    readings.put_at(*at_unix_ns, &component, &metric, *value);
                    is_empty = false;
                }
            }
        } else {
            let (end, all) = self.at_the_end(&query, window)?;
            for (component, (_, value)) in last_points(&all, readings) {
                // The end of a span is not part of it.
                readings.put_at(end.saturating_sub(1), &component, &metric, value);
                is_empty = false;
            }
        }
        match is_empty {
            true => Err(Gap::new("the query over the run gives no value")),
            false => Ok(()),
        }
    }
}

/// The sum of a query's results, as a stage of a pipeline.
pub(super) struct PrometheusCounter {
    url: String,
    client: Client,
}

impl PrometheusCounter {
    pub(super) fn new(
        settings: &PrometheusSettings,
        timeout: Duration,
    ) -> Result<PrometheusCounter, String> {
        Ok(PrometheusCounter {
            url: instant_url(&settings.url, &settings.query, None),
            client: Client::new(&settings.url, &settings.access, timeout)?,
        })
    }
}

impl Counter for PrometheusCounter {
    fn totals(&mut self, _: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
        let all = found(&self.client, &self.url)?;
        let last = all.into_iter().filter_map(|found| {
            let (_, value) = found.points.last()?;
            Some((format!("{:?}", found.labels), *value))
        });
        Ok(last.collect())
    }

    fn absent(&self) -> String {
        "the query gives no value".to_owned()
    }
}

fn found(client: &Client, url: &str) -> Result<Vec<LabelledReading>, Gap> {
    let (status, text) = client.ask(url)?;
    parse_answer(status, &text).map_err(Gap)
}

fn endpoint(url: &str, name: &str) -> String {
    format!("{}/api/v1/{name}", url.trim_end_matches('/'))
}

fn instant_url(url: &str, query: &str, at_unix_ns: Option<u64>) -> String {
    let time = at_unix_ns.map_or_else(String::new, |at| format!("&time={}", seconds(at)));
    format!("{}?query={}{time}", endpoint(url, "query"), encoded(query))
}

fn times(window: &RunWindow) -> Times {
    let (steady_start_unix_ns, steady_end_unix_ns) = steady_or_all(window);
    Times {
        start_unix_ns: window.start_unix_ns,
        end_unix_ns: window.end_unix_ns,
        steady_start_unix_ns,
        steady_end_unix_ns,
    }
}

/// Results with the names of their components, up to the limit.
fn components<'a>(
    all: &'a [LabelledReading],
    readings: &mut Readings,
) -> Vec<(String, &'a LabelledReading)> {
    let observer = readings.observer();
    if all.len() > SERIES_MAX {
        let text = format!(
            "the query gives {} series; {SERIES_MAX} are kept",
            all.len()
        );
        readings.missing(&observer, text);
    }
    let named = all.iter().take(SERIES_MAX).map(|found| {
        let component = found.component().unwrap_or_else(|| observer.to_string());
        (component, found)
    });
    named.collect()
}

/// The last point of each component.
fn last_points(all: &[LabelledReading], readings: &mut Readings) -> BTreeMap<String, (u64, f64)> {
    let named = components(all, readings).into_iter();
    named
        .filter_map(|(component, found)| Some((component, *found.points.last()?)))
        .collect()
}

/// Waits without doing anything.
fn wait(span: Duration) {
    if !span.is_zero() {
        std::thread::park_timeout(span);
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use loadline_model::observation::Observed;

    use super::*;
    use crate::clock::tests::TestClock;
    use crate::spec::{ObserverKind, ObserverSpec};
    use crate::web::tests::server;

    const TIMEOUT: Duration = Duration::from_secs(5);
    const WINDOW: RunWindow = RunWindow {
        start_unix_ns: 1_000_000_000_000,
        end_unix_ns: 1_060_000_000_000,
        steady_unix_ns: Some((1_010_000_000_000, 1_050_000_000_000)),
    };

    fn source(address: SocketAddr, rest: &str) -> PrometheusSource {
        let text = format!("p=prometheus:http://{address};{rest}");
        let spec = ObserverSpec::parse(&text).unwrap().remove(0);
        let ObserverKind::Prometheus(settings) = spec.kind else {
            panic!("it is a query");
        };
        PrometheusSource::new(&settings, Duration::from_secs(1), TIMEOUT).unwrap()
    }

    fn vector(results: &str) -> String {
        format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{results}]}}}}"#)
    }

    fn look(source: &mut PrometheusSource) -> (Readings, Result<(), Gap>) {
        let clock = TestClock::default();
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        let mut readings = Readings::new(&Arc::from("p"), 7);
        let result = source.read(&tick, &mut readings);
        (readings, result)
    }

    fn conclusion(source: &mut PrometheusSource) -> (Vec<(u64, f64)>, Result<(), Gap>) {
        let mut readings = Readings::new(&Arc::from("p"), 7);
        let result = source.conclude(&WINDOW, &mut readings);
        let points = readings
            .into_items()
            .into_iter()
            .filter_map(|item| match item {
                Observed::Reading(reading) => Some((reading.at_unix_ns, reading.value)),
                _ => None,
            });
        (points.collect(), result)
    }

    #[test]
    fn an_instant_query_gives_a_value_for_each_series() {
        let answer = vector(
            r#"{"metric":{"pod":"a"},"value":[1,"2"]},{"metric":{"pod":"b"},"value":[1,"3"]}"#,
        );
        let (address, asked) = server(vec![answer, vector("")]);
        let mut source = source(address, "query=rate(x[1m]);as=rate_per_s");
        let (readings, result) = look(&mut source);
        assert_eq!(result, Ok(()));
        assert_eq!(readings.value("a", "rate_per_s"), Some(2.0));
        assert_eq!(readings.value("b", "rate_per_s"), Some(3.0));
        let head = asked.recv().unwrap();
        assert!(
            head.starts_with("GET /api/v1/query?query=rate%28x%5B1m%5D%29 "),
            "{head}"
        );
        assert_eq!(
            look(&mut source).1,
            Err(Gap::new("the query gives no value"))
        );
    }

    #[test]
    fn a_query_with_placeholders_is_put_once_at_the_end() {
        let answers = vec![vector(r#"{"metric":{},"value":[1,"1"]}"#)];
        let (address, asked) = server(answers);
        let mut source = source(address, "query=x[{{steady_window}}]");
        assert_eq!(look(&mut source).1, Ok(()));
        assert_eq!(look(&mut source).1, Ok(()));
        let (points, result) = conclusion(&mut source);
        assert_eq!(result, Ok(()));
        assert_eq!(points, [(1_049_999_999_999, 1.0)]);
        assert!(asked.recv().unwrap().contains("vector%281%29"));
        let head = asked.recv().unwrap();
        assert!(head.contains("query=x%5B40s%5D&time=1050 "), "{head}");
    }

    #[test]
    fn a_range_query_gives_points_over_the_run() {
        let answer = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"values":[[1000,"1"],[1005,"2"]]}]}}"#;
        let (address, asked) = server(vec![answer.to_owned()]);
        let mut source = source(address, "query=x;mode=range;step=5s");
        let (points, result) = conclusion(&mut source);
        assert_eq!(result, Ok(()));
        assert_eq!(points, [(1_000_000_000_000, 1.0), (1_005_000_000_000, 2.0)]);
        let head = asked.recv().unwrap();
        assert!(
            head.contains("/api/v1/query_range?query=x&start=1000&end=1060&step=5 "),
            "{head}"
        );
    }

    #[test]
    fn a_refusal_is_told() {
        let answer = r#"400|{"status":"error","errorType":"bad_data","error":"parse error"}"#;
        let (address, _asked) = server(vec![answer.to_owned()]);
        let gap = look(&mut source(address, "query=x")).1.unwrap_err().0;
        assert!(gap.contains("400") && gap.contains("parse error"), "{gap}");
    }

    #[test]
    fn each_series_is_a_counter() {
        let answer =
            vector(r#"{"metric":{"a":"1"},"value":[1,"2"]},{"metric":{"a":"2"},"value":[1,"3"]}"#);
        let (address, _asked) = server(vec![answer]);
        let settings = source(address, "query=x").settings;
        let mut counter = PrometheusCounter::new(&settings, TIMEOUT).unwrap();
        let clock = TestClock::default();
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        let totals = counter.totals(&tick).expect("it answers");
        let values: Vec<f64> = totals.iter().map(|(_, total)| *total).collect();
        assert_eq!(values, [2.0, 3.0]);
        assert_ne!(totals[0].0, totals[1].0);
    }
}
