//! Small keyed tables with a limit: what does not fit is counted in one overflow row.
//!
//! Must not know what is counted. Invariant: never more than `limit` keys, whatever the input.

use serde::{Deserialize, Serialize};

/// A table of at most `limit` keyed rows, in order of first appearance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounded<K, V> {
    limit: usize,
    rows: Vec<(K, V)>,
    overflow: Option<V>,
}

impl<K: PartialEq, V: Default> Bounded<K, V> {
    /// An empty table of at most `limit` rows.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Bounded {
            limit,
            rows: Vec::new(),
            overflow: None,
        }
    }

    /// The row of `key`, created if new; the overflow row if the table is full.
    pub fn row(&mut self, key: K) -> &mut V {
        let position = self.position(key);
        self.row_at(position)
    }

    /// The position of `key`'s row, created if new; `None` stands for the overflow row.
    pub fn position(&mut self, key: K) -> Option<usize> {
        match self.rows.iter().position(|(known, _)| *known == key) {
            Some(position) => Some(position),
            None => self.push(key),
        }
    }

    /// The position of the row whose key matches `is_it`; otherwise that of a new row with the key from `make`.
    /// For keys that are costly to build.
    #[inline]
    pub fn position_by(
        &mut self,
        is_it: impl Fn(&K) -> bool,
        make: impl FnOnce() -> K,
    ) -> Option<usize> {
        match self.rows.iter().position(|(known, _)| is_it(known)) {
            Some(position) => Some(position),
            None if self.rows.len() >= self.limit => None,
            None => self.push(make()),
        }
    }

    fn push(&mut self, key: K) -> Option<usize> {
        if self.rows.len() >= self.limit {
            return None;
        }
        self.rows.push((key, V::default()));
        Some(self.rows.len() - 1)
    }

    /// The row at a position returned by [`Bounded::position`].
    pub fn row_at(&mut self, position: Option<usize>) -> &mut V {
        match position {
            Some(position) => &mut self.rows[position].1,
            None => self.overflow.get_or_insert_default(),
        }
    }

    /// The rows with a key, in order of first appearance.
    pub fn rows(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    /// The overflow row; `None` if everything fit.
    #[must_use]
    pub fn overflow(&self) -> Option<&V> {
        self.overflow.as_ref()
    }

    /// The number of rows with a key.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.overflow.is_none()
    }

    /// Merges another table row by row.
    pub fn merge(&mut self, other: Self, add: impl Fn(&mut V, V)) {
        for (key, value) in other.rows {
            add(self.row(key), value);
        }
        if let Some(value) = other.overflow {
            add(self.row_at(None), value);
        }
    }

    /// Takes what was counted since the last call, without empty rows. The keys stay, so positions remain
    /// valid.
    #[must_use]
    pub fn take(&mut self) -> Self
    where
        K: Clone,
        V: PartialEq,
    {
        let nothing = V::default();
        let rows = self
            .rows
            .iter_mut()
            .filter(|(_, value)| *value != nothing)
            .map(|(key, value)| (key.clone(), std::mem::take(value)))
            .collect();
        Bounded {
            limit: self.limit,
            rows,
            overflow: self.overflow.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_under_overflow() {
        let mut table: Bounded<u32, u64> = Bounded::new(2);
        for key in [1, 2, 3, 4, 1] {
            *table.row(key) += 1;
        }
        assert_eq!(table.rows().collect::<Vec<_>>(), [(&1, &2), (&2, &1)]);
        assert_eq!(table.overflow(), Some(&2));
        let mut taken = table.clone();
        assert_eq!(taken.take(), table);
        *taken.row(2) += 7;
        assert_eq!(taken.take().rows().collect::<Vec<_>>(), [(&2, &7)]);
        let mut sum: Bounded<u32, u64> = Bounded::new(2);
        *sum.row(9) += 5;
        sum.merge(table, |to, from| *to += from);
        assert_eq!(sum.rows().collect::<Vec<_>>(), [(&9, &5), (&1, &2)]);
        assert_eq!(sum.overflow(), Some(&3));
    }
}
