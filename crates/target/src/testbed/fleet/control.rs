//! The control port: shows the testbed, and accepts commands to its components.
//!
//! It must not know how commands are executed. Invariant: a command is answered when it is done, or with 504
//! after [`PATIENCE`]; an impossible command gets an error that lists what is possible.

use super::{Fleet, Refusal};
use crate::clock::Clock;
use crate::reply::{Reply, TEXT};
use crate::request::Request;
use crate::server::Worker;
use http::{Method, StatusCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an order may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it is done.
const LOOK_EVERY_NS: u64 = 5_000_000;
/// What `/` says.
const HELP: &str = "\
GET  /components                                    what there is
GET  /truth                                         what was counted, restarts included
GET  /metrics                                       the same for Prometheus
POST /components/NAME/scale?replicas=N              run N replicas
POST /components/NAME/restart                       end all processes and start them again
POST /components/NAME/cold                          end all replicas
POST /components/NAME/degrade?factor=F[&replica=I]  multiply times by F
POST /components/NAME/recover                       times as the file says
";

/// The control port's view of the testbed.
pub(crate) struct Control {
    fleet: Arc<Mutex<Fleet>>,
    clock: Arc<Clock>,
}

/// What must be true before an order counts as done.
#[derive(Debug, Clone, Copy)]
enum Done {
    /// The component is as it is wanted.
    Settled,
    /// No process of that generation or before is left, and the component is as it is wanted.
    Renewed(u64),
    /// No process of that generation or before is left.
    Gone(u64),
}

impl Control {
    /// A view of a testbed.
    pub(super) fn new(fleet: Arc<Mutex<Fleet>>, clock: Arc<Clock>) -> Self {
        Self { fleet, clock }
    }

    /// Answers a request of the control port.
    pub(crate) async fn answer(&self, worker: &Arc<Worker>, request: &Request) -> Reply {
        let read = request.method == Method::GET || request.method == Method::HEAD;
        let segments: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        match &segments[..] {
            [""] if read => Reply::full(StatusCode::OK, TEXT, HELP),
            ["components"] if read => Reply::json(StatusCode::OK, &self.fleet().components_json()),
            ["truth"] if read => Reply::json(StatusCode::OK, &self.fleet().truth_json()),
            ["metrics"] if read => crate::metrics::as_text(&self.fleet().families()),
            ["components", name, order] if request.method == Method::POST => {
                self.order(worker, name, order, request).await
            }
            ["components", _, _] => {
                Reply::error(StatusCode::METHOD_NOT_ALLOWED, "orders are given with POST")
            }
            _ => Reply::error(StatusCode::NOT_FOUND, "GET / lists what there is"),
        }
    }

    async fn order(
        &self,
        worker: &Arc<Worker>,
        name: &str,
        order: &str,
        request: &Request,
    ) -> Reply {
        let done = match self.give(name, order, request) {
            Ok(done) => done,
            Err(reply) => return *reply,
        };
        let begun_ns = worker.timer.now_ns();
        let late_ns = begun_ns + crate::duration::as_ns(PATIENCE);
        loop {
            if self.is_done(name, done) {
                return Reply::json(StatusCode::OK, &self.fleet().components_json());
            }
            let now_ns = worker.timer.now_ns();
            if now_ns >= late_ns {
                let why = format!("{name} is not there yet; look at /components");
                return Reply::error(StatusCode::GATEWAY_TIMEOUT, &why);
            }
            worker.timer.sleep_until(now_ns + LOOK_EVERY_NS).await;
        }
    }

    /// Gives the order.
    fn give(&self, name: &str, order: &str, request: &Request) -> Result<Done, Box<Reply>> {
        let now_ns = self.clock.now_ns();
        let mut fleet = self.fleet();
        let before = fleet.generation;
        let (given, done) = match order {
            "scale" => {
                let replicas = number::<u32>(request, "replicas")?;
                let replicas = replicas.ok_or_else(|| bad("say how many: scale?replicas=2"))?;
                (fleet.order_scale(name, replicas), Done::Settled)
            }
            "restart" => (fleet.order_restart(name, now_ns), Done::Renewed(before)),
            "cold" => (fleet.order_cold(name, now_ns), Done::Gone(before)),
            "degrade" => {
                let factor = number::<f64>(request, "factor")?
                    .filter(|factor| (0.01..=1_000.0).contains(factor));
                let factor =
                    factor.ok_or_else(|| bad("say by how much, 0.01 to 1000: degrade?factor=3"))?;
                let replica = number::<usize>(request, "replica")?;
                (fleet.order_factor(name, factor, replica), Done::Settled)
            }
            "recover" => (fleet.order_recover(name), Done::Settled),
            _ => {
                let why = format!(
                    "{order:?} is not an order; give scale, restart, cold, degrade or recover"
                );
                return Err(Box::new(Reply::error(StatusCode::NOT_FOUND, &why)));
            }
        };
        given.map(|()| done).map_err(|refusal| {
            Box::new(match refusal {
                Refusal::Unknown(why) => Reply::error(StatusCode::NOT_FOUND, &why),
                Refusal::Impossible(why) => Reply::error(StatusCode::CONFLICT, &why),
            })
        })
    }

    fn is_done(&self, name: &str, done: Done) -> bool {
        let fleet = self.fleet();
        match done {
            Done::Settled => fleet.is_settled(name),
            Done::Renewed(before) => fleet.is_renewed(name, before) && fleet.is_settled(name),
            Done::Gone(before) => fleet.is_renewed(name, before),
        }
    }

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of the query; `None` when it is absent.
fn number<T: std::str::FromStr>(request: &Request, name: &str) -> Result<Option<T>, Box<Reply>> {
    let Some(text) = request.query(name) else {
        return Ok(None);
    };
    let number = text.parse().map(Some);
    number.map_err(|_| bad(&format!("{name}={text:?} is not a number that fits")))
}

fn bad(why: &str) -> Box<Reply> {
    Box::new(Reply::bad_request(why))
}
