//! A test that can be run, whichever kind of resource requested it.
//!
//! Must not know kinds' fields, nor the objects made from it. Invariant: program, files and agents of a test
//! are stored once; the user's pod settings are kept as written.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::git::GitFile;
use crate::results::Wanted;
use loadline_model::test_kind::TestKind;

/// Maximum agents of a test: their identities are in one Secret, which holds one mebibyte.
pub const PARALLELISM_MAX: u32 = 500;

/// What a coordinator asks for, unless the user says otherwise: it makes no load.
pub(crate) const COORDINATOR_REQUESTS: [(&str, &str); 2] = [("cpu", "100m"), ("memory", "128Mi")];

/// Where a pod finds what was checked out of a git repository.
pub(crate) const CHECKOUT: &str = "/loadline/git/tree/checkout";

/// Fields of a pod that the operator sets.
pub(crate) const DECIDED: &[&str] = &[
    "ephemeralContainers",
    "hostname",
    "restartPolicy",
    "subdomain",
];

/// An image with a script in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptImage {
    /// Its name.
    pub image: String,
    /// When it is pulled; `None`: as the cluster decides.
    pub pull_policy: Option<String>,
}

/// The source of a file that a pod reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A key of a ConfigMap.
    ConfigMap {
        /// Name of the ConfigMap.
        name: String,
        /// The file's path below the folder that it is mounted at: a key, or a path of `items`.
        file: String,
        /// Keys with the paths of their files, as for a volume; empty: each key is a file with its name.
        items: Vec<Value>,
    },
    /// A file on a volume.
    Volume {
        /// Name of the claim.
        claim: String,
        /// Path on the volume; an absolute one is also where the volume is mounted: its folder.
        file: String,
        /// Whether it is mounted for reading only.
        read_only: bool,
    },
    /// A file in an image.
    Local {
        /// Absolute path.
        path: String,
        /// The image that its folder is copied from; `None`: it is in the image that runs, or on a volume of the user's.
        image: Option<ScriptImage>,
    },
    /// A file or an archive of the web, with its digest.
    Address(String),
    /// A file of a git repository.
    Git(GitFile),
    /// A text, stored in a ConfigMap of the test.
    Inline {
        /// The file's name.
        file: &'static str,
        /// Its content.
        text: String,
    },
}

impl Source {
    /// The path of the file in a pod.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Source::Volume { file, .. } if file.starts_with('/') => file.clone(),
            Source::ConfigMap { file, .. } | Source::Volume { file, .. } => format!("/test/{file}"),
            Source::Local { path, .. } | Source::Address(path) => path.clone(),
            Source::Git(git) => format!("{CHECKOUT}/{}", git.file),
            Source::Inline { file, .. } => format!("/test/{file}"),
        }
    }
}

/// The work of a test's pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A k6 script.
    Script(Source),
    /// A line of `loadline bench`, which is in the arguments.
    Bench,
    /// A JMeter plan.
    Plan(Source),
    /// A suite file.
    Suite {
        /// Where it is.
        file: Source,
        /// The claim that keeps its state and documents; `None`: they go with the pod.
        claim: Option<String>,
    },
}

impl Work {
    /// The file to run; `None`: there is none.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        match self {
            Work::Script(source) | Work::Plan(source) | Work::Suite { file: source, .. } => {
                Some(source)
            }
            Work::Bench => None,
        }
    }

    /// Whether a single pod does everything: rows of a suite are its processes.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        match self {
            Work::Script(_) | Work::Bench | Work::Plan(_) => false,
            Work::Suite { .. } => true,
        }
    }
}

/// When a test is deleted after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// It stays.
    Never,
    /// Whatever the result.
    Always,
    /// When the test passed.
    OnSuccess,
}

/// The user's settings for a pod. All of them are passed on and take precedence over ours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodTemplate {
    /// Its labels.
    pub labels: Map<String, Value>,
    /// Its annotations.
    pub annotations: Map<String, Value>,
    /// Its fields, but for containers.
    pub spec: Map<String, Value>,
    /// Fields of the container in which loadline runs.
    pub container: Map<String, Value>,
    /// Additional containers.
    pub beside: Vec<Value>,
}

/// A test that can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The kind of resource that requested it.
    pub kind: TestKind,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Distinguishes it from an earlier one with the same name.
    pub uid: String,
    /// The generation of its fields; `None`: generations are not counted.
    pub generation: Option<i64>,
    /// The work.
    pub work: Work,
    /// The number of agents; 1 if a single pod does everything.
    pub parallelism: u32,
    /// Arguments of the run.
    pub arguments: Vec<String>,
    /// Whether there is no progress in the log.
    pub quiet: bool,
    /// When it is deleted.
    pub cleanup: Cleanup,
    /// How long after its end it is deleted; `None`: it is not.
    pub ttl: Option<Duration>,
    /// The requested place for its whole result.
    pub results: Wanted,
    /// Fields that are accepted and have no effect, each with the reason.
    pub ignored: Vec<String>,
    /// An agent's pod.
    pub agent: PodTemplate,
    /// The coordinator's pod, or the only one.
    pub coordinator: PodTemplate,
}

impl Test {
    /// The number of agent pods.
    #[must_use]
    pub fn agents(&self) -> u32 {
        match self.work.is_alone() {
            true => 0,
            false => self.parallelism,
        }
    }
}

/// Why a test cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One word for machines.
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for Refusal {}

/// A field that cannot be read.
pub(crate) fn invalid(message: String) -> Refusal {
    Refusal {
        reason: "InvalidSpec",
        message,
    }
}

/// A refusal of something that does not exist.
pub(crate) fn unsupported(message: String) -> Refusal {
    Refusal {
        reason: "Unsupported",
        message,
    }
}

/// The folder of a path; empty for the root.
#[must_use]
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
