//! A byte relay: a connection balancer, or a link with delay, bandwidth and loss.
//!
//! It must not know HTTP. Invariant: bytes of one direction are never reordered, and no byte is delivered
//! before its delay is over.

use super::Factor;
use super::upstreams::Upstreams;
use crate::clock::Clock;
use crate::duration::as_ns;
use crate::random::Dice;
use crate::server::Timer;
use crate::testbed::message::Upstream;
use crate::testbed::plan::{BalancerPlan, NetworkPlan, PartPlan, Policy};
use crate::testbed::tally::{CounterSlot, Tally};
use bytes::Bytes;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The largest piece that is passed on at once.
const PIECE: usize = 16 * 1024;
/// Pieces on their way in one direction of one connection: 16 MiB at most.
const PIECES_MAX: usize = 1_024;
/// By how much a lost piece is late: the shortest time after which Linux sends again (TCP_RTO_MIN).
const RETRANSMISSION_NS: u64 = 200_000_000;
/// The pause after a failed accept, which is mostly a lack of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);

/// A running relay.
pub(super) struct Relay {
    address: SocketAddr,
    shared: Arc<RelayState>,
}

struct RelayState {
    to: String,
    upstreams: Upstreams,
    line: Option<NetworkLine>,
    timer: Arc<Timer>,
    tally: Arc<Tally>,
}

/// What a line does to bytes.
struct NetworkLine {
    plan: NetworkPlan,
    factor: Factor,
    /// When the last bit of each direction has left.
    free_at_ns: [Mutex<u64>; 2],
    dice: Mutex<Dice>,
}

/// The two directions of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

impl Relay {
    /// Starts a balancer of connections.
    ///
    /// # Errors
    /// When the port or the thread is not to be had.
    pub(super) fn balancer(
        part: &PartPlan,
        plan: &BalancerPlan,
        listener: TcpListener,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let upstreams = Upstreams::new(plan.policy.clone(), part.seed);
        Self::start((&plan.to, upstreams), None, listener, tally)
    }

    /// Starts a line.
    ///
    /// # Errors
    /// When the port or the thread is not to be had.
    pub(super) fn network(
        part: &PartPlan,
        plan: &NetworkPlan,
        listener: TcpListener,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let line = NetworkLine {
            plan: plan.clone(),
            factor: Factor::new(part.factor),
            free_at_ns: Default::default(),
            dice: Mutex::new(Dice::seeded(part.seed)),
        };
        let upstreams = Upstreams::new(Policy::RoundRobin, part.seed);
        Self::start((&plan.to, upstreams), Some(line), listener, tally)
    }

    fn start(
        (to, upstreams): (&str, Upstreams),
        line: Option<NetworkLine>,
        listener: TcpListener,
        tally: &Arc<Tally>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (timer, listener) = {
            let _inside = runtime.enter();
            let timer = Timer::new(Arc::new(Clock::start()))?;
            (timer, tokio::net::TcpListener::from_std(listener)?)
        };
        let shared = Arc::new(RelayState {
            to: to.to_owned(),
            upstreams,
            line,
            timer: Arc::new(timer),
            tally: Arc::clone(tally),
        });
        let accepting = accept(Arc::clone(&shared), listener);
        std::thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || runtime.block_on(accepting))?;
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the newest list of replicas.
    pub(super) fn set_upstreams(&self, list: &[Upstream]) {
        self.shared.upstreams.replace(list);
    }

    /// The component that it leads to.
    pub(super) fn to(&self) -> &str {
        &self.shared.to
    }

    /// Multiplies the delay; a balancer has none.
    pub(super) fn set_factor(&self, factor: f64) {
        if let Some(line) = &self.shared.line {
            line.factor.set(factor);
        }
    }
}

async fn accept(shared: Arc<RelayState>, listener: tokio::net::TcpListener) {
    tokio::spawn(Arc::clone(&shared.timer).drive());
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                shared.tally.add(CounterSlot::Connections, 1);
                tokio::spawn(relay(Arc::clone(&shared), client));
            }
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Serves one connection.
async fn relay(shared: Arc<RelayState>, client: TcpStream) {
    shared.tally.add(CounterSlot::InFlight, 1);
    let _open = Open(Arc::clone(&shared.tally));
    let Some(picked) = shared.upstreams.pick() else {
        return refuse(&shared, &client);
    };
    let Ok(server) = TcpStream::connect(picked.address).await else {
        return refuse(&shared, &client);
    };
    // Bytes must leave at once; a socket that refuses the option still works.
    drop(client.set_nodelay(true));
    drop(server.set_nodelay(true));
    if shared.line.as_ref().is_some_and(NetworkLine::resets) {
        // The client's first bytes meet a line that is cut.
        drop(client.readable().await);
        shared.tally.add(CounterSlot::Resets, 1);
        return reset(&client);
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut ways = JoinSet::new();
    ways.spawn(pump(
        Arc::clone(&shared),
        Direction::ToServer,
        from_client,
        to_server,
    ));
    ways.spawn(pump(
        Arc::clone(&shared),
        Direction::ToClient,
        from_server,
        to_client,
    ));
    // An end in order leaves the other direction open; anything else ends both.
    while let Some(Ok(Ok(()))) = ways.join_next().await {}
}

struct Open(Arc<Tally>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.subtract(CounterSlot::InFlight, 1);
    }
}

fn refuse(shared: &RelayState, client: &TcpStream) {
    shared.tally.add(CounterSlot::Refused, 1);
    reset(client);
}

