//! Relative paths into a folder of a volume, an object store or a repository.
//!
//! Must not know which. Invariant: such a path names a file or folder below its base, in exactly one way.

/// Whether a path stays inside its base folder: no part is empty, `.` or `..`, and there are no control
/// characters.
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
