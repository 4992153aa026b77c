//! The way to an origin: detours, proxies, the name shown to TLS.
//!
//! Decided once per origin, before anything is connected. Must not know sockets. Invariant: two
//! requests for one origin take the same route.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use loadline_model::ClientPlan;
use loadline_model::url::{Origin, Scheme};

/// The way to one origin.
#[derive(Debug)]
pub(crate) struct Route {
    /// Position among the worker's routes.
    pub(crate) index: usize,
    pub(crate) origin: Origin,
    /// Host to look up: the origin's, a detour's or the proxy's.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Addresses given by hand; empty: the resolver is asked.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) via: Via,
    /// Name asked for and verified in TLS.
    pub(crate) server_name: String,
}

/// What stands between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    Direct,
    /// Requests name the whole URL.
    PlainProxy,
    /// A tunnel made by CONNECT.
    Tunnel,
}

/// The routes of a worker; redirects may add to them.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    known: RefCell<Vec<Rc<Route>>>,
}

impl Routes {
    /// The route to an origin.
    pub(crate) fn to(&self, origin: &Origin, plan: &ClientPlan) -> Rc<Route> {
        let mut known = self.known.borrow_mut();
        if let Some(route) = known.iter().find(|route| route.origin == *origin) {
            return Rc::clone(route);
        }
        let route = Rc::new(plan_route(known.len(), origin, plan));
        known.push(Rc::clone(&route));
        route
    }
}

fn plan_route(index: usize, origin: &Origin, plan: &ClientPlan) -> Route {
    let server_name = plan
        .tls
        .server_name
        .clone()
        .unwrap_or_else(|| origin.host.clone());
    if let Some(proxy) = plan
        .proxy
        .as_ref()
        .filter(|proxy| proxy_serves(proxy, origin))
    {
        return Route {
            index,
            origin: origin.clone(),
            host: proxy.host.clone(),
            port: proxy.port,
            addresses: Vec::new(),
            via: if origin.scheme == Scheme::Https {
                Via::Tunnel
            } else {
                Via::PlainProxy
            },
            server_name,
        };
    }
    let (host, port) = detour(origin, plan);
    let addresses = plan
        .resolve
        .iter()
        .find(|given| {
            given.host.eq_ignore_ascii_case(&host) && given.port.is_none_or(|only| only == port)
        })
        .map(|given| given.addresses.clone())
        .unwrap_or_default();
    Route {
        index,
        origin: origin.clone(),
        host,
        port,
        addresses,
        via: Via::Direct,
        server_name,
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

/// Whether the proxy is used: for the scheme, and unless the host is among the exceptions, which
/// are names, domains with everything below them, or `*`.
pub(crate) fn proxy_serves(proxy: &loadline_model::client::ProxyPlan, origin: &Origin) -> bool {
    let for_scheme = match origin.scheme {
        Scheme::Http => proxy.for_http,
        Scheme::Https => proxy.for_https,
    };
    let host = origin.host.to_ascii_lowercase();
    for_scheme
        && !proxy.except.iter().any(|exception| {
            let name = exception.trim_start_matches('.').to_ascii_lowercase();
            name == "*"
                || host == name
                || (!name.is_empty()
                    && host
                        .strip_suffix(&name)
                        .is_some_and(|before| before.ends_with('.')))
        })
}

#[cfg(test)]
mod tests {
    use loadline_model::client::{ConnectTo, ProxyPlan, Resolve};
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
        assert_eq!(routes.to(&origin("http://A/"), &plan).host, "first");
        let other = routes.to(&origin("http://b/"), &plan);
        assert_eq!(
            (other.host.as_str(), other.port, other.index),
            ("any", 81, 1)
        );
        assert_eq!(other.addresses, [IpAddr::from([127, 0, 0, 9])]);
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
        let routes = Routes::default();
        assert_eq!(routes.to(&origin("http://x/"), &plan).via, Via::PlainProxy);
        assert_eq!(routes.to(&origin("https://x/"), &plan).via, Via::Tunnel);
        assert_eq!(
            routes.to(&origin("http://a.local/"), &plan).via,
            Via::Direct
        );
        assert_eq!(
            routes.to(&origin("http://notlocal/"), &plan).via,
            Via::PlainProxy
        );
    }
}
