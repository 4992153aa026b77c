//! Selectors as k6 reads them: CSS up to its third level, and what jQuery and k6's reader add to it.
//!
//! Must not know pages beyond [`Tree`]. Invariants: a selector that cannot be read matches nothing; reading goes down
//! into its own stack for each level and matching for each part, so that both happen on a stack that is large enough
//! for [`LEVELS_MAX`] and [`PARTS_MAX`].

mod matching;
mod read;

use regex::Regex;

use super::parse::Refusal;
use super::tree::Tree;
use crate::room::with_room;
use matching::Matching;

/// Parts that a selector may have: nobody writes more.
pub(super) const PARTS_MAX: usize = 500;
/// Parentheses that may be open at a time.
pub(super) const LEVELS_MAX: usize = 50;
/// Parts for which the stack of a virtual user does, however deep its script has gone.
const PARTS_IN_PLACE: usize = 3;
/// Bytes of a stack for the others.
const ROOM_BYTES: usize = 16 << 20;

/// Selectors of which one has to match.
#[derive(Debug)]
struct Group(Vec<Chain>);

/// Compounds one behind the other.
#[derive(Debug)]
struct Chain {
    /// The number of its first compound among all those of the selector.
    number: u32,
    /// Each but the first with how it follows the one before it.
    compounds: Vec<(Combinator, Compound)>,
}

/// How a node lies to the one that the compound before it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combinator {
    Within,
    ChildOf,
    RightBehind,
    Behind,
}

/// What one node is asked; an element, where it is asked nothing.
#[derive(Debug)]
struct Compound(Vec<Test>);

/// One question to a node.
#[derive(Debug)]
enum Test {
    Name(String),
    Attribute(Attribute),
    Not(Group),
    /// With the number of the answers that are kept.
    Has(u32, Group),
    HasChild(Group),
    Text(Span, Wording),
    Nth(Nth),
    Only {
        is_of_name: bool,
    },
    Input,
    Empty,
    Root,
    Link,
    Language(String),
    Enabled,
    Disabled,
    Checked,
    /// What a page alone cannot tell, such as `:hover`.
    Never,
}

/// An attribute and what its value has to be.
#[derive(Debug)]
struct Attribute {
    name: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Any,
    /// `[name!=value]`: that it is not there will do.
    IsNot(Text),
    Is(Text),
    HasWord(Text),
    /// `[name|=value]`: it, or it and a hyphen in front.
    HasLanguage(Text),
    Begins(Text),
    Ends(Text),
    Holds(Text),
    Fits(Regex),
}

/// A text that values are held against.
#[derive(Debug)]
struct Text {
    text: String,
    ignores_case: bool,
}

/// Which text of a node is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Whole,
    /// That of its children alone.
    Own,
}

/// How a text has to be worded.
#[derive(Debug)]
enum Wording {
    /// It holds this, in small letters.
    Holds(String),
    Fits(Regex),
}

/// A place among the elements beside: `step * n + start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Nth {
    step: i64,
    start: i64,
    count: Count,
}

/// How elements beside one another are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Count {
    is_from_last: bool,
    is_of_name: bool,
}

/// A selector, read.
pub(super) struct Selector {
    /// `None`: it cannot be read.
    group: Option<Group>,
    /// Whether a virtual user's own stack is too small for it.
    is_deep: bool,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// It is too long or too deep, or there is no memory for its depth.
    pub(super) fn parse(written: &str) -> Result<Selector, Refusal> {
        let (parts, levels) = extent(written);
        if parts > PARTS_MAX || levels > LEVELS_MAX {
            return Err(Refusal::TooManyParts);
        }
        let is_deep = parts > PARTS_IN_PLACE;
        let group = roomy(is_deep, || read::selector(written))?;
        Ok(Selector { group, is_deep })
    }

    /// Those of some nodes that it matches. What was found out for one helps with the next.
    ///
    /// # Errors
    /// There is no memory for its depth.
    pub(super) fn matching(
        &self,
        tree: &Tree,
        nodes: impl Iterator<Item = u32>,
    ) -> Result<Vec<u32>, Refusal> {
        let Some(group) = &self.group else {
            return Ok(Vec::new());
        };
        let mut matching = Matching::new(tree);
        roomy(self.is_deep, || {
            nodes.filter(|at| matching.group(group, *at)).collect()
        })
    }
}

/// Does work in place, or with room for what is deep.
fn roomy<T>(is_deep: bool, work: impl FnOnce() -> T) -> Result<T, Refusal> {
    if is_deep {
        with_room(ROOM_BYTES, work).map_err(|_| Refusal::NoMemory)
    } else {
        Ok(work())
    }
}

/// How many parts the longest of a list of selectors has at most, and how many parentheses are open at a time
/// in it.
fn extent(written: &str) -> (usize, usize) {
    let (mut parts, mut most) = (0, 0);
    let (mut level, mut deepest) = (0_usize, 0);
    let mut rest = written;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' | '\'' => quoted(rest, first),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
        match first {
            '(' => level += 1,
            ')' => level = level.saturating_sub(1),
            ',' if level == 0 => parts = 0,
            _ => {}
        }
        let is_combinator = |c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~');
        let goes_on = rest[taken..].starts_with(is_combinator);
        parts += usize::from(first == '(' || (is_combinator(first) && !goes_on));
        (most, deepest) = (most.max(parts), deepest.max(level));
        rest = &rest[taken..];
    }
    (most, deepest)
}

/// How long the text in quotes is that begins here.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_counted_for_each_of_a_list() {
        for (css, expected) in [
            ("", (0, 0)),
            ("p", (0, 0)),
            ("div > p  a", (2, 0)),
            ("a b,c d e", (2, 0)),
            (":not(:is(p, a b))", (4, 2)),
            ("a[b=\"( > (\"]:x", (0, 0)),
            ("a\\(b)", (0, 0)),
        ] {
            assert_eq!(extent(css), expected, "{css}");
        }
    }

    proptest! {
        #[test]
        fn no_selector_panics(written in "[a-z\\[\\]:('\")\\\\ =!é>+~0-9,#.*-]{0,24}") {
            let page = "<div a=b><p>x</p>y<p c='d e'></p></div>".to_owned();
            let tree = Tree::parse(page, || true).expect("it is small");
            if let Ok(selector) = Selector::parse(&written) {
                let _ = tree.find(&[0], &selector, || true);
            }
        }
    }
}
