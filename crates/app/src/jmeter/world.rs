//! What the threads of a plan see of this machine: files, properties, the environment, the log.
//!
//! Must not know threads. Invariant: a file is read as it is now, whoever has written it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use loadline_engine::platform;
use loadline_model::civil::Civil;
use loadline_run::ScriptLog;
use loadline_script::host::{LogEntry, LogLevel as Level};
use loadline_steps::host::{FileFault, LogLevel, World as StepsWorld, WriteMode};
use loadline_steps::world::FileFacts;

use super::file_cache::{FileCache, Stamp};
use super::zone;
use crate::files::FileError;
use crate::terminal::print;
use crate::{Env, Files};

/// What the threads of a plan see of this machine.
pub(crate) struct World {
    properties: Mutex<BTreeMap<String, String>>,
    /// The folder of the plan.
    folder: PathBuf,
    files: Mutex<FileCache>,
    env: Env,
    log: Mutex<LogTo>,
    /// What is less grave than this is not logged; `None`: nothing is.
    log_from: Option<LogLevel>,
    /// Whether the plan may write to standard output.
    has_console: bool,
}

/// The destination of a plan's log.
pub(crate) enum LogTo {
    /// Nowhere.
    Nowhere,
    /// To a file.
    File(File),
    /// To the receiver of an agent's log.
    Agents(Arc<dyn ScriptLog>),
}

/// The name of a field of the log: the JMeter class in whose name it is written.
const CLASS: &str = "class";

/// Writes the agents' log lines to the log of the plan.
pub(crate) struct AgentsLog(pub(crate) Arc<World>);

impl ScriptLog for AgentsLog {
    fn write(&self, entry: &LogEntry<'_>) {
        let level = match entry.level {
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warning => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        let class = entry.fields.iter().find(|(name, _)| *name == CLASS);
        let class = class.map_or("", |(_, class)| *class);
        self.0.log(level, class, entry.message);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "console and log tell the time of day also before the run's clock begins and after its end"
)]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

impl World {
    /// The world of a plan in a file; without a log nothing is logged.
    pub(crate) fn new(
        plan: &str,
        mut properties: BTreeMap<String, String>,
        env: &Env,
        log: Option<File>,
    ) -> World {
        properties.extend(starts(now_ms()));
        let log = log.map_or(LogTo::Nowhere, LogTo::File);
        World::of(plan, properties, env, log)
    }

    /// The same with a complete set of properties.
    pub(crate) fn of(
        plan: &str,
        properties: BTreeMap<String, String>,
        env: &Env,
        log: LogTo,
    ) -> World {
        let folder = Path::new(plan).parent().unwrap_or(Path::new(""));
        World {
            properties: Mutex::new(properties),
            folder: folder.to_owned(),
            files: Mutex::default(),
            env: env.clone(),
            log: Mutex::new(log),
            log_from: Some(LogLevel::Info),
            has_console: false,
        }
    }

    /// The same world with standard output, to which scripts then print.
    pub(crate) fn with_console(self) -> World {
        World {
            has_console: true,
            ..self
        }
    }

    /// The same world with this least level of the log in JMeter's words; others are those of the default.
    pub(crate) fn logging_from(self, level: Option<&str>) -> World {
        let log_from = match level.unwrap_or_default().to_ascii_uppercase().as_str() {
            "OFF" | "FATAL" => None,
            "ERROR" => Some(LogLevel::Error),
            "WARN" => Some(LogLevel::Warn),
            "DEBUG" | "TRACE" | "ALL" => Some(LogLevel::Debug),
            _ => Some(LogLevel::Info),
        };
        World { log_from, ..self }
    }

    /// Adds files that another machine has read.
    pub(crate) fn keep_files(&self, files: BTreeMap<String, Vec<u8>>) {
        let mut kept = lock(&self.files);
        for (name, bytes) in files {
            kept.fix(whole(Path::new(&name)), bytes.into());
        }
    }

    /// Sets the start time of the test, as a property.
    pub(crate) fn begin_test(&self) {
        self.set_property("TESTSTART.MS", &now_ms().to_string());
    }

    /// The location of a file: in the working directory, or else next to the plan.
    fn place(&self, name: &str) -> PathBuf {
        let here = Path::new(name);
        match here.is_absolute() || here.exists() {
            true => here.to_owned(),
            false => self.folder.join(name),
        }
    }

    /// A written file is read again, under every name.
    fn forget(&self, name: &str) {
        lock(&self.files).forget(&whole(Path::new(name)));
    }

