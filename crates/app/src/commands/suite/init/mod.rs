//! `loadline suite init`: makes a first suite file from arguments and detected facts.
//!
//! Must not know the content of a suite file; that is `loadline_suite::init`. Invariants: an existing file is
//! only overwritten on request; questions are only asked if there is a terminal on both sides.

mod ask;
mod examples;
mod found;

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use loadline_model::ExitCode;
use loadline_model::front_end::is_plan;
use loadline_model::words::split;
use loadline_suite::init::{InitLoad, InitWish, compose, load_of_command};
use loadline_suite::plan::Front;

use crate::Ending;
use crate::cli::SuiteInitArgs;
use ask::Asked;

/// Standard output instead of a file.
const STDOUT: &str = "-";

/// Runs the command.
///
/// # Errors
/// The target is missing or cannot be read; the file exists or cannot be written.
pub(super) fn run(args: &SuiteInitArgs) -> Result<ExitCode, Ending> {
    if let Some(preset) = &args.example {
        return examples::write(preset, &args.output, args.force);
    }
    let args = match (&args.what, args.command.as_slice()) {
        (None, []) => &asked(args)?,
        _ => args,
    };
    let wish = wish(args)?;
    let text = compose(&wish);
    if args.output == STDOUT {
        return Ok(Ending::answer(text).tell());
    }
    put(Path::new(&args.output), text.as_bytes(), args.force)?;
    let file = &args.output;
    let told = format!(
        "{file} written; it is ready to run, and writes {}:\n  loadline suite run {file}\n",
        wish.document
    );
    Ok(Ending::answer(told).tell())
}

/// Asks for missing arguments if a user can answer.
fn asked(args: &SuiteInitArgs) -> Result<SuiteInitArgs, Ending> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Ending::usage(
            "nothing to test: give a URL, a script, a plan or a testbed, or a command line \
             after --, as in: loadline suite init -- hey -c 50 URL",
        ));
    }
    let (what, preset) = Asked::of(&mut std::io::stdin().lock(), &mut std::io::stderr())?.told();
    let words = split(&what);
    let words = words.map_err(|why| Ending::usage(&format!("{what}: {why}")))?;
    let mut told = SuiteInitArgs {
        what: None,
        command: Vec::new(),
        output: args.output.clone(),
        force: args.force,
        target: args.target.clone(),
        preset: args.preset.clone().or(preset),
        vus: args.vus.clone(),
        duration: args.duration,
        repeat: args.repeat,
        example: None,
    };
    match words.as_slice() {
        [what] => told.what = Some(what.clone()),
        _ => told.command = words,
    }
    Ok(told)
}

fn wish(args: &SuiteInitArgs) -> Result<InitWish, Ending> {
    let folder = match args.output.as_str() {
        STDOUT => PathBuf::new(),
        file => Path::new(file).parent().unwrap_or(Path::new("")).to_owned(),
    };
    let (load, target) = load(args, &folder)?;
    let target = args.target.clone().or(target);
    if let Some(target) = &target {
        loadline_model::url::parse(target).map_err(|why| Ending::usage(&why))?;
    }
    let file = match args.output.as_str() {
        STDOUT => "suite.yaml",
        file => file,
    };
    Ok(InitWish {
        service: found::service(target.as_deref(), &load, &folder),
        file: file.to_owned(),
        document: "RESULTS.md".to_owned(),
        load,
        target,
        preset: args.preset.clone(),
        vus: args.vus.clone(),
        duration: args.duration,
        repeat: args.repeat,
    })
}

/// How load is made, and its target.
fn load(args: &SuiteInitArgs, folder: &Path) -> Result<(InitLoad, Option<String>), Ending> {
    let Some(what) = &args.what else {
        let read = load_of_command(&args.command);
        let (front, target) = read.map_err(|error| Ending::usage(&error.to_string()))?;
        return Ok((InitLoad::As(seen_from(folder, front)?), target));
    };
    let ending = what.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_url = what.contains("://");
    match ending {
        _ if is_url => Ok((InitLoad::Requests, Some(what.clone()))),
        "yaml" | "yml" => found::testbed(what),
        _ if is_plan(what) => {
            let (file, args) = (there(what)?, Vec::new());
            Ok((
                InitLoad::As(seen_from(folder, Front::Plan { file, args })?),
                None,
            ))
        }
        "js" | "ts" | "mjs" | "tar" => {
            let (file, args) = (there(what)?, Vec::new());
            Ok((
                InitLoad::As(seen_from(folder, Front::Script { file, args })?),
                None,
            ))
        }
        _ => Err(Ending::usage(&format!(
            "{what:?} is not a URL, script (.js, .ts), plan (.jmx) or testbed file (.yaml); write a URL with http://, or a \
             command line after --"
        ))),
    }
}

