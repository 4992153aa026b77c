//! The next request of a redirect, by the rules of browsers or of Go's client.
//!
//! Must not know connections. Invariant: the user's credentials are not sent to another host.

use loadline_go::redirect::Chain;
use loadline_go::url::Url;
use loadline_model::request::{BodySource, HeaderTemplate, RedirectRules, RequestTemplate};
use loadline_model::template::Template;
use loadline_model::url::{Origin, encode_target};

/// A chain of redirects.
pub(super) struct Redirects<'a> {
    /// The first request of the chain.
    first: &'a RequestTemplate,
    rules: RedirectRules,
    /// What is still sent, by Go's rules.
    chain: Chain,
}

impl<'a> Redirects<'a> {
    /// A chain that starts with this request.
    pub(super) fn new(first: &'a RequestTemplate, rules: RedirectRules) -> Redirects<'a> {
        Redirects {
            first,
            rules,
            chain: Chain::default(),
        }
    }

    /// The request after a response to `last`; `None`: there is none, and the response is final.
    ///
    /// # Errors
    /// The location is invalid.
    pub(super) fn next(
        &mut self,
        last: &RequestTemplate,
        status: u16,
        location: &str,
    ) -> Result<Option<RequestTemplate>, String> {
        match self.rules {
            RedirectRules::Browsers => as_browsers(last, status, location).map(Some),
            RedirectRules::Go => self.as_go(last, status, location),
        }
    }

    /// As observed in Go's client. A body is not sent again: Go could only do so if it were told how to rebuild
    /// it.
    fn as_go(
        &mut self,
        last: &RequestTemplate,
        status: u16,
        location: &str,
    ) -> Result<Option<RequestTemplate>, String> {
        if matches!(status, 307 | 308) && !matches!(last.body, BodySource::None) {
            return Ok(None);
        }
        let (first, from) = (go_url(self.first)?, go_url(last)?);
        let hop = self
            .chain
            .follow(&first, (&from, &last.method), status, location)?;
        let origin = Origin::of(&hop.to).map_err(|fault| fault.to_string())?;
        let mut next = last.clone();
        if !self.first.headers.iter().any(is_referer) {
            name_referer(&mut next, hop.referer);
        }
        if let Some(method) = hop.method {
            method.clone_into(&mut next.method);
        }
        if !self.chain.has_body() {
            next.body = BodySource::None;
        }
        // A host set by the user stays until a location names another.
        let is_own =
            |header: &HeaderTemplate| header.name == "Host" && header.value.source() != from.host;
        let keeps_host = self.chain.has_host() && next.headers.iter().any(is_own);
        next.headers.retain(|header| match &*header.name {
            "Host" => keeps_host,
            "Content-Length" | "Transfer-Encoding" => self.chain.has_body(),
            name => self.chain.has_field(name),
        });
        next.target = Template::literal(&hop.to.target_without_spaces());
        next.origin = origin;
        Ok(Some(next))
    }
}

fn go_url(request: &RequestTemplate) -> Result<Url, String> {
    let url = format!("{}{}", request.origin, request.target.source());
    Url::parse(&url).map_err(|why| why.to_string())
}

/// RFC 9110 section 15.4. Credentials do not follow to another origin.
fn as_browsers(
    last: &RequestTemplate,
    status: u16,
    location: &str,
) -> Result<RequestTemplate, String> {
    let reference = Url::parse(location).map_err(|why| why.to_string())?;
    let to = go_url(last)?.resolve(reference);
    let origin = Origin::of(&to).map_err(|why| why.to_string())?;
    let mut next = last.clone();
    let becomes_get = match status {
        303 => next.method != "HEAD",
        301 | 302 => next.method == "POST",
        _ => false,
    };
    if becomes_get {
        "GET".clone_into(&mut next.method);
        drop_body(&mut next);
    }
    if origin != next.origin {
        drop_headers(&mut next, &["authorization", "cookie", "host"]);
    }
    next.target = Template::literal(&encode_target(to.target().as_bytes()));
    next.origin = origin;
    Ok(next)
}

fn is_referer(header: &HeaderTemplate) -> bool {
    header.name == "Referer"
}

/// Sets `Referer` where Go does: among the headers in the order of their names, before what its
/// transport adds at the end.
fn name_referer(request: &mut RequestTemplate, referer: Option<String>) {
    let headers = &mut request.headers;
    headers.retain(|header| !is_referer(header));
    let Some(referer) = referer else { return };
    let is_later = |header: &HeaderTemplate| {
        !matches!(&*header.name, "Host" | "User-Agent") && *header.name > *"Referer"
    };
    let is_added = |header: &HeaderTemplate| {
        header.name == "Accept-Encoding" && header.value.as_literal() == Some("gzip")
    };
    let end = headers.len() - usize::from(headers.last().is_some_and(is_added));
    let at = headers.iter().position(is_later).unwrap_or(end);
    let value = Template::literal(&referer);
    let name = "Referer".to_owned();
    headers.insert(at, HeaderTemplate { name, value });
}

fn drop_body(request: &mut RequestTemplate) {
    request.body = BodySource::None;
    request.headers.retain(|header| {
        let name = header.name.to_ascii_lowercase();
        !name.starts_with("content-") && name != "transfer-encoding"
    });
}

fn drop_headers(request: &mut RequestTemplate, names: &[&str]) {
    let is_one = |name: &str| names.iter().any(|one| name.eq_ignore_ascii_case(one));
    request.headers.retain(|header| !is_one(&header.name));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, body: BodySource) -> RequestTemplate {
        let lines = [
            "User-Agent: a",
            "Content-Type: b",
            "Cookie: c",
            "X-Kept: d",
            "Accept-Encoding: gzip",
        ];
        let headers = lines.iter().map(|line| {
            let (name, value) = line.split_once(": ").expect("a line");
            HeaderTemplate {
                name: name.to_owned(),
                value: Template::literal(value),
            }
        });
        RequestTemplate {
            method: method.to_owned(),
            origin: loadline_model::url::parse("http://h:81/")
                .expect("a URL")
                .origin,
            target: Template::literal("/from?x"),
            headers: headers.collect(),
            body,
        }
    }

