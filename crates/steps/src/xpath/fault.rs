//! Finds the first fault of a text that is no well-formed XML, in the words and at the place of Xerces.
//!
//! Must not know trees and expressions. Invariant: a text without a fault that is known here yields none, so the
//! caller's parser has the last word; namespaces and declarations in the text are not looked at.

use super::document::XmlFault;

/// `Err(None)`: the text has something that is not looked at.
type Scan<T = ()> = Result<T, Option<XmlFault>>;

const IN_PROLOG: &str =
    "The markup in the document preceding the root element must be well-formed.";
const IN_CONTENT: &str =
    "The content of elements must consist of well-formed character data or markup.";
const BEHIND: &str = "The markup in the document following the root element must be well-formed.";
const CUT: &str = "XML document structures must start and end within the same entity.";

/// The first fault, if there is one that is known.
pub(super) fn first(text: &str) -> Option<XmlFault> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.document().err().flatten()
}

struct Scanner<'a> {
    text: &'a str,
    /// Where the next character is, in bytes.
    at: usize,
}

impl<'a> Scanner<'a> {
    fn document(&mut self) -> Scan {
        self.skip("\u{feff}");
        if self.rest().starts_with("<?xml") {
            self.behind("?>")?;
        }
        self.prolog()?;
        self.root()?;
        self.trailing()
    }

    /// Up to the name of the root element.
    fn prolog(&mut self) -> Scan {
        let mut has_type = false;
        loop {
            self.spaces();
            if self.rest().is_empty() {
                return Err(Some(XmlFault::premature()));
            }
            if !self.skip("<") {
                return self.fault("Content is not allowed in prolog.");
            }
            if self.skip("?") {
                self.instruction()?;
            } else if !self.skip("!") {
                return match self.peek()? {
                    c if is_name_start(c) => Ok(()),
                    _ => self.fault(IN_PROLOG),
                };
            } else if self.skip("-") {
                self.comment()?;
            } else if !self.skip("DOCTYPE") {
                return self.fault(IN_PROLOG);
            } else if std::mem::replace(&mut has_type, true) {
                return self.fault("Already seen doctype.");
            } else {
                self.document_type()?;
            }
        }
    }

    fn document_type(&mut self) -> Scan {
        if !self.spaces() {
            return self.fault(
                "White space is required after \"<!DOCTYPE\" in the document type declaration.",
            );
        }
        let root = self.name();
        self.spaces();
        if self.skip("SYSTEM") {
            self.space_behind("SYSTEM")?;
            self.literal()?;
        } else if self.skip("PUBLIC") {
            self.space_behind("PUBLIC")?;
            self.literal()?;
            if !self.spaces() {
                return self.fault("White spaces are required between publicId and systemId.");
            }
            self.literal()?;
        }
        self.spaces();
        if self.rest().starts_with('[') {
            return Err(None);
        }
        match self.skip(">") {
            true => Ok(()),
            false => self.fault(format!(
                "The document type declaration for root element type \"{root}\" must end with '>'."
            )),
        }
    }

    fn space_behind(&mut self, keyword: &str) -> Scan {
        match self.spaces() {
            true => Ok(()),
            false => self.fault(format!(
                "White space is required after keyword {keyword} in DOCTYPE decl."
            )),
        }
    }

    fn literal(&mut self) -> Scan {
        match self.peek()? {
            '"' if self.skip("\"") => self.behind("\""),
            '\'' if self.skip("'") => self.behind("'"),
            _ => Err(None),
        }
    }

    fn root(&mut self) -> Scan {
        let mut open = Vec::new();
        self.start_tag(&mut open)?;
        while !open.is_empty() {
            self.characters()?;
            if self.rest().starts_with('&') {
                self.reference()?;
                continue;
            }
            self.skip("<");
            if self.skip("?") {
                self.instruction()?;
            } else if self.skip("/") {
                self.end_tag(&mut open)?;
            } else if !self.skip("!") {
                match self.peek()? {
                    c if is_name_start(c) => self.start_tag(&mut open)?,
                    _ => return self.fault(IN_CONTENT),
                }
            } else if self.skip("-") {
                self.comment()?;
            } else if self.skip("[CDATA[") {
                self.behind("]]>")?;
            } else {
                return self.fault(IN_CONTENT);
            }
        }
        Ok(())
    }

