//! Batches against a simulated host.
//!
//! Must not need a socket. Invariant under test: the cost of a batch is the cost of its requests.

use crate::testing::Rehearsal;

#[test]
fn methods_of_a_batch_are_those_of_k6() {
    let script = "import http from 'k6/http';
        const H = 'http://h.test';
        export default function () {
        const methods = (requests) => http.batch(requests).map((r) => r && r.request.method).join();
         console.log(methods([{ method: 'get', url: H }, { method: 'pAtch', url: H }, ['pOst', H, 'x'], H]));
         for (const bad of [{ method: undefined, url: H }, { method: 5, url: H }, [null, H]]) http.batch([bad]);
        }";
    let log = Rehearsal::new(script).run().log();
    assert_eq!(log[0], "info GET,PATCH,pOst,GET source=console");
    let refused =
        |what: &str| format!("warning A batch request failed error=invalid method type '{what}'");
    assert_eq!(log[1..], ["<nil>", "5", "<nil>"].map(refused));
}

#[test]
fn a_batch_is_what_go_makes_of_it() {
    let script = "import http from 'k6/http';
        const H = 'http://h.test';
        export default function () {
        console.log(http.batch(new Set([H, H + '/b'])).map((r) => r.url).join());
        for (const bad of [new Map([['GET', H]]), new Date(0), new Uint8Array(1)]) {
            try { http.batch(bad); } catch (e) { console.log(String(e)); }
        } }";
    let log = Rehearsal::new(script).run().log();
    assert_eq!(log[0], "info http://h.test,http://h.test/b source=console");
    let refused = |kind: &str| {
        format!("info GoError: invalid http.batch() argument type {kind} source=console")
    };
    let kinds = ["[][2]interface {}", "time.Time", "[]uint8"];
    assert_eq!(log[1..], kinds.map(refused));
}

/// A host gets capacity when one of its own requests ends; waiting requests are not scanned.
#[test]
fn a_large_batch_costs_what_its_requests_cost() {
    let at_once = |hosts: usize| {
        let script = format!(
            "import http from 'k6/http';
             export default function () {{
                 const urls = Array.from({{ length: 3000 }}, (_, i) => `http://h${{i % {hosts}}}.test/${{i}}`);
                 const list = http.batch(urls);
                 console.log(list.length, list.every((r, i) => r.url === urls[i] && r.status === 200));
             }}"
        );
        let rehearsed = Rehearsal::new(&script).run();
        assert_eq!(rehearsed.log(), ["info 3000 true source=console"]);
    };
    at_once(1);
    at_once(7);
    at_once(3_000);
}

#[test]
fn what_cannot_be_sent_ends_without_going_down_the_stack() {
    let script = "import http from 'k6/http';
        export default function () {
            const list = http.batch(Array(5000).fill('ftp://h.test/'));
            console.log(list.length, list.every((r) => r.status === 0));
        }";
    let log = Rehearsal::new(script).run().log();
    assert_eq!(
        log.last().map(String::as_str),
        Some("info 5000 true source=console")
    );
}
