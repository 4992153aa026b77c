//! The load of a new test: a script, a plan or a `bench` command line, with the files that it needs.
//!
//! Must not know the cluster. Invariant: whatever would not run in a pod as it does here is refused, by name.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadline_jmeter::parts;
use loadline_model::front_end::is_plan;
use loadline_model::test_kind::TestKind;
use serde_json::{Value, json};

use crate::cli::k8s::K8sRunArgs;
use crate::cli::plan_run::PlanRunArgs;
use crate::cli::script::ScriptCommand;
use crate::cli::{self, Command};
use crate::commands::{archive, k6, run, script, seed};
use crate::jmeter::bench::Bench;
use crate::jmeter::world::World;
use crate::jmeter::{named_files, plan_file, test_plan};
use crate::k6::{Identity, K6Error, K6Invocation, LogSettings, Reading};
use crate::{Ending, Env, Files, plan};

/// Maximum bytes of files: a ConfigMap holds 1 MiB, and base64 adds a third.
const FILES_MAX: usize = 750_000;
/// The name of a script's archive in its ConfigMap.
const ARCHIVE: &str = "archive.tar";
/// Maximum length of a name in characters; with a number appended it becomes a host name.
const NAME_MAX: usize = 40;

/// The load of a test.
#[derive(Debug)]
pub(super) struct Load {
    work: Work,
    /// Arguments of the command that runs it.
    pub(super) words: Vec<String>,
}

#[derive(Debug)]
enum Work {
    /// A script with everything that it imports and opens, as an archive.
    Script { name: String, archive: Vec<u8> },
    /// The name of a plan's file, and all files, including its own, with the names under which the plan finds
    /// them.
    Plan {
        name: String,
        files: BTreeMap<String, Vec<u8>>,
    },
    /// The words are complete.
    Line,
}

impl Load {
    /// A script, an archive or a plan.
    ///
    /// # Errors
    /// It cannot be read, or needs something that a ConfigMap cannot hold.
    pub(super) fn of_file(args: &K8sRunArgs, env: &Env, files: &Files) -> Result<Load, Ending> {
        let work = match is_plan(&args.file) {
            true => plan_work(args, env)?,
            false => Work::Script {
                name: args.file.clone(),
                archive: pack(&args.file, &args.new.env, env, files)?,
            },
        };
        let load = Load {
            work,
            words: args.options.clone(),
        };
        match load.files().values().map(|bytes| bytes.len()).sum() {
            0..=FILES_MAX => Ok(load),
            size => Err(Ending::usage(&format!(
                "{} and its files take {size} bytes, and a ConfigMap holds {FILES_MAX}: put them on a volume, and name it in \
                 a {} with volumeClaim",
                args.file,
                load.kind().name()
            ))),
        }
    }

    /// A `bench` command line.
    ///
    /// # Errors
    /// It is invalid, or reads files.
    pub(super) fn of_line(words: &[String], env: &Env) -> Result<Load, Ending> {
        let line = ["loadline", "bench"].map(str::to_owned);
        let line: Vec<String> = line.into_iter().chain(words.iter().cloned()).collect();
        let Command::Bench(args) = cli::parse(&line)?.command else {
            return Err(Ending::usage(
                "the arguments after -- are not valid for loadline bench",
            ));
        };
        let files = Files::Recorded(Arc::default());
        plan::bench(&args, env, &files, 0).map_err(|why| Ending::usage(&why))?;
        match files.recorded().into_keys().next() {
            None => Ok(Load {
                work: Work::Line,
                words: words.to_vec(),
            }),
            Some(file) => Err(Ending::usage(&format!(
                "{file}: bench in a cluster cannot read local files: mount the file with \
                 coordinator.podTemplate of a LoadTest, and use its path in spec.bench"
            ))),
        }
    }

    /// The kind of test that runs it, unless a template defines it.
    pub(super) fn kind(&self) -> TestKind {
        match self.work {
            Work::Script { .. } => TestKind::TestRun,
            Work::Plan { .. } | Work::Line => TestKind::LoadTest,
        }
    }

    /// Whether tests of a kind can run it.
    pub(super) fn fits(&self, kind: TestKind) -> bool {
        match kind {
            TestKind::TestRun | TestKind::K6 => matches!(self.work, Work::Script { .. }),
            TestKind::LoadTest => true,
            TestKind::LoadSuite => false,
        }
    }

    /// Whether variables are arguments instead of the environment of pods.
    pub(super) fn reads_variables(&self) -> bool {
        matches!(self.work, Work::Script { .. })
    }

    /// A name that probably no other test has.
    pub(super) fn fresh_name(&self) -> String {
        fresh_name(match &self.work {
            Work::Script { name, .. } | Work::Plan { name, .. } => Path::new(name),
            Work::Line => Path::new("bench"),
        })
    }

    /// Files with their paths in the pod.
    fn files(&self) -> BTreeMap<&str, &[u8]> {
        match &self.work {
            Work::Script { archive, .. } => [(ARCHIVE, archive.as_slice())].into(),
            Work::Plan { files, .. } => {
                let files = files.iter();
                files
                    .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
                    .collect()
            }
            Work::Line => BTreeMap::new(),
        }
    }

    /// The content of its ConfigMap, by key; empty: it needs none.
    pub(super) fn data(&self) -> BTreeMap<String, String> {
        let files = self.files().into_iter().enumerate();
        files
            .map(|(index, (path, bytes))| (key(index, path), STANDARD.encode(bytes)))
            .collect()
    }

