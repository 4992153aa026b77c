//! Values of expressions in JMeter.
//!
//! Must not know how they are parsed. Invariant: `tests/expressions/asked.jsonl` holds texts with the results
//! of JMeter 5.6.3; none of them was computed by this crate.

use crate::testing::Bench;
use crate::text::Text;

/// A thread with the variables and properties used in JMeter.
fn asked() -> Bench {
    let mut bench = Bench::default();
    let given = [
        ("a", "1"),
        ("b", "B"),
        ("n", "10"),
        ("e", ""),
        ("t", "true"),
        ("f", "false"),
        ("s", "hello"),
    ];
    for (name, value) in given {
        bench.variables.put(name, value);
    }
    bench
        .host
        .properties
        .get_mut()
        .insert("prop".to_owned(), "pv".to_owned());
    bench.thread.name = "TG 1-1".to_owned();
    bench.thread.group = "TG".to_owned();
    bench.thread.number = 1;
    bench
}

#[test]
fn expressions_come_to_what_they_do_in_jmeter() {
    let mut different = Vec::new();
    for line in include_str!("../../tests/expressions/asked.jsonl").lines() {
        let [source, expected]: [String; 2] =
            serde_json::from_str(line).expect("a text and its value");
        let text = Text::parse(&source).expect("it is a text");
        let unsupported = text.unsupported();
        let value = text.evaluate(&mut asked().scope()).into_owned();
        if !unsupported.is_empty() {
            different.push(format!(
                "{source}: {unsupported:?} is not supported, {expected:?}"
            ));
        } else if value != expected {
            different.push(format!("{source}: {value:?}, not {expected:?}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}

#[test]
fn what_is_not_supported_is_named() {
    let named = |source: &str| Text::parse(source).expect("it is a text").unsupported();
    let cases = [
        ("${__groovy(new Zip('x').text)}", "__groovy: new Zip"),
        ("${__groovy(vars.getBytes())}", "__groovy: vars.getBytes()"),
        (
            "${__groovy(org.apache.commons.lang3.ArrayUtils.isEmpty('${a}'))}",
            "__groovy: the class org.apache.commons.lang3.ArrayUtils",
        ),
        (
            "${__groovy(class A extends Zip {})}",
            "__groovy: a class that extends Zip",
        ),
        ("${__BeanShell(nothing(1))}", "__BeanShell: nothing()"),
        ("${__jexl3(vars.x = 1)}", "__jexl3: ="),
        ("${__jexl3({1:2})}", "__jexl3: {"),
    ];
    for (source, what) in cases {
        assert_eq!(named(source), [what], "{source}");
    }
    for source in [
        "${__groovy(${n} > 5 && '${x}' == \"${y}\")}",
        "${__jexl3(\"${x}\" == \"${__P(p)}\")}",
        "${__jexl3(${__intSum(1,${n})} % 2 == 0)}",
    ] {
        assert_eq!(named(source), [""; 0], "{source}");
    }
}

#[test]
fn scripts_that_change_are_read_when_they_are_known() {
    let mut bench = asked();
    let text = Text::parse("${__groovy(${n} + 1)}").expect("it is a text");
    assert_eq!(text.evaluate(&mut bench.scope()), "11");
    bench.variables.put("n", "'x'");
    assert_eq!(text.evaluate(&mut bench.scope()), "x1");
    bench.variables.put("n", "import");
    assert_eq!(text.evaluate(&mut bench.scope()), "");
    for count in 0..1000 {
        bench.variables.put("n", count.to_string());
        assert_eq!(text.evaluate(&mut bench.scope()), (count + 1).to_string());
    }
}

#[test]
fn scripts_see_the_last_sample() {
    let mut bench = asked();
    bench.previous = Some(std::sync::Arc::new(crate::sample::Sample {
        code: "200".to_owned(),
        success: true,
        data: b"<ok>".to_vec(),
        elapsed_ms: 12,
        ..Default::default()
    }));
    let cases = [
        (
            "${__groovy(prev.getResponseCode() == '200' && prev.isSuccessful())}",
            "true",
        ),
        (
            "${__groovy(prev.responseCode + prev.successful + prev.time)}",
            "200true12",
        ),
        (
            "${__groovy(ctx.getPreviousResult().getResponseDataAsString().contains('ok'))}",
            "true",
        ),
        ("${__jexl3(sampleResult.getResponseCode())}", "200"),
    ];
    for (source, expected) in cases {
        assert_eq!(bench.value(source), expected, "{source}");
    }
}

#[test]
fn dates_are_those_of_the_machine() {
    let cases = [
        (
            "${__groovy(new Date().getTime() == System.currentTimeMillis())}",
            "true",
        ),
        (
            "${__groovy(new Date().format('yyyy-MM-dd HH:mm'))}",
            "2020-01-31 10:20",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(asked().value(source), expected, "{source}");
    }
}

#[test]
fn idioms_of_bean_shell() {
    let mut bench = asked();
    let folder =
        "import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();";
    assert_eq!(bench.value(&format!("${{__BeanShell({folder})}}")), ".");
    assert_eq!(
        bench.value(
            "${__BeanShell(org.apache.jmeter.services.FileServer.getFileServer().getBaseDir())}/x"
        ),
        "./x"
    );
    assert_eq!(
        bench.value("${__BeanShell( System.getenv(\"HOME\"); ,v)}${v}"),
        "/home/me/home/me"
    );
    assert_eq!(
        bench.value("${__BeanShell(return System.getenv(\"NOPE\");)}"),
        ""
    );
}

#[test]
fn long_and_deep_scripts_end() {
    let mut bench = asked();
    let sum = format!("${{__groovy({}1)}}", "1+".repeat(20_000));
    assert_eq!(bench.value(&sum), "20001");
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("!", ""),
        ("-", ""),
        ("if (1) ", ""),
        ("{", "}"),
        ("1?1:", ""),
    ] {
        for dialect in ["groovy", "jexl3", "jexl2"] {
            let source = format!(
                "${{__{dialect}({}1{})}}",
                open.repeat(20_000),
                close.repeat(20_000)
            );
            bench.value(&source);
        }
    }
    let source = "\"\\${".repeat(5000);
    bench.value(&format!("${{__groovy({source})}}"));
}

proptest::proptest! {
    #[test]
    fn no_script_makes_it_panic(source in "([a-z]{1,3}|[0-9.]{1,3}|['\"`]|[-+*/%<>=!~&|^?:.,;(){}\\[\\]$\\\\ \n]|vars|props|if|else|return|new|as|int|empty|\\.get|\\.size\\(\\)){0,40}") {
        for dialect in [super::Dialect::Jexl2, super::Dialect::Jexl3] {
            if let Ok(expression) = super::Expression::compile(&source, dialect) {
                let _ = expression.run(&mut asked().scope());
            }
        }
    }
}
