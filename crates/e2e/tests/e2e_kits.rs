//! The kits of `examples/`: each is run as it stands, only shorter, and its document held against counts that were made
//! elsewhere: by the testbed, by a real Prometheus, and in the results themselves.
//!
//! Must not know how a document is made. Invariant: a cell is compared with a number that the suite did not write.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::testbed::Testbed;
use loadline_e2e::{loadline, run_to_end, skip};
use serde_json::Value;

/// Kits have ports of their own; processes are told apart by their names.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What makes a kit short, in the order in which it is replaced.
const SHORTER: [(&str, &str); 9] = [
    ("RAMP: 1s", "RAMP: 500ms"),
    ("HOLD: 6s", "HOLD: 2s"),
    ("HOLD: 5s", "HOLD: 2s"),
    ("HOLD: 15s", "HOLD: 2s"),
    ("duration: 10s", "duration: 3s"),
    ("duration: 6s", "duration: 2s"),
    ("-n 10000 h", "-n 1000 h"),
    ("-n 20000", "-n 2000"),
    ("-n 100000", "-n 5000"),
];

/// A kit with its testbed, in a folder of its own.
struct Kit {
    testbed: Testbed,
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Kit {
    fn start(name: &str) -> Kit {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let folder = tempfile::tempdir().expect("there is room");
        // Scripts of kits lie beside them: `../single-get.js`, `../lib`.
        copy(&examples, folder.path(), name);
        let kit = folder.path().join(name);
        for entry in fs::read_dir(&kit).expect("the kit was copied") {
            let entry = entry.expect("it can be read");
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("there is room");
        }
        let suite = kit.join("suite.yaml");
        let mut text = fs::read_to_string(&suite).expect("there is a suite");
        for (long, short) in SHORTER {
            text = text.replace(long, short);
        }
        fs::write(&suite, text).expect("there is room");
        Kit {
            testbed: Testbed::start_in(folder),
            folder: kit,
            _alone: alone,
        }
    }

    /// Runs the suite; gives the document and every result by the name of its row's folder.
    fn run(&self, variables: &[(&str, &str)]) -> (String, Vec<(String, Value)>) {
        let mut command = loadline();
        command
            .args(["suite", "run"])
            .arg(self.folder.join("suite.yaml"))
            .env("LOADLINE_OBSERVE_BASELINE", "300ms")
            .env("LOADLINE_OBSERVE_TAIL", "300ms")
            .envs(variables.iter().copied());
        let output = run_to_end(command);
        let told = format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(0), "{told}");
        let document =
            fs::read_to_string(self.folder.join("RESULTS.md")).expect("the document was written");
        (document, self.results("result.json"))
    }

