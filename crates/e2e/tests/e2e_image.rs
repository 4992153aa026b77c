//! The container image with an unchanged k6-operator, without a container runtime: its file system, its user,
//! its programs.
//!
//! Must not know clusters. Invariants: programs see nothing of this machine except its network and the script;
//! they are started as by k6-operator, with `LOADLINE_CONTROL_TOKEN=off` in `runner.env`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use loadline_e2e::process::{Running, has_program};
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::free_port;
use loadline_e2e::{run_to_end, skip};
use serde_json::Value;

const SCRIPT: &str = "
    import { sleep } from 'k6';
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 4, iterations: 40 } } };
    export default function () { sleep(0.01); }
    export function handleSummary(data) { return { stdout: `${data.metrics.iterations.values.count} ${__ENV.GREETING}` }; }";
const BROKEN: &str = "export default function () {";
/// The request of the starter.
const START: &str =
    r#"{"data":{"attributes":{"paused":false,"stopped":false},"id":"default","type":"status"}}"#;

/// An unpacked image, with a script at `/test`.
struct Image {
    folder: tempfile::TempDir,
    config: Value,
}

impl Image {
    /// `None`: it cannot be tested here, which is reported.
    fn unpacked(test: &str) -> Option<Image> {
        let Some(archive) = std::env::var_os("LOADLINE_IMAGE") else {
            skip(test, "LOADLINE_IMAGE names no image: cargo xtask image");
            return None;
        };
        if let Some(missing) = ["bwrap", "tar", "gzip"]
            .iter()
            .find(|name| !has_program(name))
        {
            skip(test, &format!("{missing} is not installed"));
            return None;
        }
        let folder = tempfile::tempdir().expect("there is room");
        let parts = folder.path().join("parts");
        untar(Path::new(&archive), &parts);
        let index = json(&parts.join("index.json"));
        let manifest = json(&blob(&parts, &index["manifests"][0]));
        let config = json(&blob(&parts, &manifest["config"]));
        let root = folder.path().join("root");
        for layer in manifest["layers"].as_array().expect("layers") {
            untar(&blob(&parts, layer), &root);
        }
        let scripts = root.join("test");
        fs::create_dir(&scripts).expect("there is room");
        fs::write(scripts.join("test.js"), SCRIPT).expect("there is room");
        fs::write(scripts.join("broken.js"), BROKEN).expect("there is room");
        let image = Image { folder, config };
        if !run_to_end(image.command(&["cat", "/etc/passwd"], &[]))
            .status
            .success()
        {
            skip(test, "bubblewrap may not make namespaces here");
            return None;
        }
        Some(image)
    }

    /// A program in a container of the image, with a read-only root.
    fn command(&self, program: &[&str], variables: &[(&str, &str)]) -> Command {
        let config = &self.config["config"];
        let (user, group) = config["User"]
            .as_str()
            .and_then(|user| user.split_once(':'))
            .expect("a user and a group");
        let mut command = Command::new("bwrap");
        command
            .arg("--ro-bind")
            .arg(self.folder.path().join("root"));
        command.args(["/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        command.args(["--unshare-user", "--uid", user, "--gid", group]);
        command.args(["--unshare-pid", "--die-with-parent", "--cap-drop", "ALL"]);
        command.args(["--chdir", config["WorkingDir"].as_str().expect("a folder")]);
        command.arg("--clearenv");
        let own = config["Env"].as_array().expect("variables").iter();
        let own = own.filter_map(|one| one.as_str()?.split_once('='));
        for (name, value) in own.chain(variables.iter().copied()) {
            command.args(["--setenv", name, value]);
        }
        command.arg("--").args(program);
        command
    }

    fn run(&self, program: &[&str]) -> Output {
        run_to_end(self.command(program, &[("GREETING", "a b")]))
    }
}

fn untar(archive: &Path, to: &Path) {
    fs::create_dir_all(to).expect("there is room");
    let mut tar = Command::new("tar");
    tar.arg("--no-same-owner")
        .arg("-xf")
        .arg(archive)
        .arg("-C")
        .arg(to);
    let output = run_to_end(tar);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn json(path: &Path) -> Value {
    let bytes = fs::read(path).expect("it is in the archive");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn blob(parts: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().expect("a digest");
    parts.join("blobs").join(digest.replace(':', "/"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The commands of the initializer's shell: an archive, then the data it needs as the only standard output;
/// otherwise the log, and exit code 1.
fn initializer(script: &str) -> String {
    let archive = format!("/tmp/{script}.archived.tar");
    format!(
        r#"mkdir -p $(dirname {archive}) && k6 archive /test/{script} -e GREETING="${{GREETING}}" -O {archive} --tag a=b 2> /tmp/k6logs \
        && k6 inspect --execution-requirements {archive} 2> /tmp/k6logs; ! cat /tmp/k6logs | grep 'level=error'"#
    )
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_initializer_reads_the_script() {
    let Some(image) = Image::unpacked("e2e_image") else {
        return;
    };
    let output = image.run(&["sh", "-c", &initializer("test.js")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wants: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(wants["maxVUs"], 4);
    let output = image.run(&["sh", "-c", &initializer("broken.js")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains("broken.js"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_runner_waits_for_the_starter_and_does_its_share() {
    let Some(image) = Image::unpacked("e2e_image") else {
        return;
    };
    let port = free_port();
    let address = format!("--address=0.0.0.0:{port}");
    let runner = [
        "k6",
        "run",
        "--quiet",
        "--execution-segment=1/4:2/4",
        "--execution-segment-sequence=0,1/4,2/4,3/4,1",
        "/test/test.js",
        &address,
        "--paused",
        "--tag",
        "instance_id=2",
        "--tag",
        "testrun_name=t",
    ];
    let variables = [
        ("LOADLINE_CONTROL_TOKEN", "off"),
        ("GREETING", "a b"),
        ("K6_OUT", ""),
    ];
    let runner = Running::start(image.command(&runner, &variables));
    // The kubelet's probes use the pod's address, the starter uses the service's.
    let api = RestApi::behind(format!("127.0.0.1:{port}"), "10.43.0.7:6565");
    assert_eq!(api.first("GET", "/v1/status").status, 200);
    api.wait_for("status", 4);
    let started = api.ask("PATCH", "/v1/status", START);
    assert_eq!(started.status, 200, "{}", started.body);
    let output = runner.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "10 a b");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn each_program_starts_as_nobody() {
    let Some(image) = Image::unpacked("e2e_image") else {
        return;
    };
    let config = &image.config["config"];
    assert_eq!(config["Entrypoint"], serde_json::json!(["loadline"]));
    assert_eq!(config["User"], "65532:65532");
    for program in [
        &["loadline", "--version"][..],
        &["loadline-operator", "--version"],
        &["k6", "version"],
        &["bombardier", "--version"],
        &["jmeter", "--version"],
        &["hey", "-n", "1", "-c", "1", "http://127.0.0.1:9/"],
        &["tar", "--help"],
        &["cp", "-R", "/test/.", "/tmp"],
        &[
            "grep",
            "-q",
            "BEGIN CERTIFICATE",
            "/etc/ssl/certs/ca-certificates.crt",
        ],
    ] {
        let output = image.run(program);
        let code = output.status.code();
        assert_eq!(
            code,
            Some(0),
            "{program:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
}
