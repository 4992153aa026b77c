//! Conversion between messages and our own types.
//!
//! Must not know the sender. Invariant: data from the network is checked against its limits here, so that it
//! cannot make later code panic.

use std::cell::RefCell;
use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use loadline_engine::live::LiveTotals;
use loadline_engine::platform::GeneratorTotals;
use loadline_engine::{InitFailure, ScriptSignal, WorkerReport};
use loadline_metric::{Aggregated, DistinctSeries, MetricId, TagSet};
use loadline_model::{Nanos, RunCommand, Snapshot};
use loadline_script::host::LogLevel;
use loadline_script::vu::{FailureKind, ScriptFailure};
use serde::{Deserialize, Serialize};

use crate::generated::{End, Live, LogLine, Order, Report, Signal, log_line, order, signal};

/// Maximum bytes of a snapshot before it is deflated.
const INFLATED_MAX: u64 = 256 << 20;

/// The first level of deflate with codes made for the data: histogram counts take half as many bytes as with fixed
/// codes.
const LEVEL: u32 = 2;

/// Maximum of any count of an agent: 35 years at a million a second.
const COUNT_MAX: u64 = 1 << 50;
/// Maximum seconds of a run.
pub(crate) const SECONDS_MAX: u64 = 1 << 32;
/// Maximum workers of an agent.
pub(crate) const WORKERS_MAX: u32 = 1 << 12;

/// Measurements, and the fields of a snapshot besides its data.
#[derive(Default, Serialize, Deserialize)]
struct Seen {
    seen: Snapshot,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    series: Vec<(TagSet, Vec<(MetricId, Aggregated)>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distinct: Option<DistinctSeries>,
}

/// A snapshot as bytes.
pub(crate) fn seen_as_bytes(mut seen: Snapshot) -> io::Result<Vec<u8>> {
    let (series, distinct) = match &mut seen.script {
        None => (Vec::new(), None),
        Some(script) => {
            let series = std::mem::take(&mut script.by_all_tags);
            let distinct = std::mem::take(&mut script.distinct);
            (series.into_iter().collect(), Some(distinct))
        }
    };
    let seen = Seen {
        seen,
        series,
        distinct,
    };
    deflated(&rmp_serde::to_vec_named(&seen).map_err(io::Error::other)?)
}

/// Bytes in the deflate format, without a head.
fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    thread_local! {
        // A new one clears half a megabyte, which takes longer than deflating a second of a quiet run.
        static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), false));
    }
    COMPRESS.with_borrow_mut(|compress| {
        compress.reset();
        let mut deflated = Vec::with_capacity(bytes.len() / 4 + 64);
        loop {
            let rest = &bytes[compress.total_in() as usize..];
            match compress.compress_vec(rest, &mut deflated, FlushCompress::Finish)? {
                Status::StreamEnd => return Ok(deflated),
                Status::Ok | Status::BufError => deflated.reserve(deflated.capacity()),
            }
        }
    })
}

/// The snapshot from such bytes.
pub(crate) fn seen_of_bytes(bytes: &[u8]) -> io::Result<Snapshot> {
    let mut packed = Vec::new();
    DeflateDecoder::new(bytes)
        .take(INFLATED_MAX)
        .read_to_end(&mut packed)?;
    let Seen {
        mut seen,
        series,
        distinct,
    } = rmp_serde::from_slice(&packed)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    if let Some(script) = &mut seen.script {
        script.by_all_tags = series.into_iter().collect();
        script.distinct = distinct.unwrap_or_default();
    }
    Ok(seen)
}

