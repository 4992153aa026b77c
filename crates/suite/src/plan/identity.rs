//! A row's identity, and a hash that shows whether it changed.
//!
//! Must not know how rows are run. Invariant: if its load or hooks change, a row keeps its identity and gets
//! another hash.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::PlannedRow;
use crate::file::Problem;

/// Signs of an identity's readable part: folders are named after it.
const SLUG_MAX: usize = 60;
/// Signs of its hash.
const SHORT: usize = 6;

/// The readable part of the identity, and a hash of what defines it.
pub(super) fn id(group: Option<&str>, title: &str, labels: &BTreeMap<String, String>) -> String {
    let mut defining: Vec<&str> = vec![group.unwrap_or_default(), title];
    for (name, value) in labels {
        defining.extend([name.as_str(), value.as_str()]);
    }
    let hash = hash(&Value::from(defining));
    let readable = format!("{} {title}", group.unwrap_or_default());
    format!("{}-{}", slug(&readable), &hash[..SHORT])
}

/// Letters, digits and single dashes.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for sign in text.chars() {
        if sign.is_ascii_alphanumeric() {
            slug.push(sign.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= SLUG_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "row" } else { slug }.to_owned()
}

/// SHA-256 of a value, whose maps are in order of their keys, in hex.
pub(super) fn hash(value: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(value.to_string()))
}

/// SHA-256 of bytes in hex.
pub(super) fn hash_bytes(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Refuses rows that could not be distinguished.
pub(super) fn distinct(rows: Vec<PlannedRow>) -> Result<Vec<PlannedRow>, Problem> {
    let mut seen = BTreeSet::new();
    for row in &rows {
        if !seen.insert(&row.id) {
            let what = format!("there are two rows {:?}", row.title);
            let fix = "give one of them a `name` or other `labels`";
            return Err(Problem::new(row.settings.front_at, what, fix));
        }
    }
    drop(seen);
    Ok(rows)
}
