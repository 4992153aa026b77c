//! The thread that sends messages.
//!
//! Must not know the layout. Invariant: as for [`PushSink`].

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::encode::Messages;
use crate::k6_lines::MetricDescription;
use crate::push::{DatagramAddress, Datagrams, Limits, PushSink, Pushing};
use crate::report::OnTrouble;

/// Size of a UDP datagram that is not fragmented on Ethernet.
const UDP_BYTES: usize = 1_432;
/// Size of a local datagram: what DogStatsD's agent reads at a time.
const UNIX_BYTES: usize = 8_192;

/// Settings for sending messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsdSettings {
    /// The destination.
    pub address: DatagramAddress,
    /// Prefix of every name.
    pub namespace: String,
    /// Maximum messages per datagram; at least one.
    pub buffer_size: usize,
    /// How long messages wait for others to be sent together.
    pub push_interval: Duration,
    /// Tags that are omitted; `None`: no tags are sent, as plain StatsD requires.
    pub blocked_tags: Option<Vec<String>>,
}

/// Sends every received value until the senders are dropped. `describe` returns a metric's definition and is
/// called once per metric.
///
/// # Errors
/// No thread can be started, or the host name cannot be resolved.
pub fn start(
    settings: StatsdSettings,
    receiver: Receiver<Vec<TaggedValues>>,
    describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    on_trouble: OnTrouble,
) -> io::Result<PushSink> {
    let limits = Limits {
        messages: settings.buffer_size.max(1),
        bytes: match settings.address {
            DatagramAddress::Udp(_) => UDP_BYTES,
            DatagramAddress::Unix(_) => UNIX_BYTES,
        },
    };
    let pushing = Pushing {
        name: "statsd",
        lines: Messages::new(settings.namespace, settings.blocked_tags),
        carrier: Datagrams::open(&settings.address, limits, on_trouble)?,
        interval: settings.push_interval,
        ending: Arc::default(),
    };
    PushSink::start(pushing, receiver, describe)
}