/// A worker's report, numbered; `None` for reports that do not come from a worker.
pub(crate) fn report_to_send(number: u64, report: WorkerReport) -> io::Result<Option<Report>> {
    Ok(Some(match report {
        WorkerReport::Interval {
            worker,
            interval,
            seen,
            waiting,
            planned,
        } => Report {
            number,
            worker,
            interval,
            seen: seen_as_bytes(*seen)?,
            planned,
            waiting,
            end: None,
        },
        WorkerReport::Ended {
            worker,
            interval,
            seen,
            planned,
            never_started,
            last_done,
        } => Report {
            number,
            worker,
            interval,
            seen: seen_as_bytes(*seen)?,
            planned,
            waiting: 0,
            end: Some(End {
                never_started,
                last_done_ns: last_done.0,
                failure: String::new(),
            }),
        },
        WorkerReport::Failed { worker, why, .. } => Report {
            number,
            worker,
            seen: seen_as_bytes(Snapshot::default())?,
            end: Some(End {
                failure: why,
                ..End::default()
            }),
            ..Report::default()
        },
        WorkerReport::Script(_)
        | WorkerReport::Lost { .. }
        | WorkerReport::Replaced { .. }
        | WorkerReport::Away { .. }
        | WorkerReport::Returned { .. }
        | WorkerReport::Settled { .. }
        | WorkerReport::GivenUp { .. } => return Ok(None),
    }))
}

/// Whether numbers can be summed up, over all seconds of all agents, without an overflow.
fn is_plausible(report: &Report, seen: &Snapshot) -> bool {
    let numbers = [&seen.counts, &seen.warm_up]
        .into_iter()
        .flat_map(|counts| {
            let plain = [
                counts.started,
                counts.completed,
                counts.good,
                counts.interrupted,
                counts.lost,
                counts.dropped,
                counts.bytes_sent,
                counts.bytes_received,
                counts.body_bytes,
                counts.redirects,
                counts.retried,
            ];
            plain.into_iter().chain(counts.failed)
        });
    let ends = report.end.iter().map(|end| end.never_started);
    let others = [
        report.planned,
        report.waiting,
        seen.back_pressure_ns,
        seen.worker_cpu_ns,
        seen.run_queue_ns,
    ];
    report.interval <= SECONDS_MAX
        && numbers
            .chain(ends)
            .chain(others)
            .all(|number| number <= COUNT_MAX)
}

/// The received report, of the worker with number `worker` among all.
pub(crate) fn report_received(report: Report, worker: u32) -> io::Result<WorkerReport> {
    let seen = Box::new(seen_of_bytes(&report.seen)?);
    if !is_plausible(&report, &seen) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "its numbers are beyond all measure",
        ));
    }
    let Report {
        interval,
        planned,
        waiting,
        ..
    } = report;
    Ok(match report.end {
        None => WorkerReport::Interval {
            worker,
            interval,
            seen,
            waiting,
            planned,
        },
        Some(end) if end.failure.is_empty() => WorkerReport::Ended {
            worker,
            interval,
            seen,
            planned,
            never_started: end.never_started,
            last_done: Nanos(end.last_done_ns),
        },
        Some(end) => WorkerReport::Failed {
            worker,
            why: end.failure,
            // An agent that crashed has left, and said why.
            is_defect: false,
        },
    })
}

/// The status of a live agent.
pub(crate) fn live_to_send(live: LiveTotals, used: &GeneratorTotals) -> Live {
    Live {
        started: live.started,
        completed: live.completed,
        failed: live.failed,
        interrupted: live.interrupted,
        vus_active: live.vus_active,
        vus_made: live.vus_made,
        iterations_completed: live.iterations_completed,
        iterations_interrupted: live.iterations_interrupted,
        cpu_ns: used.cpu_ns,
        throttled_ns: used.throttled_ns,
        rss_bytes: used.rss_bytes,
        rss_max_bytes: used.rss_max_bytes,
    }
}

/// The counters of an agent, and its resource use; its cores are sent elsewhere.
pub(crate) fn live_received(live: &Live) -> (LiveTotals, GeneratorTotals) {
    let bounded = |number: u64| number.min(COUNT_MAX);
    let totals = LiveTotals {
        started: bounded(live.started),
        completed: bounded(live.completed),
        failed: bounded(live.failed),
        interrupted: bounded(live.interrupted),
        vus_active: bounded(live.vus_active),
        vus_made: bounded(live.vus_made),
        iterations_completed: bounded(live.iterations_completed),
        iterations_interrupted: bounded(live.iterations_interrupted),
    };
    let used = GeneratorTotals {
        // 2^50 ns are 13 days: CPU time and memory may exceed the limit of counts.
        cpu_ns: live.cpu_ns.min(COUNT_MAX << 4),
        throttled_ns: live.throttled_ns.map(|time| time.min(COUNT_MAX << 4)),
        rss_bytes: bounded(live.rss_bytes),
        rss_max_bytes: bounded(live.rss_max_bytes),
        cores: 0.0,
    };
    (totals, used)
}

