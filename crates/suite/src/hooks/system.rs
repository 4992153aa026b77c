//! The real world of hooks: processes, sockets, files, clusters.
//!
//! Must not know the order of hooks. Invariant: every wait has its time limit, and stored output is limited.

use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use loadline_http::{Answer, proxy_of, told, trusting_config};
use loadline_model::duration;
use loadline_model::secret::redacted_text;
use loadline_observe::FileFollower;
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

use super::cluster::Clusters;
use super::perform::ASKED_TO_STOP;
use super::processor;
use super::spec::{Cluster, ClusterOrder, CpuOf, ExecCall, HttpCall, TestbedAction, TestbedOrder};
use super::world::{HttpAnswer, NewLines, Record, Undo, World};
use crate::file::KubernetesTarget;

/// Maximum bytes of a command's output or of a response that are kept.
const KEPT_MAX: u64 = 1 << 20;
/// Wait between two looks at a process.
const LOOK: Duration = Duration::from_millis(10);
/// Time for a connection that is only tried.
const CONNECT: Duration = Duration::from_secs(1);
/// Redirects that a request follows, unless it expects one.
const REDIRECTS_MAX: u32 = 10;
/// Time limit of commands to a testbed, which responds when they are done.
const TESTBED: Duration = Duration::from_secs(90);
/// Time that output may take to arrive after its process ended.
const OUTPUT_LATE: Duration = Duration::from_secs(2);

/// Time, and waiting for it.
pub trait Clock {
    /// Since some fixed instant.
    fn now(&self) -> Duration;
    /// Waits; a wish to stop that comes meanwhile ends it.
    fn pause(&self, span: Duration);
    /// Whether it was asked to stop.
    fn should_stop(&self) -> bool;
}

/// The system.
pub struct System {
    clock: Box<dyn Clock>,
    agent: Agent,
    /// The suite file's folder: commands run there, files are named from there.
    folder: PathBuf,
    clusters: Clusters,
}

impl System {
    /// The system, with paths relative to a folder.
    #[must_use]
    pub fn new(clock: Box<dyn Clock>, folder: PathBuf) -> System {
        System {
            clock,
            agent: trusting_config().build().new_agent(),
            folder,
            clusters: Clusters::default(),
        }
    }

    /// The same with the clusters of a kubeconfig file instead of those from the environment.
    #[must_use]
    pub fn with_kubeconfig(self, file: PathBuf) -> System {
        System {
            clusters: Clusters::of_file(file),
            ..self
        }
    }

    /// Waits for a process; ends its whole group when its time is over, or on a wish to stop that comes meanwhile.
    fn wait(&self, child: &mut Child, timeout: Duration) -> Result<ExitStatus, String> {
        let start = self.clock.now();
        let was_stopping = self.clock.should_stop();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) => return Err(error.to_string()),
            }
            let late = self.clock.now().saturating_sub(start) >= timeout;
            let stops = !was_stopping && self.clock.should_stop();
            if late || stops {
                end_group(child);
                return Err(if late {
                    format!("took longer than {}", duration::text(timeout))
                } else {
                    ASKED_TO_STOP.to_owned()
                });
            }
            self.clock.pause(LOOK);
        }
    }

    /// What a reader gathered; a descendant that keeps the output open is not waited for.
    fn gathered(&self, reader: JoinHandle<Vec<u8>>) -> String {
        let start = self.clock.now();
        while !reader.is_finished() && self.clock.now().saturating_sub(start) < OUTPUT_LATE {
            self.clock.pause(LOOK);
        }
        if !reader.is_finished() {
            return String::new();
        }
        let bytes = reader.join().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn testbed(&mut self, method: &str, url: &str) -> Result<HttpAnswer, String> {
        let call = HttpCall {
            method: method.to_owned(),
            url: url.to_owned(),
            ..HttpCall::default()
        };
        let answer = self.http(&call, TESTBED)?;
        if call.accepts(answer.status) {
            return Ok(answer);
        }
        let why: String = answer.body.chars().take(200).collect();
        Err(format!(
            "{url} answered with {}: {}",
            answer.status,
            why.trim()
        ))
    }

    /// The replicas that a component is meant to have.
    fn testbed_replicas(&mut self, control: &str, component: &str) -> Result<u32, String> {
        let answer = self.testbed("GET", &format!("{control}/components"))?;
        let told: Value = serde_json::from_str(&answer.body).map_err(|error| error.to_string())?;
        let components = told["components"].as_array().cloned().unwrap_or_default();
        let found = components.iter().find(|known| known["name"] == component);
        let wanted = found.and_then(|found| found["wanted"].as_u64());
        wanted
            .and_then(|wanted| u32::try_from(wanted).ok())
            .ok_or_else(|| format!("{control} has no component {component:?}"))
    }
}

