//! Reads a plan for a run: its file, its properties, and its unsupported parts.
//!
//! Must not know which command needs it. Invariant: a plan with unsupported parts is only run if the user
//! allows it.

use std::collections::BTreeMap;
use std::path::Path;

use loadline_jmeter::edits::Edits;
use loadline_jmeter::fragments;
use loadline_jmeter::tree::{self, Element, TreeFault};
use loadline_jmeter::{Reading, Unsupported};
use loadline_model::ExitCode;
use loadline_steps::host::{LogLevel, World as _};

use super::options::{Added, Options};
use super::unhonoured;
use super::world::World;
use crate::cli::plan_run::PlanSourceArgs;
use crate::terminal::print;
use crate::{Ending, FileError, Files};

/// Settings of JMeter's own properties file that affect the visible behaviour of a run.
const DEFAULTS: [(&str, &str); 5] = [
    ("summariser.name", "summary"),
    ("system.properties", "system.properties"),
    ("user.properties", "user.properties"),
    ("jmeter.reportgenerator.apdex_satisfied_threshold", "500"),
    ("jmeter.reportgenerator.apdex_tolerated_threshold", "1500"),
];

/// The property with the prefix of the paths of included files.
const INCLUDE_PREFIX: &str = "includecontroller.prefix";

/// Reads properties: among those of the command line and the files that it adds, later ones win, and all of
/// them override system properties. Reports those that are not honoured.
///
/// # Errors
/// A file that is not a properties file.
pub(crate) fn properties(options: &Options) -> Result<BTreeMap<String, String>, Ending> {
    let base: BTreeMap<String, String> = match &options.property_file {
        None => DEFAULTS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        Some(file) => {
            let bytes = Files::Disk.read(file);
            let missing = |error: FileError| Ending::usage(&format!("-p: {error}"));
            let own = read_properties(file, &bytes.map_err(missing)?)?;
            own.into_iter().collect()
        }
    };
    let mut all = BTreeMap::new();
    read_where_there(&mut all, base.get("system.properties"))?;
    read_into(&mut all, &options.system_files)?;
    all.extend(options.system.clone());
    let users = base.get("user.properties").cloned();
    all.extend(base);
    read_where_there(&mut all, users.as_ref())?;
    for added in &options.added {
        match added {
            Added::File(file) => read_into(&mut all, std::slice::from_ref(file))?,
            Added::Property(name, Some(value)) => drop(all.insert(name.clone(), value.clone())),
            Added::Property(name, None) => drop(all.remove(name)),
        }
    }
    all.extend(options.proxy.clone());
    let unhonoured = unhonoured::names(&all);
    if !unhonoured.is_empty() {
        print::to_stderr(&format!(
            "loadline: warning: JMeter properties that have no effect: {}\n",
            unhonoured.join(", ")
        ));
    }
    Ok(all)
}

/// Reads properties files; later ones win.
///
/// # Errors
/// A file that is not a properties file.
fn read_into(all: &mut BTreeMap<String, String>, files: &[String]) -> Result<(), Ending> {
    for file in files {
        // As in JMeter, a missing file is skipped; here with a warning.
        let bytes = match Files::Disk.read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                print::to_stderr(&format!("loadline: warning: {error}\n"));
                continue;
            }
        };
        all.extend(read_properties(file, &bytes)?);
    }
    Ok(())
}

/// Reads an optional properties file, as JMeter does with two files in the working directory.
fn read_where_there(
    all: &mut BTreeMap<String, String>,
    file: Option<&String>,
) -> Result<(), Ending> {
    let found = file.filter(|file| Path::new(file).is_file());
    read_into(all, found.map_or(&[], std::slice::from_ref))
}

