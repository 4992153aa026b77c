//! Rules for the manifests of the workspace's packages.
//!
//! Must not know what a package depends on: that is the layer check. Invariant: no package opts out
//! of the shared lints, version or licence.

use super::File;

/// Lines that a section must contain.
const WANTED: &[(&str, &str)] = &[
    ("[lints]", "workspace = true"),
    ("[package]", "version.workspace = true"),
    ("[package]", "edition.workspace = true"),
    ("[package]", "rust-version.workspace = true"),
    ("[package]", "license.workspace = true"),
    ("[package]", "publish.workspace = true"),
];

pub(super) fn breaches(file: &File) -> Vec<String> {
    if !is_member(&file.path) {
        return Vec::new();
    }
    let absent = WANTED
        .iter()
        .filter(|(section, line)| !holds(&file.content, section, line));
    absent
        .map(|(section, line)| format!("{}: {section} wants `{line}`", file.path))
        .collect()
}

fn is_member(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", _, "Cargo.toml"] | ["fuzz" | "xtask", "Cargo.toml"]
    )
}

fn holds(manifest: &str, section: &str, wanted: &str) -> bool {
    let lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != section)
        .skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .any(|line| line == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches_of(path: &str, content: &str) -> usize {
        breaches(&File {
            path: path.to_owned(),
            content: content.to_owned(),
        })
        .len()
    }

    #[test]
    fn members_share_what_the_workspace_says() {
        let whole = "[package]\nversion.workspace = true\nedition.workspace = true\n\
            rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n\
            [dependencies]\n[lints]\nworkspace = true\n";
        assert_eq!(breaches_of("crates/a/Cargo.toml", whole), 0);
        assert_eq!(
            breaches_of("crates/a/Cargo.toml", &whole.replace("[lints]", "[other]")),
            1
        );
        assert_eq!(breaches_of("crates/a/Cargo.toml", ""), WANTED.len());
    }

    #[test]
    fn other_manifests_are_not_members() {
        assert_eq!(breaches_of("third_party/a/Cargo.toml", ""), 0);
        assert_eq!(breaches_of("Cargo.toml", ""), 0);
    }
}
