//! What runs report about the service under test: a process that is not part of this product, during a load.
//!
//! Must not know how observers read. Invariant: figures are compared with the kernel's own counters.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_e2e::accounts::{self, Accountant, ControlGroup, Timeline};
use loadline_e2e::clock;
use loadline_e2e::nginx::{Nginx, Options};
use loadline_e2e::process::Running;
use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::ran::Ran;
use loadline_e2e::target::Target;
use loadline_e2e::{bench, loadline, run_to_end, skip};
use serde_json::Value;

/// The series of a result by observer, component and metric.
fn series<'r>(result: &'r Value, observer: &str, metric: &str) -> Vec<&'r Value> {
    let all = result["observations"]["series"]
        .as_array()
        .expect("series are listed");
    all.iter()
        .filter(|one| one["observer"] == observer && one["metric"] == metric)
        .collect()
}

/// Times and values.
fn points(series: &Value) -> Vec<(f64, f64)> {
    let points = series["points"].as_array().expect("a series has points");
    points
        .iter()
        .map(|point| {
            let number = |at: usize| point[at].as_f64().expect("a point is two numbers");
            (number(0), number(1))
        })
        .collect()
}

/// The start of a run, in seconds since 1970.
fn began(result: &Value) -> f64 {
    let started = result["totals"]["started_unix_ms"].as_f64();
    started.expect("it has a start") / 1e3
}

/// The points of the only series of an observer's metric, with times in seconds since 1970.
fn told(result: &Value, observer: &str, metric: &str) -> Vec<(f64, f64)> {
    let found = series(result, observer, metric);
    assert_eq!(
        found.len(),
        1,
        "{observer} {metric}: {}",
        result["observations"]
    );
    let began = began(result);
    let points = points(found[0]).into_iter();
    points
        .map(|(at, value)| (began + at / 1e9, value))
        .collect()
}

/// The sum of rates from the first point to the last, each being the mean since the previous one.
fn sum(points: &[(f64, f64)]) -> f64 {
    let pairs = points.windows(2);
    pairs.map(|pair| pair[1].1 * (pair[1].0 - pair[0].0)).sum()
}

#[track_caller]
fn assert_close(what: &str, told: f64, truth: f64) {
    assert!(
        (told - truth).abs() <= truth * 0.02,
        "{what}: told {told}, true is {truth}"
    );
}

/// Compares the sum of rates with the growth of a counter between the same times.
#[track_caller]
fn assert_grown(what: &str, points: &[(f64, f64)], account: &Timeline) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        panic!("{what}: nothing was told");
    };
    assert_close(what, sum(points), account.grown(first.0, last.0));
}

/// Compares values with a counter around the same times: between two of them memory may rise and fall.
#[track_caller]
fn assert_follows(points: &[(f64, f64)], account: &Timeline, within_s: f64) {
    for (at, value) in points {
        let (least, most) = account.around(*at, within_s);
        assert!(
            *value >= least * 0.98 && *value <= most * 1.02,
            "{value} at {at} is not in {least} to {most}"
        );
    }
}

