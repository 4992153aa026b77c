//! Single values as they are sent.
//!
//! Must not know who receives them. Invariant: data from the network is checked against its limits here, so
//! that it cannot make later code panic.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_metric::{MetricId, MetricRegistry, TagSet};
use loadline_model::ErrorClass;
use loadline_model::sample::{RequestFacts, Sample, TaggedValues, VusAtWork};

use crate::generated::values::Request;
use crate::generated::{self as wire, Batch, Tags, Values};

/// The values of a script, for sending.
pub(crate) fn values_to_send(batch: &[TaggedValues]) -> Batch {
    let mut tags = TagTable::default();
    let values = batch.iter().map(|tagged| Values {
        time_ns: tagged.time_unix_ns,
        tags: tags.place(&tagged.tags),
        metadata: tagged.metadata.as_ref().map(|of| tags.place(of)),
        metrics: tagged.values.iter().map(|(metric, _)| metric.0).collect(),
        values: tagged.values.iter().map(|(_, value)| *value).collect(),
        request: tagged.request.map(|facts| Request {
            sent_bytes: facts.sent_bytes,
            body_bytes: facts.body_bytes,
            vus_of_scenario: facts.vus.scenario,
            vus: facts.vus.run,
        }),
    });
    Batch {
        values: values.collect(),
        tags: tags.tags,
        ..Batch::default()
    }
}

/// The tag sets of a batch, each once.
#[derive(Default)]
struct TagTable {
    tags: Vec<Tags>,
    /// Indexes by the address of the set, which lives as long as the batch.
    places: HashMap<*const TagSet, u32>,
}

