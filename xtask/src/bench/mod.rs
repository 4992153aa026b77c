//! `cargo xtask bench`: loadline's release binary compared with its peers, and `docs/benchmarks.md`.
//!
//! Must not know how a row is measured. Invariant: the page is only written by a full run of every row, and
//! contains its measurements, including missed bars.

mod client;
mod compare;
mod machine;
mod measure;
mod page;
mod scripts;
mod server;
mod special;

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::workspace::{self, root};
use client::Installed;
use machine::Cores;
use page::Section;
use server::Nginx;

/// How long and how often each row is run.
#[derive(Clone, Copy)]
struct Effort {
    /// Alternating runs of each client; their medians are reported.
    rounds: usize,
    seconds: u32,
    /// Requests of the shorter and the longer run that must need the same memory.
    growth: [u64; 2],
    /// The same for a script, whose requests cost more.
    script_growth: [u64; 2],
}

const FULL: Effort = Effort {
    rounds: 5,
    seconds: 5,
    growth: [1_000_000, 10_000_000],
    script_growth: [200_000, 2_000_000],
};
const QUICK: Effort = Effort {
    rounds: 3,
    seconds: 2,
    growth: [100_000, 1_000_000],
    script_growth: [50_000, 500_000],
};

/// The common environment of all rows.
struct Bench {
    effort: Effort,
    cores: Cores,
    installed: Vec<Installed>,
    nginx: Nginx,
    /// loadline's release build.
    loadline: PathBuf,
    /// The peer that runs the same scripts; `None`: it is not on this machine.
    k6: Option<Peer>,
    folder: Folder,
}

/// A program compared with loadline in separate rows.
struct Peer {
    program: PathBuf,
    version: String,
}

/// A temporary folder for configurations and results, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("loadline-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.file(name);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If removing it fails, it stays in the temporary folder, which the system cleans up.
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Row {
    name: &'static str,
    what: &'static str,
    run: fn(&Bench) -> Result<Section>,
    /// Only run when requested by name.
    on_request: bool,
}

/// All rows: the comparisons first, then those that are measured differently.
const ROWS: &[Row] = &[
    Row::usual(
        "http1",
        "HTTP/1.1 keep-alive, 2-byte answers",
        compare::http1,
    ),
    Row::usual(
        "syscalls",
        "system calls per request",
        special::system_calls,
    ),
    Row::usual("post", "11 kB POST bodies", compare::post),
    Row::usual("get1k", "1 kB responses", compare::get_1k),
    Row::usual("tls", "TLS 1.3 keep-alive", compare::tls),
    Row::usual(
        "http2",
        "HTTP/2, 50 connections of 10 streams",
        compare::http2,
    ),
    Row::usual("fixed", "fixed rate, 5,000/s", compare::fixed_rate),
    Row::usual(
        "open",
        "open model, 20,000/s: lag and CPU",
        special::open_model,
    ),
    Row::usual("memory", "peak memory", special::memory),
    Row::usual("start", "start to first request", special::start),
    Row::usual("size", "size of the binary", special::size),
    Row::usual(
        "target",
        "the embedded server beside nginx",
        special::target,
    ),
    Row::usual(
        "scripts-get",
        "k6 scripts: small GET, two checks",
        scripts::get,
    ),
    Row::usual("scripts-soap", "k6 scripts: SOAP over TLS", scripts::soap),
    Row::usual("scripts-post", "k6 scripts: 11 kB POST", scripts::post),
    Row::usual(
        "scripts-cpu",
        "k6 scripts: JavaScript without requests",
        scripts::cpu,
    ),
    Row::usual(
        "scripts-memory",
        "k6 scripts: memory of virtual users",
        scripts::memory,
    ),
    Row::usual(
        "scripts-start",
        "k6 scripts: start, 10,000 virtual users",
        scripts::start,
    ),
    Row {
        name: "build",
        what: "clean release build, minutes",
        run: special::clean_build,
        on_request: true,
    },
];

impl Row {
    const fn usual(
        name: &'static str,
        what: &'static str,
        run: fn(&Bench) -> Result<Section>,
    ) -> Self {
        Self {
            name,
            what,
            run,
            on_request: false,
        }
    }

    /// Selected by its whole name, or by the part before the hyphen, which several rows share.
    fn is_called(&self, name: &str) -> bool {
        let group = self.name.split('-').next();
        self.name == name || group == Some(name)
    }
}

