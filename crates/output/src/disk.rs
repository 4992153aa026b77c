//! A disk of limited room, for the tests of sinks that write lines.
//!
//! Must not know what is written. Invariant: it never holds more than its room.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Accepts bytes up to a limit and then reports that it is full.
#[derive(Clone)]
pub(crate) struct Disk {
    content: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Disk {
    pub(crate) fn with_room(room: usize) -> Disk {
        Disk {
            content: Arc::default(),
            room,
        }
    }

    /// What was written.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.content.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut content = self.content.lock().unwrap();
        let taken = bytes.len().min(self.room - content.len());
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        content.extend(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
