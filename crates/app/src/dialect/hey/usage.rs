//! hey's help, in loadline's own words but in hey's order, and its refusals.
//!
//! Must not know flag values. Invariant: what hey writes to standard error is written there too.

use loadline_model::ExitCode;

use crate::Ending;

/// The help.
pub(super) const USAGE: &str = "\
Usage: hey [options...] <url>

Options:
  -n  Total requests. Default: 200.
  -c  Workers, each with one request at a time; -n must not be smaller.
      Default: 50.
  -q  Requests per second of each worker (total: -q times -c).
      Default: no limit.
  -z  Time to run; -n is then ignored. Examples: -z 10s, -z 3m.
  -o  Output. Default: a summary. \"csv\": a row for each response. Anything else
      is a Go template over the report.

  -m  Method. Default: GET.
  -H  Header line 'Name: value' (repeatable; the last of a name wins).
  -t  Seconds that one request may take; 0 is no limit. Default: 20.
  -A  Accept header.
  -d  Request body.
  -D  File with the request body; wins over -d.
  -T  Content-Type, sent with every request. Default: text/html.
  -U  User-Agent, followed by \"hey/0.0.1\".
  -a  Basic authentication, username:password.
  -x  HTTP proxy, http://host:port.
  -h2 HTTP/2 over TLS.

  -host  Host header, also the server name in TLS.

  -disable-compression  Do not ask for compressed responses.
  -disable-keepalive    A new connection for each request.
  -disable-redirects    Do not follow redirects (otherwise up to 10).
  -cpus                 Worker threads. Default: the cores that may be used.
  -no-verdict           Leave out loadline's verdict after the report.
  -observe              Watch a part of the service under test: process:name:nginx, host, …
                        (repeatable).

Examples:
  hey -n 1000 -c 50 http://127.0.0.1:8080/
  hey -z 30s -q 10 -H 'Accept: application/json' http://127.0.0.1:8080/

loadline's hey-compatible mode; loadline bench --help has more options.
";

/// A refusal by the flag parser: exit code 2.
pub(super) fn flag_error(message: &str) -> Ending {
    Ending {
        code: ExitCode::DialectUsage,
        out: String::new(),
        err: format!("{message}\n{USAGE}"),
    }
}

/// A refusal of a value, followed by the help: exit code 1.
pub(super) fn value_error(message: &str) -> Ending {
    let lead = if message.is_empty() {
        String::new()
    } else {
        format!("{message}\n\n")
    };
    Ending {
        code: ExitCode::NothingSucceeded,
        out: String::new(),
        err: format!("{lead}{USAGE}\n"),
    }
}

/// A refusal without the help: exit code 1.
pub(super) fn plain_error(message: &str) -> Ending {
    Ending {
        code: ExitCode::NothingSucceeded,
        out: String::new(),
        err: format!("{message}\n"),
    }
}

/// The requested help.
pub(super) fn help() -> Ending {
    Ending {
        code: ExitCode::Ok,
        out: String::new(),
        err: USAGE.to_owned(),
    }
}
