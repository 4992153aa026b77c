//! Modules and files by name: everything that a script imports, requires and opens.
//!
//! [`Sources`] resolves names as k6 does, reads through a [`Fetch`], and converts to JavaScript: TypeScript
//! without its types, JSON and CommonJS as modules. Must not know files and sockets. Invariant: every byte of a
//! script is recorded, so that its archive is complete.

pub mod archive;
mod common_js;
pub mod dependencies;
mod layout;
mod namespaces;
mod redeclared;
mod refused;
mod resolve;
mod source_map;
mod source_text;
mod syntax_error;
mod typescript;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Contents held once and shared.
pub use bytes::Bytes;
use url::Url;

use crate::program::{LoadError, ModuleSources, OpenError, OpenFault, OpenedFile};
use crate::{jslib, modules};
use dependencies::{Dependencies, DependencyError};
use source_map::SourceMap;
use source_text::{Form, SourceText};

pub(crate) use common_js::WHOLE;
pub use resolve::entry_url;

/// The source of bytes: the file system, the network, or an archive.
pub trait Fetch: Send + Sync {
    /// The contents of a `file:` or `https:` address. May take long.
    ///
    /// # Errors
    /// The contents are not available.
    fn read(&self, url: &Url) -> Result<Bytes, FetchError>;
}

/// Why contents are not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// Nothing has that name.
    NotFound,
    /// It is a folder.
    IsDirectory,
    /// Any other error, in words.
    Failed(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::NotFound => f.write_str("no such file or directory"),
            FetchError::IsDirectory => f.write_str("is a directory"),
            FetchError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FetchError {}

/// Where the popular libraries of `jslib.k6.io` come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Libraries {
    /// From this program, if embedded; the rest is fetched.
    #[default]
    Embedded,
    /// All are fetched like any remote import (`--remote-libs`).
    Fetched,
}

/// Everything that was read while a script was loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Contents by address, modules before any translation.
    pub files: BTreeMap<Url, Bytes>,
    /// The names of imported built-in modules.
    pub builtins: BTreeSet<String>,
}

/// Modules and files of one script.
pub struct Sources {
    fetch: Box<dyn Fetch>,
    entry: Url,
    /// Base for relative names of the entry script; its own folder except for standard input.
    directory: Url,
    libraries: Libraries,
    loaded: Mutex<Loaded>,
    /// Whether any module has a map, or generated code around it: then errors must translate their positions.
    names_places: AtomicBool,
}

#[derive(Default)]
struct Loaded {
    modules: HashMap<String, SourceText>,
    maps: HashMap<String, SourceMap>,
    /// Why a module's map is not available; reported once.
    map_faults: HashMap<String, String>,
    /// Names that importers need from a CommonJS file, by its full name.
    asked: HashMap<String, BTreeSet<String>>,
    /// The first spelling of each full name.
    spelled: HashMap<String, String>,
    recorded: Recorded,
    /// Files opened by scripts.
    opened: BTreeMap<Url, Bytes>,
    /// Why modules could not be read, by full name: as in k6, the reason is the same later.
    failed: HashMap<String, LoadError>,
    is_sealed: bool,
    /// Nothing will run: unknown modules are only recorded.
    lists_only: bool,
}

impl Sources {
    /// Sources of the script at `entry`. `directory` ends in a slash; scripts from standard input (`file:///-`)
    /// resolve relative names from there, others from their own folder.
    #[must_use]
    pub fn new(fetch: Box<dyn Fetch>, entry: Url, directory: Url, libraries: Libraries) -> Sources {
        let directory = resolve::base_of(&entry, directory);
        Sources {
            fetch,
            entry,
            directory,
            libraries,
            loaded: Mutex::default(),
            names_places: AtomicBool::new(false),
        }
    }

    /// The entry script's full name.
    #[must_use]
    pub fn entry(&self) -> &str {
        self.entry.as_str()
    }

    /// Base for relative names of the entry script; ends in a slash.
    #[must_use]
    pub fn directory(&self) -> &Url {
        &self.directory
    }