    /// The field of a test that defines its load, with its files in this ConfigMap.
    pub(super) fn field(&self, config_map: &str) -> (&'static str, Value) {
        match &self.work {
            Work::Script { .. } => {
                let from = json!({ "name": config_map, "file": ARCHIVE });
                ("script", json!({ "configMap": from }))
            }
            Work::Plan { name, .. } => {
                let paths = self.files().into_keys().enumerate();
                let items =
                    paths.map(|(index, path)| json!({ "key": key(index, path), "path": path }));
                let items: Vec<Value> = items.collect();
                let from = json!({ "name": config_map, "file": name, "items": items });
                ("jmx", json!({ "configMap": from }))
            }
            Work::Line => ("bench", json!(self.words)),
        }
    }
}

/// The key of a file in its ConfigMap, which allows neither folders nor many characters.
fn key(index: usize, path: &str) -> String {
    if path == ARCHIVE {
        return path.to_owned();
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
    let name = path.rsplit('/').next().unwrap_or(path);
    let name: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .take(NAME_MAX)
        .collect();
    format!("{index}-{name}")
}

/// A script with everything that it imports and opens.
fn pack(script: &str, variables: &[String], env: &Env, files: &Files) -> Result<Vec<u8>, Ending> {
    let refused = |error: K6Error| k6::refused(&error, &LogSettings::default());
    let mut words = vec!["--exclude-env-vars".to_owned()];
    for variable in variables {
        words.extend(["--env".to_owned(), variable.clone()]);
    }
    words.push(script.to_owned());
    let read = K6Invocation::parse(Identity::Loadline, ScriptCommand::Archive, &words, env);
    let invocation = match read.map_err(refused)? {
        Reading::Invocation(invocation) => invocation,
        Reading::Help(text) => return Err(Ending::usage(&text)),
    };
    let packed = || -> Result<Vec<u8>, K6Error> {
        let loaded = script::load(&invocation, env, files)?;
        let run = run::consolidated(&invocation, &loaded, None)?;
        let mut bytes = Vec::new();
        let written = archive::packed(&invocation, &loaded, &run)?.write(&mut bytes);
        written.map_err(|error| K6Error::other(format!("cannot pack {script}: {error}")))?;
        Ok(bytes)
    };
    packed().map_err(refused)
}

/// A plan with the files that its elements name.
fn plan_work(args: &K8sRunArgs, env: &Env) -> Result<Work, Ending> {
    let mut words = vec![args.file.clone()];
    words.extend(args.options.iter().cloned());
    let run = PlanRunArgs::parse_words(&words)?;
    let given = [("-p", &run.source.propfile), ("-q", &run.source.addprop)];
    if let Some((option, _)) = given.iter().find(|(_, files)| !files.is_empty()) {
        return Err(Ending::usage(&format!(
            "{option}: property files are not sent to a cluster: give the properties with -J"
        )));
    }
    let options = run.options(env);
    let (properties, tree) = plan_file::read(&run.source, &options, &Files::Disk)?;
    let reading = loadline_jmeter::lowered(&tree);
    let world = Arc::new(World::new(&args.file, properties, env, None));
    plan_file::check(&reading, &options, &world)?;
    let parts = parts::parts(&tree, &reading);
    let mut bench = Bench::new(&args.file, Arc::clone(&world));
    test_plan::set_variables(&reading.program, &mut bench.scope());
    let named = named_files::of(&parts, &mut bench.scope(), &world);
    let name = plan_file::bare_name(&args.file);
    let plan = Files::Disk.read(&args.file);
    let plan = plan.map_err(|error| Ending::usage(&error.to_string()))?;
    let mut files = BTreeMap::from([(name.clone(), plan)]);
    for (file, bytes) in named_files::contents(&named, &world)? {
        let Some(path) = path_below(&file) else {
            return Err(Ending::usage(&format!(
                "{file}: in a cluster, files of a plan must be in or below its directory: name it from there, or put the plan and \
                 its files on a volume, and name it in a LoadTest with jmx.volumeClaim"
            )));
        };
        files.insert(path, bytes.to_vec());
    }
    Ok(Work::Plan { name, files })
}

/// A normalised path that does not leave its starting folder.
fn path_below(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// A name derived from that of a file.
fn fresh_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let letter = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    };
    let stem: String = stem.chars().map(letter).take(NAME_MAX - 6).collect();
    let stem = match stem.trim_matches('-') {
        "" => "test",
        stem => stem,
    };
    format!("{stem}-{:05}", seed::fresh_seed() % 100_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_host() {
        for (script, begin) in [
            ("a/Check Out.js", "check-out-"),
            ("-.js", "test-"),
            ("ü", "test-"),
        ] {
            let name = fresh_name(Path::new(script));
            assert!(name.starts_with(begin) && name.len() <= NAME_MAX, "{name}");
        }
    }

    #[test]
    fn files_stay_below_the_plan() {
        for (named, path) in [
            ("users.csv", Some("users.csv")),
            ("./data//users.csv", Some("data/users.csv")),
            ("../users.csv", None),
            ("/data/users.csv", None),
        ] {
            assert_eq!(path_below(named).as_deref(), path);
        }
        assert_eq!(key(3, "data/my users.csv"), "3-my_users.csv");
    }
}
