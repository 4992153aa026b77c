//! Links between documents: each points to a file of a clone, and its `#anchor` to a heading in it.
//!
//! Must not know the content of documents, nor other places on the web. Invariant: anchors are derived from
//! headings as in GitHub and mdBook, so that a link that passes works in both.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Kept};

/// Broken relative links, each with its location.
pub(super) fn breaches(files: &[File], kept: &Kept) -> Vec<String> {
    let documents = files.iter().filter(|file| file.has_extension("md"));
    let anchors: BTreeMap<&str, BTreeSet<String>> = documents
        .clone()
        .map(|file| (&*file.path, anchors(&file.content)))
        .collect();
    let mut found = Vec::new();
    for file in documents {
        for (index, line) in file.content.lines().enumerate() {
            for target in targets(line) {
                if !leads_somewhere(&file.path, target, kept, &anchors) {
                    let place = format!("{}:{}", file.path, index + 1);
                    found.push(format!("{place}: the link {target} leads nowhere"));
                }
            }
        }
    }
    found
}

/// The targets of the links in a line.
pub(crate) fn targets(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("](").skip(1);
    after.filter_map(|rest| rest.split(')').next())
}

fn leads_somewhere(
    document: &str,
    target: &str,
    kept: &Kept,
    anchors: &BTreeMap<&str, BTreeSet<String>>,
) -> bool {
    if target.contains("://") {
        return true;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match path {
        "" => document.to_owned(),
        path => joined(document, path),
    };
    let has_anchor = || {
        let known = anchors.get(&*path);
        known.is_none_or(|known| known.contains(anchor))
    };
    kept.holds(&path) && (anchor.is_empty() || has_anchor())
}

/// The target of a document's link, relative to the root of the repository.
pub(crate) fn joined(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchors of a document.
fn anchors(content: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in headings(content) {
        let anchor = anchor(text);
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let mut all = [anchor.clone()].into_iter().chain(again);
        found.extend(all.find(|anchor| !found.contains(anchor)));
    }
    found
}

/// The headings of a document, without comments in code blocks.
fn headings(content: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in content.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let text = line.trim_start_matches('#');
        if !is_code && line.starts_with('#') && text.starts_with(' ') {
            found.push(text.trim());
        }
    }
    found
}

/// The anchor of a heading: lower-case letters, digits and hyphens, with a hyphen for each space, and only the
/// text of links.
fn anchor(heading: &str) -> String {
    let mut text = String::new();
    for (at, part) in heading.split("](").enumerate() {
        let shown = match at {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        };
        text.push_str(shown);
    }
    let kept = |c: char| match c {
        c if c.is_whitespace() => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    };
    text.chars()
        .filter_map(kept)
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches_of(path: &str, content: &str) -> Vec<String> {
        let file = |path: &str, content: &str| File {
            path: path.to_owned(),
            content: content.to_owned(),
        };
        let other =
            "# Run `it`!\n```sh\n# no heading\n```\n## A [link](x.md) – here\n## Twice\n## Twice\n";
        let files = [file(path, content), file("docs/use/run.md", other)];
        let kept = ["Cargo.toml", "docs/use/run.md", "a.md", "docs/use/a.md"];
        breaches(&files, &Kept::of(&kept))
            .into_iter()
            .filter(|breach| breach.starts_with(path))
            .collect()
    }

    #[test]
    fn links_lead_somewhere() {
        let good = "# Here\n[a](Cargo.toml) [b](https://example.org) [c](#here) [d](docs/use)\n";
        assert!(breaches_of("a.md", good).is_empty());
        let up = "[a](../../Cargo.toml#top) [b](./run.md) [c](..)\n";
        assert!(breaches_of("docs/use/a.md", up).is_empty());
        for bad in ["no-such-file.md", "docs/us", "Cargo", "docs/run.md"] {
            let content = format!("[a]({bad})\n");
            assert_eq!(breaches_of("a.md", &content).len(), 1, "{bad}");
        }
    }

    #[test]
    fn anchors_are_headings() {
        for good in ["run-it", "a-link--here", "twice", "twice-1"] {
            let content = format!("[a](docs/use/run.md#{good})\n");
            assert_eq!(breaches_of("a.md", &content), Vec::<String>::new());
        }
        for bad in ["no-heading", "twice-2", "Run-it"] {
            let content = format!("[a](docs/use/run.md#{bad})\n");
            assert_eq!(breaches_of("a.md", &content).len(), 1, "{bad}");
        }
        assert_eq!(breaches_of("a.md", "# Here\n[a](#there)\n").len(), 1);
    }
}
