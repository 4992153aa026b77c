//! The same few requests by `bench` and by a script, so that a test can compare the two.
//!
//! Must not know the requested resource. Invariant: both send the same number of GET requests to the same URL,
//! from the same number of virtual users, with the same timeout.

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

/// The requests of both.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The URL.
    pub url: &'a str,
    /// Timeout of a request, in the format of both.
    pub timeout: &'a str,
    /// Number of requests.
    pub requests: u64,
    /// Number of virtual users.
    pub vus: u64,
    /// Pause of a virtual user between two requests (milliseconds; for `bench` from start to start).
    pub pause_ms: u64,
    /// Additional arguments for `bench`.
    pub bench_more: &'a [&'a str],
    /// Additional arguments for `run`.
    pub run_more: &'a [&'a str],
}

impl<'a> Asked<'a> {
    /// A few requests of one virtual user, which even a busy machine has time to make.
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

    /// Sends them by `bench`, with this command.
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

    /// Sends them by `run`, with this command.
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
