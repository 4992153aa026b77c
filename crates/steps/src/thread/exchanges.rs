//! HTTP samplers of a thread: what they ask for, and what comes of it.
//!
//! Must not know what is sent. Invariant: an answer goes to the run that asked for it.

use super::{Ask, Doing, Thread, Walker};
use crate::http::{
    HttpAnswer, HttpClient, HttpMemory, HttpRun, HttpSamplerPlan, HttpStep, Running, UrlRewriting,
};
use crate::program::{NodeId, SamplerAction};
use crate::scope::Scope;

/// The variable that JMeter's client keeps whose connections they are in, once one was answered.
const USER_TOKEN: &str = "__jmeter.U_T__";

impl Thread {
    /// Runs an HTTP sampler.
    pub(super) fn begin_http(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        plan: &HttpSamplerPlan,
    ) -> Option<Ask> {
        self.run_http(walker, node, plan, HttpRun::begin)
    }

    /// Lets a modifier change the request that is next; samplers of other kinds stay as they are.
    pub(super) fn rewrite(&mut self, walker: &Walker<'_>, node: NodeId, modifier: &UrlRewriting) {
        if matches!(walker.sampler(node).action, SamplerAction::Http(_)) {
            let mut memory = std::mem::take(&mut self.http);
            memory.rewrite(modifier, &mut self.scope(walker, node));
            self.http = memory;
        }
    }

    /// An exchange of an HTTP sampler came to an end: the one of this number, where several are under way.
    pub(super) fn answered(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        run: Box<HttpRun>,
        number: usize,
        answer: &HttpAnswer,
    ) -> Option<Ask> {
        let SamplerAction::Http(plan) = &walker.sampler(node).action else {
            unreachable!("only an HTTP sampler has an exchange");
        };
        let keeps_user = plan.request.client == HttpClient::Apache;
        if keeps_user && answer.reply.is_ok() && self.variables.get(USER_TOKEN).is_none() {
            self.variables.put(USER_TOKEN, self.identity.name.clone());
        }
        self.run_http(walker, node, plan, |running, memory, scope| {
            run.answered(running, number, answer, memory, scope)
        })
    }

    fn run_http(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        plan: &HttpSamplerPlan,
        go_on: impl FnOnce(Running<'_>, &mut HttpMemory, &mut Scope<'_>) -> HttpStep,
    ) -> Option<Ask> {
        let running = Running {
            plan,
            name: &walker.node(node).name,
        };
        let mut memory = std::mem::take(&mut self.http);
        let step = go_on(running, &mut memory, &mut self.scope(walker, node));
        self.http = memory;
        match step {
            HttpStep::Send(ask, run) => {
                self.doing = Doing::Exchanging(node, run);
                Some(Ask::Send(ask))
            }
            HttpStep::Together(asks, run) => {
                self.doing = Doing::Exchanging(node, run);
                Some(Ask::Together(asks))
            }
            HttpStep::Done(sample) => self.finish(walker, node, sample),
        }
    }
}
