//! The options of JMeter plans: of `loadline run PLAN.jmx`, of `loadline inspect PLAN.jmx`, and of loads that
//! replace a plan's own.
//!
//! Must not know the effect of an option. Invariant: options that JMeter has too are written as in JMeter.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory as _, Parser};
use loadline_jmeter::edits::{Edit, Edits};
use loadline_model::TestPlan;
use url::Url;

use super::agents::AgentsArgs;
use crate::cli::bench::{ObserveArgs, ResultArgs};
use crate::jmeter::options::{Added, Options};
use crate::jmeter::thresholds;
use crate::{Ending, Env};

/// Run a JMeter plan with loadline's own options
///
/// Exit codes: 0 success, 1 no sample succeeded, 99 a threshold failed, 104 invalid plan or command line,
/// 105 stopped by a signal, 255 a file could not be written.
#[derive(Parser, Debug)]
#[command(name = "loadline run", bin_name = "loadline run", max_term_width = 100, after_help = EXAMPLES)]
pub struct PlanRunArgs {
    /// The plan and its values.
    #[command(flatten)]
    pub source: PlanSourceArgs,
    /// Write JMeter's results file; an existing file is appended to
    #[arg(short = 'l', long, value_name = "FILE")]
    pub logfile: Option<String>,
    /// Overwrite an existing results file
    #[arg(short = 'f', long)]
    pub force_delete_result_file: bool,
    /// Write JMeter's log to this file [default: no log]
    #[arg(short = 'j', long, value_name = "FILE")]
    pub jmeterlogfile: Option<String>,
    /// Run the supported parts of a plan that has unsupported ones
    #[arg(long)]
    pub allow_unsupported: bool,
    /// Run one thread of each group for one loop
    #[arg(long)]
    pub once: bool,
    /// Who makes the load.
    #[command(flatten)]
    pub agents: AgentsArgs,
    /// What is observed beside the load.
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// What is judged, kept and shown.
    #[command(flatten)]
    pub results: ResultArgs,
}

/// Show a JMeter plan: its tree, what each element does here, where values come from, and problems
#[derive(Parser, Debug)]
#[command(
    name = "loadline inspect",
    bin_name = "loadline inspect",
    max_term_width = 100
)]
pub struct PlanInspectArgs {
    /// The plan and its values.
    #[command(flatten)]
    pub source: PlanSourceArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A plan and its values.
#[derive(Args, Debug)]
#[command(next_help_heading = "Plan")]
pub struct PlanSourceArgs {
    /// The plan
    #[arg(value_name = "PLAN.jmx")]
    pub plan: String,
    /// Override a property of an element (repeatable): 'Thread Group.num_threads=200', or disable
    /// it: 'Thread Group.enabled=false'
    #[arg(long, value_name = "ELEMENT.PROPERTY=VALUE", value_parser = Edit::parse)]
    pub set: Vec<Edit>,
    /// Send every HTTP request to this host
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub host: Option<String>,
    /// Send every HTTP request to this port
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Send every HTTP request to the scheme, host and port of this URL
    #[arg(long, value_name = "URL", value_parser = target, conflicts_with_all = ["host", "port"])]
    pub target: Option<Url>,
    /// Set the property NAME from the environment variable NAME, which keeps secrets off the command line (repeatable)
    #[arg(long, value_name = "NAME")]
    pub property_env: Vec<String>,
    /// Set a JMeter property (repeatable)
    #[arg(short = 'J', long, value_name = "NAME=VALUE")]
    pub jmeterproperty: Vec<String>,
    /// Accepted for compatibility; has no effect
    #[arg(short = 'G', long, value_name = "NAME=VALUE")]
    pub globalproperty: Vec<String>,
    /// Set a property that has no other value (repeatable)
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    pub systemproperty: Vec<String>,
    /// Read properties from this file, before all others; the last one counts
    #[arg(short = 'p', long, value_name = "FILE")]
    pub propfile: Vec<String>,
    /// Read more properties from this file (repeatable)
    #[arg(short = 'q', long, value_name = "FILE")]
    pub addprop: Vec<String>,
    /// Properties in the order in which the command line has them.
    #[arg(skip)]
    in_order: Vec<Given>,
}

/// A property, or a file of them, as the command line has it.
#[derive(Clone, Debug)]
enum Given {
    File(String),
    Property(String),
    OfEnvironment(String),
}

/// Arguments with a plan and its values.
trait HasSource {
    fn source(&mut self) -> &mut PlanSourceArgs;
}

macro_rules! have_source {
    ($($name:ident),+) => {
        $(impl HasSource for $name {
            fn source(&mut self) -> &mut PlanSourceArgs {
                &mut self.source
            }
        })+
    };
}

have_source!(PlanRunArgs, PlanInspectArgs, PlanProbeArgs);

/// What `loadline capacity` and `loadline sweep` read after -- for a JMeter plan
#[derive(Parser, Debug)]
#[command(
    name = "loadline",
    bin_name = "loadline capacity PLAN.jmx --",
    max_term_width = 100
)]
pub struct PlanProbeArgs {
    /// The plan and its values.
    #[command(flatten)]
    pub source: PlanSourceArgs,
    /// Run the supported parts of a plan that has unsupported ones
    #[arg(long)]
    pub allow_unsupported: bool,
}

