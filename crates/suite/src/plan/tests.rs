//! Plans of suite files: rows, identities, command lines.
//!
//! Must not know the file system. Invariant: nothing here waits.

use std::collections::BTreeSet;

use loadline_model::words::join;

use super::*;
use crate::file::SuiteFile;

fn plan_with(yaml: &str, script: &str) -> Plan {
    let file = SuiteFile::parse("s.yaml", yaml).expect("the suite is good");
    let surroundings = Surroundings {
        read: &|_| Ok(script.as_bytes().to_vec()),
        variable: &|name| (name == "TOKEN").then(|| "t".to_owned()),
    };
    Plan::of(&file, &surroundings).expect("the suite can be planned")
}

fn plan(yaml: &str) -> Plan {
    plan_with(yaml, "script")
}

/// The commands of the only row's phases.
fn commands(row: &str) -> Vec<String> {
    let plan = plan(&format!("name: s\ntarget: http://t/\nrows: [{row}]"));
    let phases = plan.rows[0].phases.iter();
    phases.map(|phase| join(&phase.command)).collect()
}

#[test]
fn combinations_go_from_the_first_axis_to_the_last_and_exclusions_leave_out() {
    let plan = plan(
        "
name: s
defaults: {bench: u}
axes: {replicas: [1, 3], vus: [5, 10]}
exclude: [{replicas: 3, vus: 5}]
include: [{replicas: 9, vus: 10, labels: {size: '${axis.replicas} x ${axis.vus}'}}]
",
    );
    let titles: Vec<&str> = plan.rows.iter().map(|row| row.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "replicas=1 vus=5",
            "replicas=1 vus=10",
            "replicas=3 vus=10",
            "replicas=9 vus=10"
        ]
    );
    assert_eq!(plan.rows[3].labels["size"], "9 x 10");
    assert_eq!(plan.rows[3].settings.vus, Some(10));
    let ids: BTreeSet<&str> = plan.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn identities_stay_and_hashes_change_with_what_is_measured() {
    let yaml = "{name: s, rows: [{name: a, script: a.js, duration: 10s, vus: 2}]}";
    let first = plan(yaml);
    assert_eq!(first.rows[0].id, plan(yaml).rows[0].id);
    for (changed, script) in [
        (yaml.replace("10s", "20s"), "script"),
        (yaml.to_owned(), "another script"),
        (yaml.replace("vus: 2", "vus: 2, env: {A: b}"), "script"),
        (
            yaml.replace("vus: 2", "vus: 2, before: [{exec: restart}]"),
            "script",
        ),
        (
            yaml.replace("vus: 2", "vus: 2, observe: {me: {self: {}}}"),
            "script",
        ),
        (
            yaml.replace("{name: s,", "{name: s, target: http://other/,"),
            "script",
        ),
    ] {
        let other = plan_with(&changed, script);
        assert_eq!(other.rows[0].id, first.rows[0].id, "{changed}");
        assert_ne!(other.rows[0].hash, first.rows[0].hash, "{changed}");
    }
    for same in [
        yaml.replace("vus: 2", "vus: 2, gates: {goodput: 50%}"),
        yaml.replace("vus: 2", "vus: 2, repeat: 3"),
        yaml.replace("vus: 2", "vus: 2, after: [{exec: look}]"),
    ] {
        assert_eq!(plan(&same).rows[0].hash, first.rows[0].hash, "{same}");
    }
}

