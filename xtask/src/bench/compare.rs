//! The rows that compare CPU time per request with that of other clients under the same load.
//!
//! Must not know command lines or servers. Invariant: clients take turns within a round, each round starts with
//! another one, and a ratio compares runs of the same round.

use std::path::PathBuf;

use super::Bench;
use super::client::{self, Client, Installed, Load, Reported, Stop};
use super::machine::pinned;
use super::measure::{measure, median, median_ratio, spread, turns};
use super::page::{Bar, Finding, Section};
use super::server::Site;
use crate::Result;

/// A load, the clients that make it, and the required ratios of loadline to the others.
struct Comparison {
    title: &'static str,
    how: &'static str,
    site: Site,
    /// Bytes of a POST body; `None`: GET.
    body_bytes: Option<usize>,
    http2_streams: Option<u32>,
    rate: Option<u32>,
    /// The client to which the bars apply.
    subject: Client,
    /// Peers, with the maximum ratio of the subject's CPU time per request to theirs; `None`: reported without
    /// a bar.
    peers: &'static [(Client, Option<f64>)],
}

/// The usual row: closed model, GET, 50 connections.
const BASE: Comparison = Comparison {
    title: "HTTP/1.1 keep-alive, 50 connections, 2-byte answers",
    how: "CPU time of the client per completed request, nginx answering `ok`.",
    site: Site::Plain,
    body_bytes: None,
    http2_streams: None,
    rate: None,
    subject: Client::Loadline,
    peers: &[
        (Client::BareEpoll, Some(1.10)),
        (Client::Wrk, Some(0.97)),
        (Client::Ab, Some(0.97)),
        (Client::H2load, None),
        (Client::Bombardier, Some(0.85)),
        (Client::Oha, Some(0.75)),
        (Client::Hey, Some(0.33)),
    ],
};

const CONNECTIONS: u32 = 50;

pub(super) fn http1(bench: &Bench) -> Result<Section> {
    run(bench, &BASE)
}

pub(super) fn post(bench: &Bench) -> Result<Section> {
    run(
        bench,
        &Comparison {
            title: "HTTP/1.1 keep-alive, 11 kB POST body",
            how: "As above, each request carrying 11,000 bytes of JSON. wrk sends a constant body, with no Lua per request.",
            body_bytes: Some(11_000),
            peers: &[(Client::Wrk, Some(1.0)), (Client::Ab, None)],
            ..BASE
        },
    )
}

pub(super) fn get_1k(bench: &Bench) -> Result<Section> {
    run(
        bench,
        &Comparison {
            title: "HTTP/1.1 keep-alive, 1 kB answers",
            how: "As above, nginx answering 1,024 bytes.",
            site: Site::Kilobyte,
            peers: &[(Client::Wrk, Some(1.0))],
            ..BASE
        },
    )
}

pub(super) fn tls(bench: &Bench) -> Result<Section> {
    run(
        bench,
        &Comparison {
            title: "TLS 1.3 keep-alive, 50 connections",
            how: "As the first row, over TLS 1.3 with a P-256 certificate that nobody verifies.",
            site: Site::Tls,
            peers: &[
                (Client::Wrk, Some(0.92)),
                (Client::Bombardier, None),
                (Client::Hey, None),
            ],
            ..BASE
        },
    )
}

pub(super) fn http2(bench: &Bench) -> Result<Section> {
    run(
        bench,
        &Comparison {
            title: "HTTP/2, 50 connections of 10 streams",
            how: "HTTP/2 with prior knowledge in clear text.",
            site: Site::Http2,
            http2_streams: Some(10),
            peers: &[(Client::H2load, Some(1.1))],
            ..BASE
        },
    )
}

pub(super) fn fixed_rate(bench: &Bench) -> Result<Section> {
    run(
        bench,
        &Comparison {
            title: "Fixed rate, 5,000/s over 50 connections",
            how: "Ours gathers starts in windows of 1 ms, as h2load's timers do; beside it our default \
              window, which costs more and keeps the schedule better.",
            rate: Some(5_000),
            subject: Client::LoadlineWindow1ms,
            peers: &[(Client::H2load, Some(1.1)), (Client::Loadline, None)],
            ..BASE
        },
    )
}

/// One run of one client.
pub(super) struct Sample {
    pub(super) reported: Reported,
    pub(super) cpu_us_per_request: f64,
    /// Used share of one core during the run.
    pub(super) core_share: f64,
    pub(super) requests_per_second: f64,
    pub(super) rss_bytes_max: u64,
}

/// Runs `installed` once under `load`.
///
/// # Errors
/// It failed, or its report is unreadable.
pub(super) fn sample(bench: &Bench, installed: &Installed, load: &Load) -> Result<Sample> {
    let mut command = pinned(bench.cores.client, &installed.program);
    command.args(client::arguments(installed.client, load, &bench.folder)?);
    let usage = measure(&mut command)?;
    let reported = client::reported(installed.client, &usage.stdout, &bench.folder)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of requests are far below 2^52"
    )]
    let requests = reported.completed as f64;
    Ok(Sample {
        reported,
        cpu_us_per_request: usage.cpu.as_secs_f64() * 1e6 / requests,
        core_share: usage.cpu.as_secs_f64() / usage.wall.as_secs_f64(),
        requests_per_second: requests / usage.wall.as_secs_f64(),
        rss_bytes_max: usage.rss_bytes_max,
    })
}

