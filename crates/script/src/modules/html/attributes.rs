//! Limits the number of attributes in the tags of a page.
//!
//! The parser compares each attribute with all earlier ones of its tag, so pages are checked here first. Must
//! not know the tree. Invariants: every tag seen by the parser is checked, though text that looks like a tag is
//! treated as one; time is linear in the page's length.

/// Maximum attributes per tag: no real page has more.
pub(super) const ATTRIBUTES_MAX: usize = 2000;
/// Maximum examinations per byte, on average: apparent tags inside another tag are read separately.
const LOOKS_MAX: usize = 64;

/// Whether a tag has more than [`ATTRIBUTES_MAX`] attributes, or nested apparent tags hide their number.
pub(super) fn are_too_many(page: &[u8]) -> bool {
    let mut looks = page.len().saturating_mul(LOOKS_MAX);
    let starts = page.windows(2).enumerate().filter_map(|(at, pair)| {
        let is_start = pair[0] == b'<' && (pair[1] == b'/' || pair[1].is_ascii_alphabetic());
        is_start.then_some(at + 1)
    });
    starts.into_iter().any(|start| {
        let mut tag = Tag(&page[start..]);
        let is_small = tag.is_small();
        let read = page.len() - start - tag.0.len();
        looks = looks.saturating_sub(read);
        !is_small || looks == 0
    })
}

/// The rest of a tag, after its `<`.
struct Tag<'a>(&'a [u8]);

impl Tag<'_> {
    /// Reads to the end of the tag as in the standard (HTML, sections 13.2.5.8 and 13.2.5.32 to 13.2.5.39);
    /// returns whether it is within the limit.
    fn is_small(&mut self) -> bool {
        self.skip_to(|byte| is_space(byte) || byte == b'/');
        for _ in 0..=ATTRIBUTES_MAX {
            self.skip_to(|byte| !is_space(byte) && byte != b'/');
            if matches!(self.0.first(), None | Some(b'>')) {
                return true;
            }
            self.skip(1);
            self.skip_to(|byte| is_space(byte) || matches!(byte, b'/' | b'='));
            self.skip_to(|byte| !is_space(byte));
            if self.0.first() == Some(&b'=') {
                self.skip(1);
                self.skip_value();
            }
        }
        false
    }

    fn skip_value(&mut self) {
        self.skip_to(|byte| !is_space(byte));
        match self.0.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let end = self.0[1..].iter().position(|byte| *byte == quote);
                self.skip(end.map_or(self.0.len(), |end| end + 2));
            }
            _ => self.skip_to(is_space),
        }
    }

    /// Skips to a matching byte, to the tag's end, or to the end of the page.
    fn skip_to(&mut self, is_it: impl Fn(u8) -> bool) {
        let end = self.0.iter().position(|byte| *byte == b'>' || is_it(*byte));
        self.skip(end.unwrap_or(self.0.len()));
    }

    fn skip(&mut self, bytes: usize) {
        self.0 = &self.0[bytes..];
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b'\x0c' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(attribute: &str, count: usize) -> String {
        format!("<p>x</p><p {}>", attribute.repeat(count))
    }

    #[test]
    fn tags_with_too_many_are_found() {
        for attribute in ["a ", "a=1 ", "a = '>' ", "a=\" >\"", "/a", "= ", "a==\" "] {
            let least = ATTRIBUTES_MAX / 2 - 1;
            assert!(
                !are_too_many(tag(attribute, least).as_bytes()),
                "{attribute}"
            );
            let most = ATTRIBUTES_MAX * 3 + 3;
            assert!(are_too_many(tag(attribute, most).as_bytes()), "{attribute}");
        }
    }

    #[test]
    fn what_seems_to_be_a_tag_hides_none() {
        let many = tag("a ", ATTRIBUTES_MAX + 1);
        for before in [
            "<script>a<b c=\"</script>",
            "<!-- <b '-->",
            "<b c=<p ",
            "<b <p = \"'",
        ] {
            assert!(
                are_too_many(format!("{before}{many}").as_bytes()),
                "{before}"
            );
        }
    }

    #[test]
    fn usual_and_long_pages_are_read_in_one_go() {
        let page = "<p class=\"a b\" id=c>a < b, <br/>x</p><script>if (a<b) { c = '<d' }</script>";
        assert!(!are_too_many(page.repeat(1_000).as_bytes()));
        assert!(!are_too_many(
            format!("<p a='{page}").repeat(100).as_bytes()
        ));
        assert!(!are_too_many(
            format!("<img src='{}'>", "a b ".repeat(1 << 16)).as_bytes()
        ));
        for deep in ["<a", "<a b=", "<a b='", "<a ", "<a/", "<a =", "<"] {
            are_too_many(deep.repeat(1 << 16).as_bytes());
        }
    }
}
