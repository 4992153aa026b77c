//! Every value as a point of InfluxDB's line protocol, posted to version 1, 2 or 3.
//!
//! Points are named and tagged as k6's `influxdb` output names and tags them, so that dashboards made for it
//! work. Must not know the engine. Invariant: no two points of a series have the same instant, where the
//! precision allows it: the server would only keep the last one.

mod encode;
mod instants;
mod post;
mod settings;
mod sink;
#[cfg(test)]
mod tests;

pub use post::Poster;
pub use settings::{FieldKind, InfluxSettings, InfluxTarget, Precision, UnknownPrecision};
pub use sink::start;
