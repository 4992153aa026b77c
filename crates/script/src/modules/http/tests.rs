//! The client against a simulated host: reproduces the observed behaviour of k6 v2.2.0.
//!
//! Must not need a socket. Invariant under test: each hop is one sample with k6's tags.

#![expect(
    clippy::result_large_err,
    reason = "what comes of a hop is boxed by the seam"
)]

use std::cell::RefCell;
use std::rc::Rc;

use crate::hop::{HopAnswer, HopFailure, HopOutcome, HopRequest, HopTimes};
use crate::program::HttpDebug;
use crate::testing::{Rehearsal, Rehearsed, answer};
use loadline_model::Nanos;

mod json;

/// Requests as sent: method, target, fields, body.
type Sent = Rc<RefCell<Vec<String>>>;

fn shown(request: &HopRequest) -> String {
    let fields: Vec<String> = request
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let body = request
        .body
        .as_ref()
        .map(|body| String::from_utf8_lossy(body).into_owned());
    format!(
        "{} {} | {} | {}",
        request.method,
        request.target,
        fields.join(" | "),
        body.unwrap_or_else(|| "-".to_owned())
    )
}

fn refused() -> HopFailure {
    HopFailure {
        class: loadline_model::ErrorClass::Refused,
        code: 1212,
        tag: "dial: connection refused".to_owned(),
        detail: "dial tcp 127.0.0.1:1: connect: connection refused".to_owned(),
        protocol: None,
        remote: None,
        tls: None,
        times: HopTimes::default(),
        done_at: Nanos(0),
        partial_body: None,
    }
}

fn redirect(status: u16, location: &str) -> HopAnswer {
    answer(
        status,
        &[("Location", location), ("Set-Cookie", "hop=1")],
        b"",
    )
}

/// A small server, controlled by the path.
fn serve(request: &HopRequest) -> HopOutcome {
    if request.origin.port == 1 {
        return Err(refused());
    }
    let path = request.target.split('?').next().unwrap_or_default();
    let is_proven = request
        .headers
        .iter()
        .any(|(name, value)| &**name == "Authorization" && value.starts_with("Digest"));
    Ok(match path {
        "/hop" => redirect(302, "/final"),
        "/away" => redirect(302, "http://other.test/final"),
        "/keep" => redirect(307, "/final"),
        "/loop" => redirect(302, "/loop"),
        "/broken" => redirect(302, "http://[::1"),
        "/missing" => answer(404, &[], b""),
        "/none" => answer(204, &[], b""),
        "/switch" => answer(101, &[("Upgrade", "x")], b""),
        "/json" => answer(200, &[], br#"{"a":{"b":[1,2,{"c":"x"}]}}"#),
        "/html" => answer(200, &[], b"<a href='/final'>x</a>"),
        "/cut" => answer(
            200,
            &[],
            &[&b"{\"a\":{\"b\":1}"[..], &[b'['; 4_000]].concat(),
        ),
        "/lines" => answer(200, &[], b"{\"a\":1}\n{\"a\":2}\n"),
        "/damaged" => answer(200, &[("Content-Encoding", "gzip")], b"notgzip"),
        "/digest" if is_proven => answer(200, &[], b"ok"),
        "/digest" => answer(
            401,
            &[(
                "WWW-Authenticate",
                "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"",
            )],
            b"",
        ),
        "/headers" => answer(
            200,
            &[
                ("x-foo-bar", "1"),
                ("X-Foo-Bar", "2"),
                ("Set-Cookie", "a=b; Path=/; HttpOnly"),
            ],
            b"hi",
        ),
        _ => answer(200, &[], b"hi"),
    })
}

fn run(body: &str) -> (Rehearsed, Vec<String>) {
    run_with(body, Rehearsal::new)
}

fn run_with(body: &str, make: impl FnOnce(&str) -> Rehearsal) -> (Rehearsed, Vec<String>) {
    let script = format!(
        "import http from 'k6/http';\nconst H = 'http://h.test';\nexport default function () {{\n{body}\n}}"
    );
    let sent: Sent = Rc::default();
    let log = Rc::clone(&sent);
    let rehearsed = make(&script)
        .settings(|settings| settings.http.user_agent = "ua".to_owned())
        .answering(move |request| {
            log.borrow_mut().push(shown(request));
            serve(request)
        })
        .run();
    let sent = sent.borrow().clone();
    (rehearsed, sent)
}

/// The script's log, without the source.
fn said(body: &str) -> Vec<String> {
    run(body).0.said()
}

fn tags(rehearsed: &Rehearsed) -> Vec<String> {
    let values = rehearsed.world.values.borrow();
    values
        .iter()
        .filter(|(metric, _, _)| metric == "http_reqs")
        .map(|(_, _, tags)| {
            let shown: Vec<String> = tags
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "group" | "scenario"))
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            shown.join(" ")
        })
        .collect()
}

