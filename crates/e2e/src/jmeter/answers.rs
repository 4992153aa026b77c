//! The responses of the plan suite's site, by path.
//!
//! Must not know connections. Invariant: the same request always gets the same response, byte for byte, except
//! for `/count`.

use crate::web::{self, Request};

const JSON: &str = r#"{"id":7,"name":"Ann","price":1.50,"ok":true,"none":null,"tags":["x","y","z"],"items":[{"id":1,"name":"one","cost":8.95},{"id":2,"name":"two","cost":12.99},{"id":3,"name":"three","cost":22.99}],"nested":{"deep":{"value":"v"}},"empty":[],"text":"über \"q\" €"}"#;
const HTML: &str = r#"<!DOCTYPE html><html><head><title>A page</title></head><body><h1 class="a">One</h1><h1 class="b">Two</h1><a href="/echo/first?id=11">first</a> <a href="/echo/second?id=22">second</a> <a href="/echo/third?id=33">third</a><form action="/echo/form" method="post"><input type="hidden" name="token" value="t0k-1"><input type="hidden" name="csrf" value="a&amp;b"></form></body></html>"#;
const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?><shop xmlns:p="urn:p"><item id="1"><name>one</name><cost>8.95</cost></item><item id="2"><name>two</name><cost>12.99</cost></item><p:note>n &amp; m</p:note></shop>"#;
const RESOURCES: &str = r#"<html><head><link rel="stylesheet" href="/style.css"><link rel="icon" href="/img/icon.png"><script src="/js/a.js"></script></head><body background="/img/back.png"><img src="/img/one.png"><img src="img/two.png"><img src="/img/one.png"><img src="data:image/png;base64,AA=="><iframe src="/echo/frame"></iframe></body></html>"#;
const BROKEN: &str = r#"<html><body><img src="/img/one.png"><img src="/status/404"></body></html>"#;
const CSS: &str = "@import url('/other.css'); body { background: url(/img/css.png) }";

const SESSIONS: &str = r#"<html><body><a href="/x;sid=S1?y=1">x</a><a href="/z;sidN2">z</a><form><input type="hidden" name="token" value="T1"></form><a href="/y?coded=a%2Bb">y</a></body></html>"#;

