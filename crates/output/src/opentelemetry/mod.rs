//! Every series as an OpenTelemetry metric, exported over gRPC or HTTP.
//!
//! Metrics are named as in k6's `opentelemetry` output; trends differ, since they are exponential histograms.
//! Must not know the engine. Invariant: points are sums since the start of the run, so a collector that was
//! unavailable still ends with the right totals.

mod answer;
mod encode;
mod grpc;
mod post;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::{OtlpProtocol, OtlpReport, OtlpSettings, OtlpSink};
