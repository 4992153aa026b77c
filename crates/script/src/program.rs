//! A script with everything that it imports: loaded once, compiled once, shared by all virtual users.
//!
//! Where sources come from is behind [`ModuleSources`]. Must not know files or the network.
//! Invariant: a module's text is compiled at most once; every virtual user loads the same bytecode.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use serde_json::Value;

use crate::modules::data::SharedArrays;
use crate::secrets::Secrets;
use crate::system_tags::SystemTags;

/// Why a module or a file could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// What went wrong, naming the file and the next step.
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

/// A file that a script has opened.
#[derive(Clone, Debug)]
pub struct OpenedFile {
    /// Its full path.
    pub path: String,
    /// Its contents, which are held once however often it is opened.
    pub bytes: Bytes,
}

/// Why a file cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Its full path.
    pub path: String,
    /// What is wrong with it.
    pub fault: OpenFault,
}

/// What is wrong with a file that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenFault {
    /// There is nothing of that name.
    NotFound,
    /// It is a folder.
    IsDirectory,
    /// It was not opened in the first init.
    Unknown,
    /// Anything else, in words.
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

/// Where modules and files come from.
pub trait ModuleSources: Send + Sync {
    /// The full name (`file:///…`, `https://…`) of what a module imports by `name`; built-in
    /// modules are asked for elsewhere, before this.
    ///
    /// # Errors
    /// When the name cannot be a module's.
    fn resolve(&self, base: &str, name: &str) -> Result<String, LoadError>;
    /// The text of the ECMAScript module of a full name: TypeScript stripped, CommonJS and JSON
    /// turned into modules.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is no JavaScript.
    fn load(&self, full_name: &str) -> Result<Arc<str>, LoadError>;
    /// `address:line:column` of what a place of a loaded module was made from, as its source map has it;
    /// `None`: it has none that knows the place. A text without an address: nobody wrote the place. Lines and columns
    /// of the module count from one.
    fn place(&self, _full_name: &str, _line: u32, _column: u32) -> Option<String> {
        None
    }
    /// Why the source map that a loaded module names could not be had; `None`: it could, or was told before.
    fn take_map_fault(&self, _full_name: &str) -> Option<String> {
        None
    }
    /// The contents of a file that a script opens. A relative path is seen from the module `base`,
    /// the one whose code is being run; `None`: from the entry script.
    ///
    /// # Errors
    /// When it is not there or cannot be read, or was not opened in the first init.
    fn open(&self, base: Option<&str>, path: &str) -> Result<OpenedFile, OpenError>;
}

/// What a program is made with beside its sources.
#[derive(Clone, Debug, Default)]
pub struct ProgramSettings {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Most bytes that one virtual user's heap may take; `None`: no limit.
    pub memory_limit: Option<usize>,
    /// The consolidated options, for `exec.test.options`; `Null` while they are not known.
    pub options: Value,
    /// Which tags are set by themselves.
    pub system_tags: SystemTags,
    /// Tags of every sample of the run.
    pub run_tags: BTreeMap<String, String>,
    /// What HTTP requests are made with unless they say otherwise.
    pub http: HttpDefaults,
    /// Whether `__ENV` is frozen.
    pub freeze_env: bool,
    /// Whether failed requests and bad metric values throw (`--throw`).
    pub throw: bool,
    /// Whether cookie jars outlive an iteration (`noCookiesReset`).
    pub keep_cookies: bool,
    /// Whether every hop is shown (`--once`).
    pub traces: bool,
    /// Secrets for `k6/secrets`.
    pub secrets: Arc<Secrets>,
    /// Whether there is no `global` (`--compatibility-mode base`).
    pub lacks_global: bool,
}

/// What HTTP requests are made with unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpDefaults {
    /// `User-Agent`; empty sends none.
    pub user_agent: String,
    /// Most redirects followed.
    pub max_redirects: u32,
    /// Requests of one `batch` at a time.
    pub batch: usize,
    /// Requests of one `batch` at a time to one host.
    pub batch_per_host: usize,
    /// Whether bodies of answers are forgotten.
    pub discard_response_bodies: bool,
    /// Most bytes that a body is unpacked to.
    pub body_max: u64,
    /// What of requests and answers is written to the log.
    pub debug: HttpDebug,
}

/// What of requests and answers is written to the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpDebug {
    /// Nothing.
    #[default]
    Off,
    /// Their heads.
    Headers,
    /// Their heads and bodies.
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

    /// The same program under other settings: once its options are known. Compiled modules and
    /// shared arrays are shared.
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

    /// What the program was made with.
    #[must_use]
    pub fn settings(&self) -> &ProgramSettings {
        &self.settings
    }

    pub(crate) fn sources(&self) -> &dyn ModuleSources {
        &*self.sources
    }

    /// The bytecode of a module, if some virtual user has compiled it.
    pub(crate) fn bytecode(&self, full_name: &str) -> Option<Arc<[u8]>> {
        let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
        compiled.get(full_name).map(Arc::clone)
    }

    /// Keeps the bytecode of a module for the other virtual users. The first one stays: the engine
    /// reads line numbers and source texts in it as long as a virtual user lives.
    pub(crate) fn keep_bytecode(&self, full_name: &str, bytecode: Vec<u8>) {
        self.compiled
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(full_name.to_owned())
            .or_insert_with(|| bytecode.into());
    }
}
