//! Selectors as k6 reads them: CSS up to level 3, with the additions of jQuery and of k6's parser.
//!
//! Must not know pages beyond [`Tree`]. Invariants: an invalid selector matches nothing; parsing recurses per
//! level and matching per part, so both run on a stack that is large enough for [`LEVELS_MAX`] and
//! [`PARTS_MAX`].

mod matching;
mod read;

use regex::Regex;

use super::parse::Refusal;
use super::tree::Tree;
use crate::room::with_room;
use matching::Matching;

/// Maximum parts of a selector: no real selector has more.
pub(super) const PARTS_MAX: usize = 500;
/// Maximum open parentheses.
pub(super) const LEVELS_MAX: usize = 50;
/// Parts that fit on the stack of a virtual user, however deep its script is.
const PARTS_IN_PLACE: usize = 3;
/// Stack bytes for larger selectors.
const ROOM_BYTES: usize = 16 << 20;

/// Alternative selectors, one of which has to match.
#[derive(Debug)]
struct Group(Vec<Chain>);

/// Compounds with combinators between them.
#[derive(Debug)]
struct Chain {
    /// The number of its first compound among all those of the selector.
    number: u32,
    /// Each with its relation to the one before; that of the first is unused.
    compounds: Vec<(Combinator, Compound)>,
}

/// The relation of a node to the one matched by the previous compound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combinator {
    Within,
    ChildOf,
    RightBehind,
    Behind,
}

/// The tests of one node; with no tests, any element.
#[derive(Debug)]
struct Compound(Vec<Test>);

/// One test of a node.
#[derive(Debug)]
enum Test {
    Name(String),
    Attribute(Attribute),
    Not(Group),
    /// With its number in the cache of results.
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
    /// What cannot be determined from a page, such as `:hover`.
    Never,
}

/// An attribute and the condition on its value.
#[derive(Debug)]
struct Attribute {
    name: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Any,
    /// `[name!=value]`: a missing attribute also matches.
    IsNot(Text),
    Is(Text),
    HasWord(Text),
    /// `[name|=value]`: the value, or the value followed by a hyphen.
    HasLanguage(Text),
    Begins(Text),
    Ends(Text),
    Holds(Text),
    Fits(Regex),
}

/// A text to compare values with.
#[derive(Debug)]
struct Text {
    text: String,
    ignores_case: bool,
}

/// Which text of a node is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Whole,
    /// Only that of its own text children.
    Own,
}

/// The condition on a text.
#[derive(Debug)]
enum Wording {
    /// It contains this, in lower case.
    Holds(String),
    Fits(Regex),
}

/// A position among siblings: `step * n + start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Nth {
    step: i64,
    start: i64,
    count: Count,
}

/// How siblings are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Count {
    is_from_last: bool,
    is_of_name: bool,
}

impl Count {
    const CHILD: Count = Count {
        is_from_last: false,
        is_of_name: false,
    };
    const LAST_CHILD: Count = Count {
        is_from_last: true,
        is_of_name: false,
    };
    const OF_TYPE: Count = Count {
        is_from_last: false,
        is_of_name: true,
    };
    const LAST_OF_TYPE: Count = Count {
        is_from_last: true,
        is_of_name: true,
    };
}

/// A parsed selector.
pub(super) struct Selector {
    /// `None`: it is invalid.
    group: Option<Group>,
    /// Whether it needs more stack than a virtual user has.
    is_deep: bool,
}

impl Selector {
    /// Parses a selector.
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

    /// The nodes that it matches. Cached results are shared between them.
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

/// Runs work in place, or on a larger stack if it is deep.
fn roomy<T>(is_deep: bool, work: impl FnOnce() -> T) -> Result<T, Refusal> {
    if is_deep {
        with_room(ROOM_BYTES, work).map_err(|_| Refusal::NoMemory)
    } else {
        Ok(work())
    }
}

/// Upper bounds of a selector list: parts of its longest selector, and open parentheses.
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

/// The length of the quoted text that starts here.
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
