//! k6's archives: a script with all its modules and files, in one tar file.
//!
//! Format (k6 v2.2.0): `metadata.json`; `data`, the entry script; below `file/` and `https/` every folder, then every
//! file by its address, the entry a hard link to `data`. Names of home folders are removed. Must not know where an archive
//! is stored. Invariant: reading a written archive restores it exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Write};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tar::{Builder, EntryType, Header};
use url::Url;

use super::{Fetch, FetchError, Recorded, resolve};
use crate::program::LoadError;

/// The k6 version for which archives are made.
pub(super) const K6_VERSION: &str = "2.2.0";

/// Position of the magic of a tar file, and the magic.
const MARK_AT: usize = 257;
const MARK: &[u8] = b"ustar";

/// A script with all its modules and files.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive {
    /// Its metadata.
    pub metadata: Metadata,
    /// Contents by address, including the entry script.
    pub files: BTreeMap<Url, Bytes>,
}

/// `metadata.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The kind of content; always `js`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The consolidated options at the time of archiving.
    #[serde(default)]
    pub options: Value,
    /// The entry script.
    pub filename: Url,
    /// Base of the entry script's relative names; without a trailing slash.
    pub pwd: Url,
    /// Variables passed to the script.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// k6's compatibility mode.
    #[serde(default, rename = "compatibilityMode")]
    pub compatibility_mode: String,
    /// The k6 version that made it, or that is compatible.
    #[serde(default, rename = "k6version")]
    pub k6_version: String,
    /// The operating system on which it was made, by Go's name.
    #[serde(default)]
    pub goos: String,
    /// Its dependencies with their versions.
    #[serde(default)]
    pub dependencies: BTreeMap<String, String>,
}

impl Archive {
    /// Whether a file looks like an archive.
    #[must_use]
    pub fn is_archive(bytes: &[u8]) -> bool {
        bytes
            .get(MARK_AT..)
            .is_some_and(|rest| rest.starts_with(MARK))
    }

    /// An archive of everything recorded while the script at `entry` was loaded. `directory`, the working
    /// directory, ends in a slash.
    #[must_use]
    pub fn of(
        recorded: &Recorded,
        entry: &Url,
        directory: &Url,
        options: Value,
        env: BTreeMap<String, String>,
    ) -> Archive {
        let files = recorded.files.iter();
        let mut folder = anonymous(&resolve::base_of(entry, directory.clone()));
        let path = folder.path().trim_end_matches('/').to_owned();
        folder.set_path(&path);
        Archive {
            metadata: Metadata {
                kind: "js".to_owned(),
                options,
                filename: anonymous(entry),
                pwd: folder,
                env,
                compatibility_mode: "extended".to_owned(),
                k6_version: K6_VERSION.to_owned(),
                goos: "linux".to_owned(),
                dependencies: BTreeMap::from([("k6".to_owned(), "*".to_owned())]),
            },
            files: files
                .map(|(url, bytes)| (anonymous(url), bytes.clone()))
                .collect(),
        }
    }

    /// Base of the entry script's relative names; ends in a slash.
    #[must_use]
    pub fn directory(&self) -> Url {
        let mut directory = self.metadata.pwd.clone();
        let path = format!("{}/", directory.path().trim_end_matches('/'));
        directory.set_path(&path);
        directory
    }

    /// Writes the archive as a tar file. The bytes are reproducible.
    ///
    /// # Errors
    /// A file's name is too long for a tar file, or the bytes cannot be written.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut tar = Builder::new(out);
        let mut metadata = serde_json::to_vec_pretty(&self.metadata)?;
        metadata.push(b'\n');
        let entry = self.files.get(&self.metadata.filename);
        append(&mut tar, "metadata.json", &metadata)?;
        append(&mut tar, "data", entry.map_or(&[], |bytes| bytes))?;
        for scheme in self.files.keys().map(Url::scheme).collect::<BTreeSet<_>>() {
            self.write_below(scheme, &mut tar)?;
        }
        tar.into_inner()?.flush()
    }

    /// Writes the files of a scheme, after the folders that they are in.
    fn write_below(&self, scheme: &str, tar: &mut Builder<impl Write>) -> io::Result<()> {
        let files = || self.files.iter().filter(|(url, _)| url.scheme() == scheme);
        let names: Vec<String> = files().map(|(url, _)| name_of(url)).collect();
        for folder in names
            .iter()
            .flat_map(|name| folders_of(name))
            .collect::<BTreeSet<_>>()
        {
            let mut header = header(EntryType::Directory, 0);
            header.set_mode(0o755);
            tar.append_data(&mut header, folder, io::empty())?;
        }
        for ((url, bytes), name) in files().zip(&names) {
            if *url == self.metadata.filename {
                let mut header = header(EntryType::Link, 0);
                tar.append_link(&mut header, name, "data")?;
            } else {
                append(tar, name, bytes)?;
            }
        }
        Ok(())
    }

    /// Reads an archive from a tar file. Its files share the tar file's memory.
    ///
    /// # Errors
    /// The bytes are not an archive of a script, or its `metadata.json` or `data` is missing or invalid.
    pub fn read(bytes: impl Into<Bytes>) -> Result<Archive, LoadError> {
        let fail =
            |why: String| LoadError::new(format!("this is not an archive of a script: {why}"));
        let mut named = entries(&bytes.into()).map_err(|error| fail(error.to_string()))?;
        let mut take = |name: &str| {
            let found = named.remove(name);
            found.ok_or_else(|| fail(format!("it holds no {name}; create it again")))
        };
        let metadata = take("metadata.json")?;
        let data = take("data")?;
        let metadata: Metadata = serde_json::from_slice(&metadata)
            .map_err(|error| fail(format!("its metadata.json is wrong: {error}")))?;
        if metadata.kind != "js" {
            return Err(fail(format!("its type is '{}', not 'js'", metadata.kind)));
        }
        let mut files: BTreeMap<Url, Bytes> = named
            .into_iter()
            .filter_map(|(name, bytes)| Some((url_of(&name)?, bytes)))
            .collect();
        files.insert(metadata.filename.clone(), data);
        Ok(Archive { metadata, files })
    }
}

