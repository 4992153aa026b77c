//! The lines of a CSV data set.
//!
//! Must not know threads. Invariant: each line is returned once per round, in file order.

use std::sync::Arc;

use loadline_java::charset::Charset;

use crate::host::Host;

/// Format of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its encoding; empty: UTF-8.
    pub encoding: String,
    /// The names of the variables; empty: they are in the first line.
    pub names: String,
    /// Whether the first line is skipped even if names are given.
    pub ignore_first_line: bool,
    /// Field separator; only its first character counts if fields may be quoted. Never empty.
    pub delimiter: String,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether reading restarts at the end of the file.
    pub recycle: bool,
}

/// The delimiter from a plan: `\t` is a tab, and blank a comma.
#[must_use]
pub fn delimiter(text: &str) -> String {
    let text = match text {
        "\\t" => "\t",
        "" => ",",
        text => text,
    };
    text.to_owned()
}

impl Settings {
    /// What ends a field.
    fn between(&self) -> &str {
        let first = self.delimiter.chars().next().map_or(0, char::len_utf8);
        match self.quoted {
            true => &self.delimiter[..first],
            false => &self.delimiter,
        }
    }
}

/// The names in a list of variables.
pub fn names(list: &str) -> impl Iterator<Item = String> {
    let names = list.split(',').map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty())
}

/// A file and the current position in it.
#[derive(Clone, Debug, Default)]
pub struct CsvLines {
    text: Option<Arc<str>>,
    at: usize,
    first: usize,
    names: Vec<String>,
}

/// Variables with their values.
pub type Drawn = Vec<(String, String)>;

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line.
    Row(Drawn),
    /// The end of the file, or a blank line that JMeter treats as such; the names of its variables.
    End(Vec<String>),
}

impl CsvLines {
    /// The next line. A blank line is a row with one empty field if fields may be quoted, and otherwise an end,
    /// after which reading continues.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn draw(
        &mut self,
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<Line, String> {
        let text = match &self.text {
            Some(text) => Arc::clone(text),
            None => self.open(host, file, settings)?,
        };
        if self.at >= text.len() && settings.recycle {
            self.at = self.first;
        }
        let fields = match self.at < text.len() {
            true => self.next_fields(&text, settings),
            false => Vec::new(),
        };
        let mut own: Vec<String> = names(&settings.names).collect();
        if own.is_empty() {
            own.clone_from(&self.names);
        }
        let is_blank = matches!(&fields[..], [field] if field.is_empty());
        match fields.is_empty() || is_blank && !settings.quoted {
            true => Ok(Line::End(own)),
            false => Ok(Line::Row(own.into_iter().zip(fields).collect())),
        }
    }

    /// The variable names of a file, and all its lines.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn whole(
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
        let mut lines = CsvLines::default();
        let text = lines.open(host, file, settings)?;
        let mut rows = Vec::new();
        while lines.at < text.len() {
            rows.push(lines.next_fields(&text, settings));
        }
        Ok((lines.names, rows))
    }

    fn open(
        &mut self,
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<Arc<str>, String> {
        let bytes = host.world().read_file(file)?;
        let text: Arc<str> = decoded(&bytes, &settings.encoding)?.into();
        self.text = Some(Arc::clone(&text));
        self.names = names(&settings.names).collect();
        if self.names.is_empty() {
            // JMeter fails before the thread's first sample.
            if text.is_empty() {
                return Err("there is no line with the names of the variables".to_owned());
            }
            self.names = self.header(&text, settings);
        } else if settings.ignore_first_line {
            self.next_fields(&text, settings);
        }
        self.first = self.at;
        Ok(text)
    }

    /// The names in the first line, which may be quoted even where fields may not: so only the delimiter's first
    /// character counts.
    fn header(&mut self, text: &str, settings: &Settings) -> Vec<String> {
        let settings = Settings {
            quoted: true,
            ..settings.clone()
        };
        let names = self.next_fields(text, &settings);
        names.iter().map(|name| name.trim().to_owned()).collect()
    }

    /// The fields of the next line, which continues after line ends inside quoted fields.
    fn next_fields(&mut self, text: &str, settings: &Settings) -> Vec<String> {
        let mut fields = Vec::new();
        let mut field = String::new();
        let mut is_quoted = false;
        let rest = &text[self.at..];
        let between = settings.between();
        let begins = between.chars().next();
        let mut characters = rest.char_indices().peekable();
        let mut end = text.len();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|&(_, next)| next);
            match character {
                '"' if is_quoted && next == Some('"') => {
                    characters.next();
                    field.push('"');
                }
                '"' if is_quoted => is_quoted = false,
                '"' if settings.quoted && field.is_empty() => is_quoted = true,
                _ if is_quoted => field.push(character),
                _ if Some(character) == begins && rest[index..].starts_with(between) => {
                    fields.push(std::mem::take(&mut field));
                    for _ in between.chars().skip(1) {
                        characters.next();
                    }
                }
                '\r' if next == Some('\n') => {}
                '\n' | '\r' => {
                    end = self.at + index + 1;
                    break;
                }
                _ => field.push(character),
            }
        }
        fields.push(field);
        self.at = end;
        fields
    }
}

