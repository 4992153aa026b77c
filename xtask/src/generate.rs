//! `cargo xtask generate`: the references under `docs/` that are made from the binary, and the files of the
//! Helm chart.
//!
//! Must not know their content: the product is the only source, through its hidden command
//! `loadline internal-docs <name>`, or by querying it. Invariant: after it has run, `--check` finds nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workspace::{self, root};
use crate::{Result, chart, exec, k6_support};

struct Reference {
    /// Its name in `loadline internal-docs`.
    name: &'static str,
    file: &'static str,
}

const REFERENCES: &[Reference] = &[
    Reference {
        name: "cli",
        file: "docs/reference/cli.md",
    },
    Reference {
        name: "exit-codes",
        file: "docs/reference/exit-codes.md",
    },
    Reference {
        name: "figures",
        file: "docs/reference/figures.md",
    },
    Reference {
        name: "result-schema",
        file: "docs/reference/result.schema.json",
    },
];

/// Writes the references, or with `--check` compares them with the files.
///
/// # Errors
/// Bad arguments, the binary failed, a file could not be written, or `--check` found a stale one.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let check = match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => false,
        ["--check"] => true,
        other => return Err(format!("generate: unknown arguments {other:?}")),
    };
    match check {
        true => chart::check_copies()?,
        false => chart::command(&[])?,
    }
    let binary = workspace::release_binary()?;
    let mut pages = vec![(k6_support::PAGE, k6_support::page(&binary)?)];
    for reference in REFERENCES {
        pages.push((reference.file, printed(&binary, reference.name)?));
    }
    let mut stale = Vec::new();
    for (file, fresh) in pages {
        let path = root().join(file);
        // A missing file is as stale as a wrong one.
        if fs::read_to_string(&path).is_ok_and(|written| written == fresh) {
            continue;
        }
        stale.push(file);
        if !check {
            write(&path, &fresh)?;
        }
    }
    match (check, stale.as_slice()) {
        (_, []) => println!("generate: all references are fresh"),
        (false, files) => println!("generate: wrote {}", files.join(", ")),
        (true, files) => {
            return Err(format!(
                "stale: {}; run `cargo xtask generate`",
                files.join(", ")
            ));
        }
    }
    Ok(())
}

fn printed(binary: &Path, name: &str) -> Result<String> {
    // The width of the caller's terminal and its colours must not affect the files.
    let mut command = Command::new(binary);
    command
        .args(["internal-docs", name])
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1");
    let text = exec::capture(&mut command)?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_end().to_owned() + "\n")
}

fn write(path: &Path, content: &str) -> Result<()> {
    let folder = path.parent().expect("every reference lies in a folder");
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}
