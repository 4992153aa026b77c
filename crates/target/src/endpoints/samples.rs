//! Endpoints with fixed content, and requested statuses.
//!
//! They must not know connections. Invariant: the same request gets the same bytes (except for a weighted list
//! of statuses).

use crate::random::Dice;
use crate::reply::Reply;
use crate::request::{Request, percent_decode};
use base64::Engine as _;
use http::StatusCode;
use http::header::ACCEPT;
use serde_json::json;

const HTML: &str = include_str!("assets/sample.html");
const UTF8: &str = include_str!("assets/utf8.html");
const XML: &str = include_str!("assets/sample.xml");
const SVG: &str = include_str!("assets/sample.svg");
const PNG: &[u8] = include_bytes!("assets/sample.png");
const JPEG: &[u8] = include_bytes!("assets/sample.jpeg");
const WEBP: &[u8] = include_bytes!("assets/sample.webp");

/// The type of pages.
const HTML_KIND: &str = "text/html; charset=utf-8";
/// The most statuses in one weighted list.
const CODES_MAX: usize = 64;

/// A status, or one drawn from a weighted list such as `200:0.9,500:0.1`.
pub(super) fn status(codes: &str, dice: &mut Dice) -> Reply {
    match draw_status(&percent_decode(codes), dice) {
        Ok(status) => with_status(status),
        Err(reason) => Reply::bad_request(reason),
    }
}

fn draw_status(codes: &str, dice: &mut Dice) -> Result<StatusCode, String> {
    let parsed = codes.split(',').take(CODES_MAX).map(weighted);
    let choices = parsed.collect::<Result<Vec<_>, String>>()?;
    let total: f64 = choices.iter().map(|(_, weight)| weight).sum();
    let mut left = dice.unit() * total;
    for (status, weight) in &choices {
        left -= weight;
        if left <= 0.0 {
            return Ok(*status);
        }
    }
    choices
        .last()
        .map(|(status, _)| *status)
        .ok_or_else(|| "no status code".to_owned())
}

fn weighted(text: &str) -> Result<(StatusCode, f64), String> {
    let (code, weight) = text.split_once(':').unwrap_or((text, "1"));
    let number = code
        .trim()
        .parse::<u16>()
        .ok()
        .filter(|n| (200..=599).contains(n));
    let status = number.and_then(|n| StatusCode::from_u16(n).ok());
    let status =
        status.ok_or_else(|| format!("invalid status code: {code:?} is not 200 to 599"))?;
    let weight = weight
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|w| *w >= 0.0 && w.is_finite());
    let weight = weight.ok_or_else(|| format!("invalid weight in {text:?}"))?;
    Ok((status, weight))
}

fn with_status(status: StatusCode) -> Reply {
    match status.as_u16() {
        204 | 304 => Reply::new(status),
        301 | 302 | 303 | 305 | 307 | 308 => Reply::new(status).with("location", "/redirect/1"),
        401 => Reply::text(status, "").with("www-authenticate", "Basic realm=\"loadline target\""),
        407 => {
            Reply::text(status, "").with("proxy-authenticate", "Basic realm=\"loadline target\"")
        }
        418 => Reply::text(status, "I'm a teapot!"),
        _ => Reply::text(status, ""),
    }
}

/// A JSON document.
pub(super) fn json() -> Reply {
    let value = json!({"slideshow": {
        "author": "Yours Truly",
        "date": "date of publication",
        "slides": [
            {"title": "What a load line is", "type": "all"},
            {
                "items": ["A mark on the <em>hull</em>", "It shows how much may be <em>carried</em>"],
                "title": "Overview",
                "type": "all",
            },
        ],
        "title": "Sample Slide Show",
    }});
    Reply::json(StatusCode::OK, &value)
}

/// An HTML page.
pub(super) fn html() -> Reply {
    Reply::full(StatusCode::OK, HTML_KIND, HTML)
}

/// An XML document.
pub(super) fn xml() -> Reply {
    Reply::full(StatusCode::OK, "application/xml", XML)
}

/// A page with many scripts.
pub(super) fn utf8() -> Reply {
    Reply::full(StatusCode::OK, HTML_KIND, UTF8)
}

/// Rules for robots.
pub(super) fn robots() -> Reply {
    Reply::text(StatusCode::OK, "User-agent: *\nDisallow: /deny\n")
}

/// What robots may not see.
pub(super) fn deny() -> Reply {
    Reply::text(StatusCode::OK, "YOU SHOULDN'T BE HERE")
}

/// An image of the kind that the client likes best among those that it names.
pub(super) fn image_for(request: &Request) -> Reply {
    let accept = request.header(ACCEPT).unwrap_or("image/png");
    let kinds = [
        ("webp", "image/webp"),
        ("svg", "image/svg"),
        ("jpeg", "image/jpeg"),
    ];
    let named = kinds
        .iter()
        .find(|(_, kind)| accept.contains(kind))
        .map(|(name, _)| *name);
    let png = ["image/png", "image/*", "*/*"]
        .iter()
        .any(|kind| accept.contains(kind));
    match named.or(png.then_some("png")) {
        Some(name) => image(name),
        None => Reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, ""),
    }
}

/// An image of that kind.
pub(super) fn image(kind: &str) -> Reply {
    match kind {
        "png" => Reply::full(StatusCode::OK, "image/png", PNG),
        "jpeg" | "jpg" => Reply::full(StatusCode::OK, "image/jpeg", JPEG),
        "webp" => Reply::full(StatusCode::OK, "image/webp", WEBP),
        "svg" => Reply::full(StatusCode::OK, "image/svg+xml", SVG),
        _ => Reply::error(StatusCode::NOT_FOUND, ""),
    }
}

/// The value decoded; both base64 alphabets, with and without padding.
pub(super) fn base64_decode(value: &str) -> Reply {
    let value = percent_decode(value).replace('-', "+").replace('_', "/");
    let bare = value.trim_end_matches('=');
    match base64::engine::general_purpose::STANDARD_NO_PAD.decode(bare) {
        Ok(bytes) => Reply::text(StatusCode::OK, bytes),
        Err(reason) => Reply::bad_request(format!("base64 decode failed: {reason}")),
    }
}

/// The value encoded.
pub(super) fn base64_encode(value: &str) -> Reply {
    let coded = base64::engine::general_purpose::URL_SAFE.encode(percent_decode(value));
    Reply::text(StatusCode::OK, coded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_statuses_keep_their_weights() {
        let mut dice = Dice::seeded(9);
        let mut failed = 0;
        for _ in 0..10_000 {
            let status = draw_status("200:0.9,500:0.1", &mut dice).unwrap();
            failed += usize::from(status == StatusCode::INTERNAL_SERVER_ERROR);
        }
        assert!((900..1_100).contains(&failed), "{failed}");
    }

    #[test]
    fn bad_statuses_are_named() {
        let mut dice = Dice::seeded(9);
        for codes in ["abc", "99", "600", "200:x", "200,", "200:-1"] {
            assert!(
                draw_status(codes, &mut dice)
                    .unwrap_err()
                    .starts_with("invalid"),
                "{codes}"
            );
        }
    }

    #[test]
    fn images_are_what_they_claim() {
        assert!(PNG.starts_with(b"\x89PNG"));
        assert!(JPEG.starts_with(b"\xff\xd8"));
        assert_eq!(&WEBP[8..12], b"WEBP");
        assert!(crate::xml::parse(SVG).is_ok());
        assert!(crate::xml::parse(XML).is_ok());
    }
}
