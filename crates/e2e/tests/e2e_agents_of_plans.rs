//! JMeter plans on several processes: one test, its threads divided among agents.
//!
//! Must not know the protocol between coordinator and agents. Invariant: the behaviour of several processes is
//! compared with that of one process.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use loadline_e2e::agents::{agent, json, keeping, kept, text};
use loadline_e2e::jmx::{self, arrivals, element, group, http, threads};
use loadline_e2e::process::Running;
use loadline_e2e::server::free_port;
use loadline_e2e::{loadline, run_to_end};

/// Rows of the data file.
const ROWS: usize = 20;

fn data_set(recycle: bool) -> String {
    let recycles = format!("recycle={recycle}");
    let stops = format!("stopThread={}", !recycle);
    let properties = [
        "filename=rows.csv",
        "variableNames=row",
        "shareMode=shareMode.all",
        &recycles,
        &stops,
    ];
    element("CSVDataSet", "Data", &properties, "")
}

/// Threads that send their numbers and a common counter, threads that share the rows of a file, and arrivals.
fn plan() -> String {
    let counter = [
        "CounterConfig.start=1",
        "CounterConfig.incr=1",
        "CounterConfig.name=n",
        "CounterConfig.per_user=false",
    ];
    let users = [
        element("CounterConfig", "Count", &counter, ""),
        http("Thread", "/thread/${__threadNum}/${__iterationNum}", ""),
        http("Counted", "/count/${n}", ""),
    ];
    let rows = [data_set(false), http("Row", "/row/${row}/${word}", "")];
    let groups = [
        threads("Users", 6, 4, &users.concat()),
        threads("Rows", 6, -1, &rows.concat()),
        arrivals("Visitors", 20, 1, &http("Visit", "/visit", "")),
    ];
    jmx::plan(&format!("{}{}", words(), groups.concat()))
}

/// A variable whose value differs in each evaluation, and one with a property's value.
fn words() -> String {
    let variables = "<Arguments testname=\"Variables\"><collectionProp name=\"Arguments.arguments\">\
        <elementProp name=\"word\" elementType=\"Argument\"><stringProp name=\"Argument.name\">word</stringProp>\
        <stringProp name=\"Argument.value\">${__P(word)}-${__UUID}</stringProp></elementProp>\
        </collectionProp></Arguments><hashTree/>\n";
    variables.to_owned()
}

fn write(folder: &Path, plan: &str) {
    let rows: String = (0..ROWS).map(|row| format!("r{row}\n")).collect();
    fs::write(folder.join("rows.csv"), rows).expect("there is room");
    fs::write(folder.join("plan.jmx"), plan).expect("there is room");
}

/// The outcome of a plan.
struct Came {
    output: Output,
    /// The requests to the server.
    asked: Vec<String>,
    /// Label and thread of each row of the results file, in the same order.
    rows: Vec<(String, String)>,
    result: serde_json::Value,
}

/// The outcome, with the requests sorted as text.
fn ran(plan: &str, more: &[&str]) -> Came {
    let mut came = in_order(plan, more);
    came.asked.sort();
    came
}

/// The same in the original order.
fn in_order(plan: &str, more: &[&str]) -> Came {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    write(folder.path(), plan);
    let mut command = loadline();
    command
        .current_dir(folder.path())
        .args(["run", "plan.jmx", "-Jword=w", "--target", &server.url("")])
        .args(["--no-journal", "-l", "results.jtl", "--json", "result.json"])
        .args(more);
    let output = run_to_end(command);
    let results = fs::read_to_string(folder.path().join("results.jtl")).unwrap_or_default();
    let mut rows: Vec<(String, String)> = results
        .lines()
        .skip(1)
        .map(|line| {
            let mut columns = line.split(',');
            let label = columns.nth(2).unwrap_or_default().to_owned();
            (label, columns.nth(2).unwrap_or_default().to_owned())
        })
        .collect();
    rows.sort();
    let result = folder.path().join("result.json");
    Came {
        asked: targets.lock().expect("nobody panics").clone(),
        rows,
        result: match result.exists() {
            true => json(&result),
            false => serde_json::Value::Null,
        },
        output,
    }
}

