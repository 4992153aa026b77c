//! Paths that lead into a folder: of a volume, of an object store, of a repository.
//!
//! Must not know which. Invariant: such a path names a file or a folder below the one that it starts from, in one way only.

/// Whether a path leads into the folder that it starts from: its parts are names, none is empty, `.` or `..`, and no character of
/// it is a control character.
#[must_use]
pub fn leads_inside(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    path.split('/').all(is_name) && !path.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_inside_or_it_is_none() {
        for path in ["a", "a/b c", ".hidden/..a", "größe/1.js"] {
            assert!(leads_inside(path), "{path}");
        }
        for path in [
            "", "/a", "a/", "a//b", ".", "a/./b", "a/../b", "..", "a/b\n",
        ] {
            assert!(!leads_inside(path), "{path:?}");
        }
    }
}
