//! Every testbed file of the product can be started.
//!
//! Invariant: the comment at the top of a file names the component that is in it.

use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str, is_testbed: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_testbed(path)).collect();
    files.sort();
    files
}

fn check(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file of text");
    let told = loadline_target::testbed::check(path, &text);
    assert!(told.is_ok(), "{told:?}");
    text
}

#[test]
fn staged_bottlenecks() {
    let files = files("bottlenecks", |path| {
        path.extension().is_some_and(|e| e == "yaml")
    });
    assert!(files.len() >= 16, "{files:?}");
    for path in files {
        let text = check(&path);
        for part in ["\n# Drive:   loadline ", "\n# Verdict: ", "\n  front:\n"] {
            assert!(text.contains(part), "{} lacks {part:?}", path.display());
        }
    }
}

#[test]
fn example_kits() {
    let kits = files("../../examples", |path| path.join("testbed.yaml").exists());
    assert_eq!(kits.len(), 5, "{kits:?}");
    for kit in kits {
        let text = check(&kit.join("testbed.yaml"));
        let name = kit.file_name().unwrap().to_str().unwrap();
        let command = format!("loadline target --config examples/{name}/testbed.yaml");
        assert!(
            text.contains(&command),
            "{name} does not say how to start it"
        );
    }
}