fn end_group(child: &mut Child) {
    let pid = libc::pid_t::try_from(child.id()).unwrap_or_default();
    if pid > 1 {
        // SAFETY: kill takes numbers alone; the group is the child's own, made when it was started, and the child was
        // not waited for, so that its number is still its own.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
    // It was killed: this does not block for long, and the result is known.
    let _ = child.wait();
}

fn read_all(mut from: impl Read + Send + 'static) -> io::Result<JoinHandle<Vec<u8>>> {
    let thread = std::thread::Builder::new().name("hook-output".to_owned());
    thread.spawn(move || {
        let mut kept = Vec::new();
        // Unreadable output counts as missing; the exit code says whether it matters.
        let _ = from.by_ref().take(KEPT_MAX).read_to_end(&mut kept);
        let _ = io::copy(&mut from, &mut io::sink());
        kept
    })
}

/// The lines of a file that is followed.
struct Followed(FileFollower);

impl NewLines for Followed {
    fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), String> {
        // Where lines may be lost, the wait goes on: the next one may be the one.
        self.0.read(line).map(drop)
    }
}

impl World for System {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn pause(&mut self, span: Duration) {
        self.clock.pause(span);
    }

    fn should_stop(&self) -> bool {
        self.clock.should_stop()
    }

    fn exec(&mut self, call: &ExecCall, timeout: Duration) -> Result<String, String> {
        let (program, arguments) = call.words.split_first().ok_or("there is no command")?;
        let folder = call
            .cwd
            .as_ref()
            .map_or_else(|| self.folder.clone(), |cwd| self.folder.join(cwd));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(&call.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if !folder.as_os_str().is_empty() {
            command.current_dir(&folder);
        }
        let mut child = command
            .spawn()
            .map_err(|error| format!("{program} could not be started: {error}"))?;
        let readers = child.stdout.take().map(read_all).transpose();
        let readers =
            readers.and_then(|out| Ok((out, child.stderr.take().map(read_all).transpose()?)));
        let (out, err) = readers.map_err(|error| {
            end_group(&mut child);
            format!("{program}: no thread reads its output: {error}; raise the limits of processes, such as ulimit -u")
        })?;
        let status = self.wait(&mut child, timeout)?;
        let out = out.map(|reader| self.gathered(reader)).unwrap_or_default();
        if status.success() {
            return Ok(out);
        }
        let err = err.map(|reader| self.gathered(reader)).unwrap_or_default();
        let said = err
            .lines()
            .chain(out.lines())
            .rfind(|line| !line.trim().is_empty());
        let said = said.map_or(String::new(), |line| format!(": {}", line.trim()));
        Err(format!("ended with {status}{said}"))
    }

    fn http(&mut self, call: &HttpCall, timeout: Duration) -> Result<HttpAnswer, String> {
        let fail = |why: &str| format!("{}: {why}", redacted_text(&call.url));
        let mut request = Request::builder()
            .method(call.method.as_str())
            .uri(&call.url);
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(call.body.clone())
            .map_err(|error| fail(&told(&error.into())))?;
        // An expected redirect is not followed.
        let redirects = match call.expect {
            Some(300..400) => 0,
            _ => REDIRECTS_MAX,
        };
        let request = self
            .agent
            .configure_request(request)
            .proxy(proxy_of(&call.url))
            .timeout_global(Some(timeout))
            .max_redirects(redirects)
            .allow_non_standard_methods(true)
            .build();
        let answer = self.agent.run(request);
        let answer = answer.map_err(|error| fail(&told(&error)))?;
        let answer = Answer::read_start(answer, KEPT_MAX).map_err(|why| fail(&why))?;
        Ok(HttpAnswer {
            status: answer.status,
            body: String::from_utf8_lossy(&answer.body).into_owned(),
        })
    }

    fn change_cluster(
        &mut self,
        cluster: &Cluster,
        order: &ClusterOrder,
        record: Record,
    ) -> Result<(), String> {
        self.clusters.change(cluster, order, &self.folder, record)
    }

    fn change_testbed(&mut self, action: &TestbedAction, record: Record) -> Result<(), String> {
        let control = action.control.trim_end_matches('/');
        let at = format!("{control}/components/{}", action.component);
        let undo = |replicas| Undo::Testbed {
            control: control.to_owned(),
            component: action.component.clone(),
            replicas,
        };
        let url = match &action.order {
            TestbedOrder::Scale(replicas) => {
                record(undo(Some(
                    self.testbed_replicas(control, &action.component)?,
                )))?;
                format!("{at}/scale?replicas={replicas}")
            }
            TestbedOrder::Restart => format!("{at}/restart"),
            TestbedOrder::Cold => format!("{at}/cold"),
            TestbedOrder::Degrade(settings) => {
                record(undo(None))?;
                let settings = settings
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"));
                let settings: Vec<String> = settings.collect();
                format!("{at}/degrade?{}", settings.join("&"))
            }
        };
        self.testbed("POST", &url).map(drop)
    }

    fn undo(&mut self, undo: &Undo) -> Result<(), String> {
        match undo {
            Undo::Kubernetes { context, undo, .. } => self.clusters.undo(context, undo),
            Undo::Testbed {
                control,
                component,
                replicas,
            } => {
                let order = match replicas {
                    Some(replicas) => format!("scale?replicas={replicas}"),
                    None => "recover".to_owned(),
                };
                let url = format!("{control}/components/{component}/{order}");
                self.testbed("POST", &url).map(drop)
            }
        }
    }

    fn find_target(&mut self, target: &KubernetesTarget) -> Result<String, String> {
        self.clusters.find_target(target)
    }

    fn target_troubles(&mut self) -> Vec<String> {
        self.clusters.forward_troubles()
    }

    fn is_rolled_out(&mut self, cluster: &Cluster, workload: &str) -> Result<bool, String> {
        self.clusters.is_rolled_out(cluster, workload)
    }

    fn has_replicas(
        &mut self,
        cluster: &Cluster,
        workload: &str,
        count: u32,
    ) -> Result<bool, String> {
        self.clusters.has_replicas(cluster, workload, count)
    }

    fn takes_connections(&mut self, address: &str) -> bool {
        let addresses = address.to_socket_addrs();
        addresses
            .is_ok_and(|mut all| all.any(|one| TcpStream::connect_timeout(&one, CONNECT).is_ok()))
    }

    fn new_lines(&mut self, path: &str) -> Box<dyn NewLines> {
        let mut follower = FileFollower::new(&self.folder.join(path), false);
        // This finds the file's end; one that is not there yet counts from its start.
        let _ = follower.read(&mut |_| ());
        Box::new(Followed(follower))
    }

    fn cpu_seconds(&mut self, of: &CpuOf) -> Result<f64, String> {
        processor::cpu_seconds(of)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Time that stands still.
    struct Still;

    impl Clock for Still {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn pause(&self, _: Duration) {}

        fn should_stop(&self) -> bool {
            false
        }
    }

    #[test]
    fn lines_that_are_no_text_do_not_bring_back_earlier_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("app.log");
        let append = |bytes: &[u8]| {
            let mut options = std::fs::OpenOptions::new();
            let file = options.append(true).create(true).open(&path);
            file.and_then(|mut file| file.write_all(bytes))
                .expect("it can be written");
        };
        append(b"service started\n");
        let mut system = System::new(Box::new(Still), folder.path().to_owned());
        let mut lines = system.new_lines("app.log");
        let mut read = || {
            let mut all = Vec::new();
            let done = lines.read(&mut |line| all.push(line.to_owned()));
            done.expect("it is there");
            all
        };
        assert!(read().is_empty());
        append(b"caf\xe9 \xe9\xe9\n");
        assert_eq!(read(), ["caf\u{fffd} \u{fffd}\u{fffd}"]);
        assert!(read().is_empty());
        append(b"half");
        assert!(read().is_empty());
        append(b" a line\n");
        assert_eq!(read(), ["half a line"]);
        let mut none = system.new_lines("none.log");
        let told = none.read(&mut |_| ()).expect_err("it is not there");
        assert!(told.contains("none.log"), "{told}");
    }

    #[test]
    fn no_password_of_an_address_is_told() {
        let mut system = System::new(Box::new(Still), PathBuf::new());
        // Nothing listens on port 1, and no address contains a space.
        for url in [
            "http://u:hush@127.0.0.1:1/",
            "http://u:hush hush@127.0.0.1/",
        ] {
            let call = HttpCall {
                method: "GET".to_owned(),
                url: url.to_owned(),
                ..HttpCall::default()
            };
            let told = system.http(&call, Duration::from_secs(5)).unwrap_err();
            assert!(
                told.contains("127.0.0.1") && !told.contains("hush"),
                "{told}"
            );
        }
    }
}
