//! Results of JMeter's functions: each line was recorded with JMeter 5.6.3 and the plugins "functions" 2.1.
//!
//! Must not know how functions work. Invariant: a test's expected value was never computed by this crate.

mod times;

use crate::testing::Bench;

#[track_caller]
fn check(bench: &mut Bench, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(bench.value(text), *expected, "{text}");
    }
}

#[test]
fn properties_and_defaults() {
    let bench = &mut Bench::default();
    check(
        bench,
        &[
            ("${__P(none)}", "1"),
            ("${__P(none,)}", ""),
            ("${__property(none)}", "none"),
            ("${__property(none,v,d)}-${v}", "d-d"),
            ("${__setProperty(p,v)}", ""),
            ("${__P(p)}", "v"),
            ("${__P( p )}", "1"),
            ("${__property(p,w,d)}-${w}", "v-v"),
            ("${__setProperty(p,z,TRUE)}", "v"),
            ("${__setProperty(p,y,x)}", ""),
            ("${__setProperty(q,w,true)}", "null"),
            ("${__isPropDefined(p)}-${__isPropDefined(no)}", "true-false"),
            ("${__env(HOME,e)}-${e}", "/home/me-/home/me"),
            ("${__env(NOPE)}-${__env(NOPE,,d)}", "NOPE-d"),
        ],
    );
}

#[test]
fn variables_by_name_and_texts_evaluated_again() {
    let bench = &mut Bench::default();
    bench.variables.put("b", "B");
    bench.variables.put("re", "${b}z");
    bench.variables.put("nest", "${re}");
    bench.variables.put("fn", "${__char(65)}");
    check(
        bench,
        &[
            (
                "${__V(nope)}-${__V(nope,def)}-${__V(nope,)}-${__V(re)}",
                "nope-def--${b}z",
            ),
            ("${__eval(${re})}-${__eval(${nest})}", "Bz-${b}z"),
            (
                "${__evalVar(re)}-${__evalVar(nest)}-${__evalVar(fn)}-${__evalVar(no)}",
                "Bz-${b}z-A-",
            ),
            (
                "${__eval(\\${b})}-${__eval(a\\\\\\,b)}-${__eval(\\${__char()\\})}",
                "B-a,b-",
            ),
            ("${__isVarDefined(b)}-${__isVarDefined(no)}", "true-false"),
            ("${__isDefined(b)}-${__isDefined(no)}", "1-0"),
        ],
    );
}

#[test]
fn split_keeps_empty_parts_but_the_first() {
    let bench = &mut Bench::default();
    check(
        bench,
        &[
            (
                "${__split(a\\,b\\,c,s)}:${s}:${s_n}:${s_1}:${s_3}:${s_4}",
                "a,b,c:a,b,c:3:a:c:${s_4}",
            ),
            (
                "${__split(a,s)}:${s_n}:${s_1}:${s_2}:${s_3}",
                "a:1:a:${s_2}:c",
            ),
            ("${__split(a||b|,t,|)}:${t_n}:${t_2}:${t_4}", "a||b|:4:?:?"),
            ("${__split(,u)}:${u_n}", ":0"),
            ("${__split(\\,a\\,b,v)}:${v_n}:${v_1}", ",a,b:2:a"),
            ("${__split(aXYbYc,w,XY)}:${w_n}:${w_2}", "aXYbYc:4:?"),
            ("${__split(a\\,b, x ,)}:${x_n}", "a,b:2"),
        ],
    );
}

