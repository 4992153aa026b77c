//! A store of objects in memory, over HTTP.
//!
//! Must not know what is put into it. Invariants: it is reached on loopback alone; who does not name the key gets nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

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
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (mut length, mut is_known) = (0, false);
    for line in reader.by_ref().lines() {
        let line = line?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" => {
                is_known = value.starts_with(&format!("AWS4-HMAC-SHA256 Credential={key}/"));
            }
            _ => {}
        }
    }
    let mut body = Vec::new();
    reader.take(length.min(OBJECT_MAX)).read_to_end(&mut body)?;
    let mut objects = objects.lock().expect("nobody failed with it");
    let (status, body) = match (is_known, method.as_str()) {
        (false, _) => (403, Vec::new()),
        (true, "PUT") => {
            objects.insert(path, body);
            (200, Vec::new())
        }
        (true, _) => match objects.get(&path) {
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
