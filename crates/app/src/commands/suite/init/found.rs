//! What is found of the service: who listens on its port, what its testbed file says.
//!
//! Must not know suites. Invariant: only loopback addresses are this machine; nothing is sent.

use std::path::Path;

use loadline_observe::{SystemClock, listeners};
use loadline_suite::init::{InitLoad, ServiceSeen, TestbedSeen};
use loadline_target::testbed;

use crate::{Ending, Files};

/// Who listens where the target is; a testbed says that itself.
pub(super) fn service(target: Option<&str>, load: &InitLoad) -> ServiceSeen {
    let parsed = target.and_then(|target| loadline_model::url::parse(target).ok());
    match parsed {
        Some(url) if is_here(&url.origin.host) && !matches!(load, InitLoad::Testbed(_)) => {
            let port = url.origin.port;
            let found = listeners(Path::new("/proc"), port, &SystemClock::start());
            ServiceSeen::Here {
                port,
                processes: found.into_iter().map(|of| (of.name, of.pid)).collect(),
            }
        }
        _ => ServiceSeen::Elsewhere,
    }
}

fn is_here(host: &str) -> bool {
    let address: Result<std::net::IpAddr, _> = host.parse();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// A testbed as a load, and its entrance as the target.
///
/// # Errors
/// The file cannot be read, is no testbed file, or fixes no port that could be asked.
pub(super) fn testbed(file: &str) -> Result<(InitLoad, Option<String>), Ending> {
    let text = Files::Disk.read_text(file);
    let text = text.map_err(|error| Ending::usage(&error.to_string()))?;
    let outline = testbed::outline(Path::new(file), &text);
    let outline = outline.map_err(|error| Ending::usage(&error.to_string()))?;
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let mut entrances = outline.parts.iter().filter(|part| part.is_entrance);
    let Some(port) = entrances.find_map(|part| part.port) else {
        return Err(Ending::usage(&format!(
            "{file}: no component that others do not send to has a port; write one, as in port: 18080"
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
    fn only_loopback_is_here() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("localhost", true),
            ("::1", true),
            ("10.0.0.1", false),
            ("localhost.example", false),
        ] {
            assert_eq!(is_here(host), expected, "{host}");
        }
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
