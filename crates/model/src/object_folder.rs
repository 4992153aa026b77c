//! A folder of an object store as users write it: `s3://BUCKET[/DIR]`.
//!
//! Must not know where the store is, nor its protocol. Invariant: object stores accept every folder of this
//! type.

use std::fmt;

use crate::inner_path::leads_inside;

/// The start of an address.
const SCHEME: &str = "s3://";
/// Maximum bytes of a folder's path: a key has at most 1,024, including the file name.
const PATH_MAX: usize = 900;

/// A folder of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectFolder {
    bucket: String,
    path: String,
}

impl ObjectFolder {
    /// Whether a text is meant as such an address.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// Parses `s3://BUCKET[/DIR]`; the default folder is `folder`. `None`: the name of the bucket or folder
    /// is invalid.
    #[must_use]
    pub fn read(text: &str, folder: &str) -> Option<ObjectFolder> {
        let rest = text.strip_prefix(SCHEME)?;
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, folder));
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = if path.is_empty() { folder } else { path };
        (is_bucket(bucket) && path.len() <= PATH_MAX && leads_inside(path)).then(|| ObjectFolder {
            bucket: bucket.to_owned(),
            path: path.to_owned(),
        })
    }

    /// Name of the bucket.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The key of a file in it.
    #[must_use]
    pub fn key(&self, file: &str) -> String {
        format!("{}/{file}", self.path)
    }
}

impl fmt::Display for ObjectFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.bucket, self.path)
    }
}

/// By the rules of <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>.
fn is_bucket(name: &str) -> bool {
    let is_alphanumeric = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let bytes = name.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
        && bytes
            .iter()
            .all(|byte| is_alphanumeric(byte) || matches!(byte, b'-' | b'.'))
        && !name.contains("..")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_names_bucket_and_folder() {
        let read = |text: &str| ObjectFolder::read(text, "t").map(|folder| folder.to_string());
        for (text, read_as) in [
            ("s3://results", "s3://results/t"),
            ("s3://results/", "s3://results/t"),
            ("s3://my.results/a/b c/", "s3://my.results/a/b c"),
        ] {
            assert_eq!(read(text).as_deref(), Some(read_as));
        }
        for text in [
            "results",
            "s3:",
            "s3://",
            "s3://ab",
            "s3://Results",
            "s3://-results",
            "s3://a..b",
            "s3://user:secret@results",
            "s3://results//a",
            "s3://results/../a",
            "s3://results/a\nb",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
        let folder = ObjectFolder::read("s3://results/a", "t").expect("a folder");
        assert_eq!(
            (folder.bucket(), folder.key("result.json").as_str()),
            ("results", "a/result.json")
        );
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_again(text in "s3://[a-z0-9.-]{1,8}(/[ -~]{0,12}){0,3}") {
            if let Some(folder) = ObjectFolder::read(&text, "t") {
                prop_assert_eq!(ObjectFolder::read(&folder.to_string(), "u"), Some(folder));
            }
        }
    }
}
