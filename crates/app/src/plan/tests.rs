//! The effect of each option of `bench`, and what cannot be run.

use std::time::Duration;

use loadline_model::client::{IpChoice, Protocol, TlsVersion};
use loadline_model::executor::{Executor, Spacing};
use loadline_model::request::{BodySource, RequestMix, RequestOrder, RequestTemplate};
use loadline_model::{ArrivalRate, Behaviour, TestPlan};

use super::tests_support::outcome;
use crate::Env;

const PEM: &str = "-----BEGIN CERTIFICATE-----\nx\n-----BEGIN PRIVATE KEY-----\ny\n";
const FILES: &[(&str, &str)] = &[
    ("body.json", "{\"a\":1}"),
    ("template.json", "{\"n\":{{counter}}}"),
    ("words.txt", "drill\nsaw\n"),
    (
        "urls.txt",
        "# a comment\nhttp://h/a\n\nPOST http://h/b?n={{random 1 9}}\n",
    ),
    ("empty.txt", "\n"),
    ("bad-urls.txt", "http://h/\nftp://h/\n"),
    ("all.pem", PEM),
];

fn outcome_in(line: &str, env: &Env) -> Result<TestPlan, String> {
    let words: Vec<String> = line.split(' ').map(|word| word.replace('~', " ")).collect();
    outcome(
        &[vec!["loadline".to_owned(), "bench".to_owned()], words].concat(),
        env,
        FILES,
    )
}

/// The plan of a command line; `~` represents a space within a word.
fn plan(line: &str) -> TestPlan {
    outcome_in(line, &Env::default()).unwrap_or_else(|why| panic!("{line}: {why}"))
}

fn executor(line: &str) -> Executor {
    plan(line).scenarios.remove(0).executor
}

fn mix(line: &str) -> RequestMix {
    let Behaviour::Requests(mix) = plan(line).scenarios.remove(0).behaviour else {
        panic!("bench sends requests");
    };
    mix
}

fn request(line: &str) -> RequestTemplate {
    mix(line).requests.remove(0)
}

fn header(line: &str, name: &str) -> Option<String> {
    let request = request(line);
    let found = request
        .headers
        .iter()
        .find(|line| line.name.eq_ignore_ascii_case(name));
    found.map(|line| line.value.source().to_owned())
}

#[test]
fn closed_models() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(
        executor("h"),
        Executor::ConstantVus {
            vus: 50,
            duration: seconds(10)
        }
    );
    assert_eq!(
        executor("-c 5 -z 1m h"),
        Executor::ConstantVus {
            vus: 5,
            duration: seconds(60)
        }
    );
    assert_eq!(
        executor("-d 3 h"),
        Executor::ConstantVus {
            vus: 50,
            duration: seconds(3)
        }
    );
    let counted = |vus, iterations, max_duration| Executor::SharedIterations {
        vus,
        iterations,
        max_duration,
    };
    assert_eq!(executor("-n 10k h"), counted(50, 10_000, None));
    assert_eq!(executor("-n 7 -c 50 h"), counted(7, 7, None));
    assert_eq!(executor("-n 100 -z 2s h"), counted(50, 100, seconds(2)));
    assert_eq!(
        plan("--pacing 100ms h").scenarios[0].pacing,
        Some(Duration::from_millis(100))
    );
}

#[test]
fn open_models() {
    let Executor::ConstantArrivalRate {
        rate,
        duration,
        spacing,
        iterations,
        pre_allocated_vus,
        max_vus,
    } = executor("-r 500 -c 20 h")
    else {
        panic!("not a constant rate");
    };
    assert_eq!(
        (rate, duration),
        (ArrivalRate::per_second(500), Some(Duration::from_secs(10)))
    );
    assert_eq!(
        (spacing, iterations, pre_allocated_vus, max_vus),
        (Spacing::Even, None, 20, 200)
    );
    assert_eq!(
        executor("-r 2 -c 20 -t 15s h").max_vus(),
        30,
        "no more than can be waiting"
    );
    assert_eq!(
        executor("-r 2 -c 20 -t 1s h").max_vus(),
        20,
        "no fewer than -c"
    );
    assert_eq!(executor("-r 2 -c 20 -t 0 h").max_vus(), 200);
    assert_eq!(executor("-r 500 --max-vus 7 h").max_vus(), 7);
    assert_eq!(executor("-r 5 -n 100 h").duration(), None);
    assert_eq!(executor("-r 5 -n 100 h").planned_iterations(), Some(100));
    let poisson = executor("-r 5 --arrivals poisson --seed 3 h");
    assert!(matches!(
        poisson,
        Executor::ConstantArrivalRate {
            spacing: Spacing::Poisson { seed: 3 },
            ..
        }
    ));
}

