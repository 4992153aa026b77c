//! Files of a result as lines of a log: how they leave a container that cannot be reached in another way.
//!
//! Must not know who writes the log or reads it. Invariants: a file is read exactly as it was written, or not
//! at all; lines are short enough to pass through every log unbroken.
//!
//! A parcel is the line `loadline-parcel/v1`; then, for each file, a line `file NAME BYTES` and its bytes as
//! base64; and finally `end`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The first line.
const HEAD: &str = "loadline-parcel/v1";
/// The line that replaces a parcel if the files were written to their destination.
pub const WRITTEN: &str = "loadline-parcel/v1 is written";
/// The last line.
const END: &str = "end";
/// Start of a file's line.
const FILE: &str = "file ";
/// Bytes of a file per line: 4,096 characters; container runtimes split lines at 16 KiB.
const LINE_BYTES: usize = 3_072;
/// Maximum bytes of all files together: base64 adds a third, and kubelets rotate logs at 10 MiB.
pub const FILES_MAX: usize = 6 << 20;

/// The name of the JSON result.
pub const RESULT_FILE: &str = "result.json";
/// The name of the HTML report.
pub const REPORT_FILE: &str = "report.html";

/// A file of a result: compressed with gzip, or an archive of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFile {
    /// The JSON result.
    Result,
    /// The HTML report.
    Report,
    /// A suite's documents.
    Documents,
    /// The state of a suite: what was measured, and the reports that the documents link to.
    State,
}

impl KeptFile {
    /// All of them; first the one from which the others can be rebuilt.
    pub const ALL: [KeptFile; 4] = [
        KeptFile::Result,
        KeptFile::Report,
        KeptFile::Documents,
        KeptFile::State,
    ];

    /// Its name when compressed.
    #[must_use]
    pub fn packed_name(self) -> &'static str {
        match self {
            KeptFile::Result => "result.json.gz",
            KeptFile::Report => "report.html.gz",
            KeptFile::Documents => "documents.tar.gz",
            KeptFile::State => "state.tar.gz",
        }
    }

    /// Its name when uncompressed; `None`: it is an archive of files with their own names.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            KeptFile::Result => Some(RESULT_FILE),
            KeptFile::Report => Some(REPORT_FILE),
            KeptFile::Documents | KeptFile::State => None,
        }
    }

    /// Whether this file has priority if there is no room for all.
    #[must_use]
    pub fn is_first(self) -> bool {
        matches!(self, KeptFile::Result | KeptFile::Documents)
    }
}

/// Files with their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parcel {
    /// The files; no duplicates.
    pub files: Vec<(KeptFile, Vec<u8>)>,
    /// Whether it was read to its last line.
    pub is_whole: bool,
}

impl Parcel {
    /// The lines of files.
    #[must_use]
    pub fn lines(files: &[(KeptFile, Vec<u8>)]) -> String {
        let mut text = format!("{HEAD}\n");
        for (file, bytes) in files {
            text.push_str(&format!("{FILE}{} {}\n", file.packed_name(), bytes.len()));
            for piece in bytes.chunks(LINE_BYTES) {
                STANDARD.encode_string(piece, &mut text);
                text.push('\n');
            }
        }
        text.push_str(END);
        text.push('\n');
        text
    }

    /// Parses a log, which may be truncated anywhere or contain something else. `None`: it contains no parcel.
    #[must_use]
    pub fn read(log: &str) -> Option<Parcel> {
        let mut lines = log.lines().skip_while(|line| *line != HEAD);
        lines.next()?;
        let mut parcel = Parcel::default();
        let mut next = lines.next();
        while let Some((file, length)) = next.and_then(heading) {
            let mut bytes = Vec::new();
            next = lines.next();
            while let Some(line) = next.filter(|_| bytes.len() < length) {
                if STANDARD.decode_vec(line, &mut bytes).is_err() {
                    return Some(parcel);
                }
                next = lines.next();
            }
            let is_there = parcel.files.iter().any(|(there, _)| *there == file);
            if bytes.len() != length || is_there {
                return Some(parcel);
            }
            parcel.files.push((file, bytes));
        }
        parcel.is_whole = next == Some(END);
        Some(parcel)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn file(&self, wanted: KeptFile) -> Option<&[u8]> {
        let mut files = self.files.iter();
        let (_, bytes) = files.find(|(file, _)| *file == wanted)?;
        Some(bytes)
    }

    /// Total bytes of all files.
    #[must_use]
    pub fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// The file that a line starts, and its length.
fn heading(line: &str) -> Option<(KeptFile, usize)> {
    let (name, length) = line.strip_prefix(FILE)?.split_once(' ')?;
    let file = KeptFile::ALL
        .into_iter()
        .find(|file| file.packed_name() == name)?;
    let length = length.parse().ok().filter(|length| *length <= FILES_MAX)?;
    Some((file, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files(sizes: [usize; 2]) -> Vec<(KeptFile, Vec<u8>)> {
        let bytes = |size: usize| (0..size).map(|at| (at * 31 % 251) as u8).collect();
        KeptFile::ALL.into_iter().zip(sizes.map(bytes)).collect()
    }

    #[test]
    fn other_lines_may_stand_before() {
        let files = files([10_000, 0]);
        let log = format!("a warning\nloadline\n{}", Parcel::lines(&files));
        assert!(log.lines().all(|line| line.len() <= 4_096));
        let read = Parcel::read(&log).expect("a parcel");
        assert_eq!((read.files.clone(), read.is_whole), (files, true));
        assert_eq!(read.size(), 10_000);
        assert_eq!(Parcel::read("loadline-parcel/v2\nend\n"), None);
        let none = Parcel::read(&Parcel::lines(&[])).expect("a parcel");
        assert!(none.files.is_empty() && none.is_whole);
    }

    #[test]
    fn what_is_no_file_ends_a_parcel() {
        for rest in [
            "file passwd 3\nAAAA\nend",
            "file result.json.gz 99999999999\nend",
            "file result.json.gz -1\nend",
            "file result.json.gz 3\n$(x)\nend",
            "file result.json.gz 2\nAAAA\nend",
            "file result.json.gz 3\nAAAA\nfile result.json.gz 3\nAAAA\nend",
        ] {
            let read = Parcel::read(&format!("{HEAD}\n{rest}\n")).expect("a parcel");
            assert!(!read.is_whole && read.files.len() < 2, "{rest}");
        }
    }

    proptest! {
        #[test]
        fn a_log_that_is_cut_holds_whole_files(sizes in [0_usize..9_000, 0_usize..9_000], at in 0.0..1.0) {
            let files = files(sizes);
            let log = Parcel::lines(&files);
            let cut = &log[..(log.len() as f64 * at) as usize];
            let read = Parcel::read(cut).unwrap_or_default();
            prop_assert!(files.starts_with(&read.files));
            prop_assert!(!read.is_whole || read.files == files);
        }

        #[test]
        fn whatever_a_log_holds_is_survived(log in "(loadline-parcel/v1\n)?(file result.json.gz [0-9]{1,4}\n)?[A-Za-z0-9+/=\n ]{0,200}") {
            let read = Parcel::read(&log).unwrap_or_default();
            prop_assert!(read.size() <= log.len());
        }
    }
}
