//! Methods of samples that scripts call to read or change them.
//!
//! Must not know how a sample was made. Invariant: sizes are those that JMeter would report after the change.

use loadline_java::charset::Charset;

use super::value::{ScriptValue, flag, text};
use crate::action::Action;
use crate::http::{charset_of, data_type};
use crate::sample::{DataType, Sample};

/// The methods of a sample.
pub(super) const METHODS: &[&str] = &[
    "getResponseCode",
    "getResponseMessage",
    "getResponseDataAsString",
    "getResponseHeaders",
    "getRequestHeaders",
    "getSamplerData",
    "getSampleLabel",
    "getTestLogicalAction",
    "getThreadName",
    "isSuccessful",
    "isResponseCodeOK",
    "getTime",
    "getLatency",
    "getConnectTime",
    "getIdleTime",
    "getStartTime",
    "getEndTime",
    "getTimeStamp",
    "currentTimeInMillis",
    "getBytes",
    "getBytesAsLong",
    "getSentBytes",
    "getBodySize",
    "getBodySizeAsLong",
    "getHeadersSize",
    "getContentType",
    "getMediaType",
    "getDataEncodingNoDefault",
    "getDataEncodingWithDefault",
    "getDataType",
    "getErrorCount",
    "getSampleCount",
    "getUrlAsString",
    "getURL",
    "getQueryString",
    "getHTTPMethod",
    "getCookies",
    "getGroupThreads",
    "getAllThreads",
    "getFirstAssertionFailureMessage",
    "isIgnore",
    "isStampedAtStart",
    "isStartNextThreadLoop",
    "isStopTest",
    "isStopTestNow",
    "isStopThread",
    "removeAssertionResults",
    "removeSubResults",
    "setAllThreads",
    "setBodySize",
    "setCookies",
    "setEncodingAndType",
    "setEndTime",
    "setErrorCount",
    "setGroupThreads",
    "setHTTPMethod",
    "setHeadersSize",
    "setQueryString",
    "setStartTime",
    "setThreadName",
    "setURL",
    "setResponseCode",
    "setResponseMessage",
    "setResponseCodeOK",
    "setResponseMessageOK",
    "setResponseOK",
    "setSuccessful",
    "setSampleLabel",
    "setResponseData",
    "setResponseHeaders",
    "setRequestHeaders",
    "setSamplerData",
    "setContentType",
    "setDataEncoding",
    "setDataType",
    "setLatency",
    "setConnectTime",
    "setIdleTime",
    "setBytes",
    "setSentBytes",
    "setIgnore",
    "setStopThread",
    "setStopTest",
    "setStopTestNow",
    "setStartNextThreadLoop",
    "setTestLogicalAction",
    "sampleStart",
    "sampleEnd",
];

/// Methods of samples, for Groovy and BeanShell, that return more than a text or a number.
pub(super) const OF_SAMPLES: &[&str] = &[
    "getAssertionResults",
    "getResponseData",
    "getResponseDataAsBytes",
    "getSubResults",
    "getURL",
];

/// Whether a method only reads.
pub(super) fn is_question(method: &str) -> bool {
    !method.starts_with("set") && !method.starts_with("remove")
}

fn number(value: u64) -> ScriptValue {
    ScriptValue::Number(value as f64)
}

fn words(value: &str) -> ScriptValue {
    ScriptValue::Text(value.to_owned())
}

/// Whether a code is one of HTTP's success codes.
fn is_good_code(code: &str) -> bool {
    code.parse::<u32>()
        .is_ok_and(|code| (200..400).contains(&code))
}

