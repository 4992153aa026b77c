//! A port with a full accept queue: connections to it are never established, and not refused.
//!
//! Must not know the client. Invariant: while it exists, nobody gets a connection.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use socket2::{Domain, Socket, Type};

/// The port.
#[derive(Debug)]
pub struct FullQueue {
    address: SocketAddr,
    _listener: Socket,
    _held: TcpStream,
}

impl FullQueue {
    /// Listens on a free port of 127.0.0.1, and fills the queue.
    ///
    /// # Panics
    /// No port is available.
    #[must_use]
    pub fn listen() -> FullQueue {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket can be made");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        listener.bind(&any.into()).expect("a port is free");
        listener.listen(0).expect("it can be listened on");
        let address = listener.local_addr().ok();
        let address = address.and_then(|address| address.as_socket());
        let address = address.expect("it has an address");
        // A queue of length 0 holds one connection.
        let held = TcpStream::connect(address).expect("the first fits");
        FullQueue {
            address,
            _listener: listener,
            _held: held,
        }
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}