/// The text of a file, without its byte order mark.
fn decoded(bytes: &[u8], encoding: &str) -> Result<String, String> {
    let label = if encoding.trim().is_empty() {
        "UTF-8"
    } else {
        encoding.trim()
    };
    let charset = Charset::named(label).ok_or_else(|| format!("unknown encoding {label}"))?;
    let text = charset.decode(bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Desk;

    fn lines(text: &str, settings: &Settings) -> Vec<Vec<String>> {
        let mut lines = CsvLines::default();
        let mut all = Vec::new();
        while lines.at < text.len() {
            all.push(lines.next_fields(text, settings));
        }
        all
    }

    fn settings(quoted: bool) -> Settings {
        Settings {
            encoding: String::new(),
            names: "a,b".to_owned(),
            ignore_first_line: false,
            delimiter: ",".to_owned(),
            quoted,
            recycle: true,
        }
    }

    #[test]
    fn without_quoting_a_line_is_split_as_it_is() {
        assert_eq!(lines("\"x,y\"\r\n", &settings(false)), [["\"x", "y\""]]);
    }

    #[test]
    fn a_delimiter_of_several_letters_counts_whole_where_nothing_is_quoted() {
        let settings = |quoted| Settings {
            delimiter: ", ".to_owned(),
            ..settings(quoted)
        };
        let text = "1, 2,3\n";
        assert_eq!(lines(text, &settings(false)), [["1", "2,3"]]);
        assert_eq!(lines(text, &settings(true)), [["1", " 2", "3"]]);
    }

    #[test]
    fn quoted_fields_hold_delimiters_line_ends_and_quotes() {
        let text = "\"x,y\",\"a\"\"b\"\n\"p\nq\",\n";
        assert_eq!(
            lines(text, &settings(true)),
            [["x,y", "a\"b"], ["p\nq", ""]]
        );
    }

    #[test]
    fn names_in_a_file_may_be_quoted_and_end_at_the_first_letter_of_the_delimiter() {
        let desk = Desk::default();
        let files = [("q", "\"a\", b \n1,2\n"), ("m", "a||b\n1||2\n")];
        for (name, text) in files {
            let mut files = desk.files.borrow_mut();
            files.insert(name.to_owned(), text.as_bytes().to_vec());
        }
        let drawn = |file: &str, delimiter: &str| {
            let settings = Settings {
                names: String::new(),
                delimiter: delimiter.to_owned(),
                ..settings(false)
            };
            let line = CsvLines::default().draw(&desk, file, &settings);
            match line.expect("it is there") {
                Line::Row(values) => values,
                Line::End(_) => Vec::new(),
            }
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(drawn("q", ","), [pair("a", "1"), pair("b", "2")]);
        assert_eq!(drawn("m", "||"), [pair("a", "1"), pair("", "2")]);
    }

    /// Observed with JMeter 5.6.3: the thread ends.
    #[test]
    fn an_empty_file_cannot_name_variables() {
        let desk = Desk::default();
        desk.files.borrow_mut().insert("e".to_owned(), Vec::new());
        let drawn = |names: &str| {
            let settings = Settings {
                names: names.to_owned(),
                ..settings(false)
            };
            CsvLines::default().draw(&desk, "e", &settings)
        };
        assert!(drawn("").is_err(), "its first line has the names");
        assert!(matches!(drawn("a"), Ok(Line::End(_))));
    }

    #[test]
    fn a_blank_line_is_an_end_where_nothing_is_quoted() {
        let desk = Desk::default();
        let file = b"1,2\n\n3,4\n".to_vec();
        desk.files.borrow_mut().insert("f".to_owned(), file);
        let drawn = |quoted| {
            let settings = Settings {
                recycle: false,
                ..settings(quoted)
            };
            let mut lines = CsvLines::default();
            let mut next = || lines.draw(&desk, "f", &settings).expect("it is there");
            [next(), next(), next(), next()]
        };
        let row = |values: &[&str]| {
            let pairs = ["a", "b"].iter().zip(values);
            Line::Row(
                pairs
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
            )
        };
        let end = || Line::End(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(
            drawn(false),
            [row(&["1", "2"]), end(), row(&["3", "4"]), end()]
        );
        assert_eq!(
            drawn(true),
            [row(&["1", "2"]), row(&[""]), row(&["3", "4"]), end()]
        );
    }

    #[test]
    fn delimiters_have_their_spellings() {
        assert_eq!(
            [delimiter("\\t"), delimiter(""), delimiter(";")],
            ["\t", ",", ";"]
        );
    }
}
