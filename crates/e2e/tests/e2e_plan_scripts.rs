//! Scripts of several threads of a JMeter plan that wait for one another.
//!
//! Must not know how scripts run. Invariant: what a script polls for is there as soon as another thread has made it.

use loadline_e2e::jmx::{element, plan, threads};
use loadline_e2e::loadline;

/// A sampler whose script this is.
fn script(name: &str, source: &str) -> String {
    let source = source.replace('&', "&amp;").replace('<', "&lt;");
    let source = format!("script={source}");
    element(
        "JSR223Sampler",
        name,
        &["scriptLanguage=groovy", source.as_str()],
        "",
    )
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_that_sleeps_sees_what_other_threads_do_meanwhile() {
    let poll = |condition: &str, told: &str| {
        format!(
            "int n = 0; while ({condition} && n < 100) {{ Thread.sleep(100); n++ }}; SampleResult.setResponseMessage('{told} ' + (n < 100))"
        )
    };
    let made = "sleep(500); props.put('token', 'abc'); props.get('jobs').add('job'); new File('flag').text = 'go'";
    let groups = [
        threads("Makes", 1, 1, &script("make", made)),
        threads(
            "Token",
            1,
            1,
            &script("token", &poll("props.get('token') == null", "token")),
        ),
        threads(
            "List",
            1,
            1,
            &script(
                "list",
                &format!(
                    "def jobs = []; props.put('jobs', jobs); {}",
                    poll("jobs.isEmpty()", "list")
                ),
            ),
        ),
        threads(
            "File",
            1,
            1,
            &script("file", &poll("!new File('flag').exists()", "file")),
        ),
    ];
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("plan.jmx");
    std::fs::write(&path, plan(&groups.concat())).expect("there is room");
    let output = loadline()
        .args(["jmeter", "-n", "-t", "plan.jmx", "-l", "rows.jtl"])
        .current_dir(folder.path())
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let rows = std::fs::read_to_string(folder.path().join("rows.jtl")).expect("it was written");
    for told in ["token true", "list true", "file true"] {
        assert!(rows.contains(told), "{told}: {rows}");
    }
}
