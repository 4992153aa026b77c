//! Options, compared with the messages of the real k6 v2.2.0, and that no input panics.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The set options in the output of `k6 inspect`, on one line.
fn inspected(options: &Value) -> Result<String, String> {
    let read = K6Options::from_json(options).map_err(|error| error.error.to_string())?;
    let rows = read.options.inspected().into_iter();
    let set = rows.filter(|(key, value)| *value != Json::Null && key != "dns");
    Ok(Json::Object(set.collect()).compact())
}

#[test]
fn values_as_k6_2_2_0_prints_them() {
    for (options, shown) in [
        (json!({"VUS": "3", "Paused": null}), r#"{"vus":3}"#),
        (
            json!({"minIterationDuration": "1d2h"}),
            r#"{"minIterationDuration":"26h0m0s"}"#,
        ),
        (
            json!({"setupTimeout": 1500.5}),
            r#"{"setupTimeout":"1.5005s"}"#,
        ),
        (
            json!({"tlsVersion": "tls1.2"}),
            r#"{"tlsVersion":{"min":"tls1.2","max":"tls1.2"}}"#,
        ),
        (
            json!({"hosts": {"*.a.com": "1.2.3.4:80", "C.com": "[::1]:90", "x": "?", "z": null}}),
            r#"{"hosts":{"*.a.com":"1.2.3.4:80","c.com":"[::1]:90","x":"\u003cnil\u003e","z":"\u003cnil\u003e"}}"#,
        ),
        (
            json!({"systemTags": ["url", "foo", "status"]}),
            r#"{"systemTags":["status","url"]}"#,
        ),
        (
            json!({"executionSegment": "5%"}),
            r#"{"executionSegment":"0:1/20"}"#,
        ),
        (
            json!({"cloud": {"b": 1, "a": 2}}),
            r#"{"cloud":{"a":2,"b":1}}"#,
        ),
        (
            json!({"stages": [{"duration": 5, "target": "3"}]}),
            r#"{"stages":[{"duration":"5ms","target":3}]}"#,
        ),
        (
            json!({"blacklistIPs": ["10.1.2.3/8"]}),
            r#"{"blacklistIPs":["10.0.0.0/8"]}"#,
        ),
        (
            json!({"thresholds": {"m": ["p(95)<500", {"threshold": "avg<2", "abortOnFail": true,
            "delayAbortEval": "10s"}, {"threshold": "max<3", "delayAbortEval": 5}]}}),
            r#"{"thresholds":{"m":["p(95)\u003c500",{"threshold":"avg\u003c2","abortOnFail":true,"delayAbortEval":"10s"},"max\u003c3"]}}"#,
        ),
        (
            json!({"scenarios": {"a": {"executor": "constant-vus", "VUs": 2, "duration": "5s"}}}),
            r#"{"scenarios":{"a":{"executor":"constant-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"vus":2,"duration":"5s"}}}"#,
        ),
    ] {
        assert_eq!(inspected(&options).as_deref(), Ok(shown), "{options}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of what k6 says to what")]
fn refusals_as_k6_2_2_0_words_them() {
    for (options, told) in [
        (
            json!({"vus": 3.5}),
            "json: cannot unmarshal number 3.5 into Go struct field Options.vus of type int64",
        ),
        (
            json!({"vus": "x"}),
            "strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            json!({"paused": 1}),
            "json: cannot unmarshal float64 into Go value of type null.Bool",
        ),
        (
            json!({"userAgent": 5}),
            "json: cannot unmarshal float64 into Go value of type null.String",
        ),
        (
            json!({"duration": true}),
            "'true' is not a valid duration value",
        ),
        (json!({"duration": "x"}), "time: invalid duration \"x\""),
        (
            json!({"hosts": {"a.*.c": "1.1.1.1"}}),
            "invalid host pattern 'a.*.c'",
        ),
        (
            json!({"blockHostnames": ["x*"]}),
            "invalid hostname pattern 'x*'",
        ),
        (
            json!({"blacklistIPs": ["foo"]}),
            "failed to parse CIDR 'foo': invalid CIDR address: foo",
        ),
        (
            json!({"dns": {"select": "foo"}}),
            "foo does not belong to DNSSelect values",
        ),
        (
            json!({"tlsVersion": {"min": "x"}}),
            "unknown TLS version 'x'",
        ),
        (
            json!({"tlsVersion": {"min": "ssl3.0", "max": "tls1.2"}}),
            "unknown TLS version 'ssl3.0'",
        ),
        (
            json!({"tlsVersion": "x"}),
            "json: cannot unmarshal string into Go struct field Options.tlsVersion of type lib.tlsVersionsFields",
        ),
        (
            json!({"tlsCipherSuites": ["x"]}),
            "unknown cipher suite 'x'",
        ),
        (
            json!({"tags": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field Options.tags of type string",
        ),
        (
            json!({"executionSegment": "x"}),
            "'x' is not a valid percentage, decimal, fraction or interval value",
        ),
        (
            json!({"scenarios": []}),
            "json: cannot unmarshal array into Go struct field Options.scenarios of type map[string]lib.protoExecutorConfig",
        ),
        (
            json!({"scenarios": {"a": {"executor": "foo"}}}),
            "unknown executor type 'foo'",
        ),
        (
            json!({"scenarios": {"a": null}}),
            "scenario 'a' doesn't have a specified executor type",
        ),
        (
            json!({"scenarios": {"a": {}}}),
            "scenario 'a' doesn't have a specified executor type",
        ),
        (
            json!({"scenarios": {"a": {"executor": "constant-vus", "foo": 1}}}),
            "json: unknown field \"foo\"",
        ),
        (
            json!({"scenarios": {"a": {"executor": "constant-vus", "tags": {"a": 1}}}}),
            "json: cannot unmarshal number into Go struct field Options.scenarios.BaseConfig.tags of type string",
        ),
        (
            json!({"thresholds": {"a": "avg<1"}}),
            "json: cannot unmarshal string into Go struct field Options.thresholds of type []metrics.thresholdConfig",
        ),
        (
            json!(5),
            "json: cannot unmarshal number into Go value of type lib.Options",
        ),
    ] {
        assert_eq!(inspected(&options), Err(told.to_owned()), "{options}");
    }
}

#[test]
fn unknown_keys_are_told_and_nothing_more() {
    let read = K6Options::from_json(&json!({"foo": 1, "bar": 2, "vus": 1, "localIPs": "x"}));
    assert_eq!(read.expect("taken").unknown, ["bar", "foo", "localIPs"]);
}

#[test]
fn variables_are_read_as_k6_2_2_0_reads_them() {
    let of = |name: &str, text: &str| K6Options::from_env(&Env::from([(name, text)]));
    for (name, text, told) in [
        (
            "K6_VUS",
            "x",
            "envconfig.Process: assigning K6_VUS to VUs: converting 'x' to type null.Int. details: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "K6_DURATION",
            "x",
            "envconfig.Process: assigning K6_DURATION to Duration: converting 'x' to type types.NullDuration. details: time: invalid duration \"x\"",
        ),
        (
            "K6_NO_SETUP",
            "1",
            "envconfig.Process: assigning K6_NO_SETUP to NoSetup: converting '1' to type null.Bool. details: invalid input:1",
        ),
        (
            "K6_TAGS",
            "foo",
            "envconfig.Process: assigning K6_TAGS to RunTags: converting 'foo' to type map[string]string. details: invalid map item: \"foo\"",
        ),
        (
            "K6_DNS",
            "foo",
            "envconfig.Process: assigning K6_DNS to DNS: converting 'foo' to type types.DNSConfig. details: no value for key foo",
        ),
        (
            "K6_STAGES",
            "1s:1,x",
            "envconfig.Process: assigning K6_STAGES to Stages: converting '1s:1,x' to type []lib.Stage. details: time: invalid duration \"x\"",
        ),
    ] {
        assert_eq!(of(name, text), Err(told.to_owned()));
    }
    let stages = of("K6_STAGES", "5s:10,5m:20").expect("taken").stages;
    assert_eq!(stages.expect("set").len(), 2);
    let tags = of("K6_TAGS", "a:b,c:d").expect("taken").tags.expect("set");
    assert_eq!(tags.get("c").map(String::as_str), Some("d"));
    assert_eq!(of("K6_VUS", ""), Ok(K6Options::default()));
}

/// Any JSON, often with the keys of options.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[-0-9a-z.:/*%,]{0,12}".prop_map(Value::from),
    ];
    let keys: Vec<String> = K6Options::default()
        .rows()
        .iter()
        .map(|(key, ..)| (*key).to_owned())
        .chain(["executor", "target", "threshold", "min", "cert", "rate"].map(str::to_owned))
        .collect();
    leaf.prop_recursive(4, 32, 6, move |inner| {
        let key = prop::sample::select(keys.clone());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|rows| Value::Object(rows.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_options_panic_and_what_is_printed_reads_the_same(value in any_json()) {
        if let Ok(read) = K6Options::from_json(&value) {
            let printed = Json::Object(read.options.inspected()).pretty();
            let again: Value = serde_json::from_str(&printed).expect("valid JSON");
            if let Ok(again) = K6Options::from_json(&again) {
                prop_assert_eq!(Json::Object(again.options.inspected()).pretty(), printed);
            }
        }
    }
}

#[test]
fn an_empty_variable_is_an_empty_list_or_says_nothing() {
    let of = |name: &str, text: &str| {
        let read = K6Options::from_env(&Env::from([(name, text)])).expect(name);
        let rows = read.inspected().into_iter();
        let said = rows.filter(|row| !K6Options::default().inspected().contains(row));
        Json::Object(said.collect()).compact()
    };
    for (name, text, said) in [
        ("K6_STAGES", "", r#"{"stages":[]}"#),
        ("K6_STAGES", " ", r#"{"stages":[]}"#),
        ("K6_BLACKLIST_IPS", "", r#"{"blacklistIPs":[]}"#),
        ("K6_SUMMARY_TREND_STATS", " ", r#"{"summaryTrendStats":[]}"#),
        ("K6_THRESHOLDS", "", r#"{"thresholds":{}}"#),
        ("K6_TLSAUTH", "", r#"{"tlsAuth":[]}"#),
        ("K6_BLOCK_HOSTNAMES", "", "{}"),
        ("K6_TAGS", "", "{}"),
        ("K6_USER_AGENT", "", "{}"),
        ("K6_DURATION", "", "{}"),
        ("K6_NO_SETUP", "", "{}"),
        ("K6_VUS", "", "{}"),
        ("K6_VUS", "null", "{}"),
    ] {
        assert_eq!(of(name, text), said, "{name}={text}");
    }
    let none = K6Options::from_env(&Env::from([("K6_SYSTEM_TAGS", "")])).expect("taken");
    let tags = none.system_tags.expect("an empty set");
    assert_eq!(tags.iter().count(), 0);
}
