//! The kits of `examples/`: each is run as it is, only shorter, and its document is compared with independent
//! counts: of the testbed and its logs, the kernel, a real Prometheus, and raw samples.
//!
//! Must not know how a document is made. Invariant: a cell is compared with a number that the suite did not
//! write.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadline_e2e::accounts::{ProcessWatch, Watched};
use loadline_e2e::cells::{
    PageWatch, Pages, column, hold, hold_between, hold_process, list, load_of, mean, number,
    quantile,
};
use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::testbed::Testbed;
use loadline_e2e::{loadline, run_to_end, skip};
use serde_json::Value;

/// Kits have fixed ports; processes are identified by their names.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Replacements that shorten a kit, in order.
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

/// A kit with its testbed, in its own folder.
struct Kit {
    testbed: Testbed,
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

/// Time between a client and the service's log: both directions, and the balancer.
const WAY_S: f64 = 0.005;
/// Maximum difference between two clocks that were set once and then run freely. A load ends with its last
/// response, and the next one starts seconds later.
const CLOCKS_S: f64 = 0.1;
/// One mebibyte.
const MIB: f64 = 1_048_576.0;

impl Kit {
    fn start(name: &str) -> Kit {
        Kit::start_with(name, &[])
    }

    /// Starts a kit with changes in its suite or testbed, so that independent counters run alongside.
    fn start_with(name: &str, changes: &[(&str, &str)]) -> Kit {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let folder = tempfile::tempdir().expect("there is room");
        // Scripts of kits are next to them: `../single-get.js`, `../lib`.
        copy(&examples, folder.path(), name);
        let kit = folder.path().join(name);
        for entry in fs::read_dir(&kit).expect("the kit was copied") {
            let entry = entry.expect("it can be read");
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("there is room");
        }
        for file in [kit.join("suite.yaml"), folder.path().join("testbed.yaml")] {
            let mut text = fs::read_to_string(&file).expect("it was copied");
            for (before, after) in SHORTER.iter().chain(changes) {
                text = text.replace(before, after);
            }
            fs::write(&file, text).expect("there is room");
        }
        Kit {
            testbed: Testbed::start_in(folder),
            folder: kit,
            _alone: alone,
        }
    }

    /// Runs the suite; returns the document and every result with the name of its row's folder.
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

    /// Responses of all runs, including those before the measured ones.
    fn answered(&self) -> u64 {
        self.sum("completed")
    }

    /// A count of all runs, including those before the measured ones.
    fn sum(&self, name: &str) -> u64 {
        let files = ["result.json", "smoke.json", "warm-up.json"];
        files
            .iter()
            .flat_map(|file| self.results(file))
            .map(|(_, result)| count(&result, name))
            .sum()
    }

    /// Compares the bytes of all runs with the bytes read and written by a component that all of them used.
    fn hold_bytes(&self, component: &str) {
        for (counted, name) in [("bytes_in", "bytes_sent"), ("bytes_out", "bytes_received")] {
            let counted = self.testbed.count(component, counted) as f64;
            hold(name, self.sum(name) as f64, counted, 0.0);
        }
    }
}

/// The watched processes that existed during all of a load, by PID.
fn there<'w>(watched: &'w [Watched], result: &Value) -> Vec<&'w Watched> {
    let (from, to) = load_of(result);
    let was_there = |one: &&Watched| {
        let (first, last) = one.cpu.reach();
        first < from && to < last
    };
    watched.iter().filter(was_there).collect()
}

/// Samples in ascending order.
fn sorted(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    samples
}

