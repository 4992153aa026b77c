//! One local connection forwarded over one WebSocket to a pod.
//!
//! Must not know the content. Invariants: neither side blocks the other (no deadlock); when one side ends, both
//! do.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use ureq::http::Uri;

use super::websocket::{Decoder, Frame, FrameKind, accepted, encode};
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::objects::Pod;
use crate::place::{ApiPlace, Verb};

/// Time limit for connecting and the handshake.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of the server's response to the handshake.
const HEAD_MAX: usize = 64 << 10;
/// Bytes of one read.
const PART: usize = 16 << 10;
/// The one protocol that kubelets speak for ports.
const PROTOCOL: &str = "v4.channel.k8s.io";

/// How to reach a port of a pod.
#[derive(Debug)]
pub(super) struct Link {
    cluster: Cluster,
    pod: String,
    port: u16,
    path: String,
    rule: String,
    is_tls: bool,
    host: String,
    host_port: (String, u16),
    name: String,
}

/// One connection to the API server, perhaps with TLS: both sides may be used by a thread each.
struct Wire {
    socket: TcpStream,
    tls: Option<Mutex<ClientConnection>>,
    /// Bytes that were read and not decrypted yet, because what was before them waits to be taken.
    pending: Mutex<Vec<u8>>,
    /// Held while bytes go out, so that records keep their order.
    out: Mutex<()>,
    random: Arc<ClientConfig>,
}

impl Link {
    /// # Errors
    /// A proxy leads to the cluster, or its address cannot be used.
    pub(super) fn new(cluster: Cluster, pod: &Pod, port: u16) -> Result<Link> {
        let access = cluster.client.access();
        let told = cluster.client.told();
        if access.proxy.is_some() {
            return Err(Error::config(format!(
                "{told} is reached through a proxy, which cannot forward ports; use kubectl port-forward"
            )));
        }
        let unfit = || Error::config(format!("{told}: its address cannot be read"));
        let uri: Uri = access.server.parse().map_err(|_| unfit())?;
        let host = uri
            .host()
            .ok_or_else(unfit)?
            .trim_matches(['[', ']'])
            .to_owned();
        let is_tls = uri.scheme_str() == Some("https");
        let number = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let place = ApiPlace::of("v1", "pods")
            .within(&pod.namespace)
            .named(&pod.name)
            .part("portforward");
        Ok(Link {
            path: format!(
                "{}{}?ports={port}",
                uri.path().trim_end_matches('/'),
                place.path()
            ),
            rule: place.rule(Verb::Create),
            is_tls,
            host: uri.authority().ok_or_else(unfit)?.to_string(),
            name: access
                .tls_server_name
                .clone()
                .unwrap_or_else(|| host.clone()),
            host_port: (host, number),
            pod: pod.name.clone(),
            port,
            cluster,
        })
    }

    /// The pod's name.
    pub(super) fn pod(&self) -> &str {
        &self.pod
    }

    /// Connects and performs the handshake, as a test.
    ///
    /// # Errors
    /// The cluster cannot be reached, or refuses.
    pub(super) fn connect(&self) -> Result<()> {
        let (wire, _) = self.open()?;
        wire.send(FrameKind::Close, &[])
            .map_err(|error| self.broken(&error))
    }

    /// Forwards a connection in both directions until either side ends; errors are reported before the local
    /// side is closed.
    pub(super) fn carry(&self, local: &TcpStream, trouble: impl Fn(&Error)) {
        if let Err(error) = self.try_carry(local, &trouble) {
            trouble(&error);
        }
    }

    fn try_carry(&self, local: &TcpStream, trouble: &impl Fn(&Error)) -> Result<()> {
        let (wire, decoder) = self.open()?;
        let broken = |error| self.broken(&error);
        // A connection may be idle for any length of time.
        wire.socket.set_read_timeout(None).map_err(broken)?;
        let wire = Arc::new(wire);
        let mut from = local.try_clone().map_err(broken)?;
        let up = Arc::clone(&wire);
        let sending = thread::Builder::new()
            .name("kubernetes-forward-up".to_owned())
            .spawn(move || send_up(&mut from, &up))
            .map_err(broken)?;
        if let Err(error) = self.hear(&wire, decoder, local) {
            trouble(&error);
        }
        // Ends the other thread's reads and writes.
        let _ = local.shutdown(Shutdown::Both);
        let _ = wire.socket.shutdown(Shutdown::Both);
        let _ = sending.join();
        Ok(())
    }

