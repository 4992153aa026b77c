//! Scripts that are not UTF-8, as k6 v2.2.0 takes them.
//!
//! Must not touch a disk or a network. Invariant under test: what is refused is told with its place.

use url::Url;

use super::super::{Bytes, Fetch, FetchError, Libraries, Sources};
use super::url;

/// The same bytes behind each address.
struct Everywhere(&'static [u8]);

impl Fetch for Everywhere {
    fn read(&self, _: &Url) -> Result<Bytes, FetchError> {
        Ok(Bytes::from_static(self.0))
    }
}

fn complaint(name: &str, text: &'static [u8]) -> Option<String> {
    let fetch = Box::new(Everywhere(text));
    let sources = Sources::new(fetch, url(name), url("file:///"), Libraries::Embedded);
    let error = sources.load_entry().err();
    error.map(|error| error.message)
}

#[test]
fn a_script_in_another_encoding_is_refused_unless_it_is_typescript() {
    for (text, place) in [
        (&b"// caf\xe9"[..], "1:7"),
        (
            "\u{feff}let a = '\u{e4}';\r\n\n  let b = '\u{e4}".as_bytes(),
            "",
        ),
        (b"let a = 1;\n  const b = '\xc3\xa4\xff';", "2:16"),
        (b"/* \xc3", "1:4"),
        (b"\xff\xfe=\0", "1:1"),
    ] {
        let told = complaint("file:///a.js", text).unwrap_or_default();
        match place {
            "" => assert!(!told.contains("UTF-8"), "{told}"),
            place => assert_eq!(
                told,
                format!("file:///a.js: Line {place} Invalid UTF-8 character")
            ),
        }
    }
    let text = b"export const a: string = 'caf\xe9';";
    assert_eq!(complaint("file:///a.ts", text), None);
}
