//! A service: the time, CPU and memory that a request costs before an endpoint answers it.
//!
//! It must not know endpoints. Invariant: without CPU cost, the service is the M/G/k queue of
//! [`crate::queueing`] to the microsecond; with CPU cost, each worker is a thread that serves one request at a
//! time: it burns, then waits for the drawn time.

use super::burner::Burner;
use super::line::{AccessLogEntry, Log};
use super::memory::Memory;
use super::{Factor, Outcome, unavailable};
use crate::duration::as_ns;
use crate::queueing::{Admission, QueueSpec, ServiceQueue};
use crate::random::Dice;
use crate::reply::{JSON, Reply};
use crate::request::Request;
use crate::server::Worker;
use crate::testbed::plan::{PartPlan, ServicePlan};
use crate::testbed::tally::{CounterSlot, Tally};
use http::StatusCode;
use hyper::header::HeaderValue;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A running service.
pub(crate) struct Service {
    plan: ServicePlan,
    factor: Factor,
    engine: Engine,
    memory: Option<Memory>,
    log: Option<Log>,
    dice: Mutex<Dice>,
    tally: Arc<Tally>,
    /// What answers say of who gave them.
    name: Option<HeaderValue>,
}

/// How requests are served.
enum Engine {
    /// At once.
    Free,
    /// By servers that exist as numbers only.
    Queue(Mutex<ServiceQueue>),
    /// By threads.
    Threads(Burner),
}

impl Service {
    /// Starts what serves requests.
    ///
    /// # Errors
    /// When threads, memory or the log are not to be had.
    pub(super) fn start(
        part: &PartPlan,
        plan: &ServicePlan,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let memory = plan.memory.is_active();
        let memory = memory
            .then(|| Memory::start(&plan.memory, tally))
            .transpose()?;
        let log = plan.log.as_ref();
        let log = log
            .map(|log| Log::open(log, &part.component, part.replica))
            .transpose()?;
        Ok(Self {
            engine: Engine::start(part, plan)?,
            memory,
            log,
            factor: Factor::new(part.factor),
            dice: Mutex::new(Dice::seeded(part.seed)),
            tally: Arc::clone(tally),
            name: HeaderValue::try_from(format!("{}-{}", part.component, part.replica)).ok(),
            plan: plan.clone(),
        })
    }

    /// The component and its replica, as in `api-1`; `None` where that is no header's value.
    pub(super) fn name(&self) -> Option<&HeaderValue> {
        self.name.as_ref()
    }

    /// Slows down, or back.
    pub(super) fn set_factor(&self, factor: f64) {
        self.factor.set(factor);
    }

    /// Does what a request costs.
    pub(super) async fn answer(&self, worker: &Arc<Worker>) -> Outcome {
        let held = self.memory.as_ref().map(Memory::take);
        let served = self.serve(worker).await;
        drop(held);
        if let Err(refusal) = served {
            return Outcome::Instead(refusal);
        }
        let mut dice = self.dice();
        if dice.chance(self.plan.failing) {
            let status = StatusCode::from_u16(self.plan.fail_status);
            let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return Outcome::Instead(Reply::error(status, "failed as planned"));
        }
        if dice.chance(self.plan.empty) {
            let body = self.plan.empty_body.clone();
            return Outcome::Instead(Reply::full(StatusCode::OK, JSON, body));
        }
        Outcome::Endpoint
    }

    async fn serve(&self, worker: &Arc<Worker>) -> Result<(), Reply> {
        let factor = self.slowness(worker.timer.now_ns());
        match &self.engine {
            Engine::Free => Ok(()),
            Engine::Queue(queue) => {
                let admission = {
                    let mut queue = crate::queueing::lock(queue);
                    // Read under the lock, so that arrivals are in order.
                    queue.arrive_slowed(worker.timer.now_ns(), factor)
                };
                match admission {
                    Admission::Refused { waiting } => Err(self.refusal(waiting)),
                    Admission::Served { finish_ns, .. } => {
                        worker.timer.sleep_until(finish_ns).await;
                        Ok(())
                    }
                }
            }
            Engine::Threads(burner) => {
                let wait_ns = self
                    .plan
                    .time
                    .map_or(0, |time| time.draw_ns(&mut self.dice()));
                let cpu = self.plan.cpu.mul_f64(factor);
                let wait = Duration::from_nanos(wait_ns).mul_f64(factor);
                let worked = burner.work(cpu, wait).await;
                worked.map_err(|_| self.refusal(self.plan.room as usize))?;
                self.tally.add(CounterSlot::BurntNs, as_ns(cpu));
                Ok(())
            }
        }
    }

    /// The factor now: that which was set, times what is left of the warm-up.
    fn slowness(&self, now_ns: u64) -> f64 {
        let warm_up = self.plan.warm_up.as_ref().map_or(1.0, |warm_up| {
            let length_ns = as_ns(warm_up.time).max(1) as f64;
            let left = (1.0 - now_ns as f64 / length_ns).max(0.0);
            1.0 + (warm_up.factor - 1.0) * left
        });
        self.factor.get() * warm_up
    }

    fn refusal(&self, waiting: usize) -> Reply {
        self.tally.add(CounterSlot::Refused, 1);
        unavailable(&format!("the waiting room is full: {waiting} waiting"))
    }

    /// Writes a line, where there is a log.
    pub(super) fn log(&self, worker: &Worker, request: &Request, status: u16, elapsed: Duration) {
        if let Some(log) = &self.log {
            log.write(&AccessLogEntry {
                at: worker.shared.clock.wall(),
                method: request.method.as_str(),
                path: &request.path,
                status,
                elapsed,
            });
        }
    }

    fn dice(&self) -> MutexGuard<'_, Dice> {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    fn start(part: &PartPlan, plan: &ServicePlan) -> io::Result<Self> {
        if !plan.cpu.is_zero() {
            return Burner::start(plan.workers, plan.room).map(Self::Threads);
        }
        let Some(service) = plan.time else {
            return Ok(Self::Free);
        };
        let spec = QueueSpec {
            service,
            servers: plan.workers,
            room: plan.room,
        };
        let queue = ServiceQueue::new(spec, part.seed);
        Ok(Self::Queue(Mutex::new(queue)))
    }
}
