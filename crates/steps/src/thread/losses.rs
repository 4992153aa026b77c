//! What exceptions and interruptions cost: samples, transactions, or the thread.
//!
//! Must not know who threw. Invariant: a loss is logged in JMeter's words.

use super::{Ask, End, Thread, Walker};
use crate::host::LogLevel;
use crate::program::{NodeId, SamplerAction};
use crate::sample::Sample;
use crate::thrown::Thrown;

impl Thread {
    /// Whether a function threw an exception that nothing has handled.
    pub(super) fn has_thrown(&self) -> bool {
        self.strand.memory.exception.is_some()
    }

    /// A function outside samplers threw an exception: as in JMeter, the thread ends, and its open transactions
    /// are lost.
    pub(super) fn fail(&mut self, walker: &Walker<'_>) -> Ask {
        if let Some(thrown) = self.strand.memory.exception.take() {
            self.log_thrown(walker, "Test failed!", &thrown);
        }
        self.lose_transactions();
        Ask::Over(End::Thread)
    }

    fn log_thrown(&self, walker: &Walker<'_>, what: &str, thrown: &Thrown) {
        let message = format!("{what}\n{}: {}", thrown.class, thrown.message);
        let world = walker.host.world();
        world.log(LogLevel::Error, "o.a.j.t.JMeterThread", &message);
    }

    /// Whether an uncaught Java error was thrown, with which the thread ends.
    pub(super) fn is_dying(&self) -> bool {
        self.strand.memory.uncaught.is_some()
    }

    /// Ends the thread with an uncaught Java error: as in JMeter, the current sample and open transactions are
    /// lost.
    pub(super) fn die(&mut self, walker: &Walker<'_>, error: &str) -> Ask {
        let message = format!(
            "Uncaught exception in thread Thread[{},5,main]\n{error}",
            self.strand.identity.name
        );
        walker
            .host
            .world()
            .log(LogLevel::Error, "o.a.j.JMeter", &message);
        self.transactions.fill_with(|| None);
        Ask::Over(End::Thread)
    }

    /// A function in a sampler, or in what applies to it, threw an exception: as in JMeter, the sample is lost. If
    /// the sampler's name throws too, the thread ends.
    pub(super) fn lose(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        thrown: &Thrown,
    ) -> Option<Ask> {
        let name = self.text(walker, &walker.node(node).name).into_owned();
        if self.has_thrown() {
            self.strand.memory.exception = Some(thrown.clone());
            return Some(self.fail(walker));
        }
        self.log_lost(walker, &name, thrown);
        self.finish(walker, node, None)
    }

    /// Logs why a sample is lost.
    pub(super) fn log_lost(&self, walker: &Walker<'_>, sampler: &str, thrown: &Thrown) {
        let what = format!("Error while processing sampler: '{sampler}'.");
        self.log_thrown(walker, &what, thrown);
    }

    /// The test is stopped at once while a sampler takes its time: as in JMeter, its sample is reported if it can
    /// be interrupted.
    pub(super) fn interrupt(&mut self, walker: &Walker<'_>, node: NodeId, mut sample: Box<Sample>) {
        match &walker.sampler(node).action {
            SamplerAction::Java(test) => {
                sample.success = false;
                if test.only_sleeps {
                    sample.code.clear();
                    "java.lang.InterruptedException: sleep interrupted"
                        .clone_into(&mut sample.message);
                }
            }
            SamplerAction::Dummy(_) => {}
            _ => return,
        }
        let spent_ms = walker.host.unix_ms().saturating_sub(sample.start_ms);
        sample.elapsed_ms = spent_ms.max(0).unsigned_abs();
        // The thread ends, whatever its next step would be.
        let _ = self.finish(walker, node, Some(sample));
    }
}
