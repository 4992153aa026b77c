//! Parses the text of a selector into tests.
//!
//! The accepted syntax and its meaning were observed on k6 v2.2.0; it reads a selector from left to right and
//! stops at the first unknown token. Must not know pages. Invariant: reading stops at the end of the text.

use regex::Regex;

use super::{
    Attribute, Chain, Combinator, Compound, Count, Group, Nth, Span, Test, Text, Value, Wording,
};

/// A whole selector; `None` if it is invalid.
pub(super) fn selector(written: &str) -> Option<Group> {
    let mut reader = Reader {
        rest: written,
        numbers: 0,
    };
    let group = reader.group()?;
    reader.rest.is_empty().then_some(group)
}

struct Reader<'a> {
    rest: &'a str,
    /// Numbers assigned so far.
    numbers: u32,
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c == '-' || c.is_ascii_digit()
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c')
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Consumes the next text if it is this.
    fn take(&mut self, wanted: &str) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes the next bytes, at most this many.
    fn take_bytes(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, is_it: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_it(c)).unwrap_or(self.rest.len());
        self.take_bytes(end)
    }

    fn numbered(&mut self, count: usize) -> u32 {
        let number = self.numbers;
        self.numbers += count as u32;
        number
    }

    /// Skips blanks and comments; returns whether there were any.
    fn skip_space(&mut self) -> bool {
        let before = self.rest.len();
        loop {
            self.take_while(is_space);
            let end = self
                .rest
                .strip_prefix("/*")
                .and_then(|comment| comment.find("*/"));
            match end {
                Some(end) => self.take_bytes(end + 4),
                None => break,
            };
        }
        self.rest.len() < before
    }

    fn group(&mut self) -> Option<Group> {
        let mut chains = vec![self.chain()?];
        while self.take(",") {
            chains.push(self.chain()?);
        }
        Some(Group(chains))
    }

    fn chain(&mut self) -> Option<Chain> {
        self.skip_space();
        let mut compounds = vec![(Combinator::Within, self.compound()?)];
        loop {
            let is_apart = self.skip_space();
            let combinator = match self.peek() {
                None | Some(',' | ')') => break,
                Some('>') => Combinator::ChildOf,
                Some('+') => Combinator::RightBehind,
                Some('~') => Combinator::Behind,
                Some(_) if is_apart => Combinator::Within,
                Some(_) => break,
            };
            if combinator != Combinator::Within {
                self.take_bytes(1);
                self.skip_space();
            }
            compounds.push((combinator, self.compound()?));
        }
        let number = self.numbered(compounds.len());
        Some(Chain { number, compounds })
    }

    fn compound(&mut self) -> Option<Compound> {
        let mut tests = Vec::new();
        match self.peek()? {
            '*' => {
                self.take_bytes(1);
            }
            '#' | '.' | '[' | ':' => {}
            _ => tests.push(Test::Name(self.identifier()?.to_ascii_lowercase())),
        }
        loop {
            match self.peek() {
                Some('#') => {
                    self.take_bytes(1);
                    let value = Value::Is(exactly(self.name()?));
                    tests.push(attribute("id", value));
                }
                Some('.') => {
                    self.take_bytes(1);
                    let value = Value::HasWord(exactly(self.identifier()?));
                    tests.push(attribute("class", value));
                }
                Some('[') => tests.push(self.bracketed()?),
                Some(':') => tests.push(self.worded()?),
                _ => return Some(Compound(tests)),
            }
        }
    }

    /// An identifier, possibly with leading hyphens.
    fn identifier(&mut self) -> Option<String> {
        let hyphens = self.take_while(|c| c == '-');
        let begins = |c: char| is_name_start(c) || c == '\\';
        self.peek().filter(|c| begins(*c))?;
        Some(format!("{hyphens}{}", self.name()?))
    }

    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            name.push_str(self.take_while(is_name));
            if self.peek() != Some('\\') {
                return (!name.is_empty()).then_some(name);
            }
            name.push(self.escaped()?);
        }
    }

    /// The character after a backslash: by its number, or literally.
    fn escaped(&mut self) -> Option<char> {
        self.take_bytes(1);
        let first = self.peek()?;
        if matches!(first, '\r' | '\n' | '\x0c') {
            return None;
        }
        if !first.is_ascii_hexdigit() {
            self.take_bytes(first.len_utf8());
            return Some(first);
        }
        let digits = self.rest.bytes().take(6);
        let digits = digits.take_while(u8::is_ascii_hexdigit).count();
        let number = u32::from_str_radix(self.take_bytes(digits), 16).ok()?;
        let ends = self.take("\r\n") || self.peek().is_some_and(is_space);
        if ends && self.peek().is_some_and(is_space) {
            self.take_bytes(1);
        }
        Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn string(&mut self, quote: char) -> Option<String> {
        self.take_bytes(1);
        let mut text = String::new();
        loop {
            let plain = |c: char| c != quote && !matches!(c, '\\' | '\r' | '\n' | '\x0c');
            text.push_str(self.take_while(plain));
            match self.peek()? {
                '\\' if self.take("\\\r\n")
                    || self.take("\\\n")
                    || self.take("\\\r")
                    || self.take("\\\x0c") => {}
                '\\' => text.push(self.escaped()?),
                c if c == quote => {
                    self.take_bytes(1);
                    return Some(text);
                }
                _ => return None,
            }
        }
    }

    fn string_or_identifier(&mut self) -> Option<String> {
        match self.peek()? {
            quote @ ('"' | '\'') => self.string(quote),
            _ => self.identifier(),
        }
    }

    /// A regular expression, up to the closing parenthesis or bracket that it does not open itself.
    fn pattern(&mut self) -> Option<Regex> {
        if self.rest.len() < 2 {
            return None;
        }
        let mut open = 0_usize;
        let end = self.rest.find(|c| {
            match c {
                '(' | '[' => open += 1,
                ')' | ']' if open == 0 => return true,
                ')' | ']' => open -= 1,
                _ => {}
            }
            false
        });
        Regex::new(self.take_bytes(end?)).ok()
    }

    fn bracketed(&mut self) -> Option<Test> {
        self.take_bytes(1);
        self.skip_space();
        let name = self.identifier()?.to_ascii_lowercase();
        self.skip_space();
        if self.take("]") {
            return Some(attribute(&name, Value::Any));
        }
        let operator = match self.peek()? {
            '=' => self.take_bytes(1),
            _ if self.rest.as_bytes().get(1) == Some(&b'=') => self.take_bytes(2),
            _ => return None,
        };
        self.skip_space();
        let (text, pattern) = match operator {
            "#=" => (String::new(), Some(self.pattern()?)),
            _ => (self.string_or_identifier()?, None),
        };
        self.skip_space();
        let ignores_case = self.take("i") || self.take("I");
        self.skip_space();
        if !self.take("]") {
            return None;
        }
        let text = Text { text, ignores_case };
        let value = match (operator, pattern) {
            (_, Some(pattern)) => Value::Fits(pattern),
            ("=", _) => Value::Is(text),
            ("!=", _) => Value::IsNot(text),
            ("~=", _) => Value::HasWord(text),
            ("|=", _) => Value::HasLanguage(text),
            ("^=", _) => Value::Begins(text),
            ("$=", _) => Value::Ends(text),
            ("*=", _) => Value::Holds(text),
            _ => return None,
        };
        Some(attribute(&name, value))
    }

    /// A word after a colon.
    fn worded(&mut self) -> Option<Test> {
        self.take_bytes(1);
        let word = self.identifier()?.to_ascii_lowercase();
        Some(match word.as_str() {
            "not" => Test::Not(self.in_parentheses(Reader::group)?),
            "has" => {
                let number = self.numbered(1);
                Test::Has(number, self.in_parentheses(Reader::group)?)
            }
            "haschild" => Test::HasChild(self.in_parentheses(Reader::group)?),
            "contains" => Test::Text(Span::Whole, self.in_parentheses(Reader::wording)?),
            "containsown" => Test::Text(Span::Own, self.in_parentheses(Reader::wording)?),
            "matches" => Test::Text(Span::Whole, self.in_parentheses(Reader::fitting)?),
            "matchesown" => Test::Text(Span::Own, self.in_parentheses(Reader::fitting)?),
            "nth-child" => self.nth(Count::CHILD)?,
            "nth-last-child" => self.nth(Count::LAST_CHILD)?,
            "nth-of-type" => self.nth(Count::OF_TYPE)?,
            "nth-last-of-type" => self.nth(Count::LAST_OF_TYPE)?,
            "first-child" => first(Count::CHILD),
            "last-child" => first(Count::LAST_CHILD),
            "first-of-type" => first(Count::OF_TYPE),
            "last-of-type" => first(Count::LAST_OF_TYPE),
            "only-child" => Test::Only { is_of_name: false },
            "only-of-type" => Test::Only { is_of_name: true },
            "input" => Test::Input,
            "empty" => Test::Empty,
            "root" => Test::Root,
            "link" => Test::Link,
            "lang" => {
                let language = self.in_parentheses(Reader::identifier)?;
                Test::Language(language.to_ascii_lowercase())
            }
            "enabled" => Test::Enabled,
            "disabled" => Test::Disabled,
            "checked" => Test::Checked,
            "visited" | "hover" | "active" | "focus" | "target" => Test::Never,
            _ => return None,
        })
    }

    fn in_parentheses<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if !self.take("(") {
            return None;
        }
        self.skip_space();
        let inside = read(self)?;
        self.skip_space();
        self.take(")").then_some(inside)
    }

    fn wording(&mut self) -> Option<Wording> {
        Some(Wording::Holds(self.string_or_identifier()?.to_lowercase()))
    }

    fn fitting(&mut self) -> Option<Wording> {
        Some(Wording::Fits(self.pattern()?))
    }

    fn nth(&mut self, count: Count) -> Option<Test> {
        let (step, start) = self.in_parentheses(Reader::places)?;
        Some(Test::Nth(Nth { step, start, count }))
    }

    /// `odd`, `even`, `2n+1`, `-n + 3`, `4`: the step and the start.
    fn places(&mut self) -> Option<(i64, i64)> {
        if self.peek()?.is_ascii_alphabetic() && !matches!(self.peek()?, 'n' | 'N') {
            return match self.name()?.to_ascii_lowercase().as_str() {
                "odd" => Some((2, 1)),
                "even" => Some((2, 0)),
                _ => None,
            };
        }
        let sign = self.sign().unwrap_or(1);
        let number = match self.peek()? {
            c if c.is_ascii_digit() => {
                let number = sign * self.integer()?;
                if !matches!(self.peek()?, 'n' | 'N') {
                    return Some((0, number));
                }
                number
            }
            _ => sign,
        };
        if !self.take("n") && !self.take("N") {
            return None;
        }
        self.skip_space();
        let start = match self.sign() {
            Some(sign) => {
                self.skip_space();
                sign * self.integer()?
            }
            None => 0,
        };
        Some((number, start))
    }

    fn sign(&mut self) -> Option<i64> {
        if self.take("-") {
            return Some(-1);
        }
        self.take("+").then_some(1)
    }

    fn integer(&mut self) -> Option<i64> {
        self.take_while(|c| c.is_ascii_digit())
            .parse::<i32>()
            .ok()
            .map(i64::from)
    }
}

fn first(count: Count) -> Test {
    Test::Nth(Nth {
        step: 0,
        start: 1,
        count,
    })
}

fn attribute(name: &str, value: Value) -> Test {
    Test::Attribute(Attribute {
        name: name.to_owned(),
        value,
    })
}

fn exactly(text: String) -> Text {
    Text {
        text,
        ignores_case: false,
    }
}
