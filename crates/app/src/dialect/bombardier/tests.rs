//! bombardier's flags one by one, its refusals, and a command line from a real document.

use std::time::Duration;

use loadline_model::ArrivalRate;
use loadline_model::client::Protocol;
use loadline_model::executor::Executor;
use loadline_model::request::{BodySource, RequestTemplate};

use super::*;

const PEM: &str = "-----BEGIN CERTIFICATE-----\n";

fn outcome(words: &[&str]) -> Result<Job, Ending> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let files = [
        file("body.txt", "from a file"),
        file("all.pem", PEM),
        file("args.txt", "# comment\n-c\n5\n--latencies"),
        file("good.tmpl", "{{ .Result.Req2XX }}"),
        file("bad.tmpl", "{{"),
    ];
    parse(&words, &Files::Memory(files.into()), 7)
}

fn job(line: &str) -> Job {
    let words: Vec<&str> = line.split(' ').collect();
    outcome(&words).unwrap_or_else(|ending| panic!("{line}: {ending}"))
}

fn request(job: &Job) -> RequestTemplate {
    let Some(mix) = job.plan.scenarios[0].requests() else {
        panic!("bombardier sends requests");
    };
    mix.requests[0].clone()
}

fn headers(words: &[&str]) -> Vec<String> {
    let lines = request(&outcome(words).expect("taken")).headers;
    lines
        .iter()
        .map(|line| format!("{}: {}", line.name, line.value.source()))
        .collect()
}

#[test]
fn load() {
    let executor = |line: &str| job(line).plan.scenarios.remove(0).executor;
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(
        executor("u"),
        Executor::ConstantVus {
            vus: 125,
            duration: seconds(10)
        }
    );
    assert_eq!(
        executor("-c 5 -d 2s u"),
        Executor::ConstantVus {
            vus: 5,
            duration: seconds(2)
        }
    );
    let counted = Executor::SharedIterations {
        vus: 7,
        iterations: 7,
        max_duration: None,
    };
    assert_eq!(
        executor("-n 7 -d 1ms u"),
        counted,
        "-n wins over -d, which is then not looked at"
    );
    let Executor::ConstantArrivalRate {
        rate,
        max_vus,
        duration,
        ..
    } = executor("-r 100 u")
    else {
        panic!("not a rate");
    };
    assert_eq!(
        (rate, max_vus, duration),
        (ArrivalRate::per_second(100), 125, seconds(10))
    );
    let plan = job("-t 0 u").plan;
    assert_eq!(plan.client.request_timeout, None);
    assert_eq!(job("u").plan.client.request_timeout, seconds(2));
    assert!(job("u").plan.aggregation.rate_window.is_some());
}

#[test]
fn headers_as_the_clients_send_them() {
    assert_eq!(headers(&["u"]), ["User-Agent: fasthttp", "Host: u"]);
    assert_eq!(
        headers(&["-m", "DELETE", "u"])[2..],
        [
            "Content-Type: application/octet-stream",
            "Content-Length: 0"
        ]
    );
    assert_eq!(
        headers(&[
            "-H",
            "user-agent: me",
            "-H",
            "content-type: a",
            "-H",
            "Content-Type: b",
            "-H",
            "host:foo",
            "-H",
            "x:  y ",
            "u"
        ]),
        ["User-Agent: me", "Host: foo", "Content-Type: b", "X: y"]
    );
    assert_eq!(
        headers(&["--http1", "u"]),
        [
            "Host: u",
            "User-Agent: Go-http-client/1.1",
            "Accept-Encoding: gzip"
        ]
    );
    assert_eq!(
        headers(&["--http1", "--http2", "https://u"])[1],
        "User-Agent: Go-http-client/2.0",
        "the last one wins"
    );
}