    /// Java's system properties of this machine, which JMeter returns if nothing else has the name.
    fn of_java(&self, name: &str) -> Option<String> {
        let text = match name {
            "user.dir" => {
                return Some(std::env::current_dir().ok()?.to_string_lossy().into_owned());
            }
            "user.home" => return self.env.get("HOME").map(str::to_owned),
            "user.name" => return self.env.get("USER").map(str::to_owned),
            "java.io.tmpdir" => "/tmp",
            "file.separator" => "/",
            "path.separator" => ":",
            "line.separator" => "\n",
            "file.encoding" => "UTF-8",
            "java.version" => "17.0.15",
            "java.specification.version" => "17",
            "os.name" if cfg!(target_os = "macos") => "Mac OS X",
            "os.name" => "Linux",
            "os.arch" if cfg!(target_arch = "x86_64") => "amd64",
            "os.arch" => std::env::consts::ARCH,
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Whether a file that the plan reads exists.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.place(name).is_file()
    }

    /// Writes a line of the log.
    pub(crate) fn tell(&self, class: &str, message: &str) {
        self.log(LogLevel::Info, class, message);
    }
}

impl StepsWorld for World {
    fn utc_offset_s(&self, unix_ms: i64) -> i32 {
        zone::local(unix_ms).offset_s
    }

    fn properties(&self) -> Vec<(String, String)> {
        lock(&self.properties).clone().into_iter().collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        let own = self.own_property(name);
        own.or_else(|| self.of_java(name))
    }

    fn own_property(&self, name: &str) -> Option<String> {
        let own = lock(&self.properties).get(name).cloned();
        own.or_else(|| (name == "jmeter.version").then(|| "5.6.3".to_owned()))
    }

    fn set_property(&self, name: &str, value: &str) -> Option<String> {
        lock(&self.properties).insert(name.to_owned(), value.to_owned())
    }

    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, FileFault> {
        let named = whole(Path::new(name));
        if let Some(fixed) = lock(&self.files).fixed(&named) {
            return Ok(fixed);
        }
        let path = self.place(name);
        let place = whole(&path);
        let stamp = stamp_of(&place);
        let known = stamp.and_then(|stamp| lock(&self.files).find(&place, stamp));
        if let Some(known) = known {
            return Ok(known);
        }
        let read_ms = now_ms();
        let bytes = Files::Disk.read(&path.to_string_lossy());
        let bytes: Arc<[u8]> = bytes.map_err(|error| fault_of(&error))?.into();
        match stamp {
            Some(stamp) => lock(&self.files).keep(&place, stamp, &bytes, read_ms),
            None => lock(&self.files).fix(named, Arc::clone(&bytes)),
        }
        Ok(bytes)
    }

    fn write_file(&self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String> {
        let written = match mode {
            WriteMode::Append => OpenOptions::new()
                .append(true)
                .create(true)
                .open(name)
                .and_then(|mut file| file.write_all(bytes)),
            WriteMode::Replace => fs::write(name, bytes),
        };
        self.forget(name);
        written.map_err(|error| format!("cannot write {name}: {error}"))
    }

    fn remove_property(&self, name: &str) -> Option<String> {
        lock(&self.properties).remove(name)
    }

    fn file_facts(&self, name: &str) -> Option<FileFacts> {
        let found = fs::metadata(self.place(name)).ok()?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(FileFacts {
            is_folder: found.is_dir(),
            bytes: found.len(),
            changed_ms: i64::try_from(changed.as_millis()).unwrap_or(i64::MAX),
        })
    }

    fn folder(&self, name: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.place(name)).ok()?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        Some(names)
    }

    fn make_folder(&self, name: &str) -> bool {
        !Path::new(name).exists() && fs::create_dir_all(name).is_ok()
    }

    fn remove_file(&self, name: &str) -> bool {
        let place = Path::new(name);
        let is_done = fs::remove_file(place).is_ok() || fs::remove_dir(place).is_ok();
        self.forget(name);
        is_done
    }

    fn rename_file(&self, from: &str, to: &str) -> bool {
        let is_done = fs::rename(from, to).is_ok();
        self.forget(from);
        self.forget(to);
        is_done
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.env.all().get(name).cloned()
    }

    fn plan_folder(&self) -> String {
        let folder = match self.folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => self.folder.as_path(),
        };
        whole(folder).to_string_lossy().into_owned()
    }

    fn machine(&self) -> (String, String) {
        let name = match platform::host_name() {
            unknown if unknown.is_empty() => "localhost".to_owned(),
            name => name,
        };
        (name, "127.0.0.1".to_owned())
    }

    fn log(&self, level: LogLevel, class: &str, message: &str) {
        if self.log_from.is_none_or(|least| level < least) {
            return;
        }
        let mut log = lock(&self.log);
        let (level, sent) = match level {
            LogLevel::Debug => ("DEBUG", Level::Debug),
            LogLevel::Info => ("INFO", Level::Info),
            LogLevel::Warn => ("WARN", Level::Warning),
            LogLevel::Error => ("ERROR", Level::Error),
        };
        let file = match &mut *log {
            LogTo::Nowhere => return,
            LogTo::File(file) => file,
            LogTo::Agents(coordinator) => {
                return coordinator.write(&LogEntry {
                    level: sent,
                    message,
                    fields: &[(CLASS, class)],
                    in_init: false,
                });
            }
        };
        let line = format!("{} {level} {class}: {message}\n", told(now_ms()));
        if file.write_all(line.as_bytes()).is_err() {
            // A log that cannot be written is no reason to end a test.
            *log = LogTo::Nowhere;
        }
    }

