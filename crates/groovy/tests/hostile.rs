//! Malicious or generated scripts: all of them terminate.
//!
//! Must not know what scripts do. Invariant: nothing overflows, runs forever, or uses up all memory.

mod desk;

use desk::Desk;
use loadline_groovy::{Dialect, Script};

const DIALECTS: [Dialect; 2] = [Dialect::Groovy, Dialect::BeanShell];

/// The result of a script: its exception, or nothing.
fn ends(source: &str, dialect: Dialect) -> String {
    match Script::read(source, dialect) {
        Err(fault) => fault.to_string(),
        Ok(script) => {
            let _ = script.unsupported(&|_, _| None);
            let outcome = script.run(&mut Desk::default());
            outcome
                .err()
                .map(|thrown| thrown.told())
                .unwrap_or_default()
        }
    }
}

#[test]
fn deep_nesting_is_no_crash() {
    let pairs = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("!", ""),
        ("-", ""),
        ("~", ""),
        ("if (1) ", ""),
        ("x ? ", ": 1"),
        ("a(", ")"),
        ("a.b", ""),
        ("[a:", "]"),
        ("new A(", ")"),
        ("\"${", "}\""),
        ("{ x -> ", "}"),
        ("(int) ", ""),
        ("1 + (", ")"),
        ("1 && ", ""),
        ("x = ", ""),
        ("try { ", "} finally {}"),
        ("a[", "]"),
        ("{ a = ", "}"),
        ("class A { def f() { ", "} }"),
        ("class A { static class B { ", "} }"),
    ];
    for (open, close) in pairs {
        for count in [50, 300, 5_000] {
            for dialect in DIALECTS {
                ends(
                    &format!("{}1{}", open.repeat(count), close.repeat(count)),
                    dialect,
                );
            }
        }
    }
    for link in [
        ".a",
        ".a()",
        "[0]",
        "?.a",
        " + 1",
        " && 1",
        " ?: 1",
        ".a { it }",
        " as int",
        " << 1",
    ] {
        for dialect in DIALECTS {
            ends(&format!("x{}", link.repeat(20_000)), dialect);
        }
    }
}

#[test]
fn what_goes_on_for_ever_ends() {
    let endless = [
        "while (true) {}",
        "for (;;) { x = 1 }",
        "def f() { f() }\nf()",
        "def f\nf = { f() }\nf()",
        "(0..2147483647).each { }",
        "def l = []; while (true) { l << l }",
        "def s = 'x'; while (true) { s += s }",
        "'x' * 2000000000",
        "[1] * 2000000000",
        "2 ** 1000000000",
        "10000000000.power(1000000)",
        "new byte[2000000000]",
        "'x'.padLeft(2000000000)",
        "1.upto(9999999999) { }",
        "try { while (true) {} } catch (Throwable t) { 1 } finally { 2 }",
        "('a' * 40) ==~ /(a+)+\\1b/",
        "[[1, 2]] * 20 + ['x'].combinations()",
        "class A { String toString() { \"$this\" } }\nnew A().toString()",
        "class A { String toString() { while (true) {} } }\nwhile (true) { \"${new A()}\" }",
        "class A { boolean equals(o) { this == o } }\nnew A() == new A()",
        "class A { def f = new A() }\nnew A()",
        "class A { A() { this() } }\nnew A()",
        "class A extends A { }\nnew A().x",
        "class A extends B { }\nclass B extends A { B() { super() } }\nnew A()",
        "class A { static b = B.a }\nclass B { static a = A.b }\nA.b",
        "class A { def getX() { x } }\nnew A().x",
        "enum E { X; def next() { next() } }\nE.X.next()",
    ];
    for source in endless {
        ends(source, Dialect::Groovy);
    }
    assert_eq!(
        ends("while (true) {}", Dialect::Groovy),
        "it goes on for too long"
    );
    assert_eq!(
        ends("f() { f(); }\nf();", Dialect::BeanShell),
        "java.lang.StackOverflowError"
    );
}

#[test]
fn what_holds_itself_is_told() {
    let sources = [
        "def l = []; l << l; l.toString() + l.hashCode() + (l == l)",
        "def m = [:]; m.m = m; \"$m\" + m.hashCode()",
        "def l = []; l << l; groovy.json.JsonOutput.toJson(l)",
        "def l = []; l << l; l.flatten()",
    ];
    for source in sources {
        ends(source, Dialect::Groovy);
    }
}

proptest::proptest! {
    #[test]
    fn no_script_makes_it_panic(source in "([a-z]{1,3}|[0-9.]{1,3}|['\"`/$]|[-+*/%<>=!~&|^?:.,;(){}\\[\\]\\\\ \n]|def |if|for|in|new |return |\\[:\\]|\\.each|\\.size\\(\\)|'abc'|it|as int|-> ){0,50}") {
        for dialect in DIALECTS {
            ends(&source, dialect);
        }
    }
}