/// Without the word that differs in each run.
fn without_chance(asked: &[String]) -> Vec<String> {
    let words: BTreeSet<&str> = asked
        .iter()
        .filter_map(|one| one.strip_prefix("/row/")?.split_once('/'))
        .map(|(_, word)| word)
        .collect();
    assert_eq!(words.len(), 1, "one word for the whole test: {words:?}");
    assert!(words.iter().all(|word| word.starts_with("w-")), "{words:?}");
    let plain = |one: &String| match one
        .strip_prefix("/row/")
        .and_then(|row| row.split_once('/'))
    {
        Some((row, _)) => format!("/row/{row}"),
        None => one.clone(),
    };
    let mut plain: Vec<String> = asked.iter().map(plain).collect();
    plain.sort();
    plain
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_plan_comes_to_the_same_on_one_process_and_on_several() {
    let plan = plan();
    let one = ran(&plan, &[]);
    let all = 6 * 4 * 2 + ROWS + 20;
    assert_eq!(one.asked.len(), all, "{}", text(&one.output.stderr));
    let of_users = |came: &Came| -> Vec<(String, String)> {
        let rows = came.rows.iter();
        let users = rows.filter(|(_, thread)| thread.starts_with("Users "));
        users.cloned().collect()
    };
    for agents in ["1", "2", "3"] {
        let several = ran(&plan, &["--agents", agents]);
        let told = text(&several.output.stderr);
        assert_eq!(several.output.status.code(), Some(0), "{told}");
        assert_eq!(
            without_chance(&several.asked),
            without_chance(&one.asked),
            "{agents} agents"
        );
        assert_eq!(
            several.rows.len(),
            one.rows.len(),
            "{agents} agents: {told}"
        );
        assert_eq!(of_users(&several), of_users(&one), "{agents} agents");
        for counts in ["/totals/seen/counts/good", "/totals/asked"] {
            let of = |came: &Came| came.result.pointer(counts).cloned();
            assert_eq!(of(&several), of(&one), "{agents} agents: {counts}");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn thresholds_and_values_are_of_all_agents() {
    let plan = plan();
    for (limit, code) in [(88, 99), (89, 0)] {
        let below = format!("http_reqs:count<{limit}");
        let came = ran(
            &plan,
            &[
                "--agents",
                "2",
                "-o",
                "json=values.json",
                "--threshold",
                &below,
            ],
        );
        let told = text(&came.output.stderr);
        assert_eq!(came.output.status.code(), Some(code), "{told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_from_elsewhere_needs_no_file_of_the_plan() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let elsewhere = tempfile::tempdir().expect("there is room");
    write(folder.path(), &plan());
    let listen = format!("127.0.0.1:{}", free_port());
    let token = "A".repeat(43);
    let mut command = loadline();
    command
        .current_dir(folder.path())
        .env("LOADLINE_JOIN_TOKEN", &token)
        .args(["run", "plan.jmx", "-Jword=w", "--target", &server.url("")])
        .args(["--no-journal", "--agents", "1", "--listen", &listen]);
    let running = Running::start(command);
    let mut far = agent(&listen, &token, "far");
    far.current_dir(elsewhere.path());
    let far = run_to_end(far);
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(far.status.code(), Some(0), "{}", text(&far.stderr));
    assert_eq!(kept(&targets).len(), 6 * 4 * 2 + ROWS + 20);
    let left = fs::read_dir(elsewhere.path()).expect("it is there").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_each_agent_does_for_itself_is_said() {
    let gathering = |size: &str, timeout: &str| {
        let size = format!("groupSize={size}");
        let timeout = format!("timeoutInMs={timeout}");
        let timer = element("SyncTimer", "Together", &[&size, &timeout], "");
        jmx::plan(&threads("Users", 6, 2, &http("Home", "/", &timer)))
    };
    let came = ran(&gathering("0", "0"), &["--agents", "2"]);
    let told = text(&came.output.stderr);
    assert_eq!(came.output.status.code(), Some(0), "{told}");
    assert_eq!(came.asked.len(), 12);
    assert!(
        told.contains("Users > Home: a Synchronizing Timer"),
        "{told}"
    );
    let came = ran(&gathering("4", "0"), &["--agents", "2"]);
    let told = text(&came.output.stderr);
    assert_eq!(came.output.status.code(), Some(104), "{told}");
    assert!(told.contains("would wait for 4 threads"), "{told}");
    assert_eq!(came.asked.len(), 0, "nothing is sent");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn groups_of_all_agents_wait_for_those_before_them_and_know_what_these_have_set() {
    let one = ["ThreadGroup.num_threads=1"];
    let set = http("Log in", "/before/${__setProperty(token,t1,)}", "");
    let after = group(
        "PostThreadGroup",
        "After",
        1,
        &one,
        &http("Log out", "/after", ""),
    );
    let plan = jmx::plan(&format!(
        "{after}{}{}",
        group("SetupThreadGroup", "Before", 1, &one, &set),
        threads("Users", 6, 3, &http("Home", "/home/${__P(token,none)}", ""))
    ));
    for agents in ["1", "2", "3"] {
        let came = in_order(&plan, &["--agents", agents]);
        let (output, asked) = (&came.output, &came.asked);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{agents} agents: {told}");
        assert_eq!(asked.len(), 20, "{agents} agents: {asked:?}");
        assert_eq!(asked[0], "/before/", "{agents} agents");
        assert!(
            asked[1..19].iter().all(|one| one == "/home/t1"),
            "{asked:?}"
        );
        assert_eq!(asked[19], "/after", "{agents} agents");
        assert!(!told.contains("__setProperty"), "{told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_thread_that_stops_the_test_stops_it_at_all_agents() {
    let condition = [
        "IfController.condition=${__jexl3(\"${__threadNum}-${__iterationNum}\" == \"1-5\")}",
        "IfController.useExpression=true",
    ];
    let pause = element("ConstantTimer", "Pause", &["ConstantTimer.delay=50"], "");
    for action in ["0", "2"] {
        let action = format!("ActionProcessor.action={action}");
        let stop = ["ActionProcessor.target=2", action.as_str()];
        let stop = element("TestAction", "Stop", &stop, "");
        let stop = element("IfController", "Enough", &condition, &stop);
        let home = http("Home", "/", &pause);
        let plan = jmx::plan(&threads("Users", 6, -1, &format!("{home}{stop}")));
        let one = ran(&plan, &[]);
        for agents in ["2", "3"] {
            let came = ran(&plan, &["--agents", agents]);
            let told = text(&came.output.stderr);
            let codes = [&came, &one].map(|came| came.output.status.code());
            assert_eq!(codes[0], codes[1], "{action}, {agents} agents: {told}");
            assert!(
                (12..300).contains(&came.asked.len()),
                "{}",
                came.asked.len()
            );
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_agents_cannot_share_out_is_refused_by_name() {
    let home = || http("Home", "/", "");
    let total = [
        "ThroughputController.style=0",
        "ThroughputController.perThread=false",
        "ThroughputController.maxThroughput=3",
    ];
    let users = |inside: &str| threads("Users", 4, 1, inside);
    let read = http("Read", "/${__StringFromFile(rows.csv)}", "");
    let random = element(
        "com.blazemeter.jmeter.RandomCSVDataSetConfig",
        "Cards",
        &["filename=rows.csv"],
        "",
    );
    let table = [
        (
            users(&element("ThroughputController", "Three", &total, &home())),
            "Users > Three: total executions",
        ),
        (users(&read), "__StringFromFile"),
        (
            users(&format!("{random}{}", home())),
            "a Random CSV Data Set",
        ),
        (
            users(&format!(
                "{}{}",
                element("PreciseThroughputTimer", "Evenly", &[], ""),
                home()
            )),
            "a Precise Throughput Timer",
        ),
    ];
    for (groups, named) in table {
        let came = ran(&jmx::plan(&groups), &["--agents", "2"]);
        let told = text(&came.output.stderr);
        assert_eq!(came.output.status.code(), Some(104), "{named}: {told}");
        assert!(told.contains(named), "{named}: {told}");
        assert_eq!(came.asked.len(), 0, "{named}: nothing is sent");
    }
    let once = ran(&jmx::plan(&users(&home())), &["--agents", "2", "--once"]);
    assert_eq!(once.output.status.code(), Some(104));
    assert!(text(&once.output.stderr).contains("--once"));
}
