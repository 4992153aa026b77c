//! The behaviour that sends one request, made from templates, per iteration.
//!
//! Must not know connections. Invariant: a worker takes the requests in turn, whichever of its virtual users is next, so
//! that each is sent as often as any other.

use std::cell::Cell;
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
    /// Whose turn it is. The number of the iteration does not tell: those of one worker have gaps.
    turn: Cell<usize>,
    pub(crate) cookies: bool,
}

impl RequestsPlan {
    /// Makes the requests of a mix ready for the worker's routes. Workers begin at requests of their own, so that few
    /// iterations are spread over all requests too.
    pub(crate) fn prepare(
        mix: &RequestMix,
        shared: &Shared,
        worker: usize,
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
            turn: Cell::new(worker % mix.requests.len().max(1)),
            cookies: mix.cookies,
        })
    }

    #[inline]
    fn pick(&self, shared: &Shared) -> &PreparedRequest {
        let count = self.requests.len();
        let index = match (count, self.order) {
            (1, _) => 0,
            (_, RequestOrder::RoundRobin) => {
                let index = self.turn.get();
                self.turn.set((index + 1) % count);
                index
            }
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
