//! The Debian package, made by `dpkg-deb`.
//!
//! Must not know the programs. Invariant: files are where Debian's policy requires them and belong to root.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{LICENCES, Part};
use crate::{Result, exec};

/// The package's file name and bytes; `None` without `dpkg-deb`, or if the target has no Debian port.
///
/// # Errors
/// A file cannot be written, or `dpkg-deb` failed.
pub(super) fn write(
    target: &str,
    version: &str,
    parts: &[Part],
) -> Result<Option<(String, Vec<u8>)>> {
    let Some(architecture) = architecture(target) else {
        return Ok(None);
    };
    let Some(tool) = exec::find("dpkg-deb") else {
        println!("NOTE: no Debian package: dpkg-deb is not installed");
        return Ok(None);
    };
    let name = format!("loadline_{version}_{architecture}.deb");
    let folder = std::env::temp_dir().join(format!("loadline-deb-{}", std::process::id()));
    for part in parts {
        let mode = if part.is_program { 0o755 } else { 0o644 };
        place(&folder.join(home(&part.path)), &part.bytes, mode)?;
    }
    let control = control(version, architecture, parts);
    place(&folder.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let file = folder.with_extension("deb");
    let mut pack = Command::new(tool);
    pack.args(["--build", "--root-owner-group", "-Zxz"])
        .arg(&folder)
        .arg(&file);
    // Times in the package are those of the epoch.
    exec::run(pack.env("SOURCE_DATE_EPOCH", "0"))?;
    let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(Some((name, bytes)))
}

fn architecture(target: &str) -> Option<&'static str> {
    match target {
        "x86_64-unknown-linux-gnu" => Some("amd64"),
        "aarch64-unknown-linux-gnu" => Some("arm64"),
        _ => None,
    }
}

/// The path of a part on a Debian system.
fn home(path: &str) -> String {
    match path.split_once('/') {
        Some(("man", page)) => format!("usr/share/man/man1/{page}"),
        Some(("completions", "loadline.bash")) => {
            "usr/share/bash-completion/completions/loadline".to_owned()
        }
        Some(("completions", "_loadline")) => {
            "usr/share/zsh/vendor-completions/_loadline".to_owned()
        }
        Some(("completions", file)) => format!("usr/share/fish/vendor_completions.d/{file}"),
        _ if path == "LICENSE" => "usr/share/doc/loadline/copyright".to_owned(),
        _ if path.contains('.') || path == LICENCES => format!("usr/share/doc/loadline/{path}"),
        _ => format!("usr/bin/{path}"),
    }
}

fn place(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let failed = |error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)
}

fn control(version: &str, architecture: &str, parts: &[Part]) -> String {
    let bytes: usize = parts.iter().map(|part| part.bytes.len()).sum();
    format!(
        "Package: loadline\nVersion: {version}\nArchitecture: {architecture}\nSection: net\nPriority: optional\n\
         Maintainer: The loadline authors <noreply@loadline.invalid>\nInstalled-Size: {}\nDepends: libc6 (>= 2.34), libgcc-s1\n\
         Recommends: ca-certificates\nDescription: load testing that says what limited the service\n \
         Runs k6 scripts, JMeter plans, and hey and bombardier command lines, and\n \
         tells whether the target, the network or the generator was the limit.\n",
        bytes.div_ceil(1024)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_where_debian_wants_them() {
        for (path, place) in [
            ("loadline", "usr/bin/loadline"),
            ("loadline-operator", "usr/bin/loadline-operator"),
            ("LICENSE", "usr/share/doc/loadline/copyright"),
            ("README.md", "usr/share/doc/loadline/README.md"),
            ("man/loadline.1", "usr/share/man/man1/loadline.1"),
            (
                "completions/_loadline",
                "usr/share/zsh/vendor-completions/_loadline",
            ),
        ] {
            assert_eq!(home(path), place);
        }
    }

    #[test]
    fn the_control_file_ends_its_fields() {
        let text = control("1.0.0", "amd64", &[]);
        assert!(
            text.contains("Version: 1.0.0\nArchitecture: amd64\n"),
            "{text}"
        );
        assert!(
            text.ends_with("limit.\n") && !text.contains("\n\n"),
            "{text}"
        );
    }
}