/// Pages and their embedded resources.
const PAGES: &[(&str, &str)] = &[
    (
        "cookies",
        r#"<img src="/cookies/set/one/1"><img src="/cookies/set/two/2"><img src="/echo/last">"#,
    ),
    (
        "frames",
        r#"<iframe src="/page/inner"></iframe><img src="/img/after.png">"#,
    ),
    ("inner", r#"<img src="/img/in.png"><img src="/status/404">"#),
    ("self", r#"<iframe src="/page/self"></iframe>"#),
    (
        "redirecting",
        r#"<img src="/redirect/302/img/to.png"><img src="/redirect/301/page/inner">"#,
    ),
    ("posted", r#"<img src="/img/p.png">"#),
    (
        "odd",
        r##"<img src="/img/a b.png"><img src="/img/a|b.png"><img src="../up.png"><img src=""><img src="/img//double.png"><img src="?q=1">"##,
    ),
];

/// The bytes of the response, its delay, and whether the connection then ends.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) after_ms: u64,
    pub(super) closes: bool,
}

/// Responds to a request; `count` counts requests for the counter.
pub(super) fn answer(asked: &Request, count: impl FnOnce() -> u64) -> Answer {
    let path = asked.word(1).split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let (bytes, after_ms, closes) = match parts.as_slice() {
        ["slow", ms] => (text(asked, "slow"), ms.parse().unwrap_or(0), false),
        ["hangup"] => (Vec::new(), 0, true),
        ["cut"] => (
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart".to_vec(),
            0,
            true,
        ),
        ["until-close"] => (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall".to_vec(),
            0,
            true,
        ),
        ["garbage"] => (b"not http at all\r\n\r\n".to_vec(), 0, true),
        ["close"] => (
            whole(asked, "200 OK", "Connection: close\r\n", b"bye"),
            0,
            true,
        ),
        ["count"] => (text(asked, &count().to_string()), 0, false),
        _ => (by_path(asked, &parts), 0, false),
    };
    Answer {
        bytes,
        after_ms,
        closes,
    }
}

fn by_path(asked: &Request, parts: &[&str]) -> Vec<u8> {
    let typed =
        |kind: &str, body: &str| whole(asked, "200 OK", &content_type(kind), body.as_bytes());
    match parts {
        ["status", status] => status_of(asked, status),
        ["redirect", status, to @ ..] => redirect(asked, status, &format!("/{}", to.join("/"))),
        ["loop"] => redirect(asked, "302", "/loop"),
        ["nowhere"] => whole(asked, "302 Found", "", b""),
        ["to"] => whole(asked, "302 Moved", &format!("Location: {}\r\n", asked_for(asked)), b"moved"),
        ["relative"] => redirect(asked, "302", "echo/relative?a=b"),
        ["elsewhere"] => {
            let host = asked.header("host").unwrap_or_default();
            redirect(asked, "302", &format!("http://{host}/echo/absolute"))
        }
        ["json"] => typed("application/json", JSON),
        ["html"] => typed("text/html; charset=utf-8", HTML),
        ["xml"] => typed("application/xml", XML),
        ["resources"] => typed("text/html", RESOURCES),
        ["broken"] => typed("text/html", BROKEN),
        ["sessions"] => typed("text/html", SESSIONS),
        ["page", name] => {
            let page = PAGES.iter().find(|(one, _)| one == name);
            typed("text/html", page.map_or("", |(_, page)| page))
        }
        ["", _, "proxied"] => proxied(asked),
        ["style.css"] => typed("text/css", CSS),
        ["other.css"] => typed("text/css", "i { color: red }"),
        ["img", ..] => typed("image/png", "PNG"),
        ["js", ..] => typed("text/javascript", "1;"),
        ["chunked"] => b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".to_vec(),
        ["gzip"] => gzip(asked, web::OK_IN_GZIP),
        ["torn", "short"] => gzip(asked, &web::OK_IN_GZIP[..12]),
        ["torn", "other"] => gzip(asked, b"this is no gzip at all"),
        ["latin1"] => whole(asked, "200 OK", &content_type("text/plain; charset=ISO-8859-1"), b"caf\xe9 \xfc"),
        ["bytes"] => whole(asked, "200 OK", &content_type("application/octet-stream"), &[0, 255, 13, 10, 128]),
        ["untyped"] => whole(asked, "200 OK", "", b"untyped"),
        ["headers"] => {
            let lines = "X-One: 1\r\nX-Many: a\r\nX-Many: b\r\nX-Token: tok-77; path=/\r\n";
            whole(asked, "200 OK", lines, b"headers")
        }
        ["cookies", rest @ ..] => cookies(asked, rest),
        ["cache", rest @ ..] => cached(asked, rest),
        ["basic"] => basic(asked),
        ["digest"] => digest(asked),
        _ => echo(asked),
    }
}

/// A body labelled as gzip.
fn gzip(asked: &Request, body: &[u8]) -> Vec<u8> {
    let lines = "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n";
    whole(asked, "200 OK", lines, body)
}

fn status_of(asked: &Request, status: &str) -> Vec<u8> {
    let reason = match status {
        "200" => "OK",
        "201" => "Created",
        "204" => return b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        "304" => return b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec(),
        "404" => "Not Found",
        "500" => "Internal Server Error",
        "503" => "Service Unavailable",
        _ => "Other",
    };
    whole(
        asked,
        &format!("{status} {reason}"),
        &content_type("text/plain"),
        status.as_bytes(),
    )
}

fn redirect(asked: &Request, status: &str, to: &str) -> Vec<u8> {
    let query = asked
        .word(1)
        .split_once('?')
        .map(|(_, query)| format!("?{query}"));
    let to = format!("{to}{}", query.unwrap_or_default());
    whole(
        asked,
        &format!("{status} Moved"),
        &format!("Location: {to}\r\n"),
        b"moved",
    )
}

fn cookies(asked: &Request, rest: &[&str]) -> Vec<u8> {
    let set = match rest {
        ["set", name, value] => format!("Set-Cookie: {name}={value}; Path=/\r\n"),
        ["path", name, value] => format!("Set-Cookie: {name}={value}; Path=/echo/deep\r\n"),
        ["default", name, value] => format!("Set-Cookie: {name}={value}\r\n"),
        ["delete", name] => format!("Set-Cookie: {name}=; Path=/; Max-Age=0\r\n"),
        ["expired", name] => {
            format!("Set-Cookie: {name}=x; Path=/; Expires=Thu, 01 Jan 1998 00:00:00 GMT\r\n")
        }
        ["other", name] => format!("Set-Cookie: {name}=x; Domain=example.test; Path=/\r\n"),
        ["secure", name] => format!("Set-Cookie: {name}=x; Secure; Path=/\r\n"),
        ["two"] => "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/; HttpOnly\r\n".to_owned(),
        ["raw"] => format!("Set-Cookie: {}\r\n", asked_for(asked)),
        ["hop"] => "Set-Cookie: hop=1; Path=/\r\nLocation: /echo/landed\r\n".to_owned(),
        _ => String::new(),
    };
    let status = if rest == ["hop"] {
        "302 Found"
    } else {
        "200 OK"
    };
    whole(asked, status, &set, b"cookies")
}

fn cached(asked: &Request, rest: &[&str]) -> Vec<u8> {
    let is_known =
        asked.header("if-none-match").is_some() || asked.header("if-modified-since").is_some();
    let line = match rest {
        ["etag"] => "ETag: \"e1\"\r\n",
        ["modified"] => "Last-Modified: Thu, 01 Jan 1998 00:00:00 GMT\r\n",
        ["max-age"] => "Cache-Control: max-age=3600\r\n",
        ["vary"] => "Vary: Accept\r\nETag: \"v1\"\r\nCache-Control: max-age=3600\r\n",
        ["vary-agent"] => "Vary: User-Agent\r\nETag: \"v2\"\r\n",
        ["old-expires"] => "Expires: Thu, 01 Jan 1998 00:00:00 GMT\r\nETag: \"o1\"\r\n",
        ["bad-expires"] => "Expires: 0\r\nETag: \"b1\"\r\n",
        ["aged"] => {
            "Last-Modified: Thu, 01 Jan 1998 00:00:00 GMT\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
        }
        ["no-store"] => "Cache-Control: no-store\r\nETag: \"e2\"\r\n",
        ["no-cache"] => "Cache-Control: no-cache\r\nETag: \"e3\"\r\n",
        ["expires"] => {
            "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nExpires: Wed, 01 Jan 2098 00:00:00 GMT\r\n"
        }
        _ => "",
    };
    match is_known {
        true => format!("HTTP/1.1 304 Not Modified\r\n{line}\r\n").into_bytes(),
        false => whole(asked, "200 OK", line, b"cached"),
    }
}

/// The value of the first parameter, decoded.
fn asked_for(asked: &Request) -> String {
    let value = asked.word(1).split_once('=').map_or("", |(_, value)| value);
    let mut pieces = value.split('%');
    let mut bytes = pieces
        .next()
        .unwrap_or_default()
        .replace('+', " ")
        .into_bytes();
    for piece in pieces {
        let (digits, rest) = piece.split_at(piece.len().min(2));
        bytes.extend(u8::from_str_radix(digits, 16));
        bytes.extend(rest.replace('+', " ").bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn proxied(asked: &Request) -> Vec<u8> {
    match asked.header("proxy-authorization") {
        Some(sent) => whole(asked, "200 OK", "", sent.as_bytes()),
        None => whole(
            asked,
            "407 Proxy Authentication Required",
            "Proxy-Authenticate: Basic realm=\"proxy\"\r\n",
            b"who?",
        ),
    }
}

fn basic(asked: &Request) -> Vec<u8> {
    match asked.header("authorization") {
        Some(sent) => whole(asked, "200 OK", "", sent.as_bytes()),
        None => whole(
            asked,
            "401 Unauthorized",
            "WWW-Authenticate: Basic realm=\"site\"\r\n",
            b"who?",
        ),
    }
}

fn digest(asked: &Request) -> Vec<u8> {
    let challenge =
        "WWW-Authenticate: Digest realm=\"site\", nonce=\"0123456789abcdef\", algorithm=MD5\r\n";
    match asked.header("authorization") {
        Some(sent) if sent.starts_with("Digest ") => whole(asked, "200 OK", "", b"digested"),
        _ => whole(asked, "401 Unauthorized", challenge, b"who?"),
    }
}

fn echo(asked: &Request) -> Vec<u8> {
    let mut body = format!("{} {}\n", asked.word(0), asked.word(1)).into_bytes();
    body.extend_from_slice(&asked.body);
    whole(
        asked,
        "200 OK",
        &content_type("text/plain; charset=utf-8"),
        &body,
    )
}

fn text(asked: &Request, body: &str) -> Vec<u8> {
    whole(
        asked,
        "200 OK",
        &content_type("text/plain"),
        body.as_bytes(),
    )
}

fn content_type(kind: &str) -> String {
    format!("Content-Type: {kind}\r\n")
}

fn whole(asked: &Request, status: &str, lines: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {length}\r\n\r\n");
    let body = if asked.word(0) == "HEAD" { &[] } else { body };
    [head.as_bytes(), body].concat()
}
