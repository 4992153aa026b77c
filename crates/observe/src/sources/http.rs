//! `http`: numbers in a JSON response.
//!
//! Must not know what the numbers mean. Invariant: a missing number is missing, never a zero.

use std::time::Duration;

use serde_json::Value;

use super::{Counter, Source, Tick, only};
use crate::parse::json_path::{JsonPath, number};
use crate::parse::shown;
use crate::readings::{Gap, Readings};
use crate::spec::HttpSettings;
use crate::web::Client;

/// Reads a JSON response.
pub(super) struct HttpSource {
    url: String,
    client: Client,
    /// Names of metrics and their paths.
    values: Vec<(String, JsonPath)>,
}

impl HttpSource {
    pub(super) fn new(settings: &HttpSettings, timeout: Duration) -> Result<HttpSource, String> {
        let mut values = Vec::new();
        // Without a path, the whole response is the number, unless other values are named.
        if !settings.path.is_empty() || settings.values.is_empty() {
            values.push((settings.metric.clone(), JsonPath::parse(&settings.path)?));
        }
        for (name, path) in &settings.values {
            values.push((name.clone(), JsonPath::parse(path)?));
        }
        Ok(HttpSource {
            url: settings.url.clone(),
            client: Client::new(&settings.url, &settings.access, timeout)?,
            values,
        })
    }

    fn answer(&self) -> Result<Value, Gap> {
        let text = self.client.get(&self.url)?;
        serde_json::from_str(&text)
            .map_err(|_| Gap(format!("the response is not JSON: {}", shown(&text))))
    }
}

impl Source for HttpSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let answer = self.answer()?;
        readings.read_at(tick.clock.unix_ns());
        let mut absent = None;
        let mut found = false;
        for (name, path) in &self.values {
            match path.find(&answer).and_then(number) {
                Some(value) => {
                    readings.own(name, value);
                    found = true;
                }
                None => absent = Some(format!("the response has no number at {path}")),
            }
        }
        match (found, absent) {
            (true, Some(text)) => readings.missing(&readings.observer(), text),
            (true, None) => {}
            (false, text) => return Err(Gap(text.unwrap_or_default())),
        }
        Ok(())
    }
}

/// The number at the path, as a stage of a pipeline.
pub(super) struct HttpCounter(HttpSource);

impl HttpCounter {
    pub(super) fn new(settings: &HttpSettings, timeout: Duration) -> Result<HttpCounter, String> {
        HttpSource::new(settings, timeout).map(HttpCounter)
    }
}

impl Counter for HttpCounter {
    fn totals(&mut self, _: &Tick<'_>) -> Result<Vec<(String, f64)>, Gap> {
        let answer = self.0.answer()?;
        let first = self.0.values.first();
        first
            .and_then(|(_, path)| path.find(&answer).and_then(number))
            .map(only)
            .ok_or_else(|| Gap::new("the response has no number at the path"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::tests::TestClock;
    use crate::spec::{ObserverKind, ObserverSpec};
    use crate::web::tests::server;

    fn look(body: &str, rest: &str) -> (Readings, Result<(), Gap>) {
        let (address, _asked) = server(vec![body.to_owned()]);
        let text = format!("h=http:http://{address}/{rest}");
        let ObserverKind::Http(settings) = ObserverSpec::parse(&text).unwrap().remove(0).kind
        else {
            panic!("it is http");
        };
        let mut source = HttpSource::new(&settings, Duration::from_secs(5)).unwrap();
        let clock = TestClock::default();
        let tick = Tick {
            clock: &clock,
            load_ended_unix_ns: None,
        };
        let mut readings = Readings::new(&Arc::from("h"), 0);
        let result = source.read(&tick, &mut readings);
        (readings, result)
    }

    #[test]
    fn numbers_are_found_in_the_answer() {
        let body = r#"{"q":{"n":3},"l":[{"v":"0.5"}]}"#;
        let (readings, result) = look(body, ";path=q.n;as=depth;value=lag_seconds=l[0].v");
        assert_eq!(result, Ok(()));
        assert_eq!(readings.value("h", "depth"), Some(3.0));
        assert_eq!(readings.value("h", "lag_seconds"), Some(0.5));
        assert_eq!(look("7.5", "").0.value("h", "value"), Some(7.5));
    }

    #[test]
    fn what_is_not_there_is_a_gap() {
        assert!(
            look("{}", ";path=q.n")
                .1
                .unwrap_err()
                .0
                .contains("no number at")
        );
        assert!(look("<html>", "").1.unwrap_err().0.contains("not JSON"));
        let (readings, result) = look("{\"a\":1}", ";path=a;value=b=c");
        assert_eq!(result, Ok(()));
        assert_eq!(readings.remarks(crate::readings::MISSING_NOTE).len(), 1);
    }
}
