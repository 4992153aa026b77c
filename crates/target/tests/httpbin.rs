//! The httpbin endpoints over a real socket, compared with go-httpbin's responses.
//!
//! They must not use the crate's internals. Invariant checked: names, order and shape of the fields.

mod common;

use common::{get, request, start};
use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::{Value, json};
use std::io::Read as _;

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn requests_are_shown_as_go_httpbin_shows_them() {
    let server = start();
    let address = server.local_addr();
    let answer = get(address, "/get?a=1&a=2&b");
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    let value = answer.json();
    assert_eq!(keys(&value), ["args", "headers", "method", "origin", "url"]);
    assert_eq!(value["args"], json!({"a": ["1", "2"], "b": [""]}));
    assert_eq!(value["headers"]["Host"], json!([address.to_string()]));
    assert_eq!(value["origin"], "127.0.0.1");
    assert_eq!(value["url"], format!("http://{address}/get?a=1&a=2&b"));

    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let value = request(address, "POST", "/post?x=1", form, b"a=1&b=2&a=3").json();
    assert_eq!(
        keys(&value),
        [
            "args", "headers", "method", "origin", "url", "data", "files", "form", "json"
        ]
    );
    assert_eq!(value["form"], json!({"a": ["1", "3"], "b": ["2"]}));
    assert_eq!(value["data"], "a=1&b=2&a=3");
    assert_eq!(value["json"], Value::Null);
    let json = "Content-Type: application/json\r\n";
    for (method, path) in [
        ("PUT", "/put"),
        ("PATCH", "/patch"),
        ("DELETE", "/delete"),
        ("PURGE", "/anything/x/y"),
    ] {
        let value = request(address, method, path, json, b"{\"a\":1}").json();
        assert_eq!(value["json"], json!({"a": 1}), "{method}");
        assert_eq!(value["method"], method);
    }
}

#[test]
fn methods_that_do_not_fit_are_told_which_do() {
    let server = start();
    let answer = request(server.local_addr(), "POST", "/get", "", b"");
    assert_eq!(
        (answer.status, answer.header("allow")),
        (405, Some("GET, HEAD"))
    );
    assert_eq!(get(server.local_addr(), "/post").status, 405);
    assert_eq!(get(server.local_addr(), "/nothing").status, 404);
    let answer = request(server.local_addr(), "OPTIONS", "/get", "", b"");
    assert_eq!(answer.status, 200);
    assert!(answer.header("access-control-allow-methods").is_some());
    let answer = request(server.local_addr(), "HEAD", "/get", "", b"");
    assert_eq!(answer.status, 200);
    assert!(answer.body.is_empty() && answer.header("content-length").is_some());
}

#[test]
fn statuses_delays_and_errors() {
    let server = start();
    let address = server.local_addr();
    assert_eq!(get(address, "/status/404").status, 404);
    assert_eq!(get(address, "/status/204").status, 204);
    let drawn = get(address, "/status/200:0.5,503:0.5").status;
    assert!(drawn == 200 || drawn == 503);
    let answer = get(address, "/status/abc");
    assert_eq!(
        (answer.status, keys(&answer.json())),
        (400, vec!["status_code", "error", "detail"])
    );
    let answer = get(address, "/delay/0.01");
    assert_eq!(answer.status, 200);
    assert!((answer.timings()["initial_delay"] - 10.0).abs() < 1e-9);
    assert_eq!(get(address, "/delay/1h").status, 400);
}

#[test]
fn generated_bodies_have_the_asked_size() {
    let server = start();
    let address = server.local_addr();
    let first = get(address, "/bytes/100000?seed=1");
    assert_eq!(first.body.len(), 100_000);
    assert_eq!(first.body, get(address, "/bytes/100000?seed=1").body);
    assert_ne!(first.body, get(address, "/bytes/100000?seed=2").body);
    let streamed = get(address, "/stream-bytes/100000?seed=1&chunk_size=1000");
    assert_eq!(streamed.header("transfer-encoding"), Some("chunked"));
    assert_eq!(streamed.body.len(), 100_000);
    let lines = get(address, "/stream/3").text();
    let ids: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, [0, 1, 2]);
    let drip = get(address, "/drip?duration=20ms&delay=0&numbytes=5&code=201");
    assert_eq!((drip.status, drip.text().as_str()), (201, "*****"));
    assert_eq!(get(address, "/bytes/99999999999").status, 400);
    assert_eq!(get(address, "/bytes/0").body.len(), 0);
}

#[test]
fn coded_bodies_decode_to_json() {
    let server = start();
    let address = server.local_addr();
    let mut text = String::new();
    let gzip = get(address, "/gzip");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    GzDecoder::new(&gzip.body[..])
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["gzipped"],
        true
    );
    let deflate = get(address, "/deflate");
    text.clear();
    ZlibDecoder::new(&deflate.body[..])
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["deflated"],
        true
    );
    let brotli = get(address, "/brotli");
    assert_eq!(brotli.header("content-encoding"), Some("br"));
    let mut plain = Vec::new();
    brotli::BrotliDecompress(&mut &brotli.body[..], &mut plain).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&plain).unwrap()["brotli"],
        true
    );
}

