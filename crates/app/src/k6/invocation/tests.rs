//! Complete command lines: their meaning, and the messages of the real k6 v2.2.0 for those that it refuses.

use std::time::Duration;

use loadline_model::{Behaviour, Executor};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str, env: &Env) -> Result<K6Invocation, K6Error> {
    match K6Invocation::parse(Identity::K6, ScriptCommand::Run, &words(line), env)? {
        Reading::Invocation(invocation) => Ok(*invocation),
        Reading::Help(text) => panic!("help was asked for: {text}"),
    }
}

fn facts(options: &Value) -> ScriptFacts<'_> {
    ScriptFacts {
        url: "file:///t.js",
        options,
        exports: None,
        metrics: None,
        config: None,
        seed: 7,
    }
}

/// Why a command line cannot run a script without options.
fn refusal(line: &str, env: &Env) -> K6Error {
    let none = json!({});
    let run = read(line, env).and_then(|invocation| invocation.consolidate(&facts(&none)));
    run.expect_err(line)
}

fn run_of(line: &str, options: &Value) -> ScriptRun {
    let invocation = read(line, &Env::default()).expect(line);
    invocation.consolidate(&facts(options)).expect(line)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of what k6 says to what")]
fn refusals_as_k6_2_2_0_words_them() {
    for (line, told) in [
        (
            "t.js -s x",
            "error for stage 0: time: invalid duration \"x\"",
        ),
        (
            "t.js -s 1000:1",
            "error for stage 0: time: missing unit in duration \"1000\"",
        ),
        (
            "t.js -s 1d:1",
            "error for stage 0: time: unknown unit \"d\" in duration \"1d\"",
        ),
        (
            "t.js -s 1s:x",
            "error for stage 0: strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "t.js --tag foo",
            "error parsing tag 'foo': invalid tag, empty value",
        ),
        (
            "t.js --tag =a",
            "error parsing tag '=a': invalid tag, empty name",
        ),
        ("t.js -e 1a=b", "invalid environment variable name '1a'"),
        ("t.js --dns foo", "no value for key foo"),
        (
            "t.js --dns ttl=5,foo=1",
            "unknown DNS configuration field: foo",
        ),
        (
            "t.js --blacklist-ip foo",
            "error parsing blacklist-ip 'foo': invalid CIDR address: foo",
        ),
        (
            "t.js --block-hostnames a,b*",
            "invalid hostname pattern 'b*'",
        ),
        (
            "t.js --summary-time-unit x",
            "invalid summary time unit 'x', use 's', 'ms' or 'us'",
        ),
        (
            "t.js --summary-trend-stats foo",
            "invalid trend stat 'foo', unknown format",
        ),
        (
            "t.js --summary-trend-stats p(200)",
            "invalid percentile trend stat value 'p(200)', provide a number between 0 and 100",
        ),
        ("t.js --summary-mode x", "invalid summary mode"),
        (
            "t.js --local-ips x",
            "x is not a valid IP, IP range or CIDR",
        ),
        (
            "t.js --compatibility-mode x",
            "invalid compatibility mode \"x\". Use: \"extended\", \"base\", \"experimental_enhanced\"",
        ),
        ("t.js --log-output x", "unsupported log output 'x'"),
        (
            "t.js --execution-segment x",
            "'x' is not a valid percentage, decimal, fraction or interval value",
        ),
        (
            "t.js -t x",
            "could not initialize 't.js': unknown or unspecified test type 'x'",
        ),
        ("t.js --traces-output x", "invalid traces output \"x\""),
        (
            "",
            "accepts 1 arg(s), received 0: arg should either be \"-\", if reading script from stdin, or a path to a script file",
        ),
        (
            "a b",
            "accepts 1 arg(s), received 2: arg should either be \"-\", if reading script from stdin, or a path to a script file",
        ),
    ] {
        let error = refusal(line, &Env::default());
        assert_eq!(
            (error.code, error.to_string().as_str()),
            (ExitCode::Other, told),
            "{line}"
        );
    }
    for (name, value, code) in [
        ("K6_VUS", "x", ExitCode::InvalidConfig),
        ("K6_LINGER", "1", ExitCode::InvalidConfig),
        ("K6_NO_THRESHOLDS", "x", ExitCode::Other),
        ("K6_SUMMARY_TREND_STATS", "foo", ExitCode::Other),
    ] {
        let error = refusal("t.js", &Env::from([(name, value)]));
        assert_eq!(error.code, code, "{name}");
    }
}

#[test]
fn the_script_sees_the_environment_and_flags() {
    let env = Env::from([("HOME", "/h"), ("EMPTY", ""), ("A", "system")]);
    let invocation = read("t.js -e A=flag -e B", &env).expect("taken");
    let seen: Vec<_> = invocation
        .env
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    assert_eq!(seen, ["A=flag", "B=", "EMPTY=", "HOME=/h"]);
    let archived = [("A", "archive"), ("HOME", "archive"), ("C", "archive")];
    let archived = archived.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let over = invocation.env_over(&archived);
    assert_eq!(
        (
            over["A"].as_str(),
            over["HOME"].as_str(),
            over["C"].as_str()
        ),
        ("flag", "/h", "archive")
    );
    let bare = read("t.js --include-system-env-vars=false -e A=1", &env).expect("taken");
    assert_eq!(bare.env.len(), 1);
    assert_eq!(
        invocation.config_file,
        Some(("/h/.config/k6/config.json".to_owned(), false))
    );
}

#[test]
fn variables_of_k6_set_by_flags_configure_it_where_the_script_has_the_processs() {
    let env = Env::from([("K6_ITERATIONS", "5"), ("K6_VUS", "2")]);
    let of = |line: &str| {
        let run = read(line, &env)?.consolidate(&facts(&json!({})))?;
        let Executor::SharedIterations { iterations, .. } = run.plan.scenarios[0].executor else {
            panic!("{line}: shared iterations");
        };
        Ok::<_, K6Error>((iterations, run.outputs.len(), run.linger))
    };
    let read_after = "t.js -e K6_ITERATIONS=3 -e K6_OUT=csv,json -e K6_LINGER=true";
    assert_eq!(of(read_after).ok(), Some((3, 2, true)));
    assert_eq!(of("t.js -e K6_ITERATIONS=3 -i 4").ok(), Some((4, 0, false)));
    let apart = "t.js -e K6_ITERATIONS=3 --include-system-env-vars=false";
    assert_eq!(of(apart).ok(), Some((5, 0, false)));
    let before = "t.js -e K6_SUMMARY_MODE=x -e K6_NO_THRESHOLDS=x -e K6_TYPE=x -e K6_CONFIG=/x";
    assert_eq!(of(before).ok(), Some((5, 0, false)));
    let error = of("t.js -e K6_VUS=abc").expect_err("no number");
    assert_eq!(
        error.notice.message,
        "envconfig.Process: assigning K6_VUS to VUs: converting 'abc' to type null.Int. details: \
         strconv.ParseInt: parsing \"abc\": invalid syntax"
    );
}

#[test]
fn v1_forms_and_what_surrounds_a_run() {
    let options = json!({"summaryTrendStats": ["avg", "p(99)"], "paused": true});
    let run = run_of(
        "t.js --no-summary -o json=out.json -o csv -q --linger --log-format raw",
        &options,
    );
    assert_eq!(run.summary.mode, SummaryMode::Disabled);
    assert_eq!(run.summary.trend_stats, ["avg", "p(99)"]);
    assert_eq!(run.outputs.len(), 2);
    assert_eq!(run.outputs[0].argument.as_deref(), Some("out.json"));
    assert!(run.quiet && run.linger && run.paused);
    assert_eq!(run.rest, None, "off unless an address is named");
    let legacy = run_of("t.js --summary-mode legacy -a :1", &options);
    assert_eq!(legacy.summary.mode, SummaryMode::Legacy);
    assert_eq!(legacy.rest.map(|rest| rest.address).as_deref(), Some(":1"));
}

/// As in k6, where the variables are what the flag is if nobody gives it.
#[test]
fn colours_are_off_where_a_variable_is_set_even_to_nothing() {
    let no_color = |line: &str, env: &Env| {
        let invocation = read(line, env).expect(line);
        let run = invocation.consolidate(&facts(&json!({}))).expect(line);
        run.no_color
    };
    let empty = |name| Env::from([(name, "")]);
    assert!(!no_color("t.js", &Env::default()) && no_color("t.js --no-color", &Env::default()));
    assert!(no_color("t.js", &empty("NO_COLOR")) && !no_color("t.js", &empty("K6_NO_COLOR")));
    assert!(!no_color("t.js --no-color=false", &empty("NO_COLOR")));
}

#[test]
fn unknown_keys_and_features_of_a_script_are_told() {
    let options = json!({"foo": 1, "bar": 2, "features": ["freeze-env"]});
    let told: Vec<String> = run_of("t.js --features nonsense,merge-run-tags", &options)
        .notices
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "level=warning msg=\"There were unknown fields in the options exported in the script\" error=\"json: unknown field \\\"bar\\\"\"",
            "level=warning msg=\"Feature flags in script options are not supported; use --features, K6_FEATURES, or the JSON config\" source=options",
            "level=error msg=\"Unknown feature flag\" feature=nonsense outcome=unknown source=cli",
            "level=info msg=\"Experimental feature enabled\" feature=merge-run-tags lifecycle=experimental",
        ]
    );
}

