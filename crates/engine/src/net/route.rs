//! The route to an origin: redirected connections, proxies, the TLS server name.
//!
//! Determined once per origin, before connecting. Must not know sockets. Invariant: two requests to the same
//! origin take the same route.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use loadline_model::ClientPlan;
use loadline_model::client::ProxyPlan;
use loadline_model::script_names::Network;
use loadline_model::url::{Origin, Scheme};

/// The way to one origin.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) origin: Origin,
    /// Host to look up: the origin's, that of `connect_to`, or the proxy's.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Fixed addresses; empty: use the resolver.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) via: Via,
    /// Server name requested and verified in TLS.
    pub(crate) server_name: String,
    /// Local address; `None`: according to the address rules.
    pub(crate) source: Option<IpAddr>,
    /// Value of `Proxy-Authorization`; `None`: not sent.
    pub(crate) proxy_authorization: Option<String>,
}

/// A caller's requirements for a route, beyond the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Addresses of the host; empty: as in the plan.
    pub(crate) addresses: Vec<IpAddr>,
    /// The name to look up instead of the host.
    pub(crate) name: Option<String>,
    /// Local address.
    pub(crate) source: Option<IpAddr>,
    /// The proxy; `None`: the plan's, if any.
    pub(crate) proxy: Option<ProxyPlan>,
}

/// What is in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    Direct,
    /// Requests name the whole URL.
    PlainProxy,
    /// A tunnel made by CONNECT.
    Tunnel,
}

/// One of a worker's routes.
#[derive(Debug)]
pub(crate) struct KnownRoute {
    /// Its index.
    pub(crate) index: usize,
    pub(crate) route: Route,
    wanted: Wanted,
}

/// The routes of a worker; redirects may add to them.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    known: RefCell<Vec<Rc<KnownRoute>>>,
}

impl Routes {
    /// The route to an origin.
    pub(crate) fn to(&self, origin: &Origin, plan: &ClientPlan) -> Rc<KnownRoute> {
        self.wanted(origin, plan, &Wanted::default())
    }

    /// The route to an origin with a caller's requirements.
    pub(crate) fn wanted(
        &self,
        origin: &Origin,
        plan: &ClientPlan,
        wanted: &Wanted,
    ) -> Rc<KnownRoute> {
        let mut known = self.known.borrow_mut();
        let is_it =
            |known: &&Rc<KnownRoute>| known.route.origin == *origin && known.wanted == *wanted;
        if let Some(known) = known.iter().find(is_it) {
            return Rc::clone(known);
        }
        let made = Rc::new(KnownRoute {
            index: known.len(),
            route: Route::new(origin, plan, proxy_for(origin, plan)).by_wanted_way(plan, wanted),
            wanted: wanted.clone(),
        });
        known.push(Rc::clone(&made));
        made
    }
}

impl Route {
    /// The route to an origin through `proxy`, if any.
    pub(crate) fn new(origin: &Origin, plan: &ClientPlan, proxy: Option<&ProxyPlan>) -> Route {
        let (host, port) = match proxy {
            Some(proxy) => (proxy.host.clone(), proxy.port),
            None => detour(origin, plan),
        };
        let via = match (proxy, origin.scheme) {
            (None, _) => Via::Direct,
            (Some(_), Scheme::Http) => Via::PlainProxy,
            (Some(_), Scheme::Https) => Via::Tunnel,
        };
        let by_hand = plan.resolve.iter().find(|given| {
            via == Via::Direct
                && given.host.eq_ignore_ascii_case(&host)
                && given.port.is_none_or(|only| only == port)
        });
        Route {
            origin: origin.clone(),
            port,
            addresses: by_hand.map_or_else(Vec::new, |given| given.addresses.clone()),
            host,
            via,
            server_name: plan
                .tls
                .server_name
                .clone()
                .unwrap_or_else(|| origin.host.clone()),
            source: None,
            proxy_authorization: proxy.and_then(|proxy| proxy.authorization.clone()),
        }
    }

    /// The same with a caller's requirements.
    fn by_wanted_way(self, plan: &ClientPlan, wanted: &Wanted) -> Route {
        let mut route = match &wanted.proxy {
            Some(proxy) => Route::new(&self.origin, plan, Some(proxy)),
            None => self,
        };
        route.source = wanted.source;
        if route.via == Via::Direct {
            if !wanted.addresses.is_empty() {
                route.addresses.clone_from(&wanted.addresses);
            }
            if let Some(name) = &wanted.name {
                route.host.clone_from(name);
            }
        }
        route
    }
}

fn detour(origin: &Origin, plan: &ClientPlan) -> (String, u16) {
    let fits = plan.connect_to.iter().find(|detour| {
        detour
            .host
            .as_ref()
            .is_none_or(|host| host.eq_ignore_ascii_case(&origin.host))
            && detour.port.is_none_or(|port| port == origin.port)
    });
    match fits {
        None => (origin.host.clone(), origin.port),
        Some(detour) => (
            detour
                .to_host
                .clone()
                .unwrap_or_else(|| origin.host.clone()),
            detour.to_port.unwrap_or(origin.port),
        ),
    }
}

