//! The thread that sends points.
//!
//! Must not know the layout. Invariant: as for [`PushSink`]; user, password and token are only sent in a
//! header.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use loadline_http::Answer;
use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;
use url::form_urlencoded::byte_serialize;

use super::encode::Points;
use super::settings::{InfluxSettings, InfluxTarget};
use crate::k6_lines::MetricDescription;
use crate::push::{
    DatagramAddress, Datagrams, Ending, HttpClient, Limits, Pool, Post, PushSink, Pushing, Refusal,
    Retry, TlsSettings, verdict,
};
use crate::report::{GiveUp, OnTrouble};

/// Sends every received value until the senders are dropped. `describe` returns a metric's definition and is
/// called once per metric. If `give_up` is set after the end, the rest is lost.
///
/// # Errors
/// No thread can be started, the proxy's address cannot be parsed, or the host name of `udp://` cannot be resolved.
pub fn start(
    settings: InfluxSettings,
    receiver: Receiver<Vec<TaggedValues>>,
    describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    (on_trouble, give_up): (OnTrouble, GiveUp),
) -> io::Result<PushSink> {
    if let Some(address) = settings.address.strip_prefix("udp://") {
        let address = DatagramAddress::Udp(address.to_owned());
        let limits = Limits {
            messages: usize::MAX,
            bytes: settings.datagram_bytes,
        };
        let carrier = Datagrams::open(&address, limits, on_trouble)?;
        let pushing = pushing(settings, carrier, Arc::default());
        return PushSink::start(pushing, receiver, describe);
    }
    let tls = TlsSettings {
        trusts_all: settings.trusts_all,
        ..TlsSettings::default()
    };
    let url = write_url(&settings);
    let client = HttpClient::new(&url, &tls, settings.proxy.as_deref());
    let post = Writes {
        client: client.map_err(io::Error::other)?,
        url,
        database: database(&settings),
        headers: headers(&settings.target),
    };
    let threads = settings.concurrent_writes;
    let ending = Arc::<Ending>::default();
    let carrier = Pool::start(
        "influxdb post",
        threads,
        post,
        (Retry::default(), Arc::clone(&ending)),
        (on_trouble, give_up),
    )?;
    PushSink::start(pushing(settings, carrier, ending), receiver, describe)
}

fn pushing<C>(settings: InfluxSettings, carrier: C, ending: Arc<Ending>) -> Pushing<Points, C> {
    Pushing {
        name: "influxdb",
        lines: Points::new(settings.fields, settings.precision),
        carrier,
        interval: settings.push_interval,
        ending,
    }
}

/// Posts bodies with points.
struct Writes {
    client: HttpClient,
    url: String,
    /// The command for creating a missing database and where to send it; `None`: version 2, whose buckets are
    /// created by hand.
    database: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Post for Writes {
    fn post(&self, body: &[u8]) -> Result<(), Refusal> {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let answer = self.client.post(&self.url, &headers, body)?;
        if let Some(url) = &self.database
            && answer.status == 404
            && answer.text().contains("database not found")
        {
            verdict(&self.client.post(url, &headers, &[])?)?;
            return verdict(&self.client.post(&self.url, &headers, body)?);
        }
        verdict(&answer).map_err(|refusal| match answer.status {
            413 => Refusal::TooLarge(refusal.into_why()),
            _ => partly(&answer, refusal),
        })
    }

    /// At the end of the line in which the middle is: a line is a point, and a point a value.
    fn cut(&self, body: &[u8]) -> Option<(usize, u64)> {
        let is_end = |byte: &u8| *byte == b'\n';
        let middle = body.len() / 2;
        let before = body[..middle].iter().rposition(is_end);
        let behind = || body[middle..].iter().position(is_end).map(|at| middle + at);
        let end = 1 + before.or_else(behind)?;
        let values = body[..end].iter().filter(|byte| is_end(byte)).count();
        (end < body.len()).then_some((end, values as u64))
    }
}

/// Recognises that some points of a body were refused: `partial write: … dropped=3`.
fn partly(answer: &Answer, refusal: Refusal) -> Refusal {
    let dropped = || {
        let (_, number) = answer.text().rsplit_once("dropped=")?;
        let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    match dropped() {
        Some(lost) if answer.text().contains("partial write") => Refusal::Partly {
            why: answer.told(),
            lost,
        },
        _ => refusal,
    }
}

fn write_url(settings: &InfluxSettings) -> String {
    let address = &settings.address;
    match &settings.target {
        InfluxTarget::V1 {
            database,
            retention,
            consistency,
            ..
        } => format!(
            "{address}/write?consistency={}&db={}&precision={}&rp={}",
            encoded(consistency),
            encoded(database),
            settings.precision.name_in_v1(),
            encoded(retention)
        ),
        InfluxTarget::V2 {
            organization,
            bucket,
            ..
        } => format!(
            "{address}/api/v2/write?bucket={}&org={}&precision={}",
            encoded(bucket),
            encoded(organization),
            settings.precision.name()
        ),
    }
}

fn database(settings: &InfluxSettings) -> Option<String> {
    let InfluxTarget::V1 { database, .. } = &settings.target else {
        return None;
    };
    // A quoted name may contain anything; a quote in it is escaped by a backslash.
    let name = database.replace('\\', "\\\\").replace('"', "\\\"");
    let order = encoded(&format!("CREATE DATABASE \"{name}\""));
    Some(format!("{}/query?q={order}", settings.address))
}

fn headers(target: &InfluxTarget) -> Vec<(&'static str, String)> {
    let authorization = match target {
        InfluxTarget::V1 { user, .. } => user
            .as_ref()
            .map(|(name, password)| BASE64_STANDARD.encode(format!("{name}:{password}")))
            .map(|both| format!("Basic {both}")),
        InfluxTarget::V2 { token, .. } => token.as_ref().map(|token| format!("Token {token}")),
    };
    let mut headers = vec![("Content-Type", "text/plain; charset=utf-8".to_owned())];
    headers.extend(authorization.map(|value| ("Authorization", value)));
    headers
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
