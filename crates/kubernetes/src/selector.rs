//! Selection of objects: a label selector and a field selector, in the API's syntax.
//!
//! Must not know the objects. Invariant: an empty selector selects everything.

/// A selection of objects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    labels: String,
    fields: String,
}

impl Selector {
    /// Everything.
    #[must_use]
    pub fn all() -> Selector {
        Selector::default()
    }

    /// By labels, in the syntax of `kubectl -l`: `app=api,tier!=cache,track in (a, b)`.
    #[must_use]
    pub fn labels(labels: impl Into<String>) -> Selector {
        Selector {
            labels: labels.into(),
            fields: String::new(),
        }
    }

    /// Additionally by fields, in the syntax of `kubectl --field-selector`:
    /// `status.phase=Running,spec.nodeName=n1`.
    #[must_use]
    pub fn and_fields(mut self, fields: &str) -> Selector {
        if !self.fields.is_empty() && !fields.is_empty() {
            self.fields.push(',');
        }
        self.fields.push_str(fields);
        self
    }

    pub(crate) fn has_fields(&self) -> bool {
        !self.fields.is_empty()
    }

    /// The same without its fields, for APIs that select by labels alone.
    pub(crate) fn without_fields(&self) -> Selector {
        Selector::labels(self.labels.clone())
    }

    /// The query's parameters.
    pub(crate) fn query(&self) -> Vec<(&'static str, String)> {
        let both = [
            ("labelSelector", &self.labels),
            ("fieldSelector", &self.fields),
        ];
        let given = both.into_iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| (name, text.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_is_asked_for() {
        assert!(Selector::all().query().is_empty());
        let both = Selector::labels("app=api")
            .and_fields("status.phase=Running")
            .and_fields("spec.nodeName=n1");
        let wanted = vec![
            ("labelSelector", "app=api".to_owned()),
            (
                "fieldSelector",
                "status.phase=Running,spec.nodeName=n1".to_owned(),
            ),
        ];
        assert_eq!(both.query(), wanted);
        assert!(!both.without_fields().has_fields());
    }
}
