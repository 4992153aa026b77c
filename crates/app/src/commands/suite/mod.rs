//! `loadline suite`: combines the file, the plan, the state and the documents.
//!
//! Must not know how any of these work. Invariant: a suite with errors sends nothing.

mod documents;
mod executor;
mod init;
mod show;
mod wish;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadline_engine::clock::Clock;
use loadline_model::ExitCode;
use loadline_suite::file::{SuiteFile, schema};
use loadline_suite::hooks::System;
use loadline_suite::outcome::SuiteOutcome;
use loadline_suite::plan::{Plan, Surroundings};
use loadline_suite::runner::{self, RunSettings, SuiteEnd};
use loadline_suite::state::{
    RunState, StateError, StateFolder, StateLock, SuiteRecord, SystemDisk, usual_folder,
};

use crate::cli::{SuiteAction, SuiteArgs, SuiteDocumentsArgs, SuiteEndingArgs, SuiteFileArgs};
use crate::files::Files;
use crate::http::AccessSettings;
use crate::rest;
use crate::terminal::{print, style};
use crate::{Ending, Env};
use executor::Processes;
use wish::{SuiteClock, Wish};

/// Runs the command.
///
/// # Errors
/// The suite file cannot be run, or the state cannot be stored.
pub(super) fn run(args: &SuiteArgs, env: &Env) -> Result<ExitCode, Ending> {
    match &args.action {
        SuiteAction::Init(args) => init::run(args),
        SuiteAction::Schema => Ok(Ending::answer(format!("{:#}\n", schema())).tell()),
        SuiteAction::Plan(args) => {
            let suite = Suite::open(&args.suite, env)?;
            let only = suite.only(&args.only)?;
            let text = if args.json {
                show::plan_json(&suite.plan, &suite.record(), only.as_deref())
            } else {
                show::plan(&suite.plan, only.as_deref())
            };
            Ok(Ending::answer(text).tell())
        }
        SuiteAction::Run(args) => {
            let suite = Suite::open(&args.suite, env)?;
            let only = suite.only(&args.only)?;
            if args.dry_run {
                return Ok(Ending::answer(show::plan(&suite.plan, only.as_deref())).tell());
            }
            let _lock = suite.lock()?;
            let suite = suite.documented(&args.documents);
            suite.check_documents()?;
            suite.begin_anew(args.fresh)?;
            suite.run(only, false, &args.ending, env)
        }
        SuiteAction::Resume(args) => {
            let suite = Suite::open(&args.suite, env)?;
            let only = suite.only(&args.only)?;
            if args.dry_run {
                let text = show::unfinished(&suite.plan, &suite.state, &suite.record());
                return Ok(Ending::answer(text).tell());
            }
            let _lock = suite.lock()?;
            let suite = suite.documented(&args.documents);
            suite.check_documents()?;
            suite.run(only, args.failed, &args.ending, env)
        }
        SuiteAction::Status(args) => {
            let suite = Suite::open(args, env)?;
            suite.warn_of_damaged();
            suite.warn_of_other_gates();
            let outcome = suite.outcome()?;
            Ok(Ending::answer(show::status(&outcome, &suite.state)).tell())
        }
        SuiteAction::Render(args) => {
            let suite = Suite::open(&args.suite, env)?.documented(&args.documents);
            suite.warn_of_damaged();
            suite.warn_of_outdated();
            suite.warn_of_other_gates();
            let outcome = suite.outcome()?;
            suite.expect_results(&outcome)?;
            let written = suite.write_documents(&outcome)?;
            Ok(Ending::answer(written).tell())
        }
        SuiteAction::Explain(args) => {
            let suite = Suite::open(&args.suite, env)?;
            let row = suite.row(&args.row)?;
            let document = args.document.as_deref();
            let text =
                documents::explain(&suite.file, &suite.outcome()?, &row, &args.column, document)?;
            Ok(Ending::answer(text).tell())
        }
    }
}

