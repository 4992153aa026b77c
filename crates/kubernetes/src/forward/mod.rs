//! A local port that forwards to a port of pods.
//!
//! Must not know the protocol over it. Invariants: each local connection has its own WebSocket, as the protocol
//! requires; dropping the forward closes the port and every connection.
//!
//! Source: the API reference, "create connect portforward requests", and the kubelet's WebSocket protocol
//! `v4.channel.k8s.io`: each port has a channel for data and one for errors, and each channel begins with the port's number
//! in two bytes, the lower first.

mod link;
pub(crate) mod websocket;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::error::{Error, Result, quoted};
use crate::objects::{Pod, Service, WorkloadName};
use crate::selector::Selector;
use link::Link;

/// Connections at a time; each holds two threads.
const CONNECTIONS_MAX: usize = 256;
/// Wait after a connection that could not be taken.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What went wrong that is kept.
const TROUBLES_MAX: usize = 16;

/// The destination of a local port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardTo {
    /// A pod.
    Pod {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A ready pod of a service.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A ready pod of a workload.
    Workload(WorkloadName),
}

/// A port by number, or by its name in a container or service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemotePort {
    /// By number.
    Number(u16),
    /// By name.
    Name(String),
}

impl RemotePort {
    /// Parses a number, or uses the text as a name.
    #[must_use]
    pub fn parse(text: &str) -> RemotePort {
        match text.parse() {
            Ok(number) => RemotePort::Number(number),
            Err(_) => RemotePort::Name(text.to_owned()),
        }
    }

    fn text(&self) -> String {
        match self {
            RemotePort::Number(number) => number.to_string(),
            RemotePort::Name(name) => name.clone(),
        }
    }
}

/// Where the connections of a local port are led.
#[derive(Debug)]
struct Route {
    cluster: Cluster,
    to: ForwardTo,
    port: RemotePort,
    /// Connections that were led so far.
    led: AtomicUsize,
}

impl Route {
    /// The way for a new connection: to a pod that is ready now, each of them in turn.
    fn lead(&self) -> Result<Link> {
        let turn = self.led.fetch_add(1, Ordering::Relaxed);
        let (pod, port) = self.cluster.pod_and_port(&self.to, &self.port, turn)?;
        Link::new(self.cluster.clone(), &pod, port)
    }
}

/// A local port that is forwarded to pods, until it is dropped.
#[derive(Debug)]
pub struct PortForward {
    address: SocketAddr,
    pod: String,
    shared: Arc<ForwardState>,
}

#[derive(Debug, Default)]
struct ForwardState {
    is_over: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    troubles: Mutex<Vec<String>>,
}

impl Cluster {
    /// Opens a local port on 127.0.0.1 that is forwarded to a port of pods. Each connection goes to a pod that
    /// is ready when it starts, so pods may come and go. All traffic goes through the API server: it is meant
    /// for access, not for measurements.
    ///
    /// # Errors
    /// There is no ready pod or no such port, a proxy leads to the cluster, or the cluster refuses the
    /// connection.
    pub fn port_forward(&self, to: &ForwardTo, port: &RemotePort) -> Result<PortForward> {
        let route = Route {
            cluster: self.clone(),
            to: to.clone(),
            port: port.clone(),
            led: AtomicUsize::new(0),
        };
        // One test connection is made, so that missing permissions are reported here.
        let link = route.lead()?;
        link.connect()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let local =
            |error: io::Error| Error::config(format!("no local port could be opened: {error}"));
        let listener = listener.map_err(local)?;
        let forward = PortForward {
            address: listener.local_addr().map_err(local)?,
            pod: link.pod().to_owned(),
            shared: Arc::default(),
        };
        let shared = Arc::clone(&forward.shared);
        thread::Builder::new()
            .name("kubernetes-forward".to_owned())
            .spawn(move || accept(&listener, &Arc::new(route), &shared))
            .map_err(local)?;
        Ok(forward)
    }

    /// The pod and port for a name; if several pods are ready, the next one by `turn`.
    fn pod_and_port(&self, to: &ForwardTo, port: &RemotePort, turn: usize) -> Result<(Pod, u16)> {
        match to {
            ForwardTo::Pod { namespace, name } => {
                let pod = self.pod(namespace, name)?;
                let number = container_port(&pod, port)?;
                Ok((pod, number))
            }
            ForwardTo::Workload(name) => {
                let workload = self.workload(name)?;
                let selector = Selector::labels(workload.selector);
                let pod = self.ready_pod(&name.namespace, &selector, &name.to_string(), turn)?;
                let number = container_port(&pod, port)?;
                Ok((pod, number))
            }
            ForwardTo::Service { namespace, name } => {
                let service = self.service(namespace, name)?;
                let target = service_port(&service, port)?;
                let labels: Vec<String> = service
                    .selector
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let told = format!("service {name} in namespace {namespace}");
                if labels.is_empty() {
                    return Err(Error::user(format!(
                        "{told} selects no pods, so no port can be forwarded"
                    )));
                }
                let selector = Selector::labels(labels.join(","));
                let pod = self.ready_pod(namespace, &selector, &told, turn)?;
                let number = container_port(&pod, &target)?;
                Ok((pod, number))
            }
        }
    }

