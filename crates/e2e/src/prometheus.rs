//! A real Prometheus that accepts remote writes, can be stopped and restarted with its data, and queried.
//!
//! Must not know the writer. Invariant: all of its data is in a temporary folder.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::clock;
use crate::process::{end, has_program, send};
use crate::server::free_port;

/// How long it may take to be ready: it replays its data.
const START_MAX: Duration = Duration::from_secs(30);
/// How long it may take to end by itself.
const STOP_MAX: Duration = Duration::from_secs(20);
/// It scrapes nothing: all data is written to it.
const SCRAPING_NOTHING: &str = "global:\n  scrape_interval: 1h\n";

/// A Prometheus, running or stopped.
pub struct Prometheus {
    child: Option<Child>,
    folder: TempDir,
    port: u16,
}

impl Prometheus {
    /// Starts one.
    ///
    /// # Errors
    /// Why it is unavailable, for [`crate::skip`].
    ///
    /// # Panics
    /// The temporary folder cannot be used, or it does not become ready.
    pub fn start() -> Result<Prometheus, String> {
        Prometheus::start_with(|_| SCRAPING_NOTHING.to_owned())
    }

    /// Starts one that scrapes itself every second.
    ///
    /// # Errors
    /// As [`Prometheus::start`].
    ///
    /// # Panics
    /// As [`Prometheus::start`].
    pub fn start_scraping_itself() -> Result<Prometheus, String> {
        Prometheus::start_with(|port| {
            format!(
                "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: itself\n    static_configs:\n      \
                 - targets: ['127.0.0.1:{port}']\n"
            )
        })
    }

    fn start_with(configuration: impl FnOnce(u16) -> String) -> Result<Prometheus, String> {
        if !has_program("prometheus") {
            return Err("prometheus is not installed".to_owned());
        }
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("prometheus.yml");
        let port = free_port();
        std::fs::write(file, configuration(port)).expect("the temporary folder can be written to");
        let mut prometheus = Prometheus {
            child: None,
            folder,
            port,
        };
        prometheus.start_again();
        Ok(prometheus)
    }

    /// Restarts it where it stopped.
    ///
    /// # Panics
    /// It does not become ready.
    pub fn start_again(&mut self) {
        let mut command = Command::new("prometheus");
        command
            .arg("--config.file=prometheus.yml")
            .arg("--storage.tsdb.path=data")
            .arg(format!("--web.listen-address=127.0.0.1:{}", self.port))
            .arg("--web.enable-remote-write-receiver")
            .arg("--enable-feature=native-histograms")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.child = Some(command.spawn().expect("it is installed"));
        let ready = clock::wait_for(START_MAX, || self.get("/-/ready"));
        ready.expect("it becomes ready");
    }

