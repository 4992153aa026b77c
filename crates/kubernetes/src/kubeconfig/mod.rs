//! kubeconfig files: several merged into one, and the access of one of their contexts.
//!
//! Must not know the network. Invariants: the first file with a setting wins, as with kubectl; an unsupported setting
//! is refused by name, never ignored; no message shows a secret.
//!
//! Source: the Kubernetes documentation, "Organizing Cluster Access Using kubeconfig Files", and `v1.Config`.

mod raw;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::access::{Access, ActAs, ExecProgram, Means, Secret, User};
use crate::error::{Error, Result, quoted};
use raw::{RawCluster, RawConfig, RawContext, RawExec, RawUser};

/// Bytes of a file that are read; one with a hundred clusters has half a megabyte.
const FILE_MAX: u64 = 8 << 20;

/// The clusters, users and contexts of one or more files.
#[derive(Clone, Debug, Default)]
pub struct Kubeconfig {
    clusters: Vec<NamedEntry<RawCluster>>,
    users: Vec<NamedEntry<RawUser>>,
    contexts: Vec<NamedEntry<RawContext>>,
    current: Option<String>,
}

/// A named entry, and the base folder of its paths.
#[derive(Clone, Debug)]
struct NamedEntry<T> {
    name: String,
    value: T,
    folder: PathBuf,
}

impl Kubeconfig {
    /// Parses a file; relative paths in it start from `folder`.
    ///
    /// # Errors
    /// Invalid YAML, or not a kubeconfig; the message has line and column, and none of the content.
    pub fn parse(text: &str, folder: &Path) -> Result<Kubeconfig> {
        let raw: RawConfig = raw::read(text)?;
        let entries = |name: &str| NamedEntry {
            name: name.to_owned(),
            value: (),
            folder: folder.to_path_buf(),
        };
        let mut config = Kubeconfig {
            current: raw.current_context.filter(|name| !name.is_empty()),
            ..Kubeconfig::default()
        };
        for one in raw.clusters.unwrap_or_default() {
            put(
                &mut config.clusters,
                entries(&one.name).with(one.cluster.unwrap_or_default()),
            );
        }
        for one in raw.users.unwrap_or_default() {
            put(
                &mut config.users,
                entries(&one.name).with(one.user.unwrap_or_default()),
            );
        }
        for one in raw.contexts.unwrap_or_default() {
            put(
                &mut config.contexts,
                entries(&one.name).with(one.context.unwrap_or_default()),
            );
        }
        Ok(config)
    }