#[test]
fn command_lines_of_every_front_end() {
    for (row, expected) in [
        ("{script: a.js}", &["run --once a.js", "run a.js"][..]),
        (
            "{script: a.js, vus: 5, duration: 1m}",
            &["run --once a.js", "run -u 5 -d 1m a.js"],
        ),
        (
            "{script: {file: a.js, args: -u 9 --no-setup}, vus: 5, phases: {warm_up: 5s, ramp: 10s, steady: 1m}}",
            &[
                "run --once --no-setup a.js",
                "run -u 5 -d 5s --no-setup a.js",
                "run -s 10s:5 -s 1m:5 --no-setup a.js",
            ],
        ),
        (
            "{script: a.js, vus: 5, duration: 1d12h30m, phases: {smoke: false}}",
            &["run -u 5 -d 36h30m a.js"],
        ),
        (
            "{script: a.js, vus: 5, phases: {smoke: false, ramp: 1h, steady: 1d}}",
            &["run -s 1h:5 -s 24h:5 a.js"],
        ),
        (
            "{script: a.js, vus: 5, rate: 30/m, duration: 1m, phases: {smoke: false}}",
            &[
                "run --scenario default.executor=constant-arrival-rate --scenario default.rate=30 --scenario default.timeUnit=1m --scenario default.duration=1m --scenario default.preAllocatedVUs=5 a.js",
            ],
        ),
        (
            "{script: a.js, vus: 5, executor: {type: per-vu-iterations, scenario: main, iterations: 3}, duration: 1m, phases: {smoke: false}}",
            &[
                "run --scenario main.executor=per-vu-iterations --scenario main.maxDuration=1m --scenario main.vus=5 --scenario main.iterations=3 a.js",
            ],
        ),
        (
            "{bench: '-c 50 -z 5s -H \"A: b\"', vus: 7, rate: 100, duration: 90s, thresholds: [p(99)<50ms]}",
            &[
                "bench -n 1 -c 1 -H 'A: b' '${target.url}'",
                "bench -c 7 -r 100 -z 1m30s --threshold 'p(99)<50ms' -H 'A: b' '${target.url}'",
            ],
        ),
        (
            "{bench: http://other/, rate: 1.5k / m, duration: 20s, phases: {smoke: false}}",
            &["bench -r 1.5k/m -z 20s http://other/"],
        ),
        (
            "{bench: http://other/, vus: 7, phases: {smoke: false, ramp: 10s, steady: 20s}}",
            &["bench --stages 10s:7,20s:7 http://other/"],
        ),
        (
            "{hey: '-n 100 -m POST', vus: 20, rate: 100, duration: 1m}",
            &[
                "hey -n 1 -c 1 -m POST '${target.url}'",
                "hey -c 20 -q 5 -z 60s -m POST '${target.url}'",
            ],
        ),
        (
            "{bombardier: '-c 125 -n 100000 ${target.url}', duration: 10s}",
            &[
                "bombardier -n 1 -c 1 '${target.url}'",
                "bombardier -d 10s -c 125 '${target.url}'",
            ],
        ),
    ] {
        assert_eq!(commands(row), expected, "{row}");
    }
}

#[test]
fn scripts_learn_where_the_target_is() {
    let plan = plan(
        "{name: s, target: http://t/, rows: [{script: a.js, env: {KEY: '${secret.KEY}', T: '${env.TOKEN}'}}]}",
    );
    let env = &plan.rows[0].phases[0].env;
    assert_eq!(
        (
            env["TARGET_URL"].as_str(),
            env["KEY"].as_str(),
            env["T"].as_str()
        ),
        ("${target.url}", "${secret.KEY}", "t")
    );
    assert_eq!(plan.secrets, ["KEY"]);
}

#[test]
fn commands_are_read_with_the_url_that_the_file_says() {
    let read = |target: &str| {
        let plan = plan(&format!(
            "{{name: s, target: {target}, rows: [{{bench: -n 9}}]}}"
        ));
        let phases = plan.rows[0].phases.last().expect("a load");
        plan.with_target(&phases.command).pop()
    };
    let url = |url: &str| Some(url.to_owned());
    assert_eq!(read("http://t/"), url("http://t/"));
    let with_secret = "'http://${secret.KEY}@t/'";
    assert_eq!(read(with_secret), url("http://${secret.KEY}@t/"));
    assert_eq!(read("{command: ./where}"), url(TARGET_URL));
}

