//! The settings of each kind of observer.
//!
//! Must not know how they are used. Invariant: each setting is declared here once, for files and command lines alike.

use loadline_model::words;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::values::one_or_many;

/// Maximum series of one observer: more of them mean an unsuitable `by`.
pub(crate) const COMPONENTS_MAX: usize = 500;

/// The settings of one kind.
pub(super) trait Settings: DeserializeOwned + Serialize {
    /// The keys that the main value on a command line stands for; `None`: the text is not a valid main value
    /// for the kind.
    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>>;

    /// The form of the main value, for messages.
    const MAIN_FORM: &'static str;

    /// Checks settings that depend on each other.
    fn check(&self) -> Result<(), String>;
}

pub(super) fn check_metric_name(name: &str) -> Result<(), String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match !name.is_empty() && name.chars().all(is_name) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} is not a metric name; use letters, digits and _, with the unit at the end"
        )),
    }
}

fn is_yes(truth: &bool) -> bool {
    *truth
}

fn yes() -> bool {
    true
}

pub(super) fn value_name() -> String {
    "value".to_owned()
}

/// Settings of `self`: it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfSettings {}

impl Settings for SelfSettings {
    const MAIN_FORM: &'static str = "self";

    fn main_value(_: &str) -> Option<Vec<(&'static str, String)>> {
        None
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Settings of `process`: exactly one of `pid`, `name` and `port`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSettings {
    /// The process's id; `None`: selected in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name of the program, or its first argument; `None`: selected in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The TCP port on which it listens; `None`: selected in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether its children count as part of it; default true. Otherwise each process found is a separate
    /// component.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub children: bool,
    /// Whether each worker with its descendants is a separate component, and the supervisor that started the
    /// workers is left out; default false. For pre-forking servers: gunicorn, nginx, php-fpm.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workers: bool,
    /// Whether to read the proportional set size, too, for which the kernel walks over all pages; default
    /// false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pss: bool,
}

impl Settings for ProcessSettings {
    const MAIN_FORM: &'static str = "process:pid:123, process:name:nginx or process:port:8080";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        let (how, value) = text.split_once(':')?;
        let key = ["pid", "name", "port"]
            .into_iter()
            .find(|key| *key == how)?;
        Some(vec![(key, value.trim().to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        let ways = [self.pid.is_some(), self.name.is_some(), self.port.is_some()];
        if ways.iter().filter(|given| **given).count() != 1 {
            return Err("process needs exactly one of pid, name and port".to_owned());
        }
        if self.workers && !self.children {
            return Err(
                "workers=true counts the child processes of each worker; remove children=false"
                    .to_owned(),
            );
        }
        match self.name.as_deref() == Some("") || self.pid == Some(0) || self.port == Some(0) {
            true => Err("the pid, name or port of process is empty; give a real one".to_owned()),
            false => Ok(()),
        }
    }
}

/// Settings of `cgroup`: exactly one of `path` and `pid`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CgroupSettings {
    /// The group's folder, or its path below the mount; `None`: that of `pid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A process whose group it is; `None`: the group of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

impl Settings for CgroupSettings {
    const MAIN_FORM: &'static str = "cgroup:PATH or cgroup:pid:123";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![match text.strip_prefix("pid:") {
            Some(pid) => ("pid", pid.trim().to_owned()),
            None => ("path", text.to_owned()),
        }])
    }

    fn check(&self) -> Result<(), String> {
        match (&self.path, self.pid) {
            (Some(path), None) if !path.is_empty() => Ok(()),
            (None, Some(_)) => Ok(()),
            _ => Err("cgroup needs exactly one of path and pid".to_owned()),
        }
    }
}

/// Settings of `host`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// Network interfaces to read; default empty: all.
    #[serde(
        default,
        alias = "interface",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub interfaces: Vec<String>,
}

impl Settings for HostSettings {
    const MAIN_FORM: &'static str = "host";

