//! bombardier's help, in loadline's own words but in the tool's order, and its refusals.
//!
//! Must not know flag values. Invariant: like the tool, it prints refusals on standard output, and requested
//! help on standard error.

use loadline_model::ExitCode;

use crate::Ending;

/// The help.
const USAGE: &str = "\
usage: bombardier [<flags>] <url>

Puts load on a URL (loadline's bombardier-compatible mode).

Flags:
      --help                  Show this help.
      --version               Show the version.
  -c, --connections=125       Connections, each with one request at a time
  -t, --timeout=2s            Time for one request; 0 is no limit
  -l, --latencies             Print percentiles of the latency
  -m, --method=GET            Method: GET, POST, PUT, DELETE, HEAD, OPTIONS or
                              PATCH
  -b, --body=\"\"               Request body
  -f, --body-file=\"\"          File with the request body
  -s, --stream                Send the body in chunks; a file is read again for
                              each request
      --cert=\"\"               PEM file of the client certificate
      --key=\"\"                PEM file of its key
  -k, --insecure              Do not verify the target's certificate
  -a, --disableKeepAlives     A new connection for each request; with
                              --fasthttp use -H 'Connection: close'
  -H, --header=\"K: V\" ...     Header line (repeatable)
  -n, --requests=[pos. int.]  Total requests; overrides -d
  -d, --duration=10s          Time to run, at least 1s
  -r, --rate=[pos. int.]      Total requests per second
      --fasthttp              Behave like the fasthttp client (default)
      --http1                 Behave like Go's client, HTTP/1.1
      --http2                 Behave like Go's client, HTTP/2 where offered
  -p, --print=<spec>          What to print, with commas between: intro (i),
                              progress (p), result (r)
  -q, --no-print              Print nothing
  -o, --format=<spec>         plain-text (pt), json (j), or path:FILE with a Go
                              template
      --no-verdict            Leave out loadline's verdict after the report
      --observe=[NAME=]KIND[:VALUE] ...
                              Watch a part of the service under test:
                              process:name:nginx, host, … (repeatable)

Args:
  <url>  URL of the target; a missing scheme means http

Examples:
  bombardier -c 50 -d 30s http://127.0.0.1:8080/
  bombardier -n 100000 -l -p r -o json http://127.0.0.1:8080/
";

/// The requested help.
pub(super) fn help() -> Ending {
    told(USAGE.to_owned())
}

/// The requested version.
pub(super) fn version() -> Ending {
    told(format!(
        "bombardier version 2.0 (loadline {}) {}/{}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        go_architecture()
    ))
}

/// The tool writes requested texts to standard error.
fn told(text: String) -> Ending {
    Ending {
        code: ExitCode::Ok,
        out: String::new(),
        err: text,
    }
}

fn go_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// A refusal of the parser.
pub(super) fn parse_error(message: &str) -> Ending {
    refusal(&format!("Error parsing the arguments: {message}\n"))
}

/// A refusal by later checks.
pub(super) fn check_error(message: &str) -> Ending {
    refusal(&format!("Error initializing bombardier: {message}\n"))
}

fn refusal(text: &str) -> Ending {
    Ending {
        code: ExitCode::NothingSucceeded,
        ..Ending::answer(text)
    }
}
