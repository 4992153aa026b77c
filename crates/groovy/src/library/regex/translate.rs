//! Translates Java's patterns for `fancy_regex`.
//!
//! Must not know what is searched. Invariant: syntax with the same meaning in both stays unchanged.

/// Translates a Java pattern for `fancy_regex`.
pub(super) fn translated(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    let mut in_class = 0_u32;
    while let Some(one) = rest.next() {
        match one {
            '\\' => escaped(&mut rest, in_class > 0, &mut out),
            '[' => {
                in_class += 1;
                out.push('[');
                if rest.peek() == Some(&'^') {
                    out.push('^');
                    rest.next();
                }
                if rest.peek() == Some(&']') {
                    out.push_str("\\]");
                    rest.next();
                }
            }
            ']' => {
                in_class = in_class.saturating_sub(1);
                out.push(']');
            }
            '{' if in_class == 0 && !rest.peek().is_some_and(char::is_ascii_digit) => {
                out.push_str("\\{");
            }
            '}' if in_class == 0 && !closes_count(&out) => out.push_str("\\}"),
            '~' | '&' | '#' if in_class > 0 && rest.peek() != Some(&'&') => {
                out.push('\\');
                out.push(one);
            }
            _ => out.push(one),
        }
    }
    out
}

/// The translation of the text after a backslash.
fn escaped(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    is_in_class: bool,
    out: &mut String,
) {
    match rest.next() {
        Some('Q') => {
            let mut literal = String::new();
            while let Some(one) = rest.next() {
                if one == '\\' && rest.peek() == Some(&'E') {
                    rest.next();
                    break;
                }
                literal.push(one);
            }
            out.push_str(&fancy_regex::escape(&literal));
        }
        Some('Z') => out.push_str("(?=\\n?\\z)"),
        Some('h') if !is_in_class => out.push_str("[ \\t\\x{A0}\\x{2000}-\\x{200a}]"),
        Some('R') => out.push_str("(?:\\r\\n|[\\n\\r\\x0b\\x0c])"),
        Some('u') => {
            let code: String = rest.by_ref().take(4).collect();
            out.push_str(&format!("\\x{{{code}}}"));
        }
        Some(digit @ '1'..='9') if !is_in_class => {
            out.push('\\');
            out.push(digit);
        }
        Some(
            sign @ ('"' | '\'' | '/' | '=' | ':' | ';' | ',' | '<' | '>' | '@' | '!' | '%' | '_'
            | '`' | '#' | '&' | '~' | ' ' | '-'),
        ) => {
            if matches!(sign, '#' | '&' | '~' | '-' | ' ') || is_in_class {
                out.push('\\');
            }
            out.push(sign);
        }
        Some('e') => out.push_str("\\x1b"),
        Some(kind @ ('p' | 'P' | 'x')) if rest.peek() == Some(&'{') => {
            out.push('\\');
            out.push(kind);
            for one in rest.by_ref() {
                out.push(one);
                if one == '}' {
                    break;
                }
            }
        }
        Some(other) => {
            out.push('\\');
            out.push(other);
        }
        None => out.push('\\'),
    }
}

/// Whether a brace closes a count such as `{2,3` or a code such as `\x{41`.
fn closes_count(out: &str) -> bool {
    match out.rfind('{') {
        Some(at) => {
            let inside = &out[at + 1..];
            let is_count = !inside.is_empty()
                && inside
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b',');
            is_count && !out[..at].ends_with('\\')
        }
        None => false,
    }
}
