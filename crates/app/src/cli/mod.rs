//! loadline's own command line: one declaration per option, with doc, unit and default.
//!
//! Must not know the effect of an option; that is [`crate::plan`]. Invariant: the help, the error messages and
//! the generated reference all come from these declarations.

mod agents;
pub mod bench;
mod capacity;
mod compare;
pub mod k8s;
mod others;
pub mod plan_run;
mod probing;
pub mod script;
mod suite;
mod sweep;
mod tips;
pub mod values;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::Ending;

pub use agents::{AgentArgs, AgentsArgs};
pub use capacity::CapacityArgs;
pub use compare::CompareArgs;
pub use others::{DemoArgs, InternalDocs, ReportArgs, TargetArgs, TargetTlsArgs};
pub use probing::{ProbingArgs, ToldArgs, UserArgs};
pub use suite::{
    SuiteAction, SuiteArgs, SuiteDocumentsArgs, SuiteEndingArgs, SuiteExplainArgs, SuiteFileArgs,
    SuiteInitArgs, SuitePlanArgs, SuiteResumeArgs, SuiteRunArgs,
};
pub use sweep::SweepArgs;
pub(crate) use tips::almost;

/// Load-tests a service and says what limited it.
#[derive(Parser, Debug)]
#[command(
    name = "loadline",
    version,
    after_help = "'loadline help COMMAND' describes a command, 'loadline help TOPIC' a topic such as verdict or models.",
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a k6 script or a JMeter plan
    ///
    /// Options on the command line override the environment (K6_*), which overrides the script, as in
    /// k6; --scenario and --once override them all.
    #[command(disable_help_flag = true)]
    Run(DialectArgs),
    /// Show the options of a k6 script or a JMeter plan as JSON
    #[command(disable_help_flag = true)]
    Inspect(DialectArgs),
    /// Bundle a k6 script and its dependencies into one file
    #[command(disable_help_flag = true)]
    Archive(DialectArgs),
    /// List what a k6 script imports
    #[command(disable_help_flag = true)]
    Deps(DialectArgs),
    /// Create a k6 script from a template
    #[command(disable_help_flag = true)]
    New(DialectArgs),
    /// Pause a running test
    #[command(disable_help_flag = true)]
    Pause(DialectArgs),
    /// Resume a paused test
    #[command(disable_help_flag = true)]
    Resume(DialectArgs),
    /// Change the number of VUs of a running test
    #[command(disable_help_flag = true)]
    Scale(DialectArgs),
    /// Show the status of a running test
    #[command(disable_help_flag = true)]
    Status(DialectArgs),
    /// Show the metrics of a running test
    #[command(disable_help_flag = true)]
    Stats(DialectArgs),
    /// Run a k6 command line (k6 2.2 and 1.x)
    #[command(disable_help_flag = true)]
    K6(DialectArgs),
    /// Load-test one or more URLs
    ///
    /// Defaults: 50 connections for 10 seconds (see -c, -n, -z, --stages). Without a rate (-r) the model is
    /// closed: each VU sends its next request when the last one is answered. With a rate the model is
    /// open: requests start on schedule even when the target is slow, and the response time counts from
    /// the scheduled start.
    ///
    /// Exit codes: 0 success, 1 no request succeeded, 99 a threshold failed, 104 invalid command line,
    /// 105 stopped by a signal.
    Bench(Box<bench::BenchArgs>),
    /// Find the highest rate at which a target meets its objectives
    ///
    /// Probes one rate after another in an open model: it doubles the rate until the target misses an
    /// objective, then bisects, repeats close calls, and lets the target recover in between. The result is
    /// an interval and the objective that failed first, or "at least N" if the generator was the limit.
    Capacity(Box<CapacityArgs>),
    /// Measure a series of loads: load curve, knee, scalability
    Sweep(Box<SweepArgs>),
    /// Run a hey command line (hey 0.1.5)
    #[command(disable_help_flag = true)]
    Hey(DialectArgs),
    /// Run a bombardier command line (bombardier 2.0)
    #[command(disable_help_flag = true)]
    Bombardier(DialectArgs),
    /// Run a JMeter command line in CLI mode (JMeter 5.6.3)
    #[command(disable_help_flag = true)]
    Jmeter(DialectArgs),
    /// Join a coordinator and generate a share of its load
    ///
    /// Exit codes: those of the test; 104 when the coordinator cannot be reached or refuses this agent, 105
    /// when the coordinator is gone, 130 when stopped by SIGINT, 143 by SIGTERM.
    Agent(AgentArgs),
    /// Run, follow and stop tests in a Kubernetes cluster
    K8s(Box<k8s::K8sArgs>),
    /// Serve a test target: httpbin endpoints, SOAP, queues, faults
    Target(TargetArgs),
    /// Ramp a built-in target into saturation, to see what loadline reports (20 s)
    Demo(DemoArgs),
    /// Show the report of a JSON result or of a crashed run's journal
    Report(ReportArgs),
    /// Compare results with a baseline, and tell real differences from noise
    Compare(CompareArgs),
    /// Run a matrix of tests from one file and write a results document
    ///
    /// A suite file lists rows: scripts or command lines with their load, environment and hooks. Rows run one
    /// after another and their results are kept, so a suite that was stopped can resume.
    Suite(Box<SuiteArgs>),
    /// Print a shell completion script
    ///
    /// bash: loadline completion bash > ~/.local/share/bash-completion/completions/loadline;
    /// zsh: loadline completion zsh > _loadline, in a directory of $fpath;
    /// fish: loadline completion fish > ~/.config/fish/completions/loadline.fish.
    #[command(after_help = "\