    fn ready_pod(
        &self,
        namespace: &str,
        selector: &Selector,
        told: &str,
        turn: usize,
    ) -> Result<Pod> {
        let mut pods = self.pods(namespace, selector)?;
        let count = pods.len();
        pods.retain(|pod| pod.is_ready && !pod.is_ending);
        match pods.len() {
            0 => Err(Error::user(format!(
                "{told} has no ready pod (of {count}); wait until one is"
            ))),
            ready => Ok(pods.swap_remove(turn % ready)),
        }
    }
}

/// The pod's port behind a service's.
fn service_port(service: &Service, port: &RemotePort) -> Result<RemotePort> {
    let found = service.port(Some(&port.text()));
    found
        .map(|port| RemotePort::parse(&port.target))
        .ok_or_else(|| {
            let has: Vec<String> = service
                .ports
                .iter()
                .map(|port| format!("{} {}", port.port, port.name).trim_end().to_owned())
                .collect();
            Error::user(format!(
                "the service {} has no port {}: it has {}",
                service.name,
                quoted(&port.text()),
                has.join(", ")
            ))
        })
}

fn container_port(pod: &Pod, port: &RemotePort) -> Result<u16> {
    let name = match port {
        RemotePort::Number(number) => return Ok(*number),
        RemotePort::Name(name) => name,
    };
    let mut ports = pod.containers.iter().flat_map(|container| &container.ports);
    let found = ports.find(|(named, _)| named == name);
    found.map(|(_, number)| *number).ok_or_else(|| {
        Error::user(format!(
            "no container of the pod {} names a port {}",
            pod.name,
            quoted(name)
        ))
    })
}

fn accept(listener: &TcpListener, route: &Arc<Route>, shared: &Arc<ForwardState>) {
    for connection in listener.incoming() {
        if shared.is_over.load(Ordering::Acquire) {
            return;
        }
        match connection {
            Ok(connection) => shared.take(connection, |connection| lead(connection, route, shared)),
            Err(error) => {
                shared.trouble(format!("a connection cannot be taken: {error}"));
                // What is missing, such as files, may be there again later.
                thread::park_timeout(ACCEPT_PAUSE);
            }
        }
    }
}

/// Leads a connection to a pod, on a thread of its own.
fn lead(connection: TcpStream, route: &Arc<Route>, shared: &Arc<ForwardState>) -> io::Result<()> {
    let (route, shared) = (Arc::clone(route), Arc::clone(shared));
    let thread = thread::Builder::new().name("kubernetes-forward".to_owned());
    let led = thread.spawn(move || {
        match route.lead() {
            Ok(link) => link.carry(&connection, |error| shared.trouble(error.to_string())),
            Err(error) => shared.trouble(error.to_string()),
        }
        // It may be closed already.
        let _ = connection.shutdown(Shutdown::Both);
    });
    led.map(drop)
}

impl ForwardState {
    /// Leads a connection with `lead`; one that cannot be led is closed, so that its client does not wait.
    fn take(&self, connection: TcpStream, lead: impl FnOnce(TcpStream) -> io::Result<()>) {
        let kept = match connection.try_clone() {
            Ok(kept) => kept,
            Err(error) => return self.trouble(format!("a connection was closed: {error}")),
        };
        {
            let mut open = lock(&self.open);
            // Those whose peer is gone are closed on both sides already.
            open.retain(|one| one.take_error().is_ok() && one.peer_addr().is_ok());
            if open.len() >= CONNECTIONS_MAX {
                return self.trouble(format!("more than {CONNECTIONS_MAX} connections at a time"));
            }
            open.push(kept);
        }
        if let Err(error) = lead(connection) {
            if let Some(kept) = lock(&self.open).pop() {
                let _ = kept.shutdown(Shutdown::Both);
            }
            self.trouble(format!(
                "a connection was closed, for there is no thread for it: {error}; raise the limits of processes, such as ulimit -u"
            ));
        }
    }

    fn trouble(&self, text: String) {
        let mut troubles = lock(&self.troubles);
        if troubles.len() < TROUBLES_MAX && !troubles.contains(&text) {
            troubles.push(text);
        }
    }
}

impl PortForward {
    /// The local address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The pod to which the test connection was forwarded.
    #[must_use]
    pub fn pod(&self) -> &str {
        &self.pod
    }

    /// Errors of connections since the last call.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.troubles))
    }
}

impl Drop for PortForward {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        for connection in lock(&self.shared.open).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that waits for connections, which then ends.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_connection_that_nobody_can_lead_is_closed_and_told() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let mut client = TcpStream::connect(address).expect("it listens");
        let (connection, _) = listener.accept().expect("a connection");
        let state = ForwardState::default();
        state.take(connection, |_| Err(io::ErrorKind::WouldBlock.into()));
        let limit = client.set_read_timeout(Some(Duration::from_secs(10)));
        limit.expect("it is above zero");
        assert_eq!(client.read(&mut [0]).expect("it was closed"), 0);
        assert!(lock(&state.open).is_empty());
        assert_eq!(lock(&state.troubles).len(), 1);
    }
}