    /// Loads the entry script and all its static imports, before any of it runs.
    ///
    /// # Errors
    /// A module is missing, unreadable or not JavaScript; in k6's words.
    pub fn load_entry(&self) -> Result<(), LoadError> {
        self.prepare(&mut self.lock(), self.entry.as_str())
            .map(drop)
    }

    /// The script's dependencies, from its imports and directives. The script cannot be run afterwards.
    ///
    /// # Errors
    /// A module is missing, unreadable or not JavaScript, or a directive is invalid; in k6's words.
    pub fn dependencies(&self) -> Result<Dependencies, DependencyError> {
        let mut loaded = self.lock();
        loaded.lists_only = true;
        let order = self
            .prepare(&mut loaded, self.entry.as_str())
            .map_err(DependencyError::Load)?;
        let mut found = Dependencies::default();
        for name in order {
            let text = &loaded.modules[&name];
            found
                .direct(&name, &text.directives)
                .map_err(DependencyError::Directive)?;
            found.imports.insert(name);
        }
        found.complete(std::mem::take(&mut loaded.recorded.builtins));
        Ok(found)
    }

    /// From now on, only modules that were already loaded can be loaded, and only files that were already opened can be
    /// opened: an archive and other agents have no more.
    pub fn seal(&self) {
        self.lock().is_sealed = true;
    }

