//! The project's chores, `cargo xtask <command>`: CI, tidy checks, benchmarks, generated references.
//!
//! Must not know the product's crates: it is compiled before them, so it stays small, and it judges them from
//! outside (`cargo metadata`, text, the built binary). Invariant: a command that could not do its work says so
//! and ends with a non-zero exit code; nothing is skipped silently.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for developers: its output is its purpose"
)]

mod bench;
mod book;
mod chart;
mod ci;
mod dialect_goldens;
mod dist;
mod exec;
mod generate;
mod groovy_goldens;
mod image;
mod jmeter_goldens;
mod k6_goldens;
mod k6_support;
mod layers;
mod pictures;
mod policy;
mod situations;
mod spdx;
mod stopwatch;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// An error message ready to be shown: it names the culprit and the next step.
type Result<T> = std::result::Result<T, String>;

const HELP: &str = "\
usage: cargo xtask <command>

  ci [--list] [--only STEP,…] [--keep-going]   everything that must hold before a change lands
  tidy                                         house rules: lengths, headers, words, layers
  policy                                       licences, bans and sources of the dependencies
  generate [--check]                           references made from the binary, docs/
  image [--out FILE] [--tag NAME:TAG]          the container image, as an archive
  dist [--out DIR]                             the files of a release: archive, package, checksums
  bench [--list] [--row NAME,…] [--quick]      the performance table, docs/benchmarks.md
  chart [--check]                              files of the Helm chart that are made of others
  dialect-goldens                              what real hey and bombardier do with the lines of crates/e2e/dialects
  groovy-goldens                               what real Groovy and BeanShell make of the scripts of crates/groovy
  jmeter-goldens [--only PATTERN]              what real JMeter does with the plans of crates/e2e/jmeter
  k6-goldens [--only PATTERN]                  what real k6 does with the scripts of crates/e2e/k6
  pictures                                     the pictures of pages for tests and for the README
  situations [--only TEXT,…] [--quiet|--busy]  the verdict on staged situations, scored; crates/e2e/situations
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((command, rest)) => dispatch(command, rest),
        None => Err(HELP.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &str, rest: &[String]) -> Result<()> {
    match command {
        "ci" => ci::command(rest),
        "tidy" => tidy::command(),
        "policy" => policy::command(),
        "generate" => generate::command(rest),
        "chart" => chart::command(rest),
        "dist" => dist::command(rest),
        "image" => image::command(rest),
        "bench" => bench::command(rest),
        "book-links" => book::command(rest),
        "dialect-goldens" => dialect_goldens::command(rest),
        "groovy-goldens" => groovy_goldens::command(rest),
        "jmeter-goldens" => jmeter_goldens::command(rest),
        "k6-goldens" => k6_goldens::command(rest),
        "pictures" => pictures::command(rest),
        "situations" => situations::command(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("xtask: no command is called {other:?}\n\n{HELP}")),
    }
}
