//! The behaviour that sends one request, made from templates, per iteration.
//!
//! Must not know connections. Invariant: the n-th iteration of the test takes the n-th request in
//! turn, whichever virtual user runs it.

use std::rc::Rc;

use loadline_model::Nanos;
use loadline_model::request::{RequestMix, RequestOrder};

use super::beginning::Beginning;
use super::client::{Numbers, VuClient};
use super::shared::Shared;
use crate::exchange::{PreparedRequest, RenderError};

/// The requests of a scenario, made ready.
pub(crate) struct RequestsPlan {
    requests: Vec<PreparedRequest>,
    order: RequestOrder,
    pub(crate) cookies: bool,
}

impl RequestsPlan {
    /// Makes the requests of a mix ready for the worker's routes.
    pub(crate) fn prepare(mix: &RequestMix, shared: &Shared) -> Result<RequestsPlan, RenderError> {
        let client = &shared.client;
        let requests = mix
            .requests
            .iter()
            .map(|template| {
                let route = shared.routes.to(&template.origin, client);
                PreparedRequest::new(template.clone(), route, client)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(RequestsPlan {
            requests,
            order: mix.order,
            cookies: mix.cookies,
        })
    }

    #[inline]
    fn pick(&self, iteration: u64, shared: &Shared) -> &PreparedRequest {
        let count = self.requests.len() as u64;
        let index = match (count, self.order) {
            (1, _) => 0,
            (_, RequestOrder::RoundRobin) => iteration % count,
            (_, RequestOrder::Random) => shared.next_random() % count,
        };
        &self.requests[index as usize]
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
        let request = self.plan.pick(beginning.iteration, &self.client.shared);
        let numbers = Numbers {
            iteration: beginning.iteration,
        };
        self.client
            .request(request, beginning.intended, beginning.started, numbers)
            .await
    }
}