    /// What follows the root element.
    fn trailing(&mut self) -> Scan {
        loop {
            self.spaces();
            if self.rest().is_empty() {
                return Ok(());
            }
            if !self.skip("<") {
                return self.fault("Content is not allowed in trailing section.");
            }
            if self.skip("?") {
                self.instruction()?;
            } else if !self.skip("!") {
                self.skip("/");
                return self.fault(BEHIND);
            } else {
                self.skip("-");
                self.comment()?;
            }
        }
    }

    /// The text up to the next markup or reference.
    fn characters(&mut self) -> Scan {
        loop {
            match self.peek()? {
                '<' | '&' => return Ok(()),
                ']' if self.skip("]]>") => {
                    return self.fault(
                        "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
                    );
                }
                c if !is_valid(c) => {
                    return self.invalid(c, "was found in the element content of the document.");
                }
                c => self.at += c.len_utf8(),
            }
        }
    }

    /// From the name of an element to the end of its tag; an element with content is open then.
    fn start_tag(&mut self, open: &mut Vec<&'a str>) -> Scan {
        let element = self.name();
        let mut attributes = Vec::new();
        let is_empty = loop {
            let is_apart = self.spaces();
            match self.peek()? {
                '>' => break false,
                '/' if self.skip("/") && self.rest().starts_with('>') => break true,
                c if is_apart && is_name_start(c) => attributes.push(self.attribute(element)?),
                _ => {
                    return self.fault(format!(
                        "Element type \"{element}\" must be followed by either attribute specifications, \">\" or \"/>\"."
                    ));
                }
            }
        };
        self.skip(">");
        let again = (1..attributes.len()).find(|&at| attributes[..at].contains(&attributes[at]));
        if let Some(again) = again {
            let name = attributes[again];
            return self.fault(format!(
                "Attribute \"{name}\" was already specified for element \"{element}\"."
            ));
        }
        if !is_empty {
            open.push(element);
        }
        Ok(())
    }