#[test]
fn a_get_is_one_hop_and_one_sample() {
    let (rehearsed, sent) = run("http.get(H + '/x?q=1#f');");
    assert_eq!(sent, ["GET /x?q=1 | Host: h.test | User-Agent: ua | -"]);
    assert_eq!(
        tags(&rehearsed),
        [
            "expected_response=true method=GET name=http://h.test/x?q=1#f proto=HTTP/1.1 status=200 url=http://h.test/x?q=1#f"
        ]
    );
}

#[test]
fn fields_are_canonical_and_sorted() {
    let (rehearsed, sent) = run(
        "http.get(H, { headers: { 'x-b': '1', accept: '*/*', 'User-agent': 'me', connection: 'close', 'content-length': '7', Host: 'foo.bar' }, cookies: { z: '1', b: '2' } });",
    );
    assert_eq!(
        sent,
        [
            "GET / | Host: foo.bar | User-Agent: me | Accept: */* | Connection: close | Cookie: z=1; b=2 | X-B: 1 | -"
        ]
    );
    assert_eq!(
        rehearsed.log(),
        [
            "warning The specified Content-Length header \"7\" in the GET request for http://h.test doesn't match the actual request body length of 0, so it will be ignored!"
        ]
    );
}

#[test]
fn bodies_are_sent_in_k6s_shapes() {
    let (_, sent) = run(
        "http.post(H, 'body');
         http.post(H, { b: '1 2', a: [1, 'x'], n: null, u: undefined, o: { c: 1 }, t: true, f: 1.5, big: 1e21 });
         http.post(H);
         http.put(H, null);
         http.del(H);
         http.request('gEt', H);
         http.patch(H, new Uint8Array([65, 66]).buffer);
         http.post(H, new Uint8Array([65, 66, 67]).subarray(1));",
    );
    let head = "Host: h.test | User-Agent: ua";
    let form = "Host: h.test | User-Agent: ua | Content-Type: application/x-www-form-urlencoded";
    assert_eq!(
        sent,
        [
            format!("POST / | {head} | body"),
            format!(
                "POST / | {form} | a=1&a=x&b=1+2&big=1e%2B21&f=1.5&n=%3Cnil%3E&o=map%5Bc%3A1%5D&t=true&u=%3Cnil%3E"
            ),
            format!("POST / | {head} | -"),
            format!("PUT / | {head} | -"),
            format!("DELETE / | {head} | -"),
            format!("gEt / | {head} | -"),
            format!("PATCH / | {head} | AB"),
            format!("POST / | {head} | BC"),
        ]
    );
}

#[test]
fn files_make_a_multipart_form() {
    let (_, sent) =
        run("http.post(H, { f: http.file('data', 'a\"b.txt', 'text/plain'), g: '1' });");
    let (head, body) = sent[0].rsplit_once(" | ").unwrap();
    let boundary = head.split("boundary=").nth(1).unwrap();
    assert_eq!(boundary.len(), 60);
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\\\"b.txt\"\r\nContent-Type: text/plain\r\n\r\ndata\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"g\"\r\n\r\n1\r\n--{boundary}--\r\n"
    );
    assert_eq!(body, expected);
}

