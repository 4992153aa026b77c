//! A location in the API: the path of a resource, and its name in a role.
//!
//! Must not know what is done there. Invariant: every foreign part of a path is percent-encoded, so a name
//! cannot lead elsewhere.

use std::fmt::Write as _;

/// The action at a place, in the words of roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Read one object.
    Get,
    /// Read all objects of a kind.
    List,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object.
    Patch,
    /// Remove an object.
    Delete,
}

impl Verb {
    /// Its word in a role.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
        }
    }

    /// Its method of HTTP.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Verb::Get | Verb::List => "GET",
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }

    /// Whether nothing is changed.
    pub(crate) fn reads(self) -> bool {
        matches!(self, Verb::Get | Verb::List)
    }
}

/// A place of the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApiPlace {
    /// `apps`, `metrics.k8s.io`; empty for the core group.
    group: String,
    /// `v1`; empty for a path that is no resource.
    version: String,
    /// `pods`; for a path that is no resource, the path.
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
}

impl ApiPlace {
    /// A resource of `v1` or `apps/v1`.
    pub(crate) fn of(group_version: &str, resource: &str) -> ApiPlace {
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        ApiPlace {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            ..ApiPlace::default()
        }
    }

    /// A path that is no resource, as `/version`.
    pub(crate) fn path_only(path: &str) -> ApiPlace {
        ApiPlace {
            resource: path.to_owned(),
            ..ApiPlace::default()
        }
    }

    /// In a namespace; empty: in all.
    pub(crate) fn within(mut self, namespace: &str) -> ApiPlace {
        self.namespace = Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty());
        self
    }

    /// One object.
    pub(crate) fn named(mut self, name: &str) -> ApiPlace {
        self.name = Some(name.to_owned());
        self
    }

    /// All objects where this one is.
    pub(crate) fn all(mut self) -> ApiPlace {
        self.name = None;
        self
    }

    /// A part of one object, as `scale` or `proxy/stats/summary`.
    pub(crate) fn part(mut self, subresource: &str) -> ApiPlace {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Its path.
    pub(crate) fn path(&self) -> String {
        if self.version.is_empty() {
            return self.resource.clone();
        }
        let mut path = match self.group.is_empty() {
            true => format!("/api/{}", encoded(&self.version)),
            false => format!("/apis/{}/{}", encoded(&self.group), encoded(&self.version)),
        };
        if let Some(namespace) = &self.namespace {
            path.push_str("/namespaces/");
            path.push_str(&encoded(namespace));
        }
        path.push('/');
        path.push_str(&encoded(&self.resource));
        if let Some(name) = &self.name {
            path.push('/');
            path.push_str(&encoded(name));
        }
        for part in self.subresource.iter().flat_map(|part| part.split('/')) {
            path.push('/');
            path.push_str(&encoded(part));
        }
        path
    }

    /// How a message names it: `deployments.apps "api" in namespace "shop"`.
    pub(crate) fn told(&self) -> String {
        if self.version.is_empty() {
            return self.resource.clone();
        }
        let mut told = self.resource_with_part();
        if !self.group.is_empty() {
            told.push('.');
            told.push_str(&self.group);
        }
        if let Some(name) = &self.name {
            let _ = write!(told, " {name:?}");
        }
        if let Some(namespace) = &self.namespace {
            let _ = write!(told, " in namespace {namespace:?}");
        }
        told
    }

    /// The rule that allows a verb here, and the kind of role that it belongs to.
    pub(crate) fn rule(&self, verb: Verb) -> String {
        if self.version.is_empty() {
            let path = &self.resource;
            return format!(
                "a ClusterRole with the rule {{nonResourceURLs: [{path:?}], verbs: [get]}}"
            );
        }
        let role = match &self.namespace {
            Some(namespace) => format!("a Role in namespace {namespace}"),
            None => "a ClusterRole".to_owned(),
        };
        let (group, resource, verb) = (&self.group, self.resource_with_part(), verb.word());
        format!(
            "{role} with the rule {{apiGroups: [{group:?}], resources: [{resource:?}], verbs: [{verb:?}]}}"
        )
    }

    fn resource_with_part(&self) -> String {
        // A role only names the first part: the path after `proxy` belongs to the node.
        let part = self
            .subresource
            .as_deref()
            .and_then(|part| part.split('/').next());
        match part {
            Some(part) => format!("{}/{part}", self.resource),
            None => self.resource.clone(),
        }
    }
}

/// Percent-encodes what is not unreserved.
pub(crate) fn encoded(text: &str) -> String {
    let encoded = loadline_http::encoded(text);
    // A path's dot segments would lead elsewhere.
    match encoded.as_str() {
        "." | ".." => encoded.replace('.', "%2E"),
        _ => encoded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        let pods = ApiPlace::of("v1", "pods").within("shop");
        assert_eq!(pods.path(), "/api/v1/namespaces/shop/pods");
        let scale = ApiPlace::of("apps/v1", "deployments")
            .within("shop")
            .named("api")
            .part("scale");
        assert_eq!(
            scale.path(),
            "/apis/apps/v1/namespaces/shop/deployments/api/scale"
        );
        let summary = ApiPlace::of("v1", "nodes")
            .named("n1")
            .part("proxy/stats/summary");
        assert_eq!(summary.path(), "/api/v1/nodes/n1/proxy/stats/summary");
        assert_eq!(ApiPlace::of("v1", "pods").within("").path(), "/api/v1/pods");
    }

    #[test]
    fn a_name_cannot_lead_elsewhere() {
        let path = |name: &str| {
            ApiPlace::of("v1", "pods")
                .within("a/../b")
                .named(name)
                .path()
        };
        assert_eq!(path(".."), "/api/v1/namespaces/a%2F..%2Fb/pods/%2E%2E");
        assert_eq!(
            path("x?y#z"),
            "/api/v1/namespaces/a%2F..%2Fb/pods/x%3Fy%23z"
        );
    }

    #[test]
    fn rules_are_what_a_role_wants() {
        let scale = ApiPlace::of("apps/v1", "deployments")
            .within("shop")
            .named("api")
            .part("scale");
        assert_eq!(
            scale.rule(Verb::Patch),
            "a Role in namespace shop with the rule {apiGroups: [\"apps\"], resources: [\"deployments/scale\"], verbs: [\"patch\"]}"
        );
        let summary = ApiPlace::of("v1", "nodes")
            .named("n1")
            .part("proxy/stats/summary");
        assert!(
            summary
                .rule(Verb::Get)
                .contains("resources: [\"nodes/proxy\"]")
        );
        assert_eq!(
            scale.told(),
            "deployments/scale.apps \"api\" in namespace \"shop\""
        );
    }
}
