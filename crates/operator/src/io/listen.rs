//! Reads logs: a coordinator's about its agents, a suite's about its rows.
//!
//! Must not know the reaction. Invariant: a log is only followed until enough is known; only numbers are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::AsyncReadExt;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use kube::{Api, Client};

use super::lines::Lines;
use crate::failure::Key;
use crate::seen::Heard;

/// Time after which a log that could not be read is requested again.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// What to look for in a log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hearing {
    /// Until this many agents have joined.
    Agents(u32),
    /// The progress of a suite, until its end.
    Suite,
}

impl Hearing {
    fn take(self, heard: &mut Heard, line: &str) {
        match self {
            Hearing::Agents(_) => heard.take(line),
            Hearing::Suite => heard.take_of_suite(line),
        }
    }

    fn is_enough(self, heard: Heard) -> bool {
        match self {
            Hearing::Agents(agents) => heard.joined >= agents,
            Hearing::Suite => false,
        }
    }
}

/// Followed logs, by the identity of their test.
pub(super) struct Listeners {
    client: Client,
    wake: UnboundedSender<Key>,
    all: Mutex<HashMap<String, Listener>>,
}

/// One log.
struct Listener {
    key: Key,
    pod: String,
    heard: Arc<Mutex<Heard>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listeners {
    /// No listeners yet; `wake` receives tests with news.
    pub(super) fn new(client: Client, wake: UnboundedSender<Key>) -> Listeners {
        Listeners {
            client,
            wake,
            all: Mutex::default(),
        }
    }

    /// What is known of a test.
    pub(super) fn heard(&self, uid: &str) -> Heard {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = all.get(uid).map(|listener| {
            let heard = listener.heard.lock();
            *heard.unwrap_or_else(PoisonError::into_inner)
        });
        heard.unwrap_or_default()
    }

    /// Follows the log of a pod until enough is known.
    pub(super) fn listen(&self, uid: &str, key: &Key, pod: &str, hearing: Hearing) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(uid).is_some_and(|listener| listener.pod == pod) {
            return;
        }
        let heard = Arc::new(Mutex::new(Heard::default()));
        let following = follow(
            Api::namespaced(self.client.clone(), &key.namespace),
            pod.to_owned(),
            hearing,
            Arc::clone(&heard),
            (self.wake.clone(), key.clone()),
        );
        let listener = Listener {
            key: key.clone(),
            pod: pod.to_owned(),
            heard,
            task: tokio::spawn(following),
        };
        all.insert(uid.to_owned(), listener);
    }

    /// Stops following a test.
    pub(super) fn forget(&self, key: &Key) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, listener| listener.key != *key);
    }
}

async fn follow(
    pods: Api<Pod>,
    pod: String,
    hearing: Hearing,
    heard: Arc<Mutex<Heard>>,
    (wake, key): (UnboundedSender<Key>, Key),
) {
    let params = LogParams {
        container: Some(key.kind.container().to_owned()),
        follow: true,
        ..LogParams::default()
    };
    loop {
        match pods.log_stream(&pod, &params).await {
            Ok(log) => {
                let known = || *heard.lock().unwrap_or_else(PoisonError::into_inner);
                let tell = |now: Heard| {
                    *heard.lock().unwrap_or_else(PoisonError::into_inner) = now;
                    // Nobody waits for it when the operator ends.
                    drop(wake.unbounded_send(key.clone()));
                };
                if read(log, hearing, known(), tell).await.is_ok() {
                    return;
                }
            }
            Err(kube::Error::Api(status)) if status.code == 404 => return,
            Err(_) => {}
        }
        tokio::time::sleep(TRY_EVERY).await;
    }
}

/// Reads a log to its end, or until enough is known.
async fn read(
    log: impl futures::AsyncRead,
    hearing: Hearing,
    mut heard: Heard,
    mut tell: impl FnMut(Heard),
) -> std::io::Result<()> {
    let mut log = std::pin::pin!(log);
    let mut lines = Lines::default();
    let mut bytes = vec![0; 8_192];
    while !hearing.is_enough(heard) {
        let length = log.read(&mut bytes).await?;
        if length == 0 {
            break;
        }
        let before = heard;
        lines.take(&bytes[..length], |line| hearing.take(&mut heard, line));
        if heard != before {
            tell(heard);
        }
    }
    Ok(())
}
