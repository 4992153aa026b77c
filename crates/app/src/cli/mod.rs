//! loadline's own command line: one declaration per option, with doc, unit and default.
//!
//! Must not know what an option leads to; that is [`crate::plan`]. Invariant: the help, the error
//! messages and the generated reference all come from these declarations.

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
pub mod values;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::Ending;

pub use agents::{AgentArgs, AgentsArgs};
pub use capacity::CapacityArgs;
pub use compare::CompareArgs;
pub use others::{DemoArgs, InternalDocs, ReportArgs, TargetArgs, TargetTlsArgs};
pub use probing::{ProbingArgs, ToldArgs, UserArgs};
pub use suite::{
    SuiteAction, SuiteArgs, SuiteExplainArgs, SuiteFileArgs, SuiteInitArgs, SuitePlanArgs,
    SuiteResumeArgs, SuiteRunArgs,
};
pub use sweep::SweepArgs;

/// Finds how much load a service carries, and proves it.
#[derive(Parser, Debug)]
#[command(
    name = "loadline",
    version,
    after_help = "Each command has its own help: loadline bench --help",
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
    /// Run a k6 script
    ///
    /// Options of the script, of the environment (K6_*) and of the command line lie over one another
    /// as in k6; --scenario and --once come last of all.
    #[command(disable_help_flag = true)]
    Run(DialectArgs),
    /// Show the options of a k6 script as JSON
    #[command(disable_help_flag = true)]
    Inspect(DialectArgs),
    /// Pack a k6 script and all that it reads into one file
    #[command(disable_help_flag = true)]
    Archive(DialectArgs),
    /// List what a k6 script imports
    #[command(disable_help_flag = true)]
    Deps(DialectArgs),
    /// Write a first k6 script
    #[command(disable_help_flag = true)]
    New(DialectArgs),
    /// Pause a running test through its REST API
    #[command(disable_help_flag = true)]
    Pause(DialectArgs),
    /// Let a paused test go on, through its REST API
    #[command(disable_help_flag = true)]
    Resume(DialectArgs),
    /// Change the virtual users of a running test through its REST API
    #[command(disable_help_flag = true)]
    Scale(DialectArgs),
    /// Say how a running test is, through its REST API
    #[command(disable_help_flag = true)]
    Status(DialectArgs),
    /// Say what a running test has measured, through its REST API
    #[command(disable_help_flag = true)]
    Stats(DialectArgs),
    /// The command line of k6 2.2 (and of 1.x)
    #[command(disable_help_flag = true)]
    K6(DialectArgs),
    /// Put load on one or more URLs and say what they carry
    ///
    /// Without a stop condition (-n, -z, --stages) the run takes 10 seconds, with 50 virtual users
    /// unless -c says otherwise. Without a rate (-r) the model is closed: each virtual user sends its
    /// next request when the last was answered. With a rate the model is open: requests are due at
    /// their instants whatever the target does, and the response time counts from the instant at
    /// which a request was due.
    ///
    /// Exit codes: 0 as planned, 1 when not one request succeeded, 99 when a threshold was crossed,
    /// 104 when the command line cannot be run, 105 when stopped by a signal.
    Bench(Box<bench::BenchArgs>),
    /// Find the highest rate at which a target meets its objectives
    ///
    /// Puts one rate after another on the target, as an open model: doubling until one is not carried,
    /// then halving the interval between the highest that was and the lowest that was not, repeating
    /// what is close, and letting the target recover in between. The answer is an interval, with
    /// what gave way; or "at least", where the generator was the limit.
    Capacity(Box<CapacityArgs>),
    /// Measure a target under one load after another: load curve, knee, scalability
    Sweep(Box<SweepArgs>),
    /// The command line of hey 0.1.5
    #[command(disable_help_flag = true)]
    Hey(DialectArgs),
    /// The command line of bombardier 2.0
    #[command(disable_help_flag = true)]
    Bombardier(DialectArgs),
    /// The command line of JMeter 5.6.3, without its window: runs .jmx plans
    #[command(disable_help_flag = true)]
    Jmeter(DialectArgs),
    /// Make a share of the load of a test that a coordinator runs elsewhere
    ///
    /// Exit codes: those of the test; 104 when the coordinator cannot be reached or refuses this agent, 105 when it is
    /// gone.
    Agent(AgentArgs),
    /// Run tests in a Kubernetes cluster, follow and stop them, and print their results
    K8s(Box<k8s::K8sArgs>),
    /// Serve a test target: httpbin endpoints, SOAP, queues and faults with known laws
    Target(TargetArgs),
    /// Show what loadline does: a ramp into the saturation of a target of its own (under 30 s)
    Demo(DemoArgs),
    /// Show the report of a JSON result, or of the journal of a run that died
    Report(ReportArgs),
    /// Hold results against the first of them: what differs, and which differences are real
    Compare(CompareArgs),
    /// Run a matrix of tests from one file, and write the document of it
    ///
    /// A suite file names rows: scripts or command lines with their load, their environment and what is done around
    /// them. Rows are run one after the other, judged, and kept, so that a suite that was stopped goes on where it was.
    Suite(Box<SuiteArgs>),
    /// Print a script that makes a shell complete loadline's commands and options
    ///
    /// bash: loadline completion bash > ~/.local/share/bash-completion/completions/loadline;
    /// zsh: loadline completion zsh > _loadline, in a folder of $fpath;
    /// fish: loadline completion fish > ~/.config/fish/completions/loadline.fish.
    Completion {
        /// Which shell.
        shell: Shell,
    },
    /// Print the version
    Version,
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
    /// Options and URL as that tool takes them
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub arguments: Vec<String>,
}

/// Reads a command line, the program's name first.
///
/// # Errors
/// Help and version, and everything that clap refuses, with exit code 104.
pub fn parse(arguments: &[String]) -> Result<Cli, Ending> {
    Cli::try_parse_from(arguments).map_err(|error| ending_of(&error))
}

fn ending_of(error: &clap::Error) -> Ending {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ending::answer(text),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ending {
            err: text,
            ..Ending::usage("")
        },
        _ => Ending::usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end()),
    }
}

#[cfg(test)]
mod tests;
