//! The options of the command line.
//!
//! Must not know anything of a situation but its name. Invariant: an unknown argument is an error.

use std::path::PathBuf;

use crate::situation::Situation;

const USAGE: &str = "usage: cargo xtask situations [--only TEXT,…] [--side SIDE] [--quiet|--busy] [--burners N] [--keep FOLDER] [--list]";

/// The options.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Parts of names; empty means all.
    only: Vec<String>,
    side: Option<String>,
    quiet_only: bool,
    busy_only: bool,
    /// Number of processes that each use one CPU in the busy variants.
    pub(crate) burners: usize,
    /// The folder for results.
    pub(crate) keep: Option<PathBuf>,
    /// Only list the situations.
    pub(crate) list: bool,
}

impl Asked {
    /// Reads the arguments.
    pub(crate) fn parse(arguments: &[String]) -> Result<Asked, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut asked = Asked {
            burners: cores,
            ..Asked::default()
        };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| USAGE.to_owned());
            match flag.as_str() {
                "--only" => asked.only = value()?.split(',').map(str::to_owned).collect(),
                "--side" => asked.side = Some(value()?.clone()),
                "--quiet" => asked.quiet_only = true,
                "--busy" => asked.busy_only = true,
                "--burners" => asked.burners = value()?.parse().map_err(|_| USAGE.to_owned())?,
                "--keep" => asked.keep = Some(PathBuf::from(value()?)),
                "--list" => asked.list = true,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(asked)
    }

    /// Whether a situation is selected.
    pub(crate) fn is_meant(&self, one: &Situation) -> bool {
        let by_name = self.only.is_empty() || self.only.iter().any(|part| one.name.contains(part));
        by_name && self.side.as_ref().is_none_or(|side| *side == one.side)
    }

    /// Whether the generator's machine is busy, for each selected variant.
    pub(crate) fn variants(&self) -> Vec<bool> {
        match (self.quiet_only, self.busy_only) {
            (true, false) => vec![false],
            (false, true) => vec![true],
            _ => vec![false, true],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Asked::parse(&words)
    }

    #[test]
    fn variants_are_both_unless_one_is_asked_for() {
        let of = |line| parsed(line).map(|asked| asked.variants());
        assert_eq!(of(""), Ok(vec![false, true]));
        assert_eq!(of("--quiet"), Ok(vec![false]));
        assert_eq!(of("--busy"), Ok(vec![true]));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for line in ["--fast", "--only", "--burners many"] {
            assert!(parsed(line).is_err(), "{line} was accepted");
        }
    }
}
