//! Journals: complete, truncated at any byte, damaged, on failing or slow disks.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use loadline_metric::{
    Contains, HttpTimes, Measurements, MeasurementsDelta, MetricRegistry, MetricType, SeriesPlan,
    TagSet,
};
use loadline_model::result::StopReason;
use loadline_model::verdict::Delivery;
use loadline_model::{RunEvent, RunResult, ScriptSettings, Snapshot, TestSummary};
use proptest::prelude::*;

use super::batch::Batch;
use super::encode::{self, MAGIC};
use super::writer::{Disk, FileDisk, Writer};
use super::*;
use crate::fixture::{mark, plan, resource, row, second, started, sum_of};
use loadline_model::observation::{POINTS_MAX, Point, ResourceSample};
use loadline_model::rows::halve;

fn batch(events: &[RunEvent]) -> Batch {
    let mut batch = Batch::default();
    events.iter().for_each(|event| batch.add(event));
    batch
}

/// A journal with a record for each second, and the end of each record.
fn journal_of(seconds: u64) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(encode::start_record(&batch(&[started()]).start.unwrap()).unwrap());
    let mut ends = vec![bytes.len()];
    for number in 0..seconds {
        bytes.extend(encode::part_record(&batch(&[second(number)]).part().unwrap()).unwrap());
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn finished(seconds: u64) -> RunEvent {
    let mut result = recover_from(&journal_of(seconds).0[..]).unwrap().result;
    result.totals.stop = StopReason::Finished;
    RunEvent::Finished(Arc::new(result))
}

/// Checks the result of a run of which this many seconds were recorded.
fn check_told(result: &RunResult, seconds: u64) {
    let counts = &result.totals.seen.counts;
    assert!(counts.is_conserved());
    assert_eq!(
        counts.interrupted, seconds,
        "one request a second never ended"
    );
    let mut sum = sum_of(seconds);
    sum.counts.interrupted = seconds;
    assert_eq!(result.totals.seen, sum);
    assert_eq!(result.series.len() as u64, seconds);
    assert_eq!(
        result.metrics["service_time_ns"].count,
        sum.counts.completed
    );
    assert_eq!(result.totals.stop, StopReason::Crashed);
    assert_eq!(result.verdict.delivery, Delivery::Unfinished);
}

#[test]
fn what_was_lost_with_an_agent_has_an_end_after_a_crash() {
    let mut begin = batch(&[started()]);
    let RunEvent::Second { row, mut delta } = second(0) else {
        panic!("made as a second")
    };
    Arc::make_mut(&mut delta).counts.lost = 1;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(encode::start_record(&begin.start.take().unwrap()).unwrap());
    let second = RunEvent::Second { row, delta };
    bytes.extend(encode::part_record(&batch(&[second]).part().unwrap()).unwrap());
    let result = recover_from(&bytes[..]).unwrap().result;
    let counts = &result.totals.seen.counts;
    assert_eq!((counts.lost, counts.interrupted), (1, 0));
    assert!(counts.is_conserved());
}

#[test]
fn a_run_that_ended_tells_its_own_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.journal");
    let journal = Journal::create(&path).unwrap();
    let end = finished(2);
    for event in [started(), second(0), mark(5), second(1), end.clone()] {
        journal.record(&event);
    }
    let report = journal.close();
    assert!(report.complete && report.trouble.is_none());
    let recovered = recover(&path).unwrap();
    assert_eq!(recovered.how, HowEnded::Clean);
    let RunEvent::Finished(result) = end else {
        panic!("made as the end")
    };
    assert_eq!(recovered.result, *result);
    assert!(is_journal(&fs::read(&path).unwrap()));
}

