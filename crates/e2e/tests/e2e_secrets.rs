//! Secrets in every form in which a user writes them, and every place where they could become visible.
//!
//! Must not know how they are hidden. Invariant: each form contains the same word, and everything that a run
//! leaves behind is searched for it, byte by byte.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_e2e::agents::agent;
use loadline_e2e::process::Running;
use loadline_e2e::server::{Server, free_port};
use loadline_e2e::{clock, loadline, run_to_end, web};

/// The secret word.
const SECRET: &str = "s3cr3tw0rd";

/// A server that records the head of each request, in lower case.
fn keeping_heads() -> (Server, Arc<Mutex<Vec<String>>>) {
    let kept = Arc::<Mutex<Vec<String>>>::default();
    let keep = Arc::clone(&kept);
    let server = Server::start(move |stream, _| {
        web::serve(stream, |request| {
            let head = request.head.to_lowercase();
            keep.lock().expect("nobody panics").push(head);
            web::ok("ok")
        })
    });
    (server, kept)
}

fn server() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")))
}

/// Forms as words of `bench`; `HOST` is the target's host and port, `WORD` the secret.
const BENCH: [&[&str]; 24] = [
    &["-u", "me:WORD", "http://HOST/"],
    &["-ume:WORD", "http://HOST/"],
    &["-qume:WORD", "http://HOST/"],
    &["--user=me:WORD", "http://HOST/"],
    &["--bearer", "WORD", "http://HOST/"],
    &["-H", "Authorization: Bearer WORD", "http://HOST/"],
    &["-HCookie: id=WORD", "http://HOST/"],
    &["--header=api-key: WORD", "http://HOST/"],
    &["-H", "apikey: WORD", "http://HOST/"],
    &["-H", "x-api-key: WORD", "http://HOST/"],
    &["-H", "PRIVATE-TOKEN: WORD", "http://HOST/"],
    &["-H", "X-Amz-Security-Token: WORD", "http://HOST/"],
    &["-H", "X-Session-Id: WORD", "http://HOST/"],
    &["-H", "Referer: http://u:WORD@h/", "http://HOST/"],
    &["-F", "password=WORD", "http://HOST/"],
    &["-b", "user=u&password=WORD", "http://HOST/"],
    &["-b", "{\"client_secret\": \"WORD\"}", "http://HOST/"],
    &[
        "-b",
        "{\"token\": \"WORD\", \"n\": {{counter}}}",
        "http://HOST/",
    ],
    &["http://me:WORD@HOST/"],
    &["http://HOST/?access_token=WORD&a=b"],
    &["http://HOST/?a=b&api_key=WORD"],
    &["http://HOST/{{counter}}?sig=WORD"],
    &["-x", "http://me:WORD@HOST", "http://shop.example/"],
    &["--label", "deploy_token=WORD", "http://HOST/"],
];

fn filled(words: &[&str], host: &str) -> Vec<String> {
    let fill = |word: &&str| word.replace("HOST", host).replace("WORD", SECRET);
    words.iter().map(fill).collect()
}