#[test]
fn redirects_are_hops_of_their_own() {
    let (rehearsed, sent) = run(
        "const r = http.get(H + '/hop', { headers: { Authorization: 'x', 'X-A': '1' }, cookies: { k: 'v' } });
         console.log(r.status, r.url, r.request.url);
         http.get(H + '/away', { headers: { Authorization: 'x' }, cookies: { k: 'v' } });
         http.post(H + '/keep', 'body');
         http.post(H + '/hop', 'body', { headers: { 'Content-Type': 'x/y' } });",
    );
    assert_eq!(
        sent,
        [
            "GET /hop | Host: h.test | User-Agent: ua | Authorization: x | Cookie: k=v | X-A: 1 | -",
            "GET /final | Host: h.test | User-Agent: ua | Authorization: x | Cookie: k=v; hop=1 | Referer: http://h.test/hop | X-A: 1 | -",
            "GET /away | Host: h.test | User-Agent: ua | Authorization: x | Cookie: k=v; hop=1 | -",
            "GET /final | Host: other.test | User-Agent: ua | Cookie: k=v | Referer: http://h.test/away | -",
            "POST /keep | Host: h.test | User-Agent: ua | Cookie: hop=1 | body",
            "POST /final | Host: h.test | User-Agent: ua | Cookie: hop=1 | Referer: http://h.test/keep | body",
            "POST /hop | Host: h.test | User-Agent: ua | Content-Type: x/y | Cookie: hop=1 | body",
            "GET /final | Host: h.test | User-Agent: ua | Cookie: hop=1 | Referer: http://h.test/hop | -",
        ]
    );
    assert_eq!(
        rehearsed.log(),
        ["info 200 http://h.test/final http://h.test/hop source=console"]
    );
    assert_eq!(tags(&rehearsed).len(), 8);
}

