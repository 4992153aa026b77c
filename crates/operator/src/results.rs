//! The whole result of a test: the requested place, and where it is.
//!
//! A container next to the coordinator prints it as a parcel. A log works without network access, needs no
//! port, no token and no additional permissions of the operator, and stays as long as the pod. Must not know
//! how it is transferred. Invariant: a path stays inside its volume.

use loadline_model::{ObjectFolder, leads_inside};
use serde::{Deserialize, Serialize};

use crate::test::{Refusal, invalid};

/// Annotation: where to keep the whole result.
pub const RESULTS_ANNOTATION: &str = "loadline.io/results";
/// Annotation: the Secret with the credentials of the object store for the result.
pub const RESULTS_SECRET_ANNOTATION: &str = "loadline.io/results-secret";
/// The container that passes the result on.
pub const CONTAINER: &str = "results";
/// Maximum characters of the name of a claim or a Secret, as in the API.
const NAME_MAX: usize = 253;
/// Maximum characters of a path.
const PATH_MAX: usize = 1_024;

/// The requested place for the whole result of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// In a ConfigMap that is deleted with the test.
    #[default]
    ConfigMap,
    /// On a volume.
    Volume {
        /// Its claim.
        claim: String,
        /// The folder in it.
        path: String,
    },
    /// In an object store.
    ObjectStore {
        /// The folder.
        folder: ObjectFolder,
        /// The Secret with its address and keys.
        secret: String,
    },
    /// Nowhere.
    Nowhere,
}

/// A test's settings for its whole result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// The requested place; `None`: not given.
    pub results: Option<&'a str>,
    /// The Secret of an object store.
    pub secret: Option<&'a str>,
}

impl Wanted {
    /// Parses the settings of a test with this name, from two places.
    ///
    /// # Errors
    /// They are invalid.
    pub fn read(places: [&str; 2], said: &Said<'_>, name: &str) -> Result<Wanted, Refusal> {
        let [place, secret_place] = places;
        if let Some(text) = said.results.filter(|text| ObjectFolder::is_meant(text)) {
            let folder = ObjectFolder::read(text, name)
                .ok_or_else(|| invalid(format!("{place}: {text:?} is not s3://BUCKET[/DIR]")))?;
            let secret = said.secret.filter(|secret| is_name(secret)).ok_or_else(|| {
                invalid(format!(
                    "{secret_place}: an object store needs the name of a Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                ))
            })?;
            let secret = secret.to_owned();
            return Ok(Wanted::ObjectStore { folder, secret });
        }
        if said.secret.is_some() {
            return Err(invalid(format!(
                "{secret_place}: only an object store, s3://BUCKET[/DIR], needs a Secret"
            )));
        }
        Wanted::in_cluster(place, said.results, name)
    }

    fn in_cluster(place: &str, said: Option<&str>, name: &str) -> Result<Wanted, Refusal> {
        let text = match said {
            None | Some("configMap") => return Ok(Wanted::ConfigMap),
            Some("none") => return Ok(Wanted::Nowhere),
            Some(text) => text,
        };
        let of_volume = text.strip_prefix("volumeClaim/");
        let (claim, path) = of_volume
            .map(|rest| rest.split_once('/').unwrap_or((rest, name)))
            .unwrap_or_default();
        if !is_name(claim) || path.len() > PATH_MAX || !leads_inside(path) {
            return Err(invalid(format!(
                "{place}: {text:?} is neither configMap, volumeClaim/NAME[/DIR], s3://BUCKET[/DIR] nor none"
            )));
        }
        Ok(Wanted::Volume {
            claim: claim.to_owned(),
            path: path.to_owned(),
        })
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.all(|letter| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
        && (1..=NAME_MAX).contains(&name.len())
}

/// The location of the whole result, for the status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kept {
    /// The ConfigMap that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The claim of the volume that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_claim: Option<String>,
    /// The folder on the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The folder of the object store that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_store: Option<String>,
    /// The pod whose log contains it, while the pod exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The pod's container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Why it is not in the requested place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Kept {
    /// Only in the log.
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

    /// In the requested place: on a volume or in an object store.
    #[must_use]
    pub fn as_wanted(wanted: &Wanted) -> Kept {
        match wanted {
            Wanted::Volume { claim, path } => Kept {
                volume_claim: Some(claim.to_owned()),
                path: Some(path.to_owned()),
                ..Kept::default()
            },
            Wanted::ObjectStore { folder, .. } => Kept {
                object_store: Some(folder.to_string()),
                ..Kept::default()
            },
            Wanted::ConfigMap | Wanted::Nowhere => Kept::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_where() {
        let places = ["spec.results", "spec.resultsSecret"];
        let said = |results: Option<&str>, secret: Option<&str>| {
            Wanted::read(places, &Said { results, secret }, "t")
        };
        let read = |text: &str| said(Some(text), None);
        assert_eq!(said(None, None), Ok(Wanted::ConfigMap));
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
            "s3://B",
        ] {
            let refusal = read(text).expect_err(text);
            assert!(refusal.message.contains("spec.results: "), "{refusal}");
        }

        let stored = said(Some("s3://bucket/nightly/"), Some("keys"));
        let folder = ObjectFolder::read("s3://bucket/nightly", "t").expect("a folder");
        let secret = "keys".to_owned();
        assert_eq!(stored, Ok(Wanted::ObjectStore { folder, secret }));
        for (results, secret) in [
            ("s3://bucket", None),
            ("s3://bucket", Some("")),
            ("s3://bucket", Some("Keys/..")),
            ("configMap", Some("keys")),
        ] {
            let refusal = said(Some(results), secret).expect_err(results);
            assert!(
                refusal.message.contains("spec.resultsSecret: "),
                "{refusal}"
            );
        }
    }
}
