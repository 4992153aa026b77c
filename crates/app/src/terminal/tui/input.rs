//! Whether key presses are waiting, or the terminal is gone.
//!
//! Must not know keys. Invariant: crossterm is only called if there is input: on a closed terminal it would
//! read forever.

use std::fs::File;
use std::io::{IsTerminal, stdin};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// The state of a terminal's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing yet.
    Nothing,
    /// Something can be read.
    Input,
    /// Nothing any more.
    Gone,
}

/// The source of key presses, chosen as in crossterm.
pub(super) enum Keyboard {
    Stdin,
    /// The process's terminal, if standard input is something else.
    Terminal(File),
}

impl Keyboard {
    /// Finds it; `None`: there is none.
    pub(super) fn find() -> Option<Keyboard> {
        match stdin().is_terminal() {
            true => Some(Keyboard::Stdin),
            false => File::open("/dev/tty").ok().map(Keyboard::Terminal),
        }
    }

    /// Waits for a key press, up to `at_most`.
    pub(super) fn wait(&self, at_most: Duration) -> Waiting {
        wait(
            match self {
                Keyboard::Stdin => stdin().as_raw_fd(),
                Keyboard::Terminal(file) => file.as_raw_fd(),
            },
            at_most,
        )
    }
}

fn wait(fd: RawFd, at_most: Duration) -> Waiting {
    let mut asked = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let at_most_ms = i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: `asked` is one pollfd, and lives for the call.
    let answered = unsafe { libc::poll(&raw mut asked, 1, at_most_ms) };
    match answered {
        1 if asked.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0 => Waiting::Gone,
        1 => Waiting::Input,
        // Also if a signal ended the wait early: the size may have changed.
        _ => Waiting::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn input_and_its_end_are_told_apart() {
        let (reader, mut writer) = pipe().expect("a pipe");
        let moment = Duration::from_millis(1);
        assert_eq!(wait(reader.as_raw_fd(), moment), Waiting::Nothing);
        writer.write_all(b"q").expect("written");
        assert_eq!(wait(reader.as_raw_fd(), moment), Waiting::Input);
        drop(writer);
        assert_eq!(wait(reader.as_raw_fd(), moment), Waiting::Gone);
    }
}
