//! The listeners of a completed sample, and the savers of responses among them.
//!
//! Must not know how samples are made, nor what happens to reported ones. Invariant: a listener that receives a
//! transaction does not receive its sub-samples.

use std::sync::Arc;

use loadline_java::date_format::{Moment, Pattern};
use loadline_java::numbers::long_or_zero;

use super::{Thread, Walker};
use crate::host::{LogLevel, WriteMode};
use crate::listener::{AnswerSaver, Heard, Listener, ListenerId, Standing, place_of};
use crate::program::NodeId;
use crate::sample::Sample;

/// The format of the timestamp in names, to the minute.
const TIMESTAMP: &str = "yyyyMMdd-HHmm_";
/// Maximum digits of a number.
const DIGITS_MAX: usize = 100;

/// The listeners of a sample.
pub(super) struct Hearers {
    pub(super) listeners: Arc<[ListenerId]>,
    /// The parent transaction of the sample; `None`: it is separate.
    pub(super) below: Option<NodeId>,
    /// Whether it is a sub-sample of a sampler with branches, and so not reported itself.
    pub(super) is_silent: bool,
}

impl Thread {
    /// The listeners of a sampler's sample.
    pub(super) fn hearers(&self, walker: &Walker<'_>, node: NodeId) -> Hearers {
        if walker.is_told_below(node) {
            return Hearers {
                listeners: Arc::default(),
                below: self.telling_transaction(walker, node),
                is_silent: true,
            };
        }
        let own = &walker.sampler(node).applies.listeners;
        let below = self.telling_transaction(walker, node);
        let told = match below {
            Some(transaction) => &*walker.controller(transaction).applies.listeners,
            None => &[],
        };
        let listeners = match told.is_empty() {
            true => Arc::clone(own),
            false => own
                .iter()
                .copied()
                .filter(|id| !told.contains(id))
                .collect(),
        };
        Hearers {
            listeners,
            below,
            is_silent: false,
        }
    }

    /// The nearest enclosing parent transaction of a node.
    pub(super) fn telling_transaction(&self, walker: &Walker<'_>, node: NodeId) -> Option<NodeId> {
        let mut at = node;
        loop {
            let parent = walker.node(at).parent;
            if parent == at || walker.is_sampler(parent) {
                return None;
            }
            at = parent;
            if self.is_telling(walker, at) && self.transactions[at].is_some() {
                return Some(at);
            }
        }
    }

    /// Reports a sample, and also adds it to its parent transaction.
    pub(super) fn hand_over(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        sample: Arc<Sample>,
        hearers: Hearers,
    ) {
        self.hand_over_as(walker, node, sample, hearers, Standing::Result);
    }

    /// Like [`Self::hand_over`], with the role of a separate sample in the results.
    pub(super) fn hand_over_as(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        sample: Arc<Sample>,
        hearers: Hearers,
        standing: Standing,
    ) {
        let Hearers {
            listeners, below, ..
        } = hearers;
        if below.is_some() && !listeners.is_empty() {
            self.done.push(Heard {
                sample: Arc::clone(&sample),
                listeners: Arc::clone(&listeners),
                standing: Standing::Part,
            });
        }
        let is_told = self.tell_below_branches(&sample);
        if let Some(sample) = self.count_in_transactions(walker, node, sample, below)
            && !is_told
        {
            self.done.push(Heard {
                sample,
                listeners,
                standing,
            });
        }
    }

    /// Lets savers among the listeners save the responses of a sample and its sub-samples.
    pub(super) fn save_answers(
        &mut self,
        walker: &Walker<'_>,
        sample: &mut Sample,
        listeners: &[ListenerId],
    ) {
        for id in listeners {
            if let Listener::Saver(saver) = &walker.listeners[*id] {
                let mut place = 0;
                self.save_below(walker, saver, sample, &mut place);
            }
        }
    }

    /// `place` counts the samples, starting at the top one.
    fn save_below(
        &mut self,
        walker: &Walker<'_>,
        saver: &AnswerSaver,
        sample: &mut Sample,
        place: &mut u32,
    ) {
        let number = *place;
        *place += 1;
        let is_unwanted = match sample.success {
            true => saver.failed_only,
            false => saver.good_only,
        };
        let is_left_out = is_unwanted || saver.skips_transactions && sample.is_transaction;
        if !is_left_out {
            self.save(walker, saver, sample, number);
        }
        for below in &mut sample.children {
            self.save_below(walker, saver, below, place);
        }
    }

    fn save(&mut self, walker: &Walker<'_>, saver: &AnswerSaver, sample: &mut Sample, number: u32) {
        let name = self.name_of_answer(walker, saver, &sample.content_type);
        let variable = self.text(walker, &saver.variable).into_owned();
        if !variable.is_empty() {
            let variable = match number {
                0 => variable,
                number => format!("{variable}{number}"),
            };
            self.variables.put(&variable, name.clone());
        }
        let world = walker.host.world();
        if let Some((folder, _)) = name.rsplit_once('/') {
            world.make_folder(folder);
        }
        if let Err(why) = world.write_file(&name, &sample.data, WriteMode::Replace) {
            let message = format!("Error creating sample file for {}: {why}", sample.label);
            world.log(LogLevel::Error, "o.a.j.r.ResultSaver", &message);
        }
        sample.result_file = name;
    }

    fn name_of_answer(
        &mut self,
        walker: &Walker<'_>,
        saver: &AnswerSaver,
        content_type: &str,
    ) -> String {
        let prefix = self.text(walker, &saver.prefix).into_owned();
        let mut name = place_of(&prefix, self.scope_of(walker, "").host.world());
        if saver.has_timestamp {
            name.push_str(&self.start_in_words(walker));
        }
        if saver.is_numbered {
            let digits = long_or_zero(self.text(walker, &saver.digits).trim());
            let digits = usize::try_from(digits).unwrap_or(0).min(DIGITS_MAX);
            let number = self.commons.count(saver.id, |last| last.unwrap_or(0) + 1);
            name.push_str(&format!("{number:0digits$}"));
        }
        if saver.has_suffix {
            name.push('.');
            name.push_str(suffix_of(content_type));
        }
        name
    }

    /// The start time of the test, as written in names.
    fn start_in_words(&self, walker: &Walker<'_>) -> String {
        let start = self.variables.get("TESTSTART.MS").map(long_or_zero);
        let unix_ms = start.unwrap_or_else(|| walker.host.unix_ms());
        let offset_s = walker.host.world().utc_offset_s(unix_ms);
        let pattern = Pattern::new(TIMESTAMP).expect("the pattern is sound");
        pattern.format(Moment {
            unix_ms,
            offset_s,
            zone: None,
        })
    }
}

/// The suffix of a name: the second half of a content type.
fn suffix_of(content_type: &str) -> &str {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.split_once('/').map_or("unknown", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_what_the_content_type_says() {
        for (content_type, suffix) in [
            ("application/json; charset=utf-8", "json"),
            ("image/svg+xml", "svg+xml"),
            ("text", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(suffix_of(content_type), suffix, "{content_type}");
        }
    }
}