#[test]
fn redirects_end() {
    let (rehearsed, sent) = run("console.log(http.get(H + '/loop').status);
         console.log(http.get(H + '/loop', { redirects: 1 }).status);
         console.log(http.get(H + '/broken').error_code);");
    assert_eq!(sent.len(), 11 + 2 + 1);
    assert_eq!(
        rehearsed.log(),
        [
            "warning Stopped after 11 redirects and returned the redirection; pass { redirects: n } in request params or set global maxRedirects to silence this url=http://h.test/loop",
            "info 302 source=console",
            "info 302 source=console",
            "warning Request Failed error=Get \"http://h.test/broken\": failed to parse Location header \"http://[::1\": parse \"http://[::1\": missing ']' in host",
            "info 1000 source=console",
        ]
    );
}

#[test]
fn failures_are_responses_unless_they_are_to_throw() {
    let (rehearsed, _) = run(
        "const r = http.get('http://127.0.0.1:1/');
         console.log(r.status, r.error, r.error_code, r.body, r.url);
         try { http.get('http://127.0.0.1:1/', { throw: true }); } catch (e) { console.log(String(e)); }
         for (const u of ['nope', 'http://[::1', undefined, 5]) {
            const r = http.get(u);
            console.log(r.status, r.error, r.error_code, r.request && r.request.url);
         }
         console.log(http.post(H, 5).error);
         console.log(http.get(H, { headers: { 'bad name': '1' } }).error_code);
         console.log(http.get(H, { tags: { a: {} } }).error);
         console.log(http.get(H, { timeout: 'x' }).error);
         http.get('http://us:pw@127.0.0.1:1/', { auth: 'digest' });",
    );
    let expected = [
        "warning Request Failed error=Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused",
        "info 0 dial: connection refused 1212 null http://127.0.0.1:1/ source=console",
        "info GoError: Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused source=console",
        "warning Request Failed error=Get \"nope\": unsupported protocol scheme \"\"",
        "info 0 unsupported protocol scheme \"\" 1000 nope source=console",
        "warning Request Failed error=invalid URL: parse \"http://[::1\": missing ']' in host",
        "info 0 invalid URL: parse \"http://[::1\": missing ']' in host 1020 null source=console",
        "warning Request Failed error=invalid URL: '#<nil>'",
        "info 0 invalid URL: '#<nil>' 1020 null source=console",
        "warning Request Failed error=invalid URL: '#5'",
        "info 0 invalid URL: '#5' 1020 null source=console",
        "warning Request Failed error=unknown request body type int64",
        "info unknown request body type int64 source=console",
        "warning Request Failed error=Get \"http://h.test\": net/http: invalid header field name \"bad name\"",
        "info 1000 source=console",
        "warning Request Failed error=invalid HTTP request metric tags: invalid value for metric tag 'a': only String, Boolean and Number types are accepted as a metric tag values",
        "info invalid HTTP request metric tags: invalid value for metric tag 'a': only String, Boolean and Number types are accepted as a metric tag values source=console",
        "warning Request Failed error=invalid timeout value: time: invalid duration \"x\"",
        "info invalid timeout value: time: invalid duration \"x\" source=console",
        "warning Request Failed error=Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused",
    ];
    assert_eq!(rehearsed.log(), expected);
    assert_eq!(
        tags(&rehearsed)[0],
        "error=dial: connection refused error_code=1212 expected_response=false method=GET name=http://127.0.0.1:1/ status=0 url=http://127.0.0.1:1/"
    );
}

/// As under k6, which has no response for it and records nothing.
#[test]
fn an_answer_that_leaves_http_is_thrown() {
    let (rehearsed, sent) = run(
        "for (const throws of [true, false]) {
            try { http.get(H + '/switch', { throw: throws }); } catch (e) { console.log(String(e)); }
         }",
    );
    let thrown = "info GoError: unsupported response status: 101 OK source=console";
    assert_eq!(rehearsed.log(), [thrown, thrown]);
    assert_eq!((tags(&rehearsed).len(), sent.len()), (0, 2));
}

#[test]
fn tags_follow_names_callbacks_and_credentials() {
    let (rehearsed, sent) = run("http.get(http.url`${H}/a/${1}`);
         http.get(H, { tags: { name: 'nm', a: 1 } });
         http.get('http://us:pw@h.test/x');
         http.get(H + '/missing');
         http.get(H + '/missing', { responseCallback: http.expectedStatuses(404) });
         http.get(H, { responseCallback: null });
         http.get(H + '/damaged');");
    assert_eq!(
        tags(&rehearsed),
        [
            "expected_response=true method=GET name=${}/a/${} proto=HTTP/1.1 status=200 url=${}/a/${}",
            "a=1 expected_response=true method=GET name=nm proto=HTTP/1.1 status=200 url=nm",
            "expected_response=true method=GET name=http://****:****@h.test/x proto=HTTP/1.1 status=200 url=http://****:****@h.test/x",
            "error_code=1404 expected_response=false method=GET name=http://h.test/missing proto=HTTP/1.1 status=404 url=http://h.test/missing",
            "error_code=1404 expected_response=true method=GET name=http://h.test/missing proto=HTTP/1.1 status=404 url=http://h.test/missing",
            "method=GET name=http://h.test proto=HTTP/1.1 status=200 url=http://h.test",
            "error=error decompressing response body (unexpected EOF) error_code=1701 expected_response=false method=GET name=http://h.test/damaged status=0 url=http://h.test/damaged",
        ]
    );
    assert!(sent[2].contains("Authorization: Basic dXM6cHc="));
}

#[test]
fn what_no_script_reads_is_not_unpacked() {
    let (rehearsed, _) =
        run("console.log(http.get(H + '/damaged', { responseType: 'none' }).error_code);");
    assert_eq!(rehearsed.log(), ["info 0 source=console"]);
}

#[test]
fn a_digest_takes_two_hops_of_which_the_first_expects_401() {
    let (rehearsed, sent) = run(
        "const r = http.get('http://u:p@h.test/digest', { auth: 'digest' });
         console.log(r.status, r.url, r.body);",
    );
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains("Authorization: Basic dTpw"));
    assert!(sent[1].contains("Digest username=\"u\""));
    assert_eq!(
        rehearsed.log(),
        ["info 200 http://h.test/digest ok source=console"]
    );
    assert!(tags(&rehearsed)[0].starts_with("error_code=1401 expected_response=true"));
    assert!(tags(&rehearsed)[1].starts_with("expected_response=true"));
}