#[test]
fn plans_in_short_are_written_as_people_write_them() {
    for (row, short) in [
        ("{script: a.js, vus: 300, duration: 60m}", "u:300, d: 60m"),
        (
            "{script: a.js, vus: 300, phases: {ramp: 5m, steady: 30m}}",
            "s: 5m:300, s: 30m:300",
        ),
        ("{bombardier: '-c 125 -n 100000'}", "u:125, n: 100000"),
        ("{hey: '-z 5m -c 20', rate: 100}", "u:20, r: 100, d: 5m"),
    ] {
        let plan = plan(&format!("name: s\nrows: [{row}]"));
        assert_eq!(plan.rows[0].facts["short"], short, "{row}");
    }
}

#[test]
fn layers_lie_over_one_another() {
    let plan = plan(
        "
name: s
defaults: {bench: u, vus: 5, env: {A: default, B: default}, gates: {goodput: 90%}}
groups:
  - name: g
    defaults: {env: {B: group}, labels: {L: group}}
    rows: [{name: x, hey: v, env: {C: row}, gates: {checks: false}}]
",
    );
    let row = &plan.rows[0];
    assert_eq!(row.settings.front.name(), "hey");
    let env: Vec<&str> = row.env.values().map(String::as_str).collect();
    assert_eq!(env, ["default", "group", "row"]);
    assert_eq!(row.labels["L"], "group");
    let goodput = row
        .settings
        .gates
        .0
        .iter()
        .find(|setting| setting.gate.name() == "goodput");
    assert!(goodput.is_some_and(|setting| setting.limit == 0.9 && setting.asked));
}

