//! The file of the document, created before the run and written after it.
//!
//! Must not know the layout. Invariant: a file that cannot be created is refused before anything is sent.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use loadline_model::result::RunResult;

use super::encode::render;
use crate::files;

/// A file that is written at the end of the run.
pub struct JunitFile {
    stream: Box<dyn Write + Send>,
    /// The name of what is tested, such as a script.
    name: String,
}

impl fmt::Debug for JunitFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JunitFile({})", self.name)
    }
}

impl JunitFile {
    /// Creates or truncates a file for the tests of what has this name.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path, name: &str) -> io::Result<JunitFile> {
        Ok(JunitFile::stream(files::create(path)?, name))
    }

    /// A stream such as standard output.
    #[must_use]
    pub fn stream(stream: impl Write + Send + 'static, name: &str) -> JunitFile {
        JunitFile {
            stream: Box::new(stream),
            name: name.to_owned(),
        }
    }

    /// Writes the document of the finished run.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(mut self, result: &RunResult) -> io::Result<()> {
        let document = render(result, &self.name);
        self.stream.write_all(document.as_bytes())?;
        self.stream.flush()
    }
}
