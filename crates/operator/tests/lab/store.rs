//! An in-memory object store over HTTP.
//!
//! Must not know the content. Invariants: it is only reachable on loopback; requests without the right key get
//! nothing.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::request::Request;

/// Most bytes of an object.
const OBJECT_MAX: u64 = 16 << 20;

/// Objects by their paths.
type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A store.
pub(crate) struct Store {
    /// Its address.
    pub(crate) url: String,
    objects: Objects,
}

impl Store {
    /// An empty one, whose clients sign with this key.
    pub(crate) fn serve(key: &'static str) -> Store {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let objects = Objects::default();
        let held = Arc::clone(&objects);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who breaks off is not served.
                drop(answer(&stream, key, &held));
            }
        });
        Store { url, objects }
    }

    /// The paths of the objects in it.
    pub(crate) fn paths(&self) -> Vec<String> {
        let objects = self.objects.lock().expect("nobody failed with it");
        objects.keys().cloned().collect()
    }
}

/// Answers one request, and closes the connection.
fn answer(stream: &TcpStream, key: &str, objects: &Objects) -> std::io::Result<()> {
    let request = Request::read(stream, OBJECT_MAX)?;
    let credential = format!("AWS4-HMAC-SHA256 Credential={key}/");
    let signed = request.headers.get("authorization");
    let is_known = signed.is_some_and(|value| value.starts_with(&credential));
    let mut objects = objects.lock().expect("nobody failed with it");
    let (status, body) = match (is_known, request.method.as_str()) {
        (false, _) => (403, Vec::new()),
        (true, "PUT") => {
            objects.insert(request.target, request.body);
            (200, Vec::new())
        }
        (true, _) => match objects.get(&request.target) {
            Some(object) => (200, object.clone()),
            None => (404, Vec::new()),
        },
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let mut stream = stream;
    stream.write_all(&[head.as_bytes(), &body].concat())
}
