//! The life of one process of a testbed, from the plan on its input to its end.
//!
//! It must not know who reads its output. Invariants: the process ends when its input ends, so it never
//! outlives its supervisor; it reports that it is ready only when it listens.

use super::proxy::Proxy;
use super::queue::Queue;
use super::relay::Relay;
use super::service::Service;
use super::{Role, TestbedPart};
use crate::config::{TargetConfig, TlsConfig};
use crate::server::{Running, listen, serve_as};
use crate::testbed::message::{Order, Said, line};
use crate::testbed::plan::{ComponentKind, PartPlan, ServicePlan};
use crate::testbed::tally::Tally;
use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Requests get this long to end when a process is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// Runs one process of a testbed; returns when told to stop or when its input has ended.
///
/// # Errors
/// The first line is not a plan, or the output is closed.
pub(crate) fn serve(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    die_with_the_supervisor();
    let mut first = String::new();
    input.read_line(&mut first)?;
    let plan: PartPlan = serde_json::from_str(&first).map_err(io::Error::other)?;
    name_the_process(&plan);
    let tally = Arc::new(Tally::open(&plan.tally)?);
    let orders = read_orders(input);
    let Some(early) = wait_for_start(&orders, plan.start_delay) else {
        return Ok(());
    };
    let process = match Process::start(&plan, &tally) {
        Ok(process) => process,
        Err(why) => return output.write_all(line(&Said::Failed(why)).as_bytes()),
    };
    let ready = line(&process.ready());
    output.write_all(ready.as_bytes())?;
    output.flush()?;
    for order in early.into_iter().chain(orders) {
        match order {
            Order::Stop => break,
            Order::Factor { number, factor } => {
                process.set_factor(factor);
                heard(&mut output, number)?;
            }
            Order::Upstreams { number, lists } => {
                process.set_upstreams(&lists);
                heard(&mut output, number)?;
            }
        }
    }
    process.stop();
    Ok(())
}

fn heard(output: &mut impl Write, number: u64) -> io::Result<()> {
    output.write_all(line(&Said::Heard(number)).as_bytes())?;
    output.flush()
}

/// How many threads serve requests: one is enough for what a laptop carries, and leaves the other cores to
/// the workers that burn.
pub(super) fn threads() -> usize {
    1
}

/// Orders as they come; the channel ends with the input.
fn read_orders(input: impl BufRead + Send + 'static) -> Receiver<Order> {
    let (sender, orders) = mpsc::channel();
    std::thread::spawn(move || {
        for line in input.lines() {
            // What is no order can only come from a supervisor of another version.
            let order = line.ok().and_then(|line| serde_json::from_str(&line).ok());
            let Some(order) = order else { return };
            if sender.send(order).is_err() {
                return;
            }
        }
    });
    orders
}

