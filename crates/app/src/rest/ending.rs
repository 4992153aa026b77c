//! The REST API of runs that can only be stopped: a bench command, a JMeter plan, a suite.
//!
//! Its documents are those of a script's test, as far as they apply. Must not know what is stopped. Invariant:
//! every request gets a response, and the only possible order is a stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use loadline_model::RunCommand;

use super::routes::{JSON_UTF8, PLAIN, error, not_found, ok};
use super::{routes, status};
use crate::http::{Answer, Asked, Refusal, Service, Work};

/// The run that the API controls.
pub(crate) struct EndingApi {
    commands: Sender<RunCommand>,
    is_stopped: AtomicBool,
}

impl EndingApi {
    /// An API with the destination of its orders.
    pub(crate) fn new(commands: Sender<RunCommand>) -> EndingApi {
        EndingApi {
            commands,
            is_stopped: AtomicBool::new(false),
        }
    }

    fn status(&self) -> Answer {
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        ok(JSON_UTF8, status::of_ending(is_stopped))
    }

    fn change(&self, body: &[u8]) -> Answer {
        let wanted = match status::Change::read(body) {
            Ok(wanted) => wanted,
            Err(why) => return error(400, JSON_UTF8, "Invalid data", &why),
        };
        match wanted.is_stop_alone() {
            Err((title, why)) => error(500, JSON_UTF8, title, &why),
            Ok(false) => self.status(),
            Ok(true) => {
                // A second request changes nothing; a run that no longer listens has ended.
                if !self.is_stopped.swap(true, Ordering::Relaxed) {
                    let _ = self.commands.send(RunCommand::StopRemotely);
                }
                self.status()
            }
        }
    }
}

impl Service for EndingApi {
    fn answer(self: &Arc<Self>, asked: &Asked<'_>) -> Work {
        Work::Done(match (asked.path, asked.method.as_str()) {
            ("/v1/status", "GET") => self.status(),
            ("/v1/status", "PATCH") => self.change(asked.body),
            ("/v1/status", _) => Answer::empty(405),
            (path, _) if path.starts_with("/v1") => not_found(),
            _ => ok(PLAIN, "ok"),
        })
    }

    fn refused(&self, why: Refusal) -> Answer {
        routes::refused(why)
    }

    fn too_large(&self) -> Answer {
        routes::too_large()
    }

    fn too_slow(&self) -> Answer {
        routes::too_slow()
    }

    fn broken(&self) -> Answer {
        routes::broken()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use hyper::Method;

    use super::*;

    #[test]
    fn it_is_stopped_once_and_not_steered() {
        let (commands, orders) = mpsc::channel();
        let api = Arc::new(EndingApi::new(commands));
        let ask = |method: Method, path: &str, attributes: &str| {
            let body = format!("{{\"data\":{{\"attributes\":{attributes}}}}}");
            let asked = Asked {
                method: &method,
                path,
                body: body.as_bytes(),
                cut: &Arc::default(),
            };
            match api.answer(&asked) {
                Work::Done(answer) => (answer.status, answer.body),
                Work::Later(_) | Work::Stream(..) => panic!("nothing takes long here"),
            }
        };
        let (status, told) = ask(Method::GET, "/v1/status", "{}");
        assert!(
            status == 200 && told.contains("\"stopped\":false"),
            "{told}"
        );
        for (attributes, why) in [
            (r#"{"paused":true}"#, "pause"),
            (r#"{"vus":3}"#, "VU configuration"),
        ] {
            let (status, told) = ask(Method::PATCH, "/v1/status", attributes);
            assert!(status == 500 && told.contains(why), "{told}");
        }
        assert_eq!(ask(Method::PATCH, "/v1/status", "[]").0, 400);
        assert_eq!(orders.try_iter().count(), 0);
        for _ in 0..2 {
            let (status, told) = ask(Method::PATCH, "/v1/status", r#"{"stopped":true}"#);
            assert!(status == 200 && told.contains("\"stopped\":true"), "{told}");
        }
        let all: Vec<RunCommand> = orders.try_iter().collect();
        assert_eq!(all, [RunCommand::StopRemotely]);
        assert_eq!(ask(Method::POST, "/v1/status", "{}").0, 405);
        assert_eq!(ask(Method::GET, "/v1/metrics", "{}").0, 404);
        assert_eq!(ask(Method::GET, "/ping", "{}").0, 200);
    }
}
