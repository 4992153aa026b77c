//! The lower bound of every HTTP client: a loop of send and recv over epoll that does nothing else.
//!
//! `bare_epoll HOST PORT PATH CONNECTIONS SECONDS` prints the number of responses. It must not know HTTP beyond
//! one prepared GET: the first response is read completely and its length then applies to all others, so a
//! server with responses of varying length cannot be used. Invariant: a connection has one request in flight;
//! nothing is allocated, parsed or measured per request.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measuring program of its own: prints its one number and reads the clock to stop"
)]

use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Larger than one response: the benchmark's responses are smaller than this.
const BUFFER: usize = 16 * 1024;
const EVENTS: usize = 256;
/// Maximum duration of a wait before the clock is read again, in milliseconds.
const WAIT_MS: i32 = 100;

fn main() -> ExitCode {
    match run() {
        Ok(requests) => {
            println!("{requests} requests");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bare_epoll HOST PORT PATH CONNECTIONS SECONDS: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<u64, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, path, connections, seconds] = arguments.as_slice() else {
        return Err("five arguments are required".into());
    };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n").into_bytes();
    let address = format!("{host}:{port}");
    let answer = answer_length(&mut TcpStream::connect(&address)?, &request)?;
    let streams = (0..connections.parse()?)
        .map(|_| TcpStream::connect(&address))
        .collect::<Result<Vec<TcpStream>, Error>>()?;
    let mut floor = Floor::start(&streams, request, answer)?;
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    while Instant::now() < end {
        floor.turn()?;
    }
    Ok(floor.completed)
}

/// Reads one response with plain calls; the server sends nothing more on a connection without a request.
fn answer_length(stream: &mut TcpStream, request: &[u8]) -> Result<usize, Error> {
    stream.write_all(request)?;
    // On loopback the whole small response arrives long before this.
    stream.set_read_timeout(Some(Duration::from_millis(300)))?;
    let mut buffer = [0; BUFFER];
    let mut length = 0;
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        length += read;
    }
    if length == 0 {
        Err(Error::other("the server did not answer"))
    } else {
        Ok(length)
    }
}

struct Floor {
    epoll: RawFd,
    request: Vec<u8>,
    answer: usize,
    /// Received bytes of the current response, by descriptor.
    received: Vec<usize>,
    /// Buffer for every response; it is never read.
    buffer: Vec<u8>,
    completed: u64,
}

impl Floor {
    fn start(streams: &[TcpStream], request: Vec<u8>, answer: usize) -> Result<Self, Error> {
        // SAFETY: takes no pointer; a negative result is the error.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(Error::last_os_error());
        }
        let highest = streams.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(0);
        let received = vec![0; usize::try_from(highest).unwrap_or(0) + 1];
        let buffer = vec![0; BUFFER];
        let floor = Self {
            epoll,
            request,
            answer,
            received,
            buffer,
            completed: 0,
        };
        for stream in streams {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            floor.watch(stream.as_raw_fd())?;
            floor.send(stream.as_raw_fd())?;
        }
        Ok(floor)
    }

    fn watch(&self, socket: RawFd) -> Result<(), Error> {
        let interest = (libc::EPOLLIN | libc::EPOLLET).cast_unsigned();
        let mut event = libc::epoll_event {
            events: interest,
            u64: u64::from(socket.unsigned_abs()),
        };
        // SAFETY: `event` is valid during the call, which copies it.
        let result =
            unsafe { libc::epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, socket, &raw mut event) };
        if result < 0 {
            Err(Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// One wait and the resulting work.
    fn turn(&mut self) -> Result<(), Error> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let room = i32::try_from(EVENTS).expect("the constant is small");
        // SAFETY: the kernel writes at most `room` events into the array of that length.
        let ready = unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), room, WAIT_MS) };
        if ready < 0 {
            return Err(Error::last_os_error());
        }
        for event in &events[..ready.unsigned_abs() as usize] {
            let socket = RawFd::try_from(event.u64).expect("`watch` stored a descriptor");
            self.receive(socket)?;
        }
        Ok(())
    }

    /// One `recv`: a response fits the buffer, so a second call would find nothing.
    fn receive(&mut self, socket: RawFd) -> Result<(), Error> {
        let room = self.buffer.len();
        // SAFETY: the kernel writes at most the buffer's length.
        let read = unsafe { libc::recv(socket, self.buffer.as_mut_ptr().cast(), room, 0) };
        if read <= 0 {
            return Err(Error::other("the server closed a connection"));
        }
        let index = usize::try_from(socket).expect("descriptors are not negative");
        self.received[index] += read.unsigned_abs();
        if self.received[index] < self.answer {
            return Ok(());
        }
        self.received[index] = 0;
        self.completed += 1;
        self.send(socket)
    }

    fn send(&self, socket: RawFd) -> Result<(), Error> {
        let bytes = &self.request;
        // SAFETY: the kernel reads exactly the slice.
        let sent = unsafe {
            libc::send(
                socket,
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        // A request is far smaller than an empty send buffer.
        if sent.unsigned_abs() == bytes.len() {
            Ok(())
        } else {
            Err(Error::last_os_error())
        }
    }
}