#[test]
fn a_response_looks_like_an_object_with_properties() {
    let lines = said(
        "const r = http.get(H + '/headers');
         console.log(Object.keys(r).join());
         console.log(JSON.stringify({ ...r, request: 0, timings: 0 }));
         console.log(JSON.stringify(r) === JSON.stringify(Object.assign({}, r)));
         console.log('status' in r, 'nope' in r, r.hasOwnProperty('json'), r.nope, String(r), r.constructor.name);
         console.log(r.headers === r.headers, JSON.stringify(r.timings));
         r.status = 5; r.body = 'x'; console.log(r.status, r.body);
         try { r.foo = 1; } catch (e) { console.log(String(e)); }
         try { delete r.status; } catch (e) { console.log(String(e)); }
         console.log(JSON.stringify(Object.getOwnPropertyDescriptor(r, 'status')));",
    );
    assert_eq!(
        lines,
        [
            "remote_ip,remote_port,url,status,status_text,proto,headers,cookies,body,timings,tls_version,tls_cipher_suite,ocsp,error,error_code,request,clickLink,html,json,submitForm",
            "{\"remote_ip\":\"\",\"remote_port\":0,\"url\":\"http://h.test/headers\",\"status\":200,\"status_text\":\"200 OK\",\"proto\":\"HTTP/1.1\",\"headers\":{\"X-Foo-Bar\":\"1, 2\",\"Set-Cookie\":\"a=b; Path=/; HttpOnly\"},\"cookies\":{\"a\":[{\"name\":\"a\",\"value\":\"b\",\"domain\":\"\",\"path\":\"/\",\"http_only\":true,\"secure\":false,\"max_age\":0,\"expires\":-6795364578871}]},\"body\":\"hi\",\"timings\":0,\"tls_version\":\"\",\"tls_cipher_suite\":\"\",\"ocsp\":{\"produced_at\":0,\"this_update\":0,\"next_update\":0,\"revoked_at\":0,\"revocation_reason\":\"\",\"status\":\"\"},\"error\":\"\",\"error_code\":0,\"request\":0}",
            "true",
            "true false true undefined [object Object] Object",
            "true {\"duration\":1,\"blocked\":0,\"looking_up\":0,\"connecting\":0,\"tls_handshaking\":0,\"sending\":0,\"waiting\":1,\"receiving\":0}",
            "5 x",
            "TypeError: Cannot assign to property foo of a host object",
            "TypeError: Cannot delete property status from a Go type",
            "{\"value\":5,\"writable\":true,\"enumerable\":true,\"configurable\":false}",
        ]
    );
}

#[test]
fn bodies_are_text_bytes_or_nothing() {
    let lines = said(
        "console.log(http.get(H).body, http.get(H, { responseType: 'none' }).body);
         const b = http.get(H, { responseType: 'binary' }).body;
         console.log(b.byteLength, Object.prototype.toString.call(b), http.get(H + '/none').body);
         console.log(http.get(H, { responseType: 'foo' }).error);",
    );
    assert_eq!(
        lines,
        [
            "hi null",
            "2 [object ArrayBuffer] null",
            "warning Request Failed error=foo does not belong to ResponseType values",
            "foo does not belong to ResponseType values",
        ]
    );
}

