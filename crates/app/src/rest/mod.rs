//! The REST API of a running script test: k6's, on a thread of its own.
//!
//! Must not know how a test is run: it reads a [`RunWatch`] and sends [`RunCommand`]s. Invariants:
//! nothing here runs on a worker's thread, and whatever a client sends is bounded and answered.
//!
//! [`RunWatch`]: loadline_run::RunWatch
//! [`RunCommand`]: loadline_model::RunCommand

mod address;
mod connection;
mod routes;
mod setup_data;
mod status;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::watch;
use tokio::time::timeout;

pub(crate) use routes::Api;

/// Connections at a time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// How long answers under way may take when the test has ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// Pause after an accept that failed, which is for want of file descriptors.
const AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

/// The API, which is served until this is dropped.
pub(crate) struct Rest {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Rest {
    /// Begins to listen.
    ///
    /// # Errors
    /// Why nothing can listen there, in the words of k6.
    pub(crate) fn start(address: &str, api: Api) -> Result<Rest, String> {
        let listener = address::listen(address)?;
        let told = |error: io::Error| format!("listen tcp {address}: {error}");
        listener.set_nonblocking(true).map_err(told)?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build_local(LocalOptions::default());
        drop(runtime.map_err(told)?);
        let (stop, stopped) = watch::channel(false);
        let thread = thread::Builder::new()
            .name("rest".to_owned())
            .spawn(move || serve_on_this_thread(listener, api, stopped))
            .map_err(told)?;
        Ok(Rest {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A server that broke has nothing more to answer.
            drop(thread.join());
        }
    }
}

fn serve_on_this_thread(listener: TcpListener, api: Api, stopped: watch::Receiver<bool>) {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build_local(LocalOptions::default());
    // One was just made on the thread that started this one.
    if let Ok(runtime) = runtime {
        runtime.block_on(serve(listener, Arc::new(api), stopped));
    }
}

async fn serve(listener: TcpListener, api: Arc<Api>, mut stopped: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let mut open = tokio::task::JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        if open.len() >= CONNECTIONS_MAX {
            open.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    open.spawn_local(connection::serve(stream, Arc::clone(&api), stopped.clone()));
                }
                Err(_) => tokio::time::sleep(AFTER_FAILED_ACCEPT).await,
            },
            _ = stopped.changed() => break,
        }
    }
    let all_answered = async { while open.join_next().await.is_some() {} };
    // What takes longer is given up with the process.
    drop(timeout(LAST_ANSWERS, all_answered).await);
}
