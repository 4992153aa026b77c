//! The thread that sends messages, and its socket.
//!
//! Must not know the layout. Invariant: as for [`PushSink`]; a receiver that is slow, gone or not there yet
//! blocks the thread for at most [`PATIENCE`] per datagram, and only once.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::encode::Messages;
use super::pack::{Limits, datagrams};
use crate::k6_lines::MetricDescription;
use crate::push::{Carrier, Piece, PushSink, Pushing};
use crate::report::{OnTrouble, SinkReport};

/// Size of a UDP datagram that is not fragmented on Ethernet.
const UDP_BYTES: usize = 1_432;
/// Size of a local datagram: what DogStatsD's agent reads at a time.
const UNIX_BYTES: usize = 8_192;
/// Size at which messages are packed without waiting for more.
const PIECE_BYTES: usize = 64 << 10;
/// Time limit for a local receiver to read a datagram.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same after it has failed once.
const IMPATIENCE: Duration = Duration::from_millis(1);

/// Settings for sending messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsdSettings {
    /// The destination.
    pub address: StatsdAddress,
    /// Prefix of every name.
    pub namespace: String,
    /// Maximum messages per datagram; at least one.
    pub buffer_size: usize,
    /// How long messages wait for others to be sent together.
    pub push_interval: Duration,
    /// Tags that are omitted; `None`: no tags are sent, as plain StatsD requires.
    pub blocked_tags: Option<Vec<String>>,
}

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatsdAddress {
    /// `host:port`.
    Udp(String),
    /// The path of a socket.
    Unix(PathBuf),
}

impl FromStr for StatsdAddress {
    type Err = std::convert::Infallible;

    /// Accepts `host:port`, `udp://host:port` and `unix:///path`.
    fn from_str(text: &str) -> Result<StatsdAddress, Self::Err> {
        Ok(match text.strip_prefix("unix://") {
            Some(path) => StatsdAddress::Unix(path.into()),
            None => StatsdAddress::Udp(text.strip_prefix("udp://").unwrap_or(text).to_owned()),
        })
    }
}

impl fmt::Display for StatsdAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatsdAddress::Udp(address) => f.write_str(address),
            StatsdAddress::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

/// Sends every received value until the senders are dropped. `describe` returns a metric's definition and is
/// called once per metric.
///
/// # Errors
/// No thread can be started, or the host name cannot be resolved.
pub fn start(
    settings: StatsdSettings,
    receiver: Receiver<Vec<TaggedValues>>,
    describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    on_trouble: OnTrouble,
) -> io::Result<PushSink> {
    let limits = Limits {
        messages: settings.buffer_size.max(1),
        bytes: match settings.address {
            StatsdAddress::Udp(_) => UDP_BYTES,
            StatsdAddress::Unix(_) => UNIX_BYTES,
        },
    };
    let pushing = Pushing {
        name: "statsd",
        lines: Messages::new(settings.namespace, settings.blocked_tags),
        carrier: Datagrams {
            socket: Socket::open(&settings.address)?,
            limits,
            before: 0,
            report: SinkReport::default(),
            on_trouble,
        },
        interval: settings.push_interval,
        ending: Arc::default(),
    };
    PushSink::start(pushing, receiver, describe)
}

/// Packs messages and sends them.
struct Datagrams {
    socket: Socket,
    limits: Limits,
    /// Messages of the previous datagram, which the system accepted.
    before: u64,
    report: SinkReport,
    on_trouble: OnTrouble,
}

impl Datagrams {
    fn send(&mut self, datagram: &[u8], messages: u64) {
        let Err(error) = self.socket.send(datagram) else {
            self.before = messages;
            self.report.written += messages;
            return;
        };
        let mut lost = messages;
        if error.kind() == io::ErrorKind::ConnectionRefused {
            // The network's error for the previous datagram: nobody received it.
            lost += self.before;
            self.report.written -= self.before;
        }
        self.before = 0;
        self.report.lost += lost;
        if self.report.error.is_none() {
            (self.on_trouble)(&error.to_string());
            self.report.error = Some(error);
        }
    }
}

impl Carrier for Datagrams {
    fn piece_bytes(&self) -> usize {
        PIECE_BYTES
    }

    fn carry(&mut self, piece: Piece) {
        for (datagram, messages) in datagrams(&piece.bytes, self.limits) {
            self.send(datagram, messages);
        }
    }

    fn finish(self) -> SinkReport {
        self.report
    }
}

enum Socket {
    Udp(UdpSocket),
    /// `None`: there is no receiver; the next datagram tries again.
    Unix {
        path: PathBuf,
        open: Option<UnixDatagram>,
        patience: Duration,
    },
}

impl Socket {
    fn open(address: &StatsdAddress) -> io::Result<Socket> {
        Ok(match address {
            StatsdAddress::Udp(address) => Socket::Udp(connected(address)?),
            StatsdAddress::Unix(path) => Socket::Unix {
                path: path.clone(),
                open: None,
                patience: PATIENCE,
            },
        })
    }

    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        let (path, open, patience) = match self {
            Socket::Udp(socket) => return socket.send(datagram).map(drop),
            Socket::Unix {
                path,
                open,
                patience,
            } => (path, open, patience),
        };
        let sent = (|| {
            let socket = match open {
                Some(socket) => socket,
                None => {
                    let socket = UnixDatagram::unbound()?;
                    socket.connect(&path)?;
                    socket.set_write_timeout(Some(*patience))?;
                    open.insert(socket)
                }
            };
            socket.send(datagram).map(drop)
        })();
        if sent.is_err() {
            (*open, *patience) = (None, IMPATIENCE);
        }
        sent
    }
}

fn connected(address: &str) -> io::Result<UdpSocket> {
    let first = address.to_socket_addrs()?.next();
    let receiver = first.ok_or_else(|| io::Error::other("the host has no address"))?;
    let own = match receiver {
        SocketAddr::V4(_) => "0.0.0.0:0",
        SocketAddr::V6(_) => "[::]:0",
    };
    let socket = UdpSocket::bind(own)?;
    socket.connect(receiver)?;
    Ok(socket)
}