#[test]
fn a_run_that_died_is_told_up_to_its_last_record() {
    let mut batch = batch(&[
        started(),
        second(0),
        second(1),
        second(2),
        mark(5),
        resource(6),
    ]);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(encode::start_record(&batch.start.take().unwrap()).unwrap());
    bytes.extend(encode::part_record(&batch.part().unwrap()).unwrap());
    let Recovered {
        result, how, torn, ..
    } = recover_from(&bytes[..]).unwrap();
    assert_eq!(
        how,
        HowEnded::Crashed {
            last_ns: 3_000_000_000
        }
    );
    assert!(!torn);
    check_told(&result, 3);
    assert_eq!(
        (result.events.len(), result.observations.series.len()),
        (1, 1)
    );
    assert_eq!(result.plan, plan());
    assert_eq!(result.labels["build"], "7");
    let totals = &result.totals;
    assert_eq!(totals.asked, Some(33));
    assert_eq!(totals.rates.goodput, 9.0);
    assert_eq!(totals.rates.max_1s, Some(11.0));
    assert_eq!(totals.rates.max_5s, None, "the run was shorter");
    assert_eq!(totals.cpu_ns, 1_500_000_000);
}

#[test]
fn the_summary_of_a_script_run_that_died_is_made_of_what_was_told() {
    let registry: Arc<MetricRegistry> = Arc::default();
    let own = registry.declare("own", MetricType::Trend, Contains::Time);
    let own = own.expect("a good name");
    let mut seen = Measurements::new(&SeriesPlan::default(), registry);
    let mut bytes = journal_of(0).0;
    let mut sum = MeasurementsDelta::default();
    for number in 0..3 {
        seen.record(own, number as f64, number, &TagSet::new())
            .expect("a finite value");
        let tags: TagSet = [("check", "holds"), ("group", "::g")].into_iter().collect();
        seen.check(number > 0, number, &tags);
        let told = seen.take();
        sum.merge(told.clone());
        let RunEvent::Second { row, delta } = second(number) else {
            panic!("a second is a second");
        };
        let delta = Snapshot {
            script: Some(Box::new(told)),
            ..Arc::unwrap_or_clone(delta)
        };
        let event = RunEvent::Second {
            row,
            delta: Arc::new(delta),
        };
        bytes.extend(encode::part_record(&batch(&[event]).part().unwrap()).unwrap());
    }
    let result = recover_from(&bytes[..]).unwrap().result;
    assert_eq!(result.totals.seen.script, None);
    let expected = TestSummary::of(&sum, result.totals.elapsed_ns, None, &[]);
    assert_eq!(expected.root.groups[0].1.checks[0].passes, 2);
    assert_eq!(result.summary, Some(expected));
}

#[test]
fn the_table_by_name_of_a_run_that_died_has_its_course() {
    let series = SeriesPlan {
        by_tag: Some("name".to_owned()),
        ..SeriesPlan::default()
    };
    let mut start = batch(&[started()]).start.expect("a run begins");
    let mut script = ScriptSettings::default();
    script.series.by_tag = series.by_tag.clone();
    start.plan.script = Some(Arc::new(script));
    let mut bytes = MAGIC.to_vec();
    bytes.extend(encode::start_record(&start).expect("it can be written"));
    let mut seen = Measurements::new(&series, Arc::default());
    let tags: TagSet = [("name", "a"), ("status", "503")].into_iter().collect();
    for number in 0..3 {
        for _ in 0..number {
            seen.record_http(&HttpTimes::default(), Some(true), number, &tags);
        }
        let mut part = batch(&[second(number)]).part().expect("a second");
        part.seen.script = Some(Box::new(seen.take()));
        bytes.extend(encode::part_record(&part).expect("it can be written"));
    }
    let result = recover_from(&bytes[..]).expect("whole records").result;
    let table = result.summary.and_then(|summary| summary.by_tag);
    let table = table.expect("it was asked for");
    assert_eq!(
        table.failures,
        [("a".to_owned(), vec![("status 503".to_owned(), 3)])]
    );
    let course = table.over_time.expect("there were requests");
    assert_eq!(course.at_ns, [0, 1_000_000_000, 2_000_000_000]);
    assert_eq!(course.values[0].requests, [0, 1, 2]);
    assert_eq!(course.values[0].failed, [0, 1, 2]);
}

