//! What to do with the output of the container that passes a result on.
//!
//! Must not know the API. Invariants: the output is untrusted data; whatever is made from it is no larger than
//! a ConfigMap may be.

use loadline_model::{KeptFile, Parcel, parcel};
use serde_json::{Map, Value, json};

use crate::names::Names;
use crate::objects;
use crate::results::{CONTAINER, Kept};
use crate::test::{Test, Work};

/// Maximum bytes of files in a ConfigMap, which holds one mebibyte; low enough for the cluster's store even
/// with many tests.
pub const CONFIG_MAP_MAX: usize = 512 << 10;
/// Maximum bytes of the log that are read: files that fit, and as much again for those that do not.
pub const LOG_MAX: i64 = (CONFIG_MAP_MAX as i64) * 3;
/// The start of a parcel; it follows a message about it.
const PARCEL: &str = "loadline-parcel/";
/// Maximum characters of that message.
const SAID_MAX: usize = 256;

/// What to do with a keeper's output.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Store it in this ConfigMap, then report this.
    Make(Box<Value>, Kept),
    /// Report this immediately.
    Tell(Kept),
    /// It may not be complete yet.
    Wait,
}

/// Decides what to do with a keeper's log, of which at most [`LOG_MAX`] bytes were read.
#[must_use]
pub fn plan(run: &Test, pod: &str, log: &str) -> Plan {
    if log.lines().any(|line| line == parcel::WRITTEN) {
        return Plan::Tell(Kept::as_wanted(&run.results));
    }
    let is_cut = log.len() as i64 >= LOG_MAX;
    let Some(parcel) = Parcel::read(log) else {
        return match log.trim() {
            "" => Plan::Wait,
            said => Plan::Tell(Kept::nowhere(last_line(said))),
        };
    };
    if !parcel.is_whole && !is_cut {
        return Plan::Wait;
    }
    let mut before = log.lines().take_while(|line| !line.starts_with(PARCEL));
    let said = before.next().map(last_line);
    if parcel.is_whole && parcel.files.is_empty() {
        let said = said.unwrap_or("the coordinator left none".to_owned());
        return Plan::Tell(Kept::nowhere(said));
    }
    let is_first = |(file, _): &&(KeptFile, Vec<u8>)| file.is_first();
    let has_room = parcel.is_whole && parcel.size() <= CONFIG_MAP_MAX;
    let files = match has_room {
        true => parcel.files,
        false => parcel.files.iter().filter(is_first).cloned().collect(),
    };
    let size: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    if files.is_empty() || size > CONFIG_MAP_MAX {
        let message = format!("it is {}", too_large());
        return Plan::Tell(Kept::in_log(pod, &message));
    }
    // A report can be rebuilt from the result at any time; a suite's measurements cannot be rebuilt.
    let is_measured = !has_room && matches!(run.work, Work::Suite { .. });
    let elsewhere = is_measured.then(|| {
        format!(
            "with its measurements it is {}: they are in the log of the container {CONTAINER} of pod {pod}",
            too_large()
        )
    });
    let kept = Kept {
        config_map: Some(Names::of(run).results()),
        files: files
            .iter()
            .map(|(file, _)| file.packed_name().to_owned())
            .collect(),
        message: said.or(elsewhere),
        ..Kept::default()
    };
    Plan::Make(Box::new(config_map(run, &files)), kept)
}

fn too_large() -> String {
    let kib = CONFIG_MAP_MAX >> 10;
    format!("larger than the {kib} KiB that are put into a ConfigMap")
}

fn config_map(run: &Test, files: &[(KeptFile, Vec<u8>)]) -> Value {
    let data: Map<String, Value> = files
        .iter()
        .map(|(file, bytes)| {
            let bytes = k8s_openapi::ByteString(bytes.clone());
            (file.packed_name().to_owned(), json!(bytes))
        })
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "immutable": true,
        "metadata": objects::metadata(run, &Names::of(run).results()),
        "binaryData": data,
    })
}

fn last_line(said: &str) -> String {
    let line = said.lines().next_back().unwrap_or_default();
    let clean = line.replace(char::is_control, " ");
    clean[..clean.floor_char_boundary(SAID_MAX)].to_owned()
}

#[cfg(test)]
mod tests;