#[test]
fn a_bad_option_of_a_script_names_script_and_place() {
    let invocation = read("t.js", &Env::default()).expect("taken");
    let error = invocation
        .consolidate(&facts(&json!({"vus": 3.5})))
        .expect_err("3.5 VUs");
    assert_eq!(error.code, ExitCode::InvalidConfig);
    assert_eq!(
        error.to_string(),
        "could not initialize 't.js': could not load JS test 'file:///t.js': parsing options from \
         script got error while parsing \"\\\"vus\\\":\": json: cannot unmarshal number 3.5 into Go \
         struct field Options.vus of type int64"
    );
}

/// As in k6: the script has loaded before the tiers are merged, and thresholds come before scenarios.
#[test]
fn mistakes_are_told_in_the_order_in_which_k6_finds_them() {
    let env = Env::from([("K6_VUS", "x")]);
    let invocation = read("t.js --tag foo", &env).expect("taken");
    let options =
        json!({"foo": 1, "scenarios": {"a": {"executor": "shared-iterations", "vus": 0}}});
    let error = invocation
        .consolidate(&facts(&options))
        .expect_err("no tag");
    assert_eq!(
        error.to_string(),
        "error parsing tag 'foo': invalid tag, empty value"
    );
    let warning = &error.before[0].message;
    assert!(
        warning.starts_with("There were unknown fields"),
        "{warning}"
    );
    assert!(invocation.inspect(&facts(&options)).is_ok());
    let mut options = options;
    let of = |options: &Value| {
        let invocation = read("t.js", &Env::default()).expect("taken");
        let error = invocation.consolidate(&facts(options)).expect_err("wrong");
        error.to_string()
    };
    assert!(of(&options).contains("scenario a has configuration errors"));
    options["thresholds"] = json!({"http_reqs": ["count"]});
    assert!(of(&options).contains("threshold"), "{}", of(&options));
}