#[test]
fn a_batch_keeps_order_and_limits() {
    let (rehearsed, sent) = run(
        "const list = http.batch([H + '/a', { method: 'POST', url: H + '/b', body: 'x' }, ['PUT', H + '/c', 'y']]);
         console.log(list.map((r) => r.status + r.request.method).join());
         for (const bad of [5, ['GET'], { method: 'GET' }]) http.batch([bad, H + '/never']);
         const byKey = http.batch({ a: H + '/d', b: ['POST', H + '/e', 'x'] });
         console.log(Object.keys(byKey).join(), byKey.b.request.method);
         for (const arg of [undefined, 'x']) { try { http.batch(arg); } catch (e) { console.log(String(e)); } }
         try { http.batch([['GET', 'nope', null, { throw: true }], H + '/f']); } catch (e) { console.log(String(e)); }",
    );
    assert_eq!(sent.len(), 6);
    assert_eq!(
        rehearsed.log(),
        [
            "info 200GET,200POST,200PUT source=console",
            "warning A batch request failed error=invalid URL: '#5'",
            "warning A batch request failed error=invalid batch request '[]interface {}{\"GET\"}'",
            "warning A batch request failed error=batch request 0 doesn't have a url key",
            "info a,b POST source=console",
            "info GoError: invalid http.batch() argument type <nil> source=console",
            "info GoError: invalid http.batch() argument type string source=console",
            "info GoError: Get \"nope\": unsupported protocol scheme \"\" source=console",
        ]
    );
    let (limited, _) = run_with(
        "http.batch(Array.from({ length: 12 }, (_, i) => H + '/' + i));",
        |script| Rehearsal::new(script).settings(|settings| settings.http.batch_per_host = 3),
    );
    // Each takes a millisecond, three at a time.
    assert_eq!(limited.world.now.get(), 4_000_000);
}

#[test]
fn async_requests_go_on_beside_the_script() {
    let (rehearsed, _) = run(
        "http.asyncRequest('GET', H).then((r) => console.log('async', r.status));
         http.asyncRequest('GET', 'nope').then((r) => console.log('failed', r.status));
         http.asyncRequest('GET', 'nope', null, { throw: true }).catch((e) => console.log(e));
         console.log('first', http.get(H).status);",
    );
    let mut log = rehearsed.log();
    log.sort();
    assert_eq!(
        log,
        [
            "info Get \"nope\": unsupported protocol scheme \"\" source=console",
            "info async 200 source=console",
            "info failed 0 source=console",
            "info first 200 source=console",
            "warning Request Failed error=Get \"nope\": unsupported protocol scheme \"\"",
        ]
    );
}

#[test]
fn cookies_last_an_iteration() {
    let body = "const jar = http.cookieJar();
         console.log(JSON.stringify(jar.cookiesForURL(H)));
         http.get(H + '/headers');
         jar.set(H, 'k', 5);
         console.log(JSON.stringify(jar.cookiesForURL(H)));
         http.get(H, { cookies: { a: { value: 'z', replace: true }, k: '6' } });
         http.get(H, { jar: new http.CookieJar() });
         jar.delete(H, 'k');
         console.log(JSON.stringify(jar.cookiesForURL(H)));";
    let (rehearsed, sent) = run_with(body, |script| Rehearsal::new(script).iterations(2));
    let once = [
        "info {} source=console",
        "info {\"a\":[\"b\"],\"k\":[\"5\"]} source=console",
        "info {\"a\":[\"b\"]} source=console",
    ];
    assert_eq!(rehearsed.log(), [once, once].concat());
    assert_eq!(
        sent[1],
        "GET / | Host: h.test | User-Agent: ua | Cookie: a=z; k=6; k=5 | -"
    );
    assert_eq!(sent[2], "GET / | Host: h.test | User-Agent: ua | -");
    let (kept, _) = run_with(body, |script| {
        Rehearsal::new(script)
            .iterations(2)
            .settings(|settings| settings.keep_cookies = true)
    });
    assert_eq!(kept.log()[3], "info {\"a\":[\"b\"]} source=console");
}