    /// Reads files and merges them; earlier files take precedence. Missing files are skipped, unless all are
    /// missing.
    ///
    /// # Errors
    /// None exists, or one cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Kubeconfig> {
        let mut merged: Option<Kubeconfig> = None;
        for path in paths.iter().filter(|path| path.exists()) {
            let told =
                |why: &dyn std::fmt::Display| Error::config(format!("{}: {why}", path.display()));
            let size = fs::metadata(path).map_err(|error| told(&error))?.len();
            if size > FILE_MAX {
                return Err(told(&"is too large for a kubeconfig"));
            }
            let text = fs::read_to_string(path).map_err(|error| told(&error))?;
            let folder = path.parent().unwrap_or(Path::new("."));
            let config = Kubeconfig::parse(&text, folder).map_err(|error| told(&error))?;
            match &mut merged {
                Some(merged) => merged.add(config),
                None => merged = Some(config),
            }
        }
        merged.ok_or_else(|| {
            let names: Vec<String> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            Error::config(format!(
                "there is no kubeconfig file ({}); set KUBECONFIG or give --kubeconfig",
                names.join(", ")
            ))
        })
    }

    /// Where kubectl looks: the files in the variable `KUBECONFIG`, otherwise `.kube/config` in the home
    /// folder.
    #[must_use]
    pub fn usual_paths(variable: Option<&OsStr>, home: Option<&Path>) -> Vec<PathBuf> {
        let listed: Vec<PathBuf> = variable
            .map(|list| std::env::split_paths(list).collect())
            .unwrap_or_default();
        let listed: Vec<PathBuf> = listed
            .into_iter()
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        match listed.is_empty() {
            true => home.iter().map(|home| home.join(".kube/config")).collect(),
            false => listed,
        }
    }

    /// Reads the files named by the environment: `KUBECONFIG`, otherwise `~/.kube/config`.
    ///
    /// # Errors
    /// As [`Kubeconfig::read`].
    pub fn from_environment() -> Result<Kubeconfig> {
        let home = std::env::home_dir();
        let variable = std::env::var_os("KUBECONFIG");
        Kubeconfig::read(&Kubeconfig::usual_paths(
            variable.as_deref(),
            home.as_deref(),
        ))
    }

    /// Reads one file; `None`: those named by the environment.
    ///
    /// # Errors
    /// As [`Kubeconfig::read`].
    pub fn of(file: Option<&Path>) -> Result<Kubeconfig> {
        match file {
            Some(file) => Kubeconfig::read(&[file.to_path_buf()]),
            None => Kubeconfig::from_environment(),
        }
    }

    /// The names of its contexts, in their order.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.contexts.iter().map(|context| context.name.as_str())
    }

    /// The name of the current context; `None`: there is none.
    #[must_use]
    pub fn current_context(&self) -> Option<&str> {
        self.current.as_deref()
    }

    fn add(&mut self, other: Kubeconfig) {
        other
            .clusters
            .into_iter()
            .for_each(|one| put(&mut self.clusters, one));
        other
            .users
            .into_iter()
            .for_each(|one| put(&mut self.users, one));
        other
            .contexts
            .into_iter()
            .for_each(|one| put(&mut self.contexts, one));
        if self.current.is_none() {
            self.current = other.current;
        }
    }

    /// The access of a context; `None`: the current one.
    ///
    /// # Errors
    /// There is no such context, or it has an unsupported setting.
    pub(crate) fn access(&self, context: Option<&str>) -> Result<Access> {
        let name = context.or(self.current_context());
        let name = name.ok_or_else(|| {
            self.no_context("no context is given, and the kubeconfig has no current one")
        })?;
        let Some(context) = find(&self.contexts, name) else {
            return Err(self.no_context(&format!("there is no context {}", quoted(name))));
        };
        let context = &context.value;
        let missing = |what: &str, wanted: &str| {
            Error::config(format!(
                "the context {name:?} names the {what} {}, which the kubeconfig does not have",
                quoted(wanted)
            ))
        };
        let cluster = find(&self.clusters, &context.cluster)
            .ok_or_else(|| missing("cluster", &context.cluster))?;
        let user = match context.user.as_str() {
            "" => User::default(),
            user => {
                let user = find(&self.users, user).ok_or_else(|| missing("user", user))?;
                user.user(cluster)?
            }
        };
        let namespace = context.namespace.clone().filter(|name| !name.is_empty());
        cluster.access(
            name,
            user,
            namespace.unwrap_or_else(|| "default".to_owned()),
        )
    }

    fn no_context(&self, what: &str) -> Error {
        const SHOWN_MAX: usize = 20;
        let names: Vec<&str> = self.contexts().take(SHOWN_MAX).collect();
        let has = match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", names.join(", ")),
        };
        Error::user(format!("{what} in the kubeconfig: {has}"))
    }
}

fn put<T>(entries: &mut Vec<NamedEntry<T>>, entry: NamedEntry<T>) {
    if find(entries, &entry.name).is_none() {
        entries.push(entry);
    }
}

fn find<'a, T>(entries: &'a [NamedEntry<T>], name: &str) -> Option<&'a NamedEntry<T>> {
    entries.iter().find(|entry| entry.name == name)
}

impl NamedEntry<()> {
    fn with<T>(self, value: T) -> NamedEntry<T> {
        NamedEntry {
            name: self.name,
            value,
            folder: self.folder,
        }
    }
}

impl<T> NamedEntry<T> {
    /// Bytes that are given in base64 under one name, or in a file under another.
    fn bytes(
        &self,
        what: &str,
        data: Option<&String>,
        path: Option<&String>,
    ) -> Result<Option<Vec<u8>>> {
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            let compact: String = data.split_whitespace().collect();
            let bytes = STANDARD.decode(compact);
            return bytes.map(Some).map_err(|_| {
                Error::config(format!("{what}-data of {:?} is not base64", self.name))
            });
        }
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let path = self.folder.join(path);
        let bytes = fs::read(&path);
        bytes.map(Some).map_err(|error| {
            Error::config(format!(
                "{what} of {:?}: {}: {error}",
                self.name,
                path.display()
            ))
        })
    }
}

impl NamedEntry<RawCluster> {
    fn access(&self, context: &str, user: User, namespace: String) -> Result<Access> {
        let raw = &self.value;
        let proxy = raw.proxy_url.clone().filter(|url| !url.is_empty());
        if let Some(proxy) = proxy.as_ref().filter(|proxy| !proxy.starts_with("http")) {
            let scheme = proxy.split(':').next().unwrap_or_default();
            return Err(Error::config(format!(
                "proxy-url of the cluster {:?} has the scheme {}; only http and https proxies are supported",
                self.name,
                quoted(scheme)
            )));
        }
        let authority = self.bytes(
            "certificate-authority",
            raw.certificate_authority_data.as_ref(),
            raw.certificate_authority.as_ref(),
        )?;
        let trusts_all = raw.insecure_skip_tls_verify == Some(true);
        if trusts_all && authority.is_some() {
            return Err(Error::config(format!(
                "the cluster {:?} has both a certificate authority and insecure-skip-tls-verify; remove one",
                self.name
            )));
        }
        Ok(Access {
            name: context.to_owned(),
            server: raw.server.trim_end_matches('/').to_owned(),
            tls_server_name: raw.tls_server_name.clone().filter(|name| !name.is_empty()),
            authority,
            trusts_all,
            proxy,
            user,
            namespace,
        })
    }

