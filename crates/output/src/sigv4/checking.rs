//! A server that checks signatures: it recomputes each one from what it received, as Amazon documents it,
//! refuses any difference, and stores objects.
//!
//! The check shares no code with what it checks: it has its own hash and key derivation.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::Service;

pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
pub(crate) const REGION: &str = "eu-central-1";
pub(crate) const TOKEN: &str = "FwoGZXIvYXdzEXAMPLE//token==";

/// SHA-256 by the steps of FIPS 180-4, section 6.2.
mod sha256 {
    const START: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    fn constants() -> [u32; 64] {
        let is_prime = |n: &u128| !(2..*n).any(|divisor| n.is_multiple_of(divisor));
        let mut primes = (2_u128..).filter(is_prime);
        std::array::from_fn(|_| {
            let wanted = primes.next().expect("primes do not end") << 96;
            // The cube root of p * 2^96 is that of p with 32 fractional bits.
            let (mut low, mut high) = (0_u128, 1 << 36);
            while high - low > 1 {
                let middle = u128::midpoint(low, high);
                match middle.pow(3) <= wanted {
                    true => low = middle,
                    false => high = middle,
                }
            }
            (low & 0xffff_ffff) as u32
        })
    }

    pub(super) fn digest(message: &[u8]) -> [u8; 32] {
        let mut padded = message.to_vec();
        padded.push(0x80);
        while padded.len() % 64 != 56 {
            padded.push(0);
        }
        padded.extend((message.len() as u64 * 8).to_be_bytes());
        let k = constants();
        let mut state = START;
        for block in padded.chunks_exact(64) {
            add_block(&mut state, block, &k);
        }
        let mut out = [0; 32];
        for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        out
    }

    fn add_block(state: &mut [u32; 8], block: &[u8], k: &[u32; 64]) {
        let mut w = [0_u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes(bytes.try_into().expect("four bytes"));
        }
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w[t] = w[t - 16]
                .wrapping_add(s0)
                .wrapping_add(w[t - 7])
                .wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let one = h
                .wrapping_add(s1)
                .wrapping_add(choice)
                .wrapping_add(k[t])
                .wrapping_add(w[t]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let two = s0.wrapping_add(majority);
            (h, g, f, e, d, c, b) = (g, f, e, d.wrapping_add(one), c, b, a);
            a = one.wrapping_add(two);
        }
        for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(word);
        }
    }

    /// RFC 2104.
    pub(super) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
        let mut block = [0; 64];
        match key.len() > 64 {
            true => block[..32].copy_from_slice(&digest(key)),
            false => block[..key.len()].copy_from_slice(key),
        }
        let inner = digest(&[&block.map(|byte| byte ^ 0x36)[..], message].concat());
        digest(&[&block.map(|byte| byte ^ 0x5c)[..], &inner].concat())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A received request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    fn header(&self, name: &str) -> Result<&str, String> {
        let value = self.headers.get(name).map(String::as_str);
        value.ok_or_else(|| format!("{name} is missing"))
    }

    /// The documentation's `CanonicalRequest`, with the signed headers.
    fn canonical(&self, service: Service, signed_headers: &str) -> Result<String, String> {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        // Every service encodes each segment a second time, except the object store, which re-encodes the
        // decoded one.
        let segments = path.split('/').map(|segment| match service {
            Service::Prometheus => uri_encoded(segment),
            Service::ObjectStore => uri_encoded(&decoded(segment)),
        });
        let mut parameters: Vec<(String, String)> = query
            .split('&')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                (uri_encoded(&decoded(name)), uri_encoded(&decoded(value)))
            })
            .collect();
        parameters.sort();
        let parameters = parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let mut lines = vec![
            self.method.clone(),
            segments.collect::<Vec<_>>().join("/"),
            parameters.collect::<Vec<_>>().join("&"),
        ];
        for name in signed_headers.split(';') {
            lines.push(format!("{name}:{}", self.header(name)?.trim()));
        }
        lines.extend([String::new(), signed_headers.to_owned()]);
        lines.push(hex(&sha256::digest(&self.body)));
        Ok(lines.join("\n"))
    }

    /// Checks the signature; the error says what differs.
    pub(crate) fn check(&self, service: Service) -> Result<(), String> {
        let service_name = match service {
            Service::Prometheus => "aps",
            Service::ObjectStore => "s3",
        };
        let authorization = self.header("authorization")?;
        let fields = authorization
            .strip_prefix("AWS4-HMAC-SHA256 ")
            .ok_or("another algorithm")?;
        let fields: BTreeMap<&str, &str> = fields
            .split(", ")
            .filter_map(|field| field.split_once('='))
            .collect();
        let (credential, signed, signature) = (
            fields["Credential"],
            fields["SignedHeaders"],
            fields["Signature"],
        );
        let stamp = self.header("x-amz-date")?;
        let scope = format!("{}/{REGION}/{service_name}/aws4_request", &stamp[..8]);
        if credential != format!("AKIDEXAMPLE/{scope}") {
            return Err(format!("credential {credential}"));
        }
        let mut names: Vec<&str> = signed.split(';').collect();
        names.sort_unstable();
        if names.join(";") != signed || !names.contains(&"host") {
            return Err(format!("signed headers {signed}"));
        }
        let is_signed =
            |name: &&String| !name.starts_with("x-amz-") || names.contains(&name.as_str());
        if !self.headers.keys().all(|name| is_signed(&name)) {
            return Err(format!("a header of Amazon's is not signed: {signed}"));
        }
        if self.header("x-amz-content-sha256")? != hex(&sha256::digest(&self.body)) {
            return Err("the body is another".to_owned());
        }
        let canonical = hex(&sha256::digest(self.canonical(service, signed)?.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{canonical}");
        let mut key = format!("AWS4{SECRET}").into_bytes();
        for part in scope.split('/') {
            key = sha256::hmac(&key, part.as_bytes()).to_vec();
        }
        match hex(&sha256::hmac(&key, to_sign.as_bytes())) == signature {
            true => Ok(()),
            false => Err("the signature does not match".to_owned()),
        }
    }
}

/// `UriEncode` of the documentation.
fn uri_encoded(text: &str) -> String {
    let coded = text.bytes().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    coded.collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        match (first, behind) {
            (b'%', [a, b, behind @ ..]) => {
                let digits = [*a, *b].map(char::from);
                let digits: String = digits.iter().collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("it was coded"));
                rest = behind;
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).expect("it was text")
}

/// A request, and why it was refused.
pub(crate) type Checked = (Received, Result<(), String>);

/// What the server stores.
#[derive(Default)]
struct Held {
    seen: Vec<Checked>,
    /// Objects by their paths.
    objects: BTreeMap<String, Vec<u8>>,
}

/// A server that checks what it receives.
pub(crate) struct Checking {
    pub(crate) address: String,
    held: Arc<Mutex<Held>>,
}

impl Checking {
    pub(crate) fn start(service: Service) -> Checking {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound").to_string();
        let held = Arc::new(Mutex::new(Held::default()));
        let of_server = Arc::clone(&held);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let held = Arc::clone(&of_server);
                thread::spawn(move || {
                    while let Some(request) = receive(&connection) {
                        let checked = request.check(service);
                        let mut held = held.lock().unwrap();
                        let (status, body) = held.answer(request, checked);
                        drop(held);
                        let length = body.len();
                        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n");
                        (&connection)
                            .write_all(&[head.as_bytes(), &body].concat())
                            .unwrap();
                    }
                });
            }
        });
        Checking { address, held }
    }

    pub(crate) fn seen(&self) -> Vec<Checked> {
        self.held.lock().unwrap().seen.clone()
    }
}

