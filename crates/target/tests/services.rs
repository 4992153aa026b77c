//! Services for load tests: calculator, predictions, queues, metrics and routes from a file.
//!
//! They must not use the crate's internals. Invariant checked: what a client sees agrees with what the server
//! reports about itself.

mod common;

use common::{Answer, config, connect, get, request, split, start};
use flate2::read::GzDecoder;
use loadline_target::{TargetConfig, serve};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;

const SOAP_ADD: &str = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\">\
    <soap:Body><Add xmlns=\"http://tempuri.org/\"><intA>5</intA><intB>7</intB></Add></soap:Body>\
    </soap:Envelope>";
const XML: &str = "Content-Type: text/xml; charset=utf-8\r\n";

#[test]
fn the_calculator_adds_and_describes_itself() {
    let server = start();
    let address = server.local_addr();
    for path in ["/calculator", "/calculator.asmx", "/ws"] {
        let answer = request(address, "POST", path, XML, SOAP_ADD.as_bytes());
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.header("content-type"),
            Some("text/xml; charset=utf-8")
        );
        assert!(answer.text().contains("<AddResult>12</AddResult>"));
    }
    assert_eq!(
        request(address, "POST", "/calculator", XML, b"<a").status,
        500
    );
    let wsdl = get(address, "/calculator?wsdl").text();
    assert!(
        wsdl.contains(&format!("location=\"http://{address}/calculator\"")),
        "{wsdl}"
    );
}

#[test]
fn predictions_and_the_44_bytes_of_nulls() {
    let server = start();
    let address = server.local_addr();
    let body = br#"{"query": "blue shoes", "topk": 3}"#;
    let answer = request(address, "POST", "/predict", "", body);
    assert_eq!(
        answer.json()["categories"].as_array().map(Vec::len),
        Some(3)
    );
    let nulls = request(address, "POST", "/predict?nulls=1", "", body);
    assert_eq!((nulls.status, nulls.body.len()), (200, 44));
    for bad in [&b"{"[..], b"{}", br#"{"query":"x","topk":0}"#] {
        let answer = request(address, "POST", "/predict", "", bad);
        assert_eq!(answer.status, 400);
        assert!(answer.json()["detail"].is_string());
    }
}

#[test]
fn a_queue_tells_its_times_and_turns_away_when_full() {
    let server = start();
    let address = server.local_addr();
    let path = "/service?time=200ms&law=const&servers=1&queue=1&name=t";
    let streams: Vec<_> = (0..4)
        .map(|_| common::send(address, "GET", path, "", b""))
        .collect();
    let answers: Vec<Answer> = streams
        .into_iter()
        .map(|s| split(&common::read_all(s).0))
        .collect();
    let refused = answers.iter().filter(|answer| answer.status == 503).count();
    assert_eq!(
        refused, 2,
        "one in service, one waiting: the other two are turned away"
    );
    let mut waits: Vec<f64> = answers
        .iter()
        .filter(|a| a.status == 200)
        .map(|a| a.timings()["queue"])
        .collect();
    waits.sort_by(f64::total_cmp);
    assert!(
        waits[0] == 0.0 && waits[1] > 5.0 && waits[1] <= 200.0,
        "{waits:?}"
    );
    assert_eq!(get(address, "/service?law=odd").status, 400);
    assert_eq!(get(address, "/service?servers=0").status, 400);
}

#[test]
fn metrics_count_what_was_asked() {
    let server = start();
    let address = server.local_addr();
    for _ in 0..3 {
        get(address, "/ok");
    }
    get(address, "/status/503");
    get(address, "/get?close=0");
    let text = get(address, "/metrics").text();
    for line in [
        "loadline_target_requests_total{path=\"/ok\",method=\"GET\",code=\"200\"} 3",
        "loadline_target_requests_total{path=\"/status/{codes}\",method=\"GET\",code=\"503\"} 1",
        "loadline_target_service_time_seconds_count{path=\"/ok\"} 3",
        "loadline_target_service_time_seconds_bucket{path=\"/get\",le=\"+Inf\"} 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let accept = "Accept: application/vnd.google.protobuf;q=0.7\r\n";
    let answer = request(address, "GET", "/metrics", accept, b"");
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .contains("encoding=delimited")
    );
    let name = b"loadline_target_requests_total";
    assert!(answer.body.windows(name.len()).any(|w| w == name));
}

/// A server with the routes of the documentation.
fn with_documented_routes() -> loadline_target::Running {
    let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/target/routes.toml");
    serve(TargetConfig {
        routes: Some(routes),
        ..config()
    })
    .expect("the documented routes are right")
}

#[test]
fn the_documented_routes_give_exact_headers_and_gzip() {
    let server = with_documented_routes();
    let address: SocketAddr = server.local_addr();
    let answer = request(address, "POST", "/ws/calculator", XML, SOAP_ADD.as_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/xml; charset=utf-8")
    );
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&answer.body[..])
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("<AddResult>12</AddResult>"), "{text}");
    let answer = request(address, "POST", "/ws/broken", XML, SOAP_ADD.as_bytes());
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("<faultcode>soap:Server</faultcode>"));
    let answer = request(
        address,
        "POST",
        "/orders/7?note=a%22b",
        "",
        br#"{"item":{"name":"x"}}"#,
    );
    assert_eq!(answer.status, 201);
    assert_eq!(answer.header("location"), Some("/orders/7"));
    let order = answer.json();
    assert_eq!(
        (&order["id"], &order["item"], &order["note"]),
        (&"7".into(), &"x".into(), &"a\"b".into())
    );
    let text = get(address, "/metrics").text();
    assert!(
        text.contains("path=\"/orders/{id}\",method=\"POST\",code=\"201\"} 1"),
        "{text}"
    );
    assert_eq!(get(address, "/get").status, 200);
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let server = start();
    let mut stream = connect(server.local_addr());
    for _ in 0..3 {
        stream
            .write_all(b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let mut seen = Vec::new();
        let mut buffer = [0; 1_024];
        while !seen.ends_with(b"\r\n\r\nok") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "closed early");
            seen.extend_from_slice(&buffer[..read]);
        }
    }
}