/// A parsed and planned suite.
struct Suite {
    file: SuiteFile,
    /// The folder of the suite file.
    folder: PathBuf,
    /// The folder of documents, if it is another one.
    documents: Option<PathBuf>,
    plan: Plan,
    state: StateFolder,
    /// The state folder as named in documents.
    state_name: String,
}

/// A file's bytes; a device or a pipe, which may never end, is refused.
fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    std::fs::read(path)
}

/// A path relative to a folder.
fn name_in(folder: &Path, path: &Path) -> String {
    let name = path.strip_prefix(folder).unwrap_or(path);
    name.display().to_string()
}

impl Suite {
    fn open(args: &SuiteFileArgs, env: &Env) -> Result<Suite, Ending> {
        let path = args.file.display().to_string();
        let source = Files::Disk.read_text(&path);
        let source = source.map_err(|error| Ending::usage(&error.to_string()))?;
        let file = SuiteFile::parse(&path, &source);
        let file = file.map_err(|error| Ending::usage(&error.to_string()))?;
        let folder = args.file.parent().unwrap_or(Path::new("")).to_path_buf();
        let surroundings = Surroundings {
            read: &|name| read_plain(&folder.join(name)),
            variable: &|name| env.get(name).map(str::to_owned),
        };
        let plan = Plan::of(&file, &surroundings);
        let plan = plan.map_err(|error| Ending::usage(&error.to_string()))?;
        let state = args
            .state
            .clone()
            .unwrap_or_else(|| usual_folder(&args.file));
        let state_name = name_in(&folder, &state);
        // Runs get absolute paths: their working directory is the suite file's folder.
        let state = std::path::absolute(&state).map_err(|error| unreadable(&state, &error))?;
        Ok(Suite {
            file,
            folder,
            documents: None,
            plan,
            state: StateFolder::new(state, Arc::new(SystemDisk)),
            state_name,
        })
    }

    /// The same with the documents folder of the command line.
    fn documented(self, args: &SuiteDocumentsArgs) -> Suite {
        let Some(documents) = args.documents.clone() else {
            return self;
        };
        let of_state =
            std::path::absolute(&documents).map(|folder| name_in(&folder, self.state.folder()));
        Suite {
            state_name: of_state.unwrap_or(self.state_name),
            documents: Some(documents),
            ..self
        }
    }

