//! The metrics of samples, besides those of a script's requests.
//!
//! Must not know who measures. Invariant: they are declared in a fixed order, so that all processes of a test
//! use the same ids.

use loadline_metric::{Contains, MetricId, MetricType};

use crate::record_script::ScriptMetrics;

/// The metrics of samplers that send no HTTP request.
#[derive(Clone, Copy)]
pub(crate) struct OtherSamplers {
    pub(crate) count: MetricId,
    pub(crate) duration: MetricId,
    pub(crate) failed: MetricId,
}

impl OtherSamplers {
    /// # Errors
    /// The metrics cannot be declared.
    pub(crate) fn declare(metrics: &ScriptMetrics) -> Result<OtherSamplers, String> {
        let declare = |name, kind, contains| {
            let declared = metrics.registry.declare(name, kind, contains);
            declared.map_err(|error| error.to_string())
        };
        Ok(OtherSamplers {
            count: declare("samples", MetricType::Counter, Contains::Default)?,
            duration: declare("sample_duration", MetricType::Trend, Contains::Time)?,
            failed: declare("sample_failed", MetricType::Rate, Contains::Default)?,
        })
    }
}
