//! The return value of `setup()`, as the REST API shows and accepts it.
//!
//! Source of the formats: k6 v2.2.0. Must not know the test. Invariant: data is returned with its keys in the
//! original order and its numbers as they were written.

use loadline_go::json;
use loadline_script::json_fault;
use serde::de::IgnoredAny;

/// The document; `None`: there is no data.
pub(super) fn document(data: Option<&str>) -> String {
    let attributes = match data {
        None => "{}".to_owned(),
        Some(json) => format!("{{\"data\":{}}}", json::compact(json)),
    };
    format!(
        "{{\"data\":{{\"type\":\"setupData\",\"id\":\"default\",\"attributes\":{attributes}}}}}"
    )
}

/// The data in the body of a request; `None` for an empty body.
///
/// # Errors
/// Why it is not JSON, in Go's words.
pub(super) fn read(body: &[u8]) -> Result<Option<String>, String> {
    if body.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(IgnoredAny) => Ok(Some(text.into_owned())),
        Err(_) => Err(json_fault::fault(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_handed_back_as_it_came() {
        let given = br#"{"z": 1.50, "a":"<&> \" ", "n": 12345678901234567890}"#;
        let data = read(given).expect("it is JSON").expect("it is not empty");
        let expected = concat!(
            r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"z":1.50,"#,
            r#""a":"\u003c\u0026\u003e \" ","n":12345678901234567890}}}}"#
        );
        assert_eq!(document(Some(&data)), expected);
        let none = r#"{"data":{"type":"setupData","id":"default","attributes":{}}}"#;
        assert_eq!(document(None), none);
    }

    #[test]
    fn what_is_no_json_is_refused_in_gos_words() {
        assert_eq!(read(b""), Ok(None));
        let told = |body: &[u8]| read(body).expect_err("it is not JSON");
        assert_eq!(
            told(b"junk"),
            "invalid character 'j' looking for beginning of value"
        );
        assert_eq!(
            told(b"[1] x"),
            "invalid character 'x' after top-level value"
        );
    }
}
