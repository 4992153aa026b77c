//! The parts of a testbed file that are needed for measuring it.
//!
//! It must not know how a testbed is started. Invariant: ports are only included if the file fixes them.

use std::path::Path;

use super::{TestbedFileError, file};

/// A testbed as its users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The control port; `None`: a free one.
    pub control: Option<u16>,
    /// The components by name.
    pub parts: Vec<OutlinedPart>,
}

/// A component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlinedPart {
    /// Its name.
    pub name: String,
    /// The port of its first replica; `None`: a free one.
    pub port: Option<u16>,
    /// Whether no other component sends to it.
    pub is_entrance: bool,
    /// Whether it may have several replicas.
    pub has_replicas: bool,
}

/// Parses a testbed file; `path` is for messages and for finding routes files.
///
/// # Errors
/// The first mistake.
pub fn outline(path: &Path, text: &str) -> Result<Outline, TestbedFileError> {
    let plan = file::parse(path, text)?;
    let fixed = |port: u16| Some(port).filter(|port| *port != 0);
    let is_sent_to = |name: &str| {
        let mut others = plan.components.iter();
        others.any(|other| other.kind.sends_to().contains(&name))
    };
    let parts = plan.components.iter().map(|component| OutlinedPart {
        name: component.name.clone(),
        port: fixed(component.port),
        is_entrance: !is_sent_to(&component.name),
        has_replicas: component.kind.has_replicas(),
    });
    Ok(Outline {
        control: fixed(plan.control.port()),
        parts: parts.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entrances_are_what_nobody_sends_to() {
        let text = "control: 18500
components:
  predict: { service: { replicas: 2, cpu: 1ms } }
  balancer: { balancer: { to: predict, port: 18501, policy: round-robin, level: http } }
";
        let told = outline(Path::new("t.yaml"), text).expect("a testbed");
        assert_eq!(told.control, Some(18500));
        let part = |name: &str, port, is_entrance, has_replicas| OutlinedPart {
            name: name.to_owned(),
            port,
            is_entrance,
            has_replicas,
        };
        let expected = [
            part("balancer", Some(18501), true, false),
            part("predict", None, false, true),
        ];
        assert_eq!(told.parts, expected);
    }
}
