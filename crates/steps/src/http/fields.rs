//! Header fields of a request, in the order in which JMeter's client sends them.
//!
//! Must not know responses. Invariant: the fields of the plan come before those added by the client.

use super::body::RequestBody;
use super::outcome::{LINES_BYTES, push_line};
use super::url::Url;
use super::{HttpClient, HttpSamplerPlan, is_blank};
use crate::scope::Scope;

/// The `User-Agent` of JMeter's client.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// Header fields of a request in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// The fields from a plan: whether the connection is kept, and the fields of its header managers.
    pub(super) fn of_plan(plan: &HttpSamplerPlan, url: &Url, scope: &mut Scope<'_>) -> Fields {
        let mut fields = Fields::default();
        let connection = match plan.request.keep_alive {
            true => "keep-alive",
            false => "close",
        };
        fields.add("Connection", connection.to_owned());
        for field in &plan.headers {
            let name = field.name.evaluate(scope).into_owned();
            let value = field.value.evaluate(scope).into_owned();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {}
                "host" if plan.request.client == HttpClient::Apache => {
                    fields.add("Host", host_field(url, &value));
                }
                _ => fields.add(&name, value),
            }
        }
        fields
    }

    /// All fields, including those that the client adds for a body and a URL.
    pub(super) fn completed(
        &self,
        body: Option<&RequestBody>,
        method: &str,
        url: &Url,
        is_proxied: bool,
    ) -> Fields {
        let mut fields = self.clone();
        if let Some(body) = body {
            fields.add("Content-Length", body.bytes.len().to_string());
            if let Some(content_type) = &body.content_type
                && fields.get("content-type").is_none()
            {
                fields.add("Content-Type", content_type.clone());
            }
        }
        if fields.get("host").is_none() {
            fields.add("Host", url.authority());
        }
        if method.eq_ignore_ascii_case("CONNECT")
            || is_proxied && fields.get("proxy-connection").is_none()
        {
            fields.set("Proxy-Connection", "Keep-Alive".to_owned());
        }
        if fields.get("user-agent").is_none() {
            fields.add("User-Agent", USER_AGENT.to_owned());
        }
        fields
    }

    /// Sets the content type of a body, if the body overrides the plan or is a file.
    pub(super) fn give_type_of(&mut self, body: &RequestBody) {
        if body.is_binding {
            self.0
                .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        let has_type = self
            .get("content-type")
            .is_some_and(|value| !value.is_empty());
        if let Some(content_type) = body.content_type.as_ref().filter(|_| body.is_of_file)
            && !has_type
        {
            self.set("Content-Type", content_type.clone());
        }
    }

    pub(super) fn add(&mut self, name: &str, value: String) {
        self.0.push((name.to_owned(), value));
    }

    /// Replaces the first field with this name, or appends it.
    pub(super) fn set(&mut self, name: &str, value: String) {
        let mut fields = self.0.iter_mut();
        match fields.find(|(one, _)| one.eq_ignore_ascii_case(name)) {
            Some(field) => *field = (name.to_owned(), value),
            None => self.add(name, value),
        }
    }

    /// The value of the first field with a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let field = fields.find(|(one, _)| one.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    pub(super) fn as_slice(&self) -> &[(String, String)] {
        &self.0
    }

    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        self.0.clone()
    }

    /// All except cookies.
    pub(super) fn without_cookies(&self) -> Vec<(String, String)> {
        let fields = self.0.iter();
        let told = fields.filter(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        told.cloned().collect()
    }

    /// As shown in results: one per line, without cookies.
    pub(super) fn told(&self) -> String {
        let fields = self.0.iter();
        let told = fields.filter(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        let mut lines = String::with_capacity(LINES_BYTES);
        for (name, value) in told {
            push_line(&mut lines, name, value);
        }
        lines
    }

    /// Whether any of them closes the connection.
    pub(super) fn wants_close(&self) -> bool {
        let fields = self.0.iter();
        let mut connections = fields.filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
        connections.any(|(_, value)| {
            let mut tokens = value.split(',');
            tokens.any(|token| token.trim().eq_ignore_ascii_case("close"))
        })
    }
}

/// The value of a `Host` from the plan: with its port, or otherwise that of the URL, unless it is the scheme's
/// default.
fn host_field(url: &Url, value: &str) -> String {
    let last = value.rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &&str| !is_blank(port) && port.bytes().all(|digit| digit.is_ascii_digit());
    let named = last.filter(is_port);
    let host = match named {
        Some(port) => &value[..value.len() - port.len() - 1],
        None => value,
    };
    let port = match named {
        Some(port) => port.parse().ok(),
        None => url.port,
    };
    match port.filter(|port: &u32| *port != url.default_port()) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_the_plan_has_the_port_of_the_url() {
        let url = Url::parse("http://h:81/").expect("a URL");
        assert_eq!(host_field(&url, "other"), "other:81");
        assert_eq!(host_field(&url, "other:82"), "other:82");
        assert_eq!(host_field(&url, "other:80"), "other");
        let url = Url::parse("https://h/").expect("a URL");
        assert_eq!(host_field(&url, "other"), "other");
    }

    #[test]
    fn a_field_is_put_in_the_place_of_its_like() {
        let mut fields = Fields::default();
        fields.add("a", "1".to_owned());
        fields.add("b", "2".to_owned());
        fields.set("A", "3".to_owned());
        assert_eq!(fields.told(), "A: 3\nb: 2\n");
        fields.add("Connection", "x, Close".to_owned());
        assert!(fields.wants_close());
    }
}