    /// Passes on data from the pod.
    fn hear(&self, wire: &Wire, mut decoder: Decoder, mut local: &TcpStream) -> Result<()> {
        // The first two bytes of each channel are the port.
        let mut is_begun = [false; 2];
        let mut buffer = vec![0; PART];
        loop {
            while let Some(frame) = decoder.next().map_err(|_| self.garbled())? {
                let Some((channel, bytes)) = channel(wire, &frame) else {
                    continue;
                };
                let Some(begun) = is_begun.get_mut(usize::from(channel)) else {
                    return Err(self.garbled());
                };
                if !std::mem::replace(begun, true) {
                    continue;
                }
                match channel {
                    // The local side ended.
                    0 if local.write_all(&bytes).is_err() => return Ok(()),
                    0 => {}
                    _ => return Err(self.refused(&String::from_utf8_lossy(&bytes))),
                }
            }
            match wire.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => decoder.feed(&buffer[..read]),
                Err(error) if is_end(&error) => return Ok(()),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    fn open(&self) -> Result<(Wire, Decoder)> {
        let client = &self.cluster.client;
        let shown = client.credentials.now(client.clock.unix_ns())?;
        let config = Arc::new(client.tls(&shown).client_config());
        let socket = self.dial().map_err(|error| self.broken(&error))?;
        let tls = match self.is_tls {
            true => {
                let name = ServerName::try_from(self.name.clone());
                let name = name.map_err(|_| {
                    Error::config(format!("{} is not a server name", quoted(&self.name)))
                })?;
                let connection = ClientConnection::new(Arc::clone(&config), name);
                Some(connection.map_err(|error| Error::config(error.to_string()))?)
            }
            false => None,
        };
        let wire = Wire {
            socket,
            tls: tls.map(Mutex::new),
            pending: Mutex::default(),
            out: Mutex::new(()),
            random: config,
        };
        let key = STANDARD.encode(wire.random_bytes::<16>());
        let mut request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n",
            self.path, self.host
        );
        for (name, value) in shown.headers()? {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        wire.write(request.as_bytes())
            .map_err(|error| self.broken(&error))?;
        let decoder = self.shake_hands(&wire, &key)?;
        Ok((wire, decoder))
    }

    fn dial(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "its host name is unknown");
        for address in (self.host_port.0.as_str(), self.host_port.1).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(socket) => {
                    socket.set_nodelay(true)?;
                    socket.set_read_timeout(Some(TIMEOUT))?;
                    return Ok(socket);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Reads the response's head; bytes after it belong to the frames.
    fn shake_hands(&self, wire: &Wire, key: &str) -> Result<Decoder> {
        let mut read = Vec::new();
        let mut buffer = vec![0; PART];
        let end = loop {
            if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            let more = wire
                .read(&mut buffer)
                .map_err(|error| self.broken(&error))?;
            if more == 0 || read.len() > HEAD_MAX {
                return Err(self.garbled());
            }
            read.extend_from_slice(&buffer[..more]);
        };
        let head = String::from_utf8_lossy(&read[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap_or_default();
        if status != "101" {
            return Err(self.status(status));
        }
        let header = |wanted: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(':'));
            let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.trim())
        };
        let is_agreed = header("sec-websocket-accept") == Some(&accepted(key))
            && header("sec-websocket-protocol") == Some(PROTOCOL);
        if !is_agreed {
            return Err(self.garbled());
        }
        let mut decoder = Decoder::default();
        decoder.feed(&read[end..]);
        Ok(decoder)
    }

    fn status(&self, status: &str) -> Error {
        let told = self.told();
        match status {
            "401" => Error::new(
                ErrorKind::Unauthorized,
                format!("{told}: the cluster does not accept the credentials (401)"),
            ),
            "403" => Error::new(
                ErrorKind::Forbidden,
                format!(
                    "{told} is not allowed (403); that needs {}, and also get for WebSockets",
                    self.rule
                ),
            ),
            "404" => Error::new(
                ErrorKind::NotFound,
                format!("{told}: there is no such pod (404)"),
            ),
            _ => Error::new(
                ErrorKind::Unavailable,
                format!("{told}: the cluster answered {}", quoted(status)),
            ),
        }
    }

    fn refused(&self, why: &str) -> Error {
        let why = quoted(why.trim());
        Error::new(
            ErrorKind::Refused,
            format!(
                "{}: {why}; does the pod listen on {}?",
                self.told(),
                self.port
            ),
        )
    }

    fn broken(&self, error: &io::Error) -> Error {
        Error::new(ErrorKind::Unreachable, format!("{}: {error}", self.told()))
    }

    fn garbled(&self) -> Error {
        Error::answer(format!(
            "{}: the cluster does not speak {PROTOCOL}",
            self.told()
        ))
    }

    fn told(&self) -> String {
        format!("forwarding port {} of the pod {}", self.port, self.pod)
    }
}

/// The channel and bytes of a data frame. Other frames are handled here.
fn channel(wire: &Wire, frame: &Frame) -> Option<(u8, Vec<u8>)> {
    match frame.kind {
        FrameKind::Binary | FrameKind::Continuation => {
            let (channel, bytes) = frame.payload.split_first()?;
            Some((*channel, bytes.to_vec()))
        }
        FrameKind::Ping => {
            // An error shows with the next read.
            let _ = wire.send(FrameKind::Pong, &frame.payload);
            None
        }
        FrameKind::Close => {
            let _ = wire.socket.shutdown(Shutdown::Both);
            None
        }
        FrameKind::Text | FrameKind::Pong => None,
    }
}

/// Closed by us or by the other side.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof,
    };
    let kinds = [
        BrokenPipe,
        ConnectionAborted,
        ConnectionReset,
        NotConnected,
        UnexpectedEof,
    ];
    kinds.contains(&error.kind())
}

