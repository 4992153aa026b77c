//! A suite file as groups, axes and rows, whose settings are still trees.
//!
//! Must not know how rows are made from axes. Invariant: every tree in it was checked against its table.

use super::tables::{GROUP, ORDERS, SETTINGS, SUITE, TARGET, TARGET_KUBERNETES};
use super::{At, Entry, Node, Value};
use super::{Fields, FileError, Problem, check};
use crate::document::{self, DocumentSpec};

/// Maximum bytes of a suite file.
const BYTES_MAX: usize = 4 << 20;

/// A suite file.
#[derive(Clone, Debug)]
pub struct SuiteFile {
    /// The file as it was named.
    pub path: String,
    /// The suite's name.
    pub name: String,
    /// What is tested; `None` when every row names its own.
    pub target: Option<Target>,
    /// The groups in order; the rows that belong to none come first, as a group without a name.
    pub groups: Vec<GroupSpec>,
    /// The suite's own hooks.
    pub hooks: HookNodes,
    /// Order of the runs within a group.
    pub order: Order,
    /// Seed of the order.
    pub seed: u64,
    /// What is done after a failed run.
    pub policy: Policy,
    /// Facts about the setup for documents.
    pub facts: Vec<(String, String)>,
    /// The documents that are made of the results.
    pub documents: Vec<DocumentSpec>,
}

/// What is tested.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// This URL.
    Url(String),
    /// What a command prints: text for the shell, or words.
    Command(Vec<String>),
    /// An object of a cluster.
    Kubernetes(KubernetesTarget),
}

/// The cluster object that leads to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubernetesTarget {
    /// The context of the kubeconfig.
    pub context: String,
    /// The namespace.
    pub namespace: String,
    /// `service`, `ingress` or `kservice`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The port; `None`: the first.
    pub port: Option<u16>,
    /// Whether a local port is forwarded to a pod.
    pub port_forward: bool,
    /// `http` or `https`.
    pub scheme: String,
    /// What follows the port.
    pub path: String,
}

/// Order of the runs within a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row by row, each with its repetitions.
    Given,
    /// All runs shuffled.
    Shuffled,
    /// One repetition of all rows after the other, each shuffled.
    Interleaved,
}

/// What to do after a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing more is run.
    Stop,
    /// The next run is made.
    Continue,
    /// It is repeated, at most this often; then the next one.
    Retry(u32),
}

/// Rows with their common settings.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    /// Its name; `None` for the rows that belong to no group.
    pub name: Option<String>,
    /// Settings of its rows, the file's defaults first.
    pub defaults: Vec<Node>,
    /// The axes in order.
    pub axes: Vec<Axis>,
    /// Further combinations.
    pub include: Vec<Node>,
    /// Combinations left out.
    pub exclude: Vec<Node>,
    /// Rows that are no combination.
    pub rows: Vec<RowSpec>,
    /// Its hooks.
    pub hooks: HookNodes,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The position of its name.
    pub at: At,
    /// Its name.
    pub name: String,
    /// Its values in order.
    pub values: Vec<AxisValue>,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub struct AxisValue {
    /// Its position.
    pub at: At,
    /// Its name.
    pub label: String,
    /// What it sets.
    pub settings: Node,
}

/// A single row that is not a combination.
#[derive(Clone, Debug)]
pub struct RowSpec {
    /// Its name; `None`: made of its labels.
    pub name: Option<String>,
    /// What it sets.
    pub settings: Node,
    /// Its hooks.
    pub hooks: HookNodes,
}

/// Hooks before substitution.
#[derive(Clone, Debug, Default)]
pub struct HookNodes {
    /// First.
    pub prepare: Vec<Node>,
    /// Right before the load.
    pub before: Vec<Node>,
    /// Between two runs.
    pub between: Vec<Node>,
    /// Right after the load.
    pub after: Vec<Node>,
    /// Last, whatever happened.
    pub cleanup: Vec<Node>,
}

impl SuiteFile {
    /// Parses a suite file.
    ///
    /// # Errors
    /// The first error, with its position and a fix.
    pub fn parse(path: &str, source: &str) -> Result<SuiteFile, FileError> {
        read(path, source).map_err(|problem| problem.of(path))
    }
}

