//! Ports forwarded to pods.
//!
//! Must not know the stand-in's internals. Invariant: bytes arrive as they were sent, whatever their number.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::json;

use super::served;
use crate::{ErrorKind, ForwardTo, RemotePort, WorkloadName};

/// Echoes on each connection, until it ends.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut from = connection.try_clone().expect("cloned");
                let mut to = connection;
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

fn said_back(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(address).expect("connected");
    let mut writing = connection.try_clone().expect("cloned");
    let sent = bytes.to_vec();
    let writer = thread::spawn(move || writing.write_all(&sent));
    let mut read = vec![0; bytes.len()];
    connection.read_exact(&mut read).expect("read");
    writer.join().expect("ended").expect("written");
    read
}

#[test]
fn bytes_come_back_as_they_were_sent() {
    let (server, pod) = served();
    server.listen_at(&pod, 8080, echo());
    server.put(json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "api", "namespace": "shop" },
        "spec": { "selector": { "app": "api" }, "ports": [{ "name": "web", "port": 80, "targetPort": "http" }] } }));
    let cluster = server.cluster();
    let service = ForwardTo::Service {
        namespace: "shop".to_owned(),
        name: "api".to_owned(),
    };
    let workload = ForwardTo::Workload(WorkloadName::parse("api", "shop").expect("a name"));
    let by_pod = ForwardTo::Pod {
        namespace: "shop".to_owned(),
        name: pod.clone(),
    };
    let ways = [(service, "80"), (workload, "http"), (by_pod, "8080")];
    for (to, port) in ways {
        let forward = cluster
            .port_forward(&to, &RemotePort::parse(port))
            .expect("forwarded");
        assert_eq!(forward.pod(), pod);
        let much: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        assert_eq!(said_back(forward.address(), b"hello"), b"hello");
        assert!(
            said_back(forward.address(), &much) == much,
            "as many and the same"
        );
        assert!(forward.troubles().is_empty());
    }
}

#[test]
fn the_port_is_closed_when_the_forward_is_dropped() {
    let (server, pod) = served();
    server.listen_at(&pod, 8080, echo());
    let to = ForwardTo::Pod {
        namespace: "shop".to_owned(),
        name: pod,
    };
    let forward = server
        .cluster()
        .port_forward(&to, &RemotePort::Number(8080))
        .expect("forwarded");
    let address = forward.address();
    let mut open = TcpStream::connect(address).expect("connected");
    open.write_all(b"x").expect("written");
    let mut byte = [0];
    open.read_exact(&mut byte).expect("said back");
    drop(forward);
    assert_eq!(
        open.read(&mut byte).unwrap_or(0),
        0,
        "an open connection ends"
    );
}

#[test]
fn a_pod_that_does_not_listen_is_told() {
    let (server, pod) = served();
    let to = ForwardTo::Pod {
        namespace: "shop".to_owned(),
        name: pod,
    };
    let forward = server
        .cluster()
        .port_forward(&to, &RemotePort::Number(9))
        .expect("the handshake is the server's");
    let mut connection = TcpStream::connect(forward.address()).expect("connected");
    let mut read = Vec::new();
    let _ = connection.read_to_end(&mut read);
    let troubles = forward.troubles();
    assert!(read.is_empty() && troubles.len() == 1, "{troubles:?}");
    assert!(troubles[0].contains("connection refused"), "{troubles:?}");
}

#[test]
fn what_cannot_be_forwarded_is_told_at_once() {
    let (server, pod) = served();
    let cluster = server.cluster();
    let to = ForwardTo::Pod {
        namespace: "shop".to_owned(),
        name: pod.clone(),
    };
    let error = cluster
        .port_forward(&to, &RemotePort::parse("grpc"))
        .expect_err("no such port");
    assert!(
        error.kind() == ErrorKind::User && error.to_string().contains("grpc"),
        "{error}"
    );
    server.forbid("get", "pods/portforward");
    let error = cluster
        .port_forward(&to, &RemotePort::Number(8080))
        .expect_err("forbidden");
    assert!(
        error.kind() == ErrorKind::Forbidden && error.to_string().contains("pods/portforward"),
        "{error}"
    );
    server.change("Pod", "shop", &pod, |pod| {
        pod["status"]["conditions"] = json!([]);
    });
    let workload = ForwardTo::Workload(WorkloadName::parse("api", "shop").expect("a name"));
    let error = cluster
        .port_forward(&workload, &RemotePort::Number(8080))
        .expect_err("not ready");
    assert!(error.to_string().contains("no ready pod"), "{error}");
}

/// What a connection receives before it ends.
fn greeting(address: SocketAddr) -> String {
    let mut connection = TcpStream::connect(address).expect("connected");
    let mut read = String::new();
    connection
        .read_to_string(&mut read)
        .expect("read to its end");
    read
}

/// Greets each connection, and ends it.
fn greeter(words: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            connection.write_all(words.as_bytes()).expect("written");
        }
    });
    address
}

#[test]
fn each_connection_is_led_to_a_pod_that_is_ready_then() {
    let (server, old) = served();
    server.listen_at(&old, 8080, greeter("old"));
    let workload = ForwardTo::Workload(WorkloadName::parse("api", "shop").expect("a name"));
    let forward = server
        .cluster()
        .port_forward(&workload, &RemotePort::Number(8080))
        .expect("forwarded");
    assert_eq!(greeting(forward.address()), "old");
    let is_ready = |is_ready: &str| json!([{ "type": "Ready", "status": is_ready }]);
    server.change("Pod", "shop", &old, |pod| {
        pod["status"]["conditions"] = is_ready("False");
    });
    assert_eq!(greeting(forward.address()), "", "there is none");
    let troubles = forward.troubles();
    assert!(
        troubles.len() == 1 && troubles[0].contains("no ready pod"),
        "{troubles:?}"
    );
    server.deploy("shop", "api", 2);
    let new = server
        .pod_names("shop")
        .into_iter()
        .find(|name| *name != old);
    let new = new.expect("a second pod");
    server.listen_at(&new, 8080, greeter("new"));
    assert_eq!(greeting(forward.address()), "new");
    server.change("Pod", "shop", &old, |pod| {
        pod["status"]["conditions"] = is_ready("True");
    });
    let mut heard = [greeting(forward.address()), greeting(forward.address())];
    heard.sort();
    assert_eq!(heard, ["new", "old"], "each has its turn");
    assert!(forward.troubles().is_empty());
}
