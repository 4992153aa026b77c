//! Port forwarding as a kubelet does it over WebSockets (`v4.channel.k8s.io`): channel 0 carries data, channel 1 errors,
//! and each begins with the port in two bytes, the lower first.
//!
//! Must not know what is carried. Invariant: a pod that does not listen is reported on the error channel.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use super::http::{Answer, Request};
use super::serve::{Connection, Shared, refuse};
use crate::forward::websocket::{Decoder, FrameKind, accepted, encode};

const PROTOCOL: &str = "v4.channel.k8s.io";
/// How long one side is listened to before the other is looked at.
const TURN: Duration = Duration::from_millis(5);

pub(super) fn serve(
    shared: &Shared,
    stream: &mut Connection,
    request: &Request,
    pod: &str,
    port: u16,
) -> io::Result<()> {
    let key = request.header("sec-websocket-key");
    let offers = request.header("sec-websocket-protocol").unwrap_or_default();
    let (Some(key), true) = (key, offers.split(',').any(|one| one.trim() == PROTOCOL)) else {
        let answer = Answer {
            status: 400,
            ..Answer::text("unable to upgrade: no supported protocol\n".to_owned())
        };
        return refuse(stream, &answer);
    };
    let accepted = accepted(key);
    write!(
        stream,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accepted}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n"
    )?;
    for channel in [0, 1] {
        let [low, high] = port.to_le_bytes();
        say(stream, &[channel, low, high])?;
    }
    let address = shared.look(|state| state.listeners.get(&(pod.to_owned(), port)).copied());
    let Some(Ok(backend)) = address.map(TcpStream::connect) else {
        let mut text = vec![1];
        text.extend_from_slice(
            format!("error forwarding port {port} to pod {pod}: connection refused").as_bytes(),
        );
        say(stream, &text)?;
        return stream.write_all(&encode(FrameKind::Close, &[], None));
    };
    shared.keep(&backend);
    carry(stream, &backend)
}

/// Takes turns between both sides, on one thread, since the connection's TLS is one.
fn carry(stream: &mut Connection, backend: &TcpStream) -> io::Result<()> {
    stream.sock.set_read_timeout(Some(TURN))?;
    let replies = read_aside(backend.try_clone()?);
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 16 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => decoder.feed(&buffer[..read]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) => {}
            Err(_) => break,
        }
        while let Ok(Some(frame)) = decoder.next() {
            match (frame.kind, frame.payload.split_first()) {
                (FrameKind::Binary, Some((0, bytes))) => (&*backend).write_all(bytes)?,
                (FrameKind::Close, _) => {
                    let _ = backend.shutdown(Shutdown::Both);
                    return Ok(());
                }
                _ => {}
            }
        }
        loop {
            match replies.try_recv() {
                Ok(bytes) => say(stream, &bytes)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    return stream.write_all(&encode(FrameKind::Close, &[], None));
                }
            }
        }
    }
    let _ = backend.shutdown(Shutdown::Both);
    Ok(())
}

/// Data from the pod, each part preceded by the number of the data channel.
fn read_aside(mut backend: TcpStream) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(64);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(read @ 1..) = backend.read(&mut buffer[1..]) {
            buffer[0] = 0;
            if sender.send(buffer[..=read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn say(stream: &mut Connection, payload: &[u8]) -> io::Result<()> {
    stream.write_all(&encode(FrameKind::Binary, payload, None))?;
    stream.flush()
}