/// Fails if the word is in any file below a folder or in a stream.
fn nowhere(form: &[String], folder: &Path, output: &Output) {
    let shows = |bytes: &[u8]| {
        bytes
            .windows(SECRET.len())
            .any(|at| at == SECRET.as_bytes())
    };
    for (name, stream) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(stream);
        assert!(!shows(stream), "{form:?} in {name}: {text}");
    }
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it is there").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let bytes = fs::read(&path).expect("it is readable");
                    let around = String::from_utf8_lossy(&bytes);
                    let around = around.find(SECRET).map(|at| {
                        let start = around[..at].char_indices().nth_back(60).map_or(0, |c| c.0);
                        around[start..at + SECRET.len()].to_owned()
                    });
                    assert!(!shows(&bytes), "{form:?} in {}: {around:?}", path.display());
                }
            }
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_secret_of_a_bench_is_seen_anywhere() {
    let server = server();
    let host = server.address().to_string();
    for form in BENCH {
        let form = filled(form, &host);
        let folder = tempfile::tempdir().expect("there is room");
        let mut command = loadline();
        command
            .current_dir(folder.path())
            .args(["bench", "-n", "20", "-c", "2", "--json", "result.json"])
            .args([
                "--report",
                "report.html",
                "--charts",
                "charts",
                "-o",
                "json=lines.json",
            ])
            .args(["-o", "junit=junit.xml", "--journal", "run.journal"])
            .args(&form);
        let output = run_to_end(command);
        assert_eq!(output.status.code(), Some(0), "{form:?}: {output:?}");
        nowhere(&form, folder.path(), &output);
        // The content of the journal, as it would be reported after a crash.
        let mut told = loadline();
        told.current_dir(folder.path())
            .args(["report", "--json", "run.journal"]);
        nowhere(&form, folder.path(), &run_to_end(told));
        let result = fs::read_to_string(folder.path().join("result.json")).expect("written");
        assert!(result.contains("***"), "{form:?} is told to be hidden");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_secret_of_another_tools_command_line_is_seen_anywhere() {
    let server = server();
    let host = server.address().to_string();
    let forms: [&[&str]; 9] = [
        &["hey", "-n", "4", "-c", "2", "-a", "me:WORD", "http://HOST/"],
        &["hey", "-n", "4", "-c", "2", "-a=me:WORD", "http://HOST/"],
        &[
            "hey",
            "-n",
            "4",
            "-c",
            "2",
            "-H",
            "apikey: WORD",
            "http://HOST/?token=WORD",
        ],
        &[
            "hey",
            "-n",
            "4",
            "-c",
            "2",
            "-m",
            "POST",
            "-d",
            "password=WORD",
            "http://HOST/",
        ],
        &[
            "bombardier",
            "-n",
            "4",
            "-c",
            "2",
            "-H",
            "Cookie: a=WORD",
            "http://HOST/",
        ],
        &["bombardier", "-n", "4", "-c", "2", "http://HOST/?sig=WORD"],
        &[
            "bombardier",
            "-n",
            "4",
            "-c",
            "2",
            "-o",
            "json",
            "-m",
            "POST",
            "-b",
            "pwd=WORD",
            "http://HOST/",
        ],
        // Refused arguments are quoted in the message.
        &["bench", "http://me:WORD@HOST:x/"],
        &["bench", "-x", "ftp://me:WORD@HOST/", "http://HOST/"],
    ];
    for form in forms {
        let form = filled(form, &host);
        let folder = tempfile::tempdir().expect("there is room");
        let mut command = loadline();
        command
            .current_dir(folder.path())
            .env("LOADLINE_JSON", folder.path().join("result.json"))
            .args(&form);
        nowhere(&form, folder.path(), &run_to_end(command));
    }
}

const SCRIPT: &str = "
    import http from 'k6/http';
    export const options = { scenarios: { s: { executor: 'shared-iterations', iterations: 2,
        vus: 1, env: { STORE_PASSWD: 'WORD' } } } };
    export default function () {
        http.get('http://me:WORD@127.0.0.1:1/?access_token=WORD');
        http.get('http://[::1?api_key=WORD');
        http.post('http://HOST/', { password: 'WORD' }, { headers: { 'X-Api-Key': 'WORD' } });
    }";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_secret_of_a_script_is_seen_anywhere() {
    let server = server();
    let host = server.address().to_string();
    let scripts = tempfile::tempdir().expect("there is room");
    let script = scripts.path().join("script.js");
    let text = SCRIPT.replace("HOST", &host).replace("WORD", SECRET);
    fs::write(&script, text).expect("there is room");
    for words in [
        &["-e", "API_TOKEN=WORD"][..],
        &["-eAPI_TOKEN=WORD"],
        &["--env=API_TOKEN=WORD", "--log-output", "file=log.txt"],
        &["--once"],
        &["--control-token", "WORD"],
    ] {
        let form = filled(words, &host);
        let folder = tempfile::tempdir().expect("there is room");
        let mut command = loadline();
        command
            .current_dir(folder.path())
            .args(["run", "--json", "result.json", "--report", "report.html"])
            .args(["--journal", "run.journal", "--out", "junit=junit.xml"])
            .args(&form)
            .arg(&script);
        nowhere(&form, folder.path(), &run_to_end(command));
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_secret_of_a_suite_is_seen_anywhere() {
    let server = server();
    let host = server.address().to_string();
    let folder = tempfile::tempdir().expect("there is room");
    let suites = tempfile::tempdir().expect("there is room");
    let file = suites.path().join("suite.yaml");
    let suite = "
name: s
rows:
  - {name: inline, bench: '-n 10 -c 1 -u me:WORD -H \"X-Api-Key: WORD\" http://HOST/?token=WORD', env: {API_TOKEN: WORD}}
  - {name: dialect, hey: '-n 10 -c 1 -a me:WORD http://HOST/'}
";
    let suite = suite.replace("HOST", &host).replace("WORD", SECRET);
    fs::write(&file, suite).expect("there is room");
    let mut command = loadline();
    command
        .current_dir(folder.path())
        .args(["suite", "run", "--state", "state"])
        .arg(&file);
    let output = run_to_end(command);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    nowhere(&["suite".to_owned()], folder.path(), &output);
}

/// The journal of a killed run.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_secret_is_told_after_a_crash() {
    let server = server();
    let url = format!("http://me:{SECRET}@{}/?token={SECRET}", server.address());
    let folder = tempfile::tempdir().expect("there is room");
    let journal = folder.path().join("run.journal");
    let mut command = loadline();
    command.args([
        "bench",
        "-r",
        "20",
        "-z",
        "60s",
        "-ume:s3cr3tw0rd",
        "--journal",
    ]);
    command.arg(&journal).arg(&url);
    let running = Running::start(command);
    let grown = clock::wait_for(Duration::from_secs(20), || {
        let length = fs::metadata(&journal).ok()?.len();
        (length > 1000).then_some(())
    });
    grown.expect("the journal is written");
    running.signal(libc::SIGKILL);
    nowhere(std::slice::from_ref(&url), folder.path(), &running.finish());
    let mut told = loadline();
    told.args(["report", "--json"]).arg(&journal);
    let told = run_to_end(told);
    assert!(!told.stdout.is_empty());
    nowhere(&[url], folder.path(), &told);
}

/// A script that shows its secret in every way that leaves an agent.
const SHOWING: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import secrets from 'k6/secrets';
    export const options = { vus: 4, iterations: 8 };
    export async function setup() { return { first: await secrets.get('first') }; }
    export default async function (given) {
        const word = await secrets.get('word');
        console.log(`it is ${word}, and ${given.first}`);
        http.get('http://HOST/', { headers: { 'X-Word': `${word}-${given.first}` } });
        if (exec.scenario.iterationInTest === 7) exec.test.abort(`no more of ${word}`);
        throw new Error(`thrown: ${word}`);
    }";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_read_secrets_from_their_own_source_and_show_none() {
    let (server, heads) = keeping_heads();
    let scripts = tempfile::tempdir().expect("there is room");
    let file = |name: &str| scripts.path().join(name).display().to_string();
    let text = SHOWING.replace("HOST", &server.address().to_string());
    fs::write(file("script.js"), text).expect("there is room");
    let secrets = format!("word={SECRET}\nfirst={SECRET}-first\n");
    fs::write(file("secrets"), secrets).expect("there is room");
    let folder = tempfile::tempdir().expect("there is room");
    let mut command = loadline();
    command
        .current_dir(folder.path())
        .args(["run", "--agents", "3", "--json", "result.json"])
        .args(["--journal", "run.journal", "--out", "json=lines.json"])
        .arg(format!("--secret-source=file={}", file("secrets")))
        .arg(file("script.js"));
    let output = run_to_end(command);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(108), "{told}");
    let hidden = "***SECRET_REDACTED***";
    for line in ["it is ", "thrown: ", "no more of "] {
        assert!(told.contains(&format!("{line}{hidden}")), "{told}");
    }
    nowhere(&[], folder.path(), &output);
    let sent = format!("x-word: {SECRET}-{SECRET}-first");
    let heads = heads.lock().expect("nobody panics");
    assert!(heads.iter().all(|head| head.contains(&sent)), "{heads:?}");
    assert!(!heads.is_empty());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_without_the_source_of_secrets_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let elsewhere = tempfile::tempdir().expect("there is room");
    let script = "import secrets from 'k6/secrets'; export default function () {}";
    fs::write(folder.path().join("script.js"), script).expect("there is room");
    fs::write(folder.path().join("secrets"), "a=b").expect("there is room");
    let listen = format!("127.0.0.1:{}", free_port());
    let token = "A".repeat(43);
    let mut command = loadline();
    command
        .current_dir(folder.path())
        .env("LOADLINE_JOIN_TOKEN", &token)
        .args(["run", "--agents", "1", "--listen", &listen])
        .args(["--secret-source", "file=secrets", "script.js"]);
    let running = Running::start(command);
    let mut far = agent(&listen, &token, "far");
    far.current_dir(elsewhere.path());
    let agent = Running::start(far);
    let ended = running.finish();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_ne!(ended.status.code(), Some(0), "{told}");
    for word in ["far", "--secret-source", "secrets"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    drop(agent.finish());
}