    fn shown(request: &RequestTemplate) -> String {
        let mut text = format!(
            "{} {}{}",
            request.method,
            request.origin,
            request.target.source()
        );
        for header in &request.headers {
            text.push_str(&format!(" | {}: {}", header.name, header.value.source()));
        }
        text
    }

    fn after(
        rules: RedirectRules,
        method: &str,
        body: &str,
        status: u16,
        location: &str,
    ) -> String {
        let first = request(method, BodySource::from_bytes(body.into()));
        match Redirects::new(&first, rules).next(&first, status, location) {
            Ok(Some(next)) => shown(&next),
            Ok(None) => "stays".to_owned(),
            Err(why) => why,
        }
    }

    #[test]
    fn go_names_the_referer_and_sends_no_body_twice() {
        let go = |method, body, status, location| {
            after(RedirectRules::Go, method, body, status, location)
        };
        let get = "GET http://h:81/to | User-Agent: a | Cookie: c | Referer: http://h:81/from?x | X-Kept: d | Accept-Encoding: gzip";
        assert_eq!(go("GET", "", 302, "/to"), get);
        assert_eq!(go("PUT", "body", 301, "/to"), get);
        assert_eq!(go("HEAD", "", 303, "/to"), get.replace("GET", "HEAD"));
        assert_eq!(go("POST", "body", 307, "/to"), "stays");
        assert_eq!(
            go("POST", "", 308, "http://other/a b"),
            "POST http://other/a%20b | User-Agent: a | Content-Type: b | Referer: http://h:81/from?x | X-Kept: d | Accept-Encoding: gzip"
        );
        assert_eq!(
            go("GET", "", 302, "ftp://h/"),
            "unsupported protocol scheme \"ftp\""
        );
        assert_eq!(
            go("GET", "", 302, "/%zz"),
            "failed to parse Location header \"/%zz\": parse \"/%zz\": invalid URL escape \"%zz\""
        );
    }

    #[test]
    fn a_referer_of_the_chain_gives_way_and_one_of_the_user_stays() {
        let led = |first: &RequestTemplate, last: &RequestTemplate, location: &str| {
            let mut redirects = Redirects::new(first, RedirectRules::Go);
            let next = redirects
                .next(last, 302, location)
                .expect("leads somewhere");
            next.expect("leads on")
        };
        let mut first = request("GET", BodySource::None);
        let second = led(&first, &first, "/second");
        let third = shown(&led(&first, &second, "/third"));
        assert!(third.contains("Referer: http://h:81/second |"), "{third}");
        name_referer(&mut first, Some("http://mine/".to_owned()));
        let next = shown(&led(&first, &first, "/to"));
        assert!(next.contains("Referer: http://mine/"), "{next}");
    }

    #[test]
    fn browsers_keep_methods_but_post() {
        let browsers =
            |method, status, location| after(RedirectRules::Browsers, method, "", status, location);
        let rest = "| User-Agent: a | X-Kept: d | Accept-Encoding: gzip";
        assert_eq!(
            browsers("POST", 302, "http://o/\u{fc}"),
            format!("GET http://o/%C3%BC {rest}")
        );
        assert_eq!(
            browsers("PUT", 302, "to"),
            "PUT http://h:81/to | User-Agent: a | Content-Type: b | Cookie: c | X-Kept: d | Accept-Encoding: gzip"
        );
    }

    #[test]
    fn browsers_read_locations_as_references() {
        let to = |location| after(RedirectRules::Browsers, "GET", "", 302, location);
        for (location, url) in [
            ("//other/z", "http://other/z "),
            ("https://o", "https://o/ "),
            ("?y", "http://h:81/from?y "),
            ("a/../b/.", "http://h:81/b/ "),
            ("../../c d#e", "http://h:81/c%20d "),
        ] {
            let next = to(location);
            assert!(next.starts_with(&format!("GET {url}")), "{next}");
        }
        for (location, scheme) in [
            ("mailto:a@b", "mailto"),
            ("com.app:/cb", "com.app"),
            ("javascript:1", "javascript"),
        ] {
            let why = format!("unsupported protocol scheme \"{scheme}\"");
            assert_eq!(to(location), why);
        }
    }
}