/// Load for some seconds with observers that read four times a second, and some time before and after it.
fn observed_load(seconds: u32, url: &str, observers: &[String]) -> Ran {
    let load = format!("-c 4 -z {seconds}s --observe-baseline 1s --observe-tail 600ms {url}");
    let observers = observers
        .iter()
        .map(|text| format!("{text};interval=250ms"));
    let mut words: Vec<String> = load.split(' ').map(str::to_owned).collect();
    words.extend(observers.flat_map(|text| ["--observe".to_owned(), text]));
    let ran = bench(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_processs_use_is_what_the_kernel_says() {
    let nginx = match Nginx::start(&Options::default()) {
        Ok(nginx) => nginx,
        Err(why) => return skip("a_processs_use_is_what_the_kernel_says", &why),
    };
    let pid = nginx.pid();
    let accounts = vec![accounts::of_process(pid), accounts::memory_of_process(pid)];
    let accountant = Accountant::start(accounts);
    let observers = [format!("web=process:pid:{pid}"), "self".to_owned()];
    let ran = observed_load(2, &nginx.url("/"), &observers);
    let truth = accountant.end();
    let result = ran.result();
    let cpu = told(result, "web", "cpu_cores");
    assert_grown("processor", &cpu, &truth[0]);
    let elapsed = result["totals"]["elapsed_ns"].as_f64();
    let end = began(result) + elapsed.expect("it has a length") / 1e9;
    let (first, last) = (cpu.first(), cpu.last());
    assert!(
        first.is_some_and(|point| point.0 < began(result)),
        "there is a baseline"
    );
    assert!(last.is_some_and(|point| point.0 > end), "there is a tail");
    assert_follows(&told(result, "web", "memory_bytes"), &truth[1], 0.2);
    assert!(!series(result, "self", "cpu_cores").is_empty());
    assert!(
        ran.out.contains("Observed") && ran.out.contains("web"),
        "{}",
        ran.out
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn figures_are_within_two_percent_of_the_kernels_and_of_prometheus() {
    const CPU: &str = "process_cpu_seconds_total";
    const ANSWERED: &str = "prometheus_http_requests_total";
    let prometheus = match Prometheus::start_scraping_itself() {
        Ok(prometheus) => prometheus,
        Err(why) => {
            let name = "figures_are_within_two_percent_of_the_kernels_and_of_prometheus";
            return skip(name, &why);
        }
    };
    let pid = prometheus.pid();
    let has_scraped = || prometheus.query(CPU).first().cloned();
    clock::wait_for(Duration::from_secs(20), has_scraped).expect("it has scraped itself");
    let accounts = vec![accounts::of_process(pid), accounts::memory_of_process(pid)];
    let accountant = Accountant::start(accounts);
    let observers = [
        format!("web=process:pid:{pid}"),
        format!(
            "page=scrape:{};metric={ANSWERED};label=handler=/-/ready",
            prometheus.url("/metrics")
        ),
        format!("asked=prometheus:{};query={CPU}", prometheus.url("")),
    ];
    let ran = observed_load(4, &prometheus.url("/-/ready"), &observers);
    let truth = accountant.end();
    let result = ran.result();
    assert_grown("processor", &told(result, "web", "cpu_cores"), &truth[0]);
    // Each request of the load got one response, nobody else requested that page, and all of it is between the
    // first page and the last.
    let answered = result["totals"]["seen"]["counts"]["completed"].as_f64();
    let rates = told(result, "page", "rate_per_s");
    assert_close("requests", sum(&rates), answered.expect("it is counted"));
    // A query returns the latest scraped value, or the previous one if the latest was not stored yet.
    let scraped = prometheus.samples(CPU);
    for (at, value) in told(result, "asked", "value") {
        let before = scraped
            .iter()
            .rev()
            .skip_while(|sample| sample.0 > at + 0.01);
        let fresh: Vec<f64> = before.take(2).map(|sample| sample.1).collect();
        assert!(
            fresh.contains(&value),
            "{value} at {at} is none of {fresh:?}"
        );
    }
    // Both follow the kernel's counter, which is read often enough to see the effects of a garbage collector.
    let memory = &truth[1];
    assert_follows(&told(result, "web", "memory_bytes"), memory, 0.2);
    let (from, to) = memory.reach();
    let mut scraped = prometheus.samples("process_resident_memory_bytes");
    scraped.retain(|(at, _)| (from..to - 0.5).contains(at));
    assert!(!scraped.is_empty(), "it has read its own memory");
    assert_follows(&scraped, memory, 0.5);
}

/// A file to which a line is added every few milliseconds until it is dropped; returns the number of lines.
fn write_lines(path: PathBuf) -> (Arc<AtomicBool>, std::thread::JoinHandle<u64>) {
    let stop = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&stop);
    let mut file = File::create(path).expect("there is room");
    let write = move || {
        let mut lines = 0;
        while !is_over.load(Ordering::Relaxed) {
            file.write_all(b"acked 3\nother\n").expect("there is room");
            lines += 1;
            clock::pause(Duration::from_millis(3));
        }
        lines
    };
    (stop, std::thread::spawn(write))
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn machines_logs_answers_and_commands_are_told_as_they_are() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let log = folder.path().join("acks.log");
    let (stop, writer) = write_lines(log.clone());
    let accountant = Accountant::start(vec![accounts::of_machine(), accounts::received_by("lo")]);
    let observers = [
        "host;interface=lo".to_owned(),
        format!(
            r"acks=log:{};match=acked (\d+);from_start=true",
            log.display()
        ),
        format!("lines=command:grep -c acked {};as=lines", log.display()),
        format!(
            "answer=http:{};path=args.n[0];as=status",
            target.url("/get?n=7")
        ),
        "nobody=process:name:no-such-program".to_owned(),
    ];
    let ran = observed_load(2, &target.url("/ok"), &observers[..]);
    let truth = accountant.end();
    stop.store(true, Ordering::Relaxed);
    let written = writer.join().expect("it wrote") as f64;
    let result = ran.result();
    assert_grown("machine", &told(result, "host", "cpu_cores"), &truth[0]);
    assert_grown(
        "network",
        &told(result, "host", "rx_bytes_per_s"),
        &truth[1],
    );
    let counts = told(result, "acks", "count");
    let (first, last) = (counts[0], counts[counts.len() - 1]);
    let rates = [&[first][..], &told(result, "acks", "rate_per_s")].concat();
    assert_close("rates of a log", sum(&rates), last.1 - first.1);
    let sums = told(result, "acks", "sum");
    assert!(
        sums.iter()
            .zip(&counts)
            .all(|(sum, count)| sum.1 == 3.0 * count.1)
    );
    assert!(last.1 <= written && last.1 > 0.0, "{last:?} of {written}");
    // Another program that counted the same lines: it read between two readings of the log.
    for (at, lines) in told(result, "lines", "lines") {
        let before = counts.iter().rev().find(|count| count.0 < at - 2.0);
        let after = counts.iter().find(|count| count.0 > at);
        assert!(
            before.is_none_or(|count| count.1 <= lines),
            "{lines} after {before:?}"
        );
        assert!(
            after.is_none_or(|count| count.1 >= lines),
            "{lines} before {after:?}"
        );
    }
    assert!(
        told(result, "answer", "status")
            .iter()
            .all(|point| point.1 == 7.0)
    );
    // The load is shorter than a minute: its own rate replaces that of the best minute.
    let best = told(result, "acks", "best_60s_per_s")[0];
    let around = |at: f64| counts.iter().rev().find(|count| count.0 <= at);
    assert!(best.1 > 0.0 && around(best.0).is_some(), "{best:?}");
    assert!(
        ran.err.contains("observer nobody: cannot be read"),
        "{}",
        ran.err
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_control_groups_use_is_what_the_kernel_says() {
    let group = match ControlGroup::make() {
        Ok(group) => group,
        Err(why) => return skip("a_control_groups_use_is_what_the_kernel_says", &why),
    };
    // Each of its children lives for some milliseconds, and the shell's own counter contains hardly anything.
    let busy = "while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done";
    let server = group.run(busy);
    let target = Target::start(&[]);
    let accountant = Accountant::start(vec![group.cpu_seconds()]);
    let observers = [
        format!("group=cgroup:{}", group.path().display()),
        format!("tree=process:pid:{}", server.id()),
    ];
    let ran = observed_load(2, &target.url("/ok"), &observers);
    let truth = accountant.end();
    drop(server);
    let result = ran.result();
    assert_grown("group", &told(result, "group", "cpu_cores"), &truth[0]);
    // The same processes, by their files: every one of them was waited for. The files have four counters, each
    // rounded down to a hundredth of a second.
    let tree = told(result, "tree", "cpu_cores");
    let used = truth[0].grown(tree[0].0, tree[tree.len() - 1].0);
    let off = (sum(&tree) - used).abs();
    assert!(off <= 0.02 * used + 0.04, "off by {off} s of {used} s");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_front_end_observes_and_leaves_its_result() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    let url = target.url("/ok");
    fs::write(
        &script,
        format!("import http from 'k6/http';\nexport default () => http.get('{url}');\n"),
    )
    .expect("there is room");
    let script = script.display().to_string();
    let observe = format!("process:pid:{}", target.pid());
    let lines: [&[&str]; 4] = [
        &["bench", "-q", "-n", "50", "--observe", &observe, &url],
        &["run", "-q", "-i", "50", "--observe", &observe, &script],
        &["hey", "-n", "50", "-observe", &observe, &url],
        &["bombardier", "-n", "50", "--observe", &observe, &url],
    ];
    for words in lines {
        let json = folder.path().join(format!("{}.json", words[0]));
        let mut command = loadline();
        command
            .args(words)
            .env("LOADLINE_JSON", &json)
            .env("LOADLINE_OBSERVE_BASELINE", "300ms")
            .env("LOADLINE_OBSERVE_TAIL", "300ms");
        let output = run_to_end(command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
        let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let result: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(
            series(&result, "process", "memory_bytes").len(),
            1,
            "{words:?}"
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_cannot_be_read_is_told_and_what_is_required_ends_the_run() {
    let target = Target::start(&[]);
    let url = target.url("/ok");
    let ran = bench(&[
        "-n",
        "20",
        "--observe",
        "process:name:no-such-program",
        "--observe-baseline",
        "1s",
        &url,
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let result = ran.result();
    assert!(series(result, "process", "cpu_cores").is_empty());
    let notes = result["observations"]["notes"]
        .as_array()
        .expect("notes are listed");
    assert!(notes.iter().any(|note| note["kind"] == "gap"), "{notes:?}");
    assert!(ran.out.contains("no-such-program"), "{}", ran.out);

    let ran = bench(&[
        "-n",
        "20",
        "--observe",
        "process:name:no-such-program;required=true",
        &url,
    ]);
    assert_eq!(ran.code, Some(111), "{}", ran.err);
    assert!(ran.err.contains("no-such-program"), "{}", ran.err);

    for bad in [
        "proces:nginx",
        "process",
        "prometheus:http://h;query",
        "@no-such-file.yaml",
    ] {
        let ran = bench(&["-n", "20", "--observe", bad, &url]);
        assert_eq!(ran.code, Some(104), "{bad}: {}", ran.err);
        assert!(ran.err.contains("--observe"), "{bad}: {}", ran.err);
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_required_process_that_dies_ends_the_run_and_nothing_is_lost() {
    let observed = Target::start(&[]);
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let json = folder.path().join("result.json");
    let mut command = loadline();
    command
        .args(["bench", "-q", "-r", "100", "-z", "60s", "--json"])
        .arg(&json)
        .args([
            "--observe",
            &format!("process:pid:{};required=true", observed.pid()),
        ])
        .args(["--observe-baseline", "200ms", &target.url("/ok")]);
    let running = Running::start(command);
    clock::pause(Duration::from_secs(2));
    drop(observed);
    let output = running.finish();
    assert_eq!(
        output.status.code(),
        Some(111),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = fs::read_to_string(&json).expect("the result was written");
    let result: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(result["totals"]["stop"], "observer-lost");
    assert!(result["totals"]["seen"]["counts"]["completed"].as_u64() > Some(0));
}
