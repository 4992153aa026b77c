//! A queue: responds with 202 immediately, and consumers do the work later at a known rate.
//!
//! It must not know the content of a message. Invariants: a message answered with 202 is acknowledged once,
//! unless the process ends before; a busy consumer acknowledges exactly one message per interval on average,
//! however late it is woken.

use super::line::{AccessLogEntry, Log};
use super::{Factor, unavailable};
use crate::clock::Clock;
use crate::duration::as_ns;
use crate::metrics::Family;
use crate::reply::{JSON, Reply};
use crate::server::{Timer, Worker};
use crate::testbed::plan::{PartPlan, QueuePlan};
use crate::testbed::tally::{CounterSlot, Tally};
use http::StatusCode;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A running queue.
pub(crate) struct Queue {
    shared: Arc<QueueState>,
    backlog_max: u64,
    taken: AtomicU64,
}

/// What consumers and the server share.
struct QueueState {
    /// One permit per message that waits for a consumer.
    messages: Semaphore,
    interval: Duration,
    factor: Factor,
    log: Option<Log>,
    tally: Arc<Tally>,
    clock: Arc<Clock>,
}

impl Queue {
    /// Starts the consumers on a thread of their own.
    ///
    /// # Errors
    /// When the log or the thread is not to be had.
    pub(super) fn start(part: &PartPlan, plan: &QueuePlan, tally: &Arc<Tally>) -> io::Result<Self> {
        let log = plan.log.as_ref();
        let log = log.map(|log| Log::open(log, &part.component, part.replica));
        let shared = Arc::new(QueueState {
            messages: Semaphore::new(0),
            interval: plan.interval,
            factor: Factor::new(part.factor),
            log: log.transpose()?,
            tally: Arc::clone(tally),
            clock: Arc::new(Clock::start()),
        });
        start_consumers(&shared, plan.consumers)?;
        Ok(Self {
            shared,
            backlog_max: plan.backlog,
            taken: AtomicU64::new(0),
        })
    }

    /// Slows the consumers down, or back.
    pub(super) fn set_factor(&self, factor: f64) {
        self.shared.factor.set(factor);
    }

    /// Takes a message.
    pub(super) fn answer(&self, _worker: &Worker) -> Reply {
        let tally = &self.shared.tally;
        if tally.get(CounterSlot::Backlog) >= self.backlog_max {
            tally.add(CounterSlot::Refused, 1);
            return unavailable(&format!(
                "the backlog is full: {} messages",
                self.backlog_max
            ));
        }
        tally.add(CounterSlot::Backlog, 1);
        self.shared.messages.add_permits(1);
        let number = self.taken.fetch_add(1, Relaxed) + 1;
        let body = format!("{{\"accepted\":{number}}}\n");
        Reply::full(StatusCode::ACCEPTED, JSON, body)
    }

    /// The queue's own metrics.
    pub(super) fn families(&self) -> Vec<Family> {
        let tally = &self.shared.tally;
        let alone = |value: u64| vec![(Vec::new(), value as f64)];
        vec![
            Family::counter(
                "queue_messages_received_total",
                "Messages that were taken.",
                alone(self.taken.load(Relaxed)),
            ),
            Family::counter(
                "queue_messages_acknowledged_total",
                "Messages that a consumer has done.",
                alone(tally.get(CounterSlot::Acknowledged)),
            ),
            Family::counter(
                "queue_messages_refused_total",
                "Messages for which the backlog had no place.",
                alone(tally.get(CounterSlot::Refused)),
            ),
            Family::gauge(
                "queue_backlog",
                "Messages that no consumer has done.",
                alone(tally.get(CounterSlot::Backlog)),
            ),
        ]
    }
}

fn start_consumers(shared: &Arc<QueueState>, consumers: u32) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let timer = {
        let _inside = runtime.enter();
        Arc::new(Timer::new(Arc::clone(&shared.clock))?)
    };
    let shared = Arc::clone(shared);
    let work = async move {
        for _ in 0..consumers {
            tokio::spawn(consume(Arc::clone(&shared), Arc::clone(&timer)));
        }
        timer.drive().await;
    };
    std::thread::Builder::new()
        .name("consumers".to_owned())
        .spawn(move || runtime.block_on(work))?;
    Ok(())
}

async fn consume(shared: Arc<QueueState>, timer: Arc<Timer>) {
    let mut done_ns = 0;
    loop {
        let waited = match shared.messages.try_acquire() {
            Ok(permit) => {
                permit.forget();
                false
            }
            Err(_) => {
                let Ok(permit) = shared.messages.acquire().await else {
                    return;
                };
                permit.forget();
                true
            }
        };
        let begun_ns = if waited { timer.now_ns() } else { done_ns };
        let interval = shared.interval.mul_f64(shared.factor.get());
        done_ns = begun_ns.saturating_add(as_ns(interval));
        timer.sleep_until(done_ns).await;
        acknowledge(&shared);
    }
}

fn acknowledge(shared: &QueueState) {
    if let Some(log) = &shared.log {
        log.write(&AccessLogEntry {
            at: shared.clock.wall(),
            method: "",
            path: "",
            status: 0,
            elapsed: Duration::ZERO,
        });
    }
    shared.tally.add(CounterSlot::Acknowledged, 1);
    shared.tally.subtract(CounterSlot::Backlog, 1);
}
