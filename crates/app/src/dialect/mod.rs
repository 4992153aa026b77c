//! The command lines of other tools: same flags, same semantics, same refusals.
//!
//! Where a tool loses data or contradicts its own help, the dialect does not copy it; the list is in
//! `docs/dialects.md`. Must not know how a run is shown. Invariant: a line that the tool accepts is accepted,
//! with the same meaning.

pub mod bombardier;
pub mod go_flag;
pub(crate) mod go_text;
pub mod hey;
pub mod kingpin;
pub mod pflag;

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_go::url::Url;
use loadline_model::client::Protocol;
use loadline_model::duration::DURATION_MAX;
use loadline_model::executor::{Executor, Spacing};
use loadline_model::plan::AggregationPlan;
use loadline_model::request::{
    BodySource, RedirectRules, RequestMix, RequestOrder, RequestTemplate,
};
use loadline_model::url::{Origin, OriginFault};
use loadline_model::{ArrivalRate, Behaviour, ClientPlan, OnExhausted, Scenario, TestPlan};

use crate::plan::headers::Headers;

/// The load settings of a dialect for the plan.
struct DialectLoad {
    name: &'static str,
    /// Workers or connections.
    vus: u32,
    /// Total requests; `None`: until the duration ends.
    requests: Option<u64>,
    /// `None`: until the count is reached.
    duration: Option<Duration>,
    /// Total requests due per second; `None`: as fast as possible.
    rate: Option<ArrivalRate>,
    /// Limit of one request; `None`: none.
    timeout: Option<Duration>,
    redirects_max: u32,
    samples: bool,
}

impl DialectLoad {
    /// A client for the load, which speaks HTTP/2 on one connection of all workers, or HTTP/1.1 on one each.
    fn client(&self, http2: bool) -> ClientPlan {
        let (protocol, connections) = match http2 {
            true => (Protocol::Negotiate { streams: self.vus }, 1),
            false => (Protocol::Http1, self.vus),
        };
        ClientPlan {
            protocol,
            connections,
            connect_timeout: self.timeout,
            request_timeout: self.timeout,
            ..ClientPlan::default()
        }
    }
}

/// The plan of a dialect's run: both tools wait for the requests in flight at the end, and start no arrivals
/// after it.
fn plan(
    load: &DialectLoad,
    request: RequestTemplate,
    client: ClientPlan,
    seed: u64,
) -> Result<TestPlan, String> {
    let scenario = Scenario {
        name: load.name.to_owned(),
        start_time: Duration::ZERO,
        executor: executor(load),
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: load.timeout.unwrap_or(DURATION_MAX),
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Requests(RequestMix {
            requests: vec![request],
            order: RequestOrder::RoundRobin,
            redirects_max: load.redirects_max,
            redirect_rules: RedirectRules::Go,
            cookies: false,
        }),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    };
    let plan = TestPlan {
        scenarios: vec![scenario],
        client,
        thresholds: Vec::new(),
        warm_up: Duration::ZERO,
        start_window: Duration::from_micros(200),
        workers: None,
        aggregation: AggregationPlan {
            samples: load.samples,
            ..AggregationPlan::default()
        },
        labels: BTreeMap::new(),
        tags: BTreeMap::new(),
        seed,
        segment: None,
        script: None,
        script_thresholds: Vec::new(),
    };
    plan.validate().map(|()| plan)
}

fn executor(load: &DialectLoad) -> Executor {
    let vus = load.vus;
    match (load.rate, load.requests) {
        (Some(rate), iterations) => Executor::ConstantArrivalRate {
            rate,
            duration: load.duration,
            spacing: Spacing::Even,
            iterations,
            pre_allocated_vus: vus,
            max_vus: vus,
        },
        (None, Some(iterations)) => Executor::SharedIterations {
            vus: vus.min(u32::try_from(iterations).unwrap_or(u32::MAX)),
            iterations,
            max_duration: load.duration,
        },
        (None, None) => Executor::ConstantVus {
            vus,
            duration: load.duration,
        },
    }
}

/// A URL as parsed by Go; the default scheme is `http`.
fn read_url(text: &str) -> Result<Url, String> {
    let url = match text.contains("://") {
        true => Url::parse(text),
        false => Url::parse(&format!("http://{text}")),
    };
    url.map_err(|why| why.to_string())
}

/// The origin of a URL; a URL without a valid one is refused before the run.
fn origin_of(url: &Url) -> Result<Origin, String> {
    let refused = |fault: OriginFault| format!("{} leads nowhere: {fault}", url.text_with(None));
    Origin::of(url).map_err(refused)
}

/// The value of `Host` as sent by Go: what the user gave, otherwise the URL's host, where an empty port is left out.
fn host_value(given: Option<&str>, url: &Url) -> String {
    let of_url = || url.host.strip_suffix(':').unwrap_or(&url.host);
    loadline_go::host::header_value(given.unwrap_or_else(of_url)).into_owned()
}

/// The line that frames a body, where the tools' clients write it: before the user's headers.
fn push_framing(lines: &mut Headers, body: &BodySource, announces_none: bool) {
    match body {
        BodySource::None if announces_none => lines.push_text("Content-Length", "0"),
        BodySource::Bytes { length, .. } => {
            lines.push_text("Content-Length", &length.to_string());
        }
        BodySource::StreamFile { .. } | BodySource::StreamBytes { .. } => {
            lines.push_text("Transfer-Encoding", "chunked");
        }
        BodySource::None | BodySource::Template { .. } => {}
    }
}

/// Methods whose requests state a missing body as empty.
fn expects_body(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// Sets a header like Go's `Header.Set`: with its canonical name, the last one wins.
fn set_header(headers: &mut BTreeMap<String, String>, name: &str, value: &str) {
    headers.insert(
        loadline_go::header::canonical(name),
        value.trim_matches([' ', '\t']).to_owned(),
    );
}

/// Whether Go writes this header from elsewhere, never from the header map.
fn is_written_by_go(name: &str) -> bool {
    matches!(
        name,
        "Host" | "Content-Length" | "Transfer-Encoding" | "Trailer"
    )
}
