//! Whether a response came from another place than the one that was asked for: a sign-in page, an error page, a
//! waiting room.
//!
//! Must not know who follows redirects. Invariant: a place has no query, fragment, user or secret, and another spelling
//! of the same one (scheme, `www.`, a final slash, an index page) is no other place.

use crate::secret::redacted_text;

/// The place from which a request that was redirected got its response, if it is another one than was asked for: its
/// path, with the origin before it if that is another one too. `asked` and `got` are URLs; in what was asked for, a
/// segment of the path with a placeholder (`{{…}}`) stands for any.
#[must_use]
pub fn other_place(asked: &str, got: &str) -> Option<String> {
    let (asked, got) = (Place::of(asked)?, Place::of(got)?);
    if asked.is_same(&got) {
        return None;
    }
    let shown = match asked.authority == got.authority {
        true => got.path.to_owned(),
        false => format!("{}://{}{}", got.scheme, got.authority, got.path),
    };
    Some(redacted_text(&shown).into_owned())
}

struct Place<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: &'a str,
}

impl<'a> Place<'a> {
    fn of(url: &'a str) -> Option<Place<'a>> {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let authority = authority.rsplit('@').next()?;
        let path = target.split(['?', '#', ';']).next()?;
        Some(Place {
            scheme,
            authority,
            path: if path.is_empty() { "/" } else { path },
        })
    }

    /// A host says little where the path is the same, as that of a mirror; at the root there is no other word.
    fn is_same(&self, other: &Place<'_>) -> bool {
        let (own, others) = (self.segments(), other.segments());
        let are_alike = own.len() == others.len()
            && own
                .iter()
                .zip(&others)
                .all(|(own, other)| own == other || own.contains("{{"));
        are_alike && (!own.is_empty() || self.site() == other.site())
    }

    fn segments(&self) -> Vec<&'a str> {
        let is_index = |segment: &&str| segment.split('.').next() == Some("index");
        let mut segments: Vec<&str> = self.path.split('/').filter(|it| !it.is_empty()).collect();
        if segments.last().is_some_and(is_index) {
            segments.pop();
        }
        segments
    }

    /// The host without port and `www.`: an upgrade to `https` changes the port.
    fn site(&self) -> &'a str {
        let host = match self.authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => self.authority,
        };
        host.strip_prefix("www.").unwrap_or(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_is_no_other_place() {
        for (asked, got) in [
            ("http://a.example/x", "https://a.example/x"),
            ("http://a.example", "http://a.example/?lang=en"),
            ("http://a.example/x", "http://a.example/x/"),
            ("http://a.example:8080/", "https://www.a.example/index.html"),
            ("http://a.example/x?n=1", "http://a.example/x;id=7?n=2#top"),
            ("http://a.example/x.iso", "http://mirror.example/x.iso"),
            ("http://a.example/u/{{counter}}", "http://a.example/u/17/"),
            ("http://[::1]:80/", "http://[::1]/"),
        ] {
            assert_eq!(other_place(asked, got), None, "{asked} {got}");
        }
    }

    #[test]
    fn another_path_or_site_is_another_place() {
        for (asked, got, place) in [
            (
                "http://a.example/x",
                "http://a.example/login?next=/x",
                "/login",
            ),
            ("http://a.example/", "http://a.example/en/", "/en/"),
            (
                "http://a.example/",
                "https://user:word@id.example/",
                "https://id.example/",
            ),
            (
                "http://a.example/x",
                "https://a.example:8443/error",
                "https://a.example:8443/error",
            ),
            ("http://a.example/u/{{counter}}", "http://a.example/", "/"),
        ] {
            assert_eq!(other_place(asked, got).as_deref(), Some(place), "{asked}");
        }
    }
}
