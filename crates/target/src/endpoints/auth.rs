//! Authentication endpoints.
//!
//! They must not know connections. Invariant: the responses are those of go-httpbin, field by field.

use crate::reply::Reply;
use crate::request::{Request, percent_decode};
use http::StatusCode;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};

/// 200 for the right user and password, else 401 with a challenge.
pub(super) fn basic(request: &Request, user: &str, password: &str) -> Reply {
    let (authorized, given) = check(request, user, password);
    if authorized {
        return Reply::json(StatusCode::OK, &outcome(true, &given));
    }
    Reply::json(StatusCode::UNAUTHORIZED, &outcome(false, &given))
        .with("www-authenticate", "Basic realm=\"loadline target\"")
}

/// 200 for the right user and password, else 404.
pub(super) fn hidden_basic(request: &Request, user: &str, password: &str) -> Reply {
    match check(request, user, password) {
        (true, given) => Reply::json(StatusCode::OK, &outcome(true, &given)),
        (false, _) => Reply::error(StatusCode::NOT_FOUND, ""),
    }
}

/// 200 with the token, else 401.
pub(super) fn bearer(request: &Request) -> Reply {
    let token = request
        .header(AUTHORIZATION)
        .and_then(|value| value.strip_prefix("Bearer "));
    match token.filter(|token| !token.is_empty()) {
        Some(token) => Reply::json(
            StatusCode::OK,
            &json!({"authenticated": true, "token": token}),
        ),
        None => Reply::error(StatusCode::UNAUTHORIZED, "").with("www-authenticate", "Bearer"),
    }
}

fn check(request: &Request, user: &str, password: &str) -> (bool, String) {
    let (given_user, given_password) = request.basic_auth().unwrap_or_default();
    let right = given_user == percent_decode(user) && given_password == percent_decode(password);
    (right, given_user)
}

fn outcome(authorized: bool, user: &str) -> Value {
    json!({"authenticated": authorized, "user": user, "authorized": authorized})
}
