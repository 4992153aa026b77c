//! The options of `loadline bench`, grouped by theme.
//!
//! Must not know the effect of an option. Invariant: one declaration per option.

mod body;
mod connection;
mod load;
mod observe;
mod request;
mod results;
mod tls;

use clap::Args;

pub use body::BodyArgs;
pub use connection::{ConnectionArgs, DnsTtl};
pub use load::{Arrivals, LoadArgs};
pub use observe::ObserveArgs;
pub use request::RequestArgs;
pub use results::ResultArgs;
pub use tls::{TlsArgs, TlsVersionArg};

use super::agents::AgentsArgs;

/// The options of `loadline bench`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// URL to request (repeatable: used in turn); the default scheme is http
    #[arg(value_name = "URL", required_unless_present = "urls")]
    pub url: Vec<String>,
    /// How much, for how long.
    #[command(flatten)]
    pub load: LoadArgs,
    /// What is sent.
    #[command(flatten)]
    pub request: RequestArgs,
    /// The body.
    #[command(flatten)]
    pub body: BodyArgs,
    /// How connections are made.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// What is observed beside the load.
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// Who makes the load.
    #[command(flatten)]
    pub agents: AgentsArgs,
    /// What is judged, kept and shown.
    #[command(flatten)]
    pub results: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  loadline bench http://localhost:8080/
      50 connections for 10 seconds, as fast as the target answers
  loadline bench -c 100 -n 100k http://localhost:8080/
      100,000 requests over 100 connections
  loadline bench -r 500 -z 5m --threshold 'p(99)<50ms' http://localhost:8080/
      500 requests per second for 5 minutes; exit with 99 if the threshold fails
  loadline bench --stages 1m:100/s,5m:2000/s http://localhost:8080/
      ramp up the rate to find where the target saturates
  loadline bench -b '{\"query\":\"{{line words.txt random}}\"}' -H 'Content-Type: application/json' \\
      --expect status=200 --expect 'json:$.categories' http://localhost:8080/predict
      fill the body from a template; only responses that pass the checks count as goodput

Durations: 10s, 1m30s, 500ms, 1.5h; a plain number is seconds (in --threshold: milliseconds). Counts: 200, 10k, 1.5M.";
