//! Blocks between markers in a text, and their replacement.
//!
//! A marker is a separate line: `<!-- loadline:begin NAME -->`, `<!-- loadline:end NAME -->`; inside a fenced
//! code block it is an example, not a marker. Must not know the content of blocks. Invariant: replacing changes
//! no byte outside of the given blocks, and blocks keep the document's line ends.

use crate::document::DocumentError;

/// A block of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownBlock<'a> {
    /// Its name.
    pub name: &'a str,
    /// The content between its markers, including line ends.
    pub body: &'a str,
    /// Start of the body, in bytes.
    pub begin: usize,
    /// Start of its end marker's line, in bytes.
    pub end: usize,
    /// Whether its lines end with `\r\n`, like that of the begin marker.
    crlf: bool,
}

enum Marker<'a> {
    Begin(&'a str),
    End(&'a str),
}

/// The blocks of a text in order.
///
/// # Errors
/// A block that does not end, ends twice, is nested or exists twice; with its line.
pub fn find(text: &str) -> Result<Vec<MarkdownBlock<'_>>, DocumentError> {
    let mut blocks: Vec<MarkdownBlock<'_>> = Vec::new();
    let mut open: Option<(&str, usize, usize, bool)> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let number = n + 1;
        let begin = at;
        at += line.len();
        // Within a block everything is ours, and commands in it may hold anything.
        if open.is_none() && is_in_fence(&mut fence, line) {
            continue;
        }
        match (marker(line), open) {
            (None, _) => {}
            (Some(Marker::Begin(name)), None) => {
                if blocks.iter().any(|block| block.name == name) {
                    return Err(wrong(
                        number,
                        &format!("the block `{name}` occurs twice"),
                        "rename or remove one",
                    ));
                }
                open = Some((name, at, number, line.ends_with("\r\n")));
            }
            (Some(Marker::Begin(name)), Some((outer, ..))) => {
                let what = format!("the block `{name}` begins within `{outer}`");
                return Err(wrong(
                    number,
                    &what,
                    &format!("add `<!-- loadline:end {outer} -->` before it"),
                ));
            }
            (Some(Marker::End(name)), Some((outer, body, _, crlf))) if name == outer => {
                blocks.push(MarkdownBlock {
                    name,
                    body: &text[body..begin],
                    begin: body,
                    end: begin,
                    crlf,
                });
                open = None;
            }
            (Some(Marker::End(name)), _) => {
                let what = format!("the block `{name}` ends without a beginning");
                return Err(wrong(
                    number,
                    &what,
                    &format!("add `<!-- loadline:begin {name} -->` before it"),
                ));
            }
        }
    }
    match open {
        None => Ok(blocks),
        Some((name, _, number, _)) => {
            let what = format!("the block `{name}` has no end");
            Err(wrong(
                number,
                &what,
                &format!("add `<!-- loadline:end {name} -->` after it"),
            ))
        }
    }
}

fn wrong(line: usize, what: &str, fix: &str) -> DocumentError {
    DocumentError::in_document(line, what.to_owned(), fix.to_owned())
}