#[test]
fn hooks_of_the_suite_come_first_before_the_load_and_last_after_it() {
    let plan = plan("
name: s
before: [{exec: suite}]
after: [{exec: suite}]
groups:
  - {name: g, before: [{exec: group}], after: [{exec: group}], rows: [{name: x, bench: u, before: [{exec: row}], after: [{exec: 'row ${label.L}'}], labels: {L: l}}]}
");
    let names = |hooks: &[HookSpec]| {
        hooks
            .iter()
            .map(|hook| hook.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&plan.rows[0].hooks.before), ["suite", "group", "row"]);
    assert_eq!(
        names(&plan.rows[0].hooks.after),
        ["row l", "group", "suite"]
    );
}

/// What is warned of, with its place.
fn warned(yaml: &str, script: &str) -> Vec<String> {
    let plan = plan_with(yaml, script);
    plan.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_probably_not_meant_is_told_at_its_place() {
    const SCENARIOS: &str = "export const options = {\n  scenarios: { a: {} },\n};";
    for (yaml, script, place, word) in [
        (
            "name: s\ndefaults: {bench: 'http://h/'}\naxes:\n  vus: [1, 2]\n  replicas: [1, 3]\n",
            "",
            "s.yaml:5:3: ",
            "the axis `replicas` changes nothing",
        ),
        (
            "name: s\nrows:\n- {name: a, bench: 'http://h/'}\n- {name: b, bench: 'http://h/'}\n- {name: c, bench: 'http://h/', labels: {x: y}}\n",
            "",
            "s.yaml:4:20: ",
            "the rows a and b do the same, and so do 1 more",
        ),
        (
            "name: s\nrows:\n- {name: a, script: load.js, duration: 10s}\n",
            SCENARIOS,
            "s.yaml:3:21: ",
            "`duration` replaces the scenarios of load.js by one of 1 virtual user",
        ),
        (
            "name: s\nrows:\n- {name: a, script: load.js, phases: {warm_up: 2s}}\n",
            SCENARIOS,
            "s.yaml:3:21: ",
            "the warm-up replaces the scenarios of load.js by one of 1 virtual user",
        ),
        (
            "name: s\nrows:\n- {name: a, script: {file: load.js, args: '-u 8'}, duration: 10s}\n",
            SCENARIOS,
            "s.yaml:3:21: ",
            "by one of 8 virtual users",
        ),
        (
            "name: s\ndefaults: {script: {file: a.js, args: '--no-color'}}\naxes:\n  test: [{label: x, env: {A: b}}, {label: y, script: b.js}]\n",
            "",
            "s.yaml:4:54: ",
            "`--no-color` is dropped",
        ),
        (
            "name: s\nrows: [{name: a, bench: 'http://h/', observe: {me: {self: {}}}}]\ndocuments:\n- file: a.md\n  \
             components: [{match: K6, name: k}]\n  columns: [{title: a, value: row.id}]\n",
            "",
            "s.yaml:5:24: ",
            "no observed component is called like `K6`",
        ),
        // Pods are called otherwise.
        (
            "name: s\nrows: [{name: a, bench: 'http://h/', observe: {me: {self: {}}, pods: {pod: {selector: a=b}}}}]\ndocuments:\n- file: a.md\n  \
             components: [{match: 'api-*', name: a}, {match: K6, name: k}]\n  columns: [{title: a, value: row.id}]\n",
            "",
            "s.yaml:5:51: ",
            "no observed component is called like `K6`",
        ),
    ] {
        let told = warned(yaml, script);
        assert_eq!(told.len(), 1, "{yaml}\n{told:?}");
        assert!(
            told[0].starts_with(place) && told[0].contains(word),
            "{told:?}"
        );
    }
}

#[test]
fn what_is_doubtful_of_many_rows_is_told_once() {
    let rows: String = (1..=200)
        .map(|n| format!("- {{name: r{n}, script: load.js, vus: {n}, env: {{N: '{n}'}}}}\n"))
        .collect();
    let yaml = format!("name: s\nrows:\n{rows}- {{name: b, script: b.js, vus: 1}}\n");
    let told = warned(&yaml, "scenarios: {}");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("s.yaml:3:") && told[0].contains(", and so for 199 more rows; leave"),
        "{told:?}"
    );
    assert!(told[1].contains("the scenarios of b.js"), "{told:?}");
}

#[test]
fn what_differs_is_not_warned_of() {
    for (yaml, script) in [
        (
            "name: s\ndefaults: {bench: 'http://h/'}\naxes: {replicas: [1, 3]}\nbefore: [{exec: 'scale ${axis.replicas}'}]\n",
            "",
        ),
        (
            "name: s\ndefaults: {bench: 'http://h/'}\naxes: {replicas: [1]}\n",
            "",
        ),
        (
            "name: s\nrows:\n- {name: a, script: load.js, duration: 10s}\n",
            "// scenarios: no",
        ),
        (
            "name: s\nrows:\n- {name: a, script: load.js, env: {A: b}}\n",
            "scenarios: {}",
        ),
        (
            "name: s\ndefaults: {script: {file: a.js, args: '-q'}}\nrows: [{name: a, script: {file: b.js, args: '-q'}}]\n",
            "",
        ),
        (
            "name: s\nrows: [{name: a, bench: 'http://h/', observe: {web: {process: {port: 80}}, pods: {pod: {selector: a=b, context: c}}}}]\n\
             documents:\n- file: a.md\n  components: [{match: 'web-*', name: k}]\n  columns: [{title: a, value: row.id}]\n",
            "",
        ),
    ] {
        assert_eq!(warned(yaml, script), Vec::<String>::new(), "{yaml}");
    }
}

/// What is warned of two rows with a document of these settings.
fn warned_of_document(document: &str) -> Vec<String> {
    let rows = "{name: a, bench: 'http://h/1', labels: {client: k6}, env: {SIZE: s}, observe: {api: {process: {port: 80}}}}";
    warned(
        &format!(
            "name: s\nfacts: {{machine: m}}\ngroups: [{{name: g, rows: [{rows}]}}]\ndocuments:\n- file: a.md\n{document}"
        ),
        "",
    )
}

#[test]
fn names_that_no_row_has_are_told_with_what_was_probably_meant() {
    for (document, place, words) in [
        (
            "  rows: {group: h}\n  columns: [{title: a, value: row.id}]\n",
            "s.yaml:7:31: ",
            "group `h`, which does not exist: it stays empty; did you mean `g`?",
        ),
        (
            "  rows: {labels: {client: jmeter}}\n  columns: [{title: a, value: row.id}]\n",
            "s.yaml:",
            "rows with client=jmeter, and no row has it: it stays empty; there are k6",
        ),
        (
            "  columns: [{title: a, value: label.cleint}]\n",
            "s.yaml:6:31: ",
            "no row has a label `cleint`: the cells stay empty; did you mean `client`?",
        ),
        (
            "  columns: [{title: a, value: env.SISE}]\n",
            "s.yaml:6:31: ",
            "did you mean `SIZE`?",
        ),
        (
            "  columns: [{title: a, value: plan.nix}]\n",
            "s.yaml:6:31: ",
            "no row's plan has `nix`",
        ),
        (
            "  columns: [{title: a, value: suite.machines}]\n",
            "s.yaml:6:31: ",
            "did you mean `machine`?",
        ),
        (
            "  columns: [{title: a, value: observe.apo.cpu_cores.max}]\n",
            "s.yaml:6:31: ",
            "no row has an observer `apo`: the cells stay empty; did you mean `api`?",
        ),
        (
            "  columns: [{title: a, value: 'coalesce(label.one, label.two)'}]\n",
            "s.yaml:6:31: ",
            "no row has a label `one`",
        ),
    ] {
        let told = warned_of_document(document);
        assert_eq!(told.len(), 1, "{document}\n{told:?}");
        assert!(
            told[0].starts_with(place) && told[0].contains(words),
            "{told:?}"
        );
    }
    for document in [
        "  rows: {group: g, labels: {client: k6}}\n  columns: [{title: a, value: 'coalesce(label.one, label.client)'}]\n",
        "  columns: [{title: a, value: observe.*.*.cpu_cores.max}, {title: b, value: suite.name}, {title: c, value: plan.command}]\n",
        "  columns: [{title: a, value: 'run.rps / row(\"client = k6\").run.rps'}]\n",
    ] {
        assert_eq!(
            warned_of_document(document),
            Vec::<String>::new(),
            "{document}"
        );
    }
    // What the line leaves open, the run fills in.
    let by_run = "  columns: [{title: a, value: plan.stages}]\n";
    assert_eq!(warned_of_document(by_run), Vec::<String>::new());
}

#[test]
fn what_a_preset_names_is_told_where_the_user_named_the_preset() {
    let of = |preset: &str, with: &str| {
        warned(
            &format!(
                "name: s\nrows: [{{name: a, bench: 'http://h/', labels: {{replicas: 1}}}}]\ndocuments:\n- file: a.md\n  preset: {preset}\n{with}"
            ),
            "",
        )
    };
    let mut told = 0;
    for preset in crate::document::presets::names() {
        for warning in of(preset, "") {
            assert!(warning.starts_with("s.yaml:5:11: "), "{preset}: {warning}");
            told += 1;
        }
    }
    assert!(told > 0, "nothing was told");
    for (preset, name) in [
        ("gateway", "latency"),
        ("gateway", "memory"),
        ("cold-and-sustained", "sink"),
        ("replicas", "pods"),
    ] {
        let told = of(preset, &format!("  with: {{{name}: nix}}\n"));
        let place = format!("s.yaml:6:{}: no row has an observer `nix`", 12 + name.len());
        let has = told.iter().filter(|told| told.starts_with(&place)).count();
        assert_eq!(has, 1, "{preset}: {told:?}");
        // A name that is left empty leaves its columns out.
        let without = of(preset, &format!("  with: {{{name}: \"\"}}\n"));
        assert_eq!(without.len() + 1, told.len(), "{preset}: {without:?}");
    }
}

/// Why a suite cannot be planned.
fn refusal(yaml: &str) -> String {
    let file = SuiteFile::parse("s.yaml", yaml).expect("the suite is good");
    let surroundings = Surroundings {
        read: &|_| Ok(Vec::new()),
        variable: &|_| None,
    };
    let refused = Plan::of(&file, &surroundings).err();
    refused.expect("the suite cannot be run").to_string()
}

#[test]
fn a_suite_whose_rows_are_all_excluded_is_refused() {
    let told = refusal(
        "name: s\ndefaults: {bench: '-n 1 http://h/'}\naxes: {vus: [1, 2]}\nexclude: [{vus: 1}, {vus: 2}]\n",
    );
    assert!(told.contains("`exclude` leaves no row"), "{told}");
}

#[test]
fn a_body_behind_an_option_for_the_duration_is_refused() {
    let row = |line: &str| format!("name: s\nrows: [{{name: a, duration: 5s, {line}}}]\n");
    for (line, front) in [
        ("bench: '-m POST -d {a} http://h/'", "bench"),
        ("bombardier: '-d a=1 http://h/'", "bombardier"),
    ] {
        let refused = refusal(&row(line));
        let told = format!("-d of {front} is the duration, and `");
        assert!(
            refused.contains(&told) && refused.ends_with("write -b for the request's body"),
            "{refused}"
        );
    }
    let kept = plan(&row("hey: '-d a=1 -z 2s http://h/'"));
    assert!(join(&kept.rows[0].phases[0].command).contains("-d a=1"));
}

#[test]
fn a_document_that_names_a_row_which_is_not_there_is_refused_before_the_runs() {
    let yaml = "name: s\nrows: [{name: a, bench: 'http://h/'}]\ndocuments:\n- file: a.md\n  columns: [{title: a, value: 'run.rps / row(\"nix\").run.rps'}]\n";
    let refused = refusal(yaml);
    assert!(
        refused.starts_with("s.yaml:5:31: no row is `nix`; write a row's id, such as a-"),
        "{refused}"
    );
}

#[test]
fn no_row_writes_over_what_the_suite_reads_or_keeps() {
    let refused = |row: &str| {
        let documents = "documents: [{file: docs/R.md, columns: [{title: a, value: run.rps}]}]";
        let yaml = format!("name: s\nrows: [{{name: b, script: x/b.js}}, {row}]\n{documents}");
        let file = SuiteFile::parse("some/s.yaml", &yaml).expect("the suite is good");
        let surroundings = Surroundings {
            read: &|_| Ok(Vec::new()),
            variable: &|_| None,
        };
        let plan = Plan::of(&file, &surroundings);
        plan.err().map(|error| error.to_string())
    };
    for (row, what) in [
        (
            "{name: a, bench: '-z 1s --json s.yaml u'}",
            "s.yaml, which is the suite file",
        ),
        (
            "{name: a, bench: '--report=./docs/R.md u'}",
            "./docs/R.md, which is a document",
        ),
        (
            "{name: a, bench: '-o csv=docs/../x/b.js u'}",
            "x/b.js, which is a script",
        ),
        (
            "{name: a, jmeter: {file: p.jmx, args: -l p.jmx}}",
            "p.jmx, which is a JMeter plan",
        ),
    ] {
        let told = refused(row).expect("it is refused");
        assert!(told.contains(what), "{told}");
    }
    for row in [
        "{name: a, bench: '-o csv=- --json R.md u'}",
        "{name: a, bench: '-o influxdb=http://h/s.yaml u'}",
        "{name: a, hey: '-o csv u'}",
    ] {
        assert_eq!(refused(row), None, "{row}");
    }
}

#[test]
fn a_file_that_several_runs_write_is_told_once() {
    let told = |rows: &str| warned(&format!("{{name: s, rows: [{rows}]}}"), "");
    let two = told(
        "{name: a, bench: '-c 1 -o json=x.json u'}, {name: b, script: {file: b.js, args: '-o json=./x.json -o jtl=y.jtl'}}",
    );
    assert_eq!(two.len(), 1, "{two:?}");
    assert!(
        two[0].contains("2 runs write x.json, each replacing the previous one"),
        "{two:?}"
    );
    let repeated = told("{name: a, repeat: 3, bench: '--json a.json u'}");
    assert!(repeated[0].contains("3 runs write a.json"), "{repeated:?}");
    let axes = "{name: s, defaults: {bench: '--json ${axis.vus}.json u'}, axes: {vus: [1, 2]}}";
    let by_axis = warned(axes, "");
    assert!(by_axis.is_empty(), "{by_axis:?}");
}
