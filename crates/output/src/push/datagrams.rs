//! Sends encoded values in datagrams, over UDP or to a local socket.
//!
//! Must not know the layout. Invariant: a receiver that is slow, gone or not there yet blocks the thread for at
//! most [`PATIENCE`] per datagram, and only once.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::pack::{Limits, datagrams};
use super::thread::{Carrier, Piece};
use crate::report::{OnTrouble, SinkReport};

/// Size at which messages are packed without waiting for more.
const PIECE_BYTES: usize = 64 << 10;
/// Time limit for a local receiver to read a datagram.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same after it has failed once.
const IMPATIENCE: Duration = Duration::from_millis(1);

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatagramAddress {
    /// `host:port`.
    Udp(String),
    /// The path of a socket.
    Unix(PathBuf),
}

impl FromStr for DatagramAddress {
    type Err = std::convert::Infallible;

    /// Accepts `host:port`, `udp://host:port` and `unix:///path`.
    fn from_str(text: &str) -> Result<DatagramAddress, Self::Err> {
        Ok(match text.strip_prefix("unix://") {
            Some(path) => DatagramAddress::Unix(path.into()),
            None => DatagramAddress::Udp(text.strip_prefix("udp://").unwrap_or(text).to_owned()),
        })
    }
}

impl fmt::Display for DatagramAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramAddress::Udp(address) => f.write_str(address),
            DatagramAddress::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

/// Packs messages and sends them.
pub(crate) struct Datagrams {
    socket: Socket,
    limits: Limits,
    /// Messages of the previous datagram, which the system accepted.
    before: u64,
    report: SinkReport,
    on_trouble: OnTrouble,
}

impl Datagrams {
    /// # Errors
    /// The host name cannot be resolved, or there is no socket.
    pub(crate) fn open(
        address: &DatagramAddress,
        limits: Limits,
        on_trouble: OnTrouble,
    ) -> io::Result<Datagrams> {
        Ok(Datagrams {
            socket: Socket::open(address)?,
            limits,
            before: 0,
            report: SinkReport::default(),
            on_trouble,
        })
    }

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
    fn open(address: &DatagramAddress) -> io::Result<Socket> {
        Ok(match address {
            DatagramAddress::Udp(address) => Socket::Udp(connected(address)?),
            DatagramAddress::Unix(path) => Socket::Unix {
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
