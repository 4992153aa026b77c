//! The lines of a CSV data set.
//!
//! Must not know threads. Invariant: each line is given once in a round, in the order of the file.

use std::sync::Arc;

use loadline_java::charset::Charset;

use crate::host::Host;

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its encoding; empty: UTF-8.
    pub encoding: String,
    /// The names of the variables; empty: the first line has them.
    pub names: String,
    /// Whether the first line is skipped although names are given.
    pub ignore_first_line: bool,
    /// What stands between fields.
    pub delimiter: char,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether it begins anew at its end.
    pub recycle: bool,
}

/// The delimiter that a plan writes: `\t` is a tab, and blank a comma.
#[must_use]
pub fn delimiter(text: &str) -> char {
    match text {
        "\\t" => '\t',
        _ => text.chars().next().unwrap_or(','),
    }
}

/// The names in a list of variables.
pub fn names(list: &str) -> impl Iterator<Item = String> {
    let names = list.split(',').map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty())
}

/// A file and how far it was read.
#[derive(Clone, Debug, Default)]
pub struct CsvLines {
    text: Option<Arc<str>>,
    at: usize,
    first: usize,
    names: Vec<String>,
}

/// Names of variables, and their values.
pub type Drawn = Vec<(String, String)>;

impl CsvLines {
    /// The values of the next line; `None`: the file is at its end.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub fn draw(
        &mut self,
        host: &dyn Host,
        file: &str,
        settings: &Settings,
    ) -> Result<Option<Drawn>, String> {
        let text = match &self.text {
            Some(text) => Arc::clone(text),
            None => self.open(host, file, settings)?,
        };
        if self.at >= text.len() && settings.recycle {
            self.at = self.first;
        }
        if self.at >= text.len() {
            return Ok(None);
        }
        let fields = self.next_fields(&text, settings);
        let mut own: Vec<String> = names(&settings.names).collect();
        if own.is_empty() {
            own.clone_from(&self.names);
        }
        if fields.iter().all(String::is_empty) && fields.len() == 1 {
            // As in JMeter, where a blank line is taken for the end of the file without being one.
            return Ok(Some(
                own.into_iter()
                    .map(|name| (name, "<EOF>".to_owned()))
                    .collect(),
            ));
        }
        Ok(Some(own.into_iter().zip(fields).collect()))
    }

    /// The names of a file's variables, and all of its lines.
    ///
    /// # Errors
    /// Why the file cannot be read.
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
            self.names = self.next_fields(&text, settings);
        } else if settings.ignore_first_line {
            self.next_fields(&text, settings);
        }
        self.first = self.at;
        Ok(text)
    }

    /// The fields of the next line, which a quoted field may carry over line ends.
    fn next_fields(&mut self, text: &str, settings: &Settings) -> Vec<String> {
        let mut fields = Vec::new();
        let mut field = String::new();
        let mut is_quoted = false;
        let mut characters = text[self.at..].char_indices().peekable();
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
                _ if character == settings.delimiter => fields.push(std::mem::take(&mut field)),
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
            delimiter: ',',
            quoted,
            recycle: true,
        }
    }

    #[test]
    fn without_quoting_a_line_is_split_as_it_is() {
        assert_eq!(lines("\"x,y\"\r\n", &settings(false)), [["\"x", "y\""]]);
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
    fn delimiters_have_their_spellings() {
        assert_eq!(
            [delimiter("\\t"), delimiter(""), delimiter(";")],
            ['\t', ',', ';']
        );
    }
}
