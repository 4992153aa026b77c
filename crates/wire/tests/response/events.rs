//! Records the parser's output for a stream of bytes, so that two runs can be compared.
//!
//! It must not know what is expected; the tests and the fuzz targets do. Invariant: adjacent body pieces are
//! one event, because the split between them has no meaning.

use std::mem::{Discriminant, discriminant};

use loadline_wire::{
    Fields, Framing, Head, Limits, RequestKind, ResponseParser, ResponseSink, Reuse, State,
    WireError,
};

/// A header or trailer line.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// What a sink received, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// An interim or a final head.
    Head(HeadEvent),
    /// Body bytes.
    Body(Vec<u8>),
    /// Trailers.
    Trailers(Vec<Field>),
    /// A response is complete.
    Done(Reuse),
    /// The parser gave up. Samples depend on how the bytes arrived, so only the kind is compared.
    Failed(Discriminant<WireError>),
    /// The connection ended where it is allowed to.
    Ended,
}

/// The content of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadEvent {
    pub(crate) status: u16,
    pub(crate) minor: u8,
    pub(crate) reason: Vec<u8>,
    pub(crate) headers: Vec<Field>,
    pub(crate) content_type: Option<Vec<u8>>,
    pub(crate) content_length: Option<u64>,
    pub(crate) framing: Framing,
    pub(crate) wire_len: usize,
}

/// The complete output for one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    /// In order of arrival.
    pub(crate) events: Vec<Event>,
    /// Bytes that belong to responses.
    pub(crate) consumed: usize,
    /// The error that ended it, with its sample.
    pub(crate) error: Option<WireError>,
}

impl Transcript {
    /// Body bytes of all responses.
    pub(crate) fn body(&self) -> Vec<u8> {
        let pieces = self.events.iter().filter_map(|event| match event {
            Event::Body(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        pieces.collect::<Vec<_>>().concat()
    }
}

/// Feeds `pieces` and then the end of the connection. Expects another response of the same `kind` whenever a
/// response leaves the connection reusable.
///
/// # Panics
/// If the parser violates a property that holds for every input.
pub(crate) fn transcript<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    kind: RequestKind,
    limits: Limits,
) -> Transcript {
    let mut parser = ResponseParser::new(limits);
    let mut recorder = Recorder::default();
    let mut consumed = 0;
    parser.start(kind);
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            match parser.feed(rest, &mut recorder) {
                Ok(progress) => {
                    assert!(progress.consumed <= rest.len(), "more consumed than given");
                    consumed += progress.consumed;
                    rest = &rest[progress.consumed..];
                    let State::Done { reuse } = progress.state else {
                        assert!(rest.is_empty(), "an unfinished response left bytes over");
                        continue;
                    };
                    recorder.events.push(Event::Done(reuse));
                    if reuse != Reuse::KeepAlive {
                        return recorder.close(consumed, None);
                    }
                    parser.start(kind);
                }
                Err(error) => return recorder.close(consumed, Some(error)),
            }
        }
    }
    let error = parser.finish().err();
    assert!(parser.is_idle(), "a connection that ended awaits nothing");
    recorder.close(consumed, error)
}

#[derive(Default)]
struct Recorder {
    events: Vec<Event>,
}

impl Recorder {
    fn close(mut self, consumed: usize, error: Option<WireError>) -> Transcript {
        self.events
            .push(error.map_or(Event::Ended, |error| Event::Failed(discriminant(&error))));
        // The piece with an error is not counted as consumed, though its body bytes were passed on.
        let transcript = Transcript {
            events: self.events,
            consumed,
            error,
        };
        assert!(
            error.is_some() || transcript.body().len() <= consumed,
            "a body longer than its bytes"
        );
        transcript
    }
}

fn owned(fields: Fields<'_>) -> Vec<Field> {
    fields
        .into_iter()
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect()
}

fn head_event(head: &Head<'_>) -> Event {
    Event::Head(HeadEvent {
        status: head.status(),
        minor: head.minor_version(),
        reason: head.reason().unwrap_or_default().to_vec(),
        headers: owned(head.headers()),
        content_type: head.content_type().map(<[u8]>::to_vec),
        content_length: head.content_length(),
        framing: head.framing(),
        wire_len: head.wire_len(),
    })
}

impl ResponseSink for Recorder {
    fn interim(&mut self, head: &Head<'_>) {
        assert!((100..200).contains(&head.status()) && head.status() != 101);
        self.events.push(head_event(head));
    }

    fn head(&mut self, head: &Head<'_>) {
        self.events.push(head_event(head));
    }

    fn body(&mut self, piece: &[u8]) {
        assert!(!piece.is_empty(), "an empty body piece");
        match self.events.last_mut() {
            Some(Event::Body(bytes)) => bytes.extend_from_slice(piece),
            _ => self.events.push(Event::Body(piece.to_vec())),
        }
    }

    fn trailers(&mut self, fields: Fields<'_>) {
        self.events.push(Event::Trailers(owned(fields)));
    }
}