fn read(path: &str, source: &str) -> Result<SuiteFile, Problem> {
    if source.len() > BYTES_MAX {
        let what = format!("the file has {} bytes", source.len());
        let fix = format!("keep it below {BYTES_MAX}, and put data into other files");
        return Err(Problem::new(At { line: 1, column: 1 }, what, fix));
    }
    let root = Node::parse(source).map_err(|error| Problem::of_yaml(error, "fix the YAML here"))?;
    if root.value == Value::Null {
        let start = At { line: 1, column: 1 };
        return Err(Problem::new(
            start,
            "the file is empty",
            "write `name: …` and rows",
        ));
    }
    let fields = Fields::of(&root, &SUITE)?;
    let suite = SuiteFile {
        path: path.to_owned(),
        name: fields.text("name").unwrap_or_default(),
        target: target(fields)?,
        groups: groups(fields)?,
        hooks: hooks(&root),
        order: order(fields),
        seed: fields.count("seed")?.unwrap_or(1),
        policy: policy(fields)?,
        facts: fields.text_map("facts").into_iter().collect(),
        documents: documents(fields)?,
    };
    if suite.groups.iter().all(GroupSpec::is_empty) {
        let fix = "write `rows:` with a row each, or `axes:` with values";
        return Err(Problem::new(root.at, "the suite has no rows", fix));
    }
    Ok(suite)
}

impl GroupSpec {
    fn is_empty(&self) -> bool {
        self.axes.is_empty() && self.rows.is_empty() && self.include.is_empty()
    }
}

fn target(fields: Fields) -> Result<Option<Target>, Problem> {
    let Some(node) = fields.get("target") else {
        return Ok(None);
    };
    if let Some(url) = node.scalar() {
        return Ok(Some(Target::Url(url)));
    }
    let fields = Fields::of(node, &TARGET)?;
    if let Some(url) = fields.text("url") {
        return Ok(Some(Target::Url(url)));
    }
    let command = fields.get("command");
    if let Some(command) = command {
        return Ok(Some(Target::Command(words(command))));
    }
    let cluster = fields.object("kubernetes", &TARGET_KUBERNETES)?;
    cluster.map(kubernetes_target).transpose()
}

/// A command's words; text for the shell is handed to it.
pub(crate) fn words(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().filter_map(Node::scalar).collect(),
        _ => {
            let text = node.scalar().unwrap_or_default();
            vec!["sh".to_owned(), "-c".to_owned(), text]
        }
    }
}

fn kubernetes_target(fields: Fields) -> Result<Target, Problem> {
    let named = |kind: &str| fields.text(kind).map(|name| (kind.to_owned(), name));
    let (kind, name) = named("service")
        .or_else(|| named("ingress"))
        .or_else(|| named("kservice"))
        .unwrap_or_default();
    let port = fields.count("port")?;
    let port = port.map(|port| {
        let fix = "write a port from 1 to 65535";
        u16::try_from(port).map_err(|_| Problem::new(fields.at(), format!("port {port}"), fix))
    });
    Ok(Target::Kubernetes(KubernetesTarget {
        context: fields.text("context").unwrap_or_default(),
        namespace: fields
            .text("namespace")
            .unwrap_or_else(|| "default".to_owned()),
        kind,
        name,
        port: port.transpose()?,
        port_forward: fields.flag("port_forward")?.unwrap_or_default(),
        scheme: fields.text("scheme").unwrap_or_else(|| "http".to_owned()),
        path: fields.text("path").unwrap_or_default(),
    }))
}

fn order(fields: Fields) -> Order {
    let word = fields.text("order").unwrap_or_default();
    match ORDERS.iter().position(|known| *known == word) {
        Some(1) => Order::Shuffled,
        Some(2) => Order::Interleaved,
        _ => Order::Given,
    }
}

fn policy(fields: Fields) -> Result<Policy, Problem> {
    let Some(node) = fields.get("policy") else {
        return Ok(Policy::Continue);
    };
    let text = node.scalar().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["stop"] => Ok(Policy::Stop),
        ["continue"] => Ok(Policy::Continue),
        ["retry", times] if times.parse::<u32>().is_ok_and(|times| times <= 100) => {
            Ok(Policy::Retry(times.parse().unwrap_or_default()))
        }
        _ => {
            let what = format!("`policy` got {text:?}");
            Err(Problem::new(
                node.at,
                what,
                "write stop, continue or retry 2",
            ))
        }
    }
}