impl From<RunCommand> for Order {
    fn from(command: RunCommand) -> Order {
        let (kind, vus, max_vus) = match command {
            RunCommand::StopGracefully => (order::Kind::StopGracefully, 0, 0),
            RunCommand::Interrupt => (order::Kind::Interrupt, 0, 0),
            RunCommand::StopNow | RunCommand::StopRemotely => (order::Kind::StopNow, 0, 0),
            RunCommand::Resume => (order::Kind::Resume, 0, 0),
            RunCommand::Pause => (order::Kind::Pause, 0, 0),
            RunCommand::Scale { vus, max_vus } => (order::Kind::Scale, vus, max_vus),
        };
        Order {
            kind: kind.into(),
            vus,
            max_vus,
        }
    }
}

/// The command of a message; `None` for an unknown one.
pub(crate) fn command_of(order: &Order) -> Option<RunCommand> {
    Some(match order.kind() {
        order::Kind::Unknown => return None,
        order::Kind::StopGracefully => RunCommand::StopGracefully,
        order::Kind::Interrupt => RunCommand::Interrupt,
        order::Kind::StopNow => RunCommand::StopNow,
        order::Kind::Resume => RunCommand::Resume,
        order::Kind::Pause => RunCommand::Pause,
        order::Kind::Scale => RunCommand::Scale {
            vus: order.vus,
            max_vus: order.max_vus,
        },
    })
}

/// Kinds of failure, here and in messages.
const FAILURES: [(FailureKind, signal::FailureKind); 6] = [
    (FailureKind::Thrown, signal::FailureKind::Thrown),
    (FailureKind::Rejected, signal::FailureKind::Rejected),
    (FailureKind::BadOutput, signal::FailureKind::BadOutput),
    (FailureKind::BadData, signal::FailureKind::BadData),
    (FailureKind::Aborted, signal::FailureKind::ByAbort),
    (FailureKind::OutOfMemory, signal::FailureKind::OutOfMemory),
];

impl From<ScriptSignal> for Signal {
    fn from(signal: ScriptSignal) -> Signal {
        let plain = |kind: signal::Kind, message: String| Signal {
            kind: kind.into(),
            message,
            ..Signal::default()
        };
        match signal {
            ScriptSignal::Aborted(message) => plain(signal::Kind::Aborted, message),
            ScriptSignal::MarkedFailed(message) => plain(signal::Kind::MarkedFailed, message),
            ScriptSignal::InitFailed(InitFailure { vu, failure }) => Signal {
                vu,
                trace: failure.trace,
                failure: FAILURES
                    .iter()
                    .find(|(kind, _)| *kind == failure.kind)
                    .map_or(0, |(_, sent)| (*sent).into()),
                ..plain(signal::Kind::InitFailed, failure.message)
            },
        }
    }
}

/// The received signal; `None` for an unknown one.
pub(crate) fn signal_received(signal: Signal) -> Option<ScriptSignal> {
    let failure = signal.failure();
    Some(match signal.kind() {
        signal::Kind::Unknown => return None,
        signal::Kind::Aborted => ScriptSignal::Aborted(signal.message),
        signal::Kind::MarkedFailed => ScriptSignal::MarkedFailed(signal.message),
        signal::Kind::InitFailed => ScriptSignal::InitFailed(InitFailure {
            vu: signal.vu,
            failure: ScriptFailure {
                kind: FAILURES
                    .iter()
                    .find(|(_, sent)| *sent == failure)
                    .map_or(FailureKind::Thrown, |(kind, _)| *kind),
                message: signal.message,
                trace: signal.trace,
            },
        }),
    })
}

/// A log level as it is sent.
pub(crate) fn level_to_send(level: LogLevel) -> log_line::Level {
    match level {
        LogLevel::Debug => log_line::Level::Debug,
        LogLevel::Info => log_line::Level::Info,
        LogLevel::Warning => log_line::Level::Warning,
        LogLevel::Error => log_line::Level::Error,
    }
}

