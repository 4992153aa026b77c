//! A process started by a shell command, with all its descendants.
//!
//! Must not know its purpose. Invariant: when dropped, the whole process group is killed.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The process.
pub(crate) struct Shell(Child);

impl Shell {
    /// Starts it in a folder, with its standard error in `NAME.err`.
    pub(crate) fn start(folder: &Path, name: &str, line: &str) -> Result<Shell, String> {
        let errors =
            File::create(folder.join(format!("{name}.err"))).map_err(|why| why.to_string())?;
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .process_group(0);
        die_with_parent(&mut command);
        command
            .spawn()
            .map(Shell)
            .map_err(|why| format!("{line}: {why}"))
    }

    /// Its PID.
    pub(crate) fn process(&self) -> u32 {
        self.0.id()
    }
}

/// Ensures that nothing is left when this process is killed.
fn die_with_parent(command: &mut Command) {
    // SAFETY: between fork and exec there is one system call, which takes numbers.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if let Ok(process) = i32::try_from(self.0.id()) {
            // SAFETY: kill takes two numbers and touches no memory of ours; the child was not waited for, so
            // the number is still that of its group.
            unsafe { libc::kill(-process, libc::SIGKILL) };
        }
        // It was killed: only its end matters.
        let _ = self.0.wait();
    }
}

/// Splits a line as a shell does: at blanks outside of quotes.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        let split = words("-b '{\"a\": 1}'  --x \"y z\" ''\n end");
        assert_eq!(split, ["-b", "{\"a\": 1}", "--x", "y z", "", "end"]);
    }
}