#[test]
fn cases_and_characters() {
    check(
        &mut Bench::default(),
        &[
            ("${__changeCase(heLLo wOrld,lower)}", "hello world"),
            ("${__changeCase(heLLo wOrld,CAPITALIZE)}", "HeLLo wOrld"),
            (
                "${__changeCase(heLLo,X)}-${__changeCase(heLLo,)}-${__changeCase(heLLo)}",
                "heLLo-HELLO-HELLO",
            ),
            ("${__changeCase(straße,UPPER,c)}-${c}", "STRASSE-STRASSE"),
            ("${__char(0xC,0x41,0101,65)}", "\u{c}AAA"),
            (
                "${__char(x)}-${__char(#41)}-${__char(65,x, 66)}-${__char(08)}",
                "-A-AB-",
            ),
            ("${__char(-0x1)}${__char(70000)}", "\u{ffff}\u{1170}"),
            ("${__char(55357,56832)}", "😀"),
            (
                "${__uppercase(abcß)}-${__lowercase(ABC,l)}-${l}",
                "ABCSS-abc-abc",
            ),
            ("${__strLen(héllo😀)}-${__strLen( x )}", "7-3"),
            (
                "${__substring(hello,1,3)}-${__substring(hello, 1 , 2)}-${__substring(hello,1,9)}",
                "el-e-",
            ),
            (
                "${__strReplace(hello,l,L)}-${__strReplace(a.b.c,.,X)}",
                "heLLo-XXXXX",
            ),
            ("${__strReplace(a.b.c,(a)\\\\.b,$1)}", "a.c"),
            (
                "${__if(a,a,yes,no)}-${__if(a,b,yes,no,i)}-${i}",
                "yes-no-no",
            ),
            (
                "${__caseFormat(hello big World_now-x)}",
                "helloBigWorldNowX",
            ),
            (
                "${__caseFormat(hello big World_now-x,UPPER_CAMEL_CASE)}",
                "HelloBigWorldNowX",
            ),
            (
                "${__caseFormat(hello  big World_now-x,SNAKE_CASE)}",
                "hello_big_world_now_x",
            ),
            ("${__caseFormat( hello big,lower_hyphen)}", "-hello-big"),
            ("${__caseFormat(hello big,TRAIN_CASE)}", "HELLO-BIG"),
            ("${__caseFormat(helloBig world,nope)}", "helloBig world"),
            ("${__caseFormat(helloBIG world2x)}", "hellobigWorld2x"),
        ],
    );
}