/// Makes the coming close a reset.
fn reset(client: &TcpStream) {
    // A socket that refuses the option is closed the ordinary way.
    drop(socket2::SockRef::from(client).set_linger(Some(Duration::ZERO)));
}

async fn pump(
    shared: Arc<RelayState>,
    way: Direction,
    from: OwnedReadHalf,
    to: OwnedWriteHalf,
) -> io::Result<()> {
    if shared.line.is_some() {
        pump_late(shared, way, from, to).await
    } else {
        pump_at_once(&shared, way, from, to).await
    }
}

async fn pump_at_once(
    shared: &RelayState,
    way: Direction,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        shared.count(way, read);
        to.write_all(&buffer[..read]).await?;
    }
}

/// Reads at once and writes when the line has let the bytes through.
async fn pump_late(
    shared: Arc<RelayState>,
    way: Direction,
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
) -> io::Result<()> {
    let (sender, pieces) = mpsc::channel(PIECES_MAX);
    let delivering = tokio::spawn(deliver(Arc::clone(&shared.timer), pieces, to));
    let mut buffer = vec![0; PIECE];
    let mut last_ns = 0;
    let mut first = way == Direction::ToServer;
    loop {
        let read = from.read(&mut buffer).await?;
        let line = shared.line.as_ref().expect("only lines are late");
        let now_ns = shared.timer.now_ns();
        last_ns = line.arrival_ns(way, now_ns, read, first).max(last_ns);
        first = false;
        shared.count(way, read);
        let piece = Bytes::copy_from_slice(&buffer[..read]);
        if sender.send((last_ns, piece)).await.is_err() || read == 0 {
            break;
        }
    }
    delivering.await.map_err(io::Error::other)?
}

/// Writes each piece at its instant; an empty one is the end.
async fn deliver(
    timer: Arc<Timer>,
    mut pieces: mpsc::Receiver<(u64, Bytes)>,
    mut to: OwnedWriteHalf,
) -> io::Result<()> {
    while let Some((instant_ns, piece)) = pieces.recv().await {
        timer.sleep_until(instant_ns).await;
        if piece.is_empty() {
            return to.shutdown().await;
        }
        to.write_all(&piece).await?;
    }
    Ok(())
}

impl RelayState {
    fn count(&self, way: Direction, bytes: usize) {
        let slot = match way {
            Direction::ToServer => CounterSlot::BytesIn,
            Direction::ToClient => CounterSlot::BytesOut,
        };
        self.tally.add(slot, bytes as u64);
    }
}

impl NetworkLine {
    fn resets(&self) -> bool {
        self.chance(self.plan.reset)
    }

    fn chance(&self, share: f64) -> bool {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        dice.chance(share)
    }

    /// When bytes that come now are at the other end. The first bytes of a connection wait for a round
    /// trip besides: that of the handshake, which a relay has ended before it was asked.
    fn arrival_ns(&self, way: Direction, now_ns: u64, bytes: usize, first: bool) -> u64 {
        let delay_ns = as_ns(self.plan.delay.mul_f64(self.factor.get()));
        let handshake_ns = if first { 2 * delay_ns } else { 0 };
        let late_ns = if self.chance(self.plan.loss) {
            RETRANSMISSION_NS
        } else {
            0
        };
        self.leaves_ns(way, now_ns, bytes) + delay_ns + handshake_ns + late_ns
    }

    /// When the last bit has left; all connections share the bandwidth.
    fn leaves_ns(&self, way: Direction, now_ns: u64, bytes: usize) -> u64 {
        let Some(bandwidth) = self.plan.bandwidth else {
            return now_ns;
        };
        let index = usize::from(way == Direction::ToClient);
        let mut free_at_ns = self.free_at_ns[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let takes_ns = bytes as f64 * 1e9 / bandwidth as f64;
        *free_at_ns = now_ns.max(*free_at_ns) + takes_ns as u64;
        *free_at_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(plan: NetworkPlan) -> NetworkLine {
        NetworkLine {
            plan,
            factor: Factor::new(1.0),
            free_at_ns: Default::default(),
            dice: Mutex::new(Dice::seeded(1)),
        }
    }

    fn plan() -> NetworkPlan {
        NetworkPlan {
            to: "x".to_owned(),
            delay: Duration::from_millis(10),
            bandwidth: Some(1_000_000),
            loss: 0.0,
            reset: 0.0,
        }
    }

    #[test]
    fn bandwidth_is_shared_and_each_direction_has_its_own() {
        let line = line(plan());
        let at = |way, now, bytes| line.arrival_ns(way, now, bytes, false);
        assert_eq!(at(Direction::ToServer, 0, 1_000), 11_000_000);
        assert_eq!(at(Direction::ToServer, 0, 1_000), 12_000_000);
        assert_eq!(at(Direction::ToClient, 0, 1_000), 11_000_000);
        assert_eq!(at(Direction::ToServer, 50_000_000, 1_000), 61_000_000);
    }

    #[test]
    fn first_bytes_pay_for_the_handshake_and_lost_ones_come_late() {
        let line = line(NetworkPlan {
            bandwidth: None,
            loss: 1.0,
            ..plan()
        });
        assert_eq!(
            line.arrival_ns(Direction::ToServer, 0, 1, true),
            230_000_000
        );
        line.factor.set(2.0);
        assert_eq!(
            line.arrival_ns(Direction::ToServer, 0, 1, false),
            220_000_000
        );
        assert!(!line.resets());
    }
}