#[test]
fn ramps() {
    let Executor::RampingVus {
        start_vus, stages, ..
    } = executor("--stages 30s:100,5m:50 h")
    else {
        panic!("not a ramp of virtual users");
    };
    assert_eq!((start_vus, stages.len(), stages[1].target), (0, 2, 50));
    assert_eq!(executor("-c 7 --stages 3s:1 h").max_vus(), 7);
    let rates = [
        "--stages 30s:100/s h",
        "-r 10 --stages 30s:100 h",
        "--stages 30s:100,1m:60/m h",
    ];
    for line in rates {
        assert!(
            matches!(executor(line), Executor::RampingArrivalRate { .. }),
            "{line}"
        );
    }
    let Executor::RampingArrivalRate {
        start_rate, stages, ..
    } = executor(rates[1])
    else {
        panic!("not a ramp of the rate");
    };
    assert_eq!(
        (start_rate, stages[0].target),
        (ArrivalRate::per_second(10), ArrivalRate::per_second(100))
    );
}

#[test]
fn the_rest_of_the_load() {
    let plan = plan(
        "--warm-up 2s --graceful-stop 3s --start-window 1ms --workers 2 --seed 9 --label a=b h",
    );
    assert_eq!(
        (plan.warm_up, plan.start_window),
        (Duration::from_secs(2), Duration::from_millis(1))
    );
    assert_eq!((plan.workers, plan.seed), (Some(2), 9));
    assert_eq!(plan.labels.get("a").map(String::as_str), Some("b"));
    let scenario = &plan.scenarios[0];
    assert_eq!(
        (scenario.graceful_stop, scenario.queue_grace),
        (Duration::from_secs(3), Duration::from_secs(3))
    );
}

#[test]
fn requests() {
    assert_eq!(request("h/a?b").method, "GET");
    assert_eq!(request("-b x h").method, "POST");
    assert_eq!(request("-b x -m PUT h").method, "PUT");
    assert_eq!(
        header("h", "user-agent"),
        Some(concat!("loadline/", env!("CARGO_PKG_VERSION")).to_owned())
    );
    assert_eq!(
        header("-H user-agent:~me h", "User-Agent"),
        Some("me".to_owned())
    );
    assert_eq!(
        header("-u a:b h", "Authorization"),
        Some("Basic YTpi".to_owned())
    );
    assert_eq!(
        header("http://a:b@h", "Authorization"),
        Some("Basic YTpi".to_owned())
    );
    assert_eq!(
        header("--bearer t h", "Authorization"),
        Some("Bearer t".to_owned())
    );
    assert_eq!(header("--host other h", "Host"), Some("other".to_owned()));
    assert_eq!(header("h", "Host"), None);
    assert_eq!(
        header("--compressed h", "Accept-Encoding"),
        Some("gzip, deflate, br".to_owned())
    );
    assert_eq!(mix("--redirects h").redirects_max, 10);
    assert_eq!(mix("--max-redirects 3 h").redirects_max, 3);
    assert_eq!(mix("h").redirects_max, 0);
    assert!(mix("--cookies h").cookies);
}

#[test]
fn several_urls() {
    let mix = mix("--urls urls.txt --random-order http://h/c");
    let seen: Vec<_> = mix
        .requests
        .iter()
        .map(|r| (r.method.as_str(), r.target.source()))
        .collect();
    assert_eq!(
        seen,
        [
            ("GET", "/c"),
            ("GET", "/a"),
            ("POST", "/b?n={{random 1 9}}")
        ]
    );
    assert_eq!(mix.order, RequestOrder::Random);
}

#[test]
fn templates() {
    assert_eq!(
        request("h/{{counter}}#part").target.source(),
        "/{{counter}}"
    );
    assert!(
        request("h/{{line~words.txt~random}}?q")
            .target
            .as_literal()
            .is_none()
    );
    assert_eq!(
        request("--no-templates h/a").target.as_literal(),
        Some("/a")
    );
    assert!(matches!(
        request("-D template.json h").body,
        BodySource::Template { .. }
    ));
    assert!(matches!(
        request("--no-templates -D template.json h").body,
        BodySource::Bytes { .. }
    ));
    assert_eq!(header("-H x:~{{uuid}} h", "x"), Some("{{uuid}}".to_owned()));
}

