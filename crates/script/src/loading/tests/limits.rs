//! Compiling within limits, and large sources that stay within them.
//!
//! Must not measure time. Invariant under test: hostile source is refused by its cost, and generated code of
//! real tools is not.

use super::console;

/// Source whose cost grows with everything before it.
#[test]
fn hostile_source_is_refused_within_bounds() {
    let many = |part: fn(usize) -> String, times| (0..times).map(part).collect::<String>();
    for (text, why) in [
        (
            format!(
                "{}1{}",
                "(function(){return ".repeat(4_900),
                "})".repeat(4_900)
            ),
            "it takes more than 67 MB to compile",
        ),
        (
            format!("f = ({}) => 1", many(|n| format!("p{n} = 1,"), 40_000)),
            "the source takes too long to compile",
        ),
        ("a => ".repeat(100_000) + "1", "nested more than 10000"),
        (
            "if (0) {} else ".repeat(100_000) + ";",
            "nested more than 10000",
        ),
    ] {
        let said = console("import './hostile.js'", &[("hostile.js", &text)]);
        assert!(said[0].contains("/hostile.js"), "{said:?}");
        assert!(said[0].contains(why), "{said:?}");
    }
}

/// Errors that only the engine finds also name a file.
#[test]
fn errors_of_compiling_name_the_file() {
    let many = |part: fn(usize) -> String, times| (0..times).map(part).collect::<String>();
    for (text, why) in [
        ("/(?<a>.)(?<a>.)/".to_owned(), "duplicate group name"),
        ("/[b-a]/".to_owned(), "invalid class range"),
        (
            format!("() => {{ {} }}", many(|n| format!("let v{n};"), 70_000)),
            "too many variables declared",
        ),
        (format!("f({})", "1,".repeat(70_000)), "Too many arguments"),
    ] {
        let said = console("import './wrong.js'", &[("wrong.js", &text)]);
        assert!(said[0].contains("/wrong.js"), "{said:?}");
        assert!(said[0].contains(why), "{said:?}");
    }
}

#[test]
fn large_sources_that_tools_write_are_no_hostile_ones() {
    let many = |part: fn(usize) -> String, times| (0..times).map(part).collect::<String>();
    for text in [
        many(
            |n| format!("const f{n} = a => f{}(f{}(a));", n / 2, n / 3),
            20_000,
        ),
        format!(
            "(() => {{ {} }})();",
            many(
                |n| format!("const f{n} = a => f{}(f{}(a));", n / 2, n / 3),
                8_000
            )
        ),
        format!("const r = /{}b/;", "a|".repeat(100_000)),
        format!("const r = /[{}]/i;", "a-z".repeat(100_000)),
        format!(
            "const r = /[{}]/u;",
            many(
                |n| format!("\\u{{{:x}}}", 0x10000 + n * 7919 % 0x10000),
                60_000
            )
        ),
        format!(
            "switch (1) {{ {} }}",
            many(|n| format!("case {n}: break; "), 50_000)
        ),
        format!(
            "const o = {{ {} }};",
            many(|n| format!("k{n}: {{ a: [1] }}, "), 50_000)
        ),
    ] {
        let said = console(
            "import './large.js'; export default function () { console.log(1) }",
            &[("large.js", &(text + " export {};"))],
        );
        assert_eq!(said, ["1"]);
    }
}

/// Functions with many variables look up names by hash.
#[test]
fn names_mean_the_same_in_functions_of_any_size() {
    let script = |fillers: usize| {
        let fill = |name: &str| {
            let fill = (0..fillers).map(|n| format!("let {name}{n} = {n};"));
            fill.collect::<String>()
        };
        let (module, function) = (fill("m"), fill("l"));
        format!(
            "{module} const top = 't'; var v = 'v';
            function f(arg, arguments2 = () => shadowed) {{
                {function}
                const own = 'o'; let shadowed = 1; var late;
                const seen = () => {{ const inner = shadowed; {{ let shadowed = 2; late = shadowed; }} return inner; }};
                {{ let shadowed = 3; var hoisted = () => shadowed; }}
                for (let i = 0; i < 2; i++) {{ const own = i; v += own; }}
                let thrown = '';
                try {{ own = 1; }} catch (error) {{ thrown = error.name; }}
                try {{ unborn; }} catch (error) {{ thrown += error.name; }}
                try {{ nowhere; }} catch ({{ name: top }}) {{ thrown += top; }}
                let unborn = 1;
                return [own, seen(), late, hoisted(), v, top, thrown, arg, typeof i, typeof arguments].join();
            }}
            class Counter {{ #n = 1; static #made = 0; get() {{ Counter.#made++; return this.#n + Counter.#made; }} }}
            const g = function own(n) {{ {function} return n ? own(n - 1) : typeof own; }};
            export default function () {{
                console.log(f('a'), new Counter().get(), g(1), /^(?:a|bc|(d)|)$/.exec('d')[1], /a|b|c/g[Symbol.replace]('xbc', '-'));
            }}"
        )
    };
    let small = console(&script(0), &[]);
    assert_eq!(
        small,
        ["o,1,2,3,v01,t,TypeErrorReferenceErrorReferenceError,a,undefined,object 2 function d x--"]
    );
    for fillers in [20, 40, 500] {
        assert_eq!(console(&script(fillers), &[]), small, "{fillers}");
    }
}
