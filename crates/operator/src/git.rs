//! A file in a git repository: address, revision and path.
//!
//! Must not know who checks it out: an init container of the coordinator's pod does. Invariants: a valid value
//! cannot be mistaken for an option by any program, and stays inside its folder; addresses that others can read
//! contain no secrets.

use loadline_model::leads_inside;

use crate::test::{Refusal, invalid};

/// Maximum total length of address, revision and path.
const LENGTH_MAX: usize = 2_048;
/// The start of an address of a file in a repository.
const SCHEME: &str = "git+";
/// Characters that git does not allow in a revision's name, or that would make it an expression.
const NOT_IN_REVISIONS: &[char] = &['~', '^', ':', '?', '*', '[', '\\', '{'];

/// A file of a repository at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFile {
    /// Address of the repository: `https://` or `http://`.
    pub url: String,
    /// A branch, a tag or a commit.
    pub revision: String,
    /// Path in the repository.
    pub file: String,
    /// Name of a Secret of type `kubernetes.io/basic-auth`; `None`: the repository is read by anyone.
    pub secret: Option<String>,
}

/// Whether a text is meant to be an address of a file in a repository.
pub(crate) fn is_meant(text: &str) -> bool {
    text.starts_with(SCHEME)
}

impl GitFile {
    /// Checks each part; `place`: where they are written.
    pub(crate) fn check(self, place: &str) -> Result<GitFile, Refusal> {
        let refused = |why: &str| Err(invalid(format!("{place}: {why}")));
        let length = self.url.len() + self.revision.len() + self.file.len();
        if length > LENGTH_MAX {
            return refused("address, revision and file have more than 2048 characters");
        }
        if let Err(why) = check_url(&self.url, self.secret.is_some()) {
            return refused(why);
        }
        if !is_revision(&self.revision) {
            return refused("the revision is not the name of a branch or a tag, nor a commit");
        }
        if !is_path(&self.file) {
            return refused("the file is not a path within the repository");
        }
        Ok(self)
    }

    /// Reads `git+https://host/repository@revision:file`.
    pub(crate) fn read(place: &str, text: &str, secret: Option<&str>) -> Result<GitFile, Refusal> {
        let address = text.strip_prefix(SCHEME).unwrap_or(text);
        let parts = address
            .split_once('@')
            .and_then(|(url, rest)| Some((url, rest.split_once(':')?)));
        let Some((url, (revision, file))) = parts else {
            return Err(invalid(format!(
                "{place}: git+https://host/repository@revision:file is required"
            )));
        };
        let file = GitFile {
            url: url.to_owned(),
            revision: revision.to_owned(),
            file: file.to_owned(),
            secret: secret.map(str::to_owned),
        };
        file.check(place)
    }
}

fn check_url(url: &str, has_secret: bool) -> Result<(), &'static str> {
    let (rest, is_encrypted) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, true),
        (None, Some(rest)) => (rest, false),
        (None, None) => {
            return Err(
                "the repository's address begins with https:// or http://; ssh is not supported",
            );
        }
    };
    if has_secret && !is_encrypted {
        return Err("a password is sent over https:// only");
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    // In the short form, only the text before the @ of a user is left of the address.
    if host.contains('@') || path.is_empty() && host.contains(':') {
        return Err("a user or a password in the address could be read by all; name a Secret");
    }
    if host.is_empty() || path.is_empty() {
        return Err("a host and a path are required in the repository's address");
    }
    match url
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'#')
    {
        true => Ok(()),
        false => Err("the repository's address has blanks or other odd characters"),
    }
}

fn is_revision(text: &str) -> bool {
    let is_odd = |c: char| !c.is_ascii_graphic() || NOT_IN_REVISIONS.contains(&c);
    !text.is_empty() && !text.starts_with('-') && !text.contains("..") && !text.contains(is_odd)
}

fn is_path(text: &str) -> bool {
    leads_inside(text) && text.split('/').all(|part| part != ".git")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<GitFile, Refusal> {
        GitFile::read("place", text, None)
    }

    #[test]
    fn a_repository_a_revision_and_a_file() {
        let of = |text| {
            let file = read(text).expect(text);
            (file.url, file.revision, file.file)
        };
        let wanted = |url: &str, revision: &str, file: &str| {
            (url.to_owned(), revision.to_owned(), file.to_owned())
        };
        assert_eq!(
            of("git+https://h/shop.git@main:load/test.js"),
            wanted("https://h/shop.git", "main", "load/test.js")
        );
        assert_eq!(
            of("git+http://h.svc:3000/a/b@shop@1.2:a b.js"),
            wanted("http://h.svc:3000/a/b", "shop@1.2", "a b.js")
        );
    }

    #[test]
    fn everything_else_is_refused_with_the_next_step() {
        let long = format!("git+https://h/r@v:{}", "a".repeat(LENGTH_MAX));
        for (text, named) in [
            ("git+https://h/r", "@revision:file"),
            ("git+https://h/r@main", "@revision:file"),
            ("git+ssh://git@h/r@main:a.js", "ssh"),
            ("git+file:///r@main:a.js", "https://"),
            ("git+--upload-pack=x@main:a.js", "https://"),
            ("git+https://me:secret@h/r@main:a.js", "name a Secret"),
            ("git+https://h@main:a.js", "a host and a path"),
            ("git+https:///r@main:a.js", "a host and a path"),
            ("git+https://h/r r@main:a.js", "odd"),
            ("git+https://h/r#x@main:a.js", "odd"),
            ("git+https://h/r@:a.js", "revision"),
            ("git+https://h/r@--config:a.js", "revision"),
            ("git+https://h/r@a..b:a.js", "revision"),
            ("git+https://h/r@a b:a.js", "revision"),
            ("git+https://h/r@main:", "within"),
            ("git+https://h/r@main:/etc/passwd", "within"),
            ("git+https://h/r@main:a/../../b.js", "within"),
            ("git+https://h/r@main:.git/config", "within"),
            (&long, "2048"),
        ] {
            let refusal = read(text).expect_err(text);
            assert!(refusal.message.contains(named), "{text}: {refusal}");
            assert!(!refusal.message.contains("secret@"), "{refusal}");
        }
        let with_secret = |text| GitFile::read("place", text, Some("s"));
        assert!(with_secret("git+https://h/r@main:a.js").is_ok());
        let refusal = with_secret("git+http://h/r@main:a.js").expect_err("in the clear");
        assert!(refusal.message.contains("password"), "{refusal}");
    }

    proptest! {
        /// Hostile texts are refused, or no part of them is an option, and the file stays where it is.
        #[test]
        fn what_passes_is_no_option(text in "git\\+(https?://)?[ -~ä\\n]{0,30}@[ -~\\n]{0,20}:[ -~\\n]{0,20}") {
            if let Ok(file) = read(&text) {
                prop_assert!(file.url.starts_with("http") && !file.revision.starts_with('-'));
                prop_assert!(!file.file.starts_with('/') && !file.file.split('/').any(|part| part == ".."));
            }
        }
    }
}