    /// Everything that was read so far.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        self.lock().recorded.clone()
    }

    /// The base for the relative names of a module; `None`: the entry script.
    fn base_of(&self, module: Option<&str>) -> Url {
        let module = module.filter(|module| *module != self.entry.as_str());
        let module = module.and_then(|module| Url::parse(module).ok());
        module.unwrap_or_else(|| self.directory.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a module and all its static imports, in the order of the text; returns the names of those that
    /// were new.
    fn prepare(&self, loaded: &mut Loaded, full_name: &str) -> Result<Vec<String>, LoadError> {
        let mut read = Vec::new();
        let mut waiting = vec![full_name.to_owned()];
        while let Some(name) = waiting.pop() {
            if loaded.modules.contains_key(&name) {
                continue;
            }
            let text = self.read_module(loaded, &name).inspect_err(|error| {
                loaded
                    .failed
                    .entry(name.clone())
                    .or_insert_with(|| error.clone());
            })?;
            let mut targets = Vec::new();
            for import in &text.imports {
                let target = self.target(loaded, &name, &import.specifier)?;
                let Some(target) = target else { continue };
                let asked = loaded.asked.entry(target.clone()).or_default();
                asked.extend(import.names.iter().cloned());
                targets.push(target);
            }
            waiting.extend(targets.into_iter().rev());
            loaded.modules.insert(name.clone(), text);
            read.push(name);
        }
        Ok(read)
    }

    /// The full name of an import; `None` for a built-in module.
    fn target(
        &self,
        loaded: &mut Loaded,
        base: &str,
        specifier: &str,
    ) -> Result<Option<String>, LoadError> {
        let is_recorded = loaded.lists_only && modules::refusal(specifier).is_some();
        if is_recorded || modules::find(specifier).is_some() {
            loaded.recorded.builtins.insert(specifier.to_owned());
            return Ok(None);
        }
        if let Some(why) = modules::refusal(specifier) {
            return Err(LoadError::new(why));
        }
        let target = self.full_name(base, specifier)?;
        let spelled = loaded.spelled.entry(target.clone());
        spelled.or_insert_with(|| specifier.to_owned());
        Ok(Some(target))
    }

    fn full_name(&self, base: &str, specifier: &str) -> Result<String, LoadError> {
        let base = if base == self.entry.as_str() {
            self.directory.clone()
        } else {
            Url::parse(base).map_err(|error| LoadError::new(format!("{base}: {error}")))?
        };
        resolve::resolve(&base, specifier).map(String::from)
    }

    fn read_module(&self, loaded: &mut Loaded, name: &str) -> Result<SourceText, LoadError> {
        let spelled = |loaded: &Loaded| {
            loaded
                .spelled
                .get(name)
                .map_or(name, String::as_str)
                .to_owned()
        };
        if let Some(error) = loaded.failed.get(name).filter(|_| loaded.is_sealed) {
            return Err(error.clone());
        }
        if loaded.is_sealed {
            let specifier = spelled(loaded);
            return Err(LoadError::new(format!(
                "the module \"{specifier}\" was not previously resolved during initialization (__VU==0)"
            )));
        }
        let url = Url::parse(name).map_err(|error| LoadError::new(format!("{name}: {error}")))?;
        if self.libraries == Libraries::Embedded
            && let Some((text, form)) = jslib::find(&url)
        {
            let bytes = Bytes::from_static(text.as_bytes());
            loaded.recorded.files.insert(url, bytes);
            let mut read = source_text::read(name, text, Form::JavaScript)?;
            read.stands_for_common_js = form == jslib::Form::CommonJs;
            return Ok(read);
        }
        let bytes = self.fetch.read(&url);
        let bytes = bytes.map_err(|error| import_error(&url, &spelled(loaded), &error))?;
        loaded.recorded.files.insert(url.clone(), bytes.clone());
        let form = if resolve::is_standard_input(&url) {
            Form::TypeScript
        } else {
            Form::of_path(url.path())
        };
        let text = match form {
            Form::JavaScript => match std::str::from_utf8(&bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(error) => return Err(syntax_error::of_encoding(name, &bytes, error)),
            },
            // What reads these in k6 takes U+FFFD for it.
            Form::Json | Form::TypeScript => String::from_utf8_lossy(&bytes),
        };
        let read = source_text::read(name, &text, form)?;
        if read.is_common_js {
            self.names_places.store(true, Ordering::Release);
        }
        if form == Form::JavaScript
            && !loaded.lists_only
            && let Some(named) = source_map::named_by(&text)
        {
            match self.read_map(loaded, &url, named) {
                Ok(map) => {
                    loaded.maps.insert(name.to_owned(), map);
                    self.names_places.store(true, Ordering::Release);
                }
                Err(why) => drop(loaded.map_faults.insert(name.to_owned(), why)),
            }
        }
        Ok(read)
    }

    /// The map named by a script's comment.
    fn read_map(
        &self,
        loaded: &mut Loaded,
        script: &Url,
        named: &str,
    ) -> Result<SourceMap, String> {
        if let Some(inline) = source_map::inline(named) {
            return SourceMap::read(&String::from_utf8_lossy(&inline?), script);
        }
        let url = script.join(named).map_err(|error| error.to_string())?;
        let bytes = self.fetch.read(&url);
        let bytes = bytes.map_err(|error| import_error(&url, url.as_str(), &error).message)?;
        loaded.recorded.files.insert(url, bytes.clone());
        // As in k6, source names are resolved from the script.
        SourceMap::read(&String::from_utf8_lossy(&bytes), script)
    }

    /// The contents of a file that a script opens.
    fn bytes_of(&self, url: &Url) -> Result<Bytes, OpenFault> {
        let mut loaded = self.lock();
        if let Some(bytes) = loaded.opened.get(url) {
            return Ok(bytes.clone());
        }
        let bytes = self.fetch.read(url).map_err(|error| fault_of(url, error))?;
        if loaded.is_sealed {
            return Err(OpenFault::Unknown);
        }
        let recorded = &mut loaded.recorded.files;
        recorded.insert(url.clone(), bytes.clone());
        loaded.opened.insert(url.clone(), bytes.clone());
        Ok(bytes)
    }
}

impl ModuleSources for Sources {
    fn place(&self, full_name: &str, line: u32, column: u32) -> Option<String> {
        if !self.names_places.load(Ordering::Acquire) {
            return None;
        }
        let loaded = self.lock();
        let module = loaded.modules.get(full_name)?;
        if module.is_common_js && line > module.lines {
            return Some(common_js::AROUND.to_owned());
        }
        let map = loaded.maps.get(full_name)?;
        let before = if line == 1 && module.is_common_js {
            common_js::BEFORE.len()
        } else {
            0
        };
        map.place(line, column.saturating_sub(u32::try_from(before).ok()?))
    }

    fn importer(&self, specifier: &str, name: &str) -> Option<(String, u32, u32)> {
        let loaded = self.lock();
        let found = loaded.modules.iter().filter_map(|(file, module)| {
            let mut imports = module.imports.iter();
            let import = imports.find(|import| import.specifier == specifier)?;
            let (_, line, column) = import.places.iter().find(|(known, ..)| known == name)?;
            Some((file.clone(), *line, *column))
        });
        found.min()
    }

    fn take_map_fault(&self, full_name: &str) -> Option<String> {
        self.lock().map_faults.remove(full_name)
    }

    fn resolve(&self, base: &str, name: &str) -> Result<String, LoadError> {
        let target = self.target(&mut self.lock(), base, name)?;
        Ok(target.unwrap_or_else(|| name.to_owned()))
    }

    fn load(&self, full_name: &str) -> Result<Arc<str>, LoadError> {
        let mut loaded = self.lock();
        self.prepare(&mut loaded, full_name)?;
        let missing = || LoadError::new(format!("{full_name} was not loaded"));
        let text = loaded.modules.get(full_name).ok_or_else(missing)?;
        let asked = loaded.asked.get(full_name);
        let asked = asked.into_iter().flatten().map(String::as_str);
        if text.is_common_js {
            return Ok(common_js::as_module(&text.code, asked).into());
        }
        let code = text.with_whole_imports(|specifier| {
            let target = self.full_name(full_name, specifier).ok();
            let module = target.and_then(|target| loaded.modules.get(&target));
            module.is_some_and(|module| module.is_common_js)
        });
        if text.stands_for_common_js {
            let lacking = common_js::lacking(full_name, &text.exports, asked);
            return Ok(format!("{code}{lacking}").into());
        }
        Ok(code)
    }

    fn open(&self, base: Option<&str>, path: &str) -> Result<OpenedFile, OpenError> {
        let url = resolve::opened(&self.base_of(base), path);
        let url = url.map_err(|error| OpenError {
            path: path.to_owned(),
            fault: OpenFault::Failed(error.message),
        })?;
        let path = resolve::path_of(&url);
        match self.bytes_of(&url) {
            Ok(bytes) => Ok(OpenedFile { path, bytes }),
            Err(fault) => Err(OpenError { path, fault }),
        }
    }

    fn foreign_folder(&self, base: Option<&str>, asking: &str, path: &str) -> Option<String> {
        if self.lock().is_sealed || path.starts_with('/') || path.starts_with("file://") {
            return None;
        }
        let folder = |module| self.base_of(module).join("./").ok();
        let (from, of_asking) = (folder(base)?, folder(Some(asking))?);
        (from != of_asking).then(|| from.to_string())
    }
}

/// k6's message for a script or an import that cannot be loaded; `spelled` is its name in the source.
#[must_use]
pub fn import_error(url: &Url, spelled: &str, error: &FetchError) -> LoadError {
    let message = match (url.scheme(), error) {
        ("file", FetchError::NotFound) if resolve::is_special(spelled) => {
            resolve::unrecognised(spelled)
        }
        ("file", FetchError::NotFound) => format!(
            "The moduleSpecifier \"{spelled}\" couldn't be found on local disk. Make sure that \
             you've specified the right path to the file. If you're running k6 using the Docker \
             image make sure you have mounted the local directory (-v \
             /local/path/:/inside/docker/path) containing your script and modules so that they're \
             accessible by k6 from inside of the container, see \
             https://grafana.com/docs/k6/latest/using-k6/modules/#use-modules-with-docker."
        ),
        ("file", _) => {
            let path = resolve::path_of(url);
            let named = match path.trim_end_matches('/') {
                "" => "/",
                folder => folder,
            };
            format!("read {named}: {error}")
        }
        _ => format!(
            "The moduleSpecifier \"{spelled}\" couldn't be retrieved from the resolved url \
             \"{url}\". Error : \"{error}\""
        ),
    };
    LoadError::new(message)
}

fn fault_of(url: &Url, error: FetchError) -> OpenFault {
    match error {
        FetchError::NotFound => OpenFault::NotFound,
        FetchError::IsDirectory => OpenFault::IsDirectory,
        FetchError::Failed(why) => {
            OpenFault::Failed(format!("open {}: {why}", resolve::path_of(url)))
        }
    }
}

#[cfg(test)]
mod syntax_error_tests;
#[cfg(test)]
mod tests;
