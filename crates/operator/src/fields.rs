//! Reads single fields of a specification.
//!
//! Must not know which fields a kind has. Invariant: a field of the wrong type is refused with its path.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::git::GitFile;
use crate::test::{Cleanup, PARALLELISM_MAX, Refusal, Source, folder, invalid};

/// Maximum length of a name: longer names made from it are labels of at most 63 characters.
const NAME_MAX: usize = 63 - "-coordinator".len();

/// An object's fields, and where it is.
pub(crate) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    /// The specification of an object; `empty`: used if there is none.
    pub(crate) fn spec(object: &'a Value, empty: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            fields: object["spec"].as_object().unwrap_or(empty),
            path: "spec".to_owned(),
        }
    }

    /// The path of a field.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn typed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let refused = || invalid(format!("{}: {what} is required", self.path(name)));
        read(value).map(Some).ok_or_else(refused)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.typed(name, "a text", Value::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        let flag = self.typed(name, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or_default())
    }

    /// A truth that is written as a text, with the spellings of k6-operator: what is none of them is false.
    pub(crate) fn worded_flag(&self, name: &str, usual: bool) -> Result<bool, Refusal> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        Ok(text.map_or(usual, is_true))
    }

    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], Refusal> {
        let list = self.typed(name, "a list", Value::as_array)?;
        Ok(list.map_or(&[], Vec::as_slice))
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, Refusal> {
        self.typed(name, "an object", Value::as_object)
    }

    /// The fields of a nested object.
    pub(crate) fn within(&self, name: &str) -> Result<Option<Fields<'a>>, Refusal> {
        let path = self.path(name);
        Ok(self.object(name)?.map(|fields| Fields { fields, path }))
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let texts: Option<Vec<String>> = self.list(name)?.iter().map(text).collect();
        texts.ok_or_else(|| invalid(format!("{}: a list of texts is required", self.path(name))))
    }

    /// Refuses unknown fields.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        let given = self.fields.iter().filter(|(_, value)| !value.is_null());
        let mut strange = given.filter(|(name, _)| !known.contains(&name.as_str()));
        match strange.next() {
            None => Ok(()),
            Some((name, _)) => Err(invalid(format!(
                "{}: unknown field; use {}",
                self.path(name),
                known.join(", ")
            ))),
        }
    }

    /// A count, or a number of seconds.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u32>, Refusal> {
        self.typed(name, "a number from 0 on", |value| {
            value.as_u64().and_then(|count| u32::try_from(count).ok())
        })
    }

    /// A duration.
    pub(crate) fn span(&self, name: &str) -> Result<Option<Duration>, Refusal> {
        let text = self.text(name)?;
        text.map(|text| span(&self.path(name), text)).transpose()
    }

    /// Whether a test is deleted at its end.
    pub(crate) fn cleanup(&self) -> Result<Cleanup, Refusal> {
        match self.text("cleanup")?.unwrap_or("never") {
            "never" => Ok(Cleanup::Never),
            "always" => Ok(Cleanup::Always),
            "on-success" => Ok(Cleanup::OnSuccess),
            other => Err(invalid(format!(
                "{}: {other:?} is not never, always or on-success",
                self.path("cleanup")
            ))),
        }
    }

    /// The number of agents; default 1.
    pub(crate) fn parallelism(&self) -> Result<u32, Refusal> {
        let wanted = self.typed("parallelism", "a number", Value::as_i64)?;
        let wanted = wanted.unwrap_or(1);
        u32::try_from(wanted)
            .ok()
            .filter(|wanted| (1..=PARALLELISM_MAX).contains(wanted))
            .ok_or_else(|| {
                invalid(format!(
                    "{}: {wanted} is not between 1 and {PARALLELISM_MAX}",
                    self.path("parallelism")
                ))
            })
    }

    /// A file on a volume, or a key of a ConfigMap; `None`: neither is named. `usual`: the default file.
    pub(crate) fn mounted(&self, usual: &str) -> Result<Option<Source>, Refusal> {
        if let Some((from, claim)) = self.named("volumeClaim")? {
            return Ok(Some(Source::Volume {
                claim,
                file: from.file(usual)?,
                read_only: from.fields.get("readOnly") == Some(&Value::Bool(true)),
            }));
        }
        let Some((from, name)) = self.named("configMap")? else {
            return Ok(None);
        };
        Ok(Some(Source::ConfigMap {
            name,
            file: from.file(usual)?,
            items: from.list("items")?.to_vec(),
        }))
    }

    /// A file as [`Fields::mounted`] has it, or of a git repository; both are one too many.
    pub(crate) fn file_from(&self, usual: &str) -> Result<Option<Source>, Refusal> {
        match (self.mounted(usual)?, self.git(usual)?) {
            (Some(_), Some(_)) => Err(invalid(format!(
                "{}: git and another source are given; give only one",
                self.path
            ))),
            (mounted, git) => Ok(mounted.or(git)),
        }
    }

    fn git(&self, usual: &str) -> Result<Option<Source>, Refusal> {
        let Some(from) = self.within("git")? else {
            return Ok(None);
        };
        from.only(&["url", "revision", "file", "secret"])?;
        let text = |name: &str| from.text(name).map(Option::unwrap_or_default);
        let or = |text: &str, usual: &str| match text {
            "" => usual.to_owned(),
            text => text.to_owned(),
        };
        let secret = text("secret")?;
        let file = GitFile {
            url: text("url")?.to_owned(),
            revision: or(text("revision")?, "HEAD"),
            file: or(text("file")?, usual),
            secret: (!secret.is_empty()).then(|| secret.to_owned()),
        };
        file.check(&from.path).map(Source::Git).map(Some)
    }

    /// A field with a name that is not empty.
    fn named(&self, field: &str) -> Result<Option<(Fields<'a>, String)>, Refusal> {
        let is_named = |from: &Fields<'_>| from.fields.get("name").is_some_and(|name| name != "");
        let Some(from) = self.within(field)?.filter(is_named) else {
            return Ok(None);
        };
        match from.text("name") {
            Ok(Some(name)) => Ok(Some((from, name.to_owned()))),
            _ => Err(invalid(format!(
                "{}: a name is required",
                from.path("name")
            ))),
        }
    }

    fn file(&self, usual: &str) -> Result<String, Refusal> {
        let file = self.fields.get("file").and_then(Value::as_str);
        let file = file.filter(|file| !file.is_empty()).unwrap_or(usual);
        if file.starts_with('/') && folder(file).is_empty() {
            return Err(invalid(format!(
                "{}: the file {file:?} is not in a directory where a volume can be mounted",
                self.path
            )));
        }
        if file.split('/').any(|part| part == "..") {
            return Err(invalid(format!(
                "{}: the file {file:?} leaves its directory",
                self.path
            )));
        }
        Ok(file.to_owned())
    }

    /// The path of a file in an image; `None`: it is empty.
    pub(crate) fn local_file(&self) -> Result<Option<String>, Refusal> {
        match self.text("localFile")?.unwrap_or_default() {
            "" => Ok(None),
            path if !path.starts_with('/') || folder(path).is_empty() => Err(invalid(format!(
                "{}: {path:?} is not the absolute path of a file in a directory",
                self.path("localFile")
            ))),
            path => Ok(Some(path.to_owned())),
        }
    }

    #[cfg(test)]
    pub(crate) fn of(spec: &'a Value) -> Fields<'a> {
        Fields {
            fields: spec.as_object().expect("an object"),
            path: "spec".to_owned(),
        }
    }
}

