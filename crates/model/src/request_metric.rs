//! What a threshold of a run of requests is about: the metrics that such a run measures, by name.
//!
//! Must not know how they are measured or held. Invariant: each name means one metric, and a threshold
//! without a name has one too.

use loadline_metric::threshold::{Aggregation, Threshold};

/// What a threshold may name.
const NAMES: [(&str, RequestMetric); 10] = [
    ("service_time", RequestMetric::ServiceTime),
    ("http_req_duration", RequestMetric::ServiceTime),
    ("response_time", RequestMetric::ResponseTime),
    ("schedule_lag", RequestMetric::ScheduleLag),
    ("error_rate", RequestMetric::Failed),
    ("http_req_failed", RequestMetric::Failed),
    ("throughput", RequestMetric::Completed),
    ("http_reqs", RequestMetric::Completed),
    ("goodput", RequestMetric::Good),
    ("dropped_iterations", RequestMetric::Dropped),
];

/// A metric of a run of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestMetric {
    /// From the actual send to the last byte.
    ServiceTime,
    /// From the intended start to the last byte; of an open model.
    ResponseTime,
    /// From the intended start to the actual send.
    ScheduleLag,
    /// Whether a request failed or was answered wrongly.
    Failed,
    /// Requests answered.
    Completed,
    /// Requests answered well.
    Good,
    /// Iterations that were due and not started.
    Dropped,
}

impl RequestMetric {
    /// The metric that a threshold is about, in an open model or a closed one.
    ///
    /// # Errors
    /// Names the threshold and what is there instead.
    pub fn of(threshold: &Threshold, is_open: bool) -> Result<RequestMetric, String> {
        let Some(selector) = &threshold.metric else {
            return Ok(unnamed(threshold, is_open));
        };
        let known = NAMES.iter().find(|(name, _)| *name == &*selector.metric);
        match known {
            Some((_, RequestMetric::ResponseTime)) if !is_open => Err(format!(
                "threshold {:?}: a closed model has no response time; use service_time",
                &*threshold.source
            )),
            Some((_, metric)) => Ok(*metric),
            None => Err(format!(
                "threshold {:?}: {:?} is not measured here; there are {}",
                &*threshold.source,
                &*selector.metric,
                NAMES.map(|(name, _)| name).join(", ")
            )),
        }
    }
}

/// A threshold without a metric is about what users feel: response time where arrivals are
/// planned, service time otherwise; a bare `rate` is that of failed requests.
fn unnamed(threshold: &Threshold, is_open: bool) -> RequestMetric {
    match threshold.aggregation {
        Aggregation::Rate => RequestMetric::Failed,
        Aggregation::Count => RequestMetric::Completed,
        _ if is_open => RequestMetric::ResponseTime,
        _ => RequestMetric::ServiceTime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_about_one_metric() {
        let of =
            |text: &str, is_open| RequestMetric::of(&text.parse().expect("a threshold"), is_open);
        assert_eq!(of("p(99)<50ms", true), Ok(RequestMetric::ResponseTime));
        assert_eq!(of("p(99)<50ms", false), Ok(RequestMetric::ServiceTime));
        assert_eq!(of("error_rate<1%", false), Ok(RequestMetric::Failed));
        assert!(of("response_time: p(99)<50ms", false).is_err());
        let told = of("iterations: count>1", true).expect_err("it is not measured");
        assert!(told.contains("there are service_time"), "{told}");
    }
}