/// Only the archive is read while its script is loaded.
impl Fetch for Archive {
    fn read(&self, url: &Url) -> Result<Bytes, FetchError> {
        let is_of_disk = url.scheme() == "file";
        let found = match is_of_disk {
            true => self.files.get(&with_single_slashes(url)),
            false => self.files.get(url),
        };
        found.cloned().ok_or_else(|| match is_of_disk {
            true if self.has_folder(url) => FetchError::IsDirectory,
            true => FetchError::NotFound,
            false => FetchError::Failed("it is not in the archive".to_owned()),
        })
    }
}

impl Archive {
    /// Whether some file is in this folder, or below it.
    fn has_folder(&self, url: &Url) -> bool {
        let mut folder = with_single_slashes(url);
        let path = format!("{}/", folder.path().trim_end_matches('/'));
        folder.set_path(&path);
        let mut later = self.files.range(&folder..);
        let next = later.next().map(|(file, _)| file.as_str());
        next.is_some_and(|file| file.starts_with(folder.as_str()))
    }
}

/// An address of the file system, in which several slashes are one.
fn with_single_slashes(url: &Url) -> Url {
    let mut single = url.clone();
    if url.path().contains("//") {
        let parts = url.path().split('/').filter(|part| !part.is_empty());
        let path: Vec<&str> = parts.collect();
        single.set_path(&format!("/{}", path.join("/")));
    }
    single
}

fn append(tar: &mut Builder<impl Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    tar.append_data(&mut header(EntryType::Regular, bytes.len()), name, bytes)
}

fn header(kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size as u64);
    header
}

/// Contents of files and hard links by name, as slices of the given bytes. Other kinds of entries are ignored:
/// they contain nothing that a script reads.
fn entries(bytes: &Bytes) -> io::Result<BTreeMap<String, Bytes>> {
    let mut named = BTreeMap::new();
    for entry in tar::Archive::new(Cursor::new(bytes)).entries()? {
        let entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        match entry.header().entry_type() {
            EntryType::Regular => {
                let start = entry.raw_file_position() as usize;
                let end = start.saturating_add(entry.size() as usize);
                if end > bytes.len() {
                    let why = format!("{name} is cut off");
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
                }
                named.insert(name, bytes.slice(start..end));
            }
            EntryType::Link => {
                let target = entry.link_name()?.unwrap_or_default();
                if let Some(content) = named.get(&*target.to_string_lossy()) {
                    let content = content.clone();
                    named.insert(name, content);
                }
            }
            _ => {}
        }
    }
    Ok(named)
}

/// All folders that a file is in.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

/// The name of an address inside an archive.
fn name_of(url: &Url) -> String {
    match url.scheme() {
        "file" => format!("file{}", resolve::path_of(url)),
        scheme => {
            let rest = &url[url::Position::BeforeHost..];
            format!("{scheme}/{rest}")
        }
    }
}

fn url_of(name: &str) -> Option<Url> {
    let (scheme, rest) = name.split_once('/')?;
    match scheme {
        "file" => {
            let mut url = Url::parse("file:///").ok()?;
            url.set_path(&rest.replace('%', "%25"));
            Some(url)
        }
        "https" => Url::parse(&format!("https://{rest}")).ok(),
        _ => None,
    }
}

