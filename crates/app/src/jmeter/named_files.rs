//! The files that the elements of a plan name.
//!
//! Must not know how a plan is run, nor what the files are for. Invariant: files whose names are only known
//! during the test are not included.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loadline_jmeter::parts::Part;
use loadline_jmeter::tree::{Element, Properties, Property};
use loadline_steps::host::World as _;
use loadline_steps::scope::Scope;

use super::silences::{enabled, known};
use super::world::World;
use crate::Ending;

/// A file that an element names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) path: String,
    pub(crate) line: u32,
    /// Its name, evaluated.
    pub(crate) file: String,
    /// Whether it exists, or for a written file, whether its folder exists.
    pub(crate) is_there: bool,
    /// Whether it is written.
    pub(crate) is_written: bool,
}

/// The files that the elements of a plan name, as far as the names are known before the run.
pub(crate) fn of(parts: &[Part<'_>], scope: &mut Scope<'_>, world: &World) -> Vec<NamedFile> {
    let mut files = Vec::new();
    for part in enabled(parts) {
        for (source, is_written) in names_in(part.element) {
            let Some(file) = known(source, scope).filter(|file| !file.trim().is_empty()) else {
                continue;
            };
            let is_there = match is_written {
                true => has_folder(&file),
                false => world.has_file(&file),
            };
            files.push(NamedFile {
                path: part.path.clone(),
                line: part.element.line,
                file,
                is_there,
                is_written,
            });
        }
    }
    files
}

/// The files that an element names, and whether it writes them.
fn names_in(element: &Element) -> Vec<(&str, bool)> {
    match element.class.as_str() {
        "CSVDataSet" | "RandomCSVDataSetConfig" => vec![(element.text("filename"), false)],
        "IncludeController" => vec![(element.text("IncludeController.includepath"), false)],
        class if class.ends_with("ResultCollector") => vec![(element.text("filename"), true)],
        _ => {
            let list = element.group("HTTPsampler.Files");
            let uploads = list.group("HTTPFileArgs.files").iter();
            let paths = uploads
                .map(Property::inner)
                .map(|one| one.text("File.path"));
            paths.map(|path| (path, false)).collect()
        }
    }
}

/// Whether the folders of a file exist, or can be created below one that exists.
fn has_folder(file: &str) -> bool {
    let mut above = Path::new(file).ancestors().skip(1);
    let known = above.find(|folder| folder.as_os_str().is_empty() || folder.exists());
    known.is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}

/// The contents of the existing files that elements read, by name.
///
/// # Errors
/// One of them cannot be read.
pub(crate) fn contents(
    named: &[NamedFile],
    world: &World,
) -> Result<BTreeMap<String, Arc<[u8]>>, Ending> {
    let wanted = named
        .iter()
        .filter(|file| file.is_there && !file.is_written);
    let read = wanted.map(|file| {
        let read = world.read_file(&file.file);
        let read =
            read.map_err(|fault| Ending::usage(&format!("{}: {}", file.file, fault.told)))?;
        Ok((file.file.clone(), read))
    });
    read.collect()
}
