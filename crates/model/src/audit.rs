//! What an output's receiver has, compared with what the run measured.
//!
//! Must not know protocols, nor where outcomes are kept. Invariant: an audit that could not be made never agrees.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The variable that names the file in which a run leaves the audits of its outputs, as JSON: a list of
/// [`AuditedOutput`].
pub const AUDITS_VARIABLE: &str = "LOADLINE_AUDITS_FILE";

/// How a receiver's totals compare with the run's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// Series compared.
    pub compared: usize,
    /// Series that the receiver does not have.
    pub missing: usize,
    /// Series with another value.
    pub different: usize,
    /// Values counted here but not there, over all counters and histograms.
    pub lost: u64,
    /// The first series that is missing or different; `None` when all agree.
    pub example: Option<String>,
    /// Why nothing can be said of the receiver's totals, or why they cannot be those of the run; `None`: they were
    /// compared.
    pub error: Option<String>,
}

impl Audit {
    /// An audit that could not be made.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Audit {
        Audit {
            error: Some(why.into()),
            ..Audit::default()
        }
    }

    /// Whether the receiver has everything that was measured.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.error.is_none() && self.missing == 0 && self.different == 0
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.error {
            return f.write_str(why);
        }
        let Audit { compared, lost, .. } = self;
        if self.agrees() {
            return write!(
                f,
                "audit: {compared} series have the values of this run, lost: {lost}"
            );
        }
        write!(
            f,
            "audit: of {compared} series {} are missing and {} differ, lost: {lost}; the first is {}",
            self.missing,
            self.different,
            self.example.as_deref().unwrap_or_default()
        )
    }
}

/// An audited output of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedOutput {
    /// The output, as messages name it.
    pub output: String,
    /// What was found.
    pub audit: Audit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_is_told_with_its_numbers() {
        let mut audit = Audit {
            compared: 60,
            ..Audit::default()
        };
        assert!(audit.agrees());
        assert_eq!(
            audit.to_string(),
            "audit: 60 series have the values of this run, lost: 0"
        );
        audit.missing = 1;
        audit.lost = 7;
        audit.example = Some("a{}".to_owned());
        assert!(!audit.agrees());
        assert_eq!(
            audit.to_string(),
            "audit: of 60 series 1 are missing and 0 differ, lost: 7; the first is a{}"
        );
        let failed = Audit::failed("no response");
        assert!(!failed.agrees());
        assert_eq!(failed.to_string(), "no response");
    }
}