    /// An attribute; yields its name.
    fn attribute(&mut self, element: &str) -> Scan<&'a str> {
        let name = self.name();
        self.spaces();
        self.peek()?;
        if !self.skip("=") {
            return self.fault(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be followed by the ' = ' character."
            ));
        }
        self.spaces();
        let quote = self.peek()?;
        if !matches!(quote, '"' | '\'') {
            return self.fault(format!(
                "Open quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
            ));
        }
        self.at += 1;
        loop {
            match self.peek()? {
                c if c == quote => break,
                '&' => self.reference()?,
                '<' => {
                    return self.fault(format!(
                        "The value of attribute \"{name}\" associated with an element type \"{element}\" must not contain the '<' character."
                    ));
                }
                c if !is_valid(c) => {
                    let place = format!(
                        "was found in the value of attribute \"{name}\" and element is \"{element}\"."
                    );
                    return self.invalid(c, &place);
                }
                c => self.at += c.len_utf8(),
            }
        }
        self.at += 1;
        Ok(name)
    }

    /// What follows `</`.
    fn end_tag(&mut self, open: &mut Vec<&'a str>) -> Scan {
        let element = open.pop().unwrap_or_default();
        if !self.skip(element) {
            return self.fault(format!(
                "The element type \"{element}\" must be terminated by the matching end-tag \"</{element}>\"."
            ));
        }
        self.spaces();
        self.peek()?;
        match self.skip(">") {
            true => Ok(()),
            false => self.fault(format!(
                "The end-tag for element type \"{element}\" must end with a '>' delimiter."
            )),
        }
    }

    /// What follows `<!-`.
    fn comment(&mut self) -> Scan {
        if !self.skip("-") {
            return self.fault("Comment must start with \"<!--\".");
        }
        self.behind("--")?;
        match self.skip(">") {
            true => Ok(()),
            false => self.fault("The string \"--\" is not permitted within comments."),
        }
    }

    /// What follows `<?`.
    fn instruction(&mut self) -> Scan {
        let target = self.name();
        if target.is_empty() {
            return self
                .fault("The processing instruction must begin with the name of the target.");
        }
        if target.eq_ignore_ascii_case("xml") {
            return self.fault(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
            );
        }
        self.behind("?>")
    }

    fn reference(&mut self) -> Scan {
        self.skip("&");
        if self.skip("#") {
            return self.character_reference();
        }
        let name = self.name();
        if name.is_empty() {
            return self
                .fault("The entity name must immediately follow the '&' in the entity reference.");
        }
        if !self.skip(";") {
            return self.fault(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            ));
        }
        match name {
            "amp" | "lt" | "gt" | "quot" | "apos" => Ok(()),
            _ => self.fault(format!(
                "The entity \"{name}\" was referenced, but not declared."
            )),
        }
    }

    /// What follows `&#`.
    fn character_reference(&mut self) -> Scan {
        let (kind, start, radix) = match self.skip("x") {
            true => ("hexadecimal", "&#x", 16),
            false => ("decimal", "&#", 10),
        };
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_digit(radix));
        let digits = &rest[..end.unwrap_or(rest.len())];
        if digits.is_empty() {
            return self.fault(format!(
                "A {kind} representation must immediately follow the \"{start}\" in a character reference."
            ));
        }
        self.at += digits.len();
        if !self.skip(";") {
            return self.fault("The character reference must end with the ';' delimiter.");
        }
        let number = u32::from_str_radix(digits, radix).ok();
        match number.and_then(char::from_u32).is_some_and(is_valid) {
            true => Ok(()),
            false => self.fault(format!(
                "Character reference \"{start}{digits}\" is an invalid XML character."
            )),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character; the end of the text is a fault.
    fn peek(&self) -> Scan<char> {
        match self.rest().chars().next() {
            Some(next) => Ok(next),
            None => self.fault(CUT),
        }
    }

    /// Whether the text goes on with `part`, which it then is behind.
    fn skip(&mut self, part: &str) -> bool {
        let is_next = self.rest().starts_with(part);
        self.at += if is_next { part.len() } else { 0 };
        is_next
    }

    /// Goes on behind the next `part`.
    fn behind(&mut self, part: &str) -> Scan {
        let found = self.rest().find(part);
        self.at = found.map_or(self.text.len(), |found| self.at + found + part.len());
        match found {
            Some(_) => Ok(()),
            None => self.fault(CUT),
        }
    }

    /// Whether there was white space, which it then is behind.
    fn spaces(&mut self) -> bool {
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_start_matches(is_space).len();
        self.at += spaces;
        spaces > 0
    }

    /// The name that is next; empty: none.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let end = match rest.starts_with(is_name_start) {
            true => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            false => 0,
        };
        self.at += end;
        &rest[..end]
    }

    fn invalid<T>(&self, c: char, place: &str) -> Scan<T> {
        let code = u32::from(c);
        self.fault(format!(
            "An invalid XML character (Unicode: {code:#x}) {place}"
        ))
    }

    /// A fault in front of the next character.
    fn fault<T>(&self, message: impl Into<String>) -> Scan<T> {
        let before = self.text[..self.at].replace("\r\n", "\n");
        let line = before.matches(['\n', '\r']).count() + 1;
        let column = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let column = column.trim_start_matches('\u{feff}').encode_utf16().count() + 1;
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Err(Some(XmlFault {
            message: message.into(),
            place: Some((number(line), number(column))),
        }))
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | ':')
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{b7}')
}

/// Whether XML 1.0 allows a character.
pub(super) fn is_valid(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{1_0000}'..)
}

#[cfg(test)]
mod tests;
