//! Single values from the workers to the coordinator.
//!
//! Must not know their use. Invariant: a slow coordinator blocks the workers, and the time is measured, like a
//! slow output in a single process; nothing is stored beyond the batches in flight.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_engine::batches::ValueSender;
use loadline_model::sample::{Sample, TaggedValues};
use tokio::sync::mpsc::Sender;

use crate::batch::{results_to_send, samples_to_send, values_to_send};
use crate::coordinator::Recipe;
use crate::generated::Batch;

/// Batches between the workers and the sender: enough for a short delay of the network.
const BATCHES: usize = 64;

/// The channels for single values out of the engine, and what keeps them open.
#[derive(Default)]
pub(super) struct Outlet {
    values: Option<Arc<SyncSender<Vec<TaggedValues>>>>,
    samples: Option<SyncSender<Vec<Sample>>>,
    results: Option<SyncSender<Vec<u8>>>,
    forwarders: Vec<JoinHandle<()>>,
    /// Tells that the connection for them is there; `None`: it is, or none is needed.
    way: Option<Receiver<()>>,
}

impl Outlet {
    /// Opens the channels that a job needs.
    pub(super) fn open(recipe: &Recipe, to: &Sender<Batch>) -> io::Result<Outlet> {
        let mut outlet = Outlet::default();
        if recipe.wants_values {
            let (sender, receiver) = sync_channel(BATCHES);
            outlet.values = Some(Arc::new(sender));
            outlet.forward(receiver, to.clone(), values_to_send)?;
        }
        if recipe.wants_samples {
            let (sender, receiver) = sync_channel(BATCHES);
            outlet.samples = Some(sender);
            outlet.forward(receiver, to.clone(), samples_to_send)?;
        }
        if recipe.wants_results {
            let (sender, receiver) = sync_channel(BATCHES);
            outlet.results = Some(sender);
            outlet.forward(receiver, to.clone(), results_to_send)?;
        }
        Ok(outlet)
    }

    /// Whether anything is delivered.
    pub(super) fn is_open(&self) -> bool {
        !self.forwarders.is_empty()
    }

    /// The connection is being made, and `way` tells when it is there.
    pub(super) fn await_way(&mut self, way: Receiver<()>) {
        self.way = Some(way);
    }

    /// Waits, no longer than this, for the connection; returns whether it is there.
    pub(super) fn has_way_within(&mut self, limit: Duration) -> bool {
        if let Some(way) = &self.way {
            match way.recv_timeout(limit) {
                Ok(()) => self.way = None,
                Err(_) => return false,
            }
        }
        true
    }

    /// The channel for a script's values.
    pub(super) fn values(&self) -> Option<ValueSender> {
        self.values.as_ref().map(ValueSender::into_channel)
    }

    /// The channel for requests; it closes with its last owner.
    pub(super) fn samples(&mut self) -> Option<SyncSender<Vec<Sample>>> {
        self.samples.take()
    }

    /// The channel for results, like that for requests.
    pub(super) fn results(&mut self) -> Option<SyncSender<Vec<u8>>> {
        self.results.take()
    }

    /// Waits until everything is handed over; the workers must have ended.
    pub(super) fn close(self) {
        drop((self.values, self.samples, self.results, self.way));
        for forwarder in self.forwarders {
            // A thread that panicked has sent what it could.
            let _ = forwarder.join();
        }
    }

    fn forward<T: Send + 'static>(
        &mut self,
        from: Receiver<Vec<T>>,
        to: Sender<Batch>,
        encode: fn(&[T]) -> Batch,
    ) -> io::Result<()> {
        let forward = move || {
            for batch in from {
                if to.blocking_send(encode(&batch)).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("values".to_owned());
        self.forwarders.push(thread.spawn(forward)?);
        Ok(())
    }
}
