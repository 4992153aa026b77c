//! hey's flags one by one, its refusals, and command lines from real documents.

use std::time::Duration;

use loadline_model::client::Protocol;
use loadline_model::executor::Executor;
use loadline_model::request::{BodySource, RequestTemplate};
use loadline_model::{ArrivalRate, Behaviour, OnExhausted};

use super::*;

fn outcome(words: &[&str]) -> Result<Job, Ending> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let files = Files::Memory([("body.txt".to_owned(), b"from a file".to_vec())].into());
    parse(&words, &files, 7)
}

fn job(line: &str) -> Job {
    let words: Vec<&str> = line.split(' ').collect();
    outcome(&words).unwrap_or_else(|ending| panic!("{line}: {ending}"))
}

fn executor(line: &str) -> Executor {
    job(line).plan.scenarios.remove(0).executor
}

fn request(job: &Job) -> RequestTemplate {
    let Some(mix) = job.plan.scenarios[0].requests() else {
        panic!("hey sends requests");
    };
    mix.requests[0].clone()
}

fn headers(job: &Job) -> Vec<String> {
    let lines = request(job).headers;
    lines
        .iter()
        .map(|line| format!("{}: {}", line.name, line.value.source()))
        .collect()
}

#[test]
fn load() {
    let shared = |vus, iterations| Executor::SharedIterations {
        vus,
        iterations,
        max_duration: None,
    };
    assert_eq!(executor("u"), shared(50, 200));
    let odd = job("-n 205 -c 10 u");
    assert_eq!(odd.plan.scenarios[0].executor, shared(10, 200));
    assert!(
        odd.notes[0].contains("200 requests in total"),
        "{:?}",
        odd.notes
    );
    assert!(job("-n 200 -c 10 u").notes.is_empty() && job("-z 1s u").notes.is_empty());
    let timed = Executor::ConstantVus {
        vus: 50,
        duration: Some(Duration::from_secs(300)),
    };
    assert_eq!(executor("-n 10 -z 5m u"), timed, "-n is ignored with -z");
    let Executor::ConstantArrivalRate {
        rate,
        max_vus,
        iterations,
        ..
    } = executor("-q 2.5 -c 10 -n 30 u")
    else {
        panic!("not a rate");
    };
    assert_eq!(
        (rate, max_vus, iterations),
        (ArrivalRate::per_second(25), 10, Some(30))
    );
    assert_eq!(executor("-q -1 u"), shared(50, 200));
    let scenario = job("-q 1 -t 80 u").plan.scenarios.remove(0);
    assert_eq!(
        (scenario.on_exhausted, scenario.queue_grace),
        (OnExhausted::Queue, Duration::ZERO)
    );
    assert_eq!(scenario.graceful_stop, Duration::from_secs(80));
    assert_eq!(job("-cpus 1 u").plan.workers, Some(1));
}

#[test]
fn headers_as_go_sends_them() {
    assert_eq!(
        headers(&job("u")),
        [
            "Host: u",
            "User-Agent: hey/0.0.1",
            "Content-Type: text/html",
            "Accept-Encoding: gzip"
        ]
    );
    let all = outcome(&[
        "-m",
        "post",
        "-d",
        "abc",
        "-H",
        "x-b: 1",
        "-H",
        "X-B: 2",
        "-H",
        "content-type: z",
        "-U",
        "me",
        "-A",
        "foo",
        "-host",
        "hh",
        "-a",
        "u:pw",
        "-disable-compression",
        "-H",
        "Host: ignored",
        "u",
    ])
    .expect("taken");
    assert_eq!(
        headers(&all),
        [
            "Host: hh",
            "User-Agent: me hey/0.0.1",
            "Content-Length: 3",
            "Accept: foo",
            "Authorization: Basic dTpwdw==",
            "Content-Type: z",
            "X-B: 2"
        ]
    );
    assert_eq!(request(&all).method, "POST");
    let agent = outcome(&["-H", "User-Agent: zz", "-T", "a/b", "-m", "HEAD", "u"]).expect("taken");
    assert_eq!(
        headers(&agent),
        ["Host: u", "User-Agent: zz hey/0.0.1", "Content-Type: a/b"]
    );
}

#[test]
fn hosts_and_empty_values_as_go_sends_them() {
    let host = |host: &str| {
        let job = outcome(&["-host", host, "u"]).expect("taken");
        headers(&job)[0].clone()
    };
    assert_eq!(host("a:80"), "Host: a:80");
    assert_eq!(host("a:"), "Host: a:");
    assert_eq!(host("a b"), "Host: ");
    assert_eq!(host("a/b"), "Host: ");
    assert_eq!(host("\u{fc}.test:8"), "Host: xn--tda.test:8");
    assert_eq!(host("B\u{fc}cher.test"), "Host: xn--Bcher-kva.test");
    assert_eq!(host("[fe80::1%25lo]:80"), "Host: [fe80::1]:80");
    let empty = outcome(&["-T", "", "-H", "X-Empty: ", "u:80/"]).expect("taken");
    let lines = headers(&empty);
    assert_eq!(lines[0], "Host: u:80", "a port that was written is sent");
    assert_eq!(lines[2..4], ["Content-Type: ", "X-Empty: "]);
}

