//! Any bytes as the archive of a script.
//!
//! Invariant checked: no panic; what is read as an archive holds its entry script, sees names from a folder,
//! and, once written, is read as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_script::loading::archive::Archive;

fuzz_target!(|data: &[u8]| {
    let archive = match Archive::read(data.to_vec()) {
        Ok(archive) => archive,
        Err(error) => return assert!(!error.message.is_empty()),
    };
    assert!(archive.files.contains_key(&archive.metadata.filename));
    assert!(archive.directory().path().ends_with('/'));
    // Names can be longer than a tar file takes.
    let mut written = Vec::new();
    if archive.write(&mut written).is_err() {
        return;
    }
    assert!(Archive::is_archive(&written));
    let again = Archive::read(written).expect("it was written as an archive");
    assert_eq!(again.metadata, archive.metadata);
    let entry = &archive.metadata.filename;
    assert_eq!(again.files.get(entry), archive.files.get(entry));
});
