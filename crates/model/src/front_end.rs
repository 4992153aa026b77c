//! The command lines that a run can be asked for by.
//!
//! Must not know their options. Invariant: a plan never holds one; it is for those who speak to the user.

use serde::{Deserialize, Serialize};

/// Whose words a user speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrontEnd {
    /// `loadline bench` and its kin.
    #[default]
    Bench,
    /// A k6 script: its options, and the flags of `run`.
    Script,
    /// hey's.
    Hey,
    /// bombardier's.
    Bombardier,
}

impl FrontEnd {
    /// The one that a command's name stands for: `run` and `k6` are a script's.
    #[must_use]
    pub fn of_command(name: &str) -> FrontEnd {
        match name {
            "run" | "k6" => FrontEnd::Script,
            "hey" => FrontEnd::Hey,
            "bombardier" => FrontEnd::Bombardier,
            _ => FrontEnd::Bench,
        }
    }

    /// All of them.
    pub const ALL: [FrontEnd; 4] = [
        FrontEnd::Bench,
        FrontEnd::Script,
        FrontEnd::Hey,
        FrontEnd::Bombardier,
    ];
}