impl TagTable {
    fn place(&mut self, set: &Arc<TagSet>) -> u32 {
        *self.places.entry(Arc::as_ptr(set)).or_insert_with(|| {
            let pairs = set.iter().flat_map(|(name, value)| [name, value]);
            self.tags.push(Tags {
                pairs: pairs.map(str::to_owned).collect(),
            });
            u32::try_from(self.tags.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// The received values of a script.
///
/// # Errors
/// They name unknown tags or metrics; in words for the user.
pub(crate) fn values_received(
    batch: &mut Batch,
    registry: &MetricRegistry,
) -> Result<Vec<TaggedValues>, String> {
    let sets: Vec<Arc<TagSet>> = std::mem::take(&mut batch.tags)
        .into_iter()
        .map(tags_received)
        .collect();
    let set = |place: u32| {
        let set = sets.get(place as usize).map(Arc::clone);
        set.ok_or_else(|| format!("there are no tags {place}"))
    };
    let mut received = Vec::with_capacity(batch.values.len());
    for values in std::mem::take(&mut batch.values) {
        if values.metrics.len() != values.values.len() {
            return Err("there are not as many values as metrics".to_owned());
        }
        let metrics = values.metrics.iter().map(|metric| MetricId(*metric));
        if let Some(unknown) = metrics
            .clone()
            .find(|metric| registry.get(*metric).is_none())
        {
            return Err(format!("there is no metric {}", unknown.0));
        }
        if values.values.iter().any(|value| !value.is_finite()) {
            return Err("a value is not a number".to_owned());
        }
        received.push(TaggedValues {
            time_unix_ns: values.time_ns,
            tags: set(values.tags)?,
            metadata: values.metadata.map(set).transpose()?,
            values: metrics.zip(values.values.iter().copied()).collect(),
            request: values.request.map(|request| RequestFacts {
                sent_bytes: request.sent_bytes,
                body_bytes: request.body_bytes,
                vus: VusAtWork {
                    scenario: request.vus_of_scenario,
                    run: request.vus,
                },
            }),
        });
    }
    Ok(received)
}

fn tags_received(tags: Tags) -> Arc<TagSet> {
    let mut set = TagSet::new();
    let mut pairs = tags.pairs.into_iter();
    while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
        set.set(name, value);
    }
    Arc::new(set)
}

/// Requests, for sending.
pub(crate) fn samples_to_send(samples: &[Sample]) -> Batch {
    let samples = samples.iter().map(|sample| wire::Sample {
        start_ns: sample.start_ns,
        intended_ns: sample.intended_ns,
        dns_ns: sample.dns_ns,
        connect_ns: sample.connect_ns,
        sending_ns: sample.sending_ns,
        waiting_ns: sample.waiting_ns,
        receiving_ns: sample.receiving_ns,
        service_ns: sample.service_ns,
        status: sample.status.into(),
        error: sample.error.map_or(0, |class| class.index() as u32 + 1),
        body_bytes: sample.body_bytes,
        sent_bytes: sample.sent_bytes,
        vus: sample.vus,
    });
    Batch {
        samples: samples.collect(),
        ..Batch::default()
    }
}

/// Results of a plan of steps, for sending.
pub(crate) fn results_to_send(results: &[u8]) -> Batch {
    Batch {
        results: results.to_vec(),
        ..Batch::default()
    }
}

/// Received requests.
///
/// # Errors
/// They have an unknown error class or status; in words for the user.
pub(crate) fn samples_received(batch: &mut Batch) -> Result<Vec<Sample>, String> {
    let samples = std::mem::take(&mut batch.samples).into_iter();
    samples
        .map(|sample| {
            let class = |place: usize| ErrorClass::ALL.get(place).copied();
            let error = match sample.error.checked_sub(1) {
                None => None,
                Some(place) => Some(
                    class(place as usize).ok_or_else(|| format!("there is no failure {place}"))?,
                ),
            };
            Ok(Sample {
                start_ns: sample.start_ns,
                intended_ns: sample.intended_ns,
                dns_ns: sample.dns_ns,
                connect_ns: sample.connect_ns,
                sending_ns: sample.sending_ns,
                waiting_ns: sample.waiting_ns,
                receiving_ns: sample.receiving_ns,
                service_ns: sample.service_ns,
                status: u16::try_from(sample.status)
                    .map_err(|_| format!("there is no status {}", sample.status))?,
                error,
                body_bytes: sample.body_bytes,
                sent_bytes: sample.sent_bytes,
                vus: sample.vus,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use loadline_metric::BuiltIn;

    use super::*;

    fn tagged(value: f64, tags: &Arc<TagSet>, metadata: Option<&Arc<TagSet>>) -> TaggedValues {
        TaggedValues {
            time_unix_ns: 5,
            tags: Arc::clone(tags),
            metadata: metadata.map(Arc::clone),
            values: vec![
                (BuiltIn::HttpReqs.id(), 1.0),
                (BuiltIn::HttpReqDuration.id(), value),
            ],
            request: Some(RequestFacts {
                sent_bytes: 7,
                body_bytes: 9,
                vus: VusAtWork {
                    scenario: 1,
                    run: 2,
                },
            }),
        }
    }

    #[test]
    fn values_come_as_they_were_sent() {
        let tags = Arc::new(TagSet::new().with("name", "a").with("status", "200"));
        let metadata = Arc::new(TagSet::new().with("vu", "3"));
        let sent = [
            tagged(1.5, &tags, Some(&metadata)),
            tagged(-0.25, &tags, None),
        ];
        let mut batch = values_to_send(&sent);
        assert_eq!(batch.tags.len(), 2, "each set once");
        let received = values_received(&mut batch, &MetricRegistry::new()).expect("sound");
        assert_eq!(received, sent);
    }

    #[test]
    fn samples_come_as_they_were_sent() {
        let sample = |error| Sample {
            start_ns: 1,
            intended_ns: 2,
            dns_ns: 3,
            connect_ns: 4,
            sending_ns: 5,
            waiting_ns: 6,
            receiving_ns: 7,
            service_ns: 8,
            status: 503,
            error,
            body_bytes: 9,
            sent_bytes: 10,
            vus: 11,
        };
        let errors = ErrorClass::ALL.iter().copied().map(Some);
        let sent: Vec<Sample> = errors.chain([None]).map(sample).collect();
        assert_eq!(samples_received(&mut samples_to_send(&sent)), Ok(sent));
    }

    #[test]
    fn what_names_nothing_is_refused() {
        let tags = Arc::new(TagSet::new());
        let sound = values_to_send(&[tagged(1.0, &tags, None)]);
        let hostile: [fn(&mut Values); 5] = [
            |values| values.tags = 1,
            |values| values.metadata = Some(u32::MAX),
            |values| values.metrics = vec![0, 1 << 20],
            |values| values.metrics.clear(),
            |values| values.values = vec![0.0, f64::NAN],
        ];
        for spoil in hostile {
            let mut batch = sound.clone();
            spoil(&mut batch.values[0]);
            assert!(values_received(&mut batch, &MetricRegistry::new()).is_err());
        }
        for (status, error) in [(1 << 16, 0), (200, 1_000)] {
            let sample = wire::Sample {
                status,
                error,
                ..wire::Sample::default()
            };
            let mut batch = Batch {
                samples: vec![sample],
                ..Batch::default()
            };
            assert!(samples_received(&mut batch).is_err());
        }
    }
}
