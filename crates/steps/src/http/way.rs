//! The route of a request, if it is not the usual one: fixed addresses, a source address, a proxy.
//!
//! Must not know requests. Invariant: an unavailable route is reported before anything is sent.

use core::net::IpAddr;

use loadline_java::numbers::long_or_zero;

use super::settings::ProxySettings;
use super::{HttpFault, is_blank};
use crate::scope::Scope;
use crate::text::Text;

/// The route settings of a sampler.
#[derive(Clone, Debug, Default)]
pub struct WayPlan {
    /// Host names with their comma-separated addresses, which override the resolver.
    pub hosts: Vec<(Text, Text)>,
    /// The source address of connections; empty: the system's choice.
    pub source: Text,
    /// The proxy's host; empty: none.
    pub proxy_host: Text,
    /// Its port.
    pub proxy_port: Text,
    /// The proxy's user; empty: none.
    pub proxy_user: Text,
    /// The user's password.
    pub proxy_password: Text,
}

/// A route other than the usual one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HttpWay {
    /// Addresses of the host, in the order in which they are tried; empty: its name is resolved.
    pub addresses: Vec<IpAddr>,
    /// The name to resolve instead of the host's; `None`: the host's.
    pub name: Option<String>,
    /// The source address of connections; `None`: the system's choice.
    pub source: Option<IpAddr>,
    /// The proxy; `None`: none.
    pub proxy: Option<HttpProxy>,
}

/// A proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HttpProxy {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The `Proxy-Authorization` after a challenge; `None`: none.
    pub authorization: Option<String>,
}

impl WayPlan {
    /// The current route to a host; `None`: the usual one.
    ///
    /// # Errors
    /// The source address is not a valid IP address.
    pub(super) fn to(
        &self,
        host: &str,
        settings: &ProxySettings,
        scope: &mut Scope<'_>,
    ) -> Result<Option<Box<HttpWay>>, HttpFault> {
        let mut way = HttpWay {
            source: self.source(scope)?,
            proxy: self.proxy(scope).or_else(|| settings.for_host(host)),
            ..HttpWay::default()
        };
        let mut hosts = self.hosts.iter();
        if let Some((_, addresses)) = hosts.find(|(name, _)| name.evaluate(scope) == host) {
            let addresses = addresses.evaluate(scope);
            let mut names = addresses.split(',').map(str::trim);
            way.addresses = names.clone().filter_map(|name| name.parse().ok()).collect();
            if way.addresses.is_empty() {
                way.name = names.find(|name| !name.is_empty()).map(str::to_owned);
            }
        }
        let is_usual = way == HttpWay::default();
        Ok((!is_usual).then(|| Box::new(way)))
    }

    fn source(&self, scope: &mut Scope<'_>) -> Result<Option<IpAddr>, HttpFault> {
        let source = self.source.evaluate(scope);
        match source.trim() {
            "" => Ok(None),
            "localhost" => Ok(Some(IpAddr::from([127, 0, 0, 1]))),
            literal => literal.parse().map(Some).map_err(|_| HttpFault {
                class: "java.net.UnknownHostException".to_owned(),
                message: format!("{literal}: Name or service not known"),
            }),
        }
    }

    fn proxy(&self, scope: &mut Scope<'_>) -> Option<HttpProxy> {
        let host = self.proxy_host.evaluate(scope).trim().to_owned();
        let port = long_or_zero(self.proxy_port.evaluate(scope).trim());
        let user = self.proxy_user.evaluate(scope).into_owned();
        let password = self.proxy_password.evaluate(scope);
        proxy(&host, port, &user, &password)
    }
}

/// A proxy, if host and port are set.
pub(super) fn proxy(host: &str, port: i64, user: &str, password: &str) -> Option<HttpProxy> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
    let authorization = (!user.is_empty()).then(|| super::auth::basic(user, password));
    (!is_blank(host)).then(|| HttpProxy {
        host: host.to_owned(),
        port,
        authorization,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    fn text(source: &str) -> Text {
        Text::parse(source).expect("a text")
    }

    #[test]
    fn names_have_the_addresses_that_a_plan_gives_them() {
        let plan = WayPlan {
            hosts: vec![
                (text("a.test"), text("127.0.0.1, 127.0.0.2")),
                (text("b.test"), text("other.test")),
            ],
            ..WayPlan::default()
        };
        let mut bench = Bench::default();
        let mut to = |host: &str| {
            let settings = ProxySettings::default();
            plan.to(host, &settings, &mut bench.scope()).expect("a way")
        };
        assert_eq!(to("a.test").expect("not the usual one").addresses.len(), 2);
        assert_eq!(
            to("b.test").and_then(|way| way.name).as_deref(),
            Some("other.test")
        );
        assert_eq!(to("c.test"), None);
    }

    #[test]
    fn a_proxy_wants_a_host_and_a_port() {
        assert!(proxy("p", 3128, "", "").is_some());
        assert!(proxy("p", 0, "", "").is_none());
        assert!(proxy(" ", 3128, "", "").is_none());
        let with_user = proxy("p", 1, "u", "p").and_then(|proxy| proxy.authorization);
        assert_eq!(with_user.as_deref(), Some("Basic dTpw"));
    }
}