#[test]
fn bodies() {
    assert_eq!(
        request(&job("-d x -D body.txt u")).body,
        BodySource::from_bytes(b"from a file".to_vec())
    );
    assert_eq!(
        request(&job("-d {{counter}} u")).body,
        BodySource::from_bytes(b"{{counter}}".to_vec())
    );
    assert_eq!(
        request(&job("u/{{x}}")).target.as_literal(),
        Some("/%7B%7Bx%7D%7D")
    );
}

#[test]
fn connections() {
    let client = job("-host n -t 0 -disable-keepalive -x http://p:3128 https://h")
        .plan
        .client;
    assert!(!client.tls.verify && !client.keep_alive);
    assert_eq!(
        (client.request_timeout, client.tls.server_name.as_deref()),
        (None, Some("n"))
    );
    assert_eq!(client.proxy.map(|proxy| proxy.port), Some(3128));
    assert_eq!(
        job("-h2 -c 7 https://h").plan.client.protocol,
        Protocol::Negotiate { streams: 7 }
    );
    let redirects = |line: &str| {
        let Behaviour::Requests(mix) = job(line).plan.scenarios.remove(0).behaviour else {
            panic!("hey sends requests");
        };
        mix.redirects_max
    };
    assert_eq!((redirects("u"), redirects("-disable-redirects u")), (9, 0));
}

#[test]
fn outputs() {
    assert!(matches!(job("u").output, Output::Summary));
    let csv = job("-o csv u");
    assert!(matches!(csv.output, Output::Csv) && csv.plan.aggregation.samples);
    let template = job("-o {{.Total}} u");
    assert!(matches!(template.output, Output::Template(_)) && !template.plan.aggregation.samples);
    assert!(
        outcome(&["-o", "{{jsonify .}}", "u"])
            .expect("taken")
            .plan
            .aggregation
            .samples
    );
    let sizes_by = |line: &str| job(line).plan.aggregation.by_header;
    assert_eq!(sizes_by("-m head u").as_deref(), Some("Content-Length"));
    assert_eq!(sizes_by("u"), None);
    assert!(!job("-no-verdict u").verdict && !job("--no-verdict u").verdict);
}

#[test]
fn refusals() {
    let lines: [&[&str]; 21] = [
        &[],
        &["-n", "5", "-c", "10", "u"],
        &["-c", "0", "u"],
        &["-n", "0", "-c", "1", "u"],
        &["-z", "5s", "-c", "0", "u"],
        &["-c", "5000000", "-n", "5000000", "u"],
        &["-q", "1e9", "u"],
        &["-t", "-1", "u"],
        &["-foo", "u"],
        &["-n", "abc", "u"],
        &["-n"],
        &["-H", "foo", "u"],
        &["-H", "a.b: c", "u"],
        &["-H", "a:", "u"],
        &["-a", "foo", "u"],
        &["-h", "foo", "u"],
        &["-D", "none.txt", "u"],
        &["-x", "socks5://p", "u"],
        &["-m", "G T", "u"],
        &["-o", "{{", "u"],
        &["http://local host:1"],
    ];
    let mut told = String::new();
    for words in lines {
        let ending = outcome(words).expect_err("refused");
        assert_eq!(ending.out, "");
        let err = ending.err.replace(usage::USAGE, "[usage]\n");
        told.push_str(&format!(
            "$ hey {}\n[exit {}]\n{err}\n",
            words.join(" "),
            ending.code.code()
        ));
    }
    insta::assert_snapshot!(told);
    insta::assert_snapshot!("usage", usage::USAGE);
    let help = outcome(&["-help"]).expect_err("help");
    assert_eq!(
        (help.code.code(), help.out.as_str(), help.err.as_str()),
        (0, "", usage::USAGE)
    );
}

#[test]
fn lines_from_real_documents() {
    let body = r#"{"query":"your_query_here", "topk": 10}"#;
    let first = outcome(&[
        "-n",
        "100000",
        "-q",
        "50",
        "-z",
        "5m",
        "-m",
        "POST",
        "-H",
        "Content-Type: application/json",
        "-d",
        body,
        "http://localhost:50016/predict",
    ])
    .expect("taken");
    insta::assert_snapshot!(serde_json::to_string_pretty(&first.plan).expect("a plan is JSON"));
    let second = outcome(&[
        "-q",
        "100",
        "-z",
        "10m",
        "-t",
        "80",
        "-c",
        "100",
        "-m",
        "POST",
        "-H",
        "Content-type: application/json",
        "-d",
        body,
        "http://localhost:53517/predict",
    ])
    .expect("taken");
    let rate = second.plan.scenarios[0].executor.peak_rate();
    assert_eq!(rate, Some(10_000.0), "-q is each worker's own");
}

/// Flags named in hints exist.
#[test]
fn hints_name_flags_of_this_tool() {
    for word in loadline_model::hint::words(loadline_model::FrontEnd::Hey) {
        let name = word.strip_prefix('-').unwrap_or_default();
        let known = flags::KNOWN.iter().any(|(flag, _)| *flag == name);
        assert!(known, "{word}");
    }
}