const EXAMPLES: &str = "\
Examples:
  loadline run plan.jmx -Jthreads=50 -l results.jtl
      set a property, and write JMeter's results file
  loadline run plan.jmx --host staging.example --set \"Thread Group.num_threads=200\"
      override values in the plan
  loadline run plan.jmx --threshold 'http_req_duration{name:Login}:p(95)<500ms' --report run.html
      exit with 99 if the sampler Login is too slow, and write an HTML report";

fn host(text: &str) -> Result<String, String> {
    match text.contains('/') || text.is_empty() {
        true => Err("takes only a host, as in staging.example; --port sets the port".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn target(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|why| format!("{why}"))?;
    match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(_)) => Ok(url),
        _ => Err("needs an http or https URL".to_owned()),
    }
}

impl PlanSourceArgs {
    /// Takes over the order of properties, of which later ones win as in JMeter.
    fn order(&mut self, matches: &ArgMatches) {
        let mut given = Vec::new();
        let mut add = |id: &str, values: &[String], make: fn(String) -> Given| {
            let places = matches.indices_of(id).into_iter().flatten();
            given.extend(places.zip(values.iter().cloned().map(make)));
        };
        add("addprop", &self.addprop, Given::File);
        add("jmeterproperty", &self.jmeterproperty, Given::Property);
        add("property_env", &self.property_env, Given::OfEnvironment);
        given.sort_by_key(|(place, _)| *place);
        self.in_order = given.into_iter().map(|(_, given)| given).collect();
    }

    /// The requested changes of the plan.
    pub(crate) fn edits(&self) -> Edits {
        let target = self.target.as_ref();
        let host = target.and_then(|url| url.host_str().map(str::to_owned));
        let port = target.and_then(Url::port_or_known_default).or(self.port);
        Edits {
            host: host.or_else(|| self.host.clone()),
            port: port.map(|port| port.to_string()),
            protocol: target.map(|url| url.scheme().to_owned()),
            values: self.set.clone(),
        }
    }

    /// Converted to JMeter's options; `env` has the properties that are taken from the environment.
    pub(crate) fn options(&self, env: &Env) -> Options {
        let mut options = Options {
            plan: Some(self.plan.clone()),
            property_file: self.propfile.last().cloned(),
            no_window: true,
            ..Options::default()
        };
        for given in &self.in_order {
            match given {
                Given::File(file) => options.added.push(Added::File(file.clone())),
                Given::Property(property) => options.set_property(property),
                Given::OfEnvironment(name) => {
                    let value = env.get(name).map(str::to_owned);
                    options.added.push(Added::Property(name.clone(), value));
                }
            }
        }
        for property in &self.systemproperty {
            options.set_system_property(property);
        }
        options
    }
}

impl PlanRunArgs {
    /// Converted to JMeter's options; `env` has the properties that are taken from the environment.
    pub(crate) fn options(&self, env: &Env) -> Options {
        Options {
            once: self.once,
            agents: self.agents.agents,
            results: self.logfile.clone(),
            log: self.jmeterlogfile.clone(),
            replace: self.force_delete_result_file,
            allow_unsupported: self.allow_unsupported,
            ..self.source.options(env)
        }
    }

    /// Parses the words after `loadline run`.
    ///
    /// # Errors
    /// Help, and whatever clap refuses, with exit code 104; options that do not apply to a plan.
    pub fn parse_words(words: &[String]) -> Result<PlanRunArgs, Ending> {
        // In JMeter, -q has another meaning.
        let command = PlanRunArgs::command().mut_arg("quiet", |arg| arg.short(None));
        let args: PlanRunArgs = parsed(command, words)?;
        if !args.results.expect.is_empty() || args.results.by.is_some() {
            return Err(Ending::usage(
                "--expect and --by are for loadline bench: the plan's assertions decide what counts as a success",
            ));
        }
        Ok(args)
    }

    /// Adds the requested thresholds, labels and tags to a plan.
    ///
    /// # Errors
    /// An invalid threshold.
    pub(crate) fn lay_over(&self, plan: &mut TestPlan) -> Result<(), Ending> {
        plan.script_thresholds = thresholds::of_metrics(&self.results.threshold)
            .map_err(|why| Ending::usage(&format!("--threshold: {why}")))?;
        plan.labels.extend(self.results.label.iter().cloned());
        plan.tags.extend(self.results.tag.iter().cloned());
        Ok(())
    }
}