    /// The results of one kind, by their row's folder.
    fn results(&self, file: &str) -> Vec<(String, Value)> {
        let runs = self.folder.join("suite.state/runs");
        let mut found = Vec::new();
        for row in fs::read_dir(&runs).unwrap_or_else(|why| panic!("{}: {why}", runs.display())) {
            let row = row.expect("it can be read");
            for repetition in fs::read_dir(row.path()).expect("a row is a folder") {
                let path = repetition.expect("it can be read").path().join(file);
                if let Ok(text) = fs::read_to_string(path) {
                    let result = serde_json::from_str(&text).expect("a result is JSON");
                    found.push((row.file_name().to_string_lossy().into_owned(), result));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Answers of all runs, those before the measured ones too.
    fn answered(&self) -> u64 {
        let files = ["result.json", "smoke.json", "warm-up.json"];
        files
            .iter()
            .flat_map(|file| self.results(file))
            .map(|(_, result)| completed(&result))
            .sum()
    }
}

fn copy(examples: &Path, to: &Path, kit: &str) {
    for folder in ["lib", kit] {
        fs::create_dir(to.join(folder)).expect("there is room");
        for entry in fs::read_dir(examples.join(folder)).expect("the examples are there") {
            let path = entry.expect("it can be read").path();
            let name = path.file_name().expect("a file has a name").to_owned();
            // The document and the state of a run by hand are not the kit.
            if path.is_file() && name != "RESULTS.md" {
                fs::copy(&path, to.join(folder).join(name)).expect("there is room");
            }
        }
    }
    for entry in fs::read_dir(examples).expect("the examples are there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|ending| ending == "js") {
            fs::copy(&path, to.join(path.file_name().expect("a file has a name")))
                .expect("there is room");
        }
    }
}

fn completed(result: &Value) -> u64 {
    let counts = &result["totals"]["seen"]["counts"];
    counts["completed"].as_u64().expect("a result counts")
}

/// The lines of the first table under a heading that is like this one: cells, head first.
fn table(document: &str, block: &str) -> Vec<Vec<String>> {
    let begin = format!("<!-- loadline:begin {block} -->");
    let (_, rest) = document
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {block}: {document}"));
    let cells = |line: &str| {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let lines = rest.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines.map(cells).collect()
}

/// The first number of a cell.
fn number(cell: &str) -> f64 {
    let start = cell
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or_else(|| panic!("no number in {cell:?}"));
    let digits: String = cell[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    digits
        .parse()
        .unwrap_or_else(|why| panic!("{cell:?}: {why}"))
}

/// Answers per second of a result, reckoned here.
fn rate(result: &Value) -> f64 {
    let measured = result["totals"]["measured_ns"]
        .as_f64()
        .expect("it has a length");
    completed(result) as f64 * 1e9 / measured
}

fn is_near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= b.abs() * share
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn httpbin_over_remote_write() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("httpbin_over_remote_write", &why),
    };
    let kit = Kit::start("httpbin-remote-write");
    let url = prometheus.write_url();
    let (document, results) = kit.run(&[("K6_PROMETHEUS_RW_SERVER_URL", &url)]);
    let rows = table(&document, "get");
    assert_eq!(
        rows[0],
        [
            "K6 setup, HTTPBIN setup",
            "Test Scenario Stages",
            "MAX TPS(req/s)",
            "MAX CPU Usage(cores)",
            "MAX Memory Usage"
        ]
    );
    assert_eq!((rows.len(), results.len()), (5, 3), "{document}");
    for row in &rows[2..] {
        assert!(row[2].contains("(avg: "), "{row:?}");
        assert!(
            row[3].contains("K6 = ") && row[3].contains("httpbin_repl_1 = "),
            "{row:?}"
        );
        assert!(row[3].contains("Prometheus"), "{row:?}");
    }
    assert!(rows[4][3].contains("httpbin_repl_4 = "), "{:?}", rows[4]);
    // Counted by the servers, by Prometheus, and by the results.
    assert_eq!(kit.testbed.count("httpbin", "requests"), kit.answered());
    let measured: u64 = results.iter().map(|(_, result)| completed(result)).sum();
    let smoke: u64 = kit
        .results("smoke.json")
        .iter()
        .map(|(_, result)| completed(result))
        .sum();
    let found = prometheus.query("sum(max_over_time(k6_http_reqs_total[10m]))");
    let kept: f64 = found[0]["value"][1]
        .as_str()
        .and_then(|text| text.parse().ok())
        .expect("a number");
    assert!(
        kept >= measured as f64 / 3.0 && kept <= (measured + smoke) as f64,
        "{kept} of {measured}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn plugins_of_a_gateway() {
    let kit = Kit::start("soap-gateway");
    let (document, results) = kit.run(&[]);
    let rows = table(&document, "performance");
    assert_eq!(
        rows[0],
        [
            "Service name",
            "Scenario",
            "Test type",
            "XSLT Library",
            "Requests per second",
            "Gateway Proxy Latency p95",
            "K6 Avg",
            "K6 p95",
            "K6 p99",
            "Gateway Linux Memory",
            "Data Sent",
            "Data Rcv"
        ]
    );
    assert_eq!((rows.len(), results.len()), (9, 8), "{document}");
    for row in &rows[2..] {
        let folder = format!("performance-scenario-{}-service-name-{}-", row[1], row[0]);
        let (_, result) = results
            .iter()
            .find(|(name, _)| name.starts_with(&folder))
            .expect("the row was run");
        assert!(
            is_near(number(&row[4]), rate(result), 0.02),
            "{row:?}: {}",
            rate(result)
        );
        assert!(number(&row[5]) > 0.0 && number(&row[9]) > 0.0, "{row:?}");
    }
    assert_eq!(table(&document, "endurance").len(), 3, "{document}");
    assert_eq!(kit.testbed.count("gateway", "requests"), kit.answered());
    let behind =
        kit.testbed.count("calculator", "requests") + kit.testbed.count("httpbin", "requests");
    assert_eq!(behind, kit.answered());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn asynchronous_ingest() {
    let kit = Kit::start("async-ingest");
    let (document, results) = kit.run(&[]);
    let rows = table(&document, "results");
    assert_eq!(rows[0][0], "Test");
    assert_eq!(rows[0].last().map(String::as_str), Some("Sink rate"));
    assert_eq!((rows.len(), results.len()), (4, 2), "{document}");
    let (_, cold) = &results[0];
    assert_eq!(number(&rows[2][1]) as u64, completed(cold), "{rows:?}");
    // Five consumers acknowledge 95 a second together, 5,700 a minute.
    let sink = rows[3].last().expect("a row has cells");
    assert!(is_near(number(sink), 5_700.0, 0.1), "{sink}");
    assert_eq!(kit.testbed.count("sink", "requests"), kit.answered());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn inside_and_outside() {
    let kit = Kit::start("in-and-out");
    let (document, results) = kit.run(&[]);
    let rows = table(&document, "results");
    assert_eq!(rows[0], ["client", "rps", "throughput (MB/s)"]);
    assert_eq!(rows.len(), 5, "{document}");
    let rate_of = |row: &str| {
        let found = results.iter().find(|(name, _)| name.starts_with(row));
        rate(&found.expect("the row was run").1)
    };
    for (row, name) in rows[2..].iter().zip(["windows", "linux", "pod"]) {
        assert!(
            is_near(number(&row[1]), rate_of(name), 0.02),
            "{row:?}: {}",
            rate_of(name)
        );
    }
    // A round trip of 76 ms, one of 35 ms, and none.
    assert!(rate_of("windows") < rate_of("linux") && rate_of("linux") < rate_of("pod"));
    assert!(
        is_near(rate_of("linux"), 125.0 / 0.0352, 0.25),
        "{}",
        rate_of("linux")
    );
    assert_eq!(kit.testbed.count("server", "requests"), kit.answered());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_replica_against_three() {
    let kit = Kit::start("replicas");
    let (document, results) = kit.run(&[]);
    let rows = table(&document, "results");
    assert_eq!(rows[0][..3], ["Test", "Replicas", "Requests/sec"]);
    assert_eq!((rows.len(), results.len()), (6, 4), "{document}");
    for pair in rows[2..].chunks(2) {
        assert_eq!(
            (pair[0][1].as_str(), pair[1][1].as_str()),
            ("1", "3"),
            "{document}"
        );
        assert!(pair[1][7].contains("pods[3] = "), "{:?}", pair[1]);
        let speed_up = number(&pair[1][9]);
        let measured = number(&pair[1][2]) / number(&pair[0][2]);
        assert!((speed_up - measured).abs() <= 0.02, "{speed_up} {measured}");
        assert!(speed_up > 1.3, "three replicas carry more: {speed_up}");
    }
    assert_eq!(kit.testbed.count("predict", "requests"), kit.answered());
}