/// Waits until the process may start; the orders that came meanwhile, or `None` when it is to end.
fn wait_for_start(orders: &Receiver<Order>, delay: Duration) -> Option<Vec<Order>> {
    let clock = crate::clock::Clock::start();
    let mut early = Vec::new();
    loop {
        let left = delay.saturating_sub(Duration::from_nanos(clock.now_ns()));
        if left.is_zero() {
            return Some(early);
        }
        match orders.recv_timeout(left) {
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Ok(order) => early.push(order),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// What runs in the process.
enum Process {
    Http(Running),
    Relay(Relay),
}

impl Process {
    fn start(plan: &PartPlan, tally: &Arc<Tally>) -> Result<Self, String> {
        let relay = |start: &dyn Fn(std::net::TcpListener) -> io::Result<Relay>| {
            let listener = listen(loopback(plan.port)).map_err(|error| error.to_string())?;
            start(listener).map(Self::Relay).map_err(told)
        };
        let (role, service) = match &plan.kind {
            ComponentKind::Network(network) => {
                return relay(&|listener| Relay::network(plan, network, listener, tally));
            }
            ComponentKind::Balancer(balancer) if !balancer.per_request => {
                return relay(&|listener| Relay::balancer(plan, balancer, listener, tally));
            }
            ComponentKind::Service(service) => {
                let role = Service::start(plan, service, tally);
                let role = role.map(|service| Role::Service(Box::new(service)));
                (role, Some(service.as_ref()))
            }
            ComponentKind::Balancer(balancer) => (
                Proxy::balancer(plan, balancer, tally).map(|proxy| Role::Proxy(Box::new(proxy))),
                None,
            ),
            ComponentKind::Gateway(gateway) => (
                Proxy::gateway(plan, gateway, tally).map(|proxy| Role::Proxy(Box::new(proxy))),
                None,
            ),
            ComponentKind::Autoscaler(scaler) => (
                Proxy::autoscaler(plan, scaler, tally).map(|proxy| Role::Proxy(Box::new(proxy))),
                None,
            ),
            ComponentKind::Queue(queue) => {
                (Queue::start(plan, queue, tally).map(Role::Queue), None)
            }
        };
        let part = TestbedPart {
            tally: Some(Arc::clone(tally)),
            role: role.map_err(told)?,
        };
        serve_as(config(plan, service), Some(part))
            .map(Self::Http)
            .map_err(|error| error.to_string())
    }

    fn ready(&self) -> Said {
        match self {
            Self::Http(running) => Said::Ready {
                address: running.local_addr(),
                https: running.tls_addr(),
            },
            Self::Relay(relay) => Said::Ready {
                address: relay.address(),
                https: None,
            },
        }
    }

    fn set_factor(&self, factor: f64) {
        match self {
            Self::Relay(relay) => relay.set_factor(factor),
            Self::Http(running) => match running.part().map(|part| &part.role) {
                Some(Role::Service(service)) => service.set_factor(factor),
                Some(Role::Proxy(proxy)) => proxy.set_factor(factor),
                Some(Role::Queue(queue)) => queue.set_factor(factor),
                Some(Role::Control(_)) | None => {}
            },
        }
    }

    fn set_upstreams(
        &self,
        lists: &std::collections::BTreeMap<String, Vec<crate::testbed::message::Upstream>>,
    ) {
        match self {
            Self::Relay(relay) => {
                let list = lists.get(relay.to()).map_or(&[][..], Vec::as_slice);
                relay.set_upstreams(list);
            }
            Self::Http(running) => {
                if let Some(Role::Proxy(proxy)) = running.part().map(|part| &part.role) {
                    proxy.set_upstreams(lists);
                }
            }
        }
    }

    fn stop(self) {
        if let Self::Http(running) = self {
            running.stop();
            running.join();
        }
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as the function of map_err"
)]
fn told(error: io::Error) -> String {
    error.to_string()
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn config(plan: &PartPlan, service: Option<&ServicePlan>) -> TargetConfig {
    TargetConfig {
        listen: loopback(plan.port),
        tls: plan.https.map(|port| TlsConfig {
            listen: loopback(port),
            ..TlsConfig::default()
        }),
        threads: NonZeroUsize::new(threads()),
        routes: service.and_then(|service| service.routes.clone()),
        seed: plan.seed,
        graceful_stop: GRACE,
        ..TargetConfig::default()
    }
}

/// The end of the input ends the process everywhere; on Linux the kernel does it even when this process
/// hangs.
fn die_with_the_supervisor() {
    #[cfg(target_os = "linux")]
    // SAFETY: this option of prctl takes a signal and touches no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// Names the process for `ps` and for observers that look for a name: 15 bytes at most on Linux.
fn name_the_process(plan: &PartPlan) {
    #[cfg(target_os = "linux")]
    {
        let name = format!("{}-{}", plan.component, plan.replica);
        if let Ok(name) = std::ffi::CString::new(name) {
            // SAFETY: the name is a string with an end and lives through the call, which copies it.
            unsafe {
                libc::prctl(libc::PR_SET_NAME, name.as_ptr());
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = plan;
}
