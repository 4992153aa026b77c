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
mod tests {
    use super::*;

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn faults_are_told_in_the_words_of_xerces() {
        for (text, column, message) in RECORDED {
            let place = column.map(|column| (1, column));
            let told = first(text).map(|fault| (fault.message, fault.place));
            assert_eq!(told, Some(((*message).to_owned(), place)), "{text}");
        }
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn places_are_counted_by_lines() {
        let place = |text: &str| first(text).and_then(|fault| fault.place);
        let page = "<!DOCTYPE html>\n<html>\n  <head>\n    <link>\n  </head>\n</html>\n";
        assert_eq!(place(page), Some((5, 5)));
        assert_eq!(place("<html>\r\n\t<meta>\r\n</html>"), Some((3, 3)));
        assert_eq!(place("<a>x\n  "), Some((2, 3)));
        assert_eq!(place("<a>\u{1f600}</b>"), Some((1, 8)));
    }

    #[test]
    fn what_is_well_formed_has_no_fault() {
        let whole = "<?xml version=\"1.0\"?>\n<!-- a --><!DOCTYPE a SYSTEM 'b'><a b='&lt;]]>' c = \"1\"><?php x ?>&#x41;&amp;<![CDATA[<]]><d/></a >\n<!-- e -->";
        assert_eq!(first(whole), None);
        assert_eq!(first("<!DOCTYPE a [<!ENTITY n '1'>]><a>&n;</a>"), None);
    }

    /// A text, the column of its fault, and the fault.
    const RECORDED: &[(&str, Option<u32>, &str)] = &[
        (
            "<!DOCTYPE html><html><head><meta name=\"a\"></head><body></body></html>",
            Some(45),
            "The element type \"meta\" must be terminated by the matching end-tag \"</meta>\".",
        ),
        (
            "<p>a<br>b</p>",
            Some(12),
            "The element type \"br\" must be terminated by the matching end-tag \"</br>\".",
        ),
        (
            "<html><body><img src=\"x\"></body></html>",
            Some(28),
            "The element type \"img\" must be terminated by the matching end-tag \"</img>\".",
        ),
        (
            "<p>a&nbsp;b</p>",
            Some(11),
            "The entity \"nbsp\" was referenced, but not declared.",
        ),
        (
            "<a href=\"/x?a=1&b=2\">x</a>",
            Some(18),
            "The reference to entity \"b\" must end with the ';' delimiter.",
        ),
        (
            "<p>a & b</p>",
            Some(7),
            "The entity name must immediately follow the '&' in the entity reference.",
        ),
        (
            "<a href=x>y</a>",
            Some(9),
            "Open quote is expected for attribute \"href\" associated with an  element type  \"a\".",
        ),
        (
            "<input disabled>",
            Some(16),
            "Attribute name \"disabled\" associated with an element type \"input\" must be followed by the ' = ' character.",
        ),
        (
            "<input disabled/>",
            Some(16),
            "Attribute name \"disabled\" associated with an element type \"input\" must be followed by the ' = ' character.",
        ),
        (
            "<script>if (a<b && c) {}</script>",
            Some(17),
            "Element type \"b\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<p>a < b</p>",
            Some(7),
            "The content of elements must consist of well-formed character data or markup.",
        ),
        ("{\"a\":1}", Some(1), "Content is not allowed in prolog."),
        ("  {\"a\":1}", Some(3), "Content is not allowed in prolog."),
        ("hello", Some(1), "Content is not allowed in prolog."),
        (
            "<a><b>x</b>",
            Some(12),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a><b",
            Some(6),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a href=\"x",
            Some(11),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a/><b/>",
            Some(6),
            "The markup in the document following the root element must be well-formed.",
        ),
        (
            "<a/>text",
            Some(5),
            "Content is not allowed in trailing section.",
        ),
        (
            "<a x=\"1\" x=\"2\"/>",
            Some(17),
            "Attribute \"x\" was already specified for element \"a\".",
        ),
        (
            "<a></b>",
            Some(6),
            "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
        ),
        (
            "</a>",
            Some(2),
            "The markup in the document preceding the root element must be well-formed.",
        ),
        (
            "<a><!-- -- --></a>",
            Some(11),
            "The string \"--\" is not permitted within comments.",
        ),
        (
            "<a><![CDATA[x</a>",
            Some(18),
            "XML document structures must start and end within the same entity.",
        ),
        (
            " <?xml version=\"1.0\"?><a/>",
            Some(7),
            "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
        ),
        (
            "<a>\u{1}</a>",
            Some(4),
            "An invalid XML character (Unicode: 0x1) was found in the element content of the document.",
        ),
        (
            "<a>]]></a>",
            Some(7),
            "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
        ),
        (
            "<a x=\"<\"/>",
            Some(7),
            "The value of attribute \"x\" associated with an element type \"a\" must not contain the '<' character.",
        ),
        (
            "<!doctype html><html></html>",
            Some(3),
            "The markup in the document preceding the root element must be well-formed.",
        ),
        (
            "<1a/>",
            Some(2),
            "The markup in the document preceding the root element must be well-formed.",
        ),
        (
            "< a/>",
            Some(2),
            "The markup in the document preceding the root element must be well-formed.",
        ),
        (
            "<a x \"1\"/>",
            Some(6),
            "Attribute name \"x\" associated with an element type \"a\" must be followed by the ' = ' character.",
        ),
        (
            "<a x=\"1\"y=\"2\"/>",
            Some(9),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<body><b>x</body>",
            Some(14),
            "The end-tag for element type \"b\" must end with a '>' delimiter.",
        ),
        (
            "<a>&#xZ;</a>",
            Some(7),
            "A hexadecimal representation must immediately follow the \"&#x\" in a character reference.",
        ),
        (
            "<a>&#0;</a>",
            Some(8),
            "Character reference \"&#0\" is an invalid XML character.",
        ),
        (
            "<a>&amp</a>",
            Some(8),
            "The reference to entity \"amp\" must end with the ';' delimiter.",
        ),
        (
            "<a>&</a>",
            Some(5),
            "The entity name must immediately follow the '&' in the entity reference.",
        ),
        (
            "<a><b>x&y=1</b></a>",
            Some(10),
            "The reference to entity \"y\" must end with the ';' delimiter.",
        ),
        (
            "<a></a></div>",
            Some(10),
            "The markup in the document following the root element must be well-formed.",
        ),
        ("<a/><!x>", Some(7), "Comment must start with \"<!--\"."),
        (
            "<a/><1>",
            Some(6),
            "The markup in the document following the root element must be well-formed.",
        ),
        (
            "<a/>&amp;",
            Some(5),
            "Content is not allowed in trailing section.",
        ),
        (
            "<a/><?xml version=\"1.0\"?>",
            Some(10),
            "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
        ),
        (
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\"><html></html>",
            Some(50),
            "White spaces are required between publicId and systemId.",
        ),
        (
            "<!DOCTYPE>",
            Some(10),
            "White space is required after \"<!DOCTYPE\" in the document type declaration.",
        ),
        (
            "<!DOCTYPEhtml><html/>",
            Some(10),
            "White space is required after \"<!DOCTYPE\" in the document type declaration.",
        ),
        (
            "<!DOCTYPE html SYSTEM><html/>",
            Some(22),
            "White space is required after keyword SYSTEM in DOCTYPE decl.",
        ),
        (
            "<!DOCTYPE html foo><html/>",
            Some(16),
            "The document type declaration for root element type \"html\" must end with '>'.",
        ),
        (
            "<!DOCTYPE html><!DOCTYPE html><html/>",
            Some(25),
            "Already seen doctype.",
        ),
        ("<!DOCTYPE html>", None, "Premature end of file."),
        (
            "<!DOCTYPE html>hello",
            Some(16),
            "Content is not allowed in prolog.",
        ),
        ("<a><!-x></a>", Some(7), "Comment must start with \"<!--\"."),
        (
            "<a><!-- x",
            Some(10),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<!-- x",
            Some(7),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a><!x></a>",
            Some(6),
            "The content of elements must consist of well-formed character data or markup.",
        ),
        ("<!-x>", Some(4), "Comment must start with \"<!--\"."),
        (
            "<a><!-- a --- ></a>",
            Some(13),
            "The string \"--\" is not permitted within comments.",
        ),
        ("<!-- only -->", None, "Premature end of file."),
        (
            "<a x=\"&nbsp;\"/>",
            Some(13),
            "The entity \"nbsp\" was referenced, but not declared.",
        ),
        (
            "<a x=\"& b\"/>",
            Some(8),
            "The entity name must immediately follow the '&' in the entity reference.",
        ),
        (
            "<a x=\"\u{1}\"/>",
            Some(7),
            "An invalid XML character (Unicode: 0x1) was found in the value of attribute \"x\" and element is \"a\".",
        ),
        (
            "<a>&#Z;</a>",
            Some(6),
            "A decimal representation must immediately follow the \"&#\" in a character reference.",
        ),
        (
            "<a>&#65</a>",
            Some(8),
            "The character reference must end with the ';' delimiter.",
        ),
        (
            "<a>&#x41</a>",
            Some(9),
            "The character reference must end with the ';' delimiter.",
        ),
        (
            "<!DOCTYPE html><a>x&nbsp;y</a>",
            Some(26),
            "The entity \"nbsp\" was referenced, but not declared.",
        ),
        (
            "<a>&copy;</a>",
            Some(10),
            "The entity \"copy\" was referenced, but not declared.",
        ),
        (
            "<a x=\"&copy\"/>",
            Some(12),
            "The reference to entity \"copy\" must end with the ';' delimiter.",
        ),
        (
            "<a>&lt</a>",
            Some(7),
            "The reference to entity \"lt\" must end with the ';' delimiter.",
        ),
        (
            "<a><?xml version=\"1.0\"?></a>",
            Some(9),
            "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
        ),
        (
            "<a><?php echo",
            Some(14),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a><?></a>",
            Some(6),
            "The processing instruction must begin with the name of the target.",
        ),
        (
            "<a b=>",
            Some(6),
            "Open quote is expected for attribute \"b\" associated with an  element type  \"a\".",
        ),
        (
            "<a b='x",
            Some(8),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a b",
            Some(5),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a b=",
            Some(6),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a /b>",
            Some(5),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<a/ >",
            Some(4),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<a b=\"1\" c>x</a>",
            Some(11),
            "Attribute name \"c\" associated with an element type \"a\" must be followed by the ' = ' character.",
        ),
        (
            "<a \"x\">",
            Some(4),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<",
            Some(2),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a",
            Some(3),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a>x</a",
            Some(8),
            "XML document structures must start and end within the same entity.",
        ),
        (
            "<a>x</a b>",
            Some(9),
            "The end-tag for element type \"a\" must end with a '>' delimiter.",
        ),
        (
            "<a>x</ a>",
            Some(7),
            "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
        ),
        (
            "<a>x</>",
            Some(7),
            "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
        ),
        (
            "<a =1>",
            Some(4),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<a @click=\"x\"/>",
            Some(4),
            "Element type \"a\" must be followed by either attribute specifications, \">\" or \"/>\".",
        ),
        (
            "<a b:c=\"x\" b=\"&\"/>",
            Some(16),
            "The entity name must immediately follow the '&' in the entity reference.",
        ),
        (
            "<a>]]</a>]]>",
            Some(10),
            "Content is not allowed in trailing section.",
        ),
        (
            "<a>é</b>",
            Some(7),
            "The element type \"a\" must be terminated by the matching end-tag \"</a>\".",
        ),
        (
            "<é></e>",
            Some(6),
            "The element type \"é\" must be terminated by the matching end-tag \"</é>\".",
        ),
        (
            "<a>\u{fffe}</a>",
            Some(4),
            "An invalid XML character (Unicode: 0xfffe) was found in the element content of the document.",
        ),
        (
            "<a><B></b></a>",
            Some(9),
            "The element type \"B\" must be terminated by the matching end-tag \"</B>\".",
        ),
        (
            "<table><tr><td>x</tr></table>",
            Some(19),
            "The element type \"td\" must be terminated by the matching end-tag \"</td>\".",
        ),
        (
            "<ul><li>a<li>b</ul>",
            Some(17),
            "The element type \"li\" must be terminated by the matching end-tag \"</li>\".",
        ),
        (
            "<html><script>for(i=0;i<10;i++){}</script></html>",
            Some(25),
            "The content of elements must consist of well-formed character data or markup.",
        ),
        (
            "<html><script>if(a&&b){}</script></html>",
            Some(20),
            "The entity name must immediately follow the '&' in the entity reference.",
        ),
        (
            "<html><script>a<\"b\"</script></html>",
            Some(17),
            "The content of elements must consist of well-formed character data or markup.",
        ),
        (
            "<td nowrap>x</td>",
            Some(11),
            "Attribute name \"nowrap\" associated with an element type \"td\" must be followed by the ' = ' character.",
        ),
        (
            "<a  b = \"1\"  c = 2/>",
            Some(18),
            "Open quote is expected for attribute \"c\" associated with an  element type  \"a\".",
        ),
    ];
}