fn there(file: &str) -> Result<String, Ending> {
    match Path::new(file).is_file() {
        true => Ok(file.to_owned()),
        false => Err(Ending::usage(&format!(
            "{file}: there is no such file; check its name"
        ))),
    }
}

/// A front end whose file is named relative to the suite file's folder.
fn seen_from(folder: &Path, front: Front) -> Result<Front, Ending> {
    let named = |file: String| {
        if folder.as_os_str().is_empty() {
            return Ok(file);
        }
        let unknown = |error| Ending::usage(&format!("{file}: {error}; check its name"));
        let (file, folder) = (
            std::path::absolute(&file).map_err(unknown)?,
            std::path::absolute(folder).map_err(unknown)?,
        );
        let below = file.strip_prefix(&folder).unwrap_or(&file);
        Ok(below.display().to_string())
    };
    Ok(match front {
        Front::Script { file, args } => Front::Script {
            file: named(file)?,
            args,
        },
        Front::Plan { file, args } => Front::Plan {
            file: named(file)?,
            args,
        },
        requests => requests,
    })
}

/// Writes a file that does not exist, or that may be overwritten.
fn put(path: &Path, bytes: &[u8], force: bool) -> Result<(), Ending> {
    let mut how = OpenOptions::new();
    how.write(true);
    match force {
        true => how.create(true).truncate(true),
        false => how.create_new(true),
    };
    let written = how.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let path = path.display();
        Ending::usage(&match error.kind() {
            ErrorKind::AlreadyExists => {
                format!(
                    "{path} already exists; overwrite it with --force, or name another file with -o"
                )
            }
            _ => format!(
                "{path} cannot be written: {error}; check the directory and its permissions"
            ),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Ending {
        let words: Vec<String> = ["loadline", "suite", "init"].map(str::to_owned).into();
        let words: Vec<String> = words
            .into_iter()
            .chain(line.split(' ').map(str::to_owned))
            .collect();
        let parsed = crate::cli::parse(&words).expect("the command line is good");
        let crate::cli::Command::Suite(suite) = parsed.command else {
            panic!("{line}: no suite");
        };
        let crate::cli::SuiteAction::Init(args) = suite.action else {
            panic!("{line}: no init");
        };
        run(&args).expect_err(line)
    }

    #[test]
    fn what_is_nothing_or_not_there_is_refused_with_what_to_do() {
        for (line, word) in [
            ("nonsense", "write a URL with http://"),
            ("no-such-script.js", "check its name"),
            ("ftp://h/", "use http or https"),
            ("no-such-testbed.yaml", "check its name"),
            ("-- wrk http://h/", "write hey, bombardier"),
        ] {
            let ending = refused(line);
            assert_eq!(ending.code, ExitCode::InvalidConfig, "{line}");
            assert!(ending.err.contains(word), "{line}: {}", ending.err);
        }
    }

    #[test]
    fn a_file_that_is_there_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("suite.yaml");
        put(&file, b"first", false).expect("there is none");
        let ending = put(&file, b"second", false).expect_err("it is there");
        assert!(ending.err.contains("--force"), "{}", ending.err);
        assert_eq!(std::fs::read(&file).expect("it is there"), b"first");
        put(&file, b"2nd", true).expect("it may");
        assert_eq!(std::fs::read(&file).expect("it is there"), b"2nd");
    }

    #[test]
    fn a_script_is_named_from_the_suites_folder_on() {
        let script = |file: &str| Front::Script {
            file: file.to_owned(),
            args: Vec::new(),
        };
        let seen =
            |folder: &str, file: &str| seen_from(Path::new(folder), script(file)).expect("a path");
        assert_eq!(seen("", "a.js"), script("a.js"));
        assert_eq!(seen("kit", "kit/a.js"), script("a.js"));
        let Front::Script { file, .. } = seen("kit", "a.js") else {
            panic!("a script stays one");
        };
        assert!(Path::new(&file).is_absolute(), "{file}");
    }
}
