//! Tests of logs as files: growth, rotation, truncation.
//!
//! Must not know the machine's logs. Invariant: every line written after the first read is counted once.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::clock::tests::TestClock;
use crate::readings::MISSING_NOTE;

struct Log {
    folder: TempDir,
    source: LogSource,
    clock: TestClock,
    second: f64,
}

impl Log {
    fn new(pattern: &str, from_start: bool) -> Log {
        let folder = TempDir::new().unwrap();
        let settings = LogSettings {
            path: Some(folder.path().join("a.log").to_str().unwrap().to_owned()),
            pod: None,
            namespace: None,
            container: None,
            context: None,
            pattern: pattern.to_owned(),
            from_start,
        };
        Log {
            folder,
            source: LogSource::new(&settings, None).unwrap(),
            clock: TestClock::default(),
            second: 100.0,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.log")
    }

    fn write(&self, text: &str) {
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).open(self.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn look(&mut self) -> (Readings, Result<(), Gap>) {
        self.second += 1.0;
        self.clock.set_seconds(self.second);
        let mut readings = Readings::new(&Arc::from("l"), 0);
        let tick = Tick {
            clock: &self.clock,
            load_ended_unix_ns: None,
        };
        let result = self.source.read(&tick, &mut readings);
        (readings, result)
    }

    fn count(&mut self) -> f64 {
        self.look().0.value("l", "count").unwrap()
    }
}

#[test]
fn only_what_comes_counts_unless_it_is_said() {
    let mut log = Log::new("ok", false);
    log.write("ok 1\nok 2\n");
    assert_eq!(log.count(), 0.0);
    log.write("ok 3\nno\nok");
    assert_eq!(log.count(), 1.0);
    log.write(" 4\n");
    assert_eq!(log.count(), 2.0);
    let mut whole = Log::new("ok", true);
    whole.write("ok 1\nok 2\n");
    assert_eq!(whole.count(), 2.0);
}

#[test]
fn a_group_is_summed_up() {
    let mut log = Log::new(r"acked (\d+)", false);
    log.write("");
    log.look().1.unwrap();
    log.write("acked 500\nacked none\nacked 250\n");
    let (look, _) = log.look();
    assert_eq!(look.value("l", "count"), Some(2.0));
    assert_eq!(look.value("l", "sum"), Some(750.0));
    assert_eq!(look.value("l", "value"), Some(250.0));
    assert_eq!(look.value("l", "sum_per_s"), Some(750.0));
}

#[test]
fn a_file_that_comes_later_counts_from_its_beginning() {
    let mut log = Log::new("ok", false);
    assert!(log.look().1.is_err());
    log.write("ok\n");
    assert_eq!(log.count(), 1.0);
}

#[cfg(unix)]
#[test]
fn rotation_loses_nothing() {
    let mut log = Log::new("ok", false);
    log.write("ok 0\n");
    assert_eq!(log.count(), 0.0);
    log.write("ok 1\n");
    fs::rename(log.path(), log.folder.path().join("a.log.1")).unwrap();
    assert_eq!(log.count(), 1.0);
    let old = log.folder.path().join("a.log.1");
    let mut late = OpenOptions::new().append(true).open(old).unwrap();
    late.write_all(b"ok 2\n").unwrap();
    log.write("ok 3\nok 4\n");
    assert_eq!(log.count(), 4.0);
}

#[test]
fn cutting_starts_anew_and_is_told() {
    let mut log = Log::new("ok", false);
    log.write("ok 0 and more than will come\n");
    assert_eq!(log.count(), 0.0);
    File::create(log.path()).unwrap();
    log.write("ok 1\n");
    let (look, _) = log.look();
    assert_eq!(look.value("l", "count"), Some(1.0));
    assert_eq!(look.remarks(MISSING_NOTE).len(), 1);
}

#[test]
fn a_folder_is_no_log() {
    let mut log = Log::new("ok", false);
    fs::create_dir(log.path()).unwrap();
    assert!(log.look().1.unwrap_err().0.contains("not a file"));
}
