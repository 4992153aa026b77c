//! One test on several processes: the same load, the same result, the same end.
//!
//! Must not know the protocol between coordinator and agents. Invariant: the behaviour of several processes is
//! compared with that of one process.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Output;

use loadline_e2e::agents::{SOON, agent, benched, coordinator, keeping, kept, text};
use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::Server;
use loadline_e2e::{clock, loadline, run_to_end, web};
use serde_json::Value;

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
        thresholds: { mine: ['count==93'], checks: ['rate==1'], own: ['max<1'] },
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
            // Virtual users are sampled once a second: whether there are samples depends on the length of the
            // run.
            if (type === 'gauge') continue;
            counts[name] = { thresholds, ...(times || bytes ? {} : { count, passes, fails, min, max }) };
        }
        return { stdout: JSON.stringify(counts) };
    }";

/// Runs the script with these additional options; returns the outcome, and the requests to the server.
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
    assert_eq!(asked_by_one.len(), 93, "{}", text(&one.stderr));
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

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_from_elsewhere_join_with_the_token_and_end_as_the_test_does() {
    let folder = tempfile::tempdir().expect("there is room");
    let load = ["-n", "20", "-c", "2", "--threshold", "p(99)<0.001ms"];
    let (_server, running, at, token) = coordinator(folder.path(), "2", &load);
    // A client that is not an agent disturbs nobody.
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
        why.contains("certificate") || why.contains("it is not a token"),
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

/// The values in a file of `--out json`, each as text, without parts that differ in each run: instants, times
/// and addresses.
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
    // The tag of a URL contains the number of the iteration.
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

/// Command lines with their exit codes and the text that must be named; `S` is a script.
const REFUSED: [(&str, i32, &str); 9] = [
    (
        "run --agents 2 --execution-segment 1/2 S",
        104,
        "--execution-segment",
    ),
    ("run --agents 2 --once S", 104, "--once"),
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
