//! The pool with servers that respond as scripted, and the thread before it; waits are zero.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::TaggedValues;

use super::thread::{Carrier, Piece};
use super::{Ending, Pool, Post, PushSink, Pushing, Refusal, Retry};
use crate::k6_lines::{Lines, MetricDescription};
use crate::{GiveUp, SinkReport};

const IMPATIENT: Retry = Retry {
    first: Duration::ZERO,
    longest: Duration::ZERO,
    waits: 3,
};

/// Responds in this order, then accepts everything.
#[derive(Default)]
struct Server {
    answers: Mutex<Vec<Result<(), Refusal>>>,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Post for Server {
    fn post(&self, body: &[u8]) -> Result<(), Refusal> {
        self.bodies.lock().unwrap().push(body.to_vec());
        let mut answers = self.answers.lock().unwrap();
        match answers.is_empty() {
            true => Ok(()),
            false => answers.remove(0),
        }
    }
}

fn busy() -> Result<(), Refusal> {
    Err(Refusal::NotNow {
        why: "busy".to_owned(),
        wait: Some(Duration::from_secs(3_600)),
    })
}

/// The outcome for pieces of one value each, the number of posts, and the messages.
fn carried(answers: Vec<Result<(), Refusal>>, pieces: u8) -> (SinkReport, usize, Vec<String>) {
    carried_until(answers, pieces, GiveUp::default())
}

fn carried_until(
    answers: Vec<Result<(), Refusal>>,
    pieces: u8,
    give_up: GiveUp,
) -> (SinkReport, usize, Vec<String>) {
    let server = Server {
        answers: Mutex::new(answers),
        ..Server::default()
    };
    let bodies = Arc::clone(&server.bodies);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_trouble = Arc::new(move |why: &str| tell.lock().unwrap().push(why.to_owned()));
    let mut pool = Pool::start(
        "test",
        1,
        server,
        (IMPATIENT, Arc::default()),
        (on_trouble, give_up),
    )
    .unwrap();
    for number in 0..pieces {
        pool.carry(Piece {
            bytes: vec![number],
            values: 1,
        });
    }
    let report = pool.finish();
    let told = told.lock().unwrap().clone();
    let posts = bodies.lock().unwrap().len();
    (report, posts, told)
}

#[test]
fn a_server_that_comes_back_gets_everything() {
    let (report, posts, told) = carried(vec![busy(), busy(), busy()], 2);
    assert_eq!((report.written, report.lost), (2, 0));
    assert!(report.error.is_none());
    assert_eq!((posts, told), (5, vec!["busy".to_owned()]));
}

#[test]
fn a_server_that_stays_away_costs_one_patience_and_everything_is_counted() {
    let (report, posts, told) = carried(vec![busy(); 100], 5);
    assert_eq!((report.written, report.lost), (0, 5));
    assert_eq!(report.error.unwrap().to_string(), "busy");
    // Once, and three times again; the other four pieces once at most.
    assert!((4..=8).contains(&posts), "{posts}");
    assert_eq!(told.len(), 1);
}

#[test]
fn what_will_never_be_taken_is_not_sent_again() {
    let never = Err(Refusal::Never("bad".to_owned()));
    let partly = Err(Refusal::Partly {
        why: "some".to_owned(),
        lost: 9,
    });
    let (report, posts, told) = carried(vec![never, partly], 3);
    assert_eq!((report.written, report.lost, posts), (1, 2, 3));
    assert_eq!(report.error.unwrap().to_string(), "bad");
    assert_eq!(told, ["bad"]);
}

#[test]
fn who_gives_up_waits_for_nothing_and_is_told_what_is_lost() {
    let give_up = GiveUp::new(true.into());
    let (report, posts, _) = carried_until(vec![busy(); 100], 9, give_up);
    assert_eq!((report.written, report.lost), (0, 9));
    assert!(report.error.is_some());
    assert!(posts <= 12, "{posts}");
}

/// Takes bodies up to a size; a byte is a value.
struct Narrow {
    bytes_max: usize,
    taken: Arc<Mutex<Vec<u8>>>,
    posts: Arc<Mutex<usize>>,
}

impl Post for Narrow {
    fn post(&self, body: &[u8]) -> Result<(), Refusal> {
        *self.posts.lock().unwrap() += 1;
        if body.len() > self.bytes_max {
            return Err(Refusal::TooLarge("too large".to_owned()));
        }
        self.taken.lock().unwrap().extend(body);
        Ok(())
    }

