//! `version`, under either name.
//!
//! Must not know anything else. Invariant: the first line says which program it really is.

use crate::Ending;
use crate::k6::json::Json;
use crate::k6::{FOLLOWED, Identity};

/// The line with the version, including its line end.
pub(super) fn line(identity: Identity) -> String {
    let own = env!("CARGO_PKG_VERSION");
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    match identity {
        Identity::Loadline => {
            format!("loadline {own} (k6-compatible {FOLLOWED}, {system}/{processor})\n")
        }
        Identity::K6 => format!("k6 v{FOLLOWED} (loadline {own}, {system}/{processor})\n"),
    }
}

/// The output of `version`.
pub(super) fn print(identity: Identity, as_json: bool) -> Ending {
    if !as_json {
        return Ending::answer(line(identity));
    }
    let row = |name: &str, value: &str| (name.to_owned(), Json::text(value));
    let rows = vec![
        row("arch", std::env::consts::ARCH),
        row("loadline", env!("CARGO_PKG_VERSION")),
        row("os", std::env::consts::OS),
        row("version", &format!("v{FOLLOWED}")),
    ];
    Ending::answer(format!("{}\n", Json::Object(rows).compact()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_begins_its_line() {
        assert!(line(Identity::K6).starts_with("k6 v2.2.0 (loadline "));
        assert!(line(Identity::Loadline).starts_with("loadline "));
        let told = print(Identity::K6, true).out;
        assert!(told.contains("\"version\":\"v2.2.0\""), "{told}");
    }
}