    fn folders(&self) -> documents::Folders<'_> {
        documents::Folders {
            suite: &self.folder,
            documents: self.documents.as_deref().unwrap_or(&self.folder),
        }
    }

    /// Problems of a document are reported before anything is run for it.
    fn check_documents(&self) -> Result<(), Ending> {
        documents::check_places(&self.file, &self.folders())
    }

    fn write_documents(&self, outcome: &SuiteOutcome) -> Result<String, Ending> {
        documents::write_all(&self.file, &self.folders(), &self.state, outcome)
    }

    /// While a running suite has no result yet, its documents keep their previous content.
    fn expect_results(&self, outcome: &SuiteOutcome) -> Result<(), Ending> {
        let is_empty = outcome.rows.iter().all(|row| row.runs.is_empty());
        match StateLock::holder(self.state.folder()) {
            Some(holder) if is_empty => Err(Ending::refusal(
                ExitCode::Other,
                &format!(
                    "{holder} is running this suite, and no run has ended yet: documents are unchanged"
                ),
            )),
            _ => Ok(()),
        }
    }

    fn facts(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("loadline".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("state".to_owned(), self.state_name.clone()),
        ])
    }

    /// The patterns in the rules of all documents, without duplicates.
    fn component_patterns(&self) -> Vec<String> {
        let rules = self.file.documents.iter().flat_map(|spec| &spec.components);
        let patterns: BTreeSet<&String> = rules.map(|rule| &rule.pattern.value).collect();
        patterns.into_iter().cloned().collect()
    }

    fn record(&self) -> SuiteRecord {
        SuiteRecord::of(&self.plan, self.facts())
    }

    fn outcome(&self) -> Result<SuiteOutcome, Ending> {
        let outcome = self.state.outcome(&self.record());
        outcome.map_err(|error| state_refusal(&error))
    }

    /// Reports unreadable results: their runs count as not made.
    fn warn_of_damaged(&self) {
        for error in self.state.damaged(&self.record()) {
            let file = &self.file.path;
            print::to_stderr(&format!(
                "loadline: {error}; this run does not count; `loadline suite resume {file}` repeats it\n"
            ));
        }
    }

    /// Reports rows that stay empty in documents because their definition has changed since they were run.
    fn warn_of_outdated(&self) {
        let rows = self.state.outdated(&self.record());
        if !rows.is_empty() {
            let (rows, file) = (rows.join(", "), &self.file.path);
            print::to_stderr(&format!(
                "loadline: the suite has changed since these rows ran, so their results are out of date: {rows}; \
                 `loadline suite resume {file}` runs them again\n"
            ));
        }
    }

    /// Reports rows that were judged by other gates than the file has now.
    fn warn_of_other_gates(&self) {
        let record = self.record();
        let rows = record.rows.iter().zip(&self.plan.rows);
        let rows = rows.filter(|(row, planned)| {
            let mut runs = (1..=row.repeat).filter_map(|n| self.state.status(&row.id, n));
            runs.any(|run| {
                let is_judged = run.hash == row.hash && run.state == RunState::Done;
                is_judged && run.gates != planned.settings.gates
            })
        });
        let rows: Vec<&str> = rows.map(|(row, _)| row.id.as_str()).collect();
        if !rows.is_empty() {
            let (rows, file) = (rows.join(", "), &self.file.path);
            print::to_stderr(&format!(
                "loadline: these rows were judged by gates that have changed: {rows}; \
                 `loadline suite resume {file}` judges them again\n"
            ));
        }
    }

    fn lock(&self) -> Result<StateLock, Ending> {
        let lock = StateLock::acquire(self.state.folder());
        lock.map_err(|error| Ending::refusal(ExitCode::Other, &error.to_string()))
    }

    /// The rows named on the command line.
    fn only(&self, names: &[String]) -> Result<Option<Vec<usize>>, Ending> {
        let found = names.iter().map(|name| self.index(name));
        let found: Vec<usize> = found.collect::<Result<_, _>>()?;
        Ok((!found.is_empty()).then_some(found))
    }

    fn index(&self, name: &str) -> Result<usize, Ending> {
        self.plan.row(name).ok_or_else(|| {
            let known: Vec<&str> = self
                .plan
                .rows
                .iter()
                .take(20)
                .map(|row| row.id.as_str())
                .collect();
            Ending::usage(&format!(
                "there is no row {name:?}; the rows are {}",
                known.join(", ")
            ))
        })
    }

    fn row(&self, name: &str) -> Result<String, Ending> {
        Ok(self.plan.rows[self.index(name)?].id.clone())
    }

    /// A folder with runs is only restarted on request.
    fn begin_anew(&self, fresh: bool) -> Result<(), Ending> {
        if !self.state.has_runs() {
            return Ok(());
        }
        if fresh {
            return self
                .state
                .set_all_aside()
                .map_err(|error| state_refusal(&error));
        }
        let (folder, file) = (self.state.folder().display(), &self.file.path);
        Err(Ending::usage(&format!(
            "{folder} already contains runs; continue them with `loadline suite resume {file}`, or set them aside with --fresh"
        )))
    }

    /// The tables for the terminal; if they do not fit, their intervals are only shown in the document.
    fn tables(&self, outcome: &SuiteOutcome, env: &Env) -> Result<String, Ending> {
        let room = io::stdout().is_terminal().then(|| style::columns(env));
        let room = room.flatten();
        let mut tables = documents::tables(&self.file, outcome, true)?;
        if room.is_some_and(|room| show::width(&tables) > room) {
            tables = documents::tables(&self.file, outcome, false)?;
        }
        Ok(show::tables(&tables, room, style::of_stdout(false, env)))
    }

    fn run(
        &self,
        only: Option<Vec<usize>>,
        failed_again: bool,
        ending: &SuiteEndingArgs,
        env: &Env,
    ) -> Result<ExitCode, Ending> {
        print::to_stderr(&show::warnings(&self.plan));
        self.warn_of_damaged();
        let (wish, orders) = Wish::listen()?;
        let access = AccessSettings::of(None, &[], env);
        let address = ending.address.as_deref();
        let rest = address.map(|address| rest::of_ending(address, &access, orders));
        let rest = rest.transpose()?;
        let clock = Clock::start();
        let binary = std::env::current_exe().map_err(|error| {
            let why = format!("cannot find the loadline executable: {error}");
            Ending::refusal(ExitCode::Other, &why)
        })?;
        let mut executor = Processes {
            binary,
            folder: self.folder.clone(),
            wish: Arc::clone(&wish),
            clock,
        };
        let clock_of_hooks = SuiteClock {
            wish: Arc::clone(&wish),
            clock,
        };
        let mut world = System::new(Box::new(clock_of_hooks), self.folder.clone());
        let secrets = self.plan.secrets.iter();
        let secrets = secrets.filter_map(|name| Some((name.clone(), env.get(name)?.to_owned())));
        let settings = RunSettings {
            only,
            failed_again,
            secrets: secrets.collect(),
            facts: self.facts(),
            component_patterns: self.component_patterns(),
            unix_ms: &|| (clock.started_unix_ns() + clock.now().0) / 1_000_000,
        };
        let mut tell = |event| print::to_stderr(&show::event(&event));
        let end = runner::run(
            &self.plan,
            &self.state,
            &mut executor,
            &mut world,
            &settings,
            &mut tell,
        );
        drop(rest);
        let end = end.map_err(|error| state_refusal(&error))?;
        let outcome = self.outcome()?;
        self.warn_of_outdated();
        let written = self.write_documents(&outcome)?;
        let tables = self.tables(&outcome, env)?;
        let status = show::status(&outcome, &self.state);
        let not_run = match end.interrupted {
            true => show::not_run(&outcome, &self.state),
            false => String::new(),
        };
        let text = format!("{status}{tables}{written}{not_run}");
        print::to_stdout(&text).map_err(|error| Ending::unwritten("the status", &error))?;
        Ok(match code(&end) {
            ExitCode::ExternalAbort if wish.is_remote() => ExitCode::RestAbort,
            code => code,
        })
    }
}

fn code(end: &SuiteEnd) -> ExitCode {
    if end.interrupted {
        ExitCode::ExternalAbort
    } else if end.failed > 0 {
        ExitCode::ThresholdsFailed
    } else if end.problems.is_empty() {
        ExitCode::Ok
    } else {
        ExitCode::Other
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Ending {
    let path = path.display();
    Ending::usage(&format!(
        "{path}: {error}; choose another directory with --state"
    ))
}

fn state_refusal(error: &StateError) -> Ending {
    Ending::refusal(ExitCode::Other, &error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_failed_outweighs_what_failed_beside_it() {
        let end = |failed, problems: &[&str], interrupted| SuiteEnd {
            failed,
            problems: problems.iter().map(|text| (*text).to_owned()).collect(),
            interrupted,
            ..SuiteEnd::default()
        };
        assert_eq!(code(&end(0, &[], false)), ExitCode::Ok);
        assert_eq!(code(&end(1, &["hook"], false)), ExitCode::ThresholdsFailed);
        assert_eq!(code(&end(0, &["hook"], false)), ExitCode::Other);
        assert_eq!(code(&end(1, &[], true)), ExitCode::ExternalAbort);
    }
}
