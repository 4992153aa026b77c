//! `Response.json()`: the whole body, parts of it, and bodies that are not JSON.
//!
//! Must not know how paths are evaluated. Invariant under test: no path and no body overflows a virtual user's
//! stack.

use super::said;

#[test]
fn json_gives_the_whole_or_a_part() {
    let lines = said(
        "const r = http.get(H + '/json');
         console.log(JSON.stringify(r.json()), r.json('a.b.#'), r.json('a.b.2.c'), r.json('nope'), r.body.length);
         console.log(r.json('a.b.0'), JSON.stringify(r.json('a')));
         for (const f of [() => http.get(H + '/html').json(), () => http.get(H + '/none').json(), () => r.json('a|'.repeat(1000)), () => r.json('*?'.repeat(2000))]) {
            try { f(); } catch (e) { console.log(String(e)); }
         }",
    );
    assert_eq!(
        lines,
        [
            "{\"a\":{\"b\":[1,2,{\"c\":\"x\"}]}} 3 x undefined 27",
            "1 {\"b\":[1,2,{\"c\":\"x\"}]}",
            "GoError: cannot parse json due to an error at line 1, character 1 , error: invalid character '<' looking for beginning of value",
            "GoError: the body is null so we can't transform it to JSON - this likely was because of a request error getting the response",
            "GoError: the path has more than 48 parts: take it in two steps",
            "GoError: the path has more than 48 parts: take it in two steps",
        ]
    );
}

/// As in k6, which validates the whole body first.
#[test]
fn a_body_that_is_no_json_has_no_parts() {
    let lines = said(
        "for (const page of ['/html', '/cut', '/lines']) {
            const r = http.get(H + page);
            console.log(['a', 'a.b', '..#', '@this', '@pretty', '*'].every((path) => r.json(path) === undefined));
         }",
    );
    assert_eq!(lines, ["true", "true", "true"]);
}

#[test]
fn long_json_paths_of_every_kind_have_room() {
    let lines = said(
        "const r = http.get(H + '/json');
         const nested = (open, close, times) => open.repeat(times) + 'a' + close.repeat(times);
         const paths = [
            'a|'.repeat(47) + 'a',
            '@this|'.repeat(23) + 'a.b.0',
            '@pretty|@ugly|'.repeat(11) + 'a.b.0',
            '#.'.repeat(24) + 'a',
            nested('[', ']', 48),
            nested('{x:', '}', 48),
            nested('#(', ')', 24),
            nested('[#(', ')]', 16),
            'a.b.' + nested('#(', ')#', 15),
            '*'.repeat(40) + '.b.0',
         ];
         for (const path of paths) {
            const found = JSON.stringify(r.json(path));
            console.log(found === undefined ? found : found.length);
         }",
    );
    assert_eq!(
        lines,
        [
            "undefined",
            "1",
            "1",
            "undefined",
            "117",
            "309",
            "undefined",
            "2",
            "2",
            "1"
        ]
    );
}