#[test]
fn a_journal_cut_at_any_byte_tells_a_true_prefix() {
    let (bytes, ends) = journal_of(2);
    for length in 0..bytes.len() {
        let whole = ends.iter().filter(|end| **end <= length).count();
        match recover_from(&bytes[..length]) {
            Ok(recovered) => {
                check_told(&recovered.result, whole as u64 - 1);
                assert_eq!(recovered.torn, !ends.contains(&length));
            }
            Err(error) => {
                assert!(matches!(error, RecoverError::Empty), "{error}");
                assert_eq!(whole, 0);
            }
        }
    }
}

#[test]
fn an_end_that_was_cut_leaves_the_seconds_before_it() {
    let RunEvent::Finished(result) = finished(2) else {
        panic!("made as the end")
    };
    let (mut bytes, _) = journal_of(2);
    bytes.extend(encode::end_record(&result).unwrap());
    bytes.pop();
    let recovered = recover_from(&bytes[..]).unwrap();
    assert!(recovered.torn && !recovered.is_damaged);
    check_told(&recovered.result, 2);
}

#[test]
fn damage_in_the_middle_is_no_death() {
    let (mut bytes, ends) = journal_of(3);
    bytes[ends[1] + encode::HEAD_BYTES] ^= 1;
    let recovered = recover_from(&bytes[..]).unwrap();
    assert!(recovered.torn && recovered.is_damaged);
    check_told(&recovered.result, 1);
    let headline = recovered.result.verdict.headline;
    assert_eq!(
        headline,
        "the journal is damaged behind the first 1.0 s: what follows cannot be read"
    );
    // What damage and what a death made of the last record cannot be told apart.
    bytes.truncate(ends[2]);
    assert!(!recover_from(&bytes[..]).unwrap().is_damaged);
}

#[test]
fn numbers_that_no_run_counts_end_the_telling() {
    let (mut bytes, _) = journal_of(1);
    let mut part = batch(&[second(1)]).part().unwrap();
    part.seen.counts.started = u64::MAX;
    bytes.extend(encode::part_record(&part).unwrap());
    let recovered = recover_from(&bytes[..]).unwrap();
    assert!(recovered.torn);
    check_told(&recovered.result, 1);
}

#[test]
fn readings_of_a_long_run_are_thinned_and_none_of_its_time_is_missing() {
    const EACH: u64 = 60_000;
    let (mut bytes, _) = journal_of(2);
    let place = |number: u64| number * 1_000_000;
    for from in [0, EACH] {
        let mut part = batch(&[resource(0)]).part().unwrap();
        let one = part.resources.pop().unwrap();
        part.resources = (from..from + EACH)
            .map(|number| ResourceSample {
                at_ns: place(number) as i64,
                value: if number == 70_001 { 9.0 } else { 0.25 },
                ..one.clone()
            })
            .collect();
        bytes.extend(encode::part_record(&part).unwrap());
    }
    let sum = recover::replay(&bytes[..]).unwrap().sum();
    let mut rewritten = journal_of(0).0;
    rewritten.extend(encode::part_record(&sum).unwrap());
    for bytes in [bytes, rewritten] {
        let result = recover_from(&bytes[..]).unwrap().result;
        let [series] = &result.observations.series[..] else {
            panic!("one quantity was read");
        };
        assert!(series.points.len() <= POINTS_MAX);
        let last = series.points.last().unwrap().0 as u64;
        assert!(last > place(2 * EACH * 99 / 100), "{last}");
        assert_eq!(series.peak, Some(Point(place(70_001) as i64, 9.0)));
        assert_eq!(result.events, []);
    }
}

