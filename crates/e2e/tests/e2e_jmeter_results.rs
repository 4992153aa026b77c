//! Outputs of JMeter plans besides their rows: dashboards, points for metrics stores, and a full disk.
//!
//! Must not know the layout of pages. Invariant: JMeter is not needed.

use std::path::Path;
use std::sync::{Arc, Mutex};

use loadline_e2e::process::neutral;
use loadline_e2e::server::{Server, free_port};
use loadline_e2e::{jmx, loadline, run_to_end, web};
use tempfile::TempDir;

/// A plan with two samples, one of which fails, and additional elements in its group.
fn plan(more: &str) -> String {
    let sampler = |name: &str, status: &str| {
        let argument = |name: &str, value: &str| {
            format!(
                "<elementProp name=\"{name}\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
                 <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
            )
        };
        let arguments = [
            argument("Sleep_Time", "0"),
            argument("Sleep_Mask", "0"),
            argument("ResponseCode", "200"),
            argument("Status", status),
        ];
        format!(
            "<JavaSampler testname=\"{name}\"><elementProp name=\"arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{}\
             </collectionProp></elementProp><stringProp name=\"classname\">JavaTest</stringProp></JavaSampler><hashTree/>",
            arguments.concat()
        )
    };
    format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree><ThreadGroup testname=\"G\">\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp><stringProp name=\"LoopController.loops\">5</stringProp></elementProp>\
         <stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup><hashTree>{}{}{more}\
         </hashTree></hashTree></hashTree></jmeterTestPlan>",
        sampler("good", "OK"),
        sampler("bad", "KO")
    )
}

