//! Files written to a store that checks signatures, and the messages for an unusable store.
//!
//! Must not know how a signature is made.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use loadline_model::ObjectFolder;

use super::*;
use crate::sigv4::Service;
use crate::sigv4::checking::{Checking, REGION, SECRET, TOKEN};

fn settings(words: &[(&str, &str)]) -> Result<StoreSettings, String> {
    let variable = |name: &str| {
        let mut words = words.iter();
        let found = words.find(|(word, _)| *word == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    StoreSettings::read(&variable, None)
}

fn store(endpoint: &str) -> ObjectStore {
    let settings = settings(&[
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", TOKEN),
        ("AWS_REGION", REGION),
        ("AWS_ENDPOINT_URL", endpoint),
    ]);
    ObjectStore::new(settings.expect("settings")).expect("a store")
}

fn folder(text: &str) -> ObjectFolder {
    ObjectFolder::read(text, "t").expect("a folder")
}

/// A server that answers each connection with the next of these responses, then stops.
fn answering(answers: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for answer in answers {
            let (mut connection, _) = listener.accept().expect("a connection");
            let mut read = vec![0; 4 << 10];
            while !read.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
                let from = read.len();
                read.resize(from + 4_096, 0);
                let bytes = connection.read(&mut read[from..]).expect("a request");
                read.truncate(from + bytes);
            }
            let answer = format!("{answer}connection: close\r\n\r\n");
            connection.write_all(answer.as_bytes()).expect("it is read");
        }
    });
    format!("http://{address}")
}

#[test]
fn what_was_put_is_read_again() {
    let server = Checking::start(Service::ObjectStore);
    let store = store(&format!("http://{}/", server.address));
    let folder = folder("s3://results/load tests/größe+1");
    let put = store.put(&folder, "result.json", "application/json", b"{}");
    assert_eq!(put, Ok(()), "{:?}", server.seen());
    assert_eq!(store.get(&folder, "result.json", 2), Ok(b"{}".to_vec()));
    let seen = server.seen();
    let path = "/results/load%20tests/gr%C3%B6%C3%9Fe%2B1/result.json";
    assert!(seen.iter().all(|(request, _)| request.target == path));
    assert_eq!(seen[0].0.headers["content-type"], "application/json");
    assert_eq!(seen[0].0.headers["x-amz-security-token"], TOKEN);
}

#[test]
fn a_store_that_refuses_is_told_by_its_code_and_not_asked_again() {
    let server = Checking::start(Service::Prometheus);
    let store = store(&format!("http://{}", server.address));
    let refused = store.put(&folder("s3://results"), "result.json", "text/plain", b"");
    let why = "s3://results/t: the store answered 403: SignatureDoesNotMatch";
    assert_eq!(refused, Err(why.to_owned()));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_store_that_is_busy_is_asked_again() {
    let server = answering(&[
        "HTTP/1.1 503 Slow Down\r\nretry-after: 0\r\ncontent-length: 0\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n",
    ]);
    let put = store(&server).put(&folder("s3://results"), "result.json", "text/plain", b"");
    assert_eq!(put, Ok(()));
}

#[test]
fn an_object_that_is_not_there_is_told() {
    let server = answering(&["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n"]);
    let found = store(&server).get(&folder("s3://results"), "result.json", 1);
    let why = "s3://results/t/result.json: the server answered 404";
    assert_eq!(found, Err(why.to_owned()));
}

#[test]
fn buckets_have_the_addresses_that_stores_give_them() {
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let endpoint = |more: &[(&str, &str)], bucket: &str| {
        let settings = settings(&[&keys[..], more].concat());
        settings.expect("settings").endpoint(bucket)
    };
    assert_eq!(
        endpoint(&[], "results"),
        "https://results.s3.us-east-1.amazonaws.com"
    );
    assert_eq!(
        endpoint(&[("AWS_DEFAULT_REGION", "eu-west-1")], "my.results"),
        "https://s3.eu-west-1.amazonaws.com/my.results"
    );
    let both = [
        ("AWS_ENDPOINT_URL", "https://other"),
        ("AWS_ENDPOINT_URL_S3", "https://minio:9000/s3/"),
    ];
    assert_eq!(
        endpoint(&both, "my.results"),
        "https://minio:9000/s3/my.results"
    );
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_name() {
    let key = ("AWS_ACCESS_KEY_ID", "a");
    let secret = ("AWS_SECRET_ACCESS_KEY", "hidden");
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[secret], "AWS_ACCESS_KEY_ID is not set"),
        (
            &[key, ("AWS_SECRET_ACCESS_KEY", "")],
            "AWS_SECRET_ACCESS_KEY is not set",
        ),
        (
            &[key, secret, ("AWS_REGION", "eu/west")],
            "AWS_REGION is not",
        ),
        (
            &[key, secret, ("AWS_ENDPOINT_URL", "minio:9000")],
            "AWS_ENDPOINT_URL is not",
        ),
        (
            &[key, secret, ("AWS_ENDPOINT_URL_S3", "http://u:hidden@h")],
            "AWS_ENDPOINT_URL_S3 is not",
        ),
    ];
    for (words, expected) in cases {
        let why = settings(words).expect_err(expected);
        assert!(
            why.starts_with(expected) && !why.contains("hidden"),
            "{why}"
        );
    }
}
