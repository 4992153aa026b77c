//! The metrics that a run of requests measures, by the names that thresholds use.
//!
//! Must not know how they are measured or evaluated. Invariant: each name means one metric, and a threshold
//! without a name has one, too.

use loadline_metric::threshold::{Aggregation, Threshold};

/// Names that a threshold may use.
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
    /// From the scheduled start to the last byte; open model only.
    ResponseTime,
    /// From the scheduled start to the actual send.
    ScheduleLag,
    /// Whether a request failed or its response was wrong.
    Failed,
    /// Requests answered.
    Completed,
    /// Requests with a correct response.
    Good,
    /// Iterations that were due but not started.
    Dropped,
}

impl RequestMetric {
    /// The metric of a threshold, in an open or a closed model.
    ///
    /// # Errors
    /// Names the threshold and the available metrics.
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
                "threshold {:?}: there is no metric {:?}; use {}",
                &*threshold.source,
                &*selector.metric,
                NAMES.map(|(name, _)| name).join(", ")
            )),
        }
    }
}

/// A threshold without a metric applies to what users notice: response time if arrivals are planned, otherwise
/// service time. A bare `rate` is the rate of failed requests.
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
        assert!(told.contains("use service_time"), "{told}");
    }
}
