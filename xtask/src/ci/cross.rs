//! Type-checks the product for platforms on which the tests do not run.
//!
//! Must not know what differs between platforms. Invariant: a platform that was not checked, or only in part,
//! is reported with its reason.

use std::path::PathBuf;
use std::process::Command;

use super::Outcome;
use crate::layers::{self, Level};
use crate::workspace::root;
use crate::{Result, exec};

struct Platform {
    triple: &'static str,
    /// The cryptography under TLS is written in C: without this compiler only the pure crates are checked.
    c_compiler: &'static str,
}

const PLATFORMS: &[Platform] = &[
    Platform {
        triple: "x86_64-pc-windows-gnu",
        c_compiler: "x86_64-w64-mingw32-gcc",
    },
    Platform {
        triple: "x86_64-apple-darwin",
        c_compiler: "o64-clang",
    },
];

pub(super) fn step() -> Result<Outcome> {
    let libraries = installed_libraries()?;
    let mut notes = Vec::new();
    for platform in PLATFORMS {
        if !libraries.join(platform.triple).join("lib").is_dir() {
            notes.push(format!(
                "{0}: `rustup target add {0}` is required",
                platform.triple
            ));
            continue;
        }
        let with_c = exec::find(platform.c_compiler).is_some();
        if !with_c {
            notes.push(format!(
                "{}: no {}, pure crates only",
                platform.triple, platform.c_compiler
            ));
        }
        check(platform.triple, with_c)?;
    }
    for note in &notes {
        println!("NOTE: {note}");
    }
    Ok(if notes.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(notes.join("; "))
    })
}

fn installed_libraries() -> Result<PathBuf> {
    let sysroot = exec::capture(
        Command::new("rustc")
            .current_dir(root())
            .args(["--print", "sysroot"]),
    )?;
    Ok(PathBuf::from(sysroot.trim()).join("lib/rustlib"))
}

fn check(triple: &str, with_c: bool) -> Result<()> {
    let mut command = exec::cargo(root(), &["check", "--target", triple]);
    for layer in layers::LAYERS {
        if layer.level == Level::Pure || (with_c && layer.level == Level::DataPlane) {
            command.args(["-p", layer.package]);
        }
    }
    exec::run(&mut command)
}