    fn cut(&self, body: &[u8]) -> Option<(usize, u64)> {
        let middle = body.len() / 2;
        (middle > 0).then_some((middle, middle as u64))
    }
}

/// The outcome for bodies at a server that takes some bytes at once: what it has, and the number of posts.
fn narrowed(bytes_max: usize, bodies: &[&[u8]]) -> (SinkReport, Vec<u8>, usize) {
    let (taken, posts) = (Arc::default(), Arc::default());
    let server = Narrow {
        bytes_max,
        taken: Arc::clone(&taken),
        posts: Arc::clone(&posts),
    };
    let words = (Arc::new(|_: &str| ()) as _, GiveUp::default());
    let mut pool = Pool::start("test", 1, server, (IMPATIENT, Arc::default()), words).unwrap();
    for body in bodies {
        pool.carry(Piece {
            bytes: body.to_vec(),
            values: body.len() as u64,
        });
    }
    let report = pool.finish();
    let taken = taken.lock().unwrap().clone();
    let posts = *posts.lock().unwrap();
    (report, taken, posts)
}

#[test]
fn a_body_that_is_too_large_arrives_in_parts_and_later_ones_are_cut_at_once() {
    let (report, taken, posts) = narrowed(3, &[b"abcdefgh", b"ijklmnop"]);
    assert_eq!((report.written, report.lost), (16, 0));
    assert_eq!(taken, b"abcdefghijklmnop");
    // Eight, four, and two four times; then two four times.
    assert_eq!(posts, 10);
}

#[test]
fn a_server_that_finds_the_smallest_body_too_large_is_not_sent_the_rest() {
    let (report, _, posts) = narrowed(0, &[&[b'x'; 1024]]);
    assert_eq!((report.written, report.lost, posts), (0, 1024, 11));
    assert_eq!(report.error.unwrap().to_string(), "too large");
}

/// A digit per value.
struct Digits;

impl Lines for Digits {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn append(
        &mut self,
        values: &TaggedValues,
        _describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        out.extend(values.values.iter().map(|(_, value)| *value as u8));
    }
}

/// Keeps what it is given.
struct Kept {
    pieces: Arc<Mutex<Vec<Piece>>>,
}

impl Carrier for Kept {
    fn piece_bytes(&self) -> usize {
        4
    }

    fn carry(&mut self, piece: Piece) {
        self.pieces.lock().unwrap().push(piece);
    }

    fn finish(self) -> SinkReport {
        SinkReport::default()
    }
}

fn at(time_s: u64, values: &[f64]) -> TaggedValues {
    TaggedValues {
        request: None,
        time_unix_ns: time_s * 1_000_000_000,
        tags: Arc::new(TagSet::new()),
        metadata: None,
        values: values
            .iter()
            .map(|value| (BuiltIn::HttpReqs.id(), *value))
            .collect(),
    }
}

#[test]
fn pieces_are_closed_by_size_by_age_and_at_the_end() {
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = sync_channel(8);
    let pushing = Pushing {
        name: "test",
        lines: Digits,
        carrier: Kept {
            pieces: Arc::clone(&pieces),
        },
        interval: Duration::from_secs(60),
        ending: Arc::default(),
    };
    let never = |_| unreachable!("digits need no description");
    let sink = PushSink::start(pushing, receiver, never).unwrap();
    for batch in [
        vec![at(0, &[1.0, 2.0]), at(0, &[3.0, 4.0]), at(0, &[5.0])],
        vec![at(1, &[6.0])],
        vec![at(70, &[7.0])],
        vec![at(71, &[8.0])],
    ] {
        sender.send(batch).unwrap();
    }
    drop(sender);
    assert!(sink.finish().error.is_none());
    let pieces = pieces.lock().unwrap();
    let bytes: Vec<&[u8]> = pieces.iter().map(|piece| &*piece.bytes).collect();
    assert_eq!(bytes, [&[1, 2, 3, 4][..], &[5, 6, 7], &[8]]);
    let values: Vec<u64> = pieces.iter().map(|piece| piece.values).collect();
    assert_eq!(values, [4, 3, 1]);
}

#[test]
fn the_end_is_told_past_what_waits_before_a_server_that_takes_nothing() {
    let long = Duration::from_secs(3_600);
    let retry = Retry {
        first: long,
        longest: long,
        waits: 1,
    };
    let server = Server {
        answers: Mutex::new(vec![busy(); 1_000]),
        ..Server::default()
    };
    let ending = Arc::<Ending>::default();
    let words = (Arc::new(|_: &str| ()) as _, GiveUp::default());
    let carrier = Pool::start("test", 1, server, (retry, Arc::clone(&ending)), words).unwrap();
    let (sender, receiver) = sync_channel(1_000);
    let pushing = Pushing {
        name: "test",
        lines: Digits,
        carrier,
        interval: Duration::from_secs(1),
        ending,
    };
    let never = |_| unreachable!("digits need no description");
    let sink = PushSink::start(pushing, receiver, never).unwrap();
    // More pieces than the pool has room for.
    for second in 0..200 {
        sender
            .send(vec![at(2 * second, &[1.0]), at(2 * second + 1, &[2.0])])
            .unwrap();
    }
    drop(sender);
    let report = sink.finish();
    assert_eq!((report.written, report.lost), (0, 400));
}
