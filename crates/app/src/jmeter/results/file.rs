//! A results file that is being written.
//!
//! Must not know samples. Invariant: the file always contains whole rows, even if the disk was full.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use loadline_report::jmeter::save_config::SaveConfig;
use loadline_report::jmeter::{csv, xml};

/// Maximum number of buffered bytes before they are written.
const PENDING_MAX: usize = 64 << 10;

/// An open results file.
pub(super) struct OpenFile {
    /// Its location, by whatever name it was opened.
    pub(super) place: PathBuf,
    /// The name used in messages.
    pub(super) name: String,
    file: File,
    /// Whole rows not written yet.
    pending: Vec<u8>,
    /// The end of each of them.
    ends: Vec<usize>,
    /// The text at the end of the file.
    end: &'static str,
}

/// The canonical location of a file; parent folders are created.
///
/// # Errors
/// A folder cannot be created.
pub(super) fn place_of(name: &str) -> io::Result<PathBuf> {
    let path = Path::new(name);
    if let Ok(known) = path.canonicalize() {
        return Ok(known);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)?;
    Ok(folder
        .canonicalize()?
        .join(path.file_name().unwrap_or_default()))
}

impl OpenFile {
    /// Opens a file for rows of a format. An existing CSV file is appended to, without column names; so is an
    /// XML file with an end, and an XML file without one is overwritten.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn open(name: &str, place: PathBuf, config: &SaveConfig) -> io::Result<OpenFile> {
        let is_there = place.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&place)?;
        let (start, end) = match config.is_xml {
            true => (xml::start(config), xml::END),
            false => (csv::header(config), ""),
        };
        let is_added_to = match config.is_xml {
            true => cut_end(&mut file)?,
            false => is_there,
        };
        file.seek(SeekFrom::End(0))?;
        let mut open = OpenFile {
            place,
            name: name.to_owned(),
            file,
            pending: Vec::new(),
            ends: Vec::new(),
            end,
        };
        if !is_added_to {
            open.push(start.as_bytes())?;
        }
        Ok(open)
    }

    /// Adds rows, which are written to the file later.
    ///
    /// # Errors
    /// Earlier rows cannot be written.
    pub(super) fn push(&mut self, rows: &[u8]) -> io::Result<()> {
        self.pending.extend_from_slice(rows);
        self.ends.push(self.pending.len());
        match self.pending.len() >= PENDING_MAX {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes buffered rows. If not all of it could be written, the file still consists of whole rows.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.pending.len() {
            match self.file.write(&self.pending[written..]) {
                Ok(0) => return Err(self.broken_off(written, io::ErrorKind::WriteZero.into())),
                Ok(more) => written += more,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(self.broken_off(written, why)),
            }
        }
        self.pending.clear();
        self.ends.clear();
        Ok(())
    }

    /// Cuts off a partially written row.
    fn broken_off(&mut self, written: usize, why: io::Error) -> io::Error {
        let whole = self.ends.iter().rfind(|end| **end <= written);
        let surplus = written - whole.copied().unwrap_or(0);
        self.pending.clear();
        self.ends.clear();
        // A device cannot be truncated; the error is reported in any case.
        let _ = self.file.stream_position().and_then(|at| {
            let surplus = u64::try_from(surplus).unwrap_or(0);
            self.file.set_len(at.saturating_sub(surplus))
        });
        why
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.push(self.end.as_bytes())?;
        self.flush()
    }
}

/// Cuts off the end of an XML file, so that new rows are inside its root; `false`: it has no end, and is now
/// empty.
fn cut_end(file: &mut File) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(xml::TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let end = xml::end_in(&tail).map(|at| from + at as u64);
    if length > 0 {
        file.set_len(end.unwrap_or(0))?;
    }
    Ok(end.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(is_xml: bool) -> SaveConfig {
        let config = SaveConfig::from_properties(&|_| None).expect("no property is wrong");
        SaveConfig { is_xml, ..config }
    }

    /// The content of a file after a row was added to its previous content.
    fn added(before: Option<&str>, is_xml: bool) -> String {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a/b.jtl");
        if let Some(before) = before {
            fs::create_dir_all(folder.path().join("a")).expect("there is room");
            fs::write(&path, before).expect("there is room");
        }
        let place = place_of(&path.to_string_lossy()).expect("folders can be made");
        let mut file = OpenFile::open("b.jtl", place, &config(is_xml)).expect("it can be opened");
        file.push(b"row\n").expect("there is room");
        file.close().expect("there is room");
        fs::read_to_string(&path).expect("it was written")
    }

    #[test]
    fn names_of_columns_are_written_to_a_new_file_only() {
        assert!(added(None, false).starts_with("timeStamp,"));
        assert_eq!(added(Some(""), false), "row\n");
        assert_eq!(added(Some("old\n"), false), "old\nrow\n");
    }

    #[test]
    fn xml_without_an_end_is_written_anew() {
        let new = added(None, true);
        assert_eq!(added(Some("<testResults>\n<sample/>\n"), true), new);
        assert_eq!(added(Some(""), true), new);
        let again = added(Some(&new), true);
        assert_eq!(again.matches("row").count(), 2);
        assert_eq!(again.matches("<testResults").count(), 1);
        assert_eq!(again.matches("</testResults>").count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_is_full_is_told() {
        let mut file = OpenFile::open("full", PathBuf::from("/dev/full"), &config(false))
            .expect("it can be opened");
        file.push(b"row\n").expect("it is kept back");
        let why = file.flush().expect_err("there is no room");
        assert_eq!(why.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_row_that_broke_off_is_cut_off() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("cut");
        let mut file =
            OpenFile::open("cut", path.clone(), &config(false)).expect("it can be opened");
        file.flush().expect("there is room");
        let header = fs::read(&path).expect("it was written").len();
        file.pending = b"one\ntwo\n".to_vec();
        file.ends = vec![4, 8];
        file.file.write_all(b"one\ntw").expect("there is room");
        file.broken_off(6, io::ErrorKind::StorageFull.into());
        let text = fs::read_to_string(&path).expect("it was written");
        assert_eq!(&text[header..], "one\n");
    }
}
