//! Idle connections, and the rules by which they are kept: one list for every front end.
//!
//! A list belongs to one virtual user. Each front end brings its rules, the key by which it finds a
//! connection again (a route's index, an origin) and, through [`Keepable`], its own facts about a connection. Each
//! thread of a JMeter plan has one list, by origin, with the rules of JMeter's client: `lifetime` 60 s, `look_after`
//! 4.9 s, no other limit. That JMeter's client retries nothing is decided by the sender, not here. Must not know
//! sockets, requests or a clock. Invariant: a connection that was taken is in no list, so that nobody else sends on
//! it; one that must not be reused is never handed out.

use std::rc::Rc;
use std::task::Context;
use std::time::Duration;

use loadline_model::Nanos;

/// Which connections are kept, and for how long.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepRules {
    /// Maximum connections per list; `None`: no limit. A new one replaces the one idle longest.
    pub(crate) total_max: Option<usize>,
    /// Maximum connections per key; `None`: no limit. Further ones are not kept.
    pub(crate) per_key_max: Option<usize>,
    /// Maximum requests per connection; `None`: no limit.
    pub(crate) requests_max: Option<u64>,
    /// Maximum time from connecting to the last use; `None`: no limit.
    pub(crate) lifetime: Option<Duration>,
    /// Idle time after which a connection is checked for its end before it is reused.
    pub(crate) look_after: Duration,
}

impl KeepRules {
    /// No connection is reused.
    pub(crate) fn none() -> KeepRules {
        KeepRules {
            total_max: Some(0),
            ..KeepRules::default()
        }
    }
}

/// What is needed to keep a connection.
pub(crate) trait Keepable {
    fn usage(&self) -> Usage;

    /// Whether the peer has closed, or sent something, while nothing was asked.
    fn is_stale(&mut self, cx: &mut Context<'_>) -> bool;
}

/// How a connection was used so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) made_at: Nanos,
    /// Requests sent on it.
    pub(crate) requests: u64,
    /// Whether its last exchange allows another.
    pub(crate) is_reusable: bool,
    /// Why it is not reused although the peer would allow it.
    pub(crate) given_up: Option<GivenUp>,
}

/// Why a connection that the peer keeps open is not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// Something came that belongs to no response.
    Surplus,
    /// The response came before the whole request was sent, and the rest was not accepted.
    HalfSent,
}

/// The idle connections of one virtual user.
pub(crate) struct IdleConnections<K, C> {
    rules: Rc<KeepRules>,
    /// In the order in which they were put back.
    entries: Vec<Entry<K, C>>,
}

struct Entry<K, C> {
    key: K,
    idle_since: Nanos,
    connection: C,
}

impl<K: PartialEq, C: Keepable> IdleConnections<K, C> {
    pub(crate) fn new(rules: Rc<KeepRules>) -> IdleConnections<K, C> {
        IdleConnections {
            rules,
            entries: Vec::new(),
        }
    }

