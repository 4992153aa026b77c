//! `cargo xtask ci`: the ordered list of steps, running them, and the table at the end.
//!
//! Must not know how a step does its work. Invariant: every step of the run has a row in the table, and if all
//! passed, the last line has the sum of the tests.
//!
//! Nothing is compiled twice: every step that compiles for the host uses the same profile settings, the same
//! package selection (`--workspace`), the same compiler (clippy's, which finds its lints at the same time) and
//! no RUSTFLAGS, so that cargo's features and fingerprints are the same in all steps. The end-to-end tests are
//! compiled with all other tests, marked `#[ignore]`, and run later against the release binary.

mod ahead;
mod counts;
mod cross;
mod fuzz;
mod kube;
mod packages;
mod skips;
mod suites;
mod written;

use std::process::Command;
use std::time::Duration;

use crate::ci::counts::{Counts, Tally, Told};
use crate::ci::skips::SkipLog;
use crate::stopwatch::Stopwatch;
use crate::workspace::{self, root};
use crate::{Result, exec, generate, image, policy, tidy};

/// The outcome of a step that did not fail.
enum Outcome {
    Passed,
    /// Passed; these tests were run.
    Tested(Counts),
    /// Passed; these tests were run, and the named ones only passed when they ran alone.
    TestedTwice(Counts, String),
    /// Not done, or only in part, with the reason.
    Skipped(String),
}

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Outcome>,
}

/// Fast ones first; later ones may use what earlier ones built. The release build runs beside the steps from `clippy`
/// on: each of the two builds has parts that only keep one CPU busy. Those that compile come before `test`, so that it
/// is nearly done when the first tests run; from `image` on, the steps have the machine for themselves.
const STEPS: &[Step] = &[
    Step {
        name: "packages",
        what: "Debian packages that the tests need",
        run: packages::step,
    },
    Step {
        name: "lab",
        what: "the programs of the Kubernetes lab",
        run: kube::build,
    },
    Step {
        name: "fmt",
        what: "formatting",
        run: || cargo(&["fmt", "--all", "--", "--check"]),
    },
    Step {
        name: "tidy",
        what: "house rules and layers",
        run: || passed(tidy::command()),
    },
    Step {
        name: "scripts",
        what: "workflows and install.sh",
        run: written::scripts,
    },
    Step {
        name: "book",
        what: "the documentation as a book",
        run: written::book,
    },
    Step {
        name: "policy",
        what: "licences, bans, sources",
        run: || passed(policy::command()),
    },
    Step {
        name: "clippy",
        what: "all code and all tests compile, lints denied",
        run: clippy,
    },
    Step {
        name: "doc",
        what: "documentation without warnings",
        run: doc,
    },
    Step {
        name: "fuzz",
        what: "fuzz targets build and survive a short run",
        run: fuzz::step,
    },
    Step {
        name: "test",
        what: "unit, property and integration tests",
        run: test,
    },
    Step {
        name: "release",
        what: "the release binaries",
        run: release,
    },
    Step {
        name: "image",
        what: "the container image, and its size",
        run: container_image,
    },
    Step {
        name: "generate",
        what: "generated references are fresh",
        run: generated,
    },
    Step {
        name: "e2e",
        what: "end-to-end tests of the release binary",
        run: end_to_end,
    },
    Step {
        name: "kube",
        what: "tests against a real Kubernetes API server",
        run: kube::step,
    },
    Step {
        name: "node",
        what: "tests on a real node: kubelet, containerd, cgroups",
        run: kube::node,
    },
    Step {
        name: "cross",
        what: "Windows and macOS type-check",
        run: cross::step,
    },
];

struct Options {
    list: bool,
    keep_going: bool,
    /// Empty: all steps.
    only: Vec<String>,
}

struct Row {
    name: &'static str,
    took: Duration,
    result: Result<Outcome>,
}

