//! What a single body says: nothing, an error, or that its reader has to wait.
//!
//! Must not know how often it occurred, nor judge. Invariant: a truncated body is evaluated as far as it goes.

use loadline_model::snapshot::BODY_SAMPLE_MAX;
use serde_json::Value;

/// Maximum length of a plain text that may count as nothing but an error message, in bytes.
const SHORT: usize = 120;
/// The titles of error pages.
const ERROR_WORDS: [&str; 18] = [
    "internal server error",
    "bad gateway",
    "gateway timeout",
    "gateway time-out",
    "service unavailable",
    "service temporarily unavailable",
    "something went wrong",
    "an error occurred",
    "access denied",
    "forbidden",
    "unauthorized",
    "not found",
    "page not found",
    "too many requests",
    "under maintenance",
    "down for maintenance",
    "scheduled maintenance",
    "site maintenance",
];
/// The titles of pages that let nobody through yet: waiting rooms, and those that examine the browser.
const WAITING_WORDS: [&str; 10] = [
    "waiting room",
    "virtual waiting room",
    "you are in line",
    "you are now in line",
    "you are in the queue",
    "you are now in the queue",
    "please wait",
    "just a moment",
    "checking your browser",
    "attention required",
];

/// Whether a body is JSON with keys or elements and no value in any of them. A bare `{}`, `[]` or `null` may be
/// a complete response.
pub(super) fn is_hollow(body: &str, size: u64) -> bool {
    if size > BODY_SAMPLE_MAX as u64 {
        return false;
    }
    match serde_json::from_str(body) {
        Ok(Value::Object(fields)) => !fields.is_empty() && fields.values().all(says_nothing),
        Ok(Value::Array(items)) => !items.is_empty() && items.iter().all(says_nothing),
        _ => false,
    }
}

/// The parser limits the depth, so recursion is limited too.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether the names in a body say that it is an error.
pub(super) fn is_error(body: &str) -> bool {
    const NAMES: [&str; 5] = ["error", "errors", "err", "exception", "fault"];
    const STATES: [&str; 4] = ["error", "fail", "failed", "failure"];
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(body) else {
        // A truncated body cannot be parsed; its beginning can be checked.
        return body.trim_start().starts_with("{\"error") || is_error_page(body);
    };
    let names_one = |name: &str, value: &Value| {
        NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
            && !says_nothing(value)
            && !matches!(value, Value::Bool(false))
    };
    let is_state = |name: &str, value: &Value| match (name, value) {
        ("success" | "ok", Value::Bool(is_so)) => !is_so,
        ("status" | "result" | "state", Value::String(text)) => {
            STATES.iter().any(|state| text.eq_ignore_ascii_case(state))
        }
        _ => false,
    };
    fields
        .iter()
        .any(|(name, value)| names_one(name, value) || is_state(name, value))
}

/// Whether the title or heading of a page is that of an error page, or a short text is nothing but an error
/// message.
fn is_error_page(body: &str) -> bool {
    let text = body.trim_start().to_ascii_lowercase();
    if !text.starts_with('<') {
        return text.len() <= SHORT && says(&text, &ERROR_WORDS);
    }
    is_error_document(&text) || is_titled(&text, &ERROR_WORDS)
}

/// Whether the title or heading of a page says that its reader is not let through yet.
pub(super) fn is_waiting_page(body: &str) -> bool {
    let text = body.trim_start().to_ascii_lowercase();
    text.starts_with('<') && is_titled(&text, &WAITING_WORDS)
}

/// Whether the title or heading of a page in lower case begins with some of these words.
fn is_titled(page: &str, words: &[&str]) -> bool {
    ["<title", "<h1"].iter().any(|tag| {
        let (_, after) = page.split_once(tag).unwrap_or_default();
        let (_, title) = after.split_once('>').unwrap_or_default();
        let title = title.split('<').next().unwrap_or_default();
        says(title.trim_start(), words)
    })
}

