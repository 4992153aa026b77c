//! Actions that scripts request from their thread, or from the test, after the current sampler.
//!
//! Must not know how a thread performs them. Invariant: the last of several requests wins.

use loadline_groovy::bound::Bound;
use loadline_groovy::print;
use loadline_groovy::value::Value;
use loadline_java::numbers::int_or_zero;

use super::groovy::Desk;
use super::value::ScriptObject;
use crate::action::Action;
use crate::text::Text;

/// The name of the test's engine.
pub(super) const ENGINE: &str = "engine";

impl Desk<'_> {
    /// Actions that scripts request from their thread.
    pub(super) fn of_thread(
        &mut self,
        object: ScriptObject,
        method: &str,
        given: &[Value],
    ) -> Option<Value> {
        let ordered = match (method, given) {
            ("getEngine", []) => {
                return Some(Value::object(Bound {
                    name: ENGINE,
                    number: 0,
                    class: "org.apache.jmeter.engine.StandardJMeterEngine",
                    told: None,
                }));
            }
            ("stop", []) if object == ScriptObject::Thread => Some(Action::StopThread),
            ("setRestartNextLoop" | "setStartNextThreadLoop", [Value::Truth(wanted)]) => {
                wanted.then_some(Action::NextThreadIteration)
            }
            ("setTestLogicalAction", [word]) => Action::of_word(&print::text(word)),
            _ => return None,
        };
        self.context.ordered = ordered;
        Some(Value::Null)
    }

    /// `ctx.threadGroup`: the number is parsed like JMeter's numbers in plans, with 0 for invalid ones.
    pub(super) fn of_group(&mut self, method: &str, given: &[Value]) -> Option<Value> {
        match (method, given) {
            ("getNumThreads", []) => {
                let threads = Text::parse(self.thread.group_threads.as_ref()?).ok()?;
                Some(Value::Int(int_or_zero(
                    &threads.evaluate(&mut self.scope()),
                )))
            }
            _ => None,
        }
    }

    /// Actions that scripts request from the test.
    pub(super) fn of_engine(&mut self, method: &str, given: &[Value]) -> Option<Value> {
        let is_now = match (method, given) {
            ("askThreadsToStop", []) | ("stopTest", [Value::Truth(false)]) => false,
            ("stopTest", [] | [Value::Truth(true)]) => true,
            _ => return None,
        };
        self.context.ordered = Some(match is_now {
            true => Action::StopTestNow,
            false => Action::StopTest,
        });
        Some(Value::Null)
    }
}