/// Runs the steps that `arguments` select.
///
/// # Errors
/// Bad arguments, or a step failed; its name is in the message.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    if options.list {
        for step in STEPS {
            println!("{:10} {}", step.name, step.what);
        }
        return Ok(());
    }
    let rows = run_steps(&options);
    print_table(&rows);
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| row.result.is_err())
        .map(|r| r.name)
        .collect();
    if !failed.is_empty() {
        return Err(format!("ci: failed: {}", failed.join(", ")));
    }
    print_sum(&rows);
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        list: false,
        keep_going: false,
        only: Vec::new(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--list" => options.list = true,
            "--keep-going" => options.keep_going = true,
            "--only" => {
                let names = rest
                    .next()
                    .ok_or("ci: --only wants step names, see --list")?;
                options.only.extend(names.split(',').map(str::to_owned));
            }
            other => return Err(format!("ci: unknown option {other:?}")),
        }
    }
    let unknown = options
        .only
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != *name));
    match unknown {
        Some(name) => Err(format!(
            "ci: no step is called {name:?}, see `cargo xtask ci --list`"
        )),
        None => Ok(options),
    }
}

fn run_steps(options: &Options) -> Vec<Row> {
    let chosen =
        |step: &&Step| options.only.is_empty() || options.only.iter().any(|n| n == step.name);
    let steps: Vec<&Step> = STEPS.iter().filter(chosen).collect();
    let builds_release = steps.iter().any(|step| step.name == "release");
    let mut rows = Vec::new();
    // Stops with this function, whether its result was used or not.
    let mut _release = None;
    for step in steps {
        println!("\n== {}: {}", step.name, step.what);
        if step.name == "clippy" && builds_release {
            _release = ahead::ReleaseBuild::begin();
        }
        let watch = Stopwatch::start();
        let result = (step.run)();
        if let Err(message) = &result {
            eprintln!("{message}");
        }
        let stop = result.is_err() && !options.keep_going;
        rows.push(Row {
            name: step.name,
            took: watch.elapsed(),
            result,
        });
        if stop {
            break;
        }
    }
    rows
}