fn documents(fields: Fields) -> Result<Vec<DocumentSpec>, Problem> {
    let Some(node) = fields.get("documents") else {
        return Ok(Vec::new());
    };
    let fix = "docs/document.md has the keys of documents";
    let documents: Vec<DocumentSpec> = node.read().map_err(|error| Problem::of_yaml(error, fix))?;
    for spec in &documents {
        document::check(spec).map_err(|error| {
            let at = At {
                line: error.line,
                column: error.column,
            };
            let at = if at.line == 0 { node.at } else { at };
            Problem::new(at, error.what, error.fix)
        })?;
    }
    Ok(documents)
}

/// The rows outside of groups first, then the groups.
fn groups(fields: Fields) -> Result<Vec<GroupSpec>, Problem> {
    let defaults: Vec<Node> = fields.get("defaults").into_iter().cloned().collect();
    let mut groups = vec![group(fields, None, &[])?];
    for node in fields.list("groups") {
        let within = Fields::of(node, &GROUP)?;
        let name = within.text("name").unwrap_or_default();
        if groups
            .iter()
            .any(|group| group.name.as_ref() == Some(&name))
        {
            let what = format!("there are two groups {name:?}");
            return Err(Problem::new(node.at, what, "give each its own name"));
        }
        let mut group = group(within, Some(name), &defaults)?;
        group.hooks = hooks(node);
        groups.push(group);
    }
    Ok(groups)
}

fn group(fields: Fields, name: Option<String>, outer: &[Node]) -> Result<GroupSpec, Problem> {
    let own = fields.get("defaults").cloned();
    let axes = fields.get("axes").map_or(&[][..], Node::entries);
    let rows = fields.list("rows").iter().map(row);
    Ok(GroupSpec {
        name,
        defaults: outer.iter().cloned().chain(own).collect(),
        axes: axes.iter().map(axis).collect::<Result<_, _>>()?,
        include: fields.list("include").to_vec(),
        exclude: fields.list("exclude").to_vec(),
        rows: rows.collect(),
        hooks: HookNodes::default(),
    })
}

fn axis(entry: &Entry) -> Result<Axis, Problem> {
    let items = entry.node.items();
    if items.is_empty() {
        let what = format!("the axis `{}` has no values", entry.key);
        return Err(Problem::new(entry.at, what, "give it values, or remove it"));
    }
    let values = items
        .iter()
        .enumerate()
        .map(|(place, item)| axis_value(entry, place, item));
    let axis = Axis {
        at: entry.at,
        name: entry.key.clone(),
        values: values.collect::<Result<_, _>>()?,
    };
    for (place, value) in axis.values.iter().enumerate() {
        if axis.values[..place]
            .iter()
            .any(|other| other.label == value.label)
        {
            let what = format!("the axis `{}` has {:?} twice", axis.name, value.label);
            return Err(Problem::new(
                value.at,
                what,
                "give each value its own label",
            ));
        }
    }
    Ok(axis)
}

/// A scalar on an axis that is called like a setting sets it.
fn axis_value(axis: &Entry, place: usize, item: &Node) -> Result<AxisValue, Problem> {
    if let Some(text) = item.scalar() {
        let setting = SETTINGS.iter().find(|key| key.name == axis.key);
        let mut entries = Vec::new();
        if let Some(setting) = setting {
            check::check(item, &setting.kind)?;
            entries.push(Entry {
                at: item.at,
                key: axis.key.clone(),
                node: item.clone(),
            });
        }
        return Ok(AxisValue {
            at: item.at,
            label: text,
            settings: Node {
                at: item.at,
                value: Value::Map(entries),
            },
        });
    }
    let label = item.get("label").and_then(Node::scalar);
    Ok(AxisValue {
        at: item.at,
        label: label.unwrap_or_else(|| (place + 1).to_string()),
        settings: item.clone(),
    })
}

fn row(node: &Node) -> RowSpec {
    RowSpec {
        name: node.get("name").and_then(Node::scalar),
        settings: node.clone(),
        hooks: hooks(node),
    }
}

/// The hooks of a map.
pub(crate) fn hooks(node: &Node) -> HookNodes {
    let of = |name: &str| node.get(name).map_or(&[][..], Node::items).to_vec();
    HookNodes {
        prepare: of("prepare"),
        before: of("before"),
        between: of("between"),
        after: of("after"),
        cleanup: of("cleanup"),
    }
}
