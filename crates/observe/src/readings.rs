//! The result of one read of an observer, in the model's types.
//!
//! Must not know where it goes. Invariant: a value that is not finite is never passed on.

use std::sync::Arc;

use loadline_model::observation::{Observed, Reading, Remark, SeriesName};

/// The kind of a note that some quantity of a component can never be read here, and why.
pub const MISSING_NOTE: &str = "missing";
/// The kind of a note about how many readings had no room in the channel to the run.
pub const OVERFLOW_NOTE: &str = "overflow";

/// Why nothing could be read this time, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap(pub(crate) String);

impl Gap {
    pub(crate) fn new(text: impl Into<String>) -> Gap {
        Gap(text.into())
    }
}

/// The readings and notes of one read.
#[derive(Debug)]
pub(crate) struct Readings {
    observer: Arc<str>,
    at_unix_ns: u64,
    items: Vec<Observed>,
}

impl Readings {
    /// An empty result of an observer's read at a time.
    pub(crate) fn new(observer: &Arc<str>, at_unix_ns: u64) -> Readings {
        Readings {
            observer: Arc::clone(observer),
            at_unix_ns,
            items: Vec::new(),
        }
    }

    /// Sets the time for what is put from now on: a read may take a while, and a rate covers the time from one
    /// reading to the next.
    pub(crate) fn read_at(&mut self, at_unix_ns: u64) {
        self.at_unix_ns = at_unix_ns;
    }

    /// The observer's name, which is also that of its component if it has only one.
    pub(crate) fn observer(&self) -> Arc<str> {
        Arc::clone(&self.observer)
    }

    /// A value of the observer's only component.
    pub(crate) fn own(&mut self, metric: &str, value: f64) {
        let component = self.observer();
        self.put(&component, metric, value);
    }

    /// An optional value of the observer's only component.
    pub(crate) fn own_if(&mut self, metric: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.own(metric, value);
        }
    }

    /// A value at the time of the read, or of [`Readings::read_at`].
    pub(crate) fn put(&mut self, component: &str, metric: &str, value: f64) {
        self.put_at(self.at_unix_ns, component, metric, value);
    }

    /// A value at another time.
    pub(crate) fn put_at(&mut self, at_unix_ns: u64, component: &str, metric: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let series = SeriesName {
            observer: self.observer(),
            component: Arc::from(component),
            metric: Arc::from(metric),
        };
        self.items.push(Observed::Reading(Reading {
            series,
            at_unix_ns,
            value,
        }));
    }

    /// A note at the time of the read.
    pub(crate) fn remark(&mut self, component: &str, kind: &str, text: impl Into<String>) {
        self.items.push(Observed::Remark(Remark {
            observer: self.observer(),
            component: Arc::from(component),
            at_unix_ns: self.at_unix_ns,
            kind: kind.to_owned(),
            text: text.into(),
        }));
    }

    /// Reports that something cannot be read here; the lane reports each text once.
    pub(crate) fn missing(&mut self, component: &str, text: impl Into<String>) {
        self.remark(component, MISSING_NOTE, text);
    }

    /// Everything, in the order in which it was put.
    pub(crate) fn into_items(self) -> Vec<Observed> {
        self.items
    }

    #[cfg(test)]
    pub(crate) fn value(&self, component: &str, metric: &str) -> Option<f64> {
        self.items.iter().rev().find_map(|item| match item {
            Observed::Reading(reading)
                if &*reading.series.component == component && &*reading.series.metric == metric =>
            {
                Some(reading.value)
            }
            _ => None,
        })
    }

    #[cfg(test)]
    pub(crate) fn remarks(&self, kind: &str) -> Vec<&str> {
        let remarks = self.items.iter().filter_map(|item| match item {
            Observed::Remark(remark) if remark.kind == kind => Some(remark.text.as_str()),
            _ => None,
        });
        remarks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_not_handed_on() {
        let mut readings = Readings::new(&Arc::from("o"), 7);
        readings.own("a", f64::NAN);
        readings.own("b", f64::INFINITY);
        readings.own("c", 1.5);
        assert_eq!(readings.value("o", "c"), Some(1.5));
        assert_eq!(readings.into_items().len(), 1);
    }
}
