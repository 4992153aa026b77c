//! How to reach a workload: services, ingresses, Knative services.
//!
//! Must not know whether anything responds there. Invariant: an address that the cluster has not assigned yet
//! is absent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::identity;
use crate::error::Result;
use crate::json;

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
    pub kind: String,
    /// Its address inside the cluster; `None`: headless or external.
    pub cluster_ip: Option<String>,
    /// Addresses and host names of its load balancer; empty until there are any.
    pub load_balancer: Vec<String>,
    /// The host of an external name.
    pub external_name: Option<String>,
    /// Its ports.
    pub ports: Vec<ServicePort>,
    /// The labels of its pods; empty: it selects none.
    pub selector: BTreeMap<String, String>,
}

/// A port of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Its name; empty if there is only one port.
    pub name: String,
    /// Its number.
    pub port: u16,
    /// The pod's port: a number or a name of a container's port.
    pub target: String,
    /// The port of each node that leads here; `None`: none does.
    pub node_port: Option<u16>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
}

/// An ingress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The hosts of its rules, each once, in their order; empty: every host.
    pub hosts: Vec<String>,
    /// The hosts that TLS is configured for.
    pub tls_hosts: Vec<String>,
    /// Addresses and host names of the controller; empty until there are any.
    pub addresses: Vec<String>,
}

/// A service of Knative Serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnativeService {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where it is reached; `None` until it is.
    pub url: Option<String>,
    /// Whether it is ready.
    pub is_ready: bool,
    /// Why it is not, in words.
    pub message: Option<String>,
}

impl Service {
    /// Reads a service.
    ///
    /// # Errors
    /// It has no name.
    pub fn read(value: &Value) -> Result<Service> {
        let (namespace, name, _) = identity(value)?;
        let ports = json::items(value, "/spec/ports");
        Ok(Service {
            namespace,
            name,
            kind: json::filled(value, "/spec/type").unwrap_or_else(|| "ClusterIP".to_owned()),
            cluster_ip: json::filled(value, "/spec/clusterIP").filter(|ip| ip != "None"),
            load_balancer: addresses(value),
            external_name: json::filled(value, "/spec/externalName"),
            ports: ports.iter().filter_map(ServicePort::read).collect(),
            selector: json::texts(value, "/spec/selector"),
        })
    }

    /// A port by number or name; the only one if none is given.
    #[must_use]
    pub fn port(&self, wanted: Option<&str>) -> Option<&ServicePort> {
        match (wanted, self.ports.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(wanted), ports) => ports
                .iter()
                .find(|port| port.name == wanted || port.port.to_string() == wanted),
        }
    }

    /// Its name inside the cluster.
    #[must_use]
    pub fn dns_name(&self) -> String {
        format!("{}.{}.svc", self.name, self.namespace)
    }
}

impl ServicePort {
    fn read(value: &Value) -> Option<ServicePort> {
        let port = u16::try_from(json::number(value, "/port")?).ok()?;
        let target = match value.pointer("/targetPort") {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => port.to_string(),
        };
        let node_port = json::number(value, "/nodePort").filter(|port| *port > 0);
        Some(ServicePort {
            name: json::owned(value, "/name"),
            port,
            target,
            node_port: node_port.and_then(|port| u16::try_from(port).ok()),
            protocol: json::filled(value, "/protocol").unwrap_or_else(|| "TCP".to_owned()),
        })
    }
}

impl Ingress {
    /// Reads an ingress.
    ///
    /// # Errors
    /// It has no name.
    pub fn read(value: &Value) -> Result<Ingress> {
        let (namespace, name, _) = identity(value)?;
        let rules = json::items(value, "/spec/rules").iter();
        let hosts = rules.filter_map(|rule| json::filled(rule, "/host"));
        let tls = json::items(value, "/spec/tls").iter();
        let tls_hosts = tls.flat_map(|tls| json::items(tls, "/hosts"));
        Ok(Ingress {
            namespace,
            name,
            hosts: each_once(hosts),
            tls_hosts: each_once(tls_hosts.filter_map(|host| host.as_str().map(str::to_owned))),
            addresses: addresses(value),
        })
    }
}