fn print_table(rows: &[Row]) {
    println!("\n{:10} {:>8}  result", "step", "seconds");
    for row in rows {
        let result = match &row.result {
            Ok(Outcome::Passed) => "ok".to_owned(),
            Ok(Outcome::Tested(counts)) => format!("ok: {counts}"),
            Ok(Outcome::TestedTwice(counts, tests)) => {
                format!("ok: {counts}; FAILED AT FIRST, passed alone: {tests}")
            }
            Ok(Outcome::Skipped(why)) => format!("SKIPPED: {why}"),
            Err(message) => format!("FAILED: {}", message.lines().next().unwrap_or_default()),
        };
        println!("{:10} {:>8.1}  {result}", row.name, row.took.as_secs_f64());
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    println!("{:10} {:>8.1}", "total", total.as_secs_f64());
}

/// The line for tools that call CI; absent if no step ran tests.
fn print_sum(rows: &[Row]) {
    let tested = rows.iter().filter_map(|row| match &row.result {
        Ok(Outcome::Tested(counts) | Outcome::TestedTwice(counts, _)) => Some(*counts),
        _ => None,
    });
    if let Some(sum) = tested.reduce(Counts::plus) {
        println!("\n{sum}");
    }
}

fn passed(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}

fn cargo(arguments: &[&str]) -> Result<Outcome> {
    passed(exec::run(&mut cargo_once(arguments)))
}

/// Cargo for a build that is made once: debug information and incremental builds take time to write and to
/// link. A failing test reports its location anyway.
fn cargo_once(arguments: &[&str]) -> Command {
    let mut command = exec::cargo(root(), arguments);
    command
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    command
}

/// A compiler that finds lints at the same time.
const LINTER: &str = "clippy-driver";

/// Its lint settings, in the format in which `cargo clippy` passes them to its compiler: each word ends with a
/// mark.
const LINTS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// The same for this repository's crates, with clippy instead of the compiler.
///
/// `cargo clippy` would read all of them once more, including tests, to find what its compiler can report while
/// compiling.
fn cargo_linted(arguments: &[&str]) -> Command {
    let mut command = cargo_once(arguments);
    command
        .env("RUSTC_WORKSPACE_WRAPPER", LINTER)
        .env("CLIPPY_ARGS", LINTS);
    command
}

fn clippy() -> Result<Outcome> {
    let words = ["test", "--workspace", "--no-run"];
    passed(exec::run(&mut cargo_linted(&words)))
}

/// Libraries are documented together with the tests in their comments; `xtask` has none, and few dependencies.
fn doc() -> Result<Outcome> {
    let mut own = cargo_once(&["doc", "--package", "xtask", "--no-deps"]);
    exec::run(own.env("RUSTDOCFLAGS", "--deny warnings"))?;
    let mut command = cargo_linted(&["test", "--workspace", "--doc", "--no-fail-fast"]);
    command
        .env("RUSTDOC", root().join("xtask/documented.sh"))
        .env("LOADLINE_DOCS", workspace::target_directory()?.join("doc"));
    passed(exec::run(&mut command))
}

fn release() -> Result<Outcome> {
    workspace::release_binary().map(|_| Outcome::Passed)
}

fn container_image() -> Result<Outcome> {
    if exec::find("busybox").is_none() {
        let why = "no busybox: apt-get install busybox-static";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    passed(image::of_release())
}

fn generated() -> Result<Outcome> {
    passed(generate::command(&["--check".to_owned()]))
}

/// The seed of property tests in CI: a change is judged by its effects, not by random inputs. Other inputs are
/// drawn by every `cargo test`, and by the fuzz targets.
const PROPERTY_SEED: &str = "20260817";

fn test() -> Result<Outcome> {
    let mut command = cargo_linted(&["test", "--workspace", "--no-fail-fast"]);
    command.env("PROPTEST_RNG_SEED", PROPERTY_SEED);
    if let Some(helm) = kube::helm() {
        command.env("LOADLINE_HELM", helm);
    }
    // The ignored tests that need the release binary run in a later step: they are not skipped, so they are not
    // counted as such.
    let runs_here = |suite: &str| {
        !["e2e_", "lab_", "node_"]
            .iter()
            .any(|name| suite.starts_with(name))
    };
    let told = run_tests(&mut command, runs_here)?;
    outcome(&told)
}

fn end_to_end() -> Result<Outcome> {
    let image = image::default_archive()?;
    // The previous step has made it, or has reported why not.
    let named = ("LOADLINE_IMAGE".to_owned(), image.display().to_string());
    let environment: Vec<_> = image.is_file().then_some(named).into_iter().collect();
    suites::run("e2e_*", &environment)
}

fn outcome(told: &Told) -> Result<Outcome> {
    if told.counts.has_failures() {
        Err(format!("tests failed: {}", told.counts))
    } else {
        Ok(Outcome::Tested(told.counts))
    }
}

/// Runs a `cargo test` command. `counts_ignored` says whether the ignored tests of a suite are really left out.
///
/// # Errors
/// The command failed without a failed test: nothing was compiled, or a suite crashed.
fn run_tests(command: &mut Command, counts_ignored: fn(&str) -> bool) -> Result<Told> {
    let skips = SkipLog::new();
    let mut tally = Tally::new(counts_ignored);
    let (name, path) = skips.variable();
    let succeeded = exec::watch(command.env(name, path), |line| tally.line(line))?;
    let told = skips.counted(tally.finish())?;
    if succeeded || told.counts.has_failures() {
        Ok(told)
    } else {
        Err(format!("tests failed: {}", told.counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_select_steps() {
        let options = parse(&words("--only fmt,clippy --keep-going")).expect("both steps exist");
        assert_eq!(options.only, ["fmt", "clippy"]);
        assert!(options.keep_going && !options.list);
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["--only fmt,polish", "--only", "--fast"] {
            assert!(parse(&words(line)).is_err(), "{line} was accepted");
        }
    }
}
