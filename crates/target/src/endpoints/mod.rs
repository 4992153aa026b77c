//! Routing of requests to endpoints, and the table of all endpoints.
//!
//! It must not know connections. Invariant: every endpoint of the table is reachable under its template, and
//! its index in the table is its discriminant.

mod auth;
mod caching;
mod generate;
mod index;
mod inspect;
mod redirect;
mod samples;
mod simulate;

use crate::duration::as_ns;
use crate::metrics::{self, PathId};
use crate::random::Dice;
use crate::reply::{Coding, Reply};
use crate::request::Request;
use crate::routes::RouteMatch;
use crate::soap;
use crate::state::ServerState;
use http::header::{ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN};
use http::{HeaderValue, Method, StatusCode};

/// What an endpoint may use besides the request.
pub(crate) struct EndpointContext<'a> {
    pub(crate) shared: &'a ServerState,
    pub(crate) dice: &'a mut Dice,
}

/// The built-in endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Index,
    Ok,
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Head,
    Anything,
    Status,
    Delay,
    Bytes,
    Stream,
    StreamBytes,
    Drip,
    Gzip,
    Deflate,
    Brotli,
    Headers,
    ResponseHeaders,
    Ip,
    Uuid,
    UserAgent,
    Cookies,
    CookiesSet,
    CookiesDelete,
    Redirect,
    RelativeRedirect,
    AbsoluteRedirect,
    RedirectTo,
    BasicAuth,
    HiddenBasicAuth,
    Bearer,
    Json,
    Html,
    Xml,
    Image,
    ImageKind,
    Robots,
    Deny,
    Utf8,
    Base64Decode,
    Base64Encode,
    Range,
    Etag,
    Cache,
    CacheControl,
    Calculator,
    Predict,
    Service,
    Metrics,
    NotFound,
}

/// Which methods an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// All of them.
    Any,
    /// GET and HEAD.
    Read,
    /// These.
    Only(&'static [Method]),
}

impl Allowed {
    fn takes(self, method: &Method) -> bool {
        match self {
            Self::Any => true,
            Self::Read => method == Method::GET || method == Method::HEAD,
            Self::Only(methods) => methods.contains(method),
        }
    }