/// The log level of a line.
pub(crate) fn level_received(line: &LogLine) -> LogLevel {
    match line.level() {
        log_line::Level::Debug => LogLevel::Debug,
        log_line::Level::Info => LogLevel::Info,
        log_line::Level::Warning => LogLevel::Warning,
        log_line::Level::Error => LogLevel::Error,
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::{BuiltIn, MeasurementsDelta};
    use proptest::prelude::*;

    use super::*;

    fn snapshot() -> Snapshot {
        let mut seen = Snapshot::default();
        seen.counts.started = 7;
        seen.answered_time.record(1_234_567);
        let mut script = MeasurementsDelta::default();
        script
            .set_gauge(BuiltIn::Vus, 0.1 + 0.2, 5)
            .expect("finite");
        let tags = TagSet::new().with("a", "b");
        script.distinct.add(BuiltIn::Vus.id(), &tags);
        let values = script.root.values.clone().into_iter().collect();
        script.by_all_tags.insert(tags, values);
        seen.script = Some(Box::new(script));
        seen
    }

    #[test]
    fn a_report_arrives_as_it_was() {
        let report = WorkerReport::Ended {
            worker: 1,
            interval: 4,
            seen: Box::new(snapshot()),
            planned: 9,
            never_started: 2,
            last_done: Nanos(77),
        };
        let sent = report_to_send(3, report).expect("it can be written");
        let sent = sent.expect("a worker's");
        assert_eq!((sent.number, sent.worker), (3, 1));
        let WorkerReport::Ended {
            worker,
            interval,
            seen,
            planned,
            never_started,
            last_done,
        } = report_received(sent, 11).expect("it can be read")
        else {
            panic!("another kind");
        };
        assert_eq!((worker, interval, planned, never_started), (11, 4, 9, 2));
        assert_eq!(last_done, Nanos(77));
        assert_eq!(*seen, snapshot());
    }

    proptest! {
        #[test]
        fn what_was_deflated_is_inflated_whatever_came_before(
            texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3_000), 1..4),
            times in 1_usize..60,
        ) {
            for text in texts {
                let text = text.repeat(times);
                let deflated = deflated(&text)?;
                let mut inflated = Vec::new();
                DeflateDecoder::new(&deflated[..]).read_to_end(&mut inflated)?;
                prop_assert_eq!(inflated, text);
            }
        }
    }

    #[test]
    fn bytes_that_are_no_snapshot_are_refused() {
        for bytes in [&b""[..], b"{}", b"\x00\xff\x12", &[0; 64]] {
            assert!(seen_of_bytes(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn numbers_that_nobody_can_have_counted_are_refused() {
        let sent = |interval, started| {
            let mut seen = Snapshot::default();
            seen.counts.started = started;
            let report = WorkerReport::Interval {
                worker: 0,
                interval,
                seen: Box::new(seen),
                waiting: 0,
                planned: 0,
            };
            let sent = report_to_send(0, report).expect("written");
            report_received(sent.expect("a worker's"), 0).is_ok()
        };
        assert!(sent(SECONDS_MAX, COUNT_MAX));
        assert!(!sent(SECONDS_MAX + 1, 0));
        assert!(!sent(0, COUNT_MAX + 1));
    }

    #[test]
    fn orders_and_signals_arrive_as_they_were() {
        for command in [
            RunCommand::StopGracefully,
            RunCommand::Interrupt,
            RunCommand::StopNow,
            RunCommand::Resume,
            RunCommand::Pause,
            RunCommand::Scale { vus: 3, max_vus: 5 },
        ] {
            assert_eq!(command_of(&Order::from(command)), Some(command));
        }
        assert_eq!(
            command_of(&Order {
                kind: 99,
                ..Order::default()
            }),
            None
        );
        for (kind, _) in FAILURES {
            let failure = InitFailure {
                vu: 7,
                failure: ScriptFailure {
                    kind,
                    message: "m".to_owned(),
                    trace: "\tat f\n".to_owned(),
                },
            };
            let sent = Signal::from(ScriptSignal::InitFailed(failure.clone()));
            let Some(ScriptSignal::InitFailed(read)) = signal_received(sent) else {
                panic!("another signal");
            };
            assert_eq!(read, failure);
        }
    }
}
