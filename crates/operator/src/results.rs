//! The whole result of a test: where it is wanted, and where it is.
//!
//! A container beside the coordinator prints it as a parcel, for a log passes where no network does, needs no port, no token and no
//! right that the operator has not got, and stays as long as the pod. Must not know how it comes there. Invariant: a path leads into the volume that
//! it is of.

use serde::{Deserialize, Serialize};

use crate::test::{Refusal, invalid};

/// Annotation: where the whole result is kept.
pub const RESULTS_ANNOTATION: &str = "loadline.io/results";
/// The container that hands it on.
pub const CONTAINER: &str = "results";
/// Most characters of a claim's name, as the API has it.
const CLAIM_MAX: usize = 253;
/// Most characters of a path.
const PATH_MAX: usize = 1_024;

/// Where the whole result of a test is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// In a ConfigMap that goes with the test.
    #[default]
    ConfigMap,
    /// On a volume.
    Volume {
        /// Its claim.
        claim: String,
        /// The folder in it.
        path: String,
    },
    /// Nowhere.
    Nowhere,
}

impl Wanted {
    /// Reads what a test of this name says at a place.
    ///
    /// # Errors
    /// It is none of the three.
    pub fn read(place: &str, said: Option<&str>, name: &str) -> Result<Wanted, Refusal> {
        let text = match said {
            None | Some("configMap") => return Ok(Wanted::ConfigMap),
            Some("none") => return Ok(Wanted::Nowhere),
            Some(text) => text,
        };
        let of_volume = text.strip_prefix("volumeClaim/");
        let (claim, path) = of_volume
            .map(|rest| rest.split_once('/').unwrap_or((rest, name)))
            .unwrap_or_default();
        let is_claim = |claim: &str| {
            let mut letters = claim.bytes();
            letters.all(|letter| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
                && (1..=CLAIM_MAX).contains(&claim.len())
        };
        let is_part =
            |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
        if !is_claim(claim) || path.len() > PATH_MAX || !path.split('/').all(is_part) {
            return Err(invalid(format!(
                "{place}: {text:?} is neither configMap, volumeClaim/NAME[/FOLDER] nor none"
            )));
        }
        Ok(Wanted::Volume {
            claim: claim.to_owned(),
            path: path.to_owned(),
        })
    }
}

/// Where the whole result is, as the status tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kept {
    /// The ConfigMap that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The claim of the volume that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_claim: Option<String>,
    /// The folder in that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The pod in whose log it is, as long as that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The container of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Why it is not where it was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Kept {
    /// In the log alone.
    #[must_use]
    pub fn in_log(pod: &str, message: &str) -> Kept {
        Kept {
            pod: Some(pod.to_owned()),
            container: Some(CONTAINER.to_owned()),
            message: Some(message.to_owned()).filter(|message| !message.is_empty()),
            ..Kept::default()
        }
    }

    /// Nowhere.
    #[must_use]
    pub fn nowhere(message: String) -> Kept {
        Kept {
            message: Some(message),
            ..Kept::default()
        }
    }

    /// On a volume.
    #[must_use]
    pub fn on_volume(claim: &str, path: &str) -> Kept {
        Kept {
            volume_claim: Some(claim.to_owned()),
            path: Some(path.to_owned()),
            ..Kept::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_where() {
        let read = |text: &str| Wanted::read("spec.results", Some(text), "t");
        assert_eq!(
            Wanted::read("spec.results", None, "t"),
            Ok(Wanted::ConfigMap)
        );
        assert_eq!(read("none"), Ok(Wanted::Nowhere));
        let volume = |claim: &str, path: &str| {
            Ok(Wanted::Volume {
                claim: claim.to_owned(),
                path: path.to_owned(),
            })
        };
        assert_eq!(read("volumeClaim/v"), volume("v", "t"));
        assert_eq!(read("volumeClaim/v/a/b c"), volume("v", "a/b c"));
        for text in [
            "",
            "secret",
            "volumeClaim",
            "volumeClaim/",
            "volumeClaim/v/",
            "volumeClaim/v//a",
            "volumeClaim/v/../etc",
            "volumeClaim/V",
            "volumeClaim/v/a\nb",
            "s3://bucket",
        ] {
            let refusal = read(text).expect_err(text);
            assert!(refusal.message.contains("spec.results"), "{refusal}");
        }
    }
}
