//! First suites with every load and preset can be parsed and planned as they are.

use proptest::prelude::*;

use super::*;
use crate::document::presets;
use crate::file::SuiteFile;
use crate::plan::{Plan, Surroundings};

fn wish(load: InitLoad, target: Option<&str>, preset: Option<&str>) -> InitWish {
    InitWish {
        file: "suite.yaml".to_owned(),
        document: "RESULTS.md".to_owned(),
        load,
        target: target.map(str::to_owned),
        preset: preset.map(str::to_owned),
        vus: Vec::new(),
        duration: None,
        repeat: None,
        service: ServiceSeen::Here {
            port: 8080,
            processes: vec![("python3".to_owned(), 47)],
        },
    }
}

fn planned(wish: &InitWish) -> (SuiteFile, Plan) {
    let text = compose(wish);
    let file =
        SuiteFile::parse("suite.yaml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let surroundings = Surroundings {
        read: &|_| Ok(b"export default function () {}".to_vec()),
        variable: &|_| None,
    };
    let plan = Plan::of(&file, &surroundings).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (file, plan)
}

fn testbed() -> InitLoad {
    InitLoad::Testbed(TestbedSeen {
        file: "testbed.yaml".to_owned(),
        control: Some("http://127.0.0.1:18500".to_owned()),
        components: vec!["predict-1".to_owned()],
        scaled: Some("predict-1".to_owned()),
    })
}

fn loads() -> Vec<(InitLoad, Option<&'static str>)> {
    let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
    let script = |args: &str| Front::Script {
        file: "a.js".to_owned(),
        args: words(args),
    };
    vec![
        (InitLoad::Requests, Some("http://127.0.0.1:8080/get")),
        (testbed(), Some("http://127.0.0.1:18501/")),
        (
            InitLoad::As(Front::Hey(words("-c 50"))),
            Some("http://127.0.0.1:8080/"),
        ),
        (
            InitLoad::As(Front::Bombardier(words("-n 10 http://h/ -k"))),
            None,
        ),
        (InitLoad::As(script("-e A=1")), None),
        (
            InitLoad::As(Front::Plan {
                file: "a.jmx".to_owned(),
                args: Vec::new(),
            }),
            None,
        ),
    ]
}

#[test]
fn every_load_with_every_preset_is_a_suite_with_one_document() {
    let presets = presets::names().map(Some).chain([None]);
    let services = [
        ServiceSeen::Elsewhere,
        wish(InitLoad::Requests, None, None).service,
    ];
    for (preset, service) in presets.flat_map(|preset| services.clone().map(|of| (preset, of))) {
        for (load, target) in loads() {
            let (file, plan) = planned(&InitWish {
                service: service.clone(),
                ..wish(load, target, preset)
            });
            assert_eq!(file.documents.len(), 1, "{preset:?}");
            assert!(!plan.rows.is_empty(), "{preset:?}");
            assert!(plan.warnings.is_empty(), "{preset:?}: {:?}", plan.warnings);
            assert!(
                compose(&wish(InitLoad::Requests, target, preset))
                    .lines()
                    .count()
                    <= 40
            );
        }
    }
}

#[test]
fn a_url_is_put_under_three_loads_and_its_service_observed() {
    let (_, plan) = planned(&wish(
        InitLoad::Requests,
        Some("http://127.0.0.1:8080/get"),
        None,
    ));
    let titles: Vec<&str> = plan.rows.iter().map(|row| row.title.as_str()).collect();
    assert_eq!(titles, ["vus=1", "vus=10", "vus=50"]);
    assert_eq!(
        (plan.runs.len(), plan.name.as_str()),
        (9, "127.0.0.1:8080/get")
    );
    let observed = plan.rows[0].settings.observe.as_ref().expect("observers");
    assert_eq!(observed.1["service"]["process"]["port"], 8080);
    assert!(observed.1["machine"]["host"].is_object());
}

#[test]
fn a_command_line_is_kept_and_its_url_is_the_target() {
    let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
    let read = |line: &str| load_of_command(&words(line)).unwrap_or_else(|error| panic!("{error}"));
    let (front, target) = read("/usr/bin/hey -c 50 http://h/a");
    assert_eq!(front, Front::Hey(words("-c 50")));
    assert_eq!(target.as_deref(), Some("http://h/a"));
    let (front, target) = read("bombardier http://h/a -c 5");
    assert_eq!(
        (front, target),
        (Front::Bombardier(words("http://h/a -c 5")), None)
    );
    assert_eq!(
        read("loadline bench -n 5 http://h/").0,
        Front::Bench(words("-n 5"))
    );
    for line in [
        "k6 run -u 5 a.js --no-color",
        "loadline run -u 5 a.js --no-color",
    ] {
        let (front, _) = read(line);
        let args = words("-u 5 --no-color");
        assert_eq!(
            front,
            Front::Script {
                file: "a.js".to_owned(),
                args
            }
        );
    }
    for line in [
        "wrk -c 5 http://h/",
        "k6 run",
        "jmeter -n -t a.jmx",
        "k6 inspect a.js",
    ] {
        let refused = load_of_command(&words(line)).expect_err(line);
        assert!(
            refused.to_string().contains(".jmx") || refused.to_string().contains("JMeter"),
            "{refused}"
        );
    }
}

#[test]
fn a_testbed_is_scaled_where_replicas_are_compared() {
    let (_, plan) = planned(&wish(
        testbed(),
        Some("http://127.0.0.1:18501/"),
        Some("replicas"),
    ));
    assert_eq!(plan.rows.len(), 6);
    assert!(plan.rows.iter().all(|row| row.hooks.before.len() == 1));
}

#[test]
fn a_proxy_of_containers_is_no_service() {
    let mut wish = wish(InitLoad::Requests, Some("http://127.0.0.1:8080/"), None);
    wish.service = ServiceSeen::Here {
        port: 8080,
        processes: vec![("docker-proxy".to_owned(), 47)],
    };
    let text = compose(&wish);
    assert!(text.contains("service: { cgroup: { pid: PID } }"), "{text}");
}

#[test]
fn a_password_stands_in_the_target_alone() {
    let text = compose(&wish(
        InitLoad::Requests,
        Some("http://me:secret@h/a?key=hidden"),
        None,
    ));
    assert_eq!(text.matches("secret").count(), 1, "{text}");
    assert!(text.contains("name: \"h/a\""), "{text}");
}

proptest! {
    #[test]
    fn whatever_texts_hold_the_file_says_them(
        target in "http://[ -~]{0,20}",
        word in "[ -~\\n\"'$]{1,20}",
        process in "\\PC{0,10}[\\n#]?x",
    ) {
        let mut wish = wish(InitLoad::As(Front::Hey(vec!["-H".to_owned(), word.clone()])), Some(&target), None);
        wish.service = ServiceSeen::Here { port: 1, processes: vec![(process, 1)] };
        let (file, plan) = planned(&wish);
        prop_assert_eq!(file.target, Some(crate::file::Target::Url(target.replace("${", "$${"))));
        let Front::Hey(words) = &plan.rows[0].settings.front else { panic!("hey") };
        prop_assert_eq!(&words[1], &word.replace("${", "$${"));
    }
}