    fn list(self) -> String {
        match self {
            Self::Any => "any".to_owned(),
            Self::Read => "GET, HEAD".to_owned(),
            Self::Only(methods) => methods
                .iter()
                .map(Method::as_str)
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}

/// What is known of an endpoint without calling it.
pub(crate) struct EndpointInfo {
    endpoint: Endpoint,
    /// The path; `{…}` stands for one segment, `{*…}` for the rest.
    pub(crate) template: &'static str,
    allowed: Allowed,
    help: &'static str,
}

const fn info(
    endpoint: Endpoint,
    template: &'static str,
    allowed: Allowed,
    help: &'static str,
) -> EndpointInfo {
    EndpointInfo {
        endpoint,
        template,
        allowed,
        help,
    }
}

/// All endpoints, in the order of their discriminants.
#[rustfmt::skip]
pub(crate) const ENDPOINTS: [EndpointInfo; 52] = [
    info(Endpoint::Index, "/", Allowed::Read, "this page"),
    info(Endpoint::Ok, "/ok", Allowed::Any, "two bytes, as cheaply as possible"),
    info(Endpoint::Get, "/get", Allowed::Read, "the request as JSON"),
    info(Endpoint::Post, "/post", Allowed::Only(&[Method::POST]), "the request with its body as JSON"),
    info(Endpoint::Put, "/put", Allowed::Only(&[Method::PUT]), "the request with its body as JSON"),
    info(Endpoint::Patch, "/patch", Allowed::Only(&[Method::PATCH]), "the request with its body as JSON"),
    info(Endpoint::Delete, "/delete", Allowed::Only(&[Method::DELETE]), "the request with its body as JSON"),
    info(Endpoint::Head, "/head", Allowed::Only(&[Method::HEAD]), "the head of /get"),
    info(Endpoint::Anything, "/anything/{*path}", Allowed::Any, "any request with its body as JSON"),
    info(Endpoint::Status, "/status/{codes}", Allowed::Any, "that status, or one of a weighted list: 200:0.9,500:0.1"),
    info(Endpoint::Delay, "/delay/{time}", Allowed::Any, "/anything after a delay: 0.5, 250ms"),
    info(Endpoint::Bytes, "/bytes/{n}", Allowed::Read, "n random bytes; seed=1 makes them repeatable"),
    info(Endpoint::Stream, "/stream/{n}", Allowed::Read, "n lines of JSON, chunked; at most 100"),
    info(Endpoint::StreamBytes, "/stream-bytes/{n}", Allowed::Read, "n random bytes, chunked; seed, chunk_size"),
    info(Endpoint::Drip, "/drip", Allowed::Read, "numbytes bytes over duration after delay, with code"),
    info(Endpoint::Gzip, "/gzip", Allowed::Read, "JSON coded with gzip"),
    info(Endpoint::Deflate, "/deflate", Allowed::Read, "JSON coded with deflate"),
    info(Endpoint::Brotli, "/brotli", Allowed::Read, "JSON coded with Brotli"),
    info(Endpoint::Headers, "/headers", Allowed::Read, "the request's headers as JSON"),
    info(Endpoint::ResponseHeaders, "/response-headers", Allowed::Any, "a response with the headers of the query"),
    info(Endpoint::Ip, "/ip", Allowed::Read, "the client's address as JSON"),
    info(Endpoint::Uuid, "/uuid", Allowed::Read, "a random UUID as JSON"),
    info(Endpoint::UserAgent, "/user-agent", Allowed::Read, "the user agent as JSON"),
    info(Endpoint::Cookies, "/cookies", Allowed::Read, "the request's cookies as JSON"),
    info(Endpoint::CookiesSet, "/cookies/set", Allowed::Read, "sets the cookies of the query"),
    info(Endpoint::CookiesDelete, "/cookies/delete", Allowed::Read, "deletes the cookies of the query"),
    info(Endpoint::Redirect, "/redirect/{n}", Allowed::Any, "n redirects, then /get; absolute=true"),
    info(Endpoint::RelativeRedirect, "/relative-redirect/{n}", Allowed::Any, "n relative redirects"),
    info(Endpoint::AbsoluteRedirect, "/absolute-redirect/{n}", Allowed::Any, "n absolute redirects"),
    info(Endpoint::RedirectTo, "/redirect-to", Allowed::Any, "redirects to url with status_code"),
    info(Endpoint::BasicAuth, "/basic-auth/{user}/{password}", Allowed::Read, "asks for basic authorization"),
    info(Endpoint::HiddenBasicAuth, "/hidden-basic-auth/{user}/{password}", Allowed::Read, "the same, with 404 for strangers"),
    info(Endpoint::Bearer, "/bearer", Allowed::Read, "asks for a bearer token"),
    info(Endpoint::Json, "/json", Allowed::Read, "a JSON document"),
    info(Endpoint::Html, "/html", Allowed::Read, "an HTML page"),
    info(Endpoint::Xml, "/xml", Allowed::Read, "an XML document"),
    info(Endpoint::Image, "/image", Allowed::Read, "an image by Accept"),
    info(Endpoint::ImageKind, "/image/{kind}", Allowed::Read, "an image: png, jpeg, svg or webp"),
    info(Endpoint::Robots, "/robots.txt", Allowed::Read, "rules for robots"),
    info(Endpoint::Deny, "/deny", Allowed::Read, "a page that robots may not see"),
    info(Endpoint::Utf8, "/encoding/utf8", Allowed::Read, "a page with many scripts"),
    info(Endpoint::Base64Decode, "/base64/{value}", Allowed::Read, "the value decoded; also /base64/decode/{value}"),
    info(Endpoint::Base64Encode, "/base64/encode/{value}", Allowed::Read, "the value encoded"),
    info(Endpoint::Range, "/range/{n}", Allowed::Read, "n bytes that honour Range"),
    info(Endpoint::Etag, "/etag/{etag}", Allowed::Read, "/get with an entity tag and preconditions"),
    info(Endpoint::Cache, "/cache", Allowed::Read, "/get, or 304 for any precondition"),
    info(Endpoint::CacheControl, "/cache/{seconds}", Allowed::Read, "/get with Cache-Control"),
    info(Endpoint::Calculator, "/calculator", Allowed::Only(&[Method::GET, Method::HEAD, Method::POST]), "SOAP 1.1: Add, Subtract, Multiply, Divide; ?wsdl; also /calculator.asmx and /ws"),
    info(Endpoint::Predict, "/predict", Allowed::Only(&[Method::POST]), "JSON {\"query\", \"topk\"} in, categories out; ?nulls=1"),
    info(Endpoint::Service, "/service", Allowed::Any, "an M/G/k queue: time=10ms law=exp|const|lognormal cv servers queue name"),
    info(Endpoint::Metrics, "/metrics", Allowed::Read, "Prometheus metrics, text or protobuf"),
    info(Endpoint::NotFound, "(not found)", Allowed::Any, "404"),
];

/// What a request asks for.
pub(crate) enum EndpointMatch {
    /// A route of the routes file.
    Route(RouteMatch),
    /// A built-in endpoint with the variable segments of the path, still percent-encoded.
    BuiltIn(Endpoint, Vec<String>),
}

impl EndpointMatch {
    /// What the request is counted under.
    pub(crate) fn path_id(&self) -> PathId {
        match self {
            Self::Route(found) => PathId::route(found.position),
            Self::BuiltIn(endpoint, _) => PathId::endpoint(*endpoint),
        }
    }
}

/// Finds what a request asks for; routes of the file come first.
pub(crate) fn find(context: &EndpointContext<'_>, request: &Request) -> EndpointMatch {
    if let Some(found) = context.shared.routes.find(&request.method, &request.path) {
        return EndpointMatch::Route(found);
    }
    let (endpoint, segments) = locate(&request.path);
    EndpointMatch::BuiltIn(endpoint, segments.into_iter().map(str::to_owned).collect())
}

/// Answers a request.
pub(crate) fn answer(
    context: &mut EndpointContext<'_>,
    found: EndpointMatch,
    request: &Request,
) -> Reply {
    let (endpoint, segments) = match found {
        EndpointMatch::Route(found) => return answer_route(context, &found, request),
        EndpointMatch::BuiltIn(endpoint, segments) => (endpoint, segments),
    };
    let allowed = ENDPOINTS[endpoint as usize].allowed;
    let mut reply = if request.method == Method::OPTIONS {
        preflight()
    } else if allowed.takes(&request.method) {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        call(endpoint, context, request, &segments)
    } else {
        Reply::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n")
            .with("allow", allowed.list())
    };
    let headers = &mut reply.headers;
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
    reply
}

fn answer_route(context: &mut EndpointContext<'_>, found: &RouteMatch, request: &Request) -> Reply {
    let shared = context.shared;
    let (mut reply, delay_ns) = shared.routes.answer(found, request, context.dice);
    reply.not_before_ns = delay_ns
        .map(|delay_ns| delay_ns.min(as_ns(shared.config.limits.delay)))
        .map(|delay_ns| shared.clock.now_ns().saturating_add(delay_ns));
    reply
}

fn preflight() -> Reply {
    Reply::new(StatusCode::OK)
        .with(
            "access-control-allow-methods",
            "GET, POST, HEAD, PUT, DELETE, PATCH, OPTIONS",
        )
        .with("access-control-max-age", "3600")
}

fn locate(path: &str) -> (Endpoint, Vec<&str>) {
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    match segments[..] {
        [""] => (Endpoint::Index, vec![]),
        [one] => (locate_single(one), vec![]),
        ["anything", ..] => (Endpoint::Anything, vec![]),
        ["status", codes] => (Endpoint::Status, vec![codes]),
        ["delay", time] => (Endpoint::Delay, vec![time]),
        ["bytes", n] => (Endpoint::Bytes, vec![n]),
        ["stream", n] => (Endpoint::Stream, vec![n]),
        ["stream-bytes", n] => (Endpoint::StreamBytes, vec![n]),
        ["cookies", "set"] => (Endpoint::CookiesSet, vec![]),
        ["cookies", "set", name, value] => (Endpoint::CookiesSet, vec![name, value]),
        ["cookies", "delete"] => (Endpoint::CookiesDelete, vec![]),
        ["redirect", n] => (Endpoint::Redirect, vec![n]),
        ["relative-redirect", n] => (Endpoint::RelativeRedirect, vec![n]),
        ["absolute-redirect", n] => (Endpoint::AbsoluteRedirect, vec![n]),
        ["basic-auth", user, password] => (Endpoint::BasicAuth, vec![user, password]),
        ["hidden-basic-auth", user, password] => (Endpoint::HiddenBasicAuth, vec![user, password]),
        ["image", kind] => (Endpoint::ImageKind, vec![kind]),
        ["encoding", "utf8"] => (Endpoint::Utf8, vec![]),
        ["base64", "encode", value] => (Endpoint::Base64Encode, vec![value]),
        ["base64", value] | ["base64", "decode", value] => (Endpoint::Base64Decode, vec![value]),
        ["range", n] => (Endpoint::Range, vec![n]),
        ["etag", etag] => (Endpoint::Etag, vec![etag]),
        ["cache", seconds] => (Endpoint::CacheControl, vec![seconds]),
        ["ws", "calculator.asmx"] => (Endpoint::Calculator, vec![]),
        _ => (Endpoint::NotFound, vec![]),
    }
}

fn locate_single(segment: &str) -> Endpoint {
    match segment {
        "ok" => Endpoint::Ok,
        "get" => Endpoint::Get,
        "post" => Endpoint::Post,
        "put" => Endpoint::Put,
        "patch" => Endpoint::Patch,
        "delete" => Endpoint::Delete,
        "head" => Endpoint::Head,
        "anything" => Endpoint::Anything,
        "drip" => Endpoint::Drip,
        "gzip" => Endpoint::Gzip,
        "deflate" => Endpoint::Deflate,
        "brotli" => Endpoint::Brotli,
        "headers" => Endpoint::Headers,
        "response-headers" => Endpoint::ResponseHeaders,
        "ip" => Endpoint::Ip,
        "uuid" => Endpoint::Uuid,
        "user-agent" => Endpoint::UserAgent,
        "cookies" => Endpoint::Cookies,
        "redirect-to" => Endpoint::RedirectTo,
        "bearer" => Endpoint::Bearer,
        "json" => Endpoint::Json,
        "html" => Endpoint::Html,
        "xml" => Endpoint::Xml,
        "image" => Endpoint::Image,
        "robots.txt" => Endpoint::Robots,
        "deny" => Endpoint::Deny,
        "cache" => Endpoint::Cache,
        "calculator" | "calculator.asmx" | "ws" => Endpoint::Calculator,
        "predict" => Endpoint::Predict,
        "service" => Endpoint::Service,
        "metrics" => Endpoint::Metrics,
        _ => Endpoint::NotFound,
    }
}

fn call(
    endpoint: Endpoint,
    context: &mut EndpointContext<'_>,
    request: &Request,
    segments: &[&str],
) -> Reply {
    use Endpoint as E;
    let first = segments.first().copied().unwrap_or_default();
    let second = segments.get(1).copied().unwrap_or_default();
    match endpoint {
        E::Index => index::page(),
        E::Ok => Reply::full(StatusCode::OK, "text/plain", "ok"),
        E::Get | E::Head => inspect::without_body(request),
        E::Post | E::Put | E::Patch | E::Delete | E::Anything => inspect::with_body(request),
        E::Status => samples::status(first, context.dice),
        E::Delay => generate::delay(first, context, request),
        E::Bytes => generate::bytes(first, context, request, generate::Framing::Length),
        E::StreamBytes => generate::bytes(first, context, request, generate::Framing::Chunked),
        E::Stream => generate::stream(first, request),
        E::Drip => generate::drip(context, request),
        E::Gzip => inspect::coded(request, "gzipped", Coding::Gzip),
        E::Deflate => inspect::coded(request, "deflated", Coding::Deflate),
        E::Brotli => inspect::coded(request, "brotli", Coding::Brotli),
        E::Headers => inspect::headers(request),
        E::ResponseHeaders => inspect::response_headers(request),
        E::Ip => inspect::field("origin", &request.origin()),
        E::Uuid => inspect::field("uuid", &context.dice.uuid()),
        E::UserAgent => inspect::user_agent(request),
        E::Cookies => redirect::cookies(request),
        E::CookiesSet => redirect::set_cookies(request, segments),
        E::CookiesDelete => redirect::delete_cookies(request),
        E::Redirect => redirect::count_down(first, redirect::Style::of_query(request), request),
        E::RelativeRedirect => redirect::count_down(first, redirect::Style::Relative, request),
        E::AbsoluteRedirect => redirect::count_down(first, redirect::Style::Absolute, request),
        E::RedirectTo => redirect::to(request),
        E::BasicAuth => auth::basic(request, first, second),
        E::HiddenBasicAuth => auth::hidden_basic(request, first, second),
        E::Bearer => auth::bearer(request),
        E::Json => samples::json(),
        E::Html => samples::html(),
        E::Xml => samples::xml(),
        E::Image => samples::image_for(request),
        E::ImageKind => samples::image(first),
        E::Robots => samples::robots(),
        E::Deny => samples::deny(),
        E::Utf8 => samples::utf8(),
        E::Base64Decode => samples::base64_decode(first),
        E::Base64Encode => samples::base64_encode(first),
        E::Range => caching::range(first, context, request),
        E::Etag => caching::etag(first, context, request),
        E::Cache => caching::cache(context, request),
        E::CacheControl => caching::cache_control(first, request),
        E::Calculator if request.method == Method::POST => soap::call(&request.body),
        E::Calculator => soap::wsdl(&format!("{}{}", request.base_url(), request.path)),
        E::Predict => simulate::predict(request),
        E::Service => simulate::service(context, request),
        E::Metrics => metrics::expose(context.shared, request),
        E::NotFound => Reply::text(StatusCode::NOT_FOUND, "404 page not found\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_discriminants_and_templates_lead_to_their_endpoint() {
        for (position, info) in ENDPOINTS.iter().enumerate() {
            assert_eq!(info.endpoint as usize, position, "{}", info.template);
            let path: String = info
                .template
                .split('{')
                .map(|part| {
                    part.split_once('}')
                        .map_or(part.to_owned(), |(_, rest)| format!("7{rest}"))
                })
                .collect();
            assert_eq!(locate(&path).0, info.endpoint, "{path}");
        }
    }

    #[test]
    fn aliases_and_strangers() {
        for path in ["/calculator.asmx", "/ws", "/ws/calculator.asmx"] {
            assert_eq!(locate(path).0, Endpoint::Calculator);
        }
        assert_eq!(locate("/base64/decode/eA==").1, ["eA=="]);
        for path in ["/getx", "/get/x", "//", "/status", "*", ""] {
            let found = locate(path).0;
            assert!(
                matches!(found, Endpoint::NotFound | Endpoint::Index),
                "{path}: {found:?}"
            );
        }
    }
}