/// The proxy for an origin; `None`: direct connection.
pub(crate) fn proxy_for<'a>(origin: &Origin, plan: &'a ClientPlan) -> Option<&'a ProxyPlan> {
    plan.proxy
        .as_ref()
        .filter(|proxy| proxy_serves(proxy, origin))
}

/// Whether the proxy is used: for the scheme, and unless an exception names the origin.
fn proxy_serves(proxy: &ProxyPlan, origin: &Origin) -> bool {
    let for_scheme = match origin.scheme {
        Scheme::Http => proxy.for_http,
        Scheme::Https => proxy.for_https,
    };
    let host = origin.host.to_ascii_lowercase();
    let mut except = proxy.except.iter();
    for_scheme && !except.any(|one| is_excepted(&one.to_ascii_lowercase(), &host, origin.port))
}

/// Whether an exception, as [`ProxyPlan::except`] has them, names a host in lower case and a port.
fn is_excepted(exception: &str, host: &str, port: u16) -> bool {
    let address = |text: &str| text.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    if exception == "*" {
        return true;
    }
    if let Ok(network) = exception.parse::<Network>() {
        return address(host).is_some_and(|address| network.contains(address));
    }
    let (name, of_port) = match exception.rsplit_once(':') {
        Some((name, of_port)) if !name.contains(':') || name.ends_with(']') => (name, of_port),
        _ => (exception, ""),
    };
    if !of_port.is_empty() && of_port.parse() != Ok(port) {
        return false;
    }
    if let Some(named) = address(name) {
        return address(host) == Some(named);
    }
    let is_below = |domain: &str| {
        let before = host.strip_suffix(domain);
        !domain.is_empty() && before.is_some_and(|before| before.ends_with('.'))
    };
    match name.trim_start_matches('*').strip_prefix('.') {
        Some(domain) => is_below(domain),
        None => host == name || is_below(name),
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::client::{ConnectTo, Resolve};
    use loadline_model::url::parse;

    use super::*;

    fn origin(text: &str) -> Origin {
        parse(text).expect("a good URL").origin
    }

    #[test]
    fn the_first_detour_that_fits_wins() {
        let detour = |host: Option<&str>, to: &str| ConnectTo {
            host: host.map(str::to_owned),
            port: None,
            to_host: Some(to.to_owned()),
            to_port: Some(81),
        };
        let plan = ClientPlan {
            connect_to: vec![detour(Some("a"), "first"), detour(None, "any")],
            resolve: vec![Resolve {
                host: "any".to_owned(),
                port: None,
                addresses: vec![IpAddr::from([127, 0, 0, 9])],
            }],
            ..ClientPlan::default()
        };
        let routes = Routes::default();
        assert_eq!(routes.to(&origin("http://A/"), &plan).route.host, "first");
        let other = routes.to(&origin("http://b/"), &plan);
        let route = &other.route;
        assert_eq!(
            (route.host.as_str(), route.port, other.index),
            ("any", 81, 1)
        );
        assert_eq!(route.addresses, [IpAddr::from([127, 0, 0, 9])]);
        assert_eq!(routes.to(&origin("http://b/"), &plan).index, 1);
    }

    #[test]
    fn proxies_serve_unless_excepted() {
        let plan = ClientPlan {
            proxy: Some(ProxyPlan {
                host: "p".to_owned(),
                port: 3128,
                authorization: None,
                except: vec![".local".to_owned()],
                for_http: true,
                for_https: true,
            }),
            ..ClientPlan::default()
        };
        let via = |url| Routes::default().to(&origin(url), &plan).route.via;
        assert_eq!(via("http://x/"), Via::PlainProxy);
        assert_eq!(via("https://x/"), Via::Tunnel);
        assert_eq!(via("http://a.local/"), Via::Direct);
        assert_eq!(via("http://notlocal/"), Via::PlainProxy);
    }

    #[test]
    fn exceptions_name_hosts_domains_addresses_networks_and_ports() {
        let cases = [
            ("*", "a.test", 80, true),
            ("a.test", "a.test", 80, true),
            ("a.test", "b.a.test", 80, true),
            ("a.test", "ba.test", 80, false),
            (".a.test", "b.a.test", 80, true),
            (".a.test", "a.test", 80, false),
            ("*.a.test", "b.a.test", 80, true),
            ("*.a.test", "a.test", 80, false),
            ("a.test:81", "a.test", 81, true),
            ("a.test:81", "a.test", 80, false),
            ("a.test:", "a.test", 80, true),
            ("a.test:x", "a.test", 80, false),
            ("10.1.2.3", "10.1.2.3", 80, true),
            ("10.1.2.3:81", "10.1.2.3", 80, false),
            ("10.0.0.0/8", "10.1.2.3", 80, true),
            ("10.0.0.0/8", "11.1.2.3", 80, false),
            ("10.0.0.0/8", "a.test", 80, false),
            ("fd00::/8", "[fd00::1]", 80, true),
            ("fd00::1", "[fd00::1]", 80, true),
            ("[fd00::1]:81", "[fd00::1]", 81, true),
            ("[fd00::1]:81", "[fd00::1]", 80, false),
            (".", "a.test", 80, false),
        ];
        for (exception, host, port, found) in cases {
            let is = is_excepted(exception, host, port);
            assert_eq!(is, found, "{exception} of {host}:{port}");
        }
    }
}
