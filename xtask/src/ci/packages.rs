//! Debian packages used by the tests, installed if they are missing.
//!
//! Must not know the tests. Invariant: each package is listed with the reason why a test needs it; peers of
//! `cargo xtask bench` are optional and never installed.

use std::process::Command;

use super::Outcome;
use crate::{Result, exec};

struct Package {
    name: &'static str,
    /// The program that shows its presence, whatever package it came from.
    program: &'static str,
    reason: &'static str,
}

const PACKAGES: &[Package] = &[
    Package {
        name: "bubblewrap",
        program: "bwrap",
        reason: "pods of the Kubernetes lab find their volumes at their paths",
    },
    Package {
        name: "busybox-static",
        program: "busybox",
        reason: "the shell of the container image",
    },
    Package {
        name: "chromium",
        program: "chromium",
        reason: "the end-to-end tests look at the HTML report and the live page in it",
    },
    Package {
        name: "g++",
        program: "g++",
        reason: "libFuzzer is C++, built with the fuzz targets",
    },
    Package {
        name: "nginx-light",
        program: "nginx",
        reason: "the end-to-end tests' foreign server",
    },
    Package {
        name: "npm",
        program: "npm",
        reason: "fetches axe-core, which the end-to-end tests hold pages against",
    },
    Package {
        name: "prometheus",
        program: "prometheus",
        reason: "the receiver of remote writes, and of the dashboards' queries",
    },
    Package {
        name: "shellcheck",
        program: "shellcheck",
        reason: "checks install.sh",
    },
];

/// Installs missing packages; those that are unavailable are named, and the tests that need them are skipped.
pub(super) fn step() -> Result<Outcome> {
    let missing: Vec<&Package> = PACKAGES
        .iter()
        .filter(|p| exec::find(p.program).is_none())
        .collect();
    for package in &missing {
        println!("missing: {} ({})", package.name, package.reason);
    }
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if !may_install() {
        let why = format!(
            "not root, or no apt-get: install {} by hand",
            names.join(" ")
        );
        println!("NOTE: {why}; the tests that use them will skip");
        return Ok(Outcome::Skipped(why));
    }
    exec::run(apt().arg("update"))?;
    exec::run(
        apt()
            .args(["install", "-y", "--no-install-recommends"])
            .args(&names),
    )?;
    Ok(Outcome::Passed)
}

fn may_install() -> bool {
    is_root() && exec::find("apt-get").is_some()
}

/// Whether everything on this machine may be changed.
pub(super) fn is_root() -> bool {
    // SAFETY: geteuid takes nothing, touches no memory and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
