//! Runners as k6-operator starts, probes and controls them, without an operator.
//!
//! Must not know clusters. Invariant: command lines, requests and addresses are as the operator writes them:
//! probes use the pod's address, start and stop use that of its service; none uses a name of this machine or a
//! token.

use std::fs;
use std::net::{IpAddr, UdpSocket};
use std::path::Path;

use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::free_port;
use loadline_e2e::{loadline, skip};

const SCRIPT: &str = "
    import { sleep } from 'k6';
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 4, iterations: 40 } } };
    export default function () { sleep(__ENV.SECONDS || 0.01); }
    export function handleSummary(data) { return { stdout: `${data.metrics.iterations.values.count}` }; }";
/// The attributes with which the starter starts a test.
const START: &str = r#"{"paused":false,"stopped":false},"id":"default","type":"status""#;
const OFF: (&str, &str) = ("LOADLINE_CONTROL_TOKEN", "off");

/// A runner, and its API as seen in a cluster.
struct Runner {
    process: Running,
    api: RestApi,
}

impl Runner {
    fn start(folder: &Path, host: IpAddr, words: &[&str], variables: &[(&str, &str)]) -> Runner {
        let port = free_port();
        let mut command = loadline();
        command
            .current_dir(folder)
            .args(["run", "--quiet"])
            .args(words)
            .args(["--tag", "testId=scen1", "script.js"])
            .arg(format!("--address=0.0.0.0:{port}"))
            .args(["--paused", "--tag", "instance_id=1"])
            .args(["--tag", "testrun_name=t"])
            .env("K6_OUT", "")
            .envs(variables.iter().copied());
        let api = RestApi::behind(format!("{host}:{port}"), "10.43.0.7:6565");
        let process = Running::start(command);
        Runner { process, api }
    }

    /// The exit code and standard output.
    fn end(self) -> (Option<i32>, String) {
        let output = self.process.finish();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), out)
    }
}

/// A non-loopback address of this machine; nothing is sent to find it.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("script.js"), SCRIPT).expect("there is room");
    folder
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn runners_are_probed_started_and_share_the_test() {
    let Some(host) = own_address() else {
        return skip("e2e_operator", "the machine has no address but loopback's");
    };
    let folder = folder();
    let runners = ["0:1/2", "1/2:1"].map(|segment| {
        let segment = format!("--execution-segment={segment}");
        let words = [segment.as_str(), "--execution-segment-sequence=0,1/2,1"];
        Runner::start(folder.path(), host, &words, &[OFF])
    });
    for Runner { api, .. } in &runners {
        api.wait_for("status", 4);
        assert_eq!(api.status("vus-max"), 2);
        assert_eq!(api.status("paused"), true);
    }
    for Runner { api, .. } in &runners {
        let started = api.change(START);
        assert_eq!(started.status, 200, "{}", started.body);
        let told = r#""paused":false,"vus":0,"vus-max":2,"stopped":false,"running":false"#;
        assert!(started.body.contains(told), "{}", started.body);
    }
    for runner in runners {
        assert_eq!(runner.end(), (Some(0), "20".to_owned()));
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_running_test_is_stopped_by_its_service_and_by_no_page() {
    let Some(host) = own_address() else {
        return skip("e2e_operator", "the machine has no address but loopback's");
    };
    let folder = folder();
    let runner = Runner::start(folder.path(), host, &["-e", "SECONDS=60"], &[OFF]);
    let api = &runner.api;
    api.wait_for("status", 4);
    assert_eq!(api.change(START).status, 200);
    api.wait_for("running", true);
    let by_name = RestApi::behind(
        api.address().to_owned(),
        "t-service-1.ns.svc.cluster.local:6565",
    );
    assert_eq!(by_name.change(r#"{"stopped":true}"#).status, 403);
    assert_eq!(api.change(r#"{"stopped":true}"#).status, 200);
    assert_eq!(runner.end().0, Some(103));

    let hosts = ("LOADLINE_CONTROL_HOSTS", "*");
    let runner = Runner::start(folder.path(), host, &["-e", "SECONDS=60"], &[OFF, hosts]);
    runner.api.wait_for("status", 4);
    let by_name = RestApi::behind(
        runner.api.address().to_owned(),
        "t-service-1.ns.svc.cluster.local:6565",
    );
    assert_eq!(by_name.change(r#"{"stopped":true}"#).status, 200);
    assert_eq!(runner.end().0, Some(103));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn without_the_variable_nobody_but_who_has_the_token_starts_it() {
    let Some(host) = own_address() else {
        return skip("e2e_operator", "the machine has no address but loopback's");
    };
    let folder = folder();
    let runner = Runner::start(folder.path(), host, &[], &[]);
    let here = RestApi::behind(runner.api.address().to_owned(), "127.0.0.1:6565");
    for api in [&runner.api, &here] {
        let answer = api.first("GET", "/v1/status");
        assert_eq!(answer.status, 403, "{}", answer.body);
        assert_eq!(api.change(START).status, 403);
    }
    runner.process.signal(libc::SIGTERM);
    assert_eq!(runner.end().0, Some(105));
}