impl Held {
    fn answer(
        &mut self,
        request: Received,
        checked: Result<(), String>,
    ) -> (&'static str, Vec<u8>) {
        let answer = match (&checked, request.method.as_str()) {
            (Err(_), _) => {
                let error =
                    "<?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch</Code></Error>";
                ("403 Forbidden", error.into())
            }
            (Ok(()), "PUT") => {
                self.objects
                    .insert(request.target.clone(), request.body.clone());
                ("200 OK", Vec::new())
            }
            (Ok(()), "GET") => match self.objects.get(&request.target) {
                Some(object) => ("200 OK", object.clone()),
                None => ("200 OK", Vec::new()),
            },
            (Ok(()), _) => ("204 No Content", Vec::new()),
        };
        self.seen.push((request, checked));
        answer
    }
}

fn receive(connection: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|bytes| *bytes > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let mut request = Received {
        method: words.next()?,
        target: words.next()?,
        ..Received::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim().to_owned();
        request.headers.insert(name.to_ascii_lowercase(), value);
    }
    let length = request.headers.get("content-length");
    let length = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

#[test]
fn the_check_computes_what_is_published() {
    // FIPS 180-4's examples, RFC 4231's second case, and the key of Amazon's documentation.
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hex(&sha256::digest(b"abc")), abc);
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(hex(&sha256::digest(b"")), empty);
    let jefe = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let mac = sha256::hmac(b"Jefe", b"what do ya want for nothing?");
    assert_eq!(hex(&mac), jefe);
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for part in ["20150830", "us-east-1", "iam", "aws4_request"] {
        key = sha256::hmac(&key, part.as_bytes()).to_vec();
    }
    let documented = "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9";
    assert_eq!(hex(&key), documented);
}