#[test]
fn what_a_journal_has_no_room_for_is_told() {
    let (mut bytes, _) = journal_of(1);
    let mut part = batch(&[second(1)]).part().unwrap();
    part.left_out = 7;
    bytes.extend(encode::part_record(&part).unwrap());
    let result = recover_from(&bytes[..]).unwrap().result;
    let told = &result.events.last().expect("a mark").text;
    assert!(told.starts_with("7 marks, readings and notes"), "{told}");
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let cases: [(&[u8], &str); 3] = [
        (b"{\"schema\":1}", "is not a loadline journal"),
        (b"loadline/journal/v9\nxyz", "loadline/journal/v9"),
        (MAGIC, "holds no whole record"),
    ];
    for (bytes, expected) in cases {
        let error = recover_from(bytes).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn only_a_journal_that_ended_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.journal");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(
        Journal::create(&path),
        Err(CreateError::NotAJournal)
    ));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    let device = Journal::create(Path::new("/dev/null"));
    assert!(matches!(device, Err(CreateError::NotAJournal)));
    fs::write(&path, journal_of(1).0).unwrap();
    assert!(matches!(Journal::create(&path), Err(CreateError::Unread)));
    let RunEvent::Finished(result) = finished(1) else {
        panic!("made as the end")
    };
    let mut ended = journal_of(1).0;
    ended.extend(encode::end_record(&result).unwrap());
    fs::write(&path, ended).unwrap();
    let held = Journal::create(&path).unwrap();
    assert!(matches!(Journal::create(&path), Err(CreateError::Unread)));
    drop(held);
    drop(Journal::create(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), MAGIC);
}

#[cfg(unix)]
#[test]
fn a_journal_is_its_owners_alone_and_follows_no_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (named, own) = (folder.path().join("named"), folder.path().join("own"));
    drop(Journal::create(&named).unwrap());
    drop(Journal::create_new(&own).unwrap());
    for path in [&named, &own] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(Journal::create_new(&own).is_err());
    // An attacker's link points to a file of the user that is empty or does not exist yet.
    let link = folder.path().join("link");
    symlink(folder.path().join("precious"), &link).unwrap();
    assert!(Journal::create(&link).is_err());
    assert!(Journal::create_new(&link).is_err());
    assert!(!folder.path().join("precious").exists());
}

/// A disk in memory that fails while `failing`, after half of the bytes.
#[derive(Clone, Default)]
struct FlakyDisk {
    content: Arc<Mutex<Vec<u8>>>,
    failing: Arc<Mutex<bool>>,
}

impl FlakyDisk {
    fn new() -> FlakyDisk {
        let disk = FlakyDisk::default();
        disk.content.lock().unwrap().extend(MAGIC);
        disk
    }
}

impl Disk for FlakyDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let failing = *self.failing.lock().unwrap();
        let taken = if failing {
            &bytes[..bytes.len() / 2]
        } else {
            bytes
        };
        self.content.lock().unwrap().extend(taken);
        if failing {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        } else {
            Ok(())
        }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.content.lock().unwrap().truncate(length as usize);
        Ok(())
    }

    fn rewrite(&mut self) -> io::Result<u64> {
        Err(io::Error::other("not in this test"))
    }
}

#[test]
fn a_full_disk_loses_nothing_once_it_has_room_again() {
    let disk = FlakyDisk::new();
    let mut writer = Writer::new(disk.clone(), u64::MAX);
    writer.write(batch(&[started(), second(0)]));
    *disk.failing.lock().unwrap() = true;
    for number in 1..40 {
        writer.write(batch(&[second(number)]));
    }
    let left = recover_from(&disk.content.lock().unwrap()[..]).unwrap();
    assert!(left.torn);
    check_told(&left.result, 1);
    assert!(!writer.is_complete());
    *disk.failing.lock().unwrap() = false;
    writer.write(Batch::default());
    assert!(writer.is_complete());
    assert_eq!(
        writer.trouble.as_ref().map(io::Error::kind),
        Some(io::ErrorKind::StorageFull)
    );
    check_told(
        &recover_from(&disk.content.lock().unwrap()[..])
            .unwrap()
            .result,
        40,
    );
}