fn copy(examples: &Path, to: &Path, kit: &str) {
    for folder in ["lib", kit] {
        fs::create_dir(to.join(folder)).expect("there is room");
        for entry in fs::read_dir(examples.join(folder)).expect("the examples are there") {
            let path = entry.expect("it can be read").path();
            let name = path.file_name().expect("a file has a name").to_owned();
            // The document and the state of a manual run do not belong to the kit.
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
    count(result, "completed")
}

fn count(result: &Value, name: &str) -> u64 {
    let counts = &result["totals"]["seen"]["counts"];
    counts[name].as_u64().expect("a result counts")
}

/// The lines of the first table in this generated block: cells, head first.
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

/// Responses per second of a result, computed here.
fn rate(result: &Value) -> f64 {
    let measured = result["totals"]["measured_ns"]
        .as_f64()
        .expect("it has a length");
    completed(result) as f64 * 1e9 / measured
}

fn is_near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= b.abs() * share
}

/// Compares rate, CPU and memory of a row of components with the results' counts and the kernel.
fn hold_components(row: &[String], result: &Value, watched: &[Watched]) {
    let mean = row[2].split("avg: ").nth(1).expect("a mean");
    let (unit, rounding) = if mean.contains('K') {
        (1e3, 0.5)
    } else {
        (1.0, 0.000_5)
    };
    hold(
        "requests per second",
        number(mean) * unit,
        rate(result),
        rounding,
    );
    let (cores, bytes) = (list(&row[3]), list(&row[4]));
    let alive = there(watched, result);
    assert!(alive.len() >= 2, "two replicas or more: {}", alive.len());
    for (at, one) in alive.into_iter().enumerate() {
        let of = |all: &[(String, f64)]| {
            let name = format!("httpbin_repl_{}", at + 1);
            let found = all.iter().find(|(known, _)| *known == name);
            found.unwrap_or_else(|| panic!("{name}: {row:?}")).1
        };
        let component = format!("httpbin[{}]", at + 1);
        let (cores, bytes) = ((of(&cores), 0.000_05), (of(&bytes) * MIB, 0.005 * MIB));
        hold_process(result, ("httpbin", &component), one, cores, bytes);
    }
}

/// Compares a row of a gateway with its page of metrics, raw samples and the kernel.
fn hold_gateway(row: &[String], result: &Value, samples: &str, watched: &[Watched], pages: &Pages) {
    let p95 = pages.quantile("proxy_latency_seconds", load_of(result), 0.95);
    hold("the proxy's p95", number(&row[5]), 1e3 * p95, 0.005);
    let is_time = |line: &str| line.starts_with("http_req_duration,");
    let times = sorted(column(samples, "metric_value", is_time));
    hold("the mean", number(&row[6]), mean(&times), 0.005);
    hold_between("p95", number(&row[7]), quantile(&times, 0.95), 0.005);
    hold_between("p99", number(&row[8]), quantile(&times, 0.99), 0.005);
    let alive = there(watched, result);
    assert_eq!(alive.len(), 1, "one gateway at a time");
    let (_, to) = load_of(result);
    let (_, memory) = alive[0].memory.around(to, 1.0);
    hold("memory", number(&row[9]), memory / (1024.0 * MIB), 0.05);
    // The gateway's own count includes the readers of its page.
    for (at, name) in [(10, "data_sent,"), (11, "data_received,")] {
        let values = column(samples, "metric_value", |line| line.starts_with(name));
        hold(
            name,
            number(&row[at]),
            values.iter().sum::<f64>() / 1e9,
            0.005,
        );
    }
}

/// Compares a row of replicas with the log of the service, `answers` with times and seconds, and the kernel.
fn hold_replicas(
    head: &[String],
    row: &[String],
    result: &Value,
    answers: &[(f64, f64)],
    watched: &[Watched],
) {
    let (from, to) = load_of(result);
    let own = answers
        .iter()
        .filter(|(at, _)| (from - CLOCKS_S..to + CLOCKS_S).contains(at));
    let times = sorted(own.map(|(_, elapsed)| *elapsed).collect());
    hold("answers", completed(result) as f64, times.len() as f64, 0.0);
    let counted = times.len() as f64 / (to - from);
    hold("requests per second", number(&row[2]), counted, 0.000_05);
    hold("the mean", number(&row[3]), mean(&times), WAY_S);
    for (at, q) in [(4, 0.5), (5, 0.95), (6, 0.99)] {
        hold_between(&head[at], number(&row[at]), quantile(&times, q), WAY_S);
    }
    let (cores, bytes) = (list(&row[7]), list(&row[8]));
    let alive = there(watched, result);
    assert_eq!(
        (cores.len(), bytes.len()),
        (alive.len(), alive.len()),
        "{row:?}"
    );
    for (one, (cores, bytes)) in alive.into_iter().zip(cores.iter().zip(&bytes)) {
        let (cores, name) = ((cores.1 / 1e3, 0.000_5), &bytes.0);
        hold_process(
            result,
            ("pods", name),
            one,
            cores,
            (bytes.1 * MIB, 0.5 * MIB),
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn httpbin_over_remote_write() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("httpbin_over_remote_write", &why),
    };
    let kit = Kit::start("httpbin-remote-write");
    let watch = ProcessWatch::start("httpbin-");
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
    let watched = watch.end();
    for (row, (_, result)) in rows[2..].iter().zip(&results) {
        hold_components(row, result, &watched);
    }
    kit.hold_bytes("balancer");
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
    let kit = Kit::start_with(
        "soap-gateway",
        &[
            (
                "script: scenario.js",
                "script: { file: scenario.js, args: \"--out csv=${label.Service name}-${label.Scenario}.csv\" }",
            ),
            ("mode: endurance,", "mode: endurance, script: scenario.js,"),
        ],
    );
    let (watch, pages) = (
        ProcessWatch::start("gateway-0"),
        PageWatch::start(kit.testbed.url("gateway"), "/metrics"),
    );
    // A page that is read once a second is read once more after the load.
    let (document, results) = kit.run(&[("LOADLINE_OBSERVE_TAIL", "1200ms")]);
    let (watched, pages) = (watch.end(), pages.end());
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
        let samples = kit.folder.join(format!("{}-{}.csv", row[0], row[1]));
        let samples = fs::read_to_string(samples).expect("samples were kept");
        hold_gateway(row, result, &samples, &watched, &pages);
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
    let kit = Kit::start_with(
        "async-ingest",
        &[
            ("-c 100\"", "-c 100 --csv cold.csv\""),
            ("'one message'\"", "'one message' --csv sustained.csv\""),
            ("{time} acked", "{unix_ms} acked"),
        ],
    );
    let (document, results) = kit.run(&[]);
    let rows = table(&document, "results");
    assert_eq!(rows[0][0], "Test");
    assert_eq!(rows[0].last().map(String::as_str), Some("Sink rate"));
    assert_eq!((rows.len(), results.len()), (4, 2), "{document}");
    let (_, cold) = &results[0];
    assert_eq!(number(&rows[2][1]) as u64, completed(cold), "{rows:?}");
    // Five consumers together acknowledge 95 per second, 5,700 per minute.
    let sink = rows[3].last().expect("a row has cells");
    assert!(is_near(number(sink), 5_700.0, 0.1), "{sink}");
    let (from, to) = load_of(&results[1].1);
    let log = kit.testbed.file("acks.log");
    let acks = log
        .lines()
        .filter_map(|line| line.split(' ').next()?.parse::<f64>().ok());
    let acks = acks.filter(|at| (from..to).contains(&(at / 1e3))).count();
    // The log is read a few times a second: the first and the last reading are off by a fraction of a second.
    let counted = 60.0 * acks as f64 / (to - from);
    hold_between(
        "acknowledged a minute",
        number(sink),
        (0.97 * counted, 1.03 * counted),
        0.5,
    );
    for (row, (file, (_, result))) in rows[2..]
        .iter()
        .zip(["cold.csv", "sustained.csv"].iter().zip(&results))
    {
        let samples = fs::read_to_string(kit.folder.join(file)).expect("samples were kept");
        let times = column(&samples, "service_ns", |_| true);
        let times: Vec<f64> = sorted(times).iter().map(|ns| ns / 1e6).collect();
        let seconds = result["totals"]["measured_ns"].as_f64().expect("a length") / 1e9;
        let of = times.len() as f64;
        let variance = times
            .iter()
            .map(|time| (time - mean(&times)).powi(2))
            .sum::<f64>()
            / of;
        let received = count(result, "bytes_received") as f64 / 1024.0 / seconds;
        for (at, counted, rounding) in [
            (1, of, 0.0),
            (2, mean(&times), 0.5),
            (3, times[0], 0.5),
            (4, times[times.len() - 1], 0.5),
            (5, variance.sqrt(), 0.005),
            (6, 0.0, 0.0),
            (7, of / seconds, 0.05),
            (8, received, 0.005),
        ] {
            hold(&rows[0][at], number(&row[at]), counted, rounding);
        }
    }
    kit.hold_bytes("ingest");
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
    for (row, name) in rows[2..].iter().zip(["windows", "linux", "pod"]) {
        let found = results.iter().find(|(folder, _)| folder.starts_with(name));
        let (_, result) = found.expect("the row was run");
        let bytes = count(result, "bytes_sent") + count(result, "bytes_received");
        let seconds = result["totals"]["measured_ns"].as_f64().expect("a length") / 1e9;
        hold(
            "throughput",
            number(&row[2]),
            bytes as f64 / MIB / seconds,
            0.005,
        );
    }
    kit.hold_bytes("server");
    // Round trips of 76 ms, 35 ms, and zero.
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
    let kit = Kit::start_with(
        "replicas",
        &[(
            "      workers: 1\n",
            "      workers: 1\n      log: { file: access.log, template: \"{unix_ms} {elapsed_ms}\" }\n",
        )],
    );
    let watch = ProcessWatch::start("predict-");
    let (document, results) = kit.run(&[]);
    let watched = watch.end();
    let log = kit.testbed.file("access.log");
    let lines = log.lines().filter_map(|line| line.split_once(' '));
    let answers: Vec<(f64, f64)> = lines
        .map(|(at, elapsed)| (number(at) / 1e3, number(elapsed) / 1e3))
        .collect();
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
    for row in &rows[2..] {
        let rate_of = row[0].split("r: ").nth(1);
        let rate_of = rate_of.and_then(|rest| rest.split('/').next());
        let folder = format!("rate-{}-qps-replicas-{}-", rate_of.expect("a rate"), row[1]);
        let found = results.iter().find(|(name, _)| name.starts_with(&folder));
        let (_, result) = found.unwrap_or_else(|| panic!("no {folder}"));
        hold_replicas(&rows[0], row, result, &answers, &watched);
    }
    kit.hold_bytes("balancer");
    assert_eq!(kit.testbed.count("predict", "requests"), kit.answered());
}
