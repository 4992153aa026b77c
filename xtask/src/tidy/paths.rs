//! The paths that a Rust file names.
//!
//! Must not know Rust's grammar beyond comments, `use` trees and the convention that a file's tests come last.
//! Invariant: the paths found are outside comments and tests.

/// Whether a file only contains tests or examples.
pub(super) fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/examples/") || path.ends_with("tests.rs")
}

/// Every path of the code before the tests that starts with `root` (`std::`), with `use` trees expanded, and
/// its line.
pub(super) fn paths_from(root: &str, content: &str) -> Vec<(String, usize)> {
    let code = code_before_tests(content);
    let mut found = Vec::new();
    for (at, _) in code.match_indices(root) {
        let before = &code[..at];
        let inside_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if inside_word || before.ends_with("super::") {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let tree: String = tree_text(&code[at..]);
        found.extend(spread("", &tree).into_iter().map(|path| (path, line)));
    }
    found
}

fn code_before_tests(content: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    let opens_tests = |at: usize| {
        lines[at].trim() == "#[cfg(test)]"
            && lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("mod ") && next.contains('{'))
    };
    let end = (0..lines.len())
        .find(|at| opens_tests(*at))
        .unwrap_or(lines.len());
    // A comment becomes an empty line, so that line numbers are preserved.
    let code = lines[..end]
        .iter()
        .map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

/// The path or `use` tree at the start of the text, without white space.
fn tree_text(text: &str) -> String {
    let mut depth = 0_usize;
    let mut tree = String::new();
    for c in text.chars() {
        match c {
            '{' if tree.ends_with("::") => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '*' if depth > 0 => {}
            c if c.is_whitespace() && depth > 0 => continue,
            c if c.is_alphanumeric() || c == '_' || c == ':' => {}
            _ => break,
        }
        tree.push(c);
        if depth == 0 && c == '}' {
            break;
        }
    }
    tree
}

/// `std::{fs, time::{Instant, Duration}}` → `std::fs`, `std::time::Instant`, `std::time::Duration`.
fn spread(prefix: &str, tree: &str) -> Vec<String> {
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![format!(
            "{prefix}{}",
            tree.trim_end_matches("::").trim_end_matches("::self")
        )];
    };
    let prefix = format!("{prefix}{head}");
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    branches(inside)
        .into_iter()
        .flat_map(|branch| spread(&prefix, branch))
        .collect()
}

/// Splits at the commas outside braces.
fn branches(inside: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = inside.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.filter(|branch| !branch.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_trees_are_spread_out() {
        let tree = "use std::{\n  collections::HashMap,\n  time::{Duration, Instant},\n  fs,\n};\n";
        let paths: Vec<String> = paths_from("std::", tree)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        let wanted = [
            "std::collections::HashMap",
            "std::time::Duration",
            "std::time::Instant",
            "std::fs",
        ];
        assert_eq!(paths, wanted);
    }
}
