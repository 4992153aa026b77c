//! Samples of a run without a script, as the values that a script's run would have recorded.
//!
//! This makes every output of values available to `bench` too, with k6's names. Must not know outputs.
//! Invariant: a sample becomes one entry with the values that k6 records for a request, plus the bytes of its
//! body.

use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use loadline_engine::batches::ValueSender;
use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::{RequestFacts, Sample, TaggedValues, VusAtWork};
use loadline_model::secret::redacted_text;
use loadline_model::{Behaviour, ErrorClass, RunEvent, TestPlan, is_good_status};

/// The start time, set when the run has started.
type Start = Arc<OnceLock<u64>>;

/// A thread that converts samples to values.
pub(crate) struct Conversion {
    started_unix_ms: Start,
    thread: JoinHandle<()>,
}

impl Conversion {
    /// Converts samples to values until the samples' sender is dropped.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(
        samples: Receiver<Vec<Sample>>,
        values: ValueSender,
        plan: &TestPlan,
    ) -> io::Result<Conversion> {
        let started_unix_ms = Start::default();
        let start = Arc::clone(&started_unix_ms);
        let mut tags = Tags::of(plan);
        let thread = thread::Builder::new()
            .name("values".to_owned())
            .spawn(move || {
                for batch in samples {
                    let started_unix_ns = start.wait() * 1_000_000;
                    let batch = batch
                        .iter()
                        .map(|sample| values_of(sample, started_unix_ns, &mut tags));
                    if values.send(batch.collect()).is_err() {
                        // The outputs ended, and have reported why.
                        return;
                    }
                }
            })?;
        Ok(Conversion {
            started_unix_ms,
            thread,
        })
    }

    /// Waits until the last sample's values have been sent to the outputs; returns why some are missing.
    pub(crate) fn finish(self) -> Option<String> {
        // If the run never started, there are no samples to wait for.
        self.started_unix_ms.get_or_init(|| 0);
        let why = "values are missing in the outputs: the thread that makes them failed; this is a defect of loadline";
        self.thread.join().is_err().then(|| why.to_owned())
    }

    /// Takes the start time from its event.
    pub(crate) fn event(&self, event: &RunEvent) {
        if let RunEvent::Started {
            started_unix_ms, ..
        } = event
        {
            self.started_unix_ms.get_or_init(|| *started_unix_ms);
        }
    }
}

fn values_of(sample: &Sample, started_unix_ns: u64, tags: &mut Tags) -> TaggedValues {
    let making_ns = sample.dns_ns + sample.connect_ns;
    let receiving_ns = sample.receiving_ns;
    let is_expected = sample.error.is_none() && is_good_status(sample.status);
    let times = [
        (
            BuiltIn::HttpReqDuration,
            sample.sending_ns + sample.waiting_ns + receiving_ns,
        ),
        (BuiltIn::HttpReqBlocked, making_ns),
        (BuiltIn::HttpReqConnecting, sample.connect_ns),
        (BuiltIn::HttpReqTlsHandshaking, 0),
        (BuiltIn::HttpReqSending, sample.sending_ns),
        (BuiltIn::HttpReqWaiting, sample.waiting_ns),
        (BuiltIn::HttpReqReceiving, receiving_ns),
    ];
    let mut values: Vec<(MetricId, f64)> = Vec::with_capacity(times.len() + 3);
    values.push((BuiltIn::HttpReqs.id(), 1.0));
    values.extend(times.map(|(metric, ns)| (metric.id(), ns as f64 / 1e6)));
    values.push((
        BuiltIn::HttpReqFailed.id(),
        f64::from(u8::from(!is_expected)),
    ));
    values.push((BuiltIn::DataReceived.id(), sample.body_bytes as f64));
    TaggedValues {
        time_unix_ns: started_unix_ns + sample.start_ns + sample.service_ns,
        tags: tags.of_answer(sample.status, sample.error, is_expected),
        metadata: None,
        values,
        request: Some(RequestFacts {
            sent_bytes: sample.sent_bytes,
            body_bytes: sample.body_bytes,
            vus: VusAtWork {
                scenario: sample.vus,
                run: sample.vus,
            },
        }),
    }
}

/// The tag sets of a plan: one for each kind of outcome of a response.
struct Tags {
    /// The tags of every request.
    common: TagSet,
    sets: Vec<Known>,
}

/// The tag set of one kind of outcome of a response.
struct Known {
    status: u16,
    error: Option<ErrorClass>,
    tags: Arc<TagSet>,
}

impl Tags {
    /// A plan of several requests has neither `method` nor `url`: a sample does not say to which request it
    /// belongs.
    fn of(plan: &TestPlan) -> Tags {
        let mut requests = plan
            .scenarios
            .iter()
            .flat_map(|scenario| match &scenario.behaviour {
                Behaviour::Requests(mix) => mix.requests.as_slice(),
                Behaviour::Script(_) | Behaviour::Steps(_) => &[],
            });
        let mut common = plan.run_tags().with("scenario", "default");
        if let (Some(request), None) = (requests.next(), requests.next()) {
            let url = format!("{}{}", request.origin, request.target.source());
            let url = redacted_text(&url).into_owned();
            common.set("method", request.method.as_str());
            common.set("name", url.as_str());
            common.set("url", url);
        }
        Tags {
            common,
            sets: Vec::new(),
        }
    }

    fn of_answer(
        &mut self,
        status: u16,
        error: Option<ErrorClass>,
        is_expected: bool,
    ) -> Arc<TagSet> {
        let is_this = |known: &&Known| known.status == status && known.error == error;
        if let Some(known) = self.sets.iter().find(is_this) {
            return Arc::clone(&known.tags);
        }
        let mut tags = self.common.clone();
        tags.set("status", status.to_string());
        tags.set("expected_response", is_expected.to_string());
        if let Some(error) = error {
            tags.set("error", error.name());
        }
        let tags = Arc::new(tags);
        self.sets.push(Known {
            status,
            error,
            tags: Arc::clone(&tags),
        });
        tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversion_by(work: fn()) -> Conversion {
        let thread = thread::Builder::new().spawn(work);
        Conversion {
            started_unix_ms: Start::default(),
            thread: thread.expect("there is a thread"),
        }
    }

    #[test]
    fn values_that_a_panic_kept_from_the_outputs_are_told() {
        assert_eq!(conversion_by(|| {}).finish(), None);
        let why = conversion_by(|| panic!("no way")).finish();
        let why = why.expect("values are missing");
        assert!(why.contains("a defect of loadline"), "{why}");
    }
}
