//! The responses of the REST API, by request.
//!
//! Source of paths, documents and texts: k6's reference, and tests against k6 v2.2.0. Must not know
//! connections. Invariant: every request gets a response, and whatever has to run a script is not run here.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use hyper::Method;
use hyper::header::{LOCATION, X_CONTENT_TYPE_OPTIONS};
use loadline_model::RunCommand;
use loadline_report::k6 as layouts;
use loadline_run::RunWatch;
use percent_encoding::percent_decode_str;

use super::{setup_data, status};
use crate::http::{Answer, Asked, Refusal, Service, Work};
use crate::k6::json::Json;
use crate::k6::{Level, Notice};
use crate::script_run::Logger;

const JSON: &str = "application/json";
pub(super) const JSON_UTF8: &str = "application/json; charset=utf-8";
pub(super) const PLAIN: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// What the API reads and controls.
pub(crate) struct Api {
    pub(crate) watch: Arc<RunWatch>,
    pub(crate) commands: Sender<RunCommand>,
    pub(crate) logger: Arc<Logger>,
}

pub(super) fn ok(content_type: &'static str, body: impl Into<String>) -> Answer {
    Answer::new(200, content_type, body)
}

/// A JSON:API error.
pub(super) fn error(status: u16, content_type: &'static str, title: &str, detail: &str) -> Answer {
    let error = Json::Object(vec![
        ("status".to_owned(), Json::text(status.to_string())),
        ("title".to_owned(), Json::text(title)),
        ("detail".to_owned(), Json::text(detail)),
    ]);
    let document = Json::Object(vec![("errors".to_owned(), Json::List(vec![error]))]);
    Answer::new(status, content_type, document.compact())
}

