//! The same few requests by `bench` and by a script, so that a test can hold the two against each other.
//!
//! Must not know what is asked for. Invariant: both send the same number of GET requests to the same URL,
//! by as many virtual users, with the same timeout.

use std::process::Command;

use crate::{Ran, bench_by, run_to_end};

const SCRIPT: &str = "
    import http from 'k6/http';
    import { sleep } from 'k6';
    export const options = { iterations: Number(__ENV.REQUESTS), vus: Number(__ENV.VUS) };
    export default () => {
        http.get(__ENV.TARGET, { timeout: __ENV.TIMEOUT });
        sleep(Number(__ENV.PAUSE_MS) / 1000);
    };";

/// What is asked of both.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Where to.
    pub url: &'a str,
    /// Within which a request is answered or given up, as both write it.
    pub timeout: &'a str,
    /// How many requests.
    pub requests: u64,
    /// By how many virtual users.
    pub vus: u64,
    /// How long a virtual user pauses from one request to the next (milliseconds; under `bench` from start to
    /// start).
    pub pause_ms: u64,
    /// Arguments that only `bench` takes.
    pub bench_more: &'a [&'a str],
    /// Arguments that only `run` takes.
    pub run_more: &'a [&'a str],
}

impl<'a> Asked<'a> {
    /// Few requests of one virtual user, which leave even a busy machine the time to make them.
    #[must_use]
    pub fn few(url: &'a str, timeout: &'a str) -> Asked<'a> {
        Asked {
            url,
            timeout,
            requests: 3,
            vus: 1,
            pause_ms: 100,
            bench_more: &[],
            run_more: &[],
        }
    }

    /// Asks by `bench`, which the command starts.
    ///
    /// # Panics
    /// It cannot be started, hangs, or its result does not conserve requests.
    #[must_use]
    pub fn by_bench(&self, command: Command) -> Ran {
        let (vus, requests) = (self.vus.to_string(), self.requests.to_string());
        let pacing = format!("{}ms", self.pause_ms);
        let load = ["-c", &vus, "-n", &requests, "-q", "-t", self.timeout];
        let pacing: &[&str] = match self.pause_ms {
            0 => &[],
            _ => &["--pacing", &pacing],
        };
        bench_by(
            command,
            &[&load, pacing, self.bench_more, &[self.url]].concat(),
        )
    }

    /// Asks by `run`, which the command starts.
    ///
    /// # Panics
    /// As [`Asked::by_bench`].
    #[must_use]
    pub fn by_script(&self, mut command: Command) -> Ran {
        let folder = tempfile::tempdir().expect("there is room");
        let (file, json) = (folder.path().join("s.js"), folder.path().join("r.json"));
        std::fs::write(&file, SCRIPT).expect("there is room");
        command
            .args(["run", "-q"])
            .args(self.run_more)
            .arg("--json");
        command.arg(&json);
        for pair in [
            format!("TARGET={}", self.url),
            format!("TIMEOUT={}", self.timeout),
            format!("REQUESTS={}", self.requests),
            format!("VUS={}", self.vus),
            format!("PAUSE_MS={}", self.pause_ms),
        ] {
            command.args(["-e", &pair]);
        }
        command.arg(&file);
        let output = run_to_end(command);
        Ran::of(&output, std::fs::read_to_string(&json).ok().as_deref())
    }
}
