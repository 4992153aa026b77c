//! Detects facts about the service: the listener on its port, the content of its testbed file.
//!
//! Must not know suites. Invariant: a target counts as remote unless it is certainly on this machine; only a
//! query for a name's addresses is sent.

use std::collections::BTreeSet;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use loadline_model::url::parse;
use loadline_observe::{SystemClock, listeners};
use loadline_suite::init::{InitLoad, ServiceSeen, TestbedSeen};
use loadline_suite::plan::Front;
use loadline_target::testbed;

use crate::{Ending, Files};

/// Timeout of a name lookup; a name that takes longer is not this machine's.
const LOOKUP_MAX: Duration = Duration::from_secs(2);

/// The process that listens at the target; a testbed names it itself. Without a target the URLs of a script or
/// a command line are used, if all have the same port on this machine. `folder` is the base of a script's name.
pub(super) fn service(target: Option<&str>, load: &InitLoad, folder: &Path) -> ServiceSeen {
    let ports = match (target, load) {
        (_, InitLoad::Testbed(_)) => None,
        (Some(target), _) => ports_here([target.to_owned()].into()),
        (None, InitLoad::As(front)) => ports_here(urls_of(front, folder)),
        (None, InitLoad::Requests) => None,
    };
    let mut ports = ports.unwrap_or_default().into_iter();
    let (Some(port), None) = (ports.next(), ports.next()) else {
        return ServiceSeen::Elsewhere;
    };
    let found = listeners(Path::new("/proc"), port, &SystemClock::start());
    ServiceSeen::Here {
        port,
        processes: found.into_iter().map(|of| (of.name, of.pid)).collect(),
    }
}

/// The ports of URLs; `None`: one of them is not on this machine.
fn ports_here(urls: BTreeSet<String>) -> Option<BTreeSet<u16>> {
    let origins = urls.into_iter().map(|url| Some(parse(&url).ok()?.origin));
    let origins: Vec<_> = origins.collect::<Option<_>>()?;
    let hosts: BTreeSet<&str> = origins.iter().map(|origin| origin.host.as_str()).collect();
    let are_here = hosts.into_iter().all(is_here);
    are_here.then(|| origins.iter().map(|origin| origin.port).collect())
}

/// Whether all addresses of a host belong to this machine.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let addresses = match host.parse() {
        Ok(address) => vec![address],
        Err(_) => addresses_of(host),
    };
    !addresses.is_empty() && addresses.into_iter().all(is_of_this_machine)
}

fn addresses_of(name: &str) -> Vec<IpAddr> {
    let (tell, told) = mpsc::channel();
    let name = name.to_owned();
    let thread = std::thread::Builder::new().name("lookup".to_owned());
    let looks = thread.spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        // Nobody listens any more if it took too long.
        let _ = tell.send(found.map(|found| found.map(|of| of.ip()).collect()));
    });
    // Without a thread the host counts as one that is not known.
    if looks.is_err() {
        return Vec::new();
    }
    let found = told.recv_timeout(LOOKUP_MAX).ok();
    found.and_then(Result::ok).unwrap_or_default()
}

/// Only an address of one of this machine's interfaces can be bound.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok() && !address.is_unspecified()
}

/// The URLs that a script or a command line names; modules imported by a script are not targets.
fn urls_of(front: &Front, folder: &Path) -> BTreeSet<String> {
    let text = match front {
        Front::Script { file, .. } => std::fs::read_to_string(folder.join(file)).ok(),
        _ => None,
    };
    let text = text.unwrap_or_default();
    let is_import = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("import ") || line.contains(" from ") || line.contains("require(")
    };
    let lines = text.lines().filter(|line| !is_import(line));
    let words = front.arguments().iter().map(String::as_str);
    lines.chain(words).flat_map(urls_in).collect()
}

/// The URLs in a line, without their paths.
fn urls_in(line: &str) -> Vec<String> {
    let schemes = ["http://", "https://"];
    let found = schemes.iter().flat_map(|scheme| {
        let places = line.match_indices(scheme);
        places.map(move |(at, _)| {
            let rest = &line[at + scheme.len()..];
            let is_over = |c: char| !(c.is_ascii_alphanumeric() || "-._~:@[]{}$%".contains(c));
            let end = rest.find(is_over).unwrap_or(rest.len());
            format!("{scheme}{}", &rest[..end])
        })
    });
    found.collect()
}