/// A disk whose appends each wait for a signal.
struct SlowDisk {
    disk: FlakyDisk,
    appending: Sender<()>,
    go_on: Receiver<()>,
}

impl Disk for SlowDisk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.appending.send(()).map_err(io::Error::other)?;
        self.go_on.recv().map_err(io::Error::other)?;
        self.disk.append(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.cut(length)
    }

    fn rewrite(&mut self) -> io::Result<u64> {
        self.disk.rewrite()
    }
}

#[test]
fn a_slow_disk_gets_one_record_for_many_seconds_and_blocks_nobody() {
    let disk = FlakyDisk::new();
    let (appending, is_appending) = channel();
    let (go_on, waits) = channel();
    let slow = SlowDisk {
        disk: disk.clone(),
        appending,
        go_on: waits,
    };
    let journal = Journal::start(slow, Path::new("slow"), u64::MAX).unwrap();
    journal.record(&started());
    is_appending.recv().unwrap();
    for number in 0..50 {
        journal.record(&second(number));
    }
    go_on.send(()).unwrap();
    go_on.send(()).unwrap();
    let report = journal.close();
    assert!(report.complete);
    assert_eq!(
        report.records, 2,
        "fifty seconds were merged into one record"
    );
    check_told(
        &recover_from(&disk.content.lock().unwrap()[..])
            .unwrap()
            .result,
        50,
    );
}

#[test]
fn a_long_journal_is_written_anew_as_its_sum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.journal");
    let disk = FileDisk::begin(fs::File::create(&path).unwrap(), &path).unwrap();
    let mut writer = Writer::new(disk, 8 << 10);
    writer.write(batch(&[started()]));
    for number in 0..60 {
        writer.write(batch(&[second(number), mark(number)]));
    }
    assert!(writer.trouble.is_none(), "{:?}", writer.trouble);
    let appended = journal_of(60).0.len() as u64;
    assert!(fs::metadata(&path).unwrap().len() < appended / 2);
    let recovered = recover(&path).unwrap();
    check_told(&recovered.result, 60);
    assert_eq!(recovered.result.events.len(), 60);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn too_many_rows_become_half_as_many_with_the_same_sums() {
    let mut rows: Vec<_> = (0..7).map(row).collect();
    let before: u64 = rows.iter().map(|row| row.completed).sum();
    halve(&mut rows);
    assert_eq!(rows.len(), 4);
    assert_eq!(rows.iter().map(|row| row.completed).sum::<u64>(), before);
    assert_eq!(
        (rows[1].at_ns, rows[1].span_ns),
        (2_000_000_000, 2_000_000_000)
    );
    assert_eq!(rows[1].offered, Some(12 + 13));
    assert_eq!(rows[1].generator.cpu_cores, 0.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_changed_byte_ends_the_telling_there(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let (mut bytes, ends) = journal_of(3);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(recovered) = recover_from(&bytes[..]) {
            let whole_before = ends.iter().filter(|end| **end <= at).count() as u64;
            prop_assert!(recovered.torn);
            check_told(&recovered.result, whole_before - 1);
        }
    }

    #[test]
    fn any_bytes_behind_the_first_line_are_harmless(
        tail in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(&tail);
        prop_assert!(matches!(recover_from(&bytes[..]), Err(RecoverError::Empty)));
    }
}

#[test]
fn the_first_trouble_is_told_once_while_the_run_goes_on() {
    let disk = FlakyDisk::new();
    *disk.failing.lock().unwrap() = true;
    let journal = Journal::start(disk, Path::new("flaky"), u64::MAX).unwrap();
    assert_eq!(journal.take_trouble(), None);
    journal.record(&started());
    let told = (0..2_000).find_map(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(5));
        journal.take_trouble()
    });
    let full = io::Error::from(io::ErrorKind::StorageFull).to_string();
    assert_eq!(told, Some(full));
    journal.record(&second(1));
    let report = journal.close();
    assert!(report.trouble.is_some() && !report.complete);
}