#[test]
fn bodies() {
    assert_eq!(
        request("-D body.json h").body,
        BodySource::from_bytes(b"{\"a\":1}".to_vec())
    );
    assert_eq!(
        request("-D body.json --stream h").body,
        BodySource::StreamFile {
            path: "body.json".into()
        }
    );
    assert!(matches!(
        request("-b x --stream h").body,
        BodySource::StreamBytes { length: 1, .. }
    ));
    assert_eq!(
        request("-F a=1 -F b=2 h").body,
        BodySource::from_bytes(b"a=1&b=2".to_vec())
    );
    assert_eq!(
        header("-F a=1 h", "Content-Type"),
        Some("application/x-www-form-urlencoded".to_owned())
    );
    assert_eq!(
        header("-F a=1 -H content-type:x h", "Content-Type"),
        Some("x".to_owned())
    );
    let multipart = header("--multipart a=@body.json h", "Content-Type").expect("a type");
    assert!(
        multipart.starts_with("multipart/form-data; boundary="),
        "{multipart}"
    );
    let client = plan("--body-kept-max 1k --body-read-max 2k h").client;
    assert_eq!(
        (client.body_kept_max, client.body_read_max),
        (1_000, Some(2_000))
    );
}

#[test]
fn connections() {
    let client =
        plan("-t 0 --connect-timeout 0 --no-keepalive --max-requests-per-connection 9 h").client;
    assert_eq!(
        (client.request_timeout, client.connect_timeout),
        (None, None)
    );
    assert_eq!(
        (client.keep_alive, client.max_requests_per_connection),
        (false, Some(9))
    );
    let client =
        plan("--connect-to ::o:81 --resolve h:*:10.0.0.1 --unix-socket /s -4 --source 10.0.0.2 h")
            .client;
    assert_eq!(
        (
            client.connect_to.len(),
            client.resolve.len(),
            client.source.len()
        ),
        (1, 1, 1)
    );
    assert_eq!(
        (client.unix_socket, client.ip),
        (Some("/s".into()), IpChoice::V4)
    );
    assert_eq!(plan("--dns-ttl run h").client.dns_ttl, None);
    assert_eq!(plan("--dns-ttl 0 h").client.dns_ttl, Some(Duration::ZERO));
    assert_eq!(plan("-6 h").client.ip, IpChoice::V6);
}

#[test]
fn protocols() {
    assert_eq!(plan("-4 -x p:1 http://[::1]/").client.ip, IpChoice::V4);
    let streams = |line: &str| (plan(line).client.protocol, executor(line).max_vus());
    assert_eq!(streams("h"), (Protocol::Http1, 50));
    assert_eq!(streams("--http1 h"), (Protocol::Http1, 50));
    assert_eq!(
        streams("--http2 https://h"),
        (Protocol::Negotiate { streams: 1 }, 50)
    );
    assert_eq!(
        streams("--http2 --streams 10 h"),
        (Protocol::Http2 { streams: 10 }, 500)
    );
    assert_eq!(
        streams("--h2c -c 3 --streams 4 h"),
        (Protocol::Http2 { streams: 4 }, 12)
    );
    assert_eq!(
        plan("--http2-prior-knowledge --streams 4 h")
            .client
            .connections,
        50
    );
}

#[test]
fn tls() {
    let tls =
        plan("-k --cacert all.pem --cert all.pem --sni n --tls-min 1.3 --tls-resume https://h")
            .client
            .tls;
    assert!(!tls.verify && tls.resume && tls.identity.is_some());
    assert_eq!(
        (tls.authorities_pem.as_slice(), tls.server_name.as_deref()),
        (PEM.as_bytes(), Some("n"))
    );
    assert_eq!(
        (tls.min_version, tls.max_version),
        (TlsVersion::V1_3, TlsVersion::V1_3)
    );
    assert_eq!(
        plan("--tls-max 1.2 h").client.tls.max_version,
        TlsVersion::V1_2
    );
}

