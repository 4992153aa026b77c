//! Staged bottlenecks: testbeds in which one thing limits the load, and whether the verdict names it.
//!
//! Must not know how a verdict is reached. Invariant: one testbed at a time, so that they do not affect each
//! other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadline_e2e::testbed::Testbed;
use loadline_e2e::{Ran, bench, loadline_under, run_to_end, skip};
use regex::Regex;
use serde_json::Value;

/// Held while a testbed runs.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A staged testbed, with the machine to itself among these tests.
struct Staged {
    testbed: Testbed,
    _alone: MutexGuard<'static, ()>,
}

impl Staged {
    /// Starts `crates/target/bottlenecks/NAME.yaml`.
    fn start(name: &str) -> Staged {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../target/bottlenecks")
            .join(format!("{name}.yaml"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        Staged {
            testbed: Testbed::start(&text),
            _alone: alone,
        }
    }

    /// Runs a load on it: the words are those of `bench`, `FRONT` is the URL of the loaded component, `{NAME}`
    /// that of another component without its final `/`.
    fn drive(&self, line: &[&str]) -> Judged {
        let mut words: Vec<String> = [
            "-q",
            "--observe-baseline",
            "500ms",
            "--observe-tail",
            "300ms",
        ]
        .map(str::to_owned)
        .to_vec();
        words.extend(line.iter().map(|word| self.filled(word)));
        Judged(bench(&words))
    }

    fn filled(&self, word: &str) -> String {
        let mut text = word.to_owned();
        for name in ["front", "api", "control"] {
            let place = format!("{{{name}}}");
            if text.contains(&place) {
                let url = match name {
                    "control" => self.testbed.table()["control"]
                        .as_str()
                        .expect("a control port")
                        .to_owned(),
                    _ => self.testbed.url(name),
                };
                text = text.replace(&place, url.trim_end_matches('/'));
            }
        }
        text
    }
}

/// The verdict on a run.
struct Judged(Ran);

impl Judged {
    fn verdict(&self) -> &Value {
        &self.0.result()["verdict"]
    }

    /// Asserts that the verdict names the limit.
    fn limited_by(self, limit: &str) -> Judged {
        assert_eq!(self.verdict()["limit"], limit, "{}", self.verdict());
        self
    }

    /// The text of the finding of this code.
    fn text(&self, code: &str) -> &str {
        let findings = self.verdict()["findings"]
            .as_array()
            .expect("findings are listed");
        findings
            .iter()
            .find(|finding| finding["code"] == code)
            .and_then(|finding| finding["text"].as_str())
            .unwrap_or_else(|| panic!("no {code}: {}", self.verdict()))
    }

    /// Asserts that there is a finding with this code, and that its text contains these words.
    fn tells(self, code: &str, words: &[&str]) -> Judged {
        let text = self.text(code);
        for word in words {
            assert!(text.contains(word), "{word:?} is not in {text:?}");
        }
        self
    }

    /// Asserts that the headline names it too.
    fn headline(self, word: &str) -> Judged {
        let headline = self.verdict()["headline"].as_str().unwrap_or_default();
        assert!(headline.contains(word), "{word:?} is not in {headline:?}");
        self
    }
}

/// Observers read several times a second, so that short runs have points.
const FRONT: &str = "front=process:name:front-0;interval=300ms";
const APIS: &str = "api=process:name:api-*;interval=300ms";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn nothing_is_in_the_way() {
    let staged = Staged::start("nothing-staged");
    staged
        .drive(&["-r", "200", "-z", "4s", "--observe", FRONT, "{front}/get"])
        .limited_by("nobody");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_targets_processor() {
    let staged = Staged::start("target-cpu");
    staged
        .drive(&[
            "-r",
            "400",
            "-z",
            "3s",
            "--max-vus",
            "50",
            "--observe",
            FRONT,
            "{front}/ok",
        ])
        .limited_by("target")
        .tells("one-core-full", &["front used"])
        .headline("front used");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_targets_workers() {
    let staged = Staged::start("target-workers");
    staged
        .drive(&[
            "-r",
            "400",
            "-z",
            "3s",
            "--max-vus",
            "100",
            "--observe",
            FRONT,
            "{front}/ok",
        ])
        .limited_by("target")
        .tells("offered-load-missed", &[]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_targets_memory_cap() {
    let staged = Staged::start("memory-cap");
    let kills = "front=http:{control}/truth;as=oom_kills;path=components.front.ooms;interval=300ms";
    staged
        .drive(&["-c", "100", "-z", "4s", "--observe", kills, "{front}/ok"])
        .tells("target-oom", &["front was OOM-killed"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_targets_restarts() {
    let staged = Staged::start("memory-cap");
    staged
        .drive(&["-c", "100", "-z", "4s", "--observe", FRONT, "{front}/ok"])
        .tells("restart-seen", &["front was restarted"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_leak() {
    let staged = Staged::start("memory-leak");
    staged
        .drive(&["-r", "300", "-z", "5s", "--observe", FRONT, "{front}/ok"])
        .limited_by("nobody")
        .tells("leak-seen", &["the memory of front grew by"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_slow_replica() {
    let staged = Staged::start("slow-replica");
    staged
        .drive(&[
            "-c",
            "12",
            "-z",
            "3s",
            "--by",
            "header:X-Replica",
            "{front}/ok",
        ])
        .limited_by("target")
        .tells("slow-replica", &["api-1 answered in"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_idle_replica() {
    let staged = Staged::start("idle-replica");
    staged
        .drive(&["-c", "9", "-z", "3s", "--observe", APIS, "{front}/ok"])
        .limited_by("target")
        .tells("idle-replica", &["1 of 4 replicas were idle"])
        .headline("1 of 4 replicas were idle");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_gateway() {
    let staged = Staged::start("gateway-cpu");
    staged
        .drive(&[
            "-r",
            "500",
            "-z",
            "6s",
            "--max-vus",
            "50",
            "--observe",
            "gateway=process:name:front-0;interval=300ms",
            "--observe",
            APIS,
            "{front}/ok",
        ])
        .limited_by("target")
        .tells("one-core-full", &["gateway used"])
        .headline("gateway used");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_is_behind_the_gateway() {
    let staged = Staged::start("behind-the-gateway");
    staged
        .drive(&[
            "-r",
            "500",
            "-z",
            "3s",
            "--max-vus",
            "50",
            "--observe",
            "gateway=process:name:front-0;interval=300ms",
            "--observe",
            "api=process:name:api-0;interval=300ms",
            "{front}/ok",
        ])
        .limited_by("target")
        .headline("api used");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_consumers_of_a_queue() {
    let staged = Staged::start("queue-consumers");
    let pipeline = "sink=pipeline;ingest=scrape:{front}/metrics\\;metric=queue_messages_received_total\
                    ;sink=scrape:{front}/metrics\\;metric=queue_messages_acknowledged_total;limit=2s;interval=300ms";
    let judged = staged
        .drive(&[
            "-r",
            "400",
            "-z",
            "4s",
            "-m",
            "POST",
            "-b",
            "x",
            "--observe",
            pipeline,
            "{front}/",
        ])
        .limited_by("target")
        .tells(
            "slowest-stage",
            &["waited at the end of the load", "not drained"],
        );
    let text = judged.text("slowest-stage");
    let rates =
        Regex::new(r"^sink processed ([\d.]+)/s of ([\d.]+)/s received").expect("it is one");
    let rates = rates.captures(text).unwrap_or_else(|| panic!("{text}"));
    for (place, true_rate) in [(1, 95.0), (2, 400.0)] {
        let told: f64 = rates[place].parse().expect("it is a number");
        assert!((told - true_rate).abs() <= 0.05 * true_rate, "{text}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_cold_start() {
    let staged = Staged::start("cold-start");
    let replicas = "api=http:{control}/truth;as=replicas;path=components.api.ready;interval=300ms";
    staged
        .drive(&["-c", "10", "-z", "6s", "--observe", replicas, "{front}/ok"])
        .limited_by("target")
        .tells("no-replica", &["api had no replica for"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_autoscaler_that_is_late() {
    let staged = Staged::start("autoscaler-lag");
    let replicas = "api=http:{control}/truth;as=replicas;path=components.api.ready;value=replicas_wanted=components.api.wanted;interval=300ms";
    staged
        .drive(&["-c", "40", "-z", "14s", "--observe", replicas, "{front}/ok"])
        .limited_by("target")
        .tells("scaled-late", &["api "]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_delay_of_a_network() {
    let staged = Staged::start("network-delay");
    let own = "api=scrape:{api}/metrics;metric=loadline_target_service_time_seconds;interval=300ms";
    staged
        .drive(&["-c", "10", "-z", "4s", "--observe", own, "{front}/ok"])
        .limited_by("network")
        .tells("on-the-way", &["are spent between the client and api"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_loss_of_a_network() {
    let staged = Staged::start("network-loss");
    let own = "api=scrape:{api}/metrics;metric=loadline_target_service_time_seconds;interval=300ms";
    staged
        .drive(&["-c", "10", "-z", "3s", "--observe", own, "{front}/ok"])
        .limited_by("network")
        .tells("on-the-way", &["are spent between the client and api"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn answers_that_say_nothing() {
    let staged = Staged::start("empty-answers");
    staged
        .drive(&[
            "-c",
            "10",
            "-z",
            "4s",
            "-m",
            "POST",
            "-b",
            "{\"query\":\"cordless drill\",\"topk\":10}",
            "{front}/predict",
        ])
        .tells("hollow-answers", &["44 bytes without content"]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn too_few_virtual_users() {
    let staged = Staged::start("nothing-staged");
    staged
        .drive(&[
            "-r",
            "1000",
            "--max-vus",
            "10",
            "-z",
            "4s",
            "{front}/delay/100ms",
        ])
        .limited_by("plan")
        .tells("too-few-vus", &[]);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_run_that_is_too_short() {
    let staged = Staged::start("nothing-staged");
    staged
        .drive(&["-r", "50", "-z", "300ms", "{front}/ok"])
        .tells("too-short", &[]);
}

/// A script whose iterations compute for some milliseconds between two requests.
const COMPUTING: &str = "import http from 'k6/http';
export const options = { vus: 20, duration: '4s' };
export default function () {
  let sum = 0;
  for (let i = 0; i < 300000; i++) sum += i % 7;
  http.get(__ENV.TARGET);
}
";

impl Staged {
    /// Runs a script against `front`, with the command started by this shell line.
    fn run_script(&self, shell: &str, script: &str) -> Judged {
        let folder = tempfile::tempdir().expect("there is room");
        let (file, json) = (folder.path().join("s.js"), folder.path().join("r.json"));
        fs::write(&file, script).expect("there is room");
        let mut command = loadline_under(shell);
        command
            .args([
                "run",
                "-q",
                "-e",
                &self.filled("TARGET={front}/ok"),
                "--json",
            ])
            .arg(&json)
            .arg(&file);
        let output = run_to_end(command);
        let text = fs::read_to_string(&json).ok();
        Judged(Ran::of(&output, text.as_deref()))
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_generators_processor() {
    let staged = Staged::start("nothing-staged");
    staged
        .run_script("exec \"$0\" \"$@\"", COMPUTING)
        .limited_by("generator")
        .tells("generator-busy", &[]);
}

/// A control group with a fifth of a CPU, removed at the end; `None` if it cannot be created.
struct Quota(PathBuf);

impl Quota {
    fn make() -> Option<Quota> {
        let name = format!("loadline-e2e-{}", std::process::id());
        let settings = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
        ];
        settings.into_iter().find_map(|(root, file, quota)| {
            let folder = Path::new(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let made = Quota(folder);
            fs::write(made.0.join(file), quota).ok().map(|()| made)
        })
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Its processes have ended; if it stays, it is empty.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_generators_quota() {
    let Some(quota) = Quota::make() else {
        return skip("the_generators_quota", "no control group can be made here");
    };
    let staged = Staged::start("nothing-staged");
    let shell = format!(
        "echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"",
        quota.0.display()
    );
    staged
        .run_script(&shell, COMPUTING)
        .limited_by("generator")
        .tells("generator-throttled", &[]);
}
