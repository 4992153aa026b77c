//! A script with everything that it imports: loaded once, compiled once, shared by all virtual users.
//!
//! Sources are provided by [`ModuleSources`]. Must not know files or the network. Invariant: a module's text is
//! compiled at most once; every virtual user loads the same bytecode.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use serde_json::Value;

use crate::modules::data::SharedArrays;
use crate::secrets::Secrets;
use crate::system_tags::SystemTags;

/// Why a module or a file is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The error, with the file and the next step.
    pub message: String,
}

impl LoadError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> LoadError {
        LoadError {
            message: message.into(),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

/// A file opened by a script.
#[derive(Clone, Debug)]
pub struct OpenedFile {
    /// Its full path.
    pub path: String,
    /// Its contents, held once no matter how often it is opened.
    pub bytes: Bytes,
}

/// Why a file cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Its full path.
    pub path: String,
    /// The reason.
    pub fault: OpenFault,
}

/// The reason why a file cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenFault {
    /// Nothing has that name.
    NotFound,
    /// It is a folder.
    IsDirectory,
    /// It was not opened in the first init.
    Unknown,
    /// Any other error, in words.
    Failed(String),
}

/// In the words of k6's `open()`.
impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_str();
        match &self.fault {
            OpenFault::NotFound => write!(f, "stat {path}: no such file or directory"),
            OpenFault::IsDirectory => {
                let path = match path.trim_end_matches('/') {
                    "" => "/",
                    path => path,
                };
                write!(f, "open() can't be used with directories, path: \"{path}\"")
            }
            OpenFault::Unknown => write!(
                f,
                "open() can't be used with files that weren't previously opened during \
                 initialization (__VU==0), path: \"{path}\""
            ),
            OpenFault::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for OpenError {}

/// The source of modules and files.
pub trait ModuleSources: Send + Sync {
    /// The full name (`file:///…`, `https://…`) of an import called `name`; built-in modules are handled before
    /// this call.
    ///
    /// # Errors
    /// The name is not valid for a module.
    fn resolve(&self, base: &str, name: &str) -> Result<String, LoadError>;
    /// The text of the ECMAScript module with a full name: TypeScript stripped, CommonJS and JSON converted to
    /// modules.
    ///
    /// # Errors
    /// It does not exist, cannot be read, or is not JavaScript.
    fn load(&self, full_name: &str) -> Result<Arc<str>, LoadError>;
    /// `address:line:column` of the original of a position in a loaded module, from its source map; `None`:
    /// there is no mapping for it. A text without an address: the position is in generated code. Lines and
    /// columns of the module count from one.
    fn place(&self, _full_name: &str, _line: u32, _column: u32) -> Option<String> {
        None
    }
    /// The full name of a module that imports `name` from another, which it calls `specifier`, and the line and column
    /// of that statement, from one; `None`: no loaded module does, or it is not known where.
    fn importer(&self, _specifier: &str, _name: &str) -> Option<(String, u32, u32)> {
        None
    }
    /// Why the source map named by a loaded module is not available; `None`: it is available, or the error was
    /// already taken.
    fn take_map_fault(&self, _full_name: &str) -> Option<String> {
        None
    }
    /// The contents of a file opened by a script. A relative path is resolved from the module `base`, whose
    /// code is running; `None`: from the entry script.
    ///
    /// # Errors
    /// It does not exist or cannot be read, or was not opened in the first init.
    fn open(&self, base: Option<&str>, path: &str) -> Result<OpenedFile, OpenError>;

    /// The folder that a path is opened from, if it is not that of the module which asks for it; `None` also
    /// after the first init.
    fn foreign_folder(&self, base: Option<&str>, asking: &str, path: &str) -> Option<String>;
}

/// Settings of a program in addition to its sources.
#[derive(Clone, Debug, Default)]
pub struct ProgramSettings {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Maximum heap bytes of one virtual user; `None`: no limit.
    pub memory_limit: Option<usize>,
    /// The consolidated options, for `exec.test.options`; `Null` until they are known.
    pub options: Value,
    /// Which system tags are enabled.
    pub system_tags: SystemTags,
    /// Tags of every sample of the run.
    pub run_tags: BTreeMap<String, String>,
    /// Defaults of HTTP requests.
    pub http: HttpDefaults,
    /// Whether `__ENV` is frozen.
    pub freeze_env: bool,
    /// Whether failed requests and bad metric values throw (`--throw`).
    pub throw: bool,
    /// Whether cookie jars outlive an iteration (`noCookiesReset`).
    pub keep_cookies: bool,
    /// Whether every hop is traced (`--once`).
    pub traces: bool,
    /// Secrets for `k6/secrets`.
    pub secrets: Arc<Secrets>,
    /// Whether there is no `global` (`--compatibility-mode base`).
    pub lacks_global: bool,
}

/// Defaults of HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpDefaults {
    /// `User-Agent`; empty sends none.
    pub user_agent: String,
    /// Maximum redirects to follow.
    pub max_redirects: u32,
    /// Maximum concurrent requests of one `batch`.
    pub batch: usize,
    /// Maximum concurrent requests of one `batch` to one host.
    pub batch_per_host: usize,
    /// Whether response bodies are discarded.
    pub discard_response_bodies: bool,
    /// Maximum bytes of a decoded body.
    pub body_max: u64,
    /// Which parts of requests and responses are logged.
    pub debug: HttpDebug,
}