#[test]
fn results() {
    let plan = plan(
        "--expect status=200 --expect size>1 --threshold p(99)<50ms --by header:X-Pod --csv f h",
    );
    assert_eq!(
        (plan.scenarios[0].checks.len(), plan.thresholds.len()),
        (2, 1)
    );
    assert_eq!(plan.aggregation.by_header.as_deref(), Some("X-Pod"));
    assert!(plan.aggregation.samples);
}

/// The proxy's host and port for a command line and an environment.
fn proxy(line: &str, env: &Env) -> Option<String> {
    let plan = outcome_in(line, env).unwrap_or_else(|why| panic!("{line}: {why}"));
    plan.client
        .proxy
        .map(|proxy| format!("{}:{}", proxy.host, proxy.port))
}

#[test]
fn proxies() {
    let none = Env::default();
    assert_eq!(
        proxy("-x http://u:p@p:3128 h", &none).as_deref(),
        Some("p:3128")
    );
    assert_eq!(
        proxy("-x p h", &none).as_deref(),
        Some("p:1080"),
        "as curl does"
    );
    let lower = Env::from([("http_proxy", "http://p:1"), ("HTTPS_PROXY", "http://q:2")]);
    assert_eq!(proxy("h", &lower).as_deref(), Some("p:1"));
    assert_eq!(proxy("https://h", &lower).as_deref(), Some("q:2"));
    assert_eq!(proxy("-x o:3 h", &lower).as_deref(), Some("o:3"));
    assert_eq!(proxy("--no-proxy * h", &lower), None);
    assert_eq!(proxy("--unix-socket /s h", &lower), None);
    let upper = Env::from([("HTTP_PROXY", "http://p:1")]);
    assert_eq!(
        proxy("h", &upper),
        None,
        "the upper-case form is not trusted"
    );
    let all = Env::from([
        ("ALL_PROXY", "http://a:9"),
        ("NO_PROXY", "x.example, .y.example"),
    ]);
    let plan = outcome_in("h", &all)
        .expect("a good line")
        .client
        .proxy
        .expect("a proxy");
    assert_eq!(
        (plan.port, plan.except),
        (9, vec!["x.example".to_owned(), "y.example".to_owned()])
    );
    assert!(plan.for_http && !plan.for_https);
}

#[test]
fn what_cannot_be_run() {
    let two = Env::from([("http_proxy", "http://p:1"), ("https_proxy", "http://q:2")]);
    let socks = Env::from([("http_proxy", "socks5://p:1")]);
    let none = Env::default();
    let cases: [(&str, &Env); 34] = [
        ("ftp://h", &none),
        ("http://h:99999", &none),
        ("http://{{counter}}/", &none),
        ("h/a~b{{counter}}", &none),
        ("h/{{nope}}", &none),
        ("h/{{line~none.txt}}", &none),
        ("-b {{nope}} h", &none),
        ("-D none.json h", &none),
        ("-D none.json --stream h", &none),
        ("--stream h", &none),
        ("-b {{counter}} --stream h", &none),
        ("--multipart a=@none h", &none),
        ("--urls none.txt", &none),
        ("--urls empty.txt", &none),
        ("--urls bad-urls.txt", &none),
        ("-u nocolon h", &none),
        ("--max-vus 5 h", &none),
        ("--arrivals poisson h", &none),
        ("-r 5 --pacing 1s h", &none),
        ("-r 0 h", &none),
        ("--stages 5s:0 h", &none),
        ("--stages 5s:0.5 h", &none),
        ("--stages 5s:5 -n 5 h", &none),
        ("--streams 5 h", &none),
        ("--warm-up 10s h", &none),
        ("--tls-min 1.3 --tls-max 1.2 h", &none),
        ("--cacert body.json h", &none),
        ("--cert none.pem h", &none),
        ("-4 --source ::1 h", &none),
        ("-4 http://[::1]/", &none),
        ("-6 127.0.0.1", &none),
        ("--http2 http://h https://h", &none),
        ("http://h https://h", &two),
        ("h", &socks),
    ];
    let mut told = String::new();
    for (line, env) in cases {
        let why = outcome_in(line, env).expect_err(line);
        told.push_str(&format!("$ loadline bench {line}\n{why}\n\n"));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_whole_plan() {
    let plan = plan(
        "-r 500 -z 30s -u a:b -b {{uuid}} -H X:~1 --expect status=200 --seed 1 http://h/a?b=1",
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&plan).expect("a plan is JSON"));
}
