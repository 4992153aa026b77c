//! The compared clients: their command lines for a load, and how to read their reports.
//!
//! Must not know how they are measured. Invariant: for one load every client gets the same connections,
//! requests and stop condition; a client that cannot make a load is not in that row's list.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Folder;
use crate::workspace::{self, root};
use crate::{Result, exec};

/// A program that makes load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Loadline,
    /// loadline, with starts batched in windows of 1 ms.
    LoadlineWindow1ms,
    BareEpoll,
    Wrk,
    Ab,
    H2load,
    Bombardier,
    Oha,
    Hey,
}

/// A client found on this machine.
pub(super) struct Installed {
    pub(super) client: Client,
    pub(super) program: PathBuf,
    pub(super) version: String,
}

/// The load for a client. All clients keep connections alive.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) url: String,
    pub(super) connections: u32,
    pub(super) stop: Stop,
    /// A file sent as the body of POST requests; `None`: GET.
    pub(super) body: Option<PathBuf>,
    /// Streams per connection; `None`: HTTP/1.1.
    pub(super) http2_streams: Option<u32>,
    /// Total requests per second of all connections; `None`: closed model.
    pub(super) rate: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    Seconds(u32),
    /// Only supported by loadline.
    Requests(u64),
}

/// The content of a client's report.
#[derive(Debug, PartialEq)]
pub(super) struct Reported {
    pub(super) completed: u64,
    /// 99th percentile of the schedule lag; `None` if the client does not report it.
    pub(super) lag_p99_ns: Option<f64>,
}

const CLIENTS: &[Client] = &[
    Client::Loadline,
    Client::LoadlineWindow1ms,
    Client::BareEpoll,
    Client::Wrk,
    Client::Ab,
    Client::H2load,
    Client::Bombardier,
    Client::Oha,
    Client::Hey,
];

impl Client {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Loadline => "loadline",
            Self::LoadlineWindow1ms => "loadline, 1 ms window",
            Self::BareEpoll => "bare epoll loop",
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::H2load => "h2load",
            Self::Bombardier => "bombardier",
            Self::Oha => "oha",
            Self::Hey => "hey",
        }
    }

    /// The flag that prints the version; `None` for this repository's programs, which are built from this
    /// commit.
    fn version_flag(self) -> Option<&'static str> {
        match self {
            Self::Loadline | Self::LoadlineWindow1ms | Self::BareEpoll => None,
            Self::Wrk => Some("-v"),
            Self::Ab => Some("-V"),
            Self::H2load | Self::Bombardier | Self::Oha => Some("--version"),
            // It has no flag for it; its help goes to standard error.
            Self::Hey => Some("-help"),
        }
    }
}

/// The clients on this machine; missing ones are reported.
pub(super) fn installed(loadline: &Path, floor: &Path) -> Vec<Installed> {
    let mut found = Vec::new();
    for client in CLIENTS {
        let program = match client {
            Client::Loadline | Client::LoadlineWindow1ms => Some(loadline.to_path_buf()),
            Client::BareEpoll => Some(floor.to_path_buf()),
            _ => exec::find(client.name()),
        };
        match program {
            Some(program) => {
                let version = match client.version_flag() {
                    Some(flag) => version(&program, flag),
                    None => "of this commit".to_owned(),
                };
                found.push(Installed {
                    client: *client,
                    program,
                    version,
                });
            }
            None => println!(
                "NOTE: {} is not installed: its column is left out",
                client.name()
            ),
        }
    }
    found
}