struct Options {
    list: bool,
    quick: bool,
    /// Empty: all that are not on request.
    rows: Vec<String>,
}

/// Measures the chosen rows, prints them, and writes the page after a full run.
///
/// # Errors
/// Bad arguments, the release build failed, nginx is missing, or a row could not be measured. A missed bar is
/// not an error: it is in the table.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    if options.list {
        for row in ROWS {
            let note = if row.on_request {
                " (only by name)"
            } else {
                ""
            };
            println!("{:14} {}{note}", row.name, row.what);
        }
        return Ok(());
    }
    let bench = prepare(if options.quick { QUICK } else { FULL })?;
    let mut sections = Vec::new();
    for row in ROWS.iter().filter(|row| options.wants(row)) {
        println!("\n== {}: {}", row.name, row.what);
        let section = (row.run)(&bench)?;
        print!("{}", section.markdown());
        sections.push(section);
    }
    let page = page::whole(&bench, &sections);
    println!("\n{}", page::summary(&sections));
    if options.quick || !options.rows.is_empty() || given_binary().is_some() {
        println!(
            "docs/benchmarks.md is left as it is: it needs a full run of all rows, of this commit"
        );
        return Ok(());
    }
    let path = root().join("docs/benchmarks.md");
    fs::create_dir_all(root().join("docs")).map_err(|error| format!("docs: {error}"))?;
    fs::write(&path, page).map_err(|error| format!("docs/benchmarks.md: {error}"))?;
    println!("wrote docs/benchmarks.md");
    Ok(())
}

impl Options {
    fn wants(&self, row: &Row) -> bool {
        if self.rows.is_empty() {
            !row.on_request
        } else {
            self.rows.iter().any(|name| row.is_called(name))
        }
    }
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        list: false,
        quick: false,
        rows: Vec::new(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--list" => options.list = true,
            "--quick" => options.quick = true,
            "--row" => {
                let names = rest.next().ok_or("bench: --row wants names, see --list")?;
                options.rows.extend(names.split(',').map(str::to_owned));
            }
            other => return Err(format!("bench: unknown option {other:?}")),
        }
    }
    match options
        .rows
        .iter()
        .find(|name| ROWS.iter().all(|row| !row.is_called(name)))
    {
        Some(name) => Err(format!(
            "bench: no row is called {name:?}, see `cargo xtask bench --list`"
        )),
        None => Ok(options),
    }
}

/// A prebuilt release binary, named by `LOADLINE_BIN`; `None`: one is built.
fn given_binary() -> Option<PathBuf> {
    std::env::var_os("LOADLINE_BIN").map(PathBuf::from)
}

fn prepare(effort: Effort) -> Result<Bench> {
    machine::raise_file_limit()?;
    let loadline = match given_binary() {
        Some(binary) => binary,
        None => workspace::release_binary()?,
    };
    let floor = client::build_bare_epoll()?;
    let folder = Folder::new()?;
    let cores = Cores::choose();
    let nginx = Nginx::start(&folder, cores)?;
    let installed = client::installed(&loadline, &floor);
    let k6 = scripts::find_k6().map(|program| Peer {
        version: client::version(&program, "version"),
        program,
    });
    Ok(Bench {
        effort,
        cores,
        installed,
        nginx,
        loadline,
        k6,
        folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn rows_on_request_are_not_run_otherwise() {
        let all = parse(&[]).expect("no arguments are fine");
        let build = ROWS
            .iter()
            .find(|row| row.name == "build")
            .expect("it is in the table");
        assert!(!all.wants(build));
        assert!(
            parse(&words("--row build"))
                .expect("it exists")
                .wants(build)
        );
    }

    #[test]
    fn rows_of_a_group_are_run_together() {
        let scripts = parse(&words("--row scripts")).expect("it is a group");
        let count = ROWS.iter().filter(|row| scripts.wants(row)).count();
        assert!(count > 1, "{count} rows");
        let wanted = |name: &str| {
            ROWS.iter()
                .any(|row| row.name == name && scripts.wants(row))
        };
        assert!(wanted("scripts-get") && !wanted("http1"));
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["--row", "--row http9", "--slow"] {
            assert!(parse(&words(line)).is_err(), "{line} was accepted");
        }
    }
}
