//! One test on several processes: the same load, the same result, the same end; and what becomes of it when one of them is gone.
//!
//! Must not know what coordinator and agents say to each other. Invariant: what several processes do is held against what one
//! process does.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_e2e::process::{Running, send};
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::{Server, free_port};
use loadline_e2e::{clock, loadline, run_to_end, web};
use serde_json::Value;

/// Far beyond what it takes, so that only a hang reaches it.
const SOON: Duration = Duration::from_secs(10);

/// A server that keeps the targets of all requests, and what it kept.
fn keeping() -> (Server, Arc<Mutex<Vec<String>>>) {
    let kept = Arc::<Mutex<Vec<String>>>::default();
    let keep = Arc::clone(&kept);
    let server = Server::start(move |stream, _| {
        web::serve(stream, |request| {
            let mut kept = keep.lock().expect("nobody panics");
            kept.push(request.word(1).to_owned());
            web::ok("{}")
        })
    });
    (server, kept)
}

fn kept(targets: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    let mut targets = targets.lock().expect("nobody panics").clone();
    targets.sort();
    targets
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(path: &std::path::Path) -> Value {
    let text = fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

const SCRIPT: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { check } from 'k6';
    import { Counter, Trend } from 'k6/metrics';
    const mine = new Counter('mine');
    const own = new Trend('own');
    const data = JSON.parse(open('./data.json'));
    export const options = {
        scenarios: {
            shared: { executor: 'shared-iterations', vus: 5, iterations: 60, exec: 'one' },
            own: { executor: 'per-vu-iterations', vus: 3, iterations: 4, exec: 'two' },
            rate: { executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 5, exec: 'three' },
        },
        thresholds: { mine: ['count==92'], checks: ['rate==1'], own: ['max<1'] },
    };
    export function setup() { console.log('set up'); return { word: data.word }; }
    function send(name, given) {
        const { iterationInTest } = exec.scenario;
        const answer = http.get(`${__ENV.URL}/${name}/${iterationInTest}/${given.word}`, { tags: { name } });
        check(answer, { answered: (it) => it.status === 200 });
        mine.add(1);
        own.add(iterationInTest / 10);
    }
    export function one(given) { send('one', given); }
    export function two(given) { send(`two-${exec.vu.iterationInScenario}`, given); }
    export function three(given) { send('three', given); }
    export function teardown(given) { console.log(`tear down ${given.word}`); }
    export function handleSummary(all) {
        const counts = {};
        for (const [name, { type, values, thresholds }] of Object.entries(all.metrics)) {
            const { count, passes, fails, min, max } = values;
            const times = type === 'trend' && name !== 'own';
            const bytes = name.startsWith('data_');
            // Virtual users are sampled once a second: whether they are at all is the length of the run.
            if (type === 'gauge') continue;
            counts[name] = { thresholds, ...(times || bytes ? {} : { count, passes, fails, min, max }) };
        }
        return { stdout: JSON.stringify(counts) };
    }";

/// Runs the script with these options more; gives what ended, and what the server was asked for.
fn scripted(more: &[&str]) -> (Output, Vec<String>) {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("script.js"), SCRIPT).expect("there is room");
    fs::write(file("data.json"), r#"{"word":"seven"}"#).expect("there is room");
    let mut command = loadline();
    let url = format!("URL=http://{}", server.address());
    command.args(["run", "-q", "-e", &url]).args(more);
    command.arg(file("script.js"));
    let output = run_to_end(command);
    (output, kept(&targets))
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_comes_to_the_same_on_one_process_and_on_several() {
    let (one, asked_by_one) = scripted(&[]);
    assert_eq!(asked_by_one.len(), 92, "{}", text(&one.stderr));
    let counts = |output: &Output| -> Value {
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    for agents in ["1", "2", "3", "8"] {
        let (several, asked) = scripted(&["--agents", agents]);
        assert_eq!(several.status.code(), Some(99), "{}", text(&several.stderr));
        assert_eq!(several.status.code(), one.status.code());
        assert_eq!(counts(&several), counts(&one), "{agents} agents");
        assert_eq!(asked, asked_by_one, "{agents} agents");
        let log = text(&several.stderr);
        for line in ["msg=\"set up\"", "msg=\"tear down seven\""] {
            assert_eq!(log.matches(line).count(), 1, "{agents} agents: {log}");
        }
    }
}

/// A bench against a server that keeps what it is asked for; with the result.
fn benched(more: &[&str], path: &str) -> (Output, Value, Vec<String>) {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let result = folder.path().join("result.json");
    let mut command = loadline();
    command.args(["bench", "-q", "--no-journal"]).args(more);
    command.arg("--json").arg(&result).arg(server.url(path));
    let output = run_to_end(command);
    let result = json(&result);
    (output, result, kept(&targets))
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn requests_of_all_agents_are_those_of_the_plan() {
    let expected: BTreeSet<String> = (0..100).map(|number| format!("/{number}")).collect();
    for load in [&["-n", "100", "-c", "10"][..], &["-n", "100", "-r", "400"]] {
        for agents in ["1", "3", "7"] {
            let options = [&["--agents", agents][..], load].concat();
            let (output, result, asked) = benched(&options, "/{{counter}}");
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            assert_eq!(asked.len(), 100, "{options:?}");
            assert_eq!(
                asked.into_iter().collect::<BTreeSet<_>>(),
                expected,
                "{options:?}"
            );
            let totals = &result["totals"];
            assert_eq!(totals["seen"]["counts"]["good"], 100, "{options:?}");
            assert_eq!(totals["asked"], 100, "{options:?}");
            assert_eq!(result["verdict"]["delivery"], "delivered", "{options:?}");
        }
    }
}

/// A bench that runs for long on three agents, and its server.
fn long_bench(more: &[&str]) -> (Server, tempfile::TempDir, Running) {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let folder = tempfile::tempdir().expect("there is room");
    let mut command = loadline();
    command
        .args(["bench", "-q", "--no-journal", "--agents", "3"])
        .args(more);
    command.arg("--json").arg(folder.path().join("result.json"));
    command.arg(server.url("/"));
    let running = Running::start(command);
    let asked = || (server.accepted() >= 3).then_some(());
    clock::wait_for(SOON, asked).expect("all agents send");
    (server, folder, running)
}

fn is_there(process: u32) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

/// What became of the requests of a run that lost an agent: asked for, completed and lost.
fn conserved(result: &Value) -> (u64, u64, u64) {
    let (totals, counts) = (&result["totals"], &result["totals"]["seen"]["counts"]);
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let by_class = counts["failed"].as_object().expect("by class");
    let failed: u64 = by_class.values().map(number).sum();
    let [started, completed, interrupted, lost] =
        ["started", "completed", "interrupted", "lost"].map(|name| number(&counts[name]));
    assert_eq!(started, completed + failed + interrupted + lost, "{counts}");
    (number(&totals["asked"]), completed, lost)
}

/// What was found of lost agents: its gravity and its text.
fn found_lost(result: &Value) -> (String, String) {
    let found = result["verdict"]["findings"].as_array().expect("findings");
    let lost = found.iter().find(|found| found["code"] == "agent-lost");
    let lost = lost.unwrap_or_else(|| panic!("it is not found: {found:?}"));
    (lost["gravity"].to_string(), lost["text"].to_string())
}

const LOADED: [&str; 6] = ["-r", "300", "-z", "4s", "--max-vus", "60"];

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_lost_agent_is_named_and_its_share_stays_asked_for() {
    let mut command = vec!["--json", "result.json"];
    command.extend(LOADED);
    let folder = tempfile::tempdir().expect("there is room");
    let (server, running, at, token) = coordinator(folder.path(), "3", &command);
    let agents: Vec<Running> = ["vienna", "graz", "linz"]
        .map(|name| Running::start(agent(&at, &token, name)))
        .into();
    let asked = || (server.accepted() >= 3).then_some(());
    clock::wait_for(SOON, asked).expect("all agents send");
    clock::pause(Duration::from_millis(1_300));
    agents[1].signal(libc::SIGKILL);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(112), "{}", text(&output.stderr));
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, _) = conserved(&result);
    assert_eq!(asked, 1_200);
    assert!(
        (800..1_150).contains(&completed),
        "two of three went on: {completed}"
    );
    let verdict = &result["verdict"];
    assert_eq!(
        (&verdict["delivery"], &verdict["limit"]),
        (&"fell-short".into(), &"generator".into())
    );
    let (gravity, lost) = found_lost(&result);
    assert!(gravity.contains("alarm"), "{gravity}");
    let told = "graz was lost with its share of the load, 1/3: its connection was closed";
    assert!(lost.contains(told), "{lost}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn another_makes_the_share_of_a_lost_agent_again() {
    let (_server, folder, running) = long_bench(&LOADED);
    let agents = running.children();
    assert_eq!(agents.len(), 3);
    clock::pause(Duration::from_millis(1_300));
    send(agents[1], libc::SIGKILL);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, lost) = conserved(&result);
    assert_eq!(asked, 1_200);
    // Its share is 100 a second, and the last 1.3 s at least are the other's.
    assert!(
        (1_070..1_200).contains(&(completed + lost)),
        "the share was made again: {completed}, {lost} lost"
    );
    let (gravity, told) = found_lost(&result);
    assert!(gravity.contains("caution"), "{gravity}");
    for part in ["agent-2 was lost", "agent-2 has taken over the share, 1/3"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_run_waits_for_another_where_its_only_agent_is_lost() {
    let script = "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = { scenarios: {
            rate: { executor: 'constant-arrival-rate', rate: 50, duration: '4s', preAllocatedVUs: 5 },
            users: { executor: 'constant-vus', vus: 2, duration: '4s', exec: 'users' },
        } };
        export function setup() { return 'given'; }
        export default function (data) { http.get(`URL${data}/${exec.scenario.iterationInTest}`); }
        export function users() { http.get('URLuser'); }";
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("script.js");
    fs::write(&path, script.replace("URL", &server.url("/"))).expect("there is room");
    let mut command = loadline();
    command.args(["run", "-q", "--agents", "1"]).arg(&path);
    let running = Running::start(command);
    let asked = || (kept(&targets).len() >= 20).then_some(());
    clock::wait_for(SOON, asked).expect("the agent sends");
    send(running.children()[0], libc::SIGKILL);
    let output = running.finish();
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("agent-1 has taken over the share"), "{log}");
    let asked = kept(&targets);
    let given: Vec<&String> = asked.iter().filter(|path| path.contains("given")).collect();
    let distinct: BTreeSet<&&String> = given.iter().collect();
    assert_eq!(distinct.len(), given.len(), "no arrival is made twice");
    assert!(
        given.iter().any(|path| path.ends_with("/199")),
        "to the last one: {}",
        given.len()
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_end_with_their_coordinator_however_it_ends() {
    for (signal, code) in [
        (libc::SIGKILL, None),
        (libc::SIGINT, Some(105)),
        (libc::SIGTERM, Some(105)),
    ] {
        let (_server, _folder, running) = long_bench(&["-c", "6", "-z", "1m", "--pacing", "5ms"]);
        let agents = running.children();
        assert_eq!(agents.len(), 3);
        running.signal(signal);
        let ended = running.finish();
        assert_eq!(ended.status.code(), code, "{}", text(&ended.stderr));
        let gone = || agents.iter().all(|agent| !is_there(*agent)).then_some(());
        clock::wait_for(SOON, gone).expect("no agent is left");
    }
}

/// A coordinator in a folder that waits for so many agents; with its address, its token and its server.
fn coordinator(
    folder: &std::path::Path,
    agents: &str,
    more: &[&str],
) -> (Server, Running, String, String) {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let mut command = loadline();
    let listen = format!("127.0.0.1:{}", free_port());
    command
        .current_dir(folder)
        .args(["bench", "-q", "--no-journal"])
        .args(more)
        .args(["--agents", agents, "--listen", &listen]);
    command.arg(server.url("/"));
    let running = Running::start(command);
    let token = clock::wait_for(SOON, || {
        let told = running.errors_so_far();
        let (_, behind) = told.split_once("LOADLINE_JOIN_TOKEN=")?;
        let (token, _) = behind.split_once(" loadline agent --join ")?;
        Some(token.to_owned())
    });
    (server, running, listen, token.expect("the token is told"))
}

fn agent(at: &str, token: &str, name: &str) -> Command {
    let mut command = loadline();
    command.args(["agent", "--join", at, "--name", name]);
    command.env("LOADLINE_JOIN_TOKEN", token);
    command
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_from_elsewhere_join_with_the_token_and_end_as_the_test_does() {
    let folder = tempfile::tempdir().expect("there is room");
    let load = ["-n", "20", "-c", "2", "--threshold", "p(99)<0.001ms"];
    let (_server, running, at, token) = coordinator(folder.path(), "2", &load);
    // Whoever is no agent disturbs nobody.
    let mut noise = TcpStream::connect(&at).expect("it listens");
    noise
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .expect("it is taken");
    let vienna = Running::start(agent(&at, &token, "vienna"));
    let joined = |name: &str| {
        let told = || running.errors_so_far().contains(name).then_some(());
        clock::wait_for(SOON, told).unwrap_or_else(|| panic!("{}", running.errors_so_far()));
    };
    joined("vienna has joined: 1 of 2");
    let other = token.chars().rev().collect::<String>();
    let stranger = run_to_end(agent(&at, &other, "stranger"));
    assert_eq!(stranger.status.code(), Some(104));
    let why = text(&stranger.stderr);
    assert!(
        why.contains("certificate") || why.contains("it is no token"),
        "{why}"
    );
    let graz = run_to_end(agent(&at, &token, "graz"));
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(99), "{}", text(&ended.stderr));
    assert_eq!(graz.status.code(), Some(99), "{}", text(&graz.stderr));
    let vienna = vienna.finish();
    assert_eq!(vienna.status.code(), Some(99));
    let (result, told) = (text(&ended.stdout), text(&graz.stdout));
    assert!(!result.is_empty() && told.contains(&result), "{told}");
    let elsewhere = "one of the 2 agents of a test; its result is in the log of graz\n";
    assert_eq!(text(&vienna.stdout), elsewhere);
    assert!(!text(&ended.stderr).contains("stranger"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_last_line_of_progress_knows_what_all_agents_did() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("counted.js");
    let script = "import http from 'k6/http';
        export const options = { vus: 6, iterations: 60 };
        export default function () { http.get('URL'); }";
    fs::write(&path, script.replace("URL", &server.url("/"))).expect("there is room");
    let mut command = loadline();
    command.args(["run", "--agents", "3"]).arg(&path);
    let ended = run_to_end(command);
    let told = text(&ended.stdout) + &text(&ended.stderr);
    let last = "60 complete and 0 interrupted iterations";
    assert!(told.contains(last), "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_test_is_one_whoever_steers_it() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let url = server.url("/");
    let folder = tempfile::tempdir().expect("there is room");
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let text = text.replace("URL", &url);
        fs::write(&path, format!("import http from 'k6/http';\n{text}")).expect("there is room");
        path
    };
    let run = |more: &[&str], path: &std::path::Path| {
        let mut command = loadline();
        command
            .args(["run", "-q", "--agents", "3"])
            .args(more)
            .arg(path);
        command
    };
    let aborting = script(
        "abort.js",
        "import exec from 'k6/execution';
         export const options = { vus: 6, duration: '1m' };
         export default function () {
             if (exec.vu.idInTest === 5) exec.test.abort('enough');
             http.get('URL');
         }",
    );
    let ended = run_to_end(run(&[], &aborting));
    assert_eq!(ended.status.code(), Some(108), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("enough"));
    let crossing = script(
        "crossing.js",
        "export const options = { vus: 6, duration: '1m',
             thresholds: { http_reqs: [{ threshold: 'count<50', abortOnFail: true }] } };
         export default function () { http.get('URL'); }",
    );
    let ended = run_to_end(run(&[], &crossing));
    assert_eq!(ended.status.code(), Some(99), "{}", text(&ended.stderr));
    let throwing = script(
        "throwing.js",
        "export const options = { vus: 3, iterations: 3 };
         if (__VU === 2) throw new Error('no init');
         export default function () {}",
    );
    let ended = run_to_end(run(&[], &throwing));
    assert_ne!(ended.status.code(), Some(0));
    assert!(
        text(&ended.stderr).contains("no init"),
        "{}",
        text(&ended.stderr)
    );
    let steered = script(
        "steered.js",
        "export const options = { scenarios: { all: { executor: 'externally-controlled', vus: 3, maxVUs: 12, duration: '1m' } } };
         export default function () { http.get('URL'); }",
    );
    let api = RestApi::free();
    let running = Running::start(run(&["--address", api.address()], &steered));
    api.wait_for("vus", 3);
    assert_eq!(api.change(r#"{"vus":9}"#).status, 200);
    api.wait_for("vus", 9);
    assert_eq!(api.change(r#"{"stopped":true}"#).status, 200);
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(103), "{}", text(&ended.stderr));
}

/// The values of a file of `--out json`, each as text, without what is another one in each run: instants, times and places.
fn json_values(path: &std::path::Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("it was written");
    let values = text.lines().map(|line| -> Value {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    let is_counted = |line: &Value| {
        let metric = line["metric"].as_str().unwrap_or_default();
        let is_time = metric.contains("duration") || metric.starts_with("http_req_");
        line["type"] == "Point" && !metric.starts_with("vus") && !is_time
    };
    let mut told: Vec<String> = values
        .filter(is_counted)
        .map(|line| {
            format!(
                "{} {} {}",
                line["metric"], line["data"]["value"], line["data"]["tags"]
            )
        })
        .collect();
    told.sort();
    told
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn outputs_get_each_value_of_all_agents() {
    let folder = tempfile::tempdir().expect("there is room");
    let files = ["one", "three"].map(|name| folder.path().join(format!("{name}.json")));
    let outs = files
        .each_ref()
        .map(|path| format!("json={}", path.display()));
    let csv = folder.path().join("three.csv");
    let csv_out = format!("csv={}", csv.display());
    // The tag of a URL has the number of the iteration.
    let tags = "--system-tags=name,status,check,scenario,method,expected_response";
    let (_, asked) = scripted(&[tags, "--out", &outs[0]]);
    let three = ["--agents", "3", tags, "--out", &outs[1], "--out", &csv_out];
    let (output, _) = scripted(&three);
    assert_eq!(output.status.code(), Some(99), "{}", text(&output.stderr));
    let told = files.each_ref().map(|path| json_values(path));
    let requests = |told: &[String]| {
        let requests = told.iter().filter(|line| line.starts_with("\"http_reqs\""));
        requests.count()
    };
    assert_eq!(requests(&told[0]), asked.len());
    assert_eq!(told[0], told[1]);
    let rows = fs::read_to_string(&csv).expect("it was written");
    let rows = rows.lines().filter(|line| line.starts_with("http_reqs,"));
    assert_eq!(rows.count(), asked.len());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn samples_of_all_agents_are_in_the_csv() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows = |agents: &[&str]| {
        let csv = folder.path().join("samples.csv");
        let path = csv.display().to_string();
        let options = [agents, &["-n", "3000", "-c", "12", "--csv", &path]].concat();
        let (output, _, asked) = benched(&options, "/");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(asked.len(), 3_000);
        let text = fs::read_to_string(&csv).expect("it was written");
        let mut lines = text.lines();
        let head = lines.next().map(str::to_owned);
        let status = |line: &str| line.matches(",200,").count() > 0;
        assert!(lines.clone().all(status), "{head:?}");
        (head, lines.count())
    };
    let one = rows(&[]);
    assert_eq!(one.1, 3_000);
    assert_eq!(rows(&["--agents", "3"]), one);
}

/// Command lines with their exit codes and what is named; `S` is a script.
const REFUSED: [(&str, i32, &str); 10] = [
    (
        "run --agents 2 --execution-segment 1/2 S",
        104,
        "--execution-segment",
    ),
    ("run --agents 2 --once S", 104, "--once"),
    (
        "run --agents 2 --secret-source mock=a=b S",
        104,
        "--secret-source",
    ),
    ("run --agents 0 S", 255, "--agents 0"),
    ("run --agents 1001 S", 255, "1000"),
    ("run --listen 127.0.0.1:1 S", 255, "--agents"),
    ("run --agents 2 --identity x.pem S", 255, "--listen"),
    (
        "bench --agents 2 --listen 127.0.0.1:0 --identity S http://127.0.0.1:9/",
        104,
        "certificate",
    ),
    ("agent --join 127.0.0.1:9", 104, "token"),
    (
        "agent --join nowhere --token AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        104,
        "a port",
    ),
];

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_agents_cannot_do_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    fs::write(&script, "export default function () {}").expect("there is room");
    let script = script.display().to_string();
    for (line, code, named) in REFUSED {
        let words = line.split(' ').map(|word| match word {
            "S" => script.as_str(),
            word => word,
        });
        let output = loadline_e2e::run(words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {told}");
        assert!(told.contains(named), "{line}: {told}");
    }
}
