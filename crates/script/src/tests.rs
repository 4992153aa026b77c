//! The core in virtual time: life cycle, event loop, cancellation, limits.
//!
//! Must not need a socket. Invariant under test: whatever a script does, its task ends.

use crate::testing::Rehearsal;
use crate::vu::Ending;

fn log_of(script: &str) -> Vec<String> {
    Rehearsal::new(script).run().log()
}

#[test]
fn console_formats_values_as_k6_does() {
    let script = r#"
        export default function () {
            console.log('plain', 1, true, null, undefined);
            console.warn({ b: [1, { c: 2 }], s: "abc" });
            console.error(new Error("e"));
            console.log([1, 2], function f() {}, new ArrayBuffer(4));
            const cyclic = {}; cyclic.self = cyclic;
            console.log(cyclic);
        }"#;
    assert_eq!(
        log_of(script),
        [
            "info plain 1 true null undefined source=console",
            "warning { b: [ 1, { c: 2 } ], s: \"abc\" } source=console",
            "error Error: e source=console",
            "info [ 1, 2 ] [object Function] ArrayBuffer { [Uint8Contents]: <00 00 00 00>, byteLength: 4 } source=console",
            "info { self: [Circular] } source=console",
        ]
    );
}

#[test]
fn half_a_character_is_shown_as_one_that_cannot_be() {
    let script = r#"
        export default function () {
            console.log("a\ud83d", { "k\ud83d": "b\ud83d" }, new Error("\ud83d"), Symbol("c\ud83d"));
        }"#;
    let wanted =
        "info a\u{fffd} { k\u{fffd}: \"b\u{fffd}\" } Error: \u{fffd} c\u{fffd} source=console";
    assert_eq!(log_of(script), [wanted]);
}

#[test]
fn deep_values_are_spelled_out_to_a_limit_on_any_stack() {
    let script = r#"
        export default function () {
            let deep = {};
            for (let i = 0; i < 5000; i++) deep = [deep];
            const dive = () => { try { dive(); } catch (e) { console.log(deep); } };
            dive();
        }"#;
    let log = log_of(script);
    let brackets = log[0].matches('[').count();
    assert_eq!(brackets, 1001, "{}", log[0]);
    assert!(log[0].contains("[ [object Object] ]"));
}

#[test]
fn timers_fire_in_order_and_an_iteration_ends_with_the_last() {
    let script = r#"
        export default async function () {
            setTimeout((x) => console.log("late", x), 20, "arg");
            setTimeout(() => console.log("soon"), 10);
            await new Promise((resolve) => setTimeout(resolve, 15));
            console.log("awaited");
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(
        rehearsed.log(),
        [
            "info soon source=console",
            "info awaited source=console",
            "info late arg source=console"
        ]
    );
    assert_eq!(rehearsed.world.now.get(), 20_000_000);
}

#[test]
fn exceptions_carry_a_trace_and_the_next_iteration_runs() {
    let script = "export default function () {\n  console.log(__ITER);\n  throw new Error('x');\n}";
    let rehearsed = Rehearsal::new(script).iterations(2).run();
    assert_eq!(rehearsed.log().len(), 2);
    let failure = rehearsed.failure().expect("it threw");
    assert!(
        failure.starts_with("Error: x\n\tat default (file:///script.js:3:"),
        "{failure}"
    );
}

#[test]
fn a_loop_without_end_is_cancelled_without_its_catch_or_finally() {
    let script = r#"
        export default function () {
            try { while (true) {} } catch (e) { console.log("caught"); } finally { console.log("finally"); }
        }"#;
    let rehearsed = Rehearsal::new(script).cancelled_at(5_000_000).run();
    assert!(matches!(rehearsed.endings[1], Ending::Cancelled));
    assert!(rehearsed.log().is_empty());
}

#[test]
fn a_regular_expression_that_goes_back_without_end_is_cancelled() {
    for search in [
        "/^(a+){2,}$/.test(text)",
        "text.replace(/(a|a){2,}c/g, 'b')",
        "text.split(/(?=(a*)*c)b/)",
    ] {
        let script = format!(
            "export default function () {{
                const text = 'a'.repeat(60) + 'b';
                try {{ {search}; }} finally {{ console.log('finally'); }}
            }}"
        );
        let rehearsed = Rehearsal::new(&script).cancelled_at(5_000_000).run();
        assert!(
            matches!(rehearsed.endings[1], Ending::Cancelled),
            "{search}"
        );
        assert!(rehearsed.log().is_empty(), "{search}");
    }
}