    fn print(&self, class: &str, text: &str) {
        if self.has_console {
            // Neither is a closed console.
            let _ = print::to_stdout(text);
        } else {
            let line = text.strip_suffix('\n').unwrap_or(text);
            self.log(LogLevel::Info, class, line);
        }
    }
}

/// A path from the root, one for all spellings that differ in nothing but a `.`.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What tells a change of a file; `None`: it is not there, or is no file on a disk, such as a pipe.
fn stamp_of(place: &Path) -> Option<Stamp> {
    let found = fs::metadata(place).ok().filter(fs::Metadata::is_file)?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Stamp {
        changed_ns: i128::try_from(changed.as_nanos()).ok()?,
        length: found.len(),
    })
}

/// The system's message without its number, which Java omits.
fn fault_of(error: &FileError) -> FileFault {
    let why = error.error.to_string();
    FileFault {
        why: why
            .split(" (os error")
            .next()
            .unwrap_or_default()
            .to_owned(),
        told: error.to_string(),
    }
}

/// The local date and time at an instant.
fn local(unix_ms: i64) -> Civil {
    let local_s = unix_ms.div_euclid(1000) + i64::from(zone::local(unix_ms).offset_s);
    Civil::of_unix_s(u64::try_from(local_s).unwrap_or(0))
}

/// The properties with the start time of the program.
fn starts(unix_ms: i64) -> [(String, String); 3] {
    let at = local(unix_ms);
    let date = format!("{:04}{:02}{:02}", at.year, at.month, at.day);
    let time = format!("{:02}{:02}{:02}", at.hour, at.minute, at.second);
    [
        ("START.MS".to_owned(), unix_ms.to_string()),
        ("START.YMD".to_owned(), date),
        ("START.HMS".to_owned(), time),
    ]
}

/// A time in the format of JMeter's log.
fn told(unix_ms: i64) -> String {
    let civil = local(unix_ms);
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02},{:03}",
        civil.year,
        civil.month,
        civil.day,
        civil.hour,
        civil.minute,
        civil.second,
        unix_ms.rem_euclid(1000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javas_words_have_no_number() {
        let error = FileError {
            path: "/tmp".to_owned(),
            error: std::io::Error::from_raw_os_error(libc::EISDIR),
        };
        let fault = fault_of(&error);
        assert_eq!(fault.why, "Is a directory");
        assert!(fault.told.contains("/tmp"), "{}", fault.told);
    }

    #[test]
    fn a_file_is_read_as_it_is_now() {
        let folder = tempfile::tempdir().expect("there is room");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let world = World::of("p.jmx", BTreeMap::new(), &Env::default(), LogTo::Nowhere);
        let read = |name: &str| world.read_file(&at(name)).map(|bytes| bytes.to_vec());
        fs::write(at("x"), "old").expect("there is room");
        let past = File::options().append(true).open(at("x"));
        past.and_then(|file| file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(9)))
            .expect("a time can be set");
        assert_eq!(read("x"), Ok(b"old".to_vec()));
        let (first, again) = (world.read_file(&at("x")), world.read_file(&at("./x")));
        assert!(Arc::ptr_eq(
            &first.expect("it is there"),
            &again.expect("it is there")
        ));
        fs::write(at("x"), "new").expect("there is room");
        assert_eq!(read("x"), Ok(b"new".to_vec()));
        fs::write(at("x"), "NEW").expect("there is room");
        assert_eq!(read("x"), Ok(b"NEW".to_vec()), "in the same moment");
        world
            .write_file(&at("./x"), b"own", WriteMode::Replace)
            .expect("there is room");
        assert_eq!(read("x"), Ok(b"own".to_vec()));
        world.keep_files([(at("y"), b"sent".to_vec())].into());
        assert_eq!(read("y"), Ok(b"sent".to_vec()));
        assert!(!world.remove_file(&at("y")) && read("y").is_err());
        let nowhere = world.write_file(&at("absent/z"), b"z", WriteMode::Append);
        assert!(nowhere.is_err() && !folder.path().join("absent").exists());
    }

    #[test]
    fn the_start_is_a_date_and_a_time() {
        let [ms, date, time] = starts(1_000).map(|(_, value)| value);
        assert_eq!(ms, "1000");
        assert_eq!((date.len(), time.len()), (8, 6));
    }
}