/// Reads from a sample; `now_ms`: the time, in milliseconds since 1970.
pub(super) fn ask(
    sample: &Sample,
    method: &str,
    given: &[ScriptValue],
    now_ms: i64,
) -> ScriptValue {
    let end_ms = sample.start_ms as f64 + sample.elapsed_ms as f64 + sample.idle_ms as f64;
    match method {
        "getResponseCode" => words(&sample.code),
        "getResponseMessage" => words(&sample.message),
        "getResponseDataAsString" => ScriptValue::Text(sample.text().into_owned()),
        "getResponseHeaders" => words(&sample.response_headers),
        "getRequestHeaders" => words(&sample.request_headers),
        "getSamplerData" => words(&sample.request_data()),
        "getSampleLabel" if flag(given) => {
            let thread = sample.thread_name.as_str();
            let group = thread.rsplit_once(' ').map_or(thread, |(group, _)| group);
            ScriptValue::Text(format!("{group}:{}", sample.label))
        }
        "getSampleLabel" => words(&sample.label),
        "getTestLogicalAction" => words(Action::word_of(sample.ordered)),
        "getThreadName" => words(&sample.thread_name),
        "isSuccessful" => ScriptValue::Truth(sample.success),
        "isResponseCodeOK" => ScriptValue::Truth(is_good_code(&sample.code)),
        "getTime" => number(sample.elapsed_ms),
        "getLatency" => number(sample.latency_ms),
        "getConnectTime" => number(sample.connect_ms),
        "getIdleTime" => ScriptValue::Number(sample.idle_ms as f64),
        "getStartTime" | "getTimeStamp" => ScriptValue::Number(sample.start_ms as f64),
        "getEndTime" => ScriptValue::Number(end_ms),
        "currentTimeInMillis" => ScriptValue::Number(now_ms as f64),
        "getBytes" | "getBytesAsLong" => number(sample.bytes),
        "getSentBytes" => number(sample.sent_bytes),
        "getBodySize" | "getBodySizeAsLong" => number(sample.body_bytes),
        "getHeadersSize" => number(sample.header_bytes),
        "getContentType" => words(&sample.content_type),
        "getMediaType" => {
            let media = sample.content_type.split(';').next().unwrap_or_default();
            words(&media.trim().to_lowercase())
        }
        "getDataEncodingNoDefault" if sample.encoding.is_empty() => ScriptValue::Null,
        "getDataEncodingWithDefault" if sample.encoding.is_empty() => words("UTF-8"),
        "getDataEncodingNoDefault" | "getDataEncodingWithDefault" => words(&sample.encoding),
        "getDataType" => words(match sample.data_type {
            DataType::Unset => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        }),
        "isIgnore" => ScriptValue::Truth(sample.is_ignored),
        "isStampedAtStart" => ScriptValue::Truth(true),
        "isStartNextThreadLoop" | "isStopTest" | "isStopTestNow" | "isStopThread" => {
            ScriptValue::Truth(sample.ordered.is_some() && sample.ordered == ordered_by(method))
        }
        "getErrorCount" => number(u64::from(!sample.success)),
        "getSampleCount" => number(1),
        "getUrlAsString" => words(sample.url.as_deref().unwrap_or_default()),
        "getURL" => (sample.url.as_deref()).map_or(ScriptValue::Null, words),
        "getQueryString" => words(&sample.query),
        "getHTTPMethod" => words(&sample.method),
        "getCookies" => words(&sample.cookies),
        // The sampler itself starts and ends it.
        "sampleStart" | "sampleEnd" => ScriptValue::Undefined,
        "getGroupThreads" => number(u64::from(sample.group_threads)),
        "getAllThreads" => number(u64::from(sample.all_threads)),
        _ => match sample
            .assertions
            .iter()
            .find(|one| one.failure || one.error)
        {
            Some(one) => words(&one.message),
            None => ScriptValue::Null,
        },
    }
}

/// Changes a sample.
///
/// # Errors
/// The argument is invalid for the method.
pub(super) fn change(
    sample: &mut Sample,
    method: &str,
    given: &[ScriptValue],
) -> Result<ScriptValue, String> {
    let count = || match given.first() {
        Some(ScriptValue::Number(number)) if *number >= 0.0 => Ok(*number as u64),
        Some(ScriptValue::Text(text)) => text.parse().map_err(|_| not_taken(method)),
        _ => Err(not_taken(method)),
    };
    match method {
        "setResponseCode" => sample.code = text(given, 0),
        "setResponseMessage" => sample.message = text(given, 0),
        "setResponseCodeOK" => "200".clone_into(&mut sample.code),
        "setResponseMessageOK" => "OK".clone_into(&mut sample.message),
        "setResponseOK" => {
            "200".clone_into(&mut sample.code);
            "OK".clone_into(&mut sample.message);
            sample.success = true;
        }
        "setSuccessful" => sample.success = flag(given),
        "setSampleLabel" => sample.label = text(given, 0),
        "setResponseData" => set_data(sample, given),
        "setResponseHeaders" => sample.response_headers = text(given, 0),
        "setRequestHeaders" => sample.request_headers = text(given, 0),
        "setSamplerData" => sample.sampler_data = Some(text(given, 0)),
        "setContentType" => sample.content_type = text(given, 0),
        "setDataEncoding" => sample.encoding = text(given, 0),
        "setDataType" => {
            sample.data_type = match text(given, 0).as_str() {
                "text" => DataType::Text,
                "bin" => DataType::Binary,
                _ => DataType::Unset,
            };
        }
        "setLatency" => sample.latency_ms = count()?,
        "setConnectTime" => sample.connect_ms = count()?,
        "setIdleTime" => sample.idle_ms = i64::try_from(count()?).unwrap_or(i64::MAX),
        "setBytes" => {
            let bytes = count()?;
            // Received bytes count, if there are any.
            if sample.header_bytes + sample.body_bytes == 0 && sample.data.is_empty() {
                sample.bytes = bytes;
            }
        }
        "setSentBytes" => sample.sent_bytes = count()?,
        "setIgnore" => sample.is_ignored = true,
        "setTestLogicalAction" => sample.ordered = Action::of_word(&text(given, 0)),
        _ => match ordered_by(method) {
            Some(action) => order(sample, action, flag(given)),
            None => describe(sample, method, given, count)?,
        },
    }
    Ok(ScriptValue::Undefined)
}

