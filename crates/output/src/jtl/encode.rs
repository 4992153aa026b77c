//! Rows with JMeter's default columns, as JMeter 5.6 writes and reads them.
//!
//! Must not know files. Invariant: `elapsed` is the time from the start of connecting, if a connection was
//! made, to the last byte, as in JMeter; `Latency` and `Connect` are parts of it.

use std::fmt::Write as _;

use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::is_good_status;
use loadline_model::sample::{RequestFacts, TaggedValues};

use crate::k6_lines::{Lines, MetricDescription};

/// The header, line end included.
const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,\
     dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,\
     Connect\n";

/// The data of a row; times in nanoseconds.
struct Row<'a> {
    start_unix_ns: u64,
    connect_ns: u64,
    /// Sending, and waiting for the first byte.
    first_byte_ns: u64,
    receiving_ns: u64,
    label: &'a str,
    /// Status code; zero for a failure.
    status: u16,
    /// What failed, in words; empty if nothing did.
    error: &'a str,
    thread: &'a str,
    success: bool,
    request: RequestFacts,
    url: &'a str,
}

impl Row<'_> {
    fn push(&self, out: &mut String) {
        let ms = |ns: u64| (ns + 500_000) / 1_000_000;
        let latency_ns = self.connect_ns + self.first_byte_ns;
        let elapsed = ms(latency_ns + self.receiving_ns);
        write!(out, "{},{elapsed},", self.start_unix_ns / 1_000_000).expect(TAKES_ALL);
        push_field(self.label, out);
        out.push(',');
        self.push_response(out);
        out.push(',');
        push_field(self.thread, out);
        write!(out, ",text,{},", self.success).expect(TAKES_ALL);
        if !self.success && self.status != 0 {
            push_field(self.error, out);
        }
        let RequestFacts {
            sent_bytes,
            body_bytes,
            vus,
        } = self.request;
        let (of_group, all) = (vus.scenario, vus.run);
        write!(out, ",{body_bytes},{sent_bytes},{of_group},{all},").expect(TAKES_ALL);
        push_field(
            if self.url.is_empty() {
                "null"
            } else {
                self.url
            },
            out,
        );
        let (latency, connect) = (ms(latency_ns), ms(self.connect_ns));
        // JMeter writes zero if there was no response.
        let latency = if self.status == 0 { 0 } else { latency };
        writeln!(out, ",{latency},0,{connect}").expect(TAKES_ALL);
    }

    /// Code and message in JMeter's style for responses and failures.
    fn push_response(&self, out: &mut String) {
        if self.status == 0 {
            push_field(&format!("Non HTTP response code: {}", self.error), out);
            out.push(',');
            push_field(&format!("Non HTTP response message: {}", self.error), out);
        } else {
            write!(out, "{},", self.status).expect(TAKES_ALL);
            push_field(reason(self.status), out);
        }
    }
}

const TAKES_ALL: &str = "a string takes all text";

/// Makes rows from requests; other values have no rows.
#[derive(Debug, Default)]
pub(super) struct JtlLines {
    text: String,
}

impl Lines for JtlLines {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend(HEADER.as_bytes());
    }

    fn append(
        &mut self,
        values: &TaggedValues,
        _describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        let value = |metric: BuiltIn| {
            let found = values.values.iter().find(|(id, _)| *id == metric.id());
            found.map(|(_, value)| *value)
        };
        let Some(request) = values.request else {
            return;
        };
        let ns = |metric| (value(metric).unwrap_or(0.0) * 1e6) as u64;
        let connect_ns = ns(BuiltIn::HttpReqConnecting) + ns(BuiltIn::HttpReqTlsHandshaking);
        let elapsed_ns = connect_ns + ns(BuiltIn::HttpReqDuration);
        let receiving_ns = ns(BuiltIn::HttpReqReceiving);
        let tag = |name| values.tags.get(name).unwrap_or("");
        let status = tag("status").parse().unwrap_or(0);
        let success = match value(BuiltIn::HttpReqFailed) {
            Some(failed) => failed == 0.0,
            None => is_good_status(status),
        };
        self.text.clear();
        Row {
            // The values' timestamp is that of the last byte.
            start_unix_ns: values.time_unix_ns.saturating_sub(elapsed_ns),
            connect_ns,
            first_byte_ns: (elapsed_ns - connect_ns).saturating_sub(receiving_ns),
            receiving_ns,
            label: tag("name"),
            status,
            error: error(&values.tags),
            thread: &thread(&values.tags, values.metadata.as_deref()),
            success,
            request,
            url: tag("url"),
        }
        .push(&mut self.text);
        out.extend(self.text.as_bytes());
    }
}

fn error(tags: &TagSet) -> &str {
    let text = tags.get("error").filter(|text| !text.is_empty());
    text.or_else(|| tags.get("error_code")).unwrap_or("")
}

/// `scenario 1-7`, as JMeter names threads by group and number; without the number if it is unknown.
fn thread(tags: &TagSet, metadata: Option<&TagSet>) -> String {
    let scenario = tags.get("scenario").unwrap_or("default");
    let vu = metadata.and_then(|metadata| metadata.get("vu"));
    format!("{scenario} 1-{}", vu.unwrap_or("1"))
}

fn push_field(field: &str, out: &mut String) {
    if field.contains([',', '"', '\r', '\n']) {
        out.push('"');
        out.push_str(&field.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(field);
    }
}

/// The reason phrase of a status code in RFC 9110; empty for codes that it does not define.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}
