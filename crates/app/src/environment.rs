//! The environment variables of the process, as an argument.
//!
//! Must not know the meaning of a variable. Invariant: nothing else in this crate reads the process's
//! environment.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Names a file in which every run in the environment writes its JSON result, whatever the command.
pub(crate) const RESULT_FILE: &str = "LOADLINE_JSON";
/// Disables the verdict for all runs in an environment under another tool's name.
pub(crate) const NO_VERDICT: &str = "LOADLINE_NO_VERDICT";

/// Environment variables by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    variables: BTreeMap<String, String>,
}

impl Env {
    /// The process's variables; those that are not UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Env {
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Env {
            variables: texts.collect(),
        }
    }

    /// The value of a variable; `None` if it is not set or empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The value of a variable that is set, even if empty.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Whether a switch is on: it is set, and not to a word for no. The command line reads the variables of its own
    /// switches likewise.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        const NO: [&str; 6] = ["0", "f", "false", "n", "no", "off"];
        let is_no = |value: &str| NO.iter().any(|no| value.eq_ignore_ascii_case(no));
        self.get(name).is_some_and(|value| !is_no(value))
    }

    /// A base folder of the user (XDG Base Directory Specification): the value of the variable, otherwise this
    /// folder in the home; `None` if neither is known. Relative paths are ignored.
    #[must_use]
    pub fn user_folder(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let named = self.get(variable).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(in_home)))
    }

    /// All variables by name, including empty ones.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.variables
    }
}

impl From<BTreeMap<String, String>> for Env {
    fn from(variables: BTreeMap<String, String>) -> Env {
        Env { variables }
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Env {
    fn from(pairs: [(&str, &str); N]) -> Env {
        let variables = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Env {
            variables: variables.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use clap::builder::{FalseyValueParser, TypedValueParser as _};

    use super::*;

    #[test]
    fn a_switch_is_read_as_the_command_line_reads_it() {
        let command = clap::Command::new("loadline");
        for (value, is_on) in [
            ("1", true),
            ("true", true),
            ("yes", true),
            ("", false),
            ("0", false),
            ("No", false),
            ("FALSE", false),
            ("off", false),
        ] {
            let env = Env::from([("LOADLINE_NO_VERDICT", value)]);
            assert_eq!(env.is_on(NO_VERDICT), is_on, "{value:?}");
            let read = FalseyValueParser::new().parse_ref(&command, None, OsStr::new(value));
            assert_eq!(read.ok(), Some(is_on), "{value:?}");
        }
        assert!(!Env::default().is_on(NO_VERDICT));
    }
}
