//! A sample for tests of results files: redirected, with a response that failed an assertion.
//!
//! Must not know any file format. Invariant: it is the sample with which the expected texts were recorded.

use loadline_steps::sample::{AssertionOutcome, DataType, Sample};

/// A redirect, as recorded from JMeter 5.6.3.
pub(super) fn hop() -> Sample {
    Sample {
        label: "redir \"q\", <b>&  two-0".to_owned(),
        code: "302".to_owned(),
        message: "Found".to_owned(),
        success: true,
        start_ms: 1_795_395_206_839,
        elapsed_ms: 24,
        latency_ms: 21,
        connect_ms: 16,
        bytes: 182,
        sent_bytes: 128,
        method: "GET".to_owned(),
        response_headers: "HTTP/1.1 302 Found\nLocation: /relative-redirect/1\n".to_owned(),
        request_headers: "Connection: keep-alive\n".to_owned(),
        url: Some("http://127.0.0.1:23451/redirect/2".to_owned()),
        thread_name: "Thread Group 1-1".to_owned(),
        group_threads: 1,
        all_threads: 1,
        ..Sample::default()
    }
}

/// The sample over it, which an assertion failed.
pub(super) fn redirected() -> Sample {
    Sample {
        label: "redir \"q\", <b>&  two".to_owned(),
        code: "200".to_owned(),
        message: "OK".to_owned(),
        success: false,
        data_type: DataType::Text,
        encoding: "utf-8".to_owned(),
        elapsed_ms: 26,
        bytes: 829,
        sent_bytes: 386,
        data: b"<a>'\x10\r\n</a>".to_vec(),
        response_headers: "HTTP/1.1 200 OK\n".to_owned(),
        url: Some("http://127.0.0.1:23451/get".to_owned()),
        assertions: vec![AssertionOutcome {
            name: "Response Assertion".to_owned(),
            failure: true,
            message: "Test failed: text expected to contain /nope/".to_owned(),
            ..AssertionOutcome::default()
        }],
        children: vec![hop()],
        ..hop()
    }
}