fn read_properties(file: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Ending> {
    loadline_java::properties::read(bytes)
        .map_err(|fault| Ending::usage(&format!("{file}: {fault}")))
}

/// Reads the plan of one of loadline's own command lines: its properties and its tree.
///
/// # Errors
/// As [`properties`] and [`tree`], with the exit code of something that cannot be run.
pub(crate) fn read(
    source: &PlanSourceArgs,
    options: &Options,
    files: &Files,
) -> Result<(BTreeMap<String, String>, Vec<Element>), Ending> {
    let properties = properties(options)?;
    let edits = source.edits();
    let unreadable = ExitCode::InvalidConfig;
    let tree = tree(&source.plan, &edits, &properties, unreadable, files)?;
    Ok((properties, tree))
}

/// Reads the tree of a plan, and applies the requested changes. `unreadable`: the exit code for a file that is
/// not a plan; `files`: where it and its includes are read.
///
/// # Errors
/// The file cannot be read, or is not a plan; a change without a match.
pub(crate) fn tree(
    plan: &str,
    edits: &Edits,
    properties: &BTreeMap<String, String>,
    unreadable: ExitCode,
    files: &Files,
) -> Result<Vec<Element>, Ending> {
    let refused = |why: &str| Ending::refusal(unreadable, why);
    let text = read_plan(plan, files).map_err(|error| refused(&error.to_string()))?;
    let at_fault = |fault: TreeFault| {
        let place = match (fault.line, fault.column) {
            (0, _) => plan.to_owned(),
            (line, 0) => format!("{plan}:{line}"),
            (line, column) => format!("{plan}:{line}:{column}"),
        };
        refused(&format!("{place}: {}", fault.what))
    };
    let mut elements = tree::read(&text).map_err(at_fault)?;
    edits
        .apply(&mut elements)
        .map_err(|why| Ending::usage(&why))?;
    tree::check_plan(&elements).map_err(at_fault)?;
    let prefix = properties.get(INCLUDE_PREFIX).map_or("", String::as_str);
    let mut read = |path: &str| read_include(plan, prefix, path, files);
    let warnings = fragments::place(&mut elements, &mut read).map_err(|why| refused(&why))?;
    for warning in warnings {
        print::to_stderr(&format!("loadline: warning: {warning}\n"));
    }
    Ok(elements)
}

/// Reads a file that a plan includes: at its path with the prefix, or else next to the plan.
fn read_include(plan: &str, prefix: &str, path: &str, files: &Files) -> Result<String, String> {
    let here = format!("{prefix}{path}");
    let here = Path::new(here.trim());
    let is_here = || files.check(&here.to_string_lossy()).is_ok();
    let place = match here.is_absolute() || is_here() {
        true => here.to_owned(),
        false => Path::new(plan).with_file_name(path.trim()),
    };
    let text = read_plan(&place.to_string_lossy(), files);
    text.map_err(|error| error.to_string())
}

/// The text of a plan. As in JMeter it is read as UTF-8, whatever its first line says.
fn read_plan(path: &str, files: &Files) -> Result<String, FileError> {
    let bytes = files.read(path)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|fault| {
        print::to_stderr(&format!(
            "loadline: warning: {path} is not UTF-8, as JMeter requires: some characters are lost\n"
        ));
        String::from_utf8_lossy(fault.as_bytes()).into_owned()
    }))
}

/// The name of a plan's file, without its folder.
pub(crate) fn bare_name(plan: &str) -> String {
    let name = Path::new(plan).file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Refuses a plan that cannot be run as it is, and reports what JMeter would silently ignore.
///
/// # Errors
/// Wrong function calls, and unsupported parts, unless they are to be skipped.
pub(crate) fn check(reading: &Reading, options: &Options, world: &World) -> Result<(), Ending> {
    if !reading.faults.is_empty() {
        let faults = list(&reading.faults);
        return Err(Ending::usage(&format!(
            "the plan has invalid function calls:{faults}"
        )));
    }
    for warning in &reading.warnings {
        warn(world, warning);
    }
    if reading.unsupported.is_empty() {
        return Ok(());
    }
    let what = list(&reading.unsupported);
    if options.allow_unsupported {
        print::to_stderr(&format!(
            "loadline: warning: unsupported parts are left out:{what}\n"
        ));
        return Ok(());
    }
    Err(Ending::usage(&format!(
        "the plan has unsupported parts:{what}\n--allow-unsupported runs the rest"
    )))
}

/// Reports a likely mistake, on standard error and in the log.
pub(crate) fn warn(world: &World, warning: &str) {
    print::to_stderr(&format!("loadline: warning: {warning}\n"));
    world.log(LogLevel::Warn, "loadline", warning);
}

fn list(entries: &[Unsupported]) -> String {
    let lines = entries.iter();
    lines
        .map(|one| format!("\n  line {}: {}: {}", one.line, one.path, one.what))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::options::{self, Wish};
    use super::*;

    #[test]
    fn of_properties_and_their_files_the_later_one_wins_and_the_proxys_always() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("more.properties");
        std::fs::write(&file, "a=5\nb=5\nc=5\nhttp.proxyHost=file\n").expect("written");
        let file = file.display().to_string();
        let words = [
            "-n", "-t", "p.jmx", "-Hproxy", "-P80", "-Ja=1", "-q", &file, "-Jb=2", "-Jc=",
        ];
        let Wish::Run(options) = options::parse(&words.map(str::to_owned)) else {
            panic!("a run is asked for");
        };
        let all = properties(&options).expect("all can be read");
        let value = |name: &str| all.get(name).map(String::as_str);
        assert_eq!(
            [value("a"), value("b"), value("c")],
            [Some("5"), Some("2"), None]
        );
        assert_eq!(value("http.proxyHost"), Some("proxy"));
    }
}
