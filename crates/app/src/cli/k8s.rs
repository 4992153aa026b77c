//! The options of `loadline k8s`.
//!
//! Must not know their effects. Invariant: one declaration per option.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Options of `loadline k8s`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  loadline k8s run --context staging -p 4 test.js
  loadline k8s top --context staging -A
  loadline k8s results --context staging test-1 --out results")]
pub struct K8sArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: K8sAction,
}

/// What to do with tests in a cluster.
#[derive(Subcommand, Debug)]
pub enum K8sAction {
    /// Run a k6 script or a JMeter plan on N pods as one test, follow its log, and exit with its exit code
    ///
    /// A script goes into a ConfigMap with its dependencies, a plan with the files that its elements name. Ctrl-C stops
    /// the test; a second Ctrl-C detaches from it.
    ///
    /// Exit codes: those of the test; 255 if it could not run.
    Run(K8sRunArgs),
    /// Run a command line of loadline bench on N pods as one test, follow its log, and exit with its exit code
    ///
    /// Ctrl-C stops the test; a second Ctrl-C detaches from it.
    ///
    /// Exit codes: those of the test; 255 if it could not run.
    Bench(K8sBenchArgs),
    /// Print and follow the log of a TestRun, K6, LoadTest or LoadSuite
    #[command(after_help = "\
Examples:
  loadline k8s logs test-1
  loadline k8s logs -n perf loadtest/nightly")]
    Logs(K8sTestArgs),
    /// Stop a test and keep its result; a test that has not started is deleted
    #[command(after_help = "\
Example:
  loadline k8s stop --context staging test-1")]
    Stop(K8sStopArgs),
    /// Print a test's result: verdict, metrics, thresholds, lost agents; --out saves result.json and report.html
    #[command(after_help = "\
Examples:
  loadline k8s results test-1
  loadline k8s results test-1 --out results")]
    Results(K8sResultsArgs),
    /// List TestRuns, K6s, LoadTests and LoadSuites, newest first
    #[command(after_help = "\
Examples:
  loadline k8s top -n perf
  loadline k8s top -A")]
    Top(K8sTopArgs),
    /// Wait in a coordinator's pod for its end, and hand its result on
    #[command(hide = true)]
    Keep(K8sKeepArgs),
}

/// Options of `loadline k8s keep`.
#[derive(Args, Debug)]
pub struct K8sKeepArgs {
    /// File that the coordinator holds a lock on while it runs
    #[arg(long, value_name = "FILE")]
    pub at_work: PathBuf,
    /// What it leaves.
    #[command(flatten)]
    pub left: K8sLeftArgs,
    /// Directory for the result and its page, or for a suite's files, on disk or s3://BUCKET/DIR [default: they are printed as a parcel]
    #[arg(long, value_name = "DIR")]
    pub to: Option<String>,
    /// Certificates that the store is trusted by, if the file is there [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
}

/// What a coordinator or a suite leaves.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct K8sLeftArgs {
    /// JSON result that it leaves
    #[arg(long, value_name = "FILE")]
    pub result: Option<PathBuf>,
    /// Directory that a suite leaves, with its documents and its state
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
}

/// Which cluster.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArgs {
    /// Kubeconfig context [default: the current one; run, bench and stop require it]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Namespace [default: the context's]
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Kubeconfig file [default: $KUBECONFIG, else ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// A new test, whatever it runs.
#[derive(Args, Debug)]
pub struct K8sNewArgs {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Number of agents, one pod each [default: the template's, else 1]
    #[arg(short, long, value_name = "N")]
    pub parallelism: Option<NonZeroU32>,
    /// Name of the test [default: the file's name, or bench, with a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// YAML file with a TestRun or a LoadTest to use as a template; what it runs and its name are replaced
    #[arg(long, value_name = "FILE")]
    pub template: Option<PathBuf>,
    /// Set a variable in the script's __ENV; for a plan or bench, in the pods' environment (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Return as soon as the test is created
    #[arg(long)]
    pub detach: bool,
    /// Delete the test after it ends
    #[arg(long, conflicts_with = "detach")]
    pub rm: bool,
    /// Write result.json and report.html to this directory
    #[arg(short, long, value_name = "DIR", conflicts_with = "detach")]
    pub out: Option<PathBuf>,
}

/// Options of `loadline k8s run`.
#[derive(Args, Debug)]
#[command(after_help = "\
The cluster needs loadline-operator: see docs/kubernetes-distributed.md.

Examples:
  loadline k8s run --context staging -p 4 test.js
  loadline k8s run --context staging -p 8 --template testrun.yaml test.js -- --vus 400
  loadline k8s run --context staging -p 4 plan.jmx -- -Jthreads=400")]
pub struct K8sRunArgs {
    /// The new test.
    #[command(flatten)]
    pub new: K8sNewArgs,
    /// Script, archive or JMeter plan (.jmx)
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Options of `loadline run` for the test, after --
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<String>,
}

/// Options of `loadline k8s bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
The cluster needs loadline-operator: see docs/kubernetes-distributed.md.

Examples:
  loadline k8s bench --context staging -p 4 -- -r 2000 -z 5m http://checkout.shop.svc/")]
pub struct K8sBenchArgs {
    /// The new test.
    #[command(flatten)]
    pub new: K8sNewArgs,
    /// Options and URL of `loadline bench`, after --
    #[arg(last = true, required = true, value_name = "OPTIONS")]
    pub words: Vec<String>,
}

/// One test.
#[derive(Args, Debug)]
pub struct K8sTestArgs {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Name of a TestRun, K6, LoadTest or LoadSuite, searched in this order; loadtest/NAME selects the kind
    pub name: String,
}

/// Options of `loadline k8s stop`.
#[derive(Args, Debug)]
pub struct K8sStopArgs {
    /// Which test.
    #[command(flatten)]
    pub test: K8sTestArgs,
    /// Token of the test's REST API [default: the one in its log]
    #[arg(
        long,
        value_name = "TOKEN",
        env = "LOADLINE_CONTROL_TOKEN",
        hide_env_values = true
    )]
    pub control_token: Option<String>,
}

/// Options of `loadline k8s results`.
#[derive(Args, Debug)]
pub struct K8sResultsArgs {
    /// Which test.
    #[command(flatten)]
    pub test: K8sTestArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write result.json and report.html to this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Options of `loadline k8s top`.
#[derive(Args, Debug)]
pub struct K8sTopArgs {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// List all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub all_namespaces: bool,
}
