//! Texts that are built once per tag set.
//!
//! Must not know what is built from a tag set. Invariant: a text belongs to exactly the sets from which it was
//! built, since they are kept alive as long as the text; at most [`ENTRIES_MAX`] are kept.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_metric::TagSet;
use loadline_model::sample::TaggedValues;

/// Maximum texts kept: more than the tag sets of most tests, and a few megabytes at most.
const ENTRIES_MAX: usize = 4_096;

/// The address of the tags, and that of the metadata or zero.
type Key = (usize, usize);

/// Texts by tag set.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    texts: HashMap<Key, Entry>,
}

#[derive(Debug)]
struct Entry {
    text: String,
    /// Kept alive so that no other set gets the same address.
    _held: (Arc<TagSet>, Option<Arc<TagSet>>),
}

impl Rendered {
    /// The text for the values' tags and metadata, built by `render` if it is not cached.
    pub(crate) fn of(
        &mut self,
        values: &TaggedValues,
        render: impl FnOnce(&TagSet, Option<&TagSet>, &mut String),
    ) -> &str {
        let key = (
            address(&values.tags),
            values.metadata.as_ref().map_or(0, address),
        );
        if self.texts.len() >= ENTRIES_MAX && !self.texts.contains_key(&key) {
            self.texts.clear();
        }
        let entry = self.texts.entry(key).or_insert_with(|| {
            let mut text = String::new();
            render(&values.tags, values.metadata.as_deref(), &mut text);
            Entry {
                text,
                _held: (Arc::clone(&values.tags), values.metadata.clone()),
            }
        });
        &entry.text
    }
}

fn address(tags: &Arc<TagSet>) -> usize {
    Arc::as_ptr(tags).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(tags: &Arc<TagSet>) -> TaggedValues {
        TaggedValues {
            request: None,
            time_unix_ns: 0,
            tags: Arc::clone(tags),
            metadata: None,
            values: Vec::new(),
        }
    }

    #[test]
    fn a_text_is_made_once_and_never_of_another_set() {
        let mut rendered = Rendered::default();
        let mut made = 0;
        for number in 0..2 * ENTRIES_MAX {
            let tags = Arc::new(TagSet::new().with("n", number.to_string()));
            for _ in 0..2 {
                let text = rendered.of(&values(&tags), |tags, _, out| {
                    made += 1;
                    out.push_str(tags.get("n").unwrap_or(""));
                });
                assert_eq!(text, number.to_string());
            }
        }
        assert_eq!(made, 2 * ENTRIES_MAX);
        assert!(rendered.texts.len() <= ENTRIES_MAX);
    }
}