#[test]
fn codings() {
    check(
        &mut Bench::default(),
        &[
            ("${__urldecode(a+b%20%C3%A9)}-${__urldecode(%zz)}", "a b é-"),
            ("${__unescape(a\\\\tb\\\\u0041)}", "a\tbA"),
            (
                "${__escapeHtml(<é>)}${__unescapeHtml(&lt;&nope;)}",
                "&lt;&eacute;&gt;<&nope;",
            ),
            ("${__escapeXml(<'>)}", "&lt;&apos;&gt;"),
            (
                "${__escapeOroRegexpChars(a-b c_d@é#,er)}-${er}",
                "a\\-b\\ c_d\\@é\\#-a\\-b\\ c_d\\@é\\#",
            ),
            ("${__base64Encode(héllo,be)}-${be}", "aMOpbGxv-aMOpbGxv"),
            (
                "${__base64Decode(aMOpbGxv)}-${__base64Decode(aMOpbGx)}-${__base64Decode(!!!)}",
                "héllo-héll-",
            ),
            ("${__base64Decode(1)}${__base64Decode(/w==)}", "\u{fffd}"),
            ("${__MD5(é)}", "66ddcd97cfdeabb2f6fb8a999b4bc76f"),
            ("${__digest(MD5,abc)}", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "${__digest(SHA-1,abc,salt)}",
                "99198dfc48e034c66356183f854eb322f607c1dd",
            ),
            (
                "${__digest(SHA-256,abc,salt,true)}",
                "169B3A2B0977EBEE2EB1FD392C6AA470A3281D439FF32F20BAEA7309D7F40EEC",
            ),
            (
                "${__digest(sha,abc)}",
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            (
                "${__digest(SHA-512/256,abc)}",
                "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
            ),
            ("${__digest(X,abc,,,dx)}", "null"),
        ],
    );
}

#[test]
fn sums_wrap_and_may_end_in_a_variable() {
    let bench = &mut Bench::default();
    check(
        bench,
        &[
            ("${__intSum(1,2,3)}-${__intSum(1,2,vn)}-${vn}", "6-3-3"),
            (
                "${__intSum(1,2,-5)}-${__intSum(2147483647,1)}-${__intSum(1,x)}",
                "-2--2147483648-1",
            ),
            (
                "${__longSum(9223372036854775807,1)}",
                "-9223372036854775808",
            ),
            (
                "${__doubleSum(1.5,2,d)}-${d}-${__doubleSum(1e10,2)}",
                "3.5-3.5-1.0000000002E10",
            ),
            (
                "${__doubleSum(0.1,0.2)}-${__doubleSum(1e20,2)}",
                "0.30000000000000004-1.0E20",
            ),
        ],
    );
    assert_eq!(bench.memory.exception, None);
    check(bench, &[("<${__intSum(x,1)}>", "<>")]);
    let thrown = bench.memory.exception.take().expect("an exception");
    assert_eq!(thrown.class, "java.lang.NumberFormatException");
    let told = format!("__intSum: {}", thrown.message);
    assert_eq!(told, "__intSum: For input string: \"x\"");
    assert_eq!(
        *bench.host.lines.borrow(),
        [format!("Error __intSum: {told}")]
    );
}

#[test]
fn chance() {
    let bench = &mut Bench::default();
    bench.variables.put("a", "1");
    bench.variables.put("l_matchNr", "2");
    bench.variables.put("l_1", "x");
    bench.variables.put("l_2", "x");
    check(
        bench,
        &[
            ("${__Random(5,5)}-${__Random( 5 ,5,r)}-${r}", "5-5-5"),
            ("${__Random(9,5)}${__Random(x,5)}${__Random(,)}", ""),
            (
                "${__RandomString(3,a,s)}-${s}-${__RandomString(0,a)}${__RandomString(-1,a)}",
                "aaa-aaa-",
            ),
            (
                "${__RandomFromMultipleVars(a)}-${__RandomFromMultipleVars(nope|a,m)}-${m}",
                "1-1-1",
            ),
            (
                "${__RandomFromMultipleVars(l)}${__RandomFromMultipleVars(nope)}",
                "x",
            ),
            ("${__chooseRandom(a,a,c)}-${c}", "a-a"),
            ("${__strLen(${__RandomString(7)})}", "7"),
        ],
    );
    let mut seen = [false; 3];
    for _ in 0..100 {
        let drawn: usize = bench
            .value("${__Random(-1,1)}")
            .parse::<i8>()
            .map(|n| (n + 1) as usize)
            .expect("a number");
        seen[drawn] = true;
    }
    assert_eq!(seen, [true; 3]);
    let uuid = bench.value("${__UUID}");
    assert_eq!(uuid.len(), 36);
    assert_eq!(&uuid[14..15], "4");
    assert!("89ab".contains(&uuid[19..20]));
    assert_ne!(bench.value("${__UUID()}"), uuid);
    bench
        .value("${__Random(-9223372036854775808,9223372036854775807)}")
        .parse::<i64>()
        .expect("a number");
}

#[test]
fn places() {
    let bench = &mut Bench::default();
    bench.thread.number = 4;
    bench.thread.group = "TG".to_owned();
    bench.thread.name = "TG 1-4".to_owned();
    bench.thread.plan = "plan.jmx".to_owned();
    check(
        bench,
        &[
            (
                "${__threadNum}-${__threadGroupName()}-${__samplerName(s)}-${s}",
                "4-TG-a sampler-a sampler",
            ),
            (
                "${__machineName(m)}-${m}-${__machineIP}",
                "here-here-127.0.0.1",
            ),
            ("${__TestPlanName}-${__iterationNum}", "plan.jmx-3"),
            ("${__log(hi, warn ,,cmt)}${__logn(ho)}", "hi"),
            // Standard output, if the host has none, is a line of the log.
            ("${__log(a,OUT)}${__log(b,OUT,why,cmt )}", "ab"),
            ("${__logn(to no level,x)}", ""),
        ],
    );
    let lines = bench.host.lines.borrow();
    assert_eq!(
        *lines,
        [
            "Warn o.a.j.f.LogFunction: TG 1-4 cmt hi",
            "Info o.a.j.f.LogFunction2: TG 1-4  :  ho",
            "Info o.a.j.f.LogFunction: Log: TG 1-4 : a",
            "Info o.a.j.f.LogFunction: Log: TG 1-4 cmt b java.lang.Throwable: why"
        ]
    );
}

#[test]
fn counters_count_by_place_and_by_thread() {
    let (mut one, mut two) = (Bench::default(), Bench::default());
    two.commons = std::sync::Arc::clone(&one.commons);
    let text =
        crate::text::Text::parse("${__counter(FALSE,c)}${__counter( TRUE )}${__counter(TRUE)}")
            .expect("a text");
    let count = |bench: &mut Bench| text.evaluate(&mut bench.scope()).into_owned();
    assert_eq!(
        [count(&mut one), count(&mut one), count(&mut two)],
        ["111", "222", "331"]
    );
    assert_eq!(two.variables.get("c"), Some("3"));
}

#[test]
fn whole_files() {
    let bench = &mut Bench::default();
    let files = bench.host.files.get_mut();
    files.insert("f.txt".to_owned(), b"line1\nline2\r\nline3".to_vec());
    files.insert("latin.txt".to_owned(), b"\xe9t\xe9".to_vec());
    check(
        bench,
        &[
            ("${__FileToString(f.txt)}", "line1\nline2\r\nline3"),
            ("${__FileToString(latin.txt,ISO-8859-1,v)}-${v}", "été-été"),
            (
                "${__FileToString(latin.txt)}-${__FileToString(latin.txt,nope)}",
                "\u{fffd}t\u{fffd}-",
            ),
            ("${__FileToString(nope,,x)}-${x}", "**ERR**-**ERR**"),
            (
                "${__StringToFile(w,a\\nb,false)}-${__FileToString(w)}",
                "true-a\nb",
            ),
            (
                "${__StringToFile(w,more,true)}-${__FileToString(w)}",
                "true-a\nbmore",
            ),
            (
                "${__StringToFile(w,more)}-${__FileToString(w)}",
                "true-a\nbmoremore",
            ),
            (
                "${__StringToFile(w,é,false,ISO-8859-1)}-${__FileToString(w)}",
                "true-\u{fffd}",
            ),
            ("${__StringToFile(,x)}", "false"),
            ("${__StringToFile(w,x,true,nope)}", "false"),
        ],
    );
}

#[test]
fn lines_of_a_file_in_turn() {
    let bench = &mut Bench::default();
    bench
        .host
        .files
        .get_mut()
        .insert("f".to_owned(), b"1\n2\r\n\n4".to_vec());
    let text = crate::text::Text::parse("${__StringFromFile(f,v)}").expect("a text");
    let lines = [(); 6].map(|()| text.evaluate(&mut bench.scope()).into_owned());
    assert_eq!(lines, ["1", "2", "", "4", "1", "2"]);
    assert_eq!(bench.variables.get("v"), Some("2"));
    assert_eq!(
        bench.value("${__StringFromFile(f)}-${StringFromFile_}"),
        "1-1"
    );
    assert_eq!(
        bench.value("${__StringFromFile(nope,v)}-${v}"),
        "**ERR**-**ERR**"
    );
    // Observed with JMeter 5.6.3.
    let files = bench.host.files.get_mut();
    files.insert("empty".to_owned(), Vec::new());
    assert_eq!(
        bench.value("${__StringFromFile(empty,v)}-${v}"),
        "null-null"
    );
}

#[test]
fn columns_of_a_file() {
    let bench = &mut Bench::default();
    bench
        .host
        .files
        .get_mut()
        .insert("f".to_owned(), b"a,b,c\n1,2,3\n\nx,y,z\n".to_vec());
    let read = |column: &str| format!("${{__CSVRead(f,{column})}}");
    let columns = [
        "0", "1", "next", "0", "9", "next()", "0", "next", "1", "2", "next", "0", "x", "-1",
    ];
    let values = columns.map(|column| bench.value(&read(column)));
    assert_eq!(
        values,
        [
            "a", "b", "", "1", "", "", "a", "", "2", "3", "", "a", "", ""
        ]
    );
    let other = &mut Bench::default();
    other
        .host
        .files
        .get_mut()
        .insert("f".to_owned(), b"a,b\n1,2\n".to_vec());
    check(
        other,
        &[
            (
                "${__CSVRead(f,*al)}${__CSVRead(*al,0)}${__CSVRead(*al,1)}${__CSVRead(*al,next)}${__CSVRead(*al,0)}",
                "ab1",
            ),
            ("${__CSVRead(f,0)}${__CSVRead(nope,0)}", "a"),
        ],
    );
}

#[test]
fn lines_of_numbered_files() {
    let bench = &mut Bench::default();
    let files = bench.host.files.get_mut();
    files.insert("f1.txt".to_owned(), b"a\nb\n".to_vec());
    files.insert("f2.txt".to_owned(), b"c".to_vec());
    let text = crate::text::Text::parse("${__StringFromFile('f'#'.txt',,1,2)}").expect("a text");
    let lines = [(); 4].map(|()| text.evaluate(&mut bench.scope()).into_owned());
    assert_eq!(lines, ["a", "b", "c", ""]);
    let thrown = bench.memory.exception.take().expect("no file is left");
    assert_eq!(thrown.message, "End of sequence");
}

#[test]
fn groups_of_patterns() {
    let bench = &mut Bench::default();
    bench.variables.put("t", "ab12cd34");
    check(
        bench,
        &[
            (
                "${__regexFunction(([a-z]+)(\\d+),$1$-$2$,1,,DEF,r,t)}",
                "ab-12",
            ),
            (
                "${r}:${r_g}:${r_g0}:${r_g1}:${r_g2}:${r_matchNr}",
                "ab-12:${r_g}:ab12:ab:12:2",
            ),
            (
                "${__regexFunction(([a-z]+)(\\d+),$1$-$2$,3,,DEF,r,t)}-${r_matchNr}",
                "DEF-2",
            ),
            (
                "${__regexFunction(([a-z]+)(\\d+),$1$-$2$,ALL,;,DEF,r,t)}",
                "ab-12;cd-34",
            ),
            (
                "${__regexFunction(zz,$1$,1,,DEF,s,t)}-${s}-${s_matchNr}-${s_g}",
                "DEF-DEF-0-${s_g}",
            ),
            (
                "<${__regexFunction(zz,$1$,1,,,s,t)}${__regexFunction(zz,$0$,1,,)}>",
                "<>",
            ),
            ("${__regexFunction(([a-z]+)(\\d+),$1$,,,DEF,s,t)}", "ab"),
            ("${__regexFunction(([a-z]+)(\\d+),$1$,0.9,,DEF,s,t)}", "cd"),
            (
                "<${__regexFunction(([a-z]+)(\\d+),$1$,0,,DEF,s,t)}${__regexFunction(a,b,x,,DEF,s,t)}>",
                "<>",
            ),
            ("${__regexFunction(([a-z]+)(\\d+),$3$,1,,DEF,s,t)}", "null"),
            ("${__regexFunction(a(b),$0$,RAND,,DEF,,t)}-${_g0}", "ab-ab"),
            ("<${__regexFunction([a,$0$,1,,DEF,,t)}>", "<>"),
            (
                "${__regexFunction(([a-z]+),$1$,1,,DEF,u,nope)}-${u_matchNr}",
                "DEF-${u_matchNr}",
            ),
        ],
    );
    bench.previous = Some(std::sync::Arc::new(crate::sample::Sample {
        data: b"id=7".to_vec(),
        ..Default::default()
    }));
    check(bench, &[("${__regexFunction(id=(\\d),$1$)}", "7")]);
}

#[test]
fn nodes_of_a_file_in_turn() {
    let bench = &mut Bench::default();
    let text = b"<r><a k=\"1\">one</a><a k=\"2\">two<b>in</b></a><a/><n>5</n></r>";
    let files = bench.host.files.get_mut();
    files.insert("f".to_owned(), text.to_vec());
    files.insert("open".to_owned(), b"<html><p>open".to_vec());
    let one = "${__XPath(f,//a)}";
    check(
        bench,
        &[
            (&format!("{one}|{one}|{one}|{one}"), "one|two|null|one"),
            (one, "two"),
            ("${__XPath(f,//a/@k)}${__XPath(f,//a/text())}", "1one"),
            ("${__XPath(f,//a/@k)}${__XPath(f,//a/text())}", "2two"),
            ("${__XPath(f,/)}${__XPath(f,//a[2])}", "nulltwo"),
        ],
    );
    assert_eq!(bench.host.lines.borrow().len(), 0);
    for (index, call) in [
        "${__XPath(f,count(//a))}",
        "${__XPath(f,//zz)}",
        "${__XPath(nope,//a)}",
        "${__XPath(open,//p)}",
        "${__XPath(f,//[)}",
        "${__XPath(,//a)}",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(bench.value(call), "", "{call}");
        assert_eq!(bench.host.lines.borrow().len(), index + 1, "{call}");
    }
}