/// The exit code and standard error.
fn jmeter(folder: &Path, line: &str) -> (Option<i32>, String) {
    let mut command = neutral(loadline());
    command
        .arg("jmeter")
        .args(line.split_whitespace())
        .current_dir(folder);
    let output = run_to_end(command);
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn folder_with(plan: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::write(folder.path().join("plan.jmx"), plan).expect("there is room");
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap_or_default()
}

/// The course of a test with three groups in the words of JMeter's log, without times and summaries.
const COURSE: &str = "\
INFO o.a.j.JMeter: Creating summariser <summary>
INFO o.a.j.e.StandardJMeterEngine: Running the test!
INFO o.a.j.e.StandardJMeterEngine: Starting setUp thread groups
INFO o.a.j.e.StandardJMeterEngine: Starting setUp ThreadGroup: 1 : S\x20
INFO o.a.j.e.StandardJMeterEngine: Starting 1 threads for group S.
INFO o.a.j.e.StandardJMeterEngine: Thread will continue on error
INFO o.a.j.t.ThreadGroup: Starting thread group... number=1 threads=1 ramp-up=0 delayedStart=false
INFO o.a.j.t.ThreadGroup: Started thread group number 1
INFO o.a.j.t.JMeterThread: Thread started: S 1-1
INFO o.a.j.t.JMeterThread: Thread is done: S 1-1
INFO o.a.j.t.JMeterThread: Thread finished: S 1-1
INFO o.a.j.e.StandardJMeterEngine: All Setup Threads have ended
INFO o.a.j.e.StandardJMeterEngine: Starting ThreadGroup: 1 : M
INFO o.a.j.e.StandardJMeterEngine: Starting 1 threads for group M.
INFO o.a.j.e.StandardJMeterEngine: Thread will stop on error
INFO o.a.j.t.ThreadGroup: Starting thread group... number=1 threads=1 ramp-up=2 delayedStart=false
INFO o.a.j.t.ThreadGroup: Started thread group number 1
INFO o.a.j.e.StandardJMeterEngine: All thread groups have been started
INFO o.a.j.t.JMeterThread: Thread started: M 1-1
INFO o.a.j.t.JMeterThread: Stop Thread detected by thread: M 1-1
INFO o.a.j.t.JMeterThread: Thread finished: M 1-1
INFO o.a.j.e.StandardJMeterEngine: Starting tearDown thread groups
INFO o.a.j.e.StandardJMeterEngine: Starting tearDown ThreadGroup: 1 : T
INFO o.a.j.e.StandardJMeterEngine: Starting 1 threads for group T.
INFO o.a.j.e.StandardJMeterEngine: Thread will continue on error
INFO o.a.j.t.ThreadGroup: Starting thread group... number=1 threads=1 ramp-up=0 delayedStart=false
INFO o.a.j.t.ThreadGroup: Started thread group number 1
INFO o.a.j.t.JMeterThread: Thread started: T 1-1
INFO o.a.j.t.JMeterThread: Thread is done: T 1-1
INFO o.a.j.t.JMeterThread: Thread finished: T 1-1
INFO o.a.j.e.StandardJMeterEngine: Notifying test listeners of end of test
";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_log_tells_the_course_of_a_test_unless_it_is_to_be_silent() {
    let one = "ThreadGroup.num_threads=1";
    let stops = "ThreadGroup.on_sample_error=stopthread";
    let debug = jmx::element("DebugSampler", "D", &[], "");
    let bad = jmx::element(
        "JSR223Sampler",
        "bad",
        &[
            "scriptLanguage=groovy",
            "script=SampleResult.successful = false",
        ],
        "",
    );
    let groups = [
        jmx::group("SetupThreadGroup", "S", 1, &[one], &debug),
        jmx::group(
            "ThreadGroup",
            "M",
            9,
            &[one, stops, "ThreadGroup.ramp_time=2"],
            &bad,
        ),
        jmx::group("PostThreadGroup", "T", 1, &[one], &debug),
    ];
    let folder = folder_with(&jmx::plan(&groups.concat()));
    let (code, err) = jmeter(folder.path(), "-n -t plan.jmx -j out.log");
    assert_eq!(code, Some(0), "{err}");
    let log = read(&folder, "out.log");
    let told: String = log
        .lines()
        .filter(|line| !line.contains("Summariser"))
        .filter_map(|line| {
            Some(format!(
                "{}\n",
                line.get("2026-11-30 12:00:00,000 ".len()..)?
            ))
        })
        .collect();
    assert_eq!(told, COURSE);
    let (code, err) = jmeter(folder.path(), "-n -t plan.jmx -j silent.log -L WARN");
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(read(&folder, "silent.log"), "");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_dashboard_is_made_at_the_end_and_of_a_file() {
    let folder = folder_with(&plan(""));
    let at_end = "-n -t plan.jmx -l out.jtl -e -o report";
    let (code, err) = jmeter(folder.path(), at_end);
    assert_eq!(code, Some(0), "{err}");
    let statistics: serde_json::Value =
        serde_json::from_str(&read(&folder, "report/statistics.json")).expect("it is JSON");
    assert_eq!(statistics["Total"]["sampleCount"], 10);
    assert_eq!(statistics["bad"]["errorPct"], 100.0);
    let page = read(&folder, "report/index.html");
    assert!(
        page.contains("Assertion failed") && page.contains("APDEX"),
        "{page}"
    );
    let again = jmeter(folder.path(), at_end);
    assert_eq!(again.0, Some(1), "results are there: {}", again.1);
    let into_it = jmeter(folder.path(), "-g out.jtl -o report");
    assert_eq!(into_it.0, Some(1), "the folder is not empty: {}", into_it.1);
    let anew = jmeter(folder.path(), "-g out.jtl -o report -f");
    assert_eq!(anew.0, Some(0), "{}", anew.1);
    assert_eq!(read(&folder, "report/index.html"), page);
    let missing = jmeter(folder.path(), "-g nowhere.jtl -o other");
    assert_eq!(missing.0, Some(1), "{}", missing.1);
    let mut report = neutral(loadline());
    report
        .args(["report", "out.jtl"])
        .current_dir(folder.path());
    let told = run_to_end(report).stdout;
    assert!(String::from_utf8_lossy(&told).contains("Total"), "{told:?}");
}

/// A Backend Listener that posts to a port.
fn backend(port: u16) -> String {
    let argument = |name: &str, value: &str| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"Argument\"><stringProp name=\"Argument.name\">{name}</stringProp>\
             <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
        )
    };
    let package = "org.apache.jmeter.visualizers.backend.influxdb";
    let arguments = [
        argument(
            "influxdbMetricsSender",
            &format!("{package}.HttpMetricsSender"),
        ),
        argument(
            "influxdbUrl",
            &format!("http://127.0.0.1:{port}/write?db=jmeter"),
        ),
        argument("application", "an app"),
        argument("percentiles", "99"),
        argument("TAG_env", "test"),
    ];
    format!(
        "<BackendListener testname=\"B\"><elementProp name=\"arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{}\
         </collectionProp></elementProp><stringProp name=\"classname\">{package}.InfluxdbBackendListenerClient</stringProp>\
         </BackendListener><hashTree/>",
        arguments.concat()
    )
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_store_of_metrics_is_told_of_samples() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let server = {
        let asked = Arc::clone(&asked);
        Server::start(move |stream, _| {
            web::serve(stream, |request| {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                let mut asked = asked.lock().expect("no thread panics with this lock");
                asked.push(format!("{} {body}", request.word(1)));
                web::ok("")
            })
        })
    };
    let folder = folder_with(&plan(&backend(server.address().port())));
    let (code, err) = jmeter(folder.path(), "-n -t plan.jmx");
    assert_eq!(code, Some(0), "{err}");
    let asked = asked.lock().expect("no thread panics with this lock");
    let asked = asked.concat();
    for told in [
        "/write?db=jmeter events,application=an\\ app,title=ApacheJMeter,env=test text=\"Test started\" ",
        "events,application=an\\ app,title=ApacheJMeter,env=test text=\"Test ended\" ",
        "jmeter,application=an\\ app,transaction=all,statut=all,env=test count=10,countError=5,",
        "jmeter,application=an\\ app,transaction=good,statut=ok,env=test count=5,",
        "jmeter,application=an\\ app,transaction=internal,env=test ",
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_store_of_metrics_that_is_away_is_told_of_once() {
    let folder = folder_with(&plan(&backend(free_port())));
    let (code, err) = jmeter(folder.path(), "-n -t plan.jmx -l out.jtl");
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(err.matches("took nothing").count(), 1, "{err}");
    assert_eq!(read(&folder, "out.jtl").lines().count(), 11);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_disk_that_is_full_is_told_and_fails_the_run() {
    let folder = folder_with(&plan(""));
    let (code, err) = jmeter(folder.path(), "-n -t plan.jmx -l /dev/full");
    assert_eq!(code, Some(255), "{err}");
    assert_eq!(err.matches("cannot write /dev/full").count(), 1, "{err}");
}