/// A testbed as a load, and its entry point as the target.
///
/// # Errors
/// The file cannot be read, is not a testbed file, or has no fixed port to which requests could be sent.
pub(super) fn testbed(file: &str) -> Result<(InitLoad, Option<String>), Ending> {
    let text = Files::Disk.read_text(file);
    let text = text.map_err(|error| Ending::usage(&error.to_string()))?;
    let outline = testbed::outline(Path::new(file), &text);
    let outline = outline.map_err(|error| Ending::usage(&error.to_string()))?;
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut entrances = outline.parts.iter().filter(|part| part.is_entrance);
    let Some(port) = entrances.find_map(|part| part.port) else {
        return Err(Ending::usage(&format!(
            "{file}: no entry component (one that no other sends to) has a port; add one, as in port: 18080"
        )));
    };
    let replicated = outline.parts.iter().filter(|part| part.has_replicas);
    let components: Vec<String> = replicated.map(|part| part.name.clone()).collect();
    let seen = TestbedSeen {
        file: file.to_owned(),
        control: outline.control.map(url),
        scaled: components.first().cloned(),
        components,
    };
    Ok((InitLoad::Testbed(seen), Some(format!("{}/", url(port)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_interfaces_are_here_and_no_others() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("localhost", true),
            ("::1", true),
            ("192.0.2.1", false),
            ("0.0.0.0", false),
            ("localhost.invalid", false),
        ] {
            assert_eq!(is_here(host), expected, "{host}");
        }
        // If there is an outbound route, its source address belongs to this machine.
        let own = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
            socket.connect("192.0.2.1:9")?;
            socket.local_addr()
        });
        if let Ok(own) = own {
            assert!(is_here(&own.ip().to_string()), "{own}");
        }
    }

    #[test]
    fn a_script_whose_urls_are_all_of_one_port_here_names_its_service() {
        let folder = tempfile::tempdir().expect("a folder");
        let seen = |text: &str, args: &[&str]| {
            std::fs::write(folder.path().join("a.js"), text).expect("there is room");
            let front = Front::Script {
                file: "a.js".to_owned(),
                args: args.iter().map(|word| (*word).to_owned()).collect(),
            };
            match service(None, &InitLoad::As(front), folder.path()) {
                ServiceSeen::Here { port, .. } => Some(port),
                ServiceSeen::Elsewhere => None,
            }
        };
        let import = "import { a } from 'https://jslib.k6.io/a/1.0/index.js';\n";
        let get =
            "http.get('http://localhost:7007/a?b=c'); http.get(`http://127.0.0.1:7007/${x}`);";
        assert_eq!(seen(&format!("{import}{get}"), &[]), Some(7007));
        assert_eq!(seen(get, &["-e", "BASE=http://127.0.0.1:7008"]), None);
        assert_eq!(seen("http.get('http://192.0.2.1/')", &[]), None);
        assert_eq!(seen("http.get(`http://${HOST}/`)", &[]), None);
        assert_eq!(seen("http.get(BASE)", &[]), None);
    }

    #[test]
    fn every_kit_has_an_entrance() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for (kit, port, component) in [
            ("async-ingest", 18301, Some("producer")),
            ("httpbin-remote-write", 18101, Some("httpbin")),
            ("in-and-out", 18402, Some("server")),
            ("replicas", 18501, Some("predict")),
            ("soap-gateway", 18201, Some("calculator")),
        ] {
            let file = examples.join(kit).join("testbed.yaml");
            let (load, target) = testbed(&file.display().to_string()).expect(kit);
            assert_eq!(target, Some(format!("http://127.0.0.1:{port}/")), "{kit}");
            let InitLoad::Testbed(seen) = load else {
                panic!("{kit} is a testbed");
            };
            assert_eq!(seen.scaled.as_deref(), component, "{kit}");
            assert!(seen.control.is_some(), "{kit}");
        }
    }
}
