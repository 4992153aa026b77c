//! The behaviour that sends one request from templates per iteration.
//!
//! Must not know connections. Invariant: requests are sent in turn over all virtual users and workers, so each
//! is sent equally often.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loadline_model::Nanos;
use loadline_model::request::{RequestMix, RequestOrder};

use super::beginning::Beginning;
use super::client::{Numbers, VuClient};
use super::shared::Shared;
use crate::exchange::{PreparedRequest, RenderError};

/// The prepared requests of a scenario.
pub(crate) struct RequestsPlan {
    requests: Vec<PreparedRequest>,
    order: RequestOrder,
    /// Number of requests sent over all workers. The iteration number does not help: each worker has its own,
    /// and advances at its own speed.
    taken: Arc<AtomicUsize>,
    pub(crate) cookies: bool,
}

impl RequestsPlan {
    /// Prepares a mix's requests for the worker's routes. `taken`: the counter shared by all workers.
    pub(crate) fn prepare(
        mix: &RequestMix,
        shared: &Shared,
        taken: &Arc<AtomicUsize>,
    ) -> Result<RequestsPlan, RenderError> {
        let client = &shared.client;
        let requests = mix
            .requests
            .iter()
            .map(|template| {
                let route = shared.routes.to(&template.origin, client);
                let mut request = PreparedRequest::new(template.clone(), route, client)?;
                if mix.requests.len() > 1 {
                    let mut recorder = shared.recorder.borrow_mut();
                    request.row = Some(recorder.request_row(&request.label()));
                }
                Ok(request)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(RequestsPlan {
            requests,
            order: mix.order,
            taken: Arc::clone(taken),
            cookies: mix.cookies,
        })
    }

    #[inline]
    fn pick(&self, shared: &Shared) -> &PreparedRequest {
        let count = self.requests.len();
        let index = match (count, self.order) {
            (1, _) => 0,
            (_, RequestOrder::RoundRobin) => self.taken.fetch_add(1, Ordering::Relaxed) % count,
            (_, RequestOrder::Random) => (shared.next_random() % count as u64) as usize,
        };
        &self.requests[index]
    }
}

/// One virtual user that sends requests.
pub(crate) struct RequestsVu {
    pub(super) plan: Rc<RequestsPlan>,
    pub(super) client: VuClient,
}

impl RequestsVu {
    #[inline]
    pub(super) async fn iterate(&mut self, beginning: Beginning) -> Nanos {
        let request = self.plan.pick(&self.client.shared);
        let numbers = Numbers {
            iteration: beginning.iteration,
        };
        self.client
            .request(request, beginning.intended, beginning.started, numbers)
            .await
    }
}
