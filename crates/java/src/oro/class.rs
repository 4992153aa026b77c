//! Translates a character class from ORO's syntax to that of `fancy_regex`.
//!
//! Must not know the context. Invariant: the output only contains escapes and ranges, never a character with a
//! special meaning.

use std::fmt::Write as _;

/// Java's white space.
pub(super) const SPACE: &str = r"\x{9}-\x{d}\x{1c}-\x{20}\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}";

const UNMATCHED: &str = "Unmatched [] in expression.";
const BAD_RANGE: &str = "Invalid [] range in expression.";

/// POSIX classes by name. `alpha`, `alnum` and `word` include letters of other scripts; `upper` and `lower`
/// cover Latin-1.
const POSIX: [(&str, &str); 14] = [
    ("alnum", r"[\w--_]"),
    ("alpha", r"[\w--[\d_]]"),
    ("ascii", r"\x{0}-\x{7f}"),
    (
        "blank",
        r"\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
    ),
    ("cntrl", r"\x{0}-\x{1f}\x{7f}-\x{9f}"),
    ("digit", r"\d"),
    ("graph", r"\x{21}-\x{7e}\x{a1}-\x{10ffff}"),
    ("lower", r"a-z\x{aa}\x{b5}\x{ba}\x{df}-\x{f6}\x{f8}-\x{ff}"),
    ("print", r"\x{20}-\x{7e}\x{a0}-\x{10ffff}"),
    (
        "punct",
        r"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}\x{a1}-\x{a5}\x{a7}\x{a8}\x{ac}\x{af}\x{b1}\x{b4}\x{b6}-\x{b8}\x{bf}\x{d7}\x{f7}",
    ),
    ("space", SPACE),
    ("upper", r"A-Z\x{c0}-\x{d6}\x{d8}-\x{de}"),
    ("word", r"\w"),
    ("xdigit", r"0-9A-Fa-f"),
];

/// An item of a class.
enum Item {
    Character(char),
    Set(String),
}

/// Translates the class that starts at `at`, just after its opening bracket, into `out`; returns the position
/// after its closing bracket.
pub(super) fn write(pattern: &[char], mut at: usize, out: &mut String) -> Result<usize, String> {
    out.push('[');
    if pattern.get(at) == Some(&'^') {
        out.push('^');
        at += 1;
    }
    let first = at;
    loop {
        match pattern.get(at) {
            None => return Err(UNMATCHED.to_owned()),
            Some(']') if at > first => break,
            Some(_) => at = write_one(pattern, at, out)?,
        }
    }
    out.push(']');
    Ok(at + 1)
}

/// Translates a character, a range or a set; returns the position after it.
fn write_one(pattern: &[char], at: usize, out: &mut String) -> Result<usize, String> {
    let (item, mut at) = read_item(pattern, at)?;
    let low = match item {
        Item::Set(set) => {
            out.push_str(&set);
            return Ok(at);
        }
        Item::Character(low) => low,
    };
    let ranges =
        pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|next| *next != ']');
    if !ranges {
        write_character(low, out);
        return Ok(at);
    }
    let (item, behind) = read_item(pattern, at + 1)?;
    at = behind;
    let Item::Character(high) = item else {
        return Err(BAD_RANGE.to_owned());
    };
    if high < low {
        return Err(BAD_RANGE.to_owned());
    }
    write_character(low, out);
    out.push('-');
    write_character(high, out);
    Ok(at)
}

fn write_character(character: char, out: &mut String) {
    let _ = write!(out, r"\x{{{:x}}}", u32::from(character));
}

fn read_item(pattern: &[char], at: usize) -> Result<(Item, usize), String> {
    match pattern.get(at) {
        None => Err(UNMATCHED.to_owned()),
        Some('[') if pattern.get(at + 1) == Some(&':') => {
            Ok(read_posix(pattern, at).unwrap_or((Item::Character('['), at + 1)))
        }
        Some('\\') => read_escape(pattern, at + 1),
        Some(character) => Ok((Item::Character(*character), at + 1)),
    }
}

/// Parses `[:name:]` or `[:^name:]`; `None`: the bracket is literal.
fn read_posix(pattern: &[char], at: usize) -> Option<(Item, usize)> {
    let negated = pattern.get(at + 2) == Some(&'^');
    let start = at + 2 + usize::from(negated);
    let length = pattern
        .get(start..)?
        .iter()
        .position(|one| !one.is_ascii_alphabetic())?;
    let name: String = pattern[start..start + length].iter().collect();
    if pattern.get(start + length..start + length + 2)? != [':', ']'] {
        return None;
    }
    let (_, set) = POSIX.iter().find(|(one, _)| *one == name)?;
    let set = if negated {
        format!("[^{set}]")
    } else {
        (*set).to_owned()
    };
    Some((Item::Set(set), start + length + 2))
}

fn read_escape(pattern: &[char], at: usize) -> Result<(Item, usize), String> {
    let set = |set: &str| Ok((Item::Set(set.to_owned()), at + 1));
    match pattern.get(at) {
        None => Err(UNMATCHED.to_owned()),
        Some('w') => set(r"\w"),
        Some('W') => set(r"\W"),
        Some('d') => set(r"\d"),
        Some('D') => set(r"\D"),
        Some('s') => set(SPACE),
        Some('S') => set(&format!("[^{SPACE}]")),
        Some('b') => Ok((Item::Character('\u{8}'), at + 1)),
        Some(_) => {
            let (character, at) = super::translate::read_character(pattern, at);
            Ok((Item::Character(character), at))
        }
    }
}