/// Whether an XML document is an error: a SOAP fault, or a root element with such a name.
fn is_error_document(text: &str) -> bool {
    const ROOTS: [&str; 5] = ["error", "errors", "errorresponse", "exception", "fault"];
    let tags = text.split('<').skip(1);
    let mut names = tags
        .filter(|tag| !tag.starts_with(['?', '!', '/']))
        .map(|tag| {
            let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'));
            let name = &tag[..end.unwrap_or(tag.len())];
            name.rsplit(':').next().unwrap_or_default()
        });
    match names.next() {
        Some("envelope") => {
            let mut rest = names.skip_while(|name| *name != "body").skip(1);
            rest.next() == Some("fault")
        }
        Some(root) => ROOTS.contains(&root),
        None => false,
    }
}

/// Whether a title is one of these, possibly after the status of an error and before the name of a site.
fn says(title: &str, known: &[&str]) -> bool {
    let aside = |c: char| !c.is_alphabetic();
    let words = title.trim_start_matches(aside);
    let words = words.trim_start_matches("error").trim_start_matches(aside);
    known.iter().any(|known| {
        let rest = words.strip_prefix(known).map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
    })
}

/// Whether a body is an object, list or value with nothing in it.
pub(super) fn is_bare(body: &str) -> bool {
    matches!(body.trim(), "{}" | "[]" | "null" | "\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hollow_is_what_names_fields_and_fills_none() {
        for body in [
            r#"{"a":null,"b":[]}"#,
            r#"[null,""]"#,
            r#"{"a":{"b":[{}]}}"#,
        ] {
            assert!(is_hollow(body, body.len() as u64), "{body}");
        }
        for body in [
            "{}",
            "[]",
            "null",
            "ok",
            r#"{"a":0}"#,
            r#"{"a":null,"ok":false}"#,
            "<null/>",
        ] {
            assert!(!is_hollow(body, body.len() as u64), "{body}");
        }
        assert!(
            !is_hollow(r#"{"a":null}"#, 10_000),
            "the sample is only the beginning"
        );
    }

    #[test]
    fn documents_say_that_they_are_errors() {
        for body in [
            "<?xml version=\"1.0\"?><soap:Envelope xmlns:soap=\"x\"><soap:Header/><soap:Body><soap:Fault><faultcode>",
            "<S:Envelope><S:Body>\n <ns2:Fault xmlns:ns2=\"y\">",
            "<Error><Code>NoSuchKey</Code></Error>",
        ] {
            assert!(is_error(body), "{body}");
        }
        for body in [
            "<soap:Envelope><soap:Body><getPriceResponse><fault>none</fault>",
            "<faults><fault/></faults>",
            "<html><body><error>",
            "<",
        ] {
            assert!(!is_error(body), "{body}");
        }
    }

    #[test]
    fn pages_say_that_nobody_is_let_through_yet() {
        for body in [
            "<html><head><title>Waiting Room | Shop</title>",
            "<html><title>Shop</title><body><h1>You are now in line</h1>",
            "<!DOCTYPE html><title>Just a moment...</title>",
        ] {
            assert!(is_waiting_page(body) && !is_error(body), "{body}");
        }
        for body in [
            "<title>Waiting rooms of the world</title>",
            "<title>Shop</title><p>please wait</p>",
            "please wait",
            r#"{"title":"Waiting Room"}"#,
        ] {
            assert!(!is_waiting_page(body), "{body}");
        }
        assert!(is_error("<html><title>Down for maintenance</title>"));
    }

    #[test]
    fn pages_say_that_they_are_errors() {
        for body in [
            "<html><head><title>500 Internal Server Error</title></head>",
            "<!DOCTYPE html><body><h1 class=\"big\">Something went wrong</h1>",
            "<title>Error 502: Bad Gateway</title>",
            "<html><title>404 - page not found</title>",
            "Internal Server Error",
            "<title>503 Service Unavailable | Shop</title>",
            r#"{"error":"cut o"#,
        ] {
            assert!(is_error(body), "{body}");
        }
        for body in [
            "<html><title>How to mend a 500 Internal Server Error</title>",
            "<html><title>500 days of summer</title><h1>Forbidden fruit</h1>",
            "<html><title>Errors and their causes</title>",
            "<title",
            "500 gallons",
            "not found anywhere else",
            "",
        ] {
            assert!(!is_error(body), "{body}");
        }
    }
}