    /// The most recently used connection with this key; those that must not be reused are closed.
    #[inline]
    pub(crate) fn take(&mut self, key: &K, now: Nanos, cx: &mut Context<'_>) -> Option<C> {
        while let Some(position) = self.entries.iter().rposition(|entry| entry.key == *key) {
            let Entry {
                idle_since,
                mut connection,
                ..
            } = self.entries.remove(position);
            let made_at = connection.usage().made_at;
            let is_too_old = self.rules.lifetime.is_some_and(|most| now > made_at + most);
            let is_looked_at = now > idle_since + self.rules.look_after;
            if !(is_too_old || is_looked_at && connection.is_stale(cx)) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection that becomes idle, or closes it, according to the rules.
    #[inline]
    pub(crate) fn put(&mut self, key: K, connection: C, now: Nanos) {
        let rules = &*self.rules;
        let usage = connection.usage();
        let is_used_up = rules
            .requests_max
            .is_some_and(|most| usage.requests >= most);
        if is_used_up || !usage.is_reusable || rules.total_max == Some(0) {
            return;
        }
        let has_enough =
            |most| self.entries.iter().filter(|entry| entry.key == key).count() >= most;
        if rules.per_key_max.is_some_and(has_enough) {
            return;
        }
        if rules
            .total_max
            .is_some_and(|most| self.entries.len() >= most)
        {
            self.entries.remove(0);
        }
        self.entries.push(Entry {
            key,
            idle_since: now,
            connection,
        });
    }

    /// Whether there is a connection with this key, which may have ended meanwhile.
    pub(crate) fn has(&self, key: &K) -> bool {
        self.entries.iter().any(|entry| entry.key == *key)
    }

    /// Closes all of them.
    pub(crate) fn close(&mut self) {
        self.entries.clear();
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// A connection that knows its number and how often it was looked at.
    #[derive(Debug)]
    struct Numbered {
        number: u32,
        usage: Usage,
        has_ended: bool,
        looks: u32,
    }

    impl Keepable for Numbered {
        fn usage(&self) -> Usage {
            self.usage
        }

        fn is_stale(&mut self, _: &mut Context<'_>) -> bool {
            self.looks += 1;
            self.has_ended
        }
    }

    fn numbered(number: u32) -> Numbered {
        Numbered {
            number,
            usage: Usage {
                made_at: Nanos::ZERO,
                requests: 1,
                is_reusable: true,
                given_up: None,
            },
            has_ended: false,
            looks: 0,
        }
    }

    fn list(rules: KeepRules) -> IdleConnections<&'static str, Numbered> {
        IdleConnections::new(Rc::new(rules))
    }

    fn take(
        list: &mut IdleConnections<&'static str, Numbered>,
        key: &'static str,
        now: Nanos,
    ) -> Option<Numbered> {
        list.take(&key, now, &mut Context::from_waker(Waker::noop()))
    }

    fn seconds(seconds: u64) -> Nanos {
        Nanos::from(Duration::from_secs(seconds))
    }

    #[test]
    fn the_one_used_last_is_used_first_by_whoever_has_its_key() {
        let mut list = list(KeepRules::default());
        for (key, number) in [("a", 1), ("a", 2), ("b", 3)] {
            list.put(key, numbered(number), Nanos::ZERO);
        }
        assert!(list.has(&"a") && !list.has(&"c"));
        let mut taken = || take(&mut list, "a", Nanos::ZERO).map(|taken| taken.number);
        assert_eq!([taken(), taken(), taken()], [Some(2), Some(1), None]);
        list.close();
        assert_eq!(list.len(), 0);
    }

    #[test]
    fn limits_hold_for_all_and_for_each_key() {
        let mut list = list(KeepRules {
            total_max: Some(3),
            per_key_max: Some(2),
            requests_max: Some(9),
            ..KeepRules::default()
        });
        for (key, number) in [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5)] {
            list.put(key, numbered(number), Nanos::ZERO);
        }
        let mut used_up = numbered(6);
        used_up.usage.requests = 9;
        let mut broken = numbered(7);
        broken.usage.is_reusable = false;
        list.put("d", used_up, Nanos::ZERO);
        list.put("d", broken, Nanos::ZERO);
        let kept: Vec<u32> = list
            .entries
            .iter()
            .map(|entry| entry.connection.number)
            .collect();
        assert_eq!(kept, [2, 4, 5]);
        let mut none = self::list(KeepRules::none());
        none.put("a", numbered(1), Nanos::ZERO);
        assert_eq!(none.len(), 0);
    }

    #[test]
    fn ended_and_old_ones_are_let_go_of() {
        let mut list = list(KeepRules {
            lifetime: Some(Duration::from_secs(60)),
            look_after: Duration::from_millis(4_900),
            ..KeepRules::default()
        });
        let ended = Numbered {
            has_ended: true,
            ..numbered(2)
        };
        list.put("a", numbered(1), seconds(0));
        list.put("a", ended, seconds(0));
        let taken = take(&mut list, "a", seconds(5)).expect("the first has not ended");
        assert_eq!((taken.number, taken.looks, list.len()), (1, 1, 0));
        list.put("a", taken, seconds(56));
        let taken = take(&mut list, "a", seconds(60)).expect("it is not too old");
        assert_eq!(taken.looks, 1, "nobody looks so soon");
        list.put("a", taken, seconds(60));
        assert!(take(&mut list, "a", seconds(61)).is_none());
    }
}
