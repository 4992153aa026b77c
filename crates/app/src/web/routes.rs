//! The responses of the live page's server, by request.
//!
//! Must not know connections. Invariants: every request gets a response; orders are only accepted by `POST`.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::time::Duration;

use hyper::Method;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use loadline_model::RunCommand;
use loadline_report::html::{self, Steering};
use loadline_run::RunWatch;

use super::readers::{Place, Reader};
use super::story::Told;
use crate::http::{Answer, Asked, Refusal, Service, Work};

const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
const EVENTS: &str = "text/event-stream; charset=utf-8";
/// How long rendering a page with the current state may take.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);
/// How long rendering the report of an unfinished run may take.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// What the page reads and controls.
pub(super) struct Page {
    pub(super) steering: Steering,
    pub(super) events: SyncSender<Told>,
    pub(super) commands: Sender<RunCommand>,
    pub(super) watch: Option<Arc<RunWatch>>,
    /// Number of occupied slots.
    pub(super) readers: Arc<AtomicUsize>,
}

impl Page {
    fn routed(&self, asked: &Asked<'_>) -> Work {
        match (asked.method, asked.path) {
            (&Method::GET, "/") => self.page(),
            (&Method::GET, "/events") => self.listen(asked),
            (&Method::GET, "/report.html") => self.report(),
            (&Method::POST, path) => Work::Done(match path.strip_prefix("/command/") {
                Some(order) => self.order(order),
                None => not_found(),
            }),
            (_, "/" | "/events" | "/report.html") => {
                Work::Done(Answer::empty(405).with(ALLOW, "GET"))
            }
            (_, path) if path.starts_with("/command/") => {
                Work::Done(Answer::empty(405).with(ALLOW, "POST"))
            }
            _ => Work::Done(not_found()),
        }
    }

    fn listen(&self, asked: &Asked<'_>) -> Work {
        let full = || Answer::new(503, PLAIN, "too many live pages are open: close one\n");
        let Some(place) = Place::take(&self.readers) else {
            return Work::Done(full());
        };
        let (reader, channel) = Reader::new(Arc::clone(asked.cut), place);
        match self.events.try_send(Told::Reader(reader)) {
            Ok(()) => Work::Stream(Answer::new(200, EVENTS, ""), channel),
            Err(_) => Work::Done(ended()),
        }
    }

    /// The page with the current state; if that takes too long, a page that gets it later.
    fn page(&self) -> Work {
        let (events, steering) = (self.events.clone(), self.steering.clone());
        Work::Later(Box::new(move || {
            let (to, page) = sync_channel(1);
            let asked = Told::Page(steering.clone(), to);
            let made = match events.try_send(asked) {
                Ok(()) => page.recv_timeout(PAGE_PATIENCE).ok(),
                Err(_) => None,
            };
            let page = made.unwrap_or_else(|| html::live(&steering, "connecting", None));
            Answer::new(200, HTML, page)
        }))
    }

    fn report(&self) -> Work {
        let events = self.events.clone();
        Work::Later(Box::new(move || {
            let (made, report) = sync_channel(1);
            if events.try_send(Told::Report(made)).is_err() {
                return ended();
            }
            match report.recv_timeout(REPORT_PATIENCE) {
                Ok(report) => Answer::new(200, HTML, report),
                Err(_) => Answer::new(503, PLAIN, "there is nothing to report yet\n"),
            }
        }))
    }

    fn order(&self, order: &str) -> Answer {
        let (order, is_paused) = match order {
            "stop" => (RunCommand::StopRemotely, None),
            "pause" => (RunCommand::Pause, Some(true)),
            "resume" => (RunCommand::Resume, Some(false)),
            _ => return not_found(),
        };
        if is_paused.is_some() && !self.steering.can_pause {
            let why = "only externally controlled scenarios can be paused\n";
            return Answer::new(409, PLAIN, why);
        }
        if let Some(watch) = &self.watch {
            match is_paused {
                Some(is_paused) => watch.set_paused(is_paused),
                None => watch.set_stopped(),
            }
        }
        match self.commands.send(order) {
            Ok(()) => Answer::new(200, PLAIN, "told\n"),
            Err(_) => ended(),
        }
    }
}

