//! A host for tests: names and files in memory.
//!
//! Must not know what is tested. Invariant: time stands still, and random numbers are reproducible.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_groovy::host::{FileFacts, Host, WriteMode};
use loadline_groovy::value::{Bindings, Outcome, Value};

/// The environment of a script.
#[derive(Default)]
pub(crate) struct Desk {
    names: BTreeMap<String, Value>,
    files: BTreeMap<String, Vec<u8>>,
    /// The output.
    pub(crate) printed: String,
    seed: u64,
    looks: u32,
}

/// The number of checks after which a script has run too long.
const LOOKS: u32 = 8;

impl Host for Desk {
    fn unix_ms(&mut self) -> i64 {
        1_580_466_030_123
    }

    fn random(&mut self) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.seed ^ self.seed >> 29
    }

    fn utc_offset_s(&mut self, _: i64) -> i32 {
        0
    }

    fn must_end(&mut self) -> Option<String> {
        self.looks += 1;
        (self.looks > LOOKS).then(|| "it goes on for too long".to_owned())
    }

    fn sleep(&mut self, _: u64) {}

    fn print(&mut self, text: &str) {
        self.printed.push_str(text);
    }

    fn read_file(&mut self, name: &str) -> Result<Arc<[u8]>, String> {
        let bytes = self.files.get(name).map(|bytes| bytes.as_slice().into());
        bytes.ok_or_else(|| "No such file or directory".to_owned())
    }

    fn write_file(&mut self, name: &str, bytes: &[u8], mode: WriteMode) -> Result<(), String> {
        let file = self.files.entry(name.to_owned()).or_default();
        if mode == WriteMode::Replace {
            file.clear();
        }
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn file_facts(&mut self, name: &str) -> Option<FileFacts> {
        self.files.get(name).map(|bytes| FileFacts {
            is_folder: false,
            bytes: bytes.len() as u64,
            changed_ms: 0,
        })
    }

    fn folder(&mut self, _: &str) -> Option<Vec<String>> {
        None
    }

    fn make_folder(&mut self, _: &str) -> bool {
        true
    }

    fn remove_file(&mut self, name: &str) -> bool {
        self.files.remove(name).is_some()
    }

    fn rename_file(&mut self, _: &str, _: &str) -> bool {
        false
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn property(&mut self, _: &str) -> Option<String> {
        None
    }

    fn set_property(&mut self, _: &str, _: Option<&str>) -> Option<String> {
        None
    }

    fn plan_folder(&mut self) -> String {
        ".".to_owned()
    }

    fn machine(&mut self) -> (String, String) {
        ("here".to_owned(), "127.0.0.1".to_owned())
    }

    fn threads_at_work(&mut self) -> u32 {
        1
    }

    fn thread_name(&mut self) -> String {
        "main".to_owned()
    }
}

impl Bindings for Desk {
    fn bound(&mut self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn bind(&mut self, name: &str, value: Value) {
        self.names.insert(name.to_owned(), value);
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        names.sort();
        names
    }

    fn ask(&mut self, _: &'static str, _: usize, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn make(&mut self, _: &str, _: &[Value]) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn host(&mut self) -> &mut dyn Host {
        self
    }
}