/// Replaces the bodies of blocks; their lines end with `\n`, which becomes the document's line end. Blocks
/// without a new body stay.
#[must_use]
pub fn replace(text: &str, blocks: &[MarkdownBlock<'_>], bodies: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for block in blocks {
        let Some((_, body)) = bodies.iter().find(|(name, _)| *name == block.name) else {
            continue;
        };
        out.push_str(&text[at..block.begin]);
        if block.crlf {
            out.push_str(&body.replace('\n', "\r\n"));
        } else {
            out.push_str(body);
        }
        at = block.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Whether a line belongs to a fenced code block (CommonMark 4.5), its fences included.
fn is_in_fence<'a>(fence: &mut Option<&'a str>, line: &'a str) -> bool {
    let indented = line.len() - line.trim_start_matches(' ').len() > 3;
    let start = line.trim_start_matches(' ');
    let mark = if start.starts_with("```") {
        '`'
    } else if start.starts_with("~~~") {
        '~'
    } else {
        return fence.is_some();
    };
    let rest = start.trim_start_matches(mark);
    let run = &start[..start.len() - rest.len()];
    match *fence {
        _ if indented => fence.is_some(),
        None => {
            // In a line of words backticks are code, not a fence.
            if mark == '`' && rest.contains('`') {
                return false;
            }
            *fence = Some(run);
            true
        }
        Some(open) => {
            if run.starts_with(open) && rest.trim().is_empty() {
                *fence = None;
            }
            true
        }
    }
}

fn marker(line: &str) -> Option<Marker<'_>> {
    let inner = line
        .trim()
        .strip_prefix("<!--")?
        .strip_suffix("-->")?
        .trim();
    let words = inner.strip_prefix("loadline:")?;
    let (what, name) = words.split_once(char::is_whitespace)?;
    let name = name.trim();
    match what {
        _ if name.contains(char::is_whitespace) || name.contains("--") => None,
        "begin" => Some(Marker::Begin(name)),
        "end" => Some(Marker::End(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<&str> {
        find(text)
            .expect("blocks")
            .into_iter()
            .map(|block| block.name)
            .collect()
    }

    #[test]
    fn markers_in_code_are_examples() {
        let text = "```\n<!-- loadline:begin a -->\n```\n~~~~ md\n```\n<!-- loadline:end a -->\n~~~~\n\
                    <!-- loadline:begin b -->\n```\n<!-- loadline:end b -->\n  <!--loadline:begin c-->\n<!-- loadline:end c -->";
        assert_eq!(names(text), ["b", "c"]);
    }

    #[test]
    fn line_ends_and_a_missing_last_one_are_kept() {
        let text = "a\r\n<!-- loadline:begin x -->\r\nold\r\n<!-- loadline:end x -->\r\nb\n\
                    <!-- loadline:begin y -->\n<!-- loadline:end y -->";
        let found = find(text).expect("blocks");
        let bodies = [("x", "1\n2\n".to_owned()), ("y", "3\n".to_owned())];
        let new = replace(text, &found, &bodies);
        assert_eq!(
            new,
            "a\r\n<!-- loadline:begin x -->\r\n1\r\n2\r\n<!-- loadline:end x -->\r\nb\n\
             <!-- loadline:begin y -->\n3\n<!-- loadline:end y -->"
        );
    }

    #[test]
    fn markers_that_do_not_match_are_refused_with_their_line() {
        for (text, line, word) in [
            ("x\n<!-- loadline:begin a -->\n", 2, "has no end"),
            ("<!-- loadline:end a -->", 1, "without a beginning"),
            (
                "<!-- loadline:begin a -->\n<!-- loadline:begin b -->",
                2,
                "within",
            ),
            (
                "<!-- loadline:begin a -->\n<!-- loadline:end a -->\n<!-- loadline:begin a -->",
                3,
                "twice",
            ),
            (
                "<!-- loadline:begin a -->\n<!-- loadline:end b -->",
                2,
                "without a beginning",
            ),
        ] {
            let error = find(text).expect_err(text);
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains(word), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_outside_stays(
            parts in prop::collection::vec("[a-z`~|\\r\\n <!-]{0,30}", 3),
            body in "[a-z|\\n]{0,20}",
        ) {
            let text = format!(
                "{}\n<!-- loadline:begin one -->\n{}\n<!-- loadline:end one -->\n{}",
                parts[0], parts[1], parts[2]
            );
            if let Ok(found) = find(&text) {
                prop_assume!(found.len() == 1);
                let body = format!("{body}\n");
                let new = replace(&text, &found, &[("one", body.clone())]);
                let (before, after) = (&text[..found[0].begin], &text[found[0].end..]);
                prop_assert_eq!(&new, &format!("{before}{body}{after}"));
                let again = find(&new).expect("the markers are as they were");
                prop_assert_eq!(again[0].body, body.as_str());
                prop_assert_eq!(&replace(&new, &again, &[("one", body)]), &new);
                prop_assert_eq!(&replace(&text, &found, &[]), &text);
            }
        }
    }
}