#[test]
fn what_init_code_may_not_do_is_said() {
    let script = "import http from 'k6/http';
        for (const f of [() => http.get('x'), () => http.batch([]), () => http.cookieJar(), () => http.asyncRequest('GET', 'x')]) {
            try { f(); } catch (e) { console.log(String(e)); }
        }
        http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }, 404));
        try { http.setResponseCallback(5); } catch (e) { console.log(String(e)); }
        try { http.expectedStatuses('x'); } catch (e) { console.log(String(e)); }
        console.log(http.TLS_1_3, http.OCSP_REASON_KEY_COMPROMISE, Object.keys(http).length);
        export default function () {}";
    let log = Rehearsal::new(script).run().log();
    assert_eq!(
        log,
        [
            "info GoError: Making http requests in the init context is not supported source=console",
            "info GoError: Using batch in the init context is not supported source=console",
            "info GoError: Making cookie jars in the init context is not supported source=console",
            "info GoError: Making http requests in the init context is not supported source=console",
            "info GoError: unsupported argument, expected http.expectedStatuses source=console",
            "info GoError: argument number 1 to expectedStatuses was neither an integer nor an object like {min:100, max:329} source=console",
            "info tls1.3 key_compromise 34 source=console",
        ]
    );
}

#[test]
fn too_many_arguments_of_get_are_worth_a_warning() {
    let (rehearsed, sent) = run("http.get(H, null, { headers: { a: '1' } });");
    assert_eq!(
        rehearsed.log(),
        [
            "warning http.get only accepts a url and a params argument (2 arguments), but 3 were given"
        ]
    );
    assert_eq!(sent, ["GET / | Host: h.test | User-Agent: ua | -"]);
}

#[test]
fn compression_packs_in_the_order_given() {
    let (rehearsed, sent) = run(
        "console.log(http.post(H, 'x', { compression: 'gzip, br' }).request.body);
         console.log(http.post(H, 'x', { compression: 'foo' }).error);",
    );
    assert!(sent[0].contains("Content-Encoding: gzip, br"));
    assert_eq!(rehearsed.log()[0], "info x source=console");
    assert_eq!(
        rehearsed.log()[2],
        "info unknown compression algorithm foo, supported algorithms are [gzip deflate zstd br] source=console"
    );
}

#[test]
fn the_last_field_of_a_name_holds_among_any_number() {
    let (_, sent) = run(
        "const headers = { 'x-1': 'a', 'x-90000': 'b', cookie: 'c=1' };
         for (let i = 0; i < 100_000; i++) headers['X-' + i] = 'v'; http.get(H, { headers });",
    );
    assert_eq!(sent[0].matches(": v").count(), 100_000);
    assert!(!sent[0].contains(": a") && !sent[0].contains(": b") && sent[0].contains("c=1"));
}

#[test]
fn debugging_writes_requests_and_answers() {
    let (rehearsed, _) = run_with(
        "http.post(H + '/x', 'body', { headers: { 'X-A': '1' }, tags: { q: 'r' } }); console.log(http.get(H, { responseType: 'none' }).body);",
        |script| Rehearsal::new(script).settings(|settings| settings.http.debug = HttpDebug::Full),
    );
    let log = rehearsed.log();
    assert!(
        log[0].starts_with(
            "info Request:\nPOST /x HTTP/1.1\nHost: h.test\nUser-Agent: ua\nContent-Length: 4\nX-A: 1\nAccept-Encoding: gzip\n\nbody\n group= iter=0 q=r request_id="
        ),
        "{}",
        log[0]
    );
    assert!(
        log[1].starts_with("info Response:\nHTTP/1.1 200 OK\n\nhi\n group= iter=0 q=r request_id=")
    );
    assert!(log[3].contains("\n\nhi\n group=") && log[4].contains("null"));
}
