//! Values of texts in JMeter: each line was recorded with JMeter 5.6.3.
//!
//! Must not know how texts are parsed. Invariant: a test's expected value was never computed by this crate.

use super::Text;
use crate::testing::Bench;

/// The value of a text, with `a` = 1, `b` = B, `n` = 2 and others set.
fn value(source: &str) -> String {
    let mut bench = Bench::default();
    let given = [
        ("a", "1"),
        ("b", "B"),
        ("n", "2"),
        ("a_2", "second"),
        ("q", "x,y"),
        ("e", ""),
    ];
    for (name, value) in given {
        bench.variables.put(name, value);
    }
    bench.value(source)
}

#[track_caller]
fn fault(source: &str) -> String {
    Text::parse(source)
        .expect_err("the text is refused")
        .message
}

#[test]
fn what_is_neither_variable_nor_call_stays_to_the_backslash() {
    for text in [
        "", "abc", "a\\,b", "\\${a}", "x\\", "${a", "$", "$$", "$ {a}", "$\\{a}", "\\$\\{a}",
    ] {
        assert_eq!(value(text), text);
        assert_eq!(
            Text::parse(text).expect("it is a text").constant(),
            Some(text)
        );
    }
}

#[test]
fn variables_are_put_in_and_unknown_ones_stay() {
    let cases = [
        ("${a}", "1"),
        ("${ a }", "${ a }"),
        ("${}", "${}"),
        ("$${a}", "$1"),
        ("${e}", ""),
        ("{${a}}", "{1}"),
        ("${a}$", "1$"),
        ("${a}${b}", "1B"),
        ("${a_${n}}", "${a_${n}}"),
        ("${a_${n}", "${a_${n}"),
        ("${a{b}c}", "${a{b}c}"),
        ("${x(y)}", "${x(y)}"),
        ("${ (y)}", "${ (y)}"),
        ("${a\\}b}", "${a}b}"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn beside_a_variable_backslashes_escape_and_open_braces_go_away() {
    let cases = [
        ("${a}\\,\\$\\\\\\x", "1,$\\\\x"),
        ("${a}\\", "1\\"),
        ("${a}$\\{a}", "1$\\{a}"),
        ("x${a", "xa"),
        ("${b}${a", "Ba"),
        ("x${a\\b", "xab"),
        ("${__char(65)}${__char", "A__char"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn arguments_end_at_plain_commas_and_brackets() {
    let cases = [
        ("${__urlencode(a\\,b)}", "a%2Cb"),
        ("${__urlencode(a(b)c)}", "a%28b%29c"),
        ("${__urlencode((a))}", "%28a%29"),
        ("${__urlencode({a})}", "%7Ba%7D"),
        ("${__urlencode(${__urlencode(${b} x)})}", "B%2Bx"),
        ("${__urlencode(${q})}", "x%2Cy"),
        ("${__urlencode(\\${a})}", "%24%7Ba%7D"),
        ("${__urlencode(a\\)b)}", "a%5C%29b"),
        ("${__urlencode(a\\\\b)}", "a%5Cb"),
        ("${__urlencode(a\\nb)}", "a%5Cnb"),
        ("${__urlencode($a)}", "%24a"),
        ("${__urlencode({)}", "%7B"),
        ("${__urlencode(})}", "%7D"),
        ("${__urlencode(a}b)}", "a%7Db"),
        ("${__urlencode(${a}}b)}", "1%7Db"),
        ("${__V(a_${n})}", "second"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn calls_allow_blanks_in_three_places() {
    for text in [
        "${__char( 65)}",
        "${ __char(65)}",
        "${\n__char(65)}",
        "${__char\n(65)}",
        "${__char(65) }",
        "${__ch\\ar(65)}",
    ] {
        assert_eq!(value(text), "A", "{text}");
    }
    for text in ["${__char (65)}", "${ __threadNum}", "${__threadNum }"] {
        assert_eq!(value(text), text);
    }
    assert_eq!(value("${__char(65)}}"), "A}");
}

#[test]
fn unknown_functions_stay_and_are_named() {
    for text in [
        "${__nosuch(1)}",
        "${__nosuch(${a})}x",
        "${__nosuch(a}b)}",
        "${__nosuch(",
        "${__p(a)}",
    ] {
        assert_eq!(value(text), text);
    }
    let parsed = |text| Text::parse(text).expect("it is a text");
    assert_eq!(
        parsed("${__nosuch(1)}${__V(${__other})}").unknown_functions(),
        ["__nosuch", "__other"]
    );
    assert_eq!(
        parsed("${__javaScript(java.lang.System.exit(1))}").unsupported(),
        ["__javaScript: classes of Java (java)"]
    );
    let queue = parsed("${__fifoPut(q,${x})}${__V(${__fifoPop(q)})}");
    assert_eq!(queue.unsupported(), ["__fifoPut", "__fifoPop"]);
    assert_eq!(queue.unknown_functions(), [""; 0]);
    let known = parsed("${a}${__jm__Loop__idx}${__threadNum}${x(y)}");
    assert_eq!(known.unknown_functions(), [""; 0]);
    assert_eq!(known.unsupported(), [""; 0]);
}

#[test]
fn wrong_numbers_of_arguments_are_faults() {
    let wrong = "called with wrong number of parameters. Actual:";
    assert_eq!(
        fault("${__char()}"),
        format!("__char {wrong} 0. Expected at least: 1.")
    );
    assert_eq!(
        fault("${__P}"),
        format!("__P {wrong} 0. Expected: >= 1 and <= 2")
    );
    assert_eq!(
        fault("${__threadNum( )}"),
        format!("__threadNum {wrong} 1. Expected: 0.; a comma within an argument is written \\,")
    );
    let comma = "; a comma within an argument is written \\,";
    assert_eq!(
        fault("${__urlencode(a(b,c)}"),
        format!("__urlencode {wrong} 2. Expected: 1.{comma}")
    );
    assert_eq!(
        fault("x${a}${__urlencode(\"a,b\")}"),
        format!("__urlencode {wrong} 2. Expected: 1.{comma}")
    );
}

#[test]
fn calls_that_are_not_closed_are_faults() {
    for text in [
        "${__char(65)x}",
        "${__char(65}",
        "${__char(65",
        "${__char(65)",
        "${__char(65)\n}",
        "${__char(} ",
    ] {
        let name = &text[2..8];
        assert_eq!(
            fault(text),
            format!("Expected }} after {name} function call in {text}")
        );
    }
}

#[test]
fn calls_of_constants_are_constants() {
    let text = Text::parse("a${__urlencode(b c)}d").expect("it is a text");
    assert_eq!(text.constant(), Some("ab+cd"));
    let text = Text::parse("${__uppercase(a,kept)}").expect("it is a text");
    assert_eq!(text.constant(), None, "it sets a variable");
}

#[test]
fn deep_nesting_is_refused_in_time() {
    let text = format!("{}{}", "${__V(".repeat(20_000), ")}".repeat(20_000));
    assert!(fault(&text).contains("nested"));
}

#[test]
fn a_text_that_evaluates_itself_ends() {
    let mut bench = Bench::default();
    bench.variables.put("x", "${__evalVar(x)}");
    assert_eq!(bench.value("<${__evalVar(x)}>"), "<>");
    assert!(bench.memory.exception.is_some());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(source in "(\\$\\{|\\$|[{}(),\\\\ \n]|[a-zé]{1,2}|[0-9-]{1,3}|__(V|eval|evalVar|split|substring|Random|RandomString|timeShift|time|char|counter|intSum|regexFunction|strReplace|unescape|base64Decode|urldecode|StringFromFile|CSVRead)\\(){0,30}") {
        if let Ok(text) = Text::parse(&source) {
            let _ = text.unsupported();
            let mut bench = Bench::default();
            bench.variables.put("a", source.as_str());
            let _ = text.evaluate(&mut bench.scope());
            proptest::prop_assert_eq!(text.source(), source);
        }
    }
}