impl Service for Page {
    fn answer(self: &Arc<Self>, asked: &Asked<'_>) -> Work {
        match self.routed(asked) {
            Work::Done(answer) => Work::Done(closed(answer)),
            Work::Stream(answer, channel) => Work::Stream(closed(answer), channel),
            Work::Later(work) => Work::Later(Box::new(move || closed(work()))),
        }
    }

    fn refused(&self, why: Refusal) -> Answer {
        closed(Answer::new(403, PLAIN, format!("{}\n", why.text())))
    }

    fn too_large(&self) -> Answer {
        Answer::new(413, PLAIN, "the body is too long or incomplete\n")
    }

    fn too_slow(&self) -> Answer {
        Answer::new(408, PLAIN, "the body did not come in time\n")
    }

    fn broken(&self) -> Answer {
        Answer::new(500, PLAIN, "cannot start a thread for it\n")
    }
}

fn not_found() -> Answer {
    Answer::new(404, PLAIN, "there is no such page\n")
}

fn ended() -> Answer {
    Answer::new(503, PLAIN, "the run has ended\n")
}

/// Adds headers that prevent framing, caching and content sniffing.
fn closed(answer: Answer) -> Answer {
    answer
        .with(CACHE_CONTROL, "no-store")
        .with(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'")
        .with(REFERRER_POLICY, "no-referrer")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(X_FRAME_OPTIONS, "DENY")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use super::*;

    fn page(can_pause: bool) -> (Arc<Page>, Receiver<RunCommand>, Receiver<Told>) {
        let (commands, orders) = mpsc::channel();
        let (events, told) = sync_channel(64);
        let page = Page {
            steering: Steering {
                can_pause,
                nonce: "n".to_owned(),
            },
            events,
            commands,
            watch: None,
            readers: Arc::default(),
        };
        (Arc::new(page), orders, told)
    }

    fn ask(page: &Arc<Page>, method: &Method, path: &str) -> Option<u16> {
        let work = page.answer(&Asked {
            method,
            path,
            body: b"",
            cut: &Arc::default(),
        });
        match work {
            Work::Done(answer) | Work::Stream(answer, _) => Some(answer.status),
            Work::Later(work) => Some(work().status),
        }
    }

    #[test]
    fn orders_are_posted() {
        let (page, orders, _told) = page(true);
        for order in ["pause", "resume", "stop"] {
            assert_eq!(
                ask(&page, &Method::POST, &format!("/command/{order}")),
                Some(200)
            );
            assert_eq!(
                ask(&page, &Method::GET, &format!("/command/{order}")),
                Some(405)
            );
        }
        let all: Vec<RunCommand> = orders.try_iter().collect();
        let wanted = [
            RunCommand::Pause,
            RunCommand::Resume,
            RunCommand::StopRemotely,
        ];
        assert_eq!(all, wanted);
        assert_eq!(ask(&page, &Method::POST, "/command/rm"), Some(404));
        drop(orders);
        assert_eq!(ask(&page, &Method::POST, "/command/stop"), Some(503));
    }

    #[test]
    fn what_cannot_be_paused_says_so() {
        let (page, orders, _told) = page(false);
        assert_eq!(ask(&page, &Method::POST, "/command/pause"), Some(409));
        assert_eq!(orders.try_iter().count(), 0);
    }

    #[test]
    fn pages_are_answered_and_readers_are_few() {
        let (page, _orders, told) = page(false);
        assert_eq!(ask(&page, &Method::PUT, "/"), Some(405));
        assert_eq!(ask(&page, &Method::GET, "/favicon.ico"), Some(404));
        for _ in 0..super::super::readers::READERS_MAX {
            assert_eq!(ask(&page, &Method::GET, "/events"), Some(200));
        }
        assert_eq!(ask(&page, &Method::GET, "/events"), Some(503));
        drop(told);
        assert_eq!(
            ask(&page, &Method::GET, "/"),
            Some(200),
            "a page that nobody fills is one all the same"
        );
    }
}
