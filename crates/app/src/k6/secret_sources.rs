//! `--secret-source`: from words to the secrets of a script.
//!
//! Must not know who uses them. Invariant: no error shows a secret's value.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_go::quoted;
use loadline_model::ExitCode;
use loadline_script::secrets::{SecretSource, Secrets};

use super::notice::K6Error;
use crate::Files;
use crate::dialect::go_text;

/// The source used if a script names none.
const DEFAULT: &str = "default";

/// Reads all sources.
///
/// # Errors
/// In k6's words: a source that is unknown, named twice, or unreadable.
pub(crate) fn read(lines: &[String], files: &Files) -> Result<Secrets, K6Error> {
    let mut sources: BTreeMap<String, Arc<SecretSource>> = BTreeMap::new();
    for line in lines {
        let wanted = Wanted::parse(line)?;
        let source = Arc::new(wanted.read(files)?);
        let name = match &*wanted.name {
            "" => wanted.kind,
            name => name,
        };
        if sources
            .insert(name.to_owned(), Arc::clone(&source))
            .is_some()
        {
            return Err(K6Error::other(format!(
                "a secret source with the name {} already exists: give each its own name (name=…)",
                quoted(name)
            )));
        }
        if wanted.is_default && sources.insert(DEFAULT.to_owned(), source).is_some() {
            return Err(K6Error::other(
                "only one secret source can be the default one: remove \"default\" from the others",
            ));
        }
    }
    if sources.len() == 1 {
        sources.extend(
            sources
                .clone()
                .into_values()
                .map(|only| (DEFAULT.to_owned(), only)),
        );
    }
    Ok(Secrets::new(sources))
}

/// `KIND=default,name=NAME,…`
struct Wanted<'a> {
    kind: &'a str,
    name: String,
    is_default: bool,
    /// Settings specific to the kind.
    rest: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn parse(line: &'a str) -> Result<Wanted<'a>, K6Error> {
        if line.trim().is_empty() {
            let why = "couldn't parse secret source configuration";
            return Err(K6Error::other(format!("{why} {}", quoted(line))));
        }
        let (kind, config) = line.split_once('=').unwrap_or((line, ""));
        let mut wanted = Wanted {
            kind,
            name: String::new(),
            is_default: false,
            rest: Vec::new(),
        };
        for part in config.split(',') {
            match part.split_once('=').unwrap_or((part, "")) {
                ("name", name) => name.clone_into(&mut wanted.name),
                _ if part == DEFAULT => wanted.is_default = true,
                _ => wanted.rest.push(part),
            }
        }
        Ok(wanted)
    }

    fn read(&self, files: &Files) -> Result<SecretSource, K6Error> {
        match self.kind {
            "mock" if self.rest.is_empty() => pairs(std::iter::once("")),
            "mock" => pairs(self.rest.iter().copied()),
            "file" => pairs(self.file(files)?.lines()),
            "url" => Err(K6Error::other(
                "the secret source \"url\" is not supported: fetch the secrets before the run, and \
                 name their file with --secret-source file=PATH",
            )),
            "cloud" => Err(K6Error::new(
                ExitCode::InvalidConfig,
                "'cloud' is not a valid value for --secret-source: there is no cloud behind \
                 loadline",
            )),
            kind => Err(K6Error::other(format!(
                "no secret source for type {}: use file or mock",
                quoted(kind)
            ))),
        }
    }

    /// The text of the file named by a source: the last word that is a path.
    fn file(&self, files: &Files) -> Result<String, K6Error> {
        let mut path = "";
        for part in &self.rest {
            path = match part.split_once('=') {
                None => part,
                Some(("filename", path)) => path,
                Some((key, _)) => {
                    return Err(K6Error::other(format!(
                        "unknown configuration key for file secret source {}",
                        quoted(key)
                    )));
                }
            };
        }
        files
            .read_text(path)
            .map_err(|error| K6Error::other(go_text::file_error(&error)))
    }
}

/// Secrets written as `name=value`.
fn pairs<'a>(lines: impl Iterator<Item = &'a str>) -> Result<SecretSource, K6Error> {
    lines
        .enumerate()
        .map(|(at, line)| match line.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(K6Error::other(format!(
                "secret {} has no name: write it as NAME=VALUE",
                at + 1
            ))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let text = b"cool=f1\nwith=a=b\r\n".to_vec();
        Files::Memory(BTreeMap::from([("s.txt".to_owned(), text)]))
    }

    fn get(lines: &[&str], source: &str, name: &str) -> String {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        match read(&lines, &files()) {
            Ok(secrets) => secrets
                .get(source, name)
                .map_or_else(|why| why, str::to_owned),
            Err(error) => error.notice.message,
        }
    }

    #[test]
    fn sources_have_names_and_one_is_the_default() {
        let table: [(&[&str], &str, &str, &str); 8] = [
            (&["mock=cool=not cool,b="], "default", "cool", "not cool"),
            (&["mock=cool=not cool,b="], "mock", "b", ""),
            (&["mock=default,name=mine,a=1"], "mine", "a", "1"),
            (&["file=s.txt"], "default", "with", "a=b"),
            (
                &["file=filename=s.txt,name=f", "mock=a=1"],
                "f",
                "cool",
                "f1",
            ),
            (&["file=s.txt,default", "mock=a=1"], "default", "cool", "f1"),
            (
                &["file=s.txt", "mock=a=1"],
                "default",
                "a",
                "no secret source with name \"default\" is configured",
            ),
            (&[], "default", "a", "no secret sources are configured"),
        ];
        for (lines, source, name, expected) in table {
            assert_eq!(get(lines, source, name), expected, "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_source_is_refused_without_showing_a_value() {
        for line in [
            "",
            "nope=s3cret",
            "mock",
            "mock=s3cret",
            "mock=a=1,s3cret",
            "file=none",
            "file",
            "file=a=s3cret",
            "url",
            "cloud",
        ] {
            let told = get(&[line], "default", "a");
            assert!(
                told.contains(' ') && !told.contains("s3cret"),
                "{line}: {told}"
            );
        }
        for twice in [
            ["mock=a=1", "mock=b=1"],
            ["mock=default,a=1", "mock=default,name=x,b=1"],
        ] {
            assert!(get(&twice, "default", "a").contains(' '), "{twice:?}");
        }
    }
}