/// The address without the user's name in a home folder.
fn anonymous(url: &Url) -> Url {
    let mut segments = url.path().splitn(4, '/');
    let (_, home, who) = (segments.next(), segments.next(), segments.next());
    let is_home = url.scheme() == "file" && matches!(home, Some("home" | "Users"));
    if !is_home || who.is_none_or(str::is_empty) {
        return url.clone();
    }
    let rest = segments.next().map(|rest| format!("/{rest}"));
    let path = format!(
        "/{}/nobody{}",
        home.unwrap_or_default(),
        rest.unwrap_or_default()
    );
    let mut url = url.clone();
    url.set_path(&path);
    url
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Made by k6 v2.2.0 from a script, a module, a text and a binary file.
    const GOLDEN: &[u8] = include_bytes!("golden/k6-2.2.0.tar");

    fn url(text: &str) -> Url {
        Url::parse(text).expect("it is an address")
    }

    fn recorded() -> Recorded {
        let file = |name: &str, text: &str| (url(name), Bytes::from(text.to_owned()));
        Recorded {
            files: BTreeMap::from([
                file("file:///home/joe/a/main.js", "import './b%20c.js'"),
                file("file:///home/joe/a/b%20c.js", "1"),
                file("https://host/lib/x.js?v=1", "2"),
            ]),
            builtins: ["k6".to_owned()].into(),
        }
    }

    #[test]
    fn k6s_archives_are_read() {
        assert!(Archive::is_archive(GOLDEN));
        let archive = Archive::read(GOLDEN).expect("it is k6's");
        assert_eq!(archive.metadata.filename, url("file:///scripts/main.js"));
        assert_eq!(archive.directory(), url("file:///scripts/"));
        assert_eq!(archive.metadata.env["FOO"], "bar");
        assert_eq!(archive.metadata.options["iterations"], json!(2));
        let text = Fetch::read(&archive, &url("file:///scripts/lib/d.txt"));
        assert_eq!(text.as_deref(), Ok(b"hello\n".as_slice()));
        let main = Fetch::read(&archive, &url("file:///scripts/main.js")).expect("it is there");
        assert!(main.starts_with(b"import"));
        let other = Fetch::read(&archive, &url("file:///scripts/other.js"));
        assert_eq!(other, Err(FetchError::NotFound));
        let spelled = Fetch::read(&archive, &url("file:///scripts//lib///d.txt"));
        assert_eq!(spelled, text);
        for (folder, error) in [
            ("file:///", FetchError::IsDirectory),
            ("file:///scripts/lib", FetchError::IsDirectory),
            ("file:///scripts/lib/", FetchError::IsDirectory),
            ("file:///scripts/li", FetchError::NotFound),
        ] {
            assert_eq!(Fetch::read(&archive, &url(folder)), Err(error), "{folder}");
        }
    }

    #[test]
    fn what_is_written_has_the_entries_of_k6s() {
        let listed = |bytes: &[u8]| -> Vec<(String, EntryType)> {
            let mut tar = tar::Archive::new(bytes);
            let entries = tar.entries().expect("it is a tar file");
            let entries = entries.map(|entry| {
                let entry = entry.expect("it is whole");
                let name = entry.path().expect("it is text").display().to_string();
                (name, entry.header().entry_type())
            });
            entries.collect()
        };
        let mut bytes = Vec::new();
        let archive = Archive::read(GOLDEN).expect("it is k6's");
        archive.write(&mut bytes).expect("names are short");
        assert_eq!(listed(&bytes), listed(GOLDEN));
    }

    #[test]
    fn files_share_the_memory_of_their_archive() {
        let whole = Bytes::from_static(GOLDEN);
        let archive = Archive::read(whole.clone()).expect("it is k6's");
        for content in archive.files.values().filter(|content| !content.is_empty()) {
            assert!(whole.as_ptr_range().contains(&content.as_ptr()));
        }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let archive = Archive::of(
            &recorded(),
            &url("file:///home/joe/a/main.js"),
            &url("file:///home/joe/elsewhere/"),
            json!({"vus": 3}),
            BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        );
        let names: Vec<&str> = archive.files.keys().map(Url::as_str).collect();
        assert_eq!(
            names,
            [
                "file:///home/nobody/a/b%20c.js",
                "file:///home/nobody/a/main.js",
                "https://host/lib/x.js?v=1"
            ]
        );
        assert_eq!(archive.metadata.pwd.as_str(), "file:///home/nobody/a");
        let mut bytes = Vec::new();
        archive.write(&mut bytes).expect("names are short");
        assert_eq!(Archive::read(bytes), Ok(archive));
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        for bytes in [b"".as_slice(), b"export default 1", &GOLDEN[..1024]] {
            let error = Archive::read(bytes).expect_err("it is none").message;
            assert!(
                error.starts_with("this is not an archive of a script"),
                "{error}"
            );
        }
    }
}