    fn main_value(_: &str) -> Option<Vec<(&'static str, String)>> {
        None
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Settings of `pod`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodSettings {
    /// Which pods, as a selector of labels.
    pub selector: String,
    /// Their namespace; `None`: that of the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The context of the configuration file; `None`: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether to read each container separately, too, if a pod has more than one; default true.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub containers: bool,
}

impl Settings for PodSettings {
    const MAIN_FORM: &'static str = "pod:LABEL=VALUE[,LABEL=VALUE]";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("selector", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        match self.selector.trim().is_empty() {
            true => Err("pod needs a selector such as app=api".to_owned()),
            false => Ok(()),
        }
    }
}

/// Settings of `node`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// Which nodes, as a selector of labels; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The context of the configuration file; `None`: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl Settings for NodeSettings {
    const MAIN_FORM: &'static str = "node[:LABEL=VALUE]";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("selector", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Settings of `replicas`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicasSettings {
    /// The workload as `KIND/NAME`, such as `deployment/api`.
    pub workload: String,
    /// Its namespace; `None`: that of the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The context of the configuration file; `None`: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl Settings for ReplicasSettings {
    const MAIN_FORM: &'static str = "replicas:deployment/NAME";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("workload", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        match self.workload.split_once('/') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(()),
            _ => Err(format!(
                "workload is {:?}; write it as deployment/NAME",
                self.workload
            )),
        }
    }
}

pub(super) fn check_pattern(pattern: &str) -> Result<(), String> {
    crate::parse::pattern(pattern).map(|_| ())
}

/// Settings of `log`: exactly one of `path` and `pod`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// The file, `-` for standard input; `None`: the logs of `pod`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Pods by a selector of labels; `None`: the file of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// The pods' namespace; `None`: that of the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The container of each pod; `None`: its first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The context of the configuration file; `None`: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// A regular expression for the lines that count; its first group, if any, is a number to add up.
    #[serde(rename = "match")]
    pub pattern: String,
    /// Whether lines that are in the file before the observer starts count; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_start: bool,
}

impl Settings for LogSettings {
    const MAIN_FORM: &'static str =
        "log:PATH;match=REGEX, log:-;match=REGEX or log:pod:LABEL=VALUE;match=REGEX";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![match text.strip_prefix("pod:") {
            Some(selector) => ("pod", selector.to_owned()),
            None => ("path", text.to_owned()),
        }])
    }

    fn check(&self) -> Result<(), String> {
        if self.path.is_some() == self.pod.is_some() {
            return Err("log needs exactly one of path and pod".to_owned());
        }
        check_pattern(&self.pattern)
    }
}

/// Settings of `command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSettings {
    /// The program and its arguments: a list, or one text that is split at spaces (except in quotes).
    #[serde(deserialize_with = "one_or_many")]
    pub run: Vec<String>,
    /// Whether to run it with `/bin/sh -c`; default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// The metric's name in results, with its unit as suffix; default `value`.
    #[serde(default = "value_name", rename = "as")]
    pub metric: String,
}

impl CommandSettings {
    /// The program and its arguments.
    ///
    /// # Errors
    /// A quote is not closed, or there is no program.
    pub(crate) fn words(&self) -> Result<Vec<String>, String> {
        let words = match (self.shell, self.run.as_slice()) {
            (true, parts) => vec!["/bin/sh".to_owned(), "-c".to_owned(), parts.join(" ")],
            (false, [text]) => {
                words::split(text).map_err(|why| format!("a quote {why} in {text:?}; close it"))?
            }
            (false, words) => words.to_vec(),
        };
        match words.first().is_some_and(|program| !program.is_empty()) {
            true => Ok(words),
            false => Err("command needs a program to run".to_owned()),
        }
    }
}

impl Settings for CommandSettings {
    const MAIN_FORM: &'static str = "command:PROGRAM [ARGUMENT]...";

    fn main_value(text: &str) -> Option<Vec<(&'static str, String)>> {
        Some(vec![("run", text.to_owned())])
    }

    fn check(&self) -> Result<(), String> {
        check_metric_name(&self.metric)?;
        if self.run.iter().all(String::is_empty) {
            return Err("command needs a program to run".to_owned());
        }
        self.words().map(|_| ())
    }
}
