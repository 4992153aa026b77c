//! Label names that every receiver accepts.
//!
//! Must not know series. Source: <https://prometheus.io/docs/concepts/data_model/>. Invariant: names match
//! `[a-zA-Z_][a-zA-Z0-9_]*`, do not begin with two underscores, and are sorted and unique.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_go::quote::quoted;
use loadline_metric::TagSet;

/// The label that holds a series' name.
pub(super) const NAME: &str = "__name__";
/// Separates the values of tags whose names become the same label.
const JOINT: char = ';';

/// The labels of a set of tags, which its series share.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Labels {
    /// Sorted by name.
    pairs: Vec<(Arc<str>, Arc<str>)>,
    /// The position at which the series' own name is inserted.
    name_at: usize,
}

impl Labels {
    /// The labels for tags; tags without a value are omitted.
    pub(super) fn of(tags: &TagSet, names: &mut LabelNames) -> Labels {
        let mut labels: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for (tag, value) in tags
            .as_slice()
            .iter()
            .filter(|(_, value)| !value.is_empty())
        {
            labels
                .entry(names.of(tag))
                .and_modify(|known| *known = format!("{known}{JOINT}{value}").into())
                .or_insert_with(|| Arc::clone(value));
        }
        let pairs: Vec<(Arc<str>, Arc<str>)> = labels.into_iter().collect();
        Labels {
            name_at: pairs.partition_point(|(label, _)| **label < *NAME),
            pairs,
        }
    }

    /// The labels of a series with this name, sorted by name as the protocol requires.
    pub(super) fn with_name<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pair = |(label, value): &'a (Arc<str>, Arc<str>)| (&**label, &**value);
        let (before, behind) = self.pairs.split_at(self.name_at);
        before
            .iter()
            .map(pair)
            .chain(std::iter::once((NAME, name)))
            .chain(behind.iter().map(pair))
    }
}

/// A series in the syntax of queries: `name{label="value"}`.
pub(super) fn shown<'a>(labels: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let (mut name, mut pairs) = ("", Vec::new());
    for (label, value) in labels {
        match label {
            NAME => name = value,
            _ => pairs.push(format!("{label}={}", quoted(value))),
        }
    }
    format!("{name}{{{}}}", pairs.join(","))
}

/// Label names by tag names, each built once: a run has few tags and many sets of them.
#[derive(Debug, Default)]
pub(super) struct LabelNames {
    by_tag: BTreeMap<Arc<str>, Arc<str>>,
}

impl LabelNames {
    fn of(&mut self, tag: &Arc<str>) -> Arc<str> {
        if let Some(label) = self.by_tag.get(tag) {
            return Arc::clone(label);
        }
        let label: Arc<str> = sanitized(tag).into();
        self.by_tag.insert(Arc::clone(tag), Arc::clone(&label));
        label
    }
}

/// A tag's name as the name of a label.
fn sanitized(tag: &str) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut label: String = tag
        .chars()
        .map(|c| if is_fit(c) { c } else { '_' })
        .collect();
    let starts_badly = label.starts_with(|c: char| c.is_ascii_digit()) || label.is_empty();
    if starts_badly || label.starts_with("__") {
        label.insert_str(0, "tag_");
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_become_labels() {
        let tags = TagSet::new()
            .with("bad-label.x", "1")
            .with("bad_label.x", "2")
            .with("9th", "3")
            .with("__name__", "4")
            .with("group", "")
            .with("name", "http://x/");
        let labels = Labels::of(&tags.with("Zone", "b"), &mut LabelNames::default());
        let told: Vec<_> = labels.with_name("k6_http_reqs_total").collect();
        assert_eq!(
            told,
            [
                ("Zone", "b"),
                ("__name__", "k6_http_reqs_total"),
                ("bad_label_x", "1;2"),
                ("name", "http://x/"),
                ("tag_9th", "3"),
                ("tag___name__", "4"),
            ]
        );
    }

    proptest! {
        #[test]
        fn every_name_is_fit(tag in "\\PC{0,12}") {
            let label = sanitized(&tag);
            prop_assert!(!label.starts_with("__"));
            prop_assert!(label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
            prop_assert!(label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        }
    }
}
