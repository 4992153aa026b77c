//! The page at `/`: every endpoint and every fault, from their own tables.
//!
//! It must not know what they do. Invariant: the page is generated from the tables, so it is complete.

use super::{ENDPOINTS, Endpoint};
use crate::faults::PARAMETERS;
use crate::reply::Reply;
use crate::xml::escape;
use http::StatusCode;

/// The page.
pub(super) fn page() -> Reply {
    let endpoints: String = ENDPOINTS
        .iter()
        .filter(|info| info.endpoint != Endpoint::NotFound)
        .map(|info| row(&[info.template, &info.allowed.list(), info.help]))
        .collect();
    let faults: String = PARAMETERS
        .iter()
        .map(|(name, help)| row(&[name, help]))
        .collect();
    let body = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>loadline target</title>\
         </head><body>\n<h1>loadline target</h1>\n<h2>Endpoints</h2>\n\
         <table>\n<tr><th>path</th><th>methods</th><th>answer</th></tr>\n{endpoints}</table>\n\
         <h2>Faults, as query parameters on any path</h2>\n\
         <table>\n<tr><th>parameter</th><th>effect</th></tr>\n{faults}</table>\n</body></html>\n"
    );
    Reply::full(StatusCode::OK, "text/html; charset=utf-8", body)
}

fn row(cells: &[&str]) -> String {
    let cells: String = cells
        .iter()
        .map(|cell| format!("<td>{}</td>", escape(cell)))
        .collect();
    format!("<tr>{cells}</tr>\n")
}