#[test]
fn a_regular_expression_that_only_chooses_ends() {
    for search in [
        "/^(a+)+$/.test(text)",
        "text.replace(/(a|aa)*c/g, 'b')",
        "text.split(/(.*)(.*)=(.*)!/)",
    ] {
        let script = format!(
            "export default function () {{
                const text = 'a'.repeat(2000) + '=b';
                {search};
                console.log('ended');
            }}"
        );
        let rehearsed = Rehearsal::new(&script).run();
        assert_eq!(rehearsed.log().len(), 1, "{search}");
    }
}

#[test]
fn a_sleeping_script_is_cancelled() {
    let script = r#"
        import { sleep } from "k6";
        export default function () {
            try { sleep(10); } finally { console.log("finally"); }
        }"#;
    let rehearsed = Rehearsal::new(script).cancelled_at(5_000_000).run();
    assert!(matches!(rehearsed.endings[1], Ending::Cancelled));
    assert!(rehearsed.log().is_empty());
}

#[test]
fn deep_recursion_is_an_exception_and_not_a_crash() {
    let script = r#"
        export default function () {
            const deep = (n) => deep(n + 1) + 1;
            try { deep(0); } catch (e) { console.log(e.name); }
        }"#;
    assert_eq!(log_of(script), ["info RangeError source=console"]);
}

#[test]
fn what_a_script_does_to_its_errors_changes_no_trace_of_the_log() {
    let script = r#"
        const names = { multi: "x\n    at evil (file:///evil.js:1:1)", get name() { throw new Error("name"); } };
        export default function () {
            const error = new Error(names.multi);
            error.stack = "at other (file:///other.js:1:1)";
            const named = new TypeError("t");
            Object.defineProperty(named, "name", Object.getOwnPropertyDescriptor(names, "name"));
            try { named.stack; } catch (e) { console.log(e.message); }
            Error.captureStackTrace(named, () => 1);
            const frozen = Object.freeze(new Error("frozen"));
            console.log(frozen.stack.split("\n")[0], frozen.stack === frozen.stack);
            console.log(structuredClone(frozen).stack === frozen.stack);
            throw error;
        }"#;
    let run = Rehearsal::new(script).run();
    assert_eq!(
        run.log(),
        [
            "info name source=console",
            "info Error: frozen true source=console",
            "info true source=console",
        ]
    );
    let failure = run.failure().expect("it threw");
    assert!(
        failure.contains("at default (file:///script.js:4:"),
        "{failure}"
    );
    assert!(!failure.contains("other.js"), "{failure}");
}

#[test]
fn places_are_named_by_source_maps() {
    let map = r#"{"version":3,"sources":["../orig.ts"],"names":[],"mappings":"AASA;AACA"}"#;
    let script = r#"
        import { thrown } from "./out/lib.js";
        export default function () {
            console.log(thrown().stack.split("\n")[1]);
            throw thrown();
        }"#;
    let run = Rehearsal::new(script)
        .file(
            "out/lib.js",
            "exports.thrown = () => new Error('x');\n//# sourceMappingURL=lib.js.map",
        )
        .file("out/lib.js.map", map)
        .run();
    assert_eq!(run.log(), ["info \tat file:///orig.ts:10:0 source=console"]);
    let failure = run.failure().expect("it threw");
    assert!(failure.contains("\tat file:///orig.ts:10:0\n"), "{failure}");
}

#[test]
fn people_s_recursion_is_as_deep_as_it_likes() {
    let script = r#"
        import { group } from "k6";
        const plain = (n) => n ? plain(n - 1) + 1 : 0;
        const mapped = (n) => n ? [1].map(() => mapped(n - 1))[0] + 1 : 0;
        const grouped = (n) => n ? group("g", () => grouped(n - 1)) + 1 : 0;
        const waited = async (n) => n ? await waited(n - 1) + 1 : 0;
        function* yielded(n) { if (n) yield* yielded(n - 1); else yield "yielded"; }
        const list = "[".repeat(50_000) + "]".repeat(50_000);
        export default async function () {
            console.log(plain(20_000), mapped(5_000), grouped(200), await waited(2_000), ...yielded(5_000));
            console.log(JSON.stringify(JSON.parse(list)) === list);
            try { grouped(1_000); } catch (e) { console.log(String(e)); }
        }"#;
    let lines = [
        "info 20000 5000 200 2000 yielded source=console",
        "info true source=console",
        "info RangeError: Maximum call stack size exceeded source=console",
    ];
    assert_eq!(log_of(script), lines);
}

