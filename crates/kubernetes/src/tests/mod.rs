//! The client against the stand-in server, over sockets and TLS.
//!
//! Must not know the stand-in's internals. Invariant: no test waits for real time, except for responses.

mod access;
mod changes;
mod forward;
mod logs;
mod reading;

use std::sync::Mutex;
use std::time::Duration;

use crate::clock::Clock;
use crate::testing::ApiServer;

/// A server with a deployment `api` of one pod in the namespace `shop`, and the pod's name.
fn served() -> (ApiServer, String) {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let pod = server.pod_names("shop").pop().expect("a pod");
    (server, pod)
}

/// A clock that advances on command, or when something waits.
#[derive(Debug, Default)]
pub(crate) struct ManualClock {
    now: Mutex<u64>,
    waits: Mutex<Vec<Duration>>,
}

impl ManualClock {
    pub(crate) fn set(&self, unix_ns: u64) {
        *self.now.lock().unwrap() = unix_ns;
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }
}

impl Clock for ManualClock {
    fn unix_ns(&self) -> u64 {
        *self.now.lock().unwrap()
    }

    fn wait(&self, time: Duration) {
        self.waits.lock().unwrap().push(time);
        *self.now.lock().unwrap() += time.as_nanos() as u64;
    }
}

/// Asks until something comes; the server's threads need a moment.
pub(crate) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    const LOOKS: usize = 2000;
    let (sender, never) = std::sync::mpsc::channel::<()>();
    for _ in 0..LOOKS {
        if let Some(found) = look() {
            return found;
        }
        let _ = never.recv_timeout(Duration::from_millis(5));
    }
    drop(sender);
    panic!("nothing came");
}