fn run(bench: &Bench, comparison: &Comparison) -> Result<Section> {
    let load = load(bench, comparison)?;
    let wanted = |client: Client| {
        client == comparison.subject || comparison.peers.iter().any(|(peer, _)| *peer == client)
    };
    let clients: Vec<&Installed> = bench
        .installed
        .iter()
        .filter(|installed| wanted(installed.client))
        .collect();
    let samples = turns(bench.effort.rounds, &clients, |client| {
        sample(bench, client, &load)
    })?;
    let names: Vec<Client> = clients.iter().map(|installed| installed.client).collect();
    Ok(section(comparison, &names, &samples))
}

fn load(bench: &Bench, comparison: &Comparison) -> Result<Load> {
    let body: Option<PathBuf> = match comparison.body_bytes {
        Some(bytes) => Some(bench.folder.write("body.json", &json_body(bytes))?),
        None => None,
    };
    Ok(Load {
        url: bench.nginx.url(comparison.site),
        connections: CONNECTIONS,
        stop: Stop::Seconds(bench.effort.seconds),
        body,
        http2_streams: comparison.http2_streams,
        rate: comparison.rate,
    })
}

/// A JSON text with exactly this many bytes.
fn json_body(bytes: usize) -> String {
    const FRAME: &str = "{\"query\":\"\"}";
    format!(
        "{{\"query\":\"{}\"}}",
        "q".repeat(bytes.saturating_sub(FRAME.len()))
    )
}

fn section(comparison: &Comparison, clients: &[Client], samples: &[Vec<Sample>]) -> Section {
    let ours = clients
        .iter()
        .position(|client| *client == comparison.subject);
    let ours = &samples[ours.expect("our own binary is always installed")];
    let mut rows = Vec::new();
    let mut findings = Vec::new();
    for (client, theirs) in clients.iter().zip(samples) {
        let ratio = ratio(ours, theirs);
        rows.push(row(*client, theirs, ratio));
        let bar = comparison
            .peers
            .iter()
            .find(|(peer, _)| peer == client)
            .and_then(|(_, bar)| *bar);
        if let Some(bar) = bar {
            findings.push(Finding {
                what: format!("{}: CPU per request ÷ {}", comparison.title, client.name()),
                measured: ratio,
                bar: Bar::AtMost(bar),
            });
        }
    }
    Section {
        title: comparison.title.to_owned(),
        how: comparison.how.to_owned(),
        head: vec![
            "client",
            "CPU µs/request",
            "least – most",
            "requests/s",
            "lag p99 ms",
            "ours ÷ it",
        ],
        rows,
        findings,
    }
}

/// The median over the rounds of loadline's value divided by the peer's.
fn ratio(ours: &[Sample], theirs: &[Sample]) -> f64 {
    median_ratio(&costs(ours), &costs(theirs)).expect("at least one round was run")
}

fn costs(samples: &[Sample]) -> Vec<f64> {
    samples
        .iter()
        .map(|sample| sample.cpu_us_per_request)
        .collect()
}

fn row(client: Client, samples: &[Sample], ratio: f64) -> Vec<String> {
    let figure = |pick: fn(&Sample) -> f64| median(samples.iter().map(pick)).unwrap_or(0.0);
    let lag = median(
        samples
            .iter()
            .filter_map(|sample| sample.reported.lag_p99_ns),
    );
    vec![
        client.name().to_owned(),
        format!("{:.2}", figure(|sample| sample.cpu_us_per_request)),
        spread(&costs(samples)),
        format!("{:.0}", figure(|sample| sample.requests_per_second)),
        lag.map_or_else(|| "–".to_owned(), |ns| format!("{:.3}", ns / 1e6)),
        format!("{ratio:.2}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(costs: &[f64]) -> Vec<Sample> {
        let sample = |cost: &f64| Sample {
            reported: Reported {
                completed: 1,
                lag_p99_ns: None,
            },
            cpu_us_per_request: *cost,
            core_share: 1.0,
            requests_per_second: 1.0,
            rss_bytes_max: 0,
        };
        costs.iter().map(sample).collect()
    }

    #[test]
    fn only_peers_with_a_bar_give_findings() {
        let clients = [Client::Loadline, Client::Wrk, Client::H2load];
        let all = [samples(&[6.0]), samples(&[7.0]), samples(&[9.0])];
        let section = section(&BASE, &clients, &all);
        assert_eq!((section.rows.len(), section.findings.len()), (3, 1));
    }

    #[test]
    fn bodies_have_the_asked_size() {
        assert_eq!(json_body(11_000).len(), 11_000);
    }
}
