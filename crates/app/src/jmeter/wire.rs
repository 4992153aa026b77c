//! Results of agents on the way to their receivers.
//!
//! Must not know connections. Invariants: response bodies stay on the agent, as with JMeter's own sender of
//! samples (`StrippedBatch`); data from the network is checked against the plan here.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use loadline_cluster::ResultTaker;
use loadline_steps::listener::{Heard, ListenerId, Standing};
use loadline_steps::program::Program;
use loadline_steps::sample::Sample;
use serde::{Deserialize, Serialize};

/// Approximate size of a part of the results, in bytes.
const PART_BYTES: usize = 256 << 10;

/// A finished sample, as it is sent.
#[derive(Serialize)]
struct Sent<'a> {
    sample: &'a Sample,
    listeners: &'a [ListenerId],
    standing: Standing,
}

/// The same as it is received.
#[derive(Deserialize)]
struct Received {
    sample: Sample,
    listeners: Vec<ListenerId>,
    standing: Standing,
}

/// Sends results until there are no more, or the receiver is gone.
pub(crate) fn send(results: &Receiver<Vec<Heard>>, to: &SyncSender<Vec<u8>>) {
    for batch in results {
        let mut part = Vec::new();
        for heard in &batch {
            write(heard, &mut part);
            if part.len() >= PART_BYTES && to.send(std::mem::take(&mut part)).is_err() {
                return;
            }
        }
        if !part.is_empty() && to.send(part).is_err() {
            return;
        }
    }
}

fn write(heard: &Heard, out: &mut Vec<u8>) {
    let sent = Sent {
        sample: &heard.sample,
        listeners: &heard.listeners,
        standing: heard.standing,
    };
    serde_json::to_writer(&mut *out, &sent).expect("samples have texts and numbers only");
    out.push(b'\n');
}

/// Receives results of a program's threads for their receivers.
pub(crate) fn taker(program: Arc<Program>, to: SyncSender<Vec<Heard>>) -> ResultTaker {
    Box::new(move |bytes| {
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let read: Result<Vec<Heard>, String> = lines.map(|line| read(line, &program)).collect();
        // The receiver has ended, and has reported why.
        drop(to.send(read?));
        Ok(())
    })
}

fn read(line: &[u8], program: &Program) -> Result<Heard, String> {
    let received: Received = serde_json::from_slice(line)
        .map_err(|error| format!("a result cannot be read: {error}"))?;
    let known = program.listeners.len();
    if let Some(unknown) = received.listeners.iter().find(|id| **id >= known) {
        return Err(format!("there is no listener {unknown}"));
    }
    Ok(Heard {
        sample: Arc::new(received.sample),
        listeners: received.listeners.into(),
        standing: received.standing,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use loadline_steps::listener::Listener;
    use loadline_steps::text::Text;

    use super::*;

    fn heard(label: &str, listener: ListenerId) -> Heard {
        let below = Sample {
            label: format!("{label}-0"),
            ..Sample::default()
        };
        Heard {
            sample: Arc::new(Sample {
                label: label.to_owned(),
                start_ms: -5,
                url: Some("http://h/\n".to_owned()),
                variables: vec![None, Some("v".to_owned())],
                children: vec![below],
                ..Sample::default()
            }),
            listeners: [listener].into(),
            standing: Standing::Again(1),
        }
    }

    fn program() -> Arc<Program> {
        let name = Text::parse("s").expect("a text");
        Arc::new(Program {
            listeners: vec![Listener::Summary(name)],
            ..Program::default()
        })
    }

    #[test]
    fn results_come_as_they_were_sent_but_for_bodies() {
        let (to, results) = sync_channel(4);
        let (sender, parts) = sync_channel(4);
        let mut with_body = heard("b", 0);
        Arc::make_mut(&mut with_body.sample).data = b"body".to_vec();
        to.send(vec![heard("a", 0), with_body]).expect("room");
        drop(to);
        send(&results, &sender);
        let (to, taken) = sync_channel(4);
        let part = parts.recv().expect("it was sent");
        taker(program(), to)(&part).expect("sound");
        let taken = taken.recv().expect("it came");
        let samples: Vec<&Sample> = taken.iter().map(|heard| &*heard.sample).collect();
        assert_eq!(samples, [&*heard("a", 0).sample, &*heard("b", 0).sample]);
        assert_eq!(taken[0].standing, Standing::Again(1));
        assert_eq!(&*taken[0].listeners, [0]);
    }

    #[test]
    fn results_that_cannot_be_are_refused() {
        let (to, taken) = sync_channel(4);
        let take = taker(program(), to);
        let mut unknown = Vec::new();
        write(&heard("a", 1), &mut unknown);
        for bytes in [&unknown[..], b"{}", b"\xff\n", b"[1"] {
            assert!(take(bytes).is_err(), "{bytes:?}");
        }
        assert!(taken.try_recv().is_err(), "nothing of them is told");
    }
}
