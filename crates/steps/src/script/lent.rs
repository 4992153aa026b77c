//! Objects stored as properties, lent to a run of a script: its changes are visible to all threads when it
//! ends or sleeps.
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

    /// Publishes the run's changes to all threads, and releases the lock of the queues; returns whether it was held.
    pub(super) fn publish(&mut self, commons: &Commons) -> bool {
        for lent in &mut self.all {
            let after = Shared::of(&lent.value);
            if after == *lent.before {
                continue;
            }
            let mut objects = locked(&commons.objects);
            if let Some((text, now)) = objects.get_mut(&lent.name)
                && *text == lent.text
            {
                *now = Arc::new(now.merged(&lent.before, after.clone()));
            }
            lent.before = Arc::new(after);
        }
        self.turn.take().is_some()
    }

    /// After others had their turn: the objects of the run become what they made of them.
    pub(super) fn renew(&mut self, commons: &'d Commons, had_turn: bool) {
        if had_turn {
            self.turn = Some(locked(&commons.queues));
        }
        for lent in &mut self.all {
            let Some(now) = stored(commons, &lent.name, &lent.text) else {
                continue;
            };
            if *now != *lent.before && take_over(&lent.value, &now) {
                lent.before = now;
            }
        }
    }

    /// The run has ended: publishes its changes to all threads.
    pub(super) fn settle(&mut self, commons: &Commons) {
        self.publish(commons);
        self.all.clear();
    }
}

/// Gives an object the content of another; `false`: it is in use, or of another type.
fn take_over(value: &Value, now: &Shared) -> bool {
    match (value, now.value()) {
        (Value::List(list), Value::List(now)) => match list.items.try_borrow_mut() {
            Ok(mut items) => *items = now.copied(),
            Err(_) => return false,
        },
        (Value::Map(map), Value::Map(now)) | (Value::Set(map), Value::Set(now)) => {
            match map.entries.try_borrow_mut() {
                Ok(mut entries) => *entries = now.entries.take(),
                Err(_) => return false,
            }
        }
        _ => return false,
    }
    true
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
    fn a_run_that_sleeps_shows_its_changes_and_sees_those_of_others() {
        let commons = Commons::default();
        let (mut one, mut other) = (LentObjects::default(), LentObjects::default());
        let mine = Value::list(vec![Value::text("a")]);
        one.put(&commons, "l", &mine);
        let text = print::text(&mine);
        let append = |to: &Value, what: &str| {
            if let Value::List(list) = to {
                list.items.borrow_mut().push(Value::text(what));
            }
        };
        append(&mine, "b");
        let had_turn = one.publish(&commons);
        let theirs = other.get(&commons, "l", &text, false).expect("it is there");
        assert_eq!(print::text(&theirs), "[a, b]");
        append(&theirs, "c");
        other.settle(&commons);
        one.renew(&commons, had_turn);
        assert_eq!(print::text(&mine), "[a, b, c]");
        append(&mine, "d");
        one.settle(&commons);
        let last = other.get(&commons, "l", &text, false).expect("it is there");
        assert_eq!(print::text(&last), "[a, b, c, d]");
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