    /// The cluster information that a credential program gets.
    fn told(&self) -> Result<serde_json::Value> {
        let raw = &self.value;
        let authority = self.bytes(
            "certificate-authority",
            raw.certificate_authority_data.as_ref(),
            raw.certificate_authority.as_ref(),
        )?;
        let mut told = json!({ "server": raw.server, "config": null });
        if let Some(authority) = authority {
            told["certificate-authority-data"] = STANDARD.encode(authority).into();
        }
        if let Some(name) = &raw.tls_server_name {
            told["tls-server-name"] = name.as_str().into();
        }
        if raw.insecure_skip_tls_verify == Some(true) {
            told["insecure-skip-tls-verify"] = true.into();
        }
        Ok(told)
    }
}

impl NamedEntry<RawUser> {
    fn user(&self, cluster: &NamedEntry<RawCluster>) -> Result<User> {
        let raw = &self.value;
        if raw.auth_provider.is_some() {
            return Err(Error::config(format!(
                "the user {:?} has an auth-provider, which Kubernetes removed; use an exec credential program",
                self.name
            )));
        }
        let certificate = self.bytes(
            "client-certificate",
            raw.client_certificate_data.as_ref(),
            raw.client_certificate.as_ref(),
        )?;
        let key = raw
            .client_key_data
            .as_ref()
            .map(|key| key.reveal().to_owned());
        let key = self.bytes("client-key", key.as_ref(), raw.client_key.as_ref())?;
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => {
                Some((certificate, Secret::new(String::from_utf8_lossy(&key))))
            }
            (None, None) => None,
            _ => {
                return Err(Error::config(format!(
                    "the user {:?} has a client-certificate or a client-key, but not both",
                    self.name
                )));
            }
        };
        Ok(User {
            means: self.means(cluster)?,
            certificate,
            act_as: self.act_as()?,
        })
    }

    fn act_as(&self) -> Result<Option<ActAs>> {
        let raw = &self.value;
        let other = ActAs {
            name: raw.act_as.clone().unwrap_or_default(),
            uid: raw.act_as_uid.clone().filter(|uid| !uid.is_empty()),
            groups: raw.act_as_groups.clone().unwrap_or_default(),
            extra: raw.act_as_extra.clone().unwrap_or_default(),
        };
        if !other.name.is_empty() {
            return Ok(Some(other));
        }
        match other == ActAs::default() {
            true => Ok(None),
            false => Err(Error::config(format!(
                "the user {:?} has as-uid, as-groups or as-user-extra, but not as; say whom they belong to",
                self.name
            ))),
        }
    }

    fn means(&self, cluster: &NamedEntry<RawCluster>) -> Result<Means> {
        let raw = &self.value;
        if let Some(exec) = &raw.exec {
            return Ok(Means::Exec(self.program(exec, cluster)?));
        }
        // A token file takes precedence over a token, as in kubectl.
        if let Some(path) = raw.token_file.as_ref().filter(|path| !path.is_empty()) {
            return Ok(Means::TokenFile(self.folder.join(path)));
        }
        let is_given = |secret: &&Secret| !secret.reveal().is_empty();
        if let Some(token) = raw.token.as_ref().filter(is_given) {
            return Ok(Means::Token(token.clone()));
        }
        match (&raw.username, &raw.password) {
            (Some(name), Some(password)) => Ok(Means::Basic(name.clone(), password.clone())),
            _ => Ok(Means::None),
        }
    }

    fn program(&self, exec: &RawExec, cluster: &NamedEntry<RawCluster>) -> Result<ExecProgram> {
        if exec.interactive_mode.as_deref() == Some("Always") {
            return Err(Error::config(format!(
                "the credential program of the user {:?} must ask at a terminal (interactiveMode: Always), and there is none; log in with kubectl and use a token",
                self.name
            )));
        }
        // A path starts from the file's folder; a bare name is looked up in the search path.
        let command = match exec.command.contains('/') {
            true => self.folder.join(&exec.command),
            false => PathBuf::from(&exec.command),
        };
        let mut program = ExecProgram::new(command, &exec.api_version)?;
        program.arguments = exec.args.clone().unwrap_or_default();
        let variables = exec.env.clone().unwrap_or_default();
        program.environment = variables
            .into_iter()
            .map(|one| (one.name, one.value))
            .collect();
        program.install_hint = exec.install_hint.clone();
        if exec.provide_cluster_info == Some(true) {
            program.cluster = Some(cluster.told()?);
        }
        Ok(program)
    }
}
