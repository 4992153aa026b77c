//! Fetched modules on disk.
//!
//! One file per URL, named by a hash of it: a line of JSON with the URL and the server's validators, then the
//! unchanged body. Must not know who fetched it. Invariant: a file is complete or does not exist, and its URL
//! is compared before it is used.

use std::io;
use std::path::{Path, PathBuf};

use loadline_model::fnv::fnv1a;
use loadline_output::files;
use serde_json::{Value, json};
use url::Url;

/// A fetched module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The `ETag` that it came with.
    pub(super) etag: Option<String>,
    /// The `Last-Modified` that it came with.
    pub(super) last_modified: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Kept {
    /// The cached module of a URL; `None` if there is none, or it is unreadable.
    pub(super) fn read(folder: &Path, url: &Url) -> Option<Kept> {
        let bytes = std::fs::read(path_of(folder, url)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let about: Value = serde_json::from_slice(&bytes[..end]).ok()?;
        let text = |name: &str| Some(about.get(name)?.as_str()?.to_owned());
        (text("url")? == url.as_str()).then(|| Kept {
            etag: text("etag"),
            last_modified: text("last_modified"),
            body: bytes[end + 1..].to_vec(),
        })
    }

    /// Stores it.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(super) fn write(&self, folder: &Path, url: &Url) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let path = path_of(folder, url);
        let about = json!({
            "url": url.as_str(),
            "etag": self.etag,
            "last_modified": self.last_modified,
        });
        let mut text = format!("{about}\n").into_bytes();
        text.extend_from_slice(&self.body);
        // Concurrent runs may store the same module.
        files::replace(&path, text)
    }
}

fn path_of(folder: &Path, url: &Url) -> PathBuf {
    folder.join(format!("{:016x}", fnv1a(url.as_str().bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_for_its_own_address() {
        let folder = tempfile::tempdir().expect("there is room");
        let url = |text: &str| Url::parse(text).expect("it is an address");
        let (one, two) = (url("https://h/a.js?v=1"), url("https://h/a.js?v=2"));
        let kept = Kept {
            etag: Some("\"e\"".to_owned()),
            last_modified: None,
            body: b"line\nline".to_vec(),
        };
        assert_eq!(Kept::read(folder.path(), &one), None);
        kept.write(folder.path(), &one).expect("there is room");
        assert_eq!(Kept::read(folder.path(), &one), Some(kept));
        assert_eq!(Kept::read(folder.path(), &two), None);
        // As if both had the same hash.
        std::fs::copy(path_of(folder.path(), &one), path_of(folder.path(), &two)).expect("room");
        assert_eq!(Kept::read(folder.path(), &two), None);
    }
}
