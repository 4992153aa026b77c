//! Processing after a sampler: extractors, assertions and scripts in order.
//!
//! Must not know how samples are made. Invariant: a sample does not change after its conclusion.

use std::sync::Arc;

use super::hearing::Hearers;
use super::{LAST_SAMPLE_OK, Thread, Walker};
use crate::program::{Applicable, PostProcessor};
use crate::sample::Sample;
use crate::script::ScriptElement;
use crate::thrown::Thrown;

impl Thread {
    /// Runs post-processors, assertions, scripts, and savers of responses. `None`: the sample was lost because
    /// an extractor could not run, a function in it threw, or by an uncaught error, as in JMeter.
    pub(super) fn conclude(
        &mut self,
        walker: &Walker<'_>,
        applies: &Applicable,
        mut sample: Sample,
        hearers: &Hearers,
    ) -> Option<Arc<Sample>> {
        self.sign(walker, &mut sample);
        let sampler = sample.label.clone();
        if sample.is_ignored {
            self.note_success(sample.success);
            return Some(Arc::new(sample));
        }
        for after in &applies.after {
            match after {
                PostProcessor::Extract(extractor) => {
                    match extractor.run(&sample, &mut self.scope_of(walker, &sampler)) {
                        Ok(None) => {}
                        Ok(Some(fault)) => fault.note(&mut sample),
                        Err(lost) => return self.lost(walker, sample, &Thrown::from(lost.0)),
                    }
                    if let Some(thrown) = self.strand.memory.exception.take() {
                        return self.lost(walker, sample, &thrown);
                    }
                }
                PostProcessor::Debug(told) => {
                    let below = self.told(walker, String::new(), *told);
                    self.put_below(walker, &mut sample, below);
                }
                PostProcessor::Dummy(dummy) => {
                    let below = self.dummy_sample(walker, String::new(), dummy);
                    self.put_below(walker, &mut sample, below);
                }
                PostProcessor::Script(script) => {
                    self.run_behind(walker, script, &mut sample);
                    if self.is_dying() {
                        return None;
                    }
                }
                PostProcessor::OnFailure(_) => {}
            }
        }
        for assertion in &applies.assertions {
            self.lend_http(walker, &sampler, |scope, http| {
                assertion.check(&mut sample, scope, http);
            });
        }
        self.note_success(sample.success);
        if !sample.is_ignored {
            // Listeners of the parent transaction do not receive the sample.
            let above = hearers.below.map(|node| &walker.controller(node).applies);
            let told = above.map_or(&[][..], |applies| &applies.script_listeners);
            let is_told =
                |one: &&Arc<ScriptElement>| !told.iter().any(|other| Arc::ptr_eq(one, other));
            let listeners = applies.script_listeners.iter().filter(is_told);
            for listener in listeners.filter(|_| !hearers.is_silent) {
                self.run_behind(walker, listener, &mut sample);
            }
            if self.is_dying() {
                return None;
            }
        }
        self.note_variables(&mut sample);
        self.save_answers(walker, &mut sample, &hearers.listeners);
        let sample = Arc::new(sample);
        self.strand.previous = Some(Arc::clone(&sample));
        Some(sample)
    }

    /// A sample is lost by an extractor that could not run.
    fn lost(
        &mut self,
        walker: &Walker<'_>,
        sample: Sample,
        thrown: &Thrown,
    ) -> Option<Arc<Sample>> {
        self.log_lost(walker, &sample.label, thrown);
        self.strand.previous = Some(Arc::new(sample));
        None
    }

    fn put_below(&self, walker: &Walker<'_>, sample: &mut Sample, mut below: Sample) {
        self.sign(walker, &mut below);
        sample.add_below(below);
    }

    /// Runs a script after a sample, which it may change.
    fn run_behind(&mut self, walker: &Walker<'_>, script: &ScriptElement, sample: &mut Sample) {
        let name = sample.label.clone();
        let lent = Some(Arc::new(std::mem::take(sample)));
        let (_, context) = self.lend_http(walker, &name, |scope, http| {
            script.run_quietly(scope, http, lent)
        });
        if let Some(changed) = context.previous {
            *sample = Arc::unwrap_or_clone(changed);
        }
    }

    /// Passes the sample of a transaction to listener scripts: the last sample stays that of the last sampler.
    pub(super) fn tell_scripts(
        &mut self,
        walker: &Walker<'_>,
        listeners: &[Arc<ScriptElement>],
        sample: &mut Sample,
    ) {
        for script in listeners {
            let name = sample.label.clone();
            let told = Some(Box::new(std::mem::take(sample)));
            let previous = self.strand.previous.clone();
            let (_, context) = self.lend_http(walker, &name, |scope, http| {
                script.run_about(scope, http, previous, told)
            });
            if let Some(told) = context.own {
                *sample = *told;
            }
        }
    }

    pub(super) fn note_success(&mut self, success: bool) {
        let was_good = if success { "true" } else { "false" };
        self.variables.put(LAST_SAMPLE_OK, was_good);
    }

    /// Records in a sample and its direct sub-samples which thread made them; deeper ones stay unchanged, as in
    /// JMeter.
    pub(super) fn sign(&self, walker: &Walker<'_>, sample: &mut Sample) {
        let (of_group, all) = walker.host.threads_at_work(self.group);
        let sign = |sample: &mut Sample| {
            sample.thread_name.clone_from(&self.strand.identity.name);
            sample.group_threads = self.branches_at_work().unwrap_or(of_group);
            sample.all_threads = all;
        };
        sign(sample);
        sample.children.iter_mut().for_each(sign);
    }

    /// Stores the configured variables in a sample.
    pub(super) fn note_variables(&self, sample: &mut Sample) {
        let names = self.program.sample_variables.iter();
        let values = names.map(|name| self.variables.get(name).map(str::to_owned));
        sample.variables = values.collect();
    }
}