/// The action that a method asks for, or asks about.
fn ordered_by(method: &str) -> Option<Action> {
    match method.trim_start_matches("set").trim_start_matches("is") {
        "StopThread" => Some(Action::StopThread),
        "StopTest" => Some(Action::StopTest),
        "StopTestNow" => Some(Action::StopTestNow),
        "StartNextThreadLoop" => Some(Action::NextThreadIteration),
        _ => None,
    }
}

/// Changes the sizes of a sample, its times, or what it tells of the request and the thread.
fn describe(
    sample: &mut Sample,
    method: &str,
    given: &[ScriptValue],
    count: impl Fn() -> Result<u64, String>,
) -> Result<(), String> {
    let instant = || count().map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let threads = || count().map(|threads| u32::try_from(threads).unwrap_or(u32::MAX));
    match method {
        "removeAssertionResults" => sample.assertions.clear(),
        "removeSubResults" => sample.children.clear(),
        "setAllThreads" => sample.all_threads = threads()?,
        "setGroupThreads" => sample.group_threads = threads()?,
        "setThreadName" => sample.thread_name = text(given, 0),
        "setBodySize" => {
            sample.body_bytes = count()?;
            sample.count_parts();
        }
        "setHeadersSize" => {
            sample.header_bytes = count()?;
            sample.count_parts();
        }
        "setCookies" => sample.cookies = text(given, 0),
        "setHTTPMethod" => sample.method = text(given, 0),
        "setQueryString" => sample.query = text(given, 0),
        "setURL" => sample.url = given.first().and_then(ScriptValue::told),
        "setEncodingAndType" => set_encoding_and_type(sample, &text(given, 0)),
        "setStartTime" => sample.start_ms = instant()?,
        "setEndTime" => {
            let elapsed_ms = instant()? - sample.start_ms - sample.idle_ms;
            sample.elapsed_ms = elapsed_ms.max(0).unsigned_abs();
        }
        // The number of errors: JMeter has it from the success.
        _ => {}
    }
    Ok(())
}

/// Sets the encoding that a content type names, if it names one, and what the data is according to it.
fn set_encoding_and_type(sample: &mut Sample, content_type: &str) {
    if content_type.is_empty() {
        return;
    }
    let charset = charset_of(content_type);
    if !charset.is_empty() {
        sample.encoding = charset;
    }
    sample.data_type = data_type(content_type);
}

fn not_taken(method: &str) -> String {
    format!("{method} needs a number")
}

fn order(sample: &mut Sample, action: Action, wanted: bool) {
    if wanted {
        sample.ordered = Some(action);
    } else if sample.ordered == Some(action) {
        sample.ordered = None;
    }
}

/// Sets the data of a sample, and its size unless that is the size on the wire.
pub(super) fn set_data(sample: &mut Sample, given: &[ScriptValue]) {
    let data = match given.first() {
        None | Some(ScriptValue::Null | ScriptValue::Undefined) => Vec::new(),
        Some(_) => text(given, 0).into_bytes(),
    };
    if let Some(encoding) = given.get(1) {
        sample.encoding = encoding.told().unwrap_or_else(|| "UTF-8".to_owned());
    }
    let data = match (Charset::named(&sample.encoding), std::str::from_utf8(&data)) {
        (Some(charset), Ok(text)) => charset.encode(text).into_owned(),
        _ => data,
    };
    replace_data(sample, data);
}

/// Replaces the data of a sample, and its size unless that is the size on the wire.
pub(super) fn replace_data(sample: &mut Sample, data: Vec<u8>) {
    sample.data = data;
    if sample.header_bytes == 0 {
        sample.body_bytes = sample.data.len() as u64;
        sample.bytes = sample.body_bytes;
    }
}