#[test]
fn redirects_cookies_and_authorization() {
    let server = start();
    let address = server.local_addr();
    for (path, location) in [
        ("/redirect/1", "/get".to_owned()),
        ("/redirect/3", "/relative-redirect/2".to_owned()),
        ("/relative-redirect/2", "/relative-redirect/1".to_owned()),
        (
            "/absolute-redirect/2",
            format!("http://{address}/absolute-redirect/1"),
        ),
        ("/redirect-to?url=/x", "/x".to_owned()),
    ] {
        let answer = get(address, path);
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, Some(&*location)),
            "{path}"
        );
    }
    assert_eq!(
        get(address, "/redirect-to?url=/x&status_code=307").status,
        307
    );
    assert_eq!(get(address, "/redirect-to").status, 400);
    assert_eq!(get(address, "/redirect/0").status, 400);

    let set = get(address, "/cookies/set?a=1");
    assert_eq!(set.header("set-cookie"), Some("a=1; Path=/; HttpOnly"));
    assert!(
        get(address, "/cookies/delete?a")
            .header("set-cookie")
            .unwrap()
            .contains("Max-Age=0")
    );
    let shown = request(address, "GET", "/cookies", "Cookie: a=1; b=2\r\n", b"").json();
    assert_eq!(shown, json!({"cookies": {"a": "1", "b": "2"}}));

    let right = "Authorization: Basic dTpw\r\n";
    let answer = request(address, "GET", "/basic-auth/u/p", right, b"");
    let expected = json!({"authenticated": true, "user": "u", "authorized": true});
    assert_eq!((answer.status, answer.json()), (200, expected));
    let answer = get(address, "/basic-auth/u/p");
    assert_eq!(answer.status, 401);
    assert!(
        answer
            .header("www-authenticate")
            .unwrap()
            .starts_with("Basic realm=")
    );
    assert_eq!(
        request(address, "GET", "/hidden-basic-auth/u/x", right, b"").status,
        404
    );
    assert_eq!(get(address, "/bearer").status, 401);
    let answer = request(
        address,
        "GET",
        "/bearer",
        "Authorization: Bearer t\r\n",
        b"",
    );
    assert_eq!(answer.json(), json!({"authenticated": true, "token": "t"}));
}

#[test]
fn ranges_tags_and_caches() {
    let server = start();
    let address = server.local_addr();
    let part = request(address, "GET", "/range/100", "Range: bytes=2-10\r\n", b"");
    assert_eq!((part.status, part.text().as_str()), (206, "cdefghijk"));
    assert_eq!(part.header("content-range"), Some("bytes 2-10/100"));
    assert_eq!(
        request(address, "GET", "/range/9", "Range: bytes=9-\r\n", b"").status,
        416
    );
    assert_eq!(
        get(address, "/range/30").text(),
        "abcdefghijklmnopqrstuvwxyzabcd"
    );
    let matching = "If-None-Match: \"abc\"\r\n";
    assert_eq!(
        request(address, "GET", "/etag/abc", matching, b"").status,
        304
    );
    assert_eq!(
        request(address, "GET", "/etag/abd", matching, b"").status,
        200
    );
    assert_eq!(
        request(address, "GET", "/etag/abc", "If-Match: \"x\"\r\n", b"").status,
        412
    );
    assert_eq!(request(address, "GET", "/cache", matching, b"").status, 304);
    assert!(
        get(address, "/cache")
            .header("last-modified")
            .unwrap()
            .ends_with("GMT")
    );
    assert_eq!(
        get(address, "/cache/9").header("cache-control"),
        Some("public, max-age=9")
    );
}

#[test]
fn fixed_content_and_single_facts() {
    let server = start();
    let address = server.local_addr();
    for (path, kind) in [
        ("/json", "application/json; charset=utf-8"),
        ("/html", "text/html; charset=utf-8"),
        ("/xml", "application/xml"),
        ("/image", "image/png"),
        ("/image/jpeg", "image/jpeg"),
        ("/image/svg", "image/svg+xml"),
        ("/image/webp", "image/webp"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/deny", "text/plain; charset=utf-8"),
        ("/encoding/utf8", "text/html; charset=utf-8"),
        ("/ok", "text/plain"),
    ] {
        let answer = get(address, path);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(kind)),
            "{path}"
        );
        assert!(!answer.body.is_empty());
    }
    assert_eq!(get(address, "/base64/aGVsbG8=").text(), "hello");
    assert_eq!(get(address, "/base64/encode/hello").text(), "aGVsbG8=");
    assert_eq!(get(address, "/base64/!").status, 400);
    assert_eq!(keys(&get(address, "/uuid").json()), ["uuid"]);
    assert_eq!(get(address, "/ip").json(), json!({"origin": "127.0.0.1"}));
    let index = get(address, "/").text();
    assert!(index.contains("/status/{codes}") && index.contains("slow_headers"));
    let headers = get(address, "/response-headers?X-A=1&X-A=2");
    assert_eq!(headers.json()["X-A"], json!(["1", "2"]));
    assert_eq!(headers.header("x-a"), Some("1"));
    assert_eq!(
        get(address, "/response-headers?Content-Length=1").status,
        400
    );
}