    /// Stops it cleanly, so that it keeps its data.
    ///
    /// # Panics
    /// It does not end.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            send(child.id(), libc::SIGTERM);
            let ended = clock::wait_for(STOP_MAX, || child.try_wait().ok().flatten());
            ended.expect("it ends when it is told to");
        }
    }

    /// Its PID.
    ///
    /// # Panics
    /// It is stopped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// The URL of one of its pages.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The URL for remote writes.
    #[must_use]
    pub fn write_url(&self) -> String {
        self.url("/api/v1/write")
    }

    /// The series that an instant query finds.
    ///
    /// # Panics
    /// It refuses the query.
    #[must_use]
    pub fn query(&self, query: &str) -> Vec<Value> {
        self.ask("query", &[("query", query)])
    }

    /// The single number that a query finds at a time, in seconds since 1970; `None` if it finds none or
    /// several.
    ///
    /// # Panics
    /// It refuses the query.
    #[must_use]
    pub fn number_at(&self, query: &str, at_s: f64) -> Option<f64> {
        let at = at_s.to_string();
        match self
            .ask("query", &[("query", query), ("time", &at)])
            .as_slice()
        {
            [only] => only["value"][1].as_str()?.parse().ok(),
            _ => None,
        }
    }

    /// The samples of the only series of a metric in the last minute, as scraped: times in seconds since 1970
    /// and values.
    ///
    /// # Panics
    /// There is no such series, or several.
    #[must_use]
    pub fn samples(&self, metric: &str) -> Vec<(f64, f64)> {
        let found = self.query(&format!("{metric}[1m]"));
        assert_eq!(found.len(), 1, "{metric}: {found:?}");
        let samples = found[0]["values"].as_array().expect("it is a range");
        let sample = |one: &Value| Some((one[0].as_f64()?, one[1].as_str()?.parse().ok()?));
        samples.iter().filter_map(sample).collect()
    }

    /// The series that a query finds between two times, in seconds since 1970, in steps of one second.
    ///
    /// # Panics
    /// It refuses the query.
    #[must_use]
    pub fn query_range(&self, query: &str, from_s: f64, to_s: f64) -> Vec<Value> {
        let (from, to) = (from_s.to_string(), to_s.to_string());
        let parameters = [
            ("query", query),
            ("start", from.as_str()),
            ("end", to.as_str()),
            ("step", "1"),
        ];
        self.ask("query_range", &parameters)
    }

    /// The single number that an instant query finds.
    ///
    /// # Panics
    /// It finds none, or several.
    #[must_use]
    pub fn number(&self, query: &str) -> f64 {
        let found = self.query(query);
        assert_eq!(found.len(), 1, "{query}: {found:?}");
        let number = found[0]["value"][1].as_str();
        let number = number.and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("{query}: {found:?}"))
    }

    fn ask(&self, what: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
        let coded = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_coded(value)));
        let path = format!("/api/v1/{what}?{}", coded.collect::<Vec<_>>().join("&"));
        let (_, body) = self.exchange(&path).expect("it answers");
        let answer: Value = serde_json::from_str(&body).expect("it answers in JSON");
        let found = answer["data"]["result"].as_array().cloned();
        found.unwrap_or_else(|| panic!("{parameters:?}: {body}"))
    }

    /// Writes a value of a series one hour in the future: Prometheus then refuses all earlier ones.
    ///
    /// # Panics
    /// It refuses it.
    pub fn write_ahead(&self, metric: &str, label: (&str, &str)) {
        let labels = [("__name__", metric), label];
        let labels =
            labels.map(|(name, value)| field(1, &[text(1, name), text(2, value)].concat()));
        let mut sample = vec![1 << 3 | 1];
        sample.extend(1_f64.to_le_bytes());
        sample.push(2 << 3);
        sample.extend(varint((clock::unix_s() * 1e3) as u64 + 3_600_000));
        let series = [labels.concat(), field(2, &sample)].concat();
        let body = field(1, &series);
        // The format of snappy without compression: the length, followed by literal pieces.
        let mut packed = varint(body.len() as u64);
        for piece in body.chunks(60) {
            packed.push((piece.len() as u8 - 1) << 2);
            packed.extend(piece);
        }
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it runs");
        let head = format!(
            "POST /api/v1/write HTTP/1.0\r\nHost: localhost\r\nContent-Encoding: snappy\r\n\
             Content-Length: {}\r\n\r\n",
            packed.len()
        );
        stream
            .write_all(&[head.as_bytes(), &packed].concat())
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.contains(" 204 "), "{answer}");
    }

    /// The body of a 200 response; `None` for any other.
    fn get(&self, path: &str) -> Option<String> {
        let (head, body) = self.exchange(path)?;
        head.contains(" 200 ").then_some(body)
    }

    /// Head and body over HTTP/1.0: up to the end of the connection.
    fn exchange(&self, path: &str) -> Option<(String, String)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.to_owned(), body.to_owned()))
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child);
        }
    }
}

fn percent_coded(text: &str) -> String {
    let coded = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    coded.collect()
}

/// A field of protocol buffers containing bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    field.extend(varint(bytes.len() as u64));
    field.extend(bytes);
    field
}

fn text(number: u8, text: &str) -> Vec<u8> {
    field(number, text.as_bytes())
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
