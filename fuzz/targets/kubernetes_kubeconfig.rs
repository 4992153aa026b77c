//! kubeconfig files: any text is read or refused; what is refused is told without the text, and each context that is listed
//! can be asked for.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loadline_kubernetes::{ErrorKind, Kubeconfig, read_manifests};

fuzz_target!(|text: &str| {
    // Manifests are YAML of the same users.
    let _ = read_manifests(text);
    match Kubeconfig::parse(text, Path::new("/nowhere")) {
        Ok(config) => {
            let contexts: Vec<&str> = config.contexts().collect();
            let mut once = contexts.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), contexts.len(), "a context is listed once");
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().len() < 300, "the text is not repeated");
        }
    }
});