/// Whether a text means true.
pub(crate) fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "True" | "TRUE")
}

/// A text of an object's metadata; empty if there is none.
pub(crate) fn of_metadata(object: &Value, name: &str) -> String {
    object["metadata"][name]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The generation of an object, which counts edits of its fields.
pub(crate) fn generation(object: &Value) -> Option<i64> {
    object["metadata"]["generation"].as_i64()
}

/// The name of an object.
pub(crate) fn name(object: &Value) -> Result<String, Refusal> {
    let name = of_metadata(object, "name");
    match name.len() {
        1..=NAME_MAX => Ok(name),
        _ => Err(invalid(format!(
            "metadata.name: at most {NAME_MAX} characters, because the names of its objects are longer"
        ))),
    }
}

/// A duration; `place`: where it is written.
pub(crate) fn span(place: &str, text: &str) -> Result<Duration, Refusal> {
    let refused = || {
        invalid(format!(
            "{place}: {text:?} is not a number with s, m, h or d"
        ))
    };
    let last = text.chars().last().ok_or_else(refused)?;
    let seconds = match last {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(refused()),
    };
    let count = text[..text.len() - 1]
        .parse::<u32>()
        .map_err(|_| refused())?;
    Ok(Duration::from_secs(u64::from(count) * seconds))
}
