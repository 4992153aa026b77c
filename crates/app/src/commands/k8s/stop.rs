//! Stops a test in a cluster.
//!
//! Must not know how it runs. Invariant: a test whose load has started keeps its result.

use loadline_kubernetes::{ClusterTest, ForwardTo, LogOptions, RemotePort, TestName};
use loadline_model::ExitCode;
use serde_json::json;

use super::{Place, follow, make, told};
use crate::Ending;
use crate::commands::control;
use crate::terminal::print;

/// The port of a coordinator's REST API.
const REST_PORT: u16 = 6565;
/// Bytes of a coordinator's log in which its token is: it is printed before the load starts.
const TOKEN_WITHIN: u64 = 1 << 20;
/// The text before the token in a coordinator's log.
const BEFORE_TOKEN: &str = ": send Authorization: Bearer ";

/// Stops a test, and reports it.
pub(super) fn stop(place: &Place, name: &str, token: Option<&str>) -> Result<(), Ending> {
    let test = place.test(name)?;
    may_stop(&test)?;
    if test.is_over() {
        print::to_stderr(&format!("test {name} has already ended\n"));
        return Ok(());
    }
    ask(place, &test.id(), token)?;
    let what = match test.has_started() {
        true => "stops",
        false => "had not started, and is deleted",
    };
    print::to_stderr(&format!("test {name} {what}\n"));
    Ok(())
}

/// Whether it is something that can be stopped.
fn may_stop(test: &ClusterTest) -> Result<(), Ending> {
    if test.is_schedule() {
        return Err(Ending::usage(&format!(
            "{} is a schedule: set spec.schedule.suspend, then stop its tests (loadline k8s top lists them)",
            test.id()
        )));
    }
    Ok(())
}

/// Requests a test to stop; deletes one whose load has not started.
pub(super) fn ask(place: &Place, id: &TestName, token: Option<&str>) -> Result<(), Ending> {
    let test = place.cluster.test(&place.namespace, id).map_err(told)?;
    if !test.has_started() {
        return make::delete(place, id);
    }
    let pod = follow::coordinator(place, id)?;
    let token = match token {
        Some(token) => Some(token.to_owned()),
        None => {
            let options = LogOptions {
                bytes: Some(TOKEN_WITHIN),
                ..follow::of_container(id)
            };
            let log = place.cluster.log(&place.namespace, &pod.name, &options);
            token_in(&log.map_err(told)?)
        }
    };
    let to = ForwardTo::Pod {
        namespace: place.namespace.clone(),
        name: pod.name,
    };
    let port = RemotePort::Number(REST_PORT);
    let forward = place.cluster.port_forward(&to, &port).map_err(told)?;
    let address = forward.address().to_string();
    let asked = control::change(&address, token.as_deref(), &json!({ "stopped": true }));
    let hint = match token {
        Some(_) => "",
        None => {
            "; the log of its coordinator does not have the token (any more): --control-token names it"
        }
    };
    asked.map_err(|error| {
        let why = format!("{}{hint}", error.notice.message);
        Ending::refusal(ExitCode::Other, &why)
    })
}

/// The token in a coordinator's log.
fn token_in(log: &str) -> Option<String> {
    let (_, rest) = log.split_once(BEFORE_TOKEN)?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_stands_in_the_log() {
        let log = "waiting\nREST API at 0.0.0.0:6565: send Authorization: Bearer ab-1 (--control-token names another, or off)\nx\n";
        assert_eq!(token_in(log).as_deref(), Some("ab-1"));
        assert_eq!(token_in("nothing"), None);
    }
}
