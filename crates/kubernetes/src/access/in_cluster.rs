//! Access to the cluster in which this process runs, with its pod's service account.
//!
//! Must not know what is requested. Invariant: the token is read again from time to time, because the kubelet
//! renews it. Source: the Kubernetes documentation, "Accessing the Kubernetes API from a Pod".

use std::env;
use std::fs;
use std::path::Path;

use super::{Access, Means, User};
use crate::error::{Error, Result};

/// Where the kubelet puts the account.
const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Access with the service account of this pod.
///
/// # Errors
/// This is not a pod, or it has no account.
pub(crate) fn in_cluster() -> Result<Access> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let host = variable("KUBERNETES_SERVICE_HOST");
    let port = variable("KUBERNETES_SERVICE_PORT");
    from(host.as_deref(), port.as_deref(), Path::new(FOLDER))
}

fn from(host: Option<&str>, port: Option<&str>, folder: &Path) -> Result<Access> {
    let (Some(host), Some(port)) = (host, port) else {
        return Err(Error::config(
            "this is not a pod of a cluster: KUBERNETES_SERVICE_HOST is not set; name a context of a kubeconfig file",
        ));
    };
    let host = match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    };
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).map_err(|error| {
            Error::config(format!(
                "the pod's account cannot be read ({}: {error}); does the pod have automountServiceAccountToken: false?",
                path.display()
            ))
        })
    };
    let namespace = String::from_utf8_lossy(&read("namespace")?)
        .trim()
        .to_owned();
    // Read here so that a pod without an account gets an error immediately.
    read("token")?;
    Ok(Access {
        name: "in-cluster".to_owned(),
        server: format!("https://{host}:{port}"),
        tls_server_name: None,
        authority: Some(read("ca.crt")?),
        trusts_all: false,
        proxy: None,
        user: User {
            means: Means::TokenFile(folder.join("token")),
            ..User::default()
        },
        namespace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_where_the_kubelet_puts_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("namespace", "shop\n"), ("token", "t"), ("ca.crt", "pem")] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        let access = from(Some("fd00::1"), Some("443"), folder.path()).expect("an account");
        assert_eq!(access.server, "https://[fd00::1]:443");
        assert_eq!(access.namespace, "shop");
        assert!(matches!(access.user.means, Means::TokenFile(_)));
    }

    #[test]
    fn outside_of_a_pod_the_next_step_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = from(None, None, folder.path())
            .expect_err("no pod")
            .to_string();
        assert!(outside.contains("name a context"), "{outside}");
        let bare = from(Some("10.0.0.1"), Some("443"), folder.path()).expect_err("no account");
        assert!(
            bare.to_string().contains("automountServiceAccountToken"),
            "{bare}"
        );
    }
}