#[test]
fn recursion_without_end_is_an_exception_whatever_it_goes_through() {
    let script = r#"
        const self = { toString() { return `${self}`; }, toJSON() { return JSON.stringify(self); } };
        const ways = {
            get getter() { return ways.getter; },
            proxy() { const trapped = new Proxy({}, { get: (_, name) => trapped[name] }); return trapped.x; },
            chain() { let chain = {}; for (let i = 0; i < 300_000; i++) chain = new Proxy(chain, {}); return chain.x; },
            text() { return String(self); },
            json() { return JSON.stringify(self); },
            sort() { return [2, 1].sort(() => ways.sort()); },
            replace() { return "a".replace(/a/, () => ways.replace()); },
            made() { return new (class Made { constructor() { this.made = new Made(); } })(); },
            yielded() { const endless = function* () { yield* endless(); }; return [...endless()]; },
            read() { return eval("[".repeat(100_000) + "]".repeat(100_000)); },
        };
        const wait = async () => await wait();
        const tryAll = async (where) => {
            const ended = await wait().then(() => "", (e) => e.name);
            const others = Object.keys(ways).filter((way) => {
                try { const found = ways[way]; found(); } catch (e) { return e.name !== "RangeError"; }
                return true;
            });
            console.log(where, ended, ...others);
        };
        tryAll("init");
        export const setup = () => tryAll("setup");
        export default () => tryAll("iteration");
        export const teardown = () => tryAll("teardown");
        export const handleSummary = async () => { await tryAll("summary"); return {}; };"#;
    let log = log_of(script);
    assert!(!log.is_empty());
    for line in log {
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("info"), "{line}");
        assert_eq!(words.nth(1), Some("RangeError"), "{line}");
        assert_eq!(words.next(), Some("source=console"), "{line}");
    }
}

#[test]
fn a_call_takes_a_quarter_of_a_million_arguments() {
    let script = r#"
        const many = Array.from({ length: 250_000 }, (_, n) => n % 2 ? 97 : 98);
        const last = (...all) => all[249_999] + arguments_of(...all);
        function arguments_of() { return arguments.length; }
        function* taken(...all) { yield all.length; }
        export default function () {
            const list = [];
            console.log(Math.max(...many), list.push(...many), String.fromCharCode(...many).length);
            console.log(last(...many), last.bind(null, 1)(...many.slice(1)), ...taken(...many));
            console.log(new Array(...many).length, Reflect.construct(Array, many).length);
            try { last.apply(null, { length: 2e9 }); } catch (e) { console.log(e.name); }
        }"#;
    let lines = [
        "info 98 250000 250000 source=console",
        "info 250097 250097 250000 source=console",
        "info 250000 250000 source=console",
        "info RangeError source=console",
    ];
    assert_eq!(log_of(script), lines);
}

#[test]
fn a_function_of_more_variables_than_the_stack_holds_is_an_exception() {
    let script = r#"
        const check = () => [/(a|b)+/.exec("ab")[0], JSON.stringify({ a: [1] }), [2, 1].sort()].join();
        export default function () {
            for (const count of [100, 10_000, 11_000, 11_500, 12_000, 30_000, 60_000]) {
                const names = Array.from({ length: count }, (_, n) => `v${n} = ${n}`);
                const body = new Function("check", `let ${names.join()}; return check();`);
                try {
                    if (body(check) !== 'ab,{"a":[1]},1,2') console.log("wrong", count);
                } catch (e) {
                    if (e.name !== "RangeError" || count < 10_000) console.log(String(e), count);
                }
            }
            console.log("done");
        }"#;
    assert_eq!(log_of(script), ["info done source=console"]);
}

#[test]
fn virtual_users_of_a_thread_do_not_feel_that_they_share_names() {
    let script = r#"
        export default function () {
            const weak = new WeakMap([[Symbol.iterator, {}], [Symbol.asyncIterator, { weak: 1 }]]);
            weak.set(Symbol("own"), weak);
            new WeakSet().add(Symbol.iterator);
            globalThis.weak = weak;
            globalThis.held = new WeakRef(Symbol.iterator);
            const names = { abs: 1, ["a" + "bs2"]: 2, unheardOf: 3, sleep: 4 };
            const symbols = [Symbol("abs"), Symbol.for("abs"), Symbol.for("abs")];
            console.log(Object.keys(names).join(), symbols[1] === symbols[2], symbols[0].description,
                "sl" + "eep" in names, weak.has(Symbol.iterator), held.deref() === Symbol.iterator);
        }"#;
    let told = "info abs,abs2,unheardOf,sleep true abs true true true source=console";
    let first = Rehearsal::new(script).run();
    // Consecutively, and one while another lives.
    for _ in 0..2 {
        assert_eq!(log_of(script), [told]);
    }
    assert_eq!(first.log(), [told]);
}