#[test]
fn a_json_file_of_options_is_the_lowest_tier() {
    let invocation = read("t.js -c c.json", &Env::default()).expect("taken");
    let of = |text: &str| {
        let none = Value::Null;
        invocation.consolidate(&ScriptFacts {
            config: Some(text),
            ..facts(&none)
        })
    };
    let run = of("{\"VUS\":3,\"foo\":1,\"out\":[\"csv\"],\"linger\":true}").expect("taken");
    assert_eq!(run.plan.max_vus(), 3);
    assert!(run.linger && run.outputs.len() == 1 && run.notices.is_empty());
    let prometheus = "{\"out\":[\"csv\",\"prometheus-rw\"],\"collectors\":\
                      {\"experimental-prometheus-rw\":{\"url\":\"http://h/w\"},\"other\":5}}";
    let run = of(prometheus).expect("taken");
    assert_eq!(run.outputs[0].section, None);
    assert_eq!(run.outputs[1].section, Some(json!({"url": "http://h/w"})));
    let dashboard = "{\"out\":[\"csv\",\"web-dashboard=port=81\"],\"features\":[\"freeze-env\"]}";
    let run = of(dashboard).expect("taken");
    assert_eq!(run.outputs.len(), 1);
    assert_eq!(run.pages.web.as_deref(), Some("127.0.0.1:81"));
    let features = invocation.features(Some(dashboard));
    assert_eq!(features.expect("taken"), [Feature::FreezeEnv]);
    let named = read("t.js -c c.json -o web-dashboard=port=-1", &Env::default()).expect("taken");
    let run = named.consolidate(&ScriptFacts {
        config: Some(dashboard),
        ..facts(&Value::Null)
    });
    let run = run.expect("taken");
    assert!(run.outputs.is_empty() && run.pages.web.is_none());
    let prefix = "failed to load the configuration file from the local file system: couldn't parse \
                  the configuration from \"c.json\": ";
    for (text, told) in [
        ("{", "unexpected end of JSON input"),
        ("{\"duration\":\"x\"}", "time: invalid duration \"x\""),
        (
            "{\"collectors\":5}",
            "json: cannot unmarshal number into Go struct field Config.collectors of type \
             map[string]json.RawMessage",
        ),
    ] {
        assert_eq!(
            of(text).expect_err(text).to_string(),
            format!("{prefix}{told}")
        );
    }
    let missing = invocation
        .read_config(&Files::Memory([].into()))
        .expect_err("it is not there");
    assert!(
        missing
            .to_string()
            .ends_with("stat c.json: no such file or directory"),
        "{missing}"
    );
    let unnamed = read("t.js", &Env::from([("HOME", "/h")])).expect("taken");
    assert_eq!(unnamed.read_config(&Files::Memory([].into())), Ok(None));
}

