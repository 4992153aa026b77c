//! Character sets by their Java names.
//!
//! Source: the documentation of `java.nio.charset.Charset`. Must not know what is encoded. Invariant: a
//! character that a set lacks is encoded as `?`, and invalid bytes are decoded as U+FFFD.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// A character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// `US-ASCII`.
    Ascii,
    /// `ISO-8859-1`: bytes are code points; not the superset that the web uses under this name.
    Latin1,
    /// `UTF-16`: encoded as big-endian, after a byte order mark.
    Utf16,
    /// Any other.
    Other(&'static Encoding),
}

impl Charset {
    /// UTF-8.
    pub const UTF_8: Charset = Charset::Other(UTF_8);

    /// The set with a name; `None`: unknown.
    #[must_use]
    pub fn named(name: &str) -> Option<Charset> {
        let name = name.trim();
        Some(match name.to_ascii_lowercase().as_str() {
            "us-ascii" | "ascii" | "ascii7" | "646" | "iso646-us" | "iso_646.irv:1991"
            | "ansi_x3.4-1968" | "ansi_x3.4-1986" | "cp367" | "ibm367" | "csascii" | "us"
            | "iso-ir-6" | "default" => Charset::Ascii,
            "iso-8859-1" | "iso8859-1" | "iso8859_1" | "iso_8859-1" | "iso_8859_1"
            | "iso_8859-1:1987" | "iso-ir-100" | "latin1" | "l1" | "8859_1" | "819" | "cp819"
            | "ibm819" | "ibm-819" | "csisolatin1" => Charset::Latin1,
            "utf-16" | "utf_16" | "utf16" | "unicode" | "unicodebig" => Charset::Utf16,
            _ => Charset::Other(Encoding::for_label(name.as_bytes())?),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Charset::Ascii => "US-ASCII",
            Charset::Latin1 => "ISO-8859-1",
            Charset::Utf16 => "UTF-16",
            Charset::Other(encoding) if encoding.name() == "gb18030" => "GB18030",
            Charset::Other(encoding) => encoding.name(),
        }
    }

    /// The bytes of a text.
    #[must_use]
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        let below = |limit: u32| {
            move |c: char| {
                u8::try_from(u32::from(c))
                    .ok()
                    .filter(|_| u32::from(c) < limit)
            }
        };
        let single = |byte_of: &dyn Fn(char) -> Option<u8>| {
            text.chars().map(|c| byte_of(c).unwrap_or(b'?')).collect()
        };
        match self {
            Charset::Ascii => Cow::Owned(single(&below(0x80))),
            Charset::Latin1 => Cow::Owned(single(&below(0x100))),
            Charset::Utf16 if text.is_empty() => Cow::Borrowed(&[]),
            Charset::Utf16 => {
                Cow::Owned([&[0xfe, 0xff], units(text, u16::to_be_bytes).as_slice()].concat())
            }
            Charset::Other(encoding) if encoding == UTF_16BE => {
                Cow::Owned(units(text, u16::to_be_bytes))
            }
            Charset::Other(encoding) if encoding == UTF_16LE => {
                Cow::Owned(units(text, u16::to_le_bytes))
            }
            Charset::Other(encoding) => with_question_marks(encoding, text),
        }
    }

    /// The text of bytes.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Charset::Ascii => {
                let shown = bytes.iter().map(|&byte| {
                    if byte.is_ascii() {
                        char::from(byte)
                    } else {
                        '\u{fffd}'
                    }
                });
                Cow::Owned(shown.collect())
            }
            Charset::Latin1 => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
            Charset::Utf16 => {
                let (encoding, rest) = match bytes {
                    [0xff, 0xfe, rest @ ..] => (UTF_16LE, rest),
                    [0xfe, 0xff, rest @ ..] => (UTF_16BE, rest),
                    _ => (UTF_16BE, bytes),
                };
                encoding.decode_without_bom_handling(rest).0
            }
            Charset::Other(encoding) => encoding.decode_without_bom_handling(bytes).0,
        }
    }
}

fn units(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn with_question_marks<'t>(encoding: &'static Encoding, text: &'t str) -> Cow<'t, [u8]> {
    let (bytes, _, is_lossy) = encoding.encode(text);
    if !is_lossy {
        return bytes;
    }
    let has = |c: char| {
        let mut place = [0; 4];
        !encoding.encode(c.encode_utf8(&mut place)).2
    };
    let shown: String = text.chars().map(|c| if has(c) { c } else { '?' }).collect();
    Cow::Owned(encoding.encode(&shown).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        let name = |given: &str| Charset::named(given).map(Charset::name);
        let rows = [
            ("ascii", "US-ASCII"),
            (" latin1 ", "ISO-8859-1"),
            ("utf8", "UTF-8"),
            ("cp1252", "windows-1252"),
            ("Shift_JIS", "Shift_JIS"),
            ("gb18030", "GB18030"),
        ];
        for (given, told) in rows {
            assert_eq!(name(given), Some(told), "{given}");
        }
        assert_eq!(name("no-such"), None);
    }

    #[test]
    fn what_a_set_has_not_is_a_question_mark() {
        let coded = |name: &str| {
            Charset::named(name)
                .expect(name)
                .encode("é€日")
                .into_owned()
        };
        assert_eq!(coded("ISO-8859-1"), b"\xe9??");
        assert_eq!(coded("ASCII"), b"???");
        assert_eq!(coded("windows-1252"), b"\xe9\x80?");
        assert_eq!(coded("Shift_JIS"), b"??\x93\xfa");
        assert_eq!(coded("UTF-16"), b"\xfe\xff\0\xe9\x20\xac\x65\xe5");
        assert_eq!(coded("UTF-16LE"), b"\xe9\0\xac\x20\xe5\x65");
    }

    #[test]
    fn latin1_is_what_it_says() {
        assert_eq!(Charset::Latin1.decode(b"\x80\xe9"), "\u{80}é");
        assert_eq!(Charset::Ascii.decode(b"a\xe9"), "a\u{fffd}");
        assert_eq!(Charset::Utf16.decode(b"\xff\xfea\0"), "a");
        assert_eq!(Charset::Utf16.decode(b"\0a"), "a");
    }

    proptest::proptest! {
        #[test]
        fn unicode_comes_back(text in ".*") {
            for charset in [Charset::UTF_8, Charset::Utf16] {
                let coded = charset.encode(&text).into_owned();
                proptest::prop_assert_eq!(charset.decode(&coded), text.as_str());
            }
        }
    }
}