Examples:
  loadline completion bash > ~/.local/share/bash-completion/completions/loadline
  loadline completion fish > ~/.config/fish/completions/loadline.fish")]
    Completion {
        /// Shell.
        shell: Shell,
    },
    /// Show help for a command or a topic
    ///
    /// Without a name, lists the commands and topics.
    #[command(after_help = "\
Examples:
  loadline help suite run
  loadline help verdict")]
    Help {
        /// Command, with its subcommand if any, or topic
        topic: Vec<String>,
    },
    /// Print the version
    #[command(after_help = "\
Example:
  loadline version")]
    Version,
    /// Write man pages
    #[command(hide = true)]
    InternalMan {
        /// Directory to write to.
        folder: PathBuf,
    },
    /// Print a generated reference
    #[command(hide = true)]
    InternalDocs {
        /// Which.
        reference: InternalDocs,
    },
}

/// The arguments of another tool, as they are.
#[derive(clap::Args, Debug)]
pub struct DialectArgs {
    /// Arguments of that tool
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub arguments: Vec<String>,
}

/// Parses a command line, which starts with the program's name.
///
/// # Errors
/// Help and version, and everything that clap refuses, with exit code 104.
pub fn parse(arguments: &[String]) -> Result<Cli, Ending> {
    let refused = |error: clap::Error| ending_of(&error, arguments);
    let mut command = Cli::command();
    let given = command
        .try_get_matches_from_mut(arguments)
        .map_err(refused)?;
    let cli = Cli::from_arg_matches(&given);
    let mut cli = cli.map_err(|error| refused(error.format(&mut command)))?;
    if let Some((_, given)) = given.subcommand() {
        match &mut cli.command {
            Command::Capacity(args) => args.probing.of_urls = probing::given_of_urls(given),
            Command::Sweep(args) => args.probing.of_urls = probing::given_of_urls(given),
            _ => {}
        }
    }
    Ok(cli)
}

fn ending_of(error: &clap::Error, arguments: &[String]) -> Ending {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ending::answer(text),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ending {
            err: text,
            ..Ending::usage("")
        },
        _ => {
            let text = tips::told(&text, tips::tip(error, arguments).as_deref());
            Ending::usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end())
        }
    }
}

#[cfg(test)]
mod tests;