#[test]
fn bodies_and_connections() {
    assert_eq!(
        request(&job("-m POST -f body.txt u")).body,
        BodySource::from_bytes(b"from a file".to_vec())
    );
    assert_eq!(
        request(&job("-m POST -s -f body.txt u")).body,
        BodySource::StreamFile {
            path: "body.txt".into()
        }
    );
    assert!(matches!(
        request(&job("-s -b x u")).body,
        BodySource::StreamBytes { length: 1, .. }
    ));
    assert!(
        job("-a u").plan.client.keep_alive,
        "the default client ignores -a"
    );
    assert!(!job("-a --http1 u").plan.client.keep_alive);
    assert!(
        !outcome(&["-H", "Connection: close", "u"])
            .expect("taken")
            .plan
            .client
            .keep_alive
    );
    assert!(!job("-k u").plan.client.tls.verify && job("u").plan.client.tls.verify);
    assert!(
        job("--cert all.pem --key all.pem u")
            .plan
            .client
            .tls
            .identity
            .is_some()
    );
    assert_eq!(
        job("--http2 -c 9 u").plan.client.protocol,
        Protocol::Negotiate { streams: 9 }
    );
}

#[test]
fn what_is_printed() {
    let print = |line: &str| {
        let Print {
            intro,
            progress,
            result,
        } = job(line).print;
        [intro, progress, result]
    };
    assert_eq!(print("u"), [true; 3]);
    assert_eq!(print("-p r u"), [false, false, true]);
    assert_eq!(print("--print=intro,p u"), [true, true, false]);
    assert_eq!(print("-p r -q u"), [false; 3]);
    assert!(
        matches!(job("-o j u").format, Format::Json)
            && matches!(job("-o pt u").format, Format::PlainText)
    );
    assert!(matches!(
        job("-o path:good.tmpl u").format,
        Format::Template(_)
    ));
    assert!(job("u").verdict && !job("--no-verdict u").verdict);
    let from_file = job("@args.txt u");
    assert_eq!(
        (from_file.spec.connections, from_file.spec.latencies),
        (5, true)
    );
    assert_eq!(job("localhost:8080").spec.url, "http://localhost:8080");
}

#[test]
fn refusals() {
    let lines = [
        "",
        "--foo u",
        "-x u",
        "-c",
        "-c abc u",
        "-c 0 u",
        "-c 2000000 u",
        "-n 0 u",
        "-n abc u",
        "-c 99999999999999999999 u",
        "-d 500ms u",
        "-d abc u",
        "-t -1s u",
        "--timeout=-1s u",
        "-r 0 u",
        "-r 2000000000 u",
        "-m FOO u",
        "-m get u",
        "-m HEAD -b a u",
        "-b a -f b u",
        "-H foo u",
        "-H :x u",
        "--cert a u",
        "--key a u",
        "--cert none --key none u",
        "-p a u",
        "-p i,p,r,r u",
        "--print= u",
        "-o foo u",
        "-o path:none u",
        "-o path:bad.tmpl u",
        "-f none -m POST u",
        "ftp://u",
        "http://",
        "a b",
        "@none",
        "--no-connections u",
        "--latencies=true u",
        "-c 1 -c 2 u",
    ];
    let mut told = String::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let ending = outcome(&words).expect_err(line);
        assert_eq!((ending.code.code(), ending.err.as_str()), (1, ""), "{line}");
        told.push_str(&format!("$ bombardier {line}\n{}\n", ending.out));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn help_and_version() {
    let help = outcome(&["--help"]).expect_err("help");
    assert_eq!((help.code.code(), help.out.as_str()), (0, ""));
    insta::assert_snapshot!("help", help.err);
    assert!(
        outcome(&["--version"])
            .expect_err("version")
            .err
            .starts_with("bombardier version")
    );
}

#[test]
fn a_line_from_a_real_document() {
    let job = job("-c 125 -n 100000 http://40.119.56.195:8080");
    insta::assert_snapshot!(serde_json::to_string_pretty(&job.plan).expect("a plan is JSON"));
}

/// Flags named in hints exist.
#[test]
fn hints_name_flags_of_this_tool() {
    for word in loadline_model::hint::words(loadline_model::FrontEnd::Bombardier) {
        let is_it = |flag: &crate::dialect::kingpin::Flag| {
            let short = flag.short.map(|short| format!("-{short}"));
            word == format!("--{}", flag.name) || short.as_deref() == Some(word)
        };
        assert!(flags::KNOWN.iter().any(is_it), "{word}");
    }
}