/// Passes on data from the local side, until it ends.
fn send_up(local: &mut TcpStream, wire: &Wire) {
    let mut buffer = vec![0; PART];
    loop {
        // The first byte names the channel: data.
        let read = match local.read(&mut buffer[1..]) {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        buffer[0] = 0;
        if wire.send(FrameKind::Binary, &buffer[..=read]).is_err() {
            break;
        }
    }
    // The protocol knows no half of an end.
    let _ = wire.send(FrameKind::Close, &[]);
    let _ = wire.socket.shutdown(Shutdown::Write);
}

impl Wire {
    fn send(&self, kind: FrameKind, payload: &[u8]) -> io::Result<()> {
        self.write(&encode(kind, payload, Some(self.random_bytes())))
    }

    /// Unforeseeable bytes, as keys and masks must be.
    fn random_bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        let filled = self.random.crypto_provider().secure_random.fill(&mut bytes);
        filled.expect("the system gives random bytes");
        bytes
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let _order = lock(&self.out);
        let Some(tls) = &self.tls else {
            return (&self.socket).write_all(bytes);
        };
        let mut records = Vec::new();
        let mut at = 0;
        loop {
            {
                let mut tls = lock(tls);
                if !tls.is_handshaking() {
                    at += tls.writer().write(&bytes[at..])?;
                }
                while tls.wants_write() {
                    tls.write_tls(&mut records)?;
                }
            }
            // Not while the connection is locked: the other side may wait until we read.
            (&self.socket).write_all(&records)?;
            records.clear();
            if at == bytes.len() {
                return Ok(());
            }
            self.advance_handshake(tls)?;
        }
    }

    /// Only the thread that opens the wire is there yet.
    fn advance_handshake(&self, tls: &Mutex<ClientConnection>) -> io::Result<()> {
        let mut tls = lock(tls);
        if tls.is_handshaking() {
            tls.complete_io(&mut &self.socket)?;
        }
        Ok(())
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &self.tls else {
            return (&self.socket).read(buffer);
        };
        let mut pending = lock(&self.pending);
        loop {
            // Already decrypted data first: nothing more is read before.
            match lock(tls).reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            if pending.is_empty() {
                // The connection is not locked meanwhile: the other side may want to write.
                pending.resize(PART, 0);
                let read = (&self.socket).read(&mut pending);
                pending.truncate(*read.as_ref().unwrap_or(&0));
                if read? == 0 {
                    return Ok(0);
                }
            }
            let mut tls = lock(tls);
            let mut left = pending.as_slice();
            tls.read_tls(&mut left)?;
            let taken = pending.len() - left.len();
            pending.drain(..taken);
            tls.process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
