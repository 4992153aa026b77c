//! Web APIs as used by scripts, compared with their standards.

#![expect(
    clippy::result_large_err,
    reason = "a response comes back in the shape in which the host gives it"
)]

use loadline_model::Nanos;

use crate::hop::{HopFailure, HopRequest, HopTimes};
use crate::testing::{Rehearsal, Rehearsed, answer};

/// Runs a self-checking script: `same(actual, expected)` logs differences.
fn rehearse(body: &str) -> Rehearsal {
    let script = format!(
        r#"const same = (actual, expected) => {{
            const [left, right] = [actual, expected].map((value) => JSON.stringify(value));
            if (left !== right) console.log(`${{left}} is not ${{right}}`);
        }};
        const refused = async (make) => {{
            try {{ await make(); return "nothing"; }} catch (error) {{ return error.name; }}
        }};
        const all = async (stream) => {{ const seen = []; for await (const one of stream) seen.push(one); return seen; }};
        export default async function () {{ {body}; console.log("end"); }}"#
    );
    Rehearsal::new(&script)
}

fn check(rehearsed: Rehearsed) -> Rehearsed {
    assert_eq!(rehearsed.failure(), None);
    assert_eq!(rehearsed.log(), ["info end source=console"]);
    rehearsed
}

#[test]
fn urls_are_parsed_and_changed() {
    check(rehearse(include_str!("tests/url.js")).run());
}

#[test]
fn events_and_signals_reach_those_who_listen() {
    check(rehearse(include_str!("tests/events.js")).run());
}

#[test]
fn streams_give_what_their_sources_give() {
    check(rehearse(include_str!("tests/streams.js")).run());
}

#[test]
fn bodies_are_read_once_and_in_any_form() {
    check(rehearse(include_str!("tests/bodies.js")).run());
}

fn header<'a>(request: &'a HopRequest, name: &str) -> &'a str {
    let found = request.headers.iter().find(|(known, _)| **known == *name);
    found.map_or("", |(_, value)| value.as_str())
}

#[test]
fn fetch_sends_and_shows_what_came_back() {
    let answering = |request: &HopRequest| {
        let told = format!(
            "{} {} {} {} {}",
            request.method,
            request.target,
            header(request, "Content-Type"),
            header(request, "Cookie"),
            String::from_utf8_lossy(request.body.as_deref().unwrap_or_default()),
        );
        let failure = |code, detail: &str| HopFailure {
            class: loadline_model::ErrorClass::Refused,
            code,
            tag: detail.to_owned(),
            detail: detail.to_owned(),
            protocol: None,
            remote: None,
            tls: None,
            times: HopTimes::default(),
            done_at: Nanos(0),
            partial_body: None,
        };
        Ok(match &*request.target {
            "/late" => return Err(failure(1050, "request timeout")),
            "/down" => return Err(failure(1212, "connection refused")),
            "/deadline" => answer(
                200,
                &[],
                (request.deadline.0 / 1_000_000).to_string().as_bytes(),
            ),
            "/moved" => answer(302, &[("Location", "/to?x=1")], b""),
            "/round" => answer(302, &[("Location", "/round")], b""),
            "/none" => answer(204, &[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], b""),
            "/json" => answer(
                404,
                &[("Content-Type", "application/json")],
                br#"{"a":[1]}"#,
            ),
            "/slow" => {
                let mut slow = answer(200, &[], b"late");
                slow.times.waiting = 5_000_000_000;
                slow
            }
            _ => answer(200, &[("X-A", "1"), ("x-a", "2")], told.as_bytes()),
        })
    };
    let rehearsed = rehearse(include_str!("tests/fetch.js"))
        .answering(answering)
        .run();
    let rehearsed = check(rehearsed);
    let values = rehearsed.world.values.borrow();
    let hop = values.iter().find(|(name, _, tags)| {
        name == "http_reqs" && tags.get("status").is_some_and(|status| status == "404")
    });
    let (_, _, tags) = hop.expect("it was recorded");
    assert_eq!(tags["name"], "http://test.local/json");
    assert_eq!(tags["method"], "GET");
    assert_eq!(tags["mine"], "yes");
}

#[test]
fn a_timeout_that_nobody_waits_for_keeps_nobody_waiting() {
    let script = r#"export default async function () {
        const response = await fetch("http://test.local/", { signal: AbortSignal.timeout(30000) });
        console.log(response.status);
    }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.log(), ["info 200 source=console"]);
    assert!(rehearsed.world.now.get() < 1_000_000_000);
}

#[test]
fn a_global_that_a_script_imports_from_itself_is_one() {
    let script = r#"export default async function () {
        const made = new Response(new Blob(["x"])).body;
        console.log(made instanceof ReadableStream, (await new Request("http://a/", { method: "POST", body: made }).blob()) instanceof Blob);
    }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.log(), ["info true true source=console"]);
}

#[test]
fn the_client_takes_the_webs_urls() {
    let script = r#"import http from "k6/http";
    export default function () {
        const url = new URL("/x", "http://test.local/");
        url.searchParams.set("a", "b c");
        console.log(http.get(url).url);
    }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(
        rehearsed.log(),
        ["info http://test.local/x?a=b+c source=console"]
    );
}
