//! Objects stored as properties, lent to a run of a script: its changes are visible to all threads when it
//! ends.
//!
//! Must not know who runs scripts. Invariant: while a run uses a queue no other run uses one, so each element
//! is taken once.

use std::sync::{Arc, MutexGuard};

use loadline_groovy::print;
use loadline_groovy::value::{ListKind, Value};

use super::kept::Shared;
use crate::scope::{Commons, locked};

/// An object lent to a run.
struct Lent {
    name: String,
    /// The text of its property.
    text: String,
    before: Arc<Shared>,
    value: Value,
}

/// The objects lent to a run.
#[derive(Default)]
pub(super) struct LentObjects<'d> {
    all: Vec<Lent>,
    /// The lock of the queues.
    turn: Option<MutexGuard<'d, ()>>,
}

impl<'d> LentObjects<'d> {
    /// The object of a property with this text; `None`: it has no object, only its text. `is_guarded`: the
    /// enclosing run already holds the lock of the queues.
    pub(super) fn get(
        &mut self,
        commons: &'d Commons,
        name: &str,
        text: &str,
        is_guarded: bool,
    ) -> Option<Value> {
        let known = self.all.iter().find(|lent| lent.name == name);
        if let Some(known) = known.filter(|lent| lent.text == text) {
            return Some(known.value.clone());
        }
        let mut shared = stored(commons, name, text)?;
        let is_queue = matches!(*shared, Shared::List(ListKind::Linked, _));
        if is_queue && !is_guarded && self.turn.is_none() {
            self.turn = Some(locked(&commons.queues));
            // The previous holder may have changed it.
            shared = stored(commons, name, text)?;
        }
        let value = shared.value();
        self.lend(name, text, shared, &value);
        Some(value)
    }

    /// Whether the run holds the lock of the queues.
    pub(super) fn has_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// Stores an object, which the run has put there itself, for all threads; a text is not stored.
    pub(super) fn put(&mut self, commons: &Commons, name: &str, value: &Value) {
        self.all.retain(|lent| lent.name != name);
        let mut objects = locked(&commons.objects);
        if matches!(value, Value::Text(_) | Value::Composed(_)) {
            objects.remove(name);
            return;
        }
        let (text, shared) = (print::text(value), Arc::new(Shared::of(value)));
        objects.insert(name.to_owned(), (text.clone(), Arc::clone(&shared)));
        drop(objects);
        self.lend(name, &text, shared, value);
    }

    fn lend(&mut self, name: &str, text: &str, before: Arc<Shared>, value: &Value) {
        if matches!(value, Value::List(_) | Value::Map(_) | Value::Set(_)) {
            self.all.retain(|lent| lent.name != name);
            self.all.push(Lent {
                name: name.to_owned(),
                text: text.to_owned(),
                before,
                value: value.clone(),
            });
        }
    }

    /// The run has ended: publishes its changes to all threads.
    pub(super) fn settle(&mut self, commons: &Commons) {
        for lent in self.all.drain(..) {
            let after = Shared::of(&lent.value);
            if after == *lent.before {
                continue;
            }
            let mut objects = locked(&commons.objects);
            if let Some((text, now)) = objects.get_mut(&lent.name)
                && *text == lent.text
            {
                *now = Arc::new(now.merged(&lent.before, after));
            }
        }
        self.turn = None;
    }
}

fn stored(commons: &Commons, name: &str, text: &str) -> Option<Arc<Shared>> {
    let objects = locked(&commons.objects);
    let (known, object) = objects.get(name)?;
    (known == text).then(|| Arc::clone(object))
}

impl Shared {
    /// The value merged with a run's changes: it got `before` and left `after`. For a map and a set only the
    /// changes apply, for a list only the appended items, if nothing else changed.
    fn merged(&self, before: &Shared, after: Shared) -> Shared {
        if self == before {
            return after;
        }
        match (self, before, after) {
            (Shared::List(kind, now), Shared::List(_, before), Shared::List(_, after)) => {
                match after.strip_prefix(before.as_slice()) {
                    Some(added) => Shared::List(*kind, [now.as_slice(), added].concat()),
                    None => Shared::List(*kind, after),
                }
            }
            (Shared::Map(kind, now), Shared::Map(_, before), Shared::Map(_, after)) => {
                let is_changed = |entry: &&(Shared, Shared)| !before.contains(entry);
                let changed: Vec<_> = after.iter().filter(is_changed).cloned().collect();
                let is_gone = |key: &Shared| {
                    let has =
                        |entries: &[(Shared, Shared)]| entries.iter().any(|one| one.0 == *key);
                    has(before) && !has(&after)
                };
                let mut merged: Vec<_> =
                    now.iter().filter(|one| !is_gone(&one.0)).cloned().collect();
                for (key, value) in changed {
                    match merged.iter_mut().find(|one| one.0 == key) {
                        Some(known) => known.1 = value,
                        None => merged.push((key, value)),
                    }
                }
                Shared::Map(*kind, merged)
            }
            (Shared::Set(kind, now), Shared::Set(_, before), Shared::Set(_, after)) => {
                let is_gone = |one: &Shared| before.contains(one) && !after.contains(one);
                let mut merged: Vec<_> = now.iter().filter(|one| !is_gone(one)).cloned().collect();
                for one in &after {
                    if !merged.contains(one) {
                        merged.push(one.clone());
                    }
                }
                Shared::Set(*kind, merged)
            }
            (_, _, after) => after,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadline_groovy::map::MapKind;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<Shared> {
        let texts = texts.iter();
        texts.map(|text| Shared::Text((*text).to_owned())).collect()
    }

    #[test]
    fn what_two_runs_change_is_there() {
        let list = |items| Shared::List(ListKind::Growing, texts(items));
        let merged = list(&["a", "b"]).merged(&list(&["a"]), list(&["a", "c"]));
        assert_eq!(merged, list(&["a", "b", "c"]));
        let merged = list(&["a", "b"]).merged(&list(&["a"]), list(&[]));
        assert_eq!(merged, list(&[]), "the last counts");
        let map = |entries: &[(&str, &str)]| {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| {
                let [key, value] = [key, value].map(|text| Shared::Text((*text).to_owned()));
                (key, value)
            });
            Shared::Map(MapKind::Linked, entries.collect())
        };
        let now = map(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let before = map(&[("a", "1"), ("c", "3")]);
        let merged = now.merged(&before, map(&[("a", "9"), ("d", "4")]));
        assert_eq!(merged, map(&[("a", "9"), ("b", "2"), ("d", "4")]));
    }
}
