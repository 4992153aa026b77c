//! The channel for readings to the run: bounded, and never silent about what had no room.
//!
//! Must not know who reads. Invariant: whatever was put in is sent, or counted in a note that is sent.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};

use loadline_model::observation::{Observed, Remark};

use crate::readings::OVERFLOW_NOTE;

/// One observer's channel to the run.
pub(super) struct Outbox {
    observer: Arc<str>,
    sender: SyncSender<Observed>,
    /// Items dropped since the last report.
    left_out: u64,
    /// What must arrive but had no room yet.
    urgent: Option<Observed>,
}

impl Outbox {
    pub(super) fn new(observer: &Arc<str>, sender: SyncSender<Observed>) -> Outbox {
        Outbox {
            observer: Arc::clone(observer),
            sender,
            left_out: 0,
            urgent: None,
        }
    }

    /// Sends an item, or counts it.
    pub(super) fn send(&mut self, item: Observed, now_unix_ns: u64) {
        self.flush(now_unix_ns);
        if self.left_out > 0 || self.push(item).is_some() {
            self.left_out += 1;
        }
    }

    /// Sends an item, now or as soon as there is room. One such item waits at a time: a further one is counted.
    pub(super) fn insist(&mut self, item: Observed, now_unix_ns: u64) {
        self.flush(now_unix_ns);
        match self.urgent {
            Some(_) => self.left_out += 1,
            None => self.urgent = self.push(item),
        }
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self, now_unix_ns: u64) {
        if let Some(item) = self.urgent.take() {
            self.urgent = self.push(item);
        }
        if self.left_out > 0 && self.push(self.overflow(now_unix_ns)).is_none() {
            self.left_out = 0;
        }
    }

    /// What is still waiting when nothing more is sent.
    pub(super) fn leftover(&mut self, now_unix_ns: u64) -> Vec<Observed> {
        let mut items: Vec<Observed> = self.urgent.take().into_iter().collect();
        if self.left_out > 0 {
            items.push(self.overflow(now_unix_ns));
            self.left_out = 0;
        }
        items
    }

    /// Returns the item if there is no room for it. A run that no longer listens needs nothing.
    fn push(&self, item: Observed) -> Option<Observed> {
        match self.sender.try_send(item) {
            Err(TrySendError::Full(item)) => Some(item),
            Ok(()) | Err(TrySendError::Disconnected(_)) => None,
        }
    }

    fn overflow(&self, at_unix_ns: u64) -> Observed {
        Observed::Remark(Remark {
            observer: Arc::clone(&self.observer),
            component: Arc::clone(&self.observer),
            at_unix_ns,
            kind: OVERFLOW_NOTE.to_owned(),
            text: format!(
                "{} readings or notes had no room and are missing; observe less or less often",
                self.left_out
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use proptest::prelude::*;

    use super::*;

    fn lost(n: usize) -> Observed {
        Observed::Lost {
            observer: Arc::from("o"),
            text: n.to_string(),
        }
    }

    proptest! {
        #[test]
        fn what_was_put_in_arrives_or_is_counted(room in 1..5_usize, steps in prop::collection::vec(0..3_u8, 0..60)) {
            let (sender, receiver) = sync_channel(room);
            let mut outbox = Outbox::new(&Arc::from("o"), sender);
            let (mut sent, mut arrived, mut counted) = (0, 0, 0);
            let mut take = |item: Observed| match item {
                Observed::Remark(remark) => {
                    let number = remark.text.split(' ').next().map(str::parse::<usize>);
                    counted += number.expect("there is a word").expect("it is a number");
                }
                _ => arrived += 1,
            };
            for step in steps {
                match step {
                    0 => receiver.try_iter().for_each(&mut take),
                    1 => outbox.send(lost(sent), 0),
                    _ => outbox.insist(lost(sent), 0),
                }
                sent += usize::from(step > 0);
            }
            receiver.try_iter().for_each(&mut take);
            outbox.leftover(0).into_iter().for_each(&mut take);
            prop_assert_eq!(arrived + counted, sent);
        }
    }

    #[test]
    fn what_is_urgent_waits_for_room() {
        let (sender, receiver) = sync_channel(1);
        let mut outbox = Outbox::new(&Arc::from("o"), sender);
        outbox.send(lost(1), 0);
        outbox.insist(lost(2), 0);
        assert_eq!(receiver.try_recv(), Ok(lost(1)));
        outbox.flush(0);
        assert_eq!(receiver.try_recv(), Ok(lost(2)));
    }
}
