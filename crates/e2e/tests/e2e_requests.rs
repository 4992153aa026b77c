//! Requests and responses of every kind, judged by a server that returns what it received: `loadline target`.
//!
//! Must not know the wire. Invariant: checks examine responses, so that the asserted data travelled both ways.

use loadline_e2e::server::Server;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench, skip, web};

use std::net::{Ipv6Addr, SocketAddr, TcpListener};

const REQUESTS: u64 = 12;

fn bench_some(arguments: &[&str]) -> Ran {
    let requests = REQUESTS.to_string();
    bench(&[&["-q", "-c", "3", "-n", &requests], arguments].concat())
}

fn assert_good(arguments: &[&str]) -> Ran {
    let ran = bench_some(arguments);
    let checks = ran.rows("/totals/seen/failed_checks");
    let why = (ran.messages(), checks);
    assert_eq!(
        ran.count("good"),
        REQUESTS,
        "{arguments:?}: {why:?}\n{}",
        ran.out
    );
    ran.assert_code(0);
    ran
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn content_checks_and_content_codings() {
    let target = Target::start(&[]);
    for (path, check) in [
        ("/gzip", "json:$.gzipped=true"),
        ("/deflate", "json:$.deflated=true"),
        ("/brotli", "json:$.brotli=true"),
        ("/json", "json:$.slideshow.title"),
        ("/html", "header:content-type=~html"),
        ("/html", "body~<h1>"),
        ("/bytes/500?seed=1", "size=500"),
        ("/status/418", "status=418"),
        ("/get?a=1", "time<30s"),
    ] {
        assert_good(&["--compressed", "--expect", check, &target.url(path)]);
    }
    let ran = bench_some(&["--expect", "json:$.gzipped=false", &target.url("/gzip")]);
    assert_eq!((ran.count("completed"), ran.count("good")), (REQUESTS, 0));
    assert!(ran.report().contains("Failed checks"), "{}", ran.out);
    assert!(ran.report().contains("json:$.gzipped=false"), "{}", ran.out);
    ran.assert_code(1);
}

/// The 44 bytes that every test without a content check counts as success.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn hollow_answers_are_not_goodput() {
    let target = Target::start(&[]);
    let url = target.url("/predict?nulls=1");
    let body = r#"{"query": "shoes {{counter}}", "topk": 3}"#;
    let post = ["-H", "Content-Type: application/json", "-b", body];
    let check = ["--expect", "json:$.categories[0].name", &url];
    let ran = bench_some(&[&post[..], &check].concat());
    assert_eq!(
        (ran.status(200), ran.count("good")),
        (REQUESTS, 0),
        "{}",
        ran.out
    );
    let sound = target.url("/predict");
    let check = ["--expect", "json:$.categories[0].name", &sound];
    assert_good(&[&post[..], &check].concat());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn bodies_and_headers_arrive() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "from a file").expect("it can be written to");
    let file = file.to_str().expect("a path of text");
    let part = format!("notes=@{file};type=text/plain");
    let url = target.url("/anything");
    for arguments in [
        ["-b", "hello", "--expect", "json:$.data=hello"].as_slice(),
        &["-b", "n={{vu}}", "--expect", "json:$.data=~^n=[0-9]+$"],
        &["-D", file, "--expect", "json:$.data=from a file"],
        &[
            "-D",
            file,
            "--stream",
            "--expect",
            "json:$.data=from a file",
        ],
        &[
            "-D",
            file,
            "--stream",
            "--expect",
            "json:$.headers.Transfer-Encoding[0]=chunked",
        ],
        &["-F", "a=b c", "-F", "d=é", "--expect", "json:$.form.d[0]=é"],
        &[
            "--multipart",
            "k=v",
            "--multipart",
            &part,
            "--expect",
            "json:$.files.notes[0]=from a file",
        ],
        &[
            "-H",
            "X-Mine: {{counter}}",
            "--expect",
            "json:$.headers.X-Mine[0]=~^[0-9]+$",
        ],
        &["-m", "DELETE", "--expect", "json:$.method=DELETE"],
        &["--expect", "json:$.headers.User-Agent[0]=~^loadline/"],
    ] {
        assert_good(&[arguments, &[&url]].concat());
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn redirects() {
    let target = Target::start(&[]);
    let (relative, absolute) = (
        target.url("/redirect/3"),
        target.url("/absolute-redirect/3"),
    );
    for url in [&relative, &absolute] {
        let ran = assert_good(&["--redirects", "--expect", "status=200", url]);
        assert_eq!(ran.count("redirects"), 3 * REQUESTS);
    }
    let ran = bench_some(&[&relative]);
    assert_eq!((ran.status(302), ran.count("redirects")), (REQUESTS, 0));
    let ran = bench_some(&["--max-redirects", "2", &relative]);
    assert_eq!(ran.failures(), [("redirect", REQUESTS)]);
    ran.assert_named("redirect");
    let ran = bench_some(&[
        "--redirects",
        &target.url("/redirect-to?url=ftp://localhost/"),
    ]);
    assert_eq!(
        ran.failures(),
        [("redirect", REQUESTS)],
        "to a scheme that is not spoken"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn cookies() {
    let target = Target::start(&[]);
    let url = target.url("/cookies/set?flavour=oat");
    let follow = ["--redirects", "--expect", "body~oat", &url];
    assert_good(&[&["--cookies"], &follow[..]].concat());
    let ran = bench_some(&follow);
    assert_eq!(ran.count("good"), 0, "no cookie is kept unless asked for");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn credentials() {
    let target = Target::start(&[]);
    let url = target.url("/basic-auth/ann/secret");
    assert_good(&["-u", "ann:secret", &url]);
    assert_good(&[&url.replacen("http://", "http://ann:secret@", 1)]);
    assert_good(&[
        "--bearer",
        "token",
        "--expect",
        "json:$.token=token",
        &target.url("/bearer"),
    ]);
    let ran = bench_some(&["-u", "ann:guess", &url]);
    assert_eq!((ran.status(401), ran.count("good")), (REQUESTS, 0));
}

/// Reports and results are shared; passwords and tokens must not be.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn credentials_are_not_told() {
    let target = Target::start(&[]);
    let url = target.url("/ok");
    let with_password = url.replacen("http://", "http://ann:sesame@", 1);
    for arguments in [
        ["-u", "ann:sesame", &url].as_slice(),
        &["--user=ann:sesame", &url],
        &["--bearer", "sesame", &url],
        &["-H", "Authorization: Basic sesame", &url],
        &["-H", "Cookie: id=sesame", &url],
        &[&with_password],
    ] {
        let ran = assert_good(arguments);
        let told = format!("{}{}{}", ran.out, ran.err, ran.result());
        // The word, and its base64 encoding.
        for secret in ["sesame", "YW5uOnNlc2FtZQ"] {
            assert!(!told.contains(secret), "{arguments:?}: {told}");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_table_by_header() {
    let target = Target::start(&[]);
    let replica = |name: &str| target.url(&format!("/response-headers?X-Replica={name}"));
    let (one, two) = (replica("one"), replica("two"));
    let ran = assert_good(&["--by", "header:X-Replica", &one, &one, &two]);
    let rows = ran.rows("/totals/seen/by_header");
    let of = |name: &str| {
        let row = rows.iter().find(|(key, _)| *key == name);
        row.and_then(|(_, row)| row["answered"].as_u64())
    };
    assert_eq!((of("one"), of("two")), (Some(8), Some(4)), "{rows:?}");
    assert!(
        ran.report().to_lowercase().contains("x-replica"),
        "{}",
        ran.out
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn address_versions() {
    let any = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if TcpListener::bind(any).is_err() {
        return skip("address_versions", "::1 cannot be listened on");
    }
    let server = Server::start_at(any, |stream, _| web::serve(stream, |_| web::ok("ok")));
    let port = server.address().port();
    let both = format!("shop.test:{port}:127.0.0.1,[::1]");
    let url = format!("http://shop.test:{port}/");
    assert_good(&["-6", "--resolve", &both, &url]);
    assert_good(&[&format!("http://[::1]:{port}/")]);
    let ran = bench_some(&["-4", "--resolve", &both, &url]);
    assert_eq!(ran.failures(), [("refused", REQUESTS)]);
}

/// Faults on HTTP/2 streams have their own class, and the connection's other streams continue.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn http2_streams_that_are_reset() {
    let target = Target::start(&[]);
    let broken = target.url("/ok?reset=1");
    let ran = bench_some(&["--h2c", "--streams", "4", &broken]);
    assert_eq!(
        ran.failures(),
        [("http2", REQUESTS)],
        "{:?}",
        ran.messages()
    );
    ran.assert_named("http2");
    ran.assert_code(1);
    let ran = bench_some(&["--h2c", "--streams", "4", &broken, &target.url("/ok")]);
    assert_eq!(
        (ran.count("good"), ran.failed("http2")),
        (REQUESTS / 2, REQUESTS / 2)
    );
}

/// A stored result can be reported again, with the same text.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_stored_result_gives_the_same_report() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("stored.json");
    let json = json.to_str().expect("a path of text");
    let url = target.url("/get");
    let load = [
        "bench",
        "-q",
        "-n",
        "50",
        "-c",
        "2",
        "--label",
        "branch=main",
        "--hdr",
    ];
    let first = loadline_e2e::run([&load[..], &["--json", json, &url]].concat());
    let again = loadline_e2e::run(["report", json]);
    let text = |output: std::process::Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let (first, again) = (text(first), text(again));
    assert!(first.contains("Verdict"), "{first}");
    assert_eq!(first, again);
}

/// However fast each response is, and however many workers there are.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn several_urls_are_sent_equally_often_and_each_has_a_row() {
    let target = Target::start(&[]);
    let urls = ["/get", "/delay/0.2"].map(|path| target.url(path));
    let ran = bench(&[
        "-q",
        "-c",
        "4",
        "-n",
        "40",
        "--workers",
        "2",
        &urls[0],
        &urls[1],
    ]);
    let rows = ran.rows("/totals/seen/requests");
    let mut answered: Vec<(&str, u64)> = rows
        .iter()
        .map(|(name, row)| {
            let answered = row["answered"].as_u64();
            (name.as_str().unwrap_or_default(), answered.unwrap_or(0))
        })
        .collect();
    answered.sort_unstable();
    let names = urls.each_ref().map(|url| format!("GET {url}"));
    assert_eq!(answered, [(&*names[1], 20), (&*names[0], 20)]);
    assert!(ran.report().contains("Requests by URL"), "{}", ran.out);
    let found = ran.at("/verdict/findings").to_string();
    assert!(found.contains("slow-request"), "{found}");
}

const SCRIPT: &str = "
    import exec from 'k6/execution';
    import http from 'k6/http';
    export const options = { vus: 2, iterations: 20 };
    export default function () {
        http.get(`${__ENV.TARGET}/get`);
        http.get(`${__ENV.TARGET}/delay/0.1`, { tags: { name: 'slow' } });
        if (exec.scenario.iterationInTest % 2) throw new Error('no token');
    }";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_tells_of_its_connections_names_and_exceptions() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("script.js"), SCRIPT).expect("there is room");
    let env = format!("TARGET={}", target.url(""));
    let result = path("result.json");
    let output = loadline_e2e::run([
        "run",
        "-q",
        "--json",
        &result,
        "-e",
        &env,
        &path("script.js"),
    ]);
    let json = std::fs::read_to_string(&result).expect("the result was written");
    let ran = Ran::of(&output, Some(&json));
    let connections = "/totals/seen/connections";
    assert_eq!(ran.number(&format!("{connections}/opened")), 2);
    assert_eq!(ran.number(&format!("{connections}/connect/count")), 2);
    if cfg!(target_os = "linux") {
        assert_eq!(ran.number(&format!("{connections}/min_rtt/count")), 2);
    }
    assert_eq!(ran.number("/totals/seen/scenarios/default/thrown"), 10);
    let names = ran.at("/summary/by_tag/rows").as_array();
    assert_eq!(names.map(Vec::len), Some(2));
    let findings = ran.at("/verdict/findings").to_string();
    for code in ["iterations-threw", "slow-request"] {
        assert!(findings.contains(code), "{findings}");
    }
    // The table is in the report; the summary only has one on request.
    assert!(!ran.out.contains("Requests by"), "{}", ran.out);
}