/// The first word with a point and a digit in the program's output for `flag`.
pub(super) fn version(program: &Path, flag: &str) -> String {
    // Some tools print it on standard error, and some then exit with 1: both are accepted.
    let Ok(output) = Command::new(program).arg(flag).output() else {
        return String::new();
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let numbered = |word: &&str| {
        word.trim_start_matches(|c: char| c.is_alphabetic() || c == '/')
            .contains('.')
            && word.contains(|c: char| c.is_ascii_digit())
    };
    let word = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .find(numbered);
    word.unwrap_or("version unknown").to_owned()
}

/// Builds the floor program, optimised, into its own folder.
///
/// # Errors
/// The build failed.
pub(super) fn build_bare_epoll() -> Result<PathBuf> {
    let arguments = ["build", "--release", "-p", "xtask", "--bin", "bare_epoll"];
    exec::run(&mut exec::cargo(root(), &arguments))?;
    Ok(workspace::target_directory()?.join("release/bare_epoll"))
}

/// The arguments with which `client` makes `load`.
///
/// # Errors
/// A file that the client needs could not be written.
pub(super) fn arguments(client: Client, load: &Load, folder: &Folder) -> Result<Vec<String>> {
    let connections = load.connections.to_string();
    let seconds = match load.stop {
        Stop::Seconds(seconds) => seconds.to_string(),
        Stop::Requests(_) => String::new(),
    };
    let mut line: Vec<String> = match client {
        Client::Loadline | Client::LoadlineWindow1ms => ours(client, load, folder),
        Client::BareEpoll => bare_epoll(load, &seconds),
        Client::Wrk => words(&["-t1", "-c", &connections, "-d", &seconds]),
        // Its -t implies a maximum of 50,000 requests, unless -n follows.
        Client::Ab => words(&[
            "-q",
            "-k",
            "-c",
            &connections,
            "-t",
            &seconds,
            "-n",
            "5000000",
        ]),
        Client::H2load => words(&["-t1", "-c", &connections, "-D", &seconds]),
        Client::Bombardier => words(&[
            "-k",
            "-p",
            "r",
            "-o",
            "json",
            "-c",
            &connections,
            "-d",
            &format!("{seconds}s"),
        ]),
        Client::Oha => words(&[
            "--no-tui",
            "--insecure",
            "-c",
            &connections,
            "-z",
            &format!("{seconds}s"),
        ]),
        Client::Hey => words(&["-c", &connections, "-z", &format!("{seconds}s")]),
    };
    line.extend(body_arguments(client, load, folder)?);
    if client == Client::H2load {
        line.extend(h2load_extras(load));
    }
    if client != Client::BareEpoll {
        line.push(load.url.clone());
    }
    Ok(line)
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn ours(client: Client, load: &Load, folder: &Folder) -> Vec<String> {
    let mut line = words(&["bench", "-q", "-k", "-c", &load.connections.to_string()]);
    line.extend([
        "--json".to_owned(),
        folder.file("loadline.json").display().to_string(),
    ]);
    match load.stop {
        Stop::Seconds(seconds) => line.extend(["-d".to_owned(), format!("{seconds}s")]),
        Stop::Requests(requests) => line.extend(["-n".to_owned(), requests.to_string()]),
    }
    if let Some(rate) = load.rate {
        line.extend(["-r".to_owned(), rate.to_string()]);
    }
    if let Some(streams) = load.http2_streams {
        line.extend(words(&["--http2", "--streams", &streams.to_string()]));
    }
    if client == Client::LoadlineWindow1ms {
        line.extend(words(&["--start-window", "1ms"]));
    }
    line
}

fn bare_epoll(load: &Load, seconds: &str) -> Vec<String> {
    let rest = load.url.trim_start_matches("http://");
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = address.split_once(':').unwrap_or((address, "80"));
    words(&[
        host,
        port,
        &format!("/{path}"),
        &load.connections.to_string(),
        seconds,
    ])
}

const JSON: &str = "application/json";

fn body_arguments(client: Client, load: &Load, folder: &Folder) -> Result<Vec<String>> {
    let Some(body) = &load.body else {
        return Ok(Vec::new());
    };
    let file = body.display().to_string();
    Ok(match client {
        Client::Loadline | Client::LoadlineWindow1ms => words(&[
            "-m",
            "POST",
            "-D",
            &file,
            "-H",
            "Content-Type: application/json",
        ]),
        Client::BareEpoll => Vec::new(),
        Client::Wrk => words(&["-s", &wrk_script(&file, folder)?]),
        Client::Ab => words(&["-p", &file, "-T", JSON]),
        Client::H2load => words(&["-d", &file]),
        Client::Bombardier => words(&[
            "-m",
            "POST",
            "-f",
            &file,
            "-H",
            "Content-Type: application/json",
        ]),
        Client::Oha | Client::Hey => words(&["-m", "POST", "-D", &file, "-T", JSON]),
    })
}

/// Without a `request` function wrk builds the request once and runs no Lua per request.
fn wrk_script(body: &str, folder: &Folder) -> Result<String> {
    let script = format!(
        "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n\
         local file = io.open(\"{body}\", \"rb\")\nwrk.body = file:read(\"*a\")\nfile:close()\n"
    );
    Ok(folder.write("post.lua", &script)?.display().to_string())
}

fn h2load_extras(load: &Load) -> Vec<String> {
    let mut line = match load.http2_streams {
        Some(streams) => words(&["-m", &streams.to_string()]),
        None => words(&["--h1"]),
    };
    if let Some(rate) = load.rate {
        // Its rate is per connection.
        line.extend(words(&["--rps", &(rate / load.connections).to_string()]));
    }
    line
}

/// Reads a client's report: its standard output, or loadline's from the JSON file.
///
/// # Errors
/// The report has another format, or contains failed requests.
pub(super) fn reported(client: Client, stdout: &str, folder: &Folder) -> Result<Reported> {
    let report = match client {
        Client::Loadline | Client::LoadlineWindow1ms => ours_reported(folder)?,
        _ => Reported {
            completed: peer_completed(client, stdout)?,
            lag_p99_ns: None,
        },
    };
    if report.completed == 0 {
        return Err(format!("{} completed nothing\n{stdout}", client.name()));
    }
    Ok(report)
}

fn ours_reported(folder: &Folder) -> Result<Reported> {
    let path = folder.file("loadline.json");
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| told(&error))?;
    // A later run that writes nothing must not be mistaken for this one.
    std::fs::remove_file(&path).map_err(|error| told(&error))?;
    let result: Value = serde_json::from_str(&text).map_err(|error| told(&error))?;
    from_result(&result).map_err(|error| told(&error))
}

/// Reads loadline's JSON result, in the format of `model`'s `RunResult`.
fn from_result(result: &Value) -> Result<Reported> {
    let counts = &result["totals"]["seen"]["counts"];
    let failed = counts["failed"].as_object().map_or(0, |classes| {
        classes.values().filter_map(Value::as_u64).sum::<u64>()
    });
    if failed > 0 {
        return Err(format!(
            "{failed} requests failed: the row would compare unlike things"
        ));
    }
    let completed = counts["completed"].as_u64();
    Ok(Reported {
        completed: completed.ok_or("has no totals.seen.counts.completed")?,
        lag_p99_ns: result["metrics"]["schedule_lag_ns"]["p99"].as_f64(),
    })
}

fn peer_completed(client: Client, stdout: &str) -> Result<u64> {
    let unread = || {
        format!(
            "{}: its report has an unknown form\n{stdout}",
            client.name()
        )
    };
    let first_number = |line: &str| {
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        word.and_then(|word| word.trim_end_matches(',').parse::<u64>().ok())
    };
    let line_with = |mark: &str| stdout.lines().find(|line| line.contains(mark));
    let bad = ["Non-2xx", "Socket errors", "Error distribution"];
    if let Some(line) = bad.iter().find_map(|mark| line_with(mark)) {
        // oha and hey report requests cut off at the end of a timed run as errors.
        let cut_off = matches!(client, Client::Oha | Client::Hey);
        if !cut_off {
            return Err(format!("{}: {}", client.name(), line.trim()));
        }
    }
    match client {
        Client::Wrk => line_with(" requests in ")
            .and_then(first_number)
            .ok_or_else(unread),
        Client::BareEpoll => line_with(" requests")
            .and_then(first_number)
            .ok_or_else(unread),
        Client::Ab => line_with("Complete requests:")
            .and_then(first_number)
            .ok_or_else(unread),
        Client::H2load => h2load_succeeded(stdout).ok_or_else(unread),
        Client::Bombardier => bombardier_completed(stdout).ok_or_else(unread),
        Client::Oha | Client::Hey => Ok(stdout.lines().filter_map(status_line).sum()),
        Client::Loadline | Client::LoadlineWindow1ms => Err(unread()),
    }
}

/// `requests: 100 total, 100 started, 100 done, 99 succeeded, …`
fn h2load_succeeded(stdout: &str) -> Option<u64> {
    let line = stdout.lines().find(|line| line.starts_with("requests:"))?;
    let before = line.split(" succeeded").next()?;
    before.rsplit(' ').next()?.parse().ok()
}

fn bombardier_completed(stdout: &str) -> Option<u64> {
    let report: Value = serde_json::from_str(stdout).ok()?;
    report.pointer("/result/req2xx")?.as_u64()
}

/// `[200] 1234 responses`, with any white space in between
fn status_line(line: &str) -> Option<u64> {
    let rest = line.trim().strip_prefix("[2")?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_peers_are_read() {
        let reports = [
            (
                Client::Wrk,
                "Running 5s test\n  123 requests in 5.00s, 1.00MB read\n",
            ),
            (
                Client::Ab,
                "Complete requests:      123\nFailed requests:        0\n",
            ),
            (Client::BareEpoll, "123 requests\n"),
            (
                Client::H2load,
                "requests: 130 total, 130 started, 125 done, 123 succeeded, 2 failed\n",
            ),
            (
                Client::Bombardier,
                "{\"result\":{\"req2xx\":123,\"req5xx\":0}}",
            ),
            (
                Client::Oha,
                "Status code distribution:\n  [200] 120 responses\n  [204] 3 responses\n",
            ),
            (
                Client::Hey,
                "Status code distribution:\n  [200]\t123 responses\n  [500]\t9 responses\n",
            ),
        ];
        for (client, report) in reports {
            assert_eq!(peer_completed(client, report), Ok(123), "{client:?}");
        }
    }

    #[test]
    fn a_run_with_errors_is_no_measurement() {
        let report = "  123 requests in 5.00s, 1.00MB read\n  Non-2xx or 3xx responses: 9\n";
        assert!(peer_completed(Client::Wrk, report).is_err());
        assert!(peer_completed(Client::H2load, "nonsense").is_err());
    }

    #[test]
    fn our_result_is_read() {
        let result = |failed: u64| {
            serde_json::json!({
                "totals": { "seen": { "counts": { "completed": 123, "failed": { "refused": failed } } } },
                "metrics": { "schedule_lag_ns": { "p99": 5_000 } },
            })
        };
        let wanted = Reported {
            completed: 123,
            lag_p99_ns: Some(5_000.0),
        };
        assert_eq!(from_result(&result(0)), Ok(wanted));
        assert!(from_result(&result(1)).is_err());
        assert!(from_result(&Value::Null).is_err());
    }

    #[test]
    fn all_clients_are_asked_for_the_same() {
        let folder = Folder(PathBuf::from("unused"));
        let load = Load {
            url: "http://127.0.0.1:8080/x".to_owned(),
            connections: 50,
            stop: Stop::Seconds(5),
            body: None,
            http2_streams: None,
            rate: Some(5_000),
        };
        let h2load = arguments(Client::H2load, &load, &folder).expect("no file is written");
        assert_eq!(
            h2load.join(" "),
            "-t1 -c 50 -D 5 --h1 --rps 100 http://127.0.0.1:8080/x"
        );
        let bare = arguments(Client::BareEpoll, &load, &folder).expect("no file is written");
        assert_eq!(bare.join(" "), "127.0.0.1 8080 /x 50 5");
        let ours = arguments(Client::Loadline, &load, &folder)
            .expect("no file is written")
            .join(" ");
        assert!(
            ours.starts_with("bench -q -k -c 50 --json unused/loadline.json -d 5s -r 5000 "),
            "{ours}"
        );
    }
}