/// Which parts of requests and responses are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpDebug {
    /// Nothing.
    #[default]
    Off,
    /// Heads.
    Headers,
    /// Heads and bodies.
    Full,
}

impl Default for HttpDefaults {
    /// k6's defaults.
    fn default() -> HttpDefaults {
        HttpDefaults {
            user_agent: String::new(),
            max_redirects: 10,
            batch: 20,
            batch_per_host: 6,
            discard_response_bodies: false,
            body_max: 64 << 20,
            debug: HttpDebug::Off,
        }
    }
}

/// A script with everything that it imports.
pub struct Program {
    /// The entry script's full name.
    pub(crate) entry: String,
    pub(crate) settings: ProgramSettings,
    pub(crate) shared_arrays: Arc<SharedArrays>,
    sources: Arc<dyn ModuleSources>,
    compiled: Arc<RwLock<HashMap<String, Arc<[u8]>>>>,
}

impl Program {
    /// A program whose entry script has this full name.
    #[must_use]
    pub fn new(
        entry: impl Into<String>,
        sources: Arc<dyn ModuleSources>,
        settings: ProgramSettings,
    ) -> Program {
        Program {
            entry: entry.into(),
            settings,
            shared_arrays: Arc::default(),
            sources,
            compiled: Arc::default(),
        }
    }

    /// The same program with other settings, for when its options are known. Compiled modules and shared arrays
    /// are shared.
    #[must_use]
    pub fn with_settings(&self, settings: ProgramSettings) -> Program {
        Program {
            entry: self.entry.clone(),
            settings,
            shared_arrays: Arc::clone(&self.shared_arrays),
            sources: Arc::clone(&self.sources),
            compiled: Arc::clone(&self.compiled),
        }
    }

    /// The program's settings.
    #[must_use]
    pub fn settings(&self) -> &ProgramSettings {
        &self.settings
    }

    pub(crate) fn sources(&self) -> &dyn ModuleSources {
        &*self.sources
    }

    /// The bytecode of a module, if a virtual user has compiled it.
    pub(crate) fn bytecode(&self, full_name: &str) -> Option<Arc<[u8]>> {
        let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
        compiled.get(full_name).map(Arc::clone)
    }

    /// Stores the bytecode of a module for the other virtual users. The first one is kept: the engine reads
    /// line numbers and source texts from it as long as a virtual user lives.
    pub(crate) fn keep_bytecode(&self, full_name: &str, bytecode: Vec<u8>) {
        self.compiled
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(full_name.to_owned())
            .or_insert_with(|| bytecode.into());
    }
}