impl KnativeService {
    /// Reads a service of Knative.
    ///
    /// # Errors
    /// It has no name.
    pub fn read(value: &Value) -> Result<KnativeService> {
        let (namespace, name, _) = identity(value)?;
        let ready = json::condition(value, "Ready");
        Ok(KnativeService {
            namespace,
            name,
            url: json::filled(value, "/status/url"),
            is_ready: ready.is_some_and(|ready| json::text(ready, "/status") == Some("True")),
            message: ready.and_then(|ready| json::filled(ready, "/message")),
        })
    }
}

fn addresses(value: &Value) -> Vec<String> {
    let given = json::items(value, "/status/loadBalancer/ingress").iter();
    let address = |one: &Value| json::filled(one, "/ip").or_else(|| json::filled(one, "/hostname"));
    given.filter_map(address).collect()
}

fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_is_read_with_its_addresses() {
        let service = Service::read(&json!({
            "metadata": { "name": "api", "namespace": "shop" },
            "spec": { "type": "LoadBalancer", "clusterIP": "10.96.0.9", "selector": { "app": "api" }, "ports": [
                { "name": "http", "port": 80, "targetPort": "web", "nodePort": 30080, "protocol": "TCP" },
                { "name": "admin", "port": 9000, "targetPort": 9001 } ] },
            "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.4" }, { "hostname": "lb.example.com" }] } },
        }));
        let service = service.expect("a service");
        assert_eq!(service.load_balancer, ["192.0.2.4", "lb.example.com"]);
        assert_eq!(service.dns_name(), "api.shop.svc");
        assert!(service.port(None).is_none(), "two ports: one must be named");
        let http = service.port(Some("http")).expect("named");
        assert_eq!(
            (http.port, http.target.as_str(), http.node_port),
            (80, "web", Some(30080))
        );
        assert_eq!(
            service.port(Some("9000")).map(|port| port.target.as_str()),
            Some("9001")
        );
    }

    #[test]
    fn a_headless_service_has_no_address() {
        let value = json!({ "metadata": { "name": "db" }, "spec": { "clusterIP": "None", "ports": [{ "port": 5432 }] } });
        let service = Service::read(&value).expect("a service");
        assert_eq!(
            (service.cluster_ip.as_deref(), service.kind.as_str()),
            (None, "ClusterIP")
        );
        assert_eq!(
            service.port(None).map(|port| port.target.as_str()),
            Some("5432")
        );
    }

    #[test]
    fn an_ingress_tells_hosts_and_addresses() {
        let ingress = Ingress::read(&json!({
            "metadata": { "name": "web", "namespace": "shop" },
            "spec": { "tls": [{ "hosts": ["shop.example.com"] }],
                "rules": [{ "host": "shop.example.com" }, { "host": "shop.example.com" }, {}] },
            "status": { "loadBalancer": {} },
        }));
        let ingress = ingress.expect("an ingress");
        assert_eq!(ingress.hosts, ["shop.example.com"]);
        assert_eq!(ingress.tls_hosts, ["shop.example.com"]);
        assert!(ingress.addresses.is_empty());
    }

    #[test]
    fn a_knative_service_has_its_url_once_it_is_reached() {
        let value = json!({ "metadata": { "name": "fn" }, "status": { "url": "http://fn.default.example.com",
            "conditions": [{ "type": "Ready", "status": "False", "message": "no pods" }] } });
        let service = KnativeService::read(&value).expect("a service");
        assert_eq!(
            service.url.as_deref(),
            Some("http://fn.default.example.com")
        );
        assert!(!service.is_ready && service.message.as_deref() == Some("no pods"));
    }
}
