//! HTTP samplers of a thread: their requests and responses.
//!
//! Must not know the content of requests. Invariant: a response goes to the run that requested it.

use super::{Ask, Doing, Thread, Walker};
use crate::http::{HttpAnswer, HttpClient, HttpMemory, HttpRun, HttpStep, Running, UrlRewriting};
use crate::program::{NodeId, SamplerAction};
use crate::scope::Scope;

/// The variable in which JMeter's client stores the owner of its connections after the first response.
const USER_TOKEN: &str = "__jmeter.U_T__";

impl Thread {
    /// Runs an HTTP sampler.
    pub(super) fn begin_http(&mut self, walker: &Walker<'_>, node: NodeId) -> Option<Ask> {
        self.run_http(walker, node, HttpRun::begin)
    }

    /// Lets a modifier change the next request; other kinds of samplers stay unchanged.
    pub(super) fn rewrite(&mut self, walker: &Walker<'_>, node: NodeId, modifier: &UrlRewriting) {
        if matches!(walker.sampler(node).action, SamplerAction::Http(_)) {
            let name = walker.node(node).name.source();
            self.lend_http(walker, name, |scope, http| http.rewrite(modifier, scope));
        }
    }

    /// An exchange of an HTTP sampler has ended: the one with this number, if there are several.
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
            self.variables
                .put(USER_TOKEN, self.strand.identity.name.clone());
        }
        self.run_http(walker, node, |running, memory, scope| {
            run.answered(running, number, answer, memory, scope)
        })
    }

    fn run_http(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        go_on: impl FnOnce(Running<'_>, &mut HttpMemory, &mut Scope<'_>) -> HttpStep,
    ) -> Option<Ask> {
        let at_work = self.http.at_work().cloned();
        let at_work = at_work.expect("an HTTP sampler was made ready before it is run");
        let running = Running {
            plan: &at_work.plan,
            name: at_work.name.as_ref().unwrap_or(&walker.node(node).name),
        };
        let name = walker.node(node).name.source();
        let step = self.lend_http(walker, name, |scope, http| go_on(running, http, scope));
        match step {
            HttpStep::Send(ask, run) => {
                self.strand.doing = Doing::Exchanging(node, run);
                Some(Ask::Send(ask))
            }
            HttpStep::Together(asks, run) => {
                self.strand.doing = Doing::Exchanging(node, run);
                Some(Ask::Together(asks))
            }
            HttpStep::Done(sample) => self.finish(walker, node, sample),
        }
    }
}
