//! The files that a test produces: a result with its report, or the folder of a suite; packed for a log, and
//! unpacked.
//!
//! Must not know the destination. Invariants: a name leads into its own folder; unpacking is bounded.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use loadline_model::parcel::{REPORT_FILE, RESULT_FILE};
use loadline_model::{KeptFile, leads_inside};
use loadline_output::{files, json};
use tar::{Archive, Builder, EntryType, Header};

/// Suffix of the name of a suite's state folder.
const STATE: &str = ".state";
/// Suffixes of files that are only useful while a suite runs.
const AT_WORK: [&str; 4] = ["lock", ".journal", ".new", ".tmp"];

/// One of the files.
pub(super) struct LeftFile {
    /// Its path relative to the common folder.
    pub(super) name: String,
    content: Content,
}

enum Content {
    Bytes(Vec<u8>),
    OnDisk(PathBuf),
}

impl LeftFile {
    /// Its content.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        match &self.content {
            Content::Bytes(bytes) => Ok(bytes.clone()),
            Content::OnDisk(path) => fs::read(path),
        }
    }
}

/// The receiver of a result's files, one after the other, with their names.
pub(super) type Take<'a, E> = &'a mut dyn FnMut(&str, &[u8]) -> Result<(), E>;

/// The files of a test, grouped into parts that are stored together.
#[derive(Default)]
pub(super) struct Left {
    parts: Vec<(KeptFile, Vec<LeftFile>)>,
}

impl Left {
    /// A result with its report.
    pub(super) fn of_test(result: Vec<u8>, page: Option<String>) -> Left {
        let of = |file, name: &str, bytes| {
            let name = name.to_owned();
            let content = Content::Bytes(bytes);
            (file, vec![LeftFile { name, content }])
        };
        let mut parts = vec![of(KeptFile::Result, RESULT_FILE, result)];
        parts.extend(page.map(|page| of(KeptFile::Report, REPORT_FILE, page.into_bytes())));
        Left { parts }
    }

    /// The documents and the state in a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of_suite(folder: &Path) -> io::Result<Left> {
        let mut files = Vec::new();
        gather(folder, "", &mut files)?;
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let (state, documents): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| is_of_state(&file.name));
        let parts = [(KeptFile::Documents, documents), (KeptFile::State, state)];
        let parts = parts.into_iter().filter(|(_, files)| !files.is_empty());
        Ok(Left {
            parts: parts.collect(),
        })
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &LeftFile> {
        self.parts.iter().flat_map(|(_, files)| files)
    }

    /// Whether its files have names that only it knows.
    pub(super) fn needs_index(&self) -> bool {
        self.parts.iter().any(|(file, _)| file.name().is_none())
    }

    /// Each part, packed; of a part larger than `most` bytes, enough to detect that.
    pub(super) fn packed(
        &self,
        most: usize,
    ) -> impl Iterator<Item = io::Result<(KeptFile, Vec<u8>)>> {
        self.parts.iter().map(move |(file, files)| {
            let packed = match (file.name(), &files[..]) {
                (Some(_), [one]) => pack(&one.read()?),
                _ => archive(files, most),
            };
            Ok((*file, packed?))
        })
    }
}

/// Whether a name belongs to a file of a suite's state instead of its documents.
pub(super) fn is_of_state(name: &str) -> bool {
    let first = name.split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| first.ends_with(STATE))
}

/// Adds the plain files in a folder that are still useful, with paths that start with `above`.
fn gather(folder: &Path, above: &str, files: &mut Vec<LeftFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let (kind, path) = (entry.file_type()?, format!("{above}{name}"));
        if kind.is_dir() {
            gather(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && leads_inside(&path)
            && !AT_WORK.iter().any(|ending| name.ends_with(ending))
        {
            files.push(LeftFile {
                name: path,
                content: Content::OnDisk(entry.path()),
            });
        }
    }
    Ok(())
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Files in an archive, truncated if it becomes longer than `most` bytes.
fn archive(files: &[LeftFile], most: usize) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for file in files {
        let bytes = file.read()?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, &file.name, &bytes[..])?;
        if tar.get_ref().get_ref().len() > most {
            break;
        }
    }
    tar.into_inner()?.finish()
}

/// The content of a gzip stream, up to the size of the largest result.
pub(super) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let most = json::RESULT_BYTES_MAX;
    GzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut unpacked)?;
    match unpacked.len() as u64 > most {
        true => Err(io::Error::other(format!("it is larger than {most} bytes"))),
        false => Ok(unpacked),
    }
}

/// The files of a packed part, with their names.
///
/// # Errors
/// The format is wrong, it is too large, or a name leads elsewhere.
pub(super) fn unpack_files(file: KeptFile, bytes: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
    let bytes = unpack(bytes)?;
    if let Some(name) = file.name() {
        return Ok(vec![(name.to_owned(), bytes)]);
    }
    let mut files = Vec::new();
    for entry in Archive::new(&bytes[..]).entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if entry.header().entry_type() != EntryType::Regular || !leads_inside(&name) {
            return Err(io::Error::other(format!("{name:?} is not a file of it")));
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.push((name, content));
    }
    Ok(files)
}

/// Writes a file into a folder, completely or not at all; returns its path.
///
/// # Errors
/// Those of the file system.
pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    files::replace(&path, bytes)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A suite's folder with files of these names, each containing its name.
    fn suite(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            write(folder.path(), name, name.as_bytes()).expect("written");
        }
        folder
    }

    #[test]
    fn a_suite_leaves_documents_and_what_was_measured() {
        let folder = suite(&[
            "results.md",
            "out/results.html",
            "s.state/lock",
            "s.state/suite.json",
            "s.state/runs/a/1/result.json",
            "s.state/runs/a/1/result.journal",
        ]);
        let left = Left::of_suite(folder.path()).expect("read");
        assert!(left.needs_index());
        let parts: Vec<(KeptFile, Vec<u8>)> = left
            .packed(1 << 20)
            .collect::<io::Result<_>>()
            .expect("packed");
        let unpacked = |at: usize| {
            let (file, bytes) = &parts[at];
            let files = unpack_files(*file, bytes).expect("unpacked");
            assert!(files.iter().all(|(name, bytes)| name.as_bytes() == bytes));
            let names: Vec<String> = files.into_iter().map(|(name, _)| name).collect();
            (*file, names.join(" "))
        };
        let documents = "out/results.html results.md".to_owned();
        assert_eq!(unpacked(0), (KeptFile::Documents, documents));
        let state = "s.state/runs/a/1/result.json s.state/suite.json".to_owned();
        assert_eq!(unpacked(1), (KeptFile::State, state));
        let none = suite(&["s.state/lock"]);
        let left = Left::of_suite(none.path()).expect("read");
        assert_eq!(left.files().count(), 0);
    }

    #[test]
    fn an_archive_that_leads_elsewhere_is_refused() {
        let mut header = Header::new_gnu();
        header.set_size(1);
        header.as_mut_bytes()[..5].copy_from_slice(b"../.a");
        header.set_cksum();
        let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        tar.append(&header, &b"x"[..]).expect("memory");
        let bytes = tar
            .into_inner()
            .and_then(GzEncoder::finish)
            .expect("memory");
        let error = unpack_files(KeptFile::State, &bytes).expect_err("it leads elsewhere");
        assert!(error.to_string().contains("../.a"), "{error}");
        assert!(unpack_files(KeptFile::State, b"no gzip").is_err());
    }
}