impl PlanProbeArgs {
    /// Converted to JMeter's options; `env` has the properties that are taken from the environment.
    pub(crate) fn options(&self, env: &Env) -> Options {
        Options {
            allow_unsupported: self.allow_unsupported,
            ..self.source.options(env)
        }
    }

    /// Parses the words after `--`, including the plan.
    ///
    /// # Errors
    /// Help, and whatever clap refuses, with exit code 104.
    pub fn parse_words(words: &[String]) -> Result<PlanProbeArgs, Ending> {
        parsed(PlanProbeArgs::command(), words)
    }
}

impl PlanInspectArgs {
    /// Parses the words after `loadline inspect`.
    ///
    /// # Errors
    /// Help, and whatever clap refuses, with exit code 104.
    pub fn parse_words(words: &[String]) -> Result<PlanInspectArgs, Ending> {
        parsed(PlanInspectArgs::command(), words)
    }
}

fn parsed<T>(command: clap::Command, words: &[String]) -> Result<T, Ending>
where
    T: clap::FromArgMatches + HasSource,
{
    let words = std::iter::once("loadline").chain(words.iter().map(String::as_str));
    let matches = command.try_get_matches_from(words.clone());
    let read = matches.and_then(|matches| {
        let mut args = T::from_arg_matches(&matches)?;
        args.source().order(&matches);
        Ok(args)
    });
    read.map_err(|error| match taken_for_properties(words) {
        Some(plan) if error.kind() == ErrorKind::MissingRequiredArgument => Ending::usage(&format!(
            "-q FILE reads a properties file, as in JMeter, and {plan} was taken as that file; use --quiet to hide the progress"
        )),
        _ => super::ending_of(&error, &[]),
    })
}

/// A plan directly after `-q`, which is meant as in other commands.
fn taken_for_properties<'a>(words: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let next = words.clone().skip(1);
    let mut pairs = words.zip(next);
    pairs
        .find(|(word, next)| *word == "-q" && next.ends_with(".jmx"))
        .map(|(_, plan)| plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_plan_that_is_taken_for_properties_is_named() {
        let told = |line: &str| {
            PlanRunArgs::parse_words(&words(line)).map_err(|why| why.message().to_owned())
        };
        let why = told("--once -q p.jmx").expect_err("there is no plan left");
        assert!(why.contains("p.jmx was taken as that file"), "{why}");
        assert!(told("-q p.jmx q.jmx").is_ok());
    }

    #[test]
    fn properties_are_written_as_for_jmeter() {
        let line = "p.jmx -Ja=1=2 -q b.properties -J b=3 -Gx=y -Dx=y -p x -p a.properties -l r.jtl --quiet";
        let args = PlanRunArgs::parse_words(&words(line)).expect("all are known");
        let options = args.options(&Env::default());
        assert_eq!(options.property_file.as_deref(), Some("a.properties"));
        let property =
            |name: &str, value: &str| Added::Property(name.to_owned(), Some(value.to_owned()));
        let added = [
            property("a", "1=2"),
            Added::File("b.properties".to_owned()),
            property("b", "3"),
        ];
        assert_eq!(options.added, added);
        assert_eq!(options.results.as_deref(), Some("r.jtl"));
        assert!(args.results.quiet, "it has its long name");
    }

    #[test]
    fn a_target_is_scheme_host_and_port_and_properties_may_come_from_the_environment() {
        let line = "p.jmx --target https://h/x --property-env A --property-env B -JB=2 --once";
        let args = PlanRunArgs::parse_words(&words(line)).expect("all are known");
        let edits = args.source.edits();
        let told = [edits.protocol, edits.host, edits.port].map(Option::unwrap_or_default);
        assert_eq!(told, ["https", "h", "443"]);
        let options = args.options(&Env::from([("A", "1"), ("B", "1")]));
        let property =
            |name: &str, value: &str| Added::Property(name.to_owned(), Some(value.to_owned()));
        let added = [property("A", "1"), property("B", "1"), property("B", "2")];
        assert_eq!((options.added.as_slice(), options.once), (&added[..], true));
    }

    #[test]
    fn what_a_plan_says_itself_is_refused() {
        for line in [
            "p.jmx --expect status=200",
            "p.jmx --set x",
            "p.jmx --host h/x",
            "",
        ] {
            assert!(PlanRunArgs::parse_words(&words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn the_help_is_whole() {
        let mut command = PlanRunArgs::command().mut_arg("quiet", |arg| arg.short(None));
        command.build();
        assert!(command.render_long_help().to_string().contains("--set"));
    }
}