#[test]
fn a_plan_has_all_that_options_say() {
    let options = json!({
        "scenarios": {"a": {"executor": "ramping-arrival-rate", "timeUnit": "1m", "startRate": 6,
            "stages": [{"duration": "10s", "target": 12}], "preAllocatedVUs": 2, "maxVUs": 4,
            "exec": "f", "env": {"K": "V"}, "tags": {"t": "u"}, "startTime": "3s",
            "gracefulStop": "1s"}},
        "thresholds": {"http_reqs{a:b}": [{"threshold": "count>0", "abortOnFail": true,
            "delayAbortEval": "5s"}]},
        "noConnectionReuse": true, "insecureSkipTLSVerify": true, "rps": 5, "throw": true,
        "hosts": {"a.com": "1.2.3.4", "b.com": "nonsense"}, "tlsVersion": "tls1.3",
        "dns": {"ttl": "0", "policy": "onlyIPv6"}, "blockHostnames": ["*.x.com"],
    });
    let line = "t.js --execution-segment 0:1/2 --execution-segment-sequence 0,1/2,1 \
                --local-ips 127.0.0.1-127.0.0.3 --tag r=s --summary-by name --fail-on-drop";
    let run = run_of(line, &options);
    insta::assert_snapshot!(serde_json::to_string_pretty(&run.plan).expect("plain data"));
    assert!(matches!(&run.plan.scenarios[0].behaviour, Behaviour::Script(f) if f.exec == "f"));
}

#[test]
fn once_runs_each_scenario_once() {
    let options = json!({"scenarios": {"a": {"executor": "constant-vus", "vus": 9,
        "duration": "1h", "startTime": "5m"}}});
    let run = run_of("t.js --once", &options);
    assert!(matches!(
        run.plan.scenarios[0].executor,
        Executor::PerVuIterations {
            vus: 1,
            iterations: 1,
            ..
        }
    ));
    assert!(run.plan.scenarios[0].start_time.is_zero());
    assert!(run.plan.script.expect("a script's plan").trace_requests);
}

#[test]
fn inspect_prints_the_bytes_of_k6_2_2_0() {
    let golden = [
        include_str!("../goldens/inspect.json"),
        include_str!("../goldens/inspect_requirements.json"),
    ];
    let options: Value =
        serde_json::from_str(include_str!("../goldens/options.json")).expect("the golden is JSON");
    for (flag, golden) in ["", "--execution-requirements"].into_iter().zip(golden) {
        let line = words(&format!("t.js {flag}"));
        let read =
            K6Invocation::parse(Identity::K6, ScriptCommand::Inspect, &line, &Env::default());
        let Reading::Invocation(invocation) = read.expect("taken") else {
            panic!("no help was asked for");
        };
        let (text, notices) = invocation.inspect(&facts(&options)).expect("good options");
        // The line end is added when the text is printed.
        assert_eq!(text, golden.trim_end());
        assert!(notices.is_empty());
    }
}

proptest! {
    #[test]
    fn no_line_panics(line in prop::collection::vec("(--?(vus|stage|dns|tag|scenario|e|s|u|system-tags)=?)?[-a-z0-9=:,.%/]{0,8}", 0..6)) {
        let read = K6Invocation::parse(Identity::Loadline, ScriptCommand::Run, &line, &Env::default());
        if let Ok(Reading::Invocation(invocation)) = read {
            let _ = invocation.consolidate(&facts(&json!({"vus": 2})));
        }
    }
}

#[test]
fn durations_that_k6_has_no_flag_for_are_read_as_by_the_other_commands() {
    let around = |line: &str, env: &Env| {
        let observe = read(line, env)?.settings.observe;
        Ok::<_, K6Error>((observe.baseline, observe.tail))
    };
    let seconds = Duration::from_secs;
    let line = "t.js --observe-baseline 5 --observe-tail 1.5m";
    assert_eq!(around(line, &Env::default()), Ok((seconds(5), seconds(90))));
    let env = Env::from([
        ("LOADLINE_OBSERVE_BASELINE", "3"),
        ("LOADLINE_OBSERVE_TAIL", "250ms"),
    ]);
    let of_env = around("t.js", &env);
    assert_eq!(of_env, Ok((seconds(3), Duration::from_millis(250))));
    let refused = read("t.js --observe-tail -5s", &Env::default()).expect_err("it is negative");
    assert!(refused.to_string().contains("observe-tail"), "{refused}");
}
