//! `k8s`: tests in a cluster, run by an operator.
//!
//! Must not know what the operator does. Invariants: a cluster is only changed if its context was named;
//! requests that fail are reported in the cluster's words.

mod fetch;
mod follow;
mod keep;
mod left;
mod load;
mod make;
mod show;
mod stop;
mod store;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use loadline_kubernetes::{Cluster, ClusterTest, Kubeconfig, TestName};
use loadline_model::ExitCode;
use loadline_model::test_kind::TestKind;

use crate::cli::k8s::{ClusterArgs, K8sAction, K8sArgs, K8sNewArgs, K8sTestArgs};
use crate::terminal::{now, print};
use crate::{Ending, Env, Files};

use follow::{Follow, Impatience};
use load::Load;

/// Runs the command.
///
/// # Errors
/// The cluster is unreachable, or the test cannot be run.
pub(super) fn run(args: &K8sArgs, env: &Env, files: &Files) -> Result<ExitCode, Ending> {
    match &args.action {
        K8sAction::Run(args) => run_test(&args.new, env, || Load::of_file(args, env, files)),
        K8sAction::Bench(args) => run_test(&args.new, env, || Load::of_line(&args.words, env)),
        K8sAction::Logs(args) => {
            let place = Place::of(&args.cluster)?;
            let test = place.test(&args.name)?;
            Follow::log(&place, &test.id())?.until_over(None)?;
            Ok(ExitCode::Ok)
        }
        K8sAction::Stop(args) => {
            let place = Place::of(&args.test.cluster)?;
            stop::stop(&place, &args.test.name, args.control_token.as_deref())?;
            Ok(ExitCode::Ok)
        }
        K8sAction::Results(args) => {
            let (place, test) = found(&args.test)?;
            let mut text = match args.json {
                true => show::json(&test),
                false => show::result(&test),
            };
            if let Some(folder) = &args.out {
                write_whole(env, &place, &test, folder)?;
                if !args.json {
                    text.clear();
                }
            }
            Ok(Ending::answer(text).tell())
        }
        K8sAction::Keep(args) => keep::keep(args, env),
        K8sAction::Top(args) => {
            let place = Place::of(&args.cluster)?;
            let namespace = match args.all_namespaces {
                true => "",
                false => place.namespace.as_str(),
            };
            let (tests, missing) = place.cluster.tests(namespace).map_err(told)?;
            for why in missing {
                print::to_stderr(&format!("{why}\n"));
            }
            let now_ns = now::unix_ns();
            let text = show::table(&tests, args.all_namespaces, now_ns);
            Ok(Ending::answer(text).tell())
        }
    }
}

/// A namespace of a cluster.
struct Place {
    cluster: Cluster,
    namespace: String,
}

impl Place {
    fn of(args: &ClusterArgs) -> Result<Place, Ending> {
        let config = Kubeconfig::of(args.kubeconfig.as_deref()).map_err(refused)?;
        let cluster = match &args.context {
            Some(context) => Cluster::from_kubeconfig(&config, context),
            None => Cluster::for_reading(&config),
        };
        let cluster = cluster.map_err(refused)?;
        let namespace = args.namespace.clone();
        Ok(Place {
            namespace: namespace.unwrap_or_else(|| cluster.namespace().to_owned()),
            cluster,
        })
    }

    /// The test with this name, or with this kind and name.
    fn test(&self, called: &str) -> Result<ClusterTest, Ending> {
        let Some((word, name)) = called.split_once('/') else {
            let found = self.cluster.find_test(&self.namespace, called);
            return found.map_err(told);
        };
        let kind = TestKind::ALL.into_iter().find(|kind| kind.word() == word);
        let Some(kind) = kind else {
            let words = TestKind::ALL.map(TestKind::word).join(", ");
            return Err(Ending::usage(&format!(
                "{called}: {word} is not a kind of test: use one of {words}"
            )));
        };
        let name = name.to_owned();
        let test = TestName { kind, name };
        self.cluster.test(&self.namespace, &test).map_err(told)
    }
}

fn found(args: &K8sTestArgs) -> Result<(Place, ClusterTest), Ending> {
    let place = Place::of(&args.cluster)?;
    let test = place.test(&args.name)?;
    Ok((place, test))
}

/// An unexpected error of the cluster.
fn told(error: impl Display) -> Ending {
    Ending::refusal(ExitCode::Other, &error.to_string())
}

/// The error for an impossible request.
fn refused(error: impl Display) -> Ending {
    Ending::usage(&error.to_string())
}

/// Runs a new test; `read`: its load, which is read once the cluster is known.
fn run_test(
    args: &K8sNewArgs,
    env: &Env,
    read: impl FnOnce() -> Result<Load, Ending>,
) -> Result<ExitCode, Ending> {
    let place = Place::of(&args.cluster)?;
    let template = args.template.as_deref().map(make::read_template);
    let template = template.transpose()?;
    let load = read()?;
    let name = args.name.clone().unwrap_or_else(|| load.fresh_name());
    let made = make::manifests(args, &name, &load, template)?;
    let made = make::apply(&place, &made)?;
    if args.detach {
        let next = format!("{name}\n");
        print::to_stderr(&format!(
            "applied; its log: loadline k8s logs {name}; its result: loadline k8s results {name}\n"
        ));
        return Ok(Ending::answer(next).tell());
    }
    print::to_stderr(&format!("test {name} is applied\n"));
    let impatience = Impatience::listen()?;
    let test = Follow::test(&place, &made)?.until_over(Some(&impatience))?;
    print::to_stderr(&show::result(&test));
    let code = show::exit_code(&test);
    let fetched = args.out.as_deref();
    let fetched = fetched.map_or(Ok(()), |folder| write_whole(env, &place, &test, folder));
    if let Err(why) = fetched {
        // A result that cannot be fetched is not deleted.
        print::to_stderr(&format!("--out: {}\n", why.message()));
        return Ok(match code {
            ExitCode::Ok => why.code,
            code => code,
        });
    }
    if args.rm {
        make::delete(&place, &made)?;
    }
    Ok(code)
}

/// Fetches the whole result, and prints where it is.
fn write_whole(env: &Env, place: &Place, test: &ClusterTest, folder: &Path) -> Result<(), Ending> {
    for file in fetch::fetch(env, place, test, folder)? {
        print::to_stderr(&format!("{}\n", file.display()));
    }
    Ok(())
}

/// Interval between two checks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
