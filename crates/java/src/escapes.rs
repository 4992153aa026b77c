//! Escapes of Java source, HTML 4 and XML, as parsed and formatted by commons-text's `StringEscapeUtils`.
//!
//! Must not know markup. Invariant: text other than escapes stays unchanged.

mod entities;

use entities::ENTITIES;

/// `unescapeJava`: `\n`, `\t`, octal and `\uXXXX`; a backslash before anything else is removed.
#[must_use]
pub fn unescape_java(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        units.extend(rest[..at].encode_utf16());
        rest = &rest[at + 1..];
        let taken = match java_escape(rest) {
            Some((unit, taken)) => {
                units.push(unit);
                taken
            }
            None => 0,
        };
        rest = &rest[taken..];
        // A character after a lone backslash is consumed with it, so that it cannot start an escape.
        if taken == 0
            && let Some(character) = rest.chars().next()
        {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            rest = &rest[character.len_utf8()..];
        }
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

/// `escapeJava`: quotes, backslashes, and all but printable ASCII.
#[must_use]
pub fn escape_java(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(text, |unit| format!("\\u{unit:04X}"), &mut out);
    out
}

/// Adds a text as it stands between quotes; `code` writes a unit of UTF-16 that is not printable ASCII.
pub fn push_escaped(text: &str, code: impl Fn(u16) -> String, out: &mut String) {
    for one in text.chars() {
        match one {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(one),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&code(*unit));
                }
            }
        }
    }
}

/// The character for the text after a backslash, and the number of bytes consumed.
fn java_escape(rest: &str) -> Option<(u16, usize)> {
    let unit = match rest.as_bytes().first()? {
        b'b' => 8,
        b'n' => 10,
        b't' => 9,
        b'f' => 12,
        b'r' => 13,
        b'u' => {
            let digits = rest
                .trim_start_matches('u')
                .trim_start_matches('+')
                .get(..4)?;
            let skipped = rest.trim_start_matches('u').trim_start_matches('+');
            let unit = u16::from_str_radix(digits, 16).ok()?;
            return Some((unit, rest.len() - skipped.len() + 4));
        }
        b'0'..=b'7' => {
            let longest = if rest.as_bytes()[0] <= b'3' { 3 } else { 2 };
            let octal = |byte: &u8| (b'0'..=b'7').contains(byte);
            let length = rest.bytes().take(longest).take_while(octal).count();
            return Some((u16::from_str_radix(&rest[..length], 8).ok()?, length));
        }
        _ => return None,
    };
    Some((unit, 1))
}

/// `escapeHtml4`: characters with a name in HTML 4 are replaced by it; `'` is not.
#[must_use]
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let entity = ENTITIES.iter().find(|(_, means)| *means == character);
        match entity {
            Some((name, _)) if !character.is_ascii() || "\"&<>".contains(character) => {
                out.push('&');
                out.push_str(name);
                out.push(';');
            }
            _ => out.push(character),
        }
    }
    out
}

/// `unescapeHtml4`: HTML 4 names and numbers, each terminated by `;`.
#[must_use]
pub fn unescape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // A name cannot extend past another `&`: text scanned for one is not scanned again for the next.
        let name = rest[1..]
            .find([';', '&'])
            .map(|end| rest[1..].split_at(end));
        let entity = name.and_then(|(name, after)| {
            let after = after.strip_prefix(';')?;
            Some((means(name)?, after))
        });
        match entity {
            Some((means, after)) => {
                out.push(means);
                rest = after;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character for the name of an entity, `#65`, or `#x41`.
fn means(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        let entity = ENTITIES.iter().find(|(known, _)| *known == name);
        return entity.map(|(_, means)| *means);
    };
    let hexadecimal = number.strip_prefix(['x', 'X']);
    let code = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

/// `escapeXml10`: the five special characters by name; characters not allowed in XML 1.0 are removed.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(character),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' => {
                out.push_str(&format!("&#{};", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_escapes() {
        assert_eq!(unescape_java(r"a\tb\u0041\q\101\'\\n"), "a\tbAqA'\\n");
        assert_eq!(unescape_java(r"\uD83D\uDE00\uu0041\u+0041"), "😀AA");
        assert_eq!(unescape_java(r"x\u12"), "xu12");
        assert_eq!(unescape_java("x\\é\\"), "xé");
        assert_eq!(unescape_java(r"\477"), "'7");
        assert_eq!(
            escape_java("a\"\\\n\u{8}é😀~"),
            r#"a\"\\\n\b\u00E9\uD83D\uDE00~"#
        );
    }

    #[test]
    fn html_escapes() {
        let escaped = escape_html("<a href=\"x'y\">&é€\u{2028}😀");
        assert_eq!(
            escaped,
            "&lt;a href=&quot;x'y&quot;&gt;&amp;&eacute;&euro;\u{2028}😀"
        );
        let unescaped = unescape_html(
            "&lt;&eacute;&#65;&#x41;&nope;&amp;amp;&lt&#xZ;&euro;&copy;&alpha;&#128512;",
        );
        assert_eq!(unescaped, "<éAA&nope;&amp;&lt&#xZ;€©α😀");
    }

    #[test]
    fn signs_that_no_semicolon_follows_are_looked_at_once() {
        let text = "&".repeat(1_000_000);
        assert!(unescape_html(&text) == text, "as it was");
        assert_eq!(unescape_html("&a&lt;&&amp;"), "&a<&&");
    }

    #[test]
    fn xml_escapes() {
        assert_eq!(
            escape_xml("<a>\"'&é\u{1}\u{85}"),
            "&lt;a&gt;&quot;&apos;&amp;é\u{85}"
        );
    }
}