pub(super) fn not_found() -> Answer {
    Answer::new(404, PLAIN, "404 page not found\n").with(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

/// A document, or that it does not exist.
fn found(document: Option<String>, what: &str) -> Answer {
    match document {
        Some(document) => ok(PLAIN, document),
        None => {
            let detail = format!("No {what} with that ID was found");
            error(404, PLAIN, "Not Found", &detail)
        }
    }
}

impl Service for Api {
    fn answer(self: &Arc<Self>, asked: &Asked<'_>) -> Work {
        self.routed(asked.method, asked.path, asked.body)
    }

    fn refused(&self, why: Refusal) -> Answer {
        refused(why)
    }

    fn too_large(&self) -> Answer {
        too_large()
    }

    fn too_slow(&self) -> Answer {
        too_slow()
    }

    fn broken(&self) -> Answer {
        broken()
    }
}

pub(super) fn refused(why: Refusal) -> Answer {
    error(403, JSON_UTF8, "Forbidden", why.text())
}

pub(super) fn too_large() -> Answer {
    let detail = "the body is too long or incomplete";
    error(413, JSON_UTF8, "Request body too large", detail)
}

pub(super) fn too_slow() -> Answer {
    let detail = "the body did not come in time";
    error(408, JSON_UTF8, "Request timeout", detail)
}

pub(super) fn broken() -> Answer {
    let detail = "cannot start a thread to run the script";
    error(500, JSON_UTF8, "Internal error", detail)
}

impl Api {
    fn routed(self: &Arc<Self>, method: &Method, path: &str, body: &[u8]) -> Work {
        let Some(of_api) = path.strip_prefix("/v1/") else {
            return Work::Done(self.beside(path));
        };
        let (name, id) = match of_api.split_once('/') {
            Some((name, id)) if has_members(name) => (name, Some(id)),
            Some(_) => return Work::Done(not_found()),
            None => (of_api, None),
        };
        let done = match (name, id, method.as_str()) {
            ("status", None, "GET") => self.status(),
            ("status", None, "PATCH") => self.change(body),
            ("metrics", None, "GET") => ok(PLAIN, layouts::metrics_document(&self.watch.summary())),
            ("metrics", Some(id), "GET") => {
                let id = percent_decoded(id);
                found(
                    layouts::metric_document(&self.watch.summary(), &id),
                    "metric",
                )
            }
            ("groups", None, "GET") => ok(PLAIN, layouts::groups_document(&self.watch.summary())),
            ("groups", Some(id), "GET") => {
                found(layouts::group_document(&self.watch.summary(), id), "group")
            }
            ("setup", None, "GET") => self.setup(),
            ("setup", None, "PUT") => self.set_setup(body),
            ("setup", None, "POST") => return self.later(|api| api.run_setup()),
            ("teardown", None, "POST") => return self.later(|api| api.run_teardown()),
            ("status" | "setup" | "teardown", None, _) => Answer::empty(405),
            (name, _, _) if has_members(name) => Answer::empty(405),
            _ => not_found(),
        };
        Work::Done(done)
    }

    /// Paths outside the API itself.
    fn beside(&self, path: &str) -> Answer {
        match path {
            "/v1" => {
                let body = "<a href=\"/v1/\">Temporary Redirect</a>.\n\n";
                Answer::new(307, HTML, body).with(LOCATION, "/v1/")
            }
            "/metrics" => ok(
                "text/plain; version=0.0.4; charset=utf-8",
                self.own_metrics(),
            ),
            path if path.starts_with("/debug/") => ok(PLAIN, "profiling is not supported"),
            _ => ok(PLAIN, "ok"),
        }
    }

    fn later(self: &Arc<Self>, act: fn(&Api) -> Answer) -> Work {
        let api = Arc::clone(self);
        Work::Later(Box::new(move || act(&api)))
    }

    fn status(&self) -> Answer {
        ok(JSON_UTF8, status::document(&self.watch))
    }

    fn change(&self, body: &[u8]) -> Answer {
        let wanted = match status::Change::read(body) {
            Ok(wanted) => wanted,
            Err(why) => return error(400, JSON_UTF8, "Invalid data", &why),
        };
        match wanted.carry_out(&self.watch) {
            Ok(orders) => {
                // As in k6 the response shows the state before the change.
                let answer = self.status();
                for order in orders {
                    // A run that no longer listens has ended; then there is nothing to change.
                    let _ = self.commands.send(order);
                }
                answer
            }
            Err((title, why)) => error(500, JSON_UTF8, title, &why),
        }
    }

    fn setup(&self) -> Answer {
        let document = match self.watch.setup_data() {
            None => setup_data::document(None),
            Some(json) => setup_data::document(Some(&json)),
        };
        ok(JSON, document)
    }

    fn set_setup(&self, body: &[u8]) -> Answer {
        match setup_data::read(body) {
            Ok(json) => {
                self.watch.set_setup_data(json.map(Into::into));
                self.setup()
            }
            Err(why) => error(400, PLAIN, "Error parsing request body", &why),
        }
    }

    fn run_setup(&self) -> Answer {
        match self.watch.run_setup() {
            Ok(()) => self.setup(),
            Err(why) => self.failed("Error executing setup", &why),
        }
    }

    fn run_teardown(&self) -> Answer {
        match self.watch.run_teardown() {
            Ok(()) => Answer::empty(200),
            Err(why) => self.failed("Error executing teardown", &why),
        }
    }

    fn failed(&self, title: &str, why: &str) -> Answer {
        let notice = Notice::new(Level::Error, title).with("error", why);
        self.logger.tell(&notice);
        error(500, PLAIN, title, why)
    }

    /// The process's own figures in the exposition format of Prometheus.
    fn own_metrics(&self) -> String {
        let live = self.watch.live();
        let memory = loadline_engine::platform::resident_bytes_max().unwrap_or(0);
        let rows = [
            (
                "loadline_vus",
                "gauge",
                "Busy virtual users",
                live.vus_active,
            ),
            (
                "loadline_vus_made",
                "gauge",
                "Initialized virtual users",
                live.vus_made,
            ),
            (
                "loadline_iterations_total",
                "counter",
                "Completed iterations",
                live.iterations_completed,
            ),
            (
                "loadline_requests_total",
                "counter",
                "Started requests",
                live.started,
            ),
            (
                "loadline_resident_memory_max_bytes",
                "gauge",
                "Peak resident memory of the process",
                memory,
            ),
        ];
        let row = |(name, kind, help, value): (&str, &str, &str, u64)| {
            format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n")
        };
        rows.into_iter().map(row).collect()
    }
}

/// Whether single members of a collection can be requested, even with an empty name.
fn has_members(name: &str) -> bool {
    matches!(name, "metrics" | "groups")
}

/// A part of a path with `%7B` and the like decoded; invalid sequences stay.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sub_metrics_may_be_escaped() {
        assert_eq!(percent_decoded("a%7Bb:c%7D"), "a{b:c}");
        assert_eq!(percent_decoded("100%"), "100%");
        assert_eq!(percent_decoded("%zz%4%+5"), "%zz%4%+5");
    }

    #[test]
    fn errors_have_k6s_shape() {
        let told = found(None, "metric");
        let expected = r#"{"errors":[{"status":"404","title":"Not Found","detail":"No metric with that ID was found"}]}"#;
        assert_eq!((told.status, told.body.as_str()), (404, expected));
    }
}