#[test]
fn memory_is_limited_per_virtual_user() {
    // Whichever allocation is the last that fits, and whether it is freed on failure or stays.
    for filler in [1, 10, 100, 1000] {
        for keeper in ["", "globalThis.kept = hog;"] {
            let script = format!(
                "export default function () {{
                    const hog = []; {keeper} while (true) hog.push(new Array({filler}).fill(7));
                }}"
            );
            let rehearsed = Rehearsal::new(&script)
                .settings(|settings| settings.memory_limit = Some(8 << 20))
                .run();
            let failure = rehearsed.failure().expect("it failed");
            assert!(
                failure.contains("out of memory"),
                "{filler} {keeper}: {failure}"
            );
        }
    }
}

#[test]
fn unheard_rejections_are_told_and_the_run_goes_on() {
    let script = r#"
        export default function () { Promise.reject(new Error("unh")); }"#;
    let rehearsed = Rehearsal::new(script).iterations(2).run();
    let told = "Uncaught (in promise) Error: unh";
    let iterations = &rehearsed.endings[1..];
    assert_eq!(iterations.len(), 2);
    for ending in iterations {
        assert!(matches!(ending, Ending::Failed(failure) if failure.message.starts_with(told)));
    }
}

#[test]
fn checks_and_groups_are_recorded() {
    let script = r#"
        import { check, group } from "k6";
        export default function () {
            group("outer", () => {
                group("inner", () => check(1, { "is one": (v) => v === 1, "is two": (v) => v === 2 }));
            });
            console.log(check(null, { "plain": true }));
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    let checks = rehearsed.world.checks.borrow().clone();
    let expected = [
        ("::outer::inner", "is one", true),
        ("::outer::inner", "is two", false),
        ("", "plain", true),
    ]
    .map(|(group, name, passed)| (group.to_owned(), name.to_owned(), passed));
    assert_eq!(checks, expected);
    assert_eq!(rehearsed.world.values_of("group_duration").len(), 2);
}

#[test]
fn async_checks_and_groups_are_awaited() {
    let script = r#"
        import { check, group } from "k6";
        export default async function () {
            await group("later", async () => { await null; });
            const held = await check(1, { "later": async (v) => v === 1 });
            console.log(held);
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    assert_eq!(rehearsed.log(), ["info true source=console"]);
    assert_eq!(rehearsed.world.checks.borrow().len(), 1);
}

#[test]
fn async_groups_side_by_side_keep_what_is_theirs() {
    let script = r#"
        import { check, group } from "k6";
        const part = async (name) => {
            await new Promise((done) => setTimeout(done, 5));
            await group("inner", async () => { await null; check(1, { [name]: true }); });
            check(1, { [name]: true });
        };
        export default async function () {
            const both = ["a", "b"].map((name) => group(name, async () => part(name)));
            check(1, { "before": true });
            await Promise.all(both);
            check(1, { "after": true });
        }"#;
    let rehearsed = Rehearsal::new(script).run();
    let checks = rehearsed.world.checks.borrow().clone();
    let told: Vec<_> = checks
        .iter()
        .map(|(group, name, _)| format!("{group} {name}"))
        .collect();
    let wanted = [
        " before",
        "::a::inner a",
        "::a a",
        "::b::inner b",
        "::b b",
        " after",
    ];
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    assert_eq!(sorted(told), sorted(wanted.map(str::to_owned).to_vec()));
    assert_eq!(rehearsed.world.values_of("group_duration").len(), 4);
}

#[test]
fn common_js_is_required_and_exported() {
    let script = r#"
        const { double } = require("./lib.js");
        const { sleep } = require("k6");
        exports.default = function () { sleep(0); console.log(double(21)); };"#;
    let rehearsed = Rehearsal::new(script)
        .file("lib.js", "module.exports = { double: (x) => 2 * x };")
        .run();
    assert_eq!(rehearsed.failure(), None);
    assert_eq!(rehearsed.log(), ["info 42 source=console"]);
}

#[test]
fn shared_arrays_are_made_once_and_read_by_index() {
    let script = r#"
        import { SharedArray } from "k6/data";
        const data = new SharedArray("users", () => { console.log("made"); return [{ n: 1 }, { n: 2 }]; });
        export default function () { console.log(data.length, data[1].n, data.map((u) => u.n)); }"#;
    assert_eq!(
        log_of(script),
        [
            "info made source=console",
            "info 2 2 [ 1, 2 ] source=console"
        ]
    );
}

#[test]
fn exports_are_told() {
    let script = "export const options = { vus: 2 }; export function setup() {} export default function () {}";
    let exports = Rehearsal::new(script).run().exports;
    let exports = exports.expect("options are JSON").expect("it was run");
    assert_eq!(exports.functions, ["default", "setup"]);
    assert_eq!(exports.options, serde_json::json!({ "vus": 2 }));
}
