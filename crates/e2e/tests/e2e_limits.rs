//! Limits of the generator's machine: open files and local ports.
//!
//! Must not know how they are detected. Invariant: the generator is named as the limit, and requests that could
//! be sent were sent.

use loadline_e2e::front_ends::Asked;
use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::Server;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench_by, clock, loadline_under, skip, web};

use std::process::Command;
use std::time::Duration;

/// Asserts that the verdict names the class of most failures.
fn assert_told(ran: &Ran, class: &str) {
    let findings = ran.at("/verdict/findings").to_string();
    assert!(findings.contains(class), "{class} is not in {findings}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn too_few_open_files() {
    let server = Server::start(|stream, stop| {
        web::serve(stream, |_| {
            // Holds the connection long enough that all are needed at once.
            stop.pause(Duration::from_millis(100));
            web::ok("ok")
        })
    });
    let limited = || loadline_under("ulimit -n 64 && exec \"$0\" \"$@\"");
    let url = server.url("/");
    let asked = Asked {
        requests: 600,
        pause_ms: 0,
        vus: 200,
        ..Asked::few(&url, "30s")
    };
    let runs = [asked.by_bench(limited()), asked.by_script(limited())];
    for ran in &runs {
        assert!(ran.failed("fd-limit") > 0, "{:?}", ran.failures());
        assert!(ran.count("good") > 0, "those that had a connection went on");
        assert_eq!(ran.count("started"), 600);
        assert_eq!(ran.at("/verdict/limit"), "generator");
        assert_told(ran, "fd-limit");
        ran.assert_code(0);
    }
    runs[0].assert_memory_below(64);
}

/// Connections that take all files that they get leave some, so that the run can still be stopped from outside.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn too_few_open_files_leave_the_rest_api() {
    let server = Server::start(|stream, stop| {
        web::serve(stream, |_| {
            stop.wait();
            web::ok("ok")
        })
    });
    let api = RestApi::free();
    let mut command = loadline_under("ulimit -n 64 && exec \"$0\" \"$@\"");
    command.args(["bench", "-q", "--no-journal", "-c", "200", "-z", "10m"]);
    command.args(["--graceful-stop", "0s", "--address", api.address()]);
    let running = Running::start({
        command.arg(server.url("/"));
        command
    });
    api.wait_until_served();
    let is_full = clock::wait_for(Duration::from_secs(20), || {
        (server.accepted() >= 30).then_some(())
    });
    assert!(is_full.is_some(), "{} connections", server.accepted());
    clock::pause(Duration::from_millis(500));
    assert_eq!(api.change("{\"stopped\":true}").status, 200);
    assert_eq!(running.finish().status.code(), Some(103));
}

/// A file beyond the limit of the shell is an error that is told, also before there is a run.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_limit_on_files_sizes_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = loadline_under("ulimit -f 0 && exec \"$0\" \"$@\"");
    command
        .current_dir(folder.path())
        .args(["new", "script.js"]);
    let output = loadline_e2e::run_to_end(command);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(255), "{told}");
    assert!(told.contains("File too large"), "{told}");
}

/// In a separate network, with sixteen ports for outgoing connections.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn too_few_local_ports() {
    let narrow = "ip link set lo up && echo 40000 40015 > /proc/sys/net/ipv4/ip_local_port_range";
    let mut probe = Command::new("unshare");
    let probe = probe.args(["-n", "sh", "-c", narrow]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        let why = "a network namespace with its own port range cannot be made: not root, no unshare or no ip";
        return skip("too_few_local_ports", why);
    }
    let script = format!(
        "{narrow} && {{ \"$0\" target --listen 127.0.0.1:8080 >target.log & target=$!; \
         until grep -q http target.log; do sleep 0.02; done; \
         \"$0\" \"$@\"; code=$?; kill $target; wait; exit $code; }}"
    );
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let in_namespace = format!("exec unshare -n sh -c '{script}' \"$0\" \"$@\"");
    let command = || {
        let mut command = loadline_under(&in_namespace);
        command.current_dir(folder.path());
        command
    };
    let asked = Asked {
        requests: 200,
        pause_ms: 0,
        vus: 40,
        ..Asked::few("http://127.0.0.1:8080/delay/0.05", "30s")
    };
    for ran in [asked.by_bench(command()), asked.by_script(command())] {
        assert!(ran.failed("ports-exhausted") > 0, "{:?}", ran.failures());
        assert!(ran.count("good") > 0, "those that had a port went on");
        assert_eq!(ran.at("/verdict/limit"), "generator");
        assert_told(&ran, "ports-exhausted");
        ran.assert_code(0);
    }
}

/// In a network without any route.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_route() {
    let probe = Command::new("unshare").args(["-n", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return skip(
            "no_route",
            "a network namespace cannot be made: not root, or no unshare",
        );
    }
    let command = loadline_under("exec unshare -n \"$0\" \"$@\"");
    let ran = bench_by(command, &["-c", "2", "-n", "6", "-q", "http://192.0.2.1/"]);
    assert_eq!(ran.failures(), [("unreachable", 6)]);
    ran.assert_named("unreachable");
    ran.assert_code(1);
}

/// The same load with enough ports: the outcomes of the two tests above are due to the limits.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn enough_of_both() {
    let target = Target::start(&[]);
    let url = target.url("/delay/0.05");
    let ran = bench_by(
        loadline_e2e::loadline(),
        &["-c", "200", "-n", "600", "-q", &url],
    );
    assert_eq!(ran.count("good"), 600, "{:?}", ran.failures());
}

/// So few open files that hardly a thread can be prepared: the run is refused, or does what it can, and always
/// ends.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn no_open_files_to_begin_with() {
    let target = Target::start(&[]);
    let url = target.url("/");
    for files in 6..14 {
        let limited = || loadline_under(&format!("ulimit -n {files} && exec \"$0\" \"$@\""));
        for agents in [&[][..], &["--agents", "2"]] {
            let mut command = limited();
            command.args(["bench", "--no-journal", "-q", "-c", "2", "-n", "4"]);
            command.args(agents).arg(&url);
            let output = loadline_e2e::run_to_end(command);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let code = output.status.code().expect("it ends by itself");
            assert!(!told.contains("panicked"), "{files} {agents:?}: {told}");
            assert!(
                [0, 1, 106, 112, 255].contains(&code),
                "{files} {agents:?}: {code} {told}"
            );
            if code == 255 {
                assert!(
                    told.contains("Too many open files"),
                    "{files} {agents:?}: {told}"
                );
            }
        }
    }
}
