//! The tutorial on tests on many pods, as its readers type it.
//!
//! Must not know more than the page says, except the image, the namespace and the service. Invariant: a failing
//! command fails the test.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, binary, image, repository};

/// The page.
pub(crate) fn text() -> String {
    let page = repository().join("docs/first-on-kubernetes.md");
    fs::read_to_string(page).expect("the page")
}

/// Its blocks of commands, without what they print.
pub(crate) fn blocks(page: &str) -> Vec<String> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    let parts = fenced.filter_map(|block| block.split_once('\n'));
    let typed = parts.map(|(language, lines)| match language {
        "console" => lines
            .lines()
            .filter_map(|line| line.strip_prefix("$ "))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => lines.to_owned(),
    });
    typed.collect()
}

/// The command within a line of text that begins like this.
pub(crate) fn in_line<'a>(page: &'a str, beginning: &str) -> &'a str {
    let mut spans = page.split('`').skip(1).step_by(2);
    spans
        .find(|span| span.starts_with(beginning))
        .expect(beginning)
}

/// Types lines into a shell that ends at the first that fails; gives what a terminal shows.
pub(crate) fn typed(lab: &Lab, folder: &Path, lines: &str) -> String {
    let binary = binary();
    let script = format!("exec 2>&1\nloadline() {{ '{binary}' \"$@\"; }}\n{lines}");
    let output = Command::new("bash")
        .args(["-eu", "-o", "pipefail", "-c", &script])
        .current_dir(folder)
        .env("KUBECONFIG", lab.kubeconfig(None))
        .output()
        .expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{lines}\n{printed}");
    printed
}

/// The reader's folder: a script, and the manifests with an image and a namespace of theirs.
pub(crate) fn prepare(folder: &Path, namespace: &str, url: &str) {
    let script = format!(
        "import http from 'k6/http';\nexport const options = {{ vus: 4, iterations: 40 }};\n\
         export default function () {{ http.get('{url}'); }}\n"
    );
    fs::write(folder.join("test.js"), script).expect("a file");
    let manifests = folder.join("deploy/operator");
    fs::create_dir_all(&manifests).expect("a folder");
    let image = image();
    for entry in fs::read_dir(repository().join("deploy/operator")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let text = fs::read_to_string(&path).expect("a manifest");
            let text = text
                .replace("loadline:dev", &image)
                .replace("namespace: default", &format!("namespace: {namespace}"));
            fs::write(manifests.join(path.file_name().expect("a name")), text).expect("a file");
        }
    }
}
