//! A hook as types, read from its substituted tree.
//!
//! Must not know how anything is done. Invariant: a hook performs at most one action, and then waits.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_kubernetes::ResourceChange;
use loadline_model::duration;
use loadline_model::words::join;

use crate::file::{
    At, EXEC, Fields, HOOK, HTTP, KUBERNETES, Node, Problem, TESTBED, Value, WAIT, WAIT_CPU,
    WAIT_HTTP, WAIT_LOG, WAIT_PROMETHEUS, WAIT_REPLICAS, words,
};

/// Time that one try of a hook may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time to wait for a condition.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);
/// Time for which a processor must be quiet.
const CPU_IDLE: Duration = Duration::from_secs(5);

/// A hook.
#[derive(Clone, Debug, PartialEq)]
pub struct HookSpec {
    /// Its position.
    pub at: At,
    /// What it is called.
    pub name: String,
    /// What it does; `None`: it only waits.
    pub action: Option<Action>,
    /// Time that one try may take.
    pub timeout: Duration,
    /// Tries after the first one fails.
    pub retries: u32,
    /// What is waited for afterwards, in order.
    pub wait: Vec<Wait>,
}

/// The action of a hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs a command.
    Exec(ExecCall),
    /// Sends a request.
    Http(HttpCall),
    /// Changes a cluster.
    Kubernetes(Cluster, ClusterOrder),
    /// Changes a testbed.
    Testbed(TestbedAction),
    /// Waits.
    Sleep(Duration),
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecCall {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Further environment variables.
    pub env: BTreeMap<String, String>,
    /// Its folder; `None`: the suite file's.
    pub cwd: Option<String>,
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpCall {
    /// Method.
    pub method: String,
    /// URL.
    pub url: String,
    /// Header lines.
    pub headers: BTreeMap<String, String>,
    /// Body; empty: none.
    pub body: String,
    /// The required status; `None`: 200 to 299.
    pub expect: Option<u16>,
}

impl HttpCall {
    /// A request without a body.
    #[must_use]
    pub fn get(url: &str, expect: Option<u16>) -> HttpCall {
        HttpCall {
            method: "GET".to_owned(),
            url: url.to_owned(),
            expect,
            ..HttpCall::default()
        }
    }

    /// Whether a status is the expected one.
    #[must_use]
    pub fn accepts(&self, status: u16) -> bool {
        match self.expect {
            Some(expected) => status == expected,
            None => (200..300).contains(&status),
        }
    }
}

/// A location in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The context of the kubeconfig.
    pub context: String,
    /// The namespace.
    pub namespace: String,
}

/// A change of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterOrder {
    /// Restarts a workload, as `deployment/NAME`.
    Restart(String),
    /// Scales a workload.
    Scale(String, u32),
    /// Changes requests and limits of a workload's container.
    Resources(String, ResourceChange),
    /// Applies a file of manifests.
    Apply(String),
    /// Deletes an object, as `KIND/NAME`, or what a file of manifests names.
    Delete(String),
}

/// A change of a testbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestbedAction {
    /// URL of its control port.
    pub control: String,
    /// The component.
    pub component: String,
    /// What is changed.
    pub order: TestbedOrder,
}

/// A change of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestbedOrder {
    /// Replicas.
    Scale(u32),
    /// All of its processes are restarted.
    Restart,
    /// It behaves as if idle for a while.
    Cold,
    /// It is made worse, by settings of the control port.
    Degrade(BTreeMap<String, String>),
}

/// A condition with its time limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// What must become true.
    pub condition: Condition,
    /// Maximum time.
    pub timeout: Duration,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The rollout of a workload is complete.
    Rollout(Cluster, String),
    /// A workload has this many ready replicas, and no others.
    Replicas(Cluster, String, u32),
    /// An address takes connections.
    Port(String),
    /// A URL responds.
    Http(HttpCall),
    /// A line appears in a file.
    Log {
        /// The file.
        file: String,
        /// A regular expression.
        pattern: String,
    },
    /// A PromQL query satisfies a comparison.
    Prometheus {
        /// URL of the server.
        url: String,
        /// The query.
        query: String,
        /// The comparison.
        comparison: Comparison,
    },
    /// A processor use stays low.
    CpuIdle {
        /// Of what.
        of: CpuOf,
        /// Cores, exclusive.
        below: f64,
        /// For how long.
        span: Duration,
    },
}

/// Whose CPU use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuOf {
    /// The whole machine's.
    Host,
    /// A process's.
    Pid(u32),
    /// All processes' of a name.
    Name(String),
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// `<`, `<=`, `>`, `>=`, `==` or `!=`.
    pub sign: &'static str,
    /// The number.
    pub with: f64,
}

impl Comparison {
    /// Parses `< 0.5` and similar texts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Comparison> {
        const SIGNS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];
        let text = text.trim();
        let sign = *SIGNS.iter().find(|sign| text.starts_with(**sign))?;
        let with = text[sign.len()..].trim().parse().ok()?;
        Some(Comparison { sign, with })
    }

    /// Whether a value satisfies it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        match self.sign {
            "<" => value < self.with,
            "<=" => value <= self.with,
            ">" => value > self.with,
            ">=" => value >= self.with,
            "==" => value == self.with,
            _ => value != self.with,
        }
    }
}

impl HookSpec {
    /// Parses a hook; `usual` is the default cluster.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(node: &Node, usual: Option<&Cluster>) -> Result<HookSpec, Problem> {
        let fields = Fields::of(node, &HOOK)?;
        let action = action(fields, usual)?;
        // What a hook changed is waited for where it was changed.
        let changed = match &action {
            Some(Action::Kubernetes(cluster, _)) => Some(cluster.clone()),
            _ => None,
        };
        let usual = changed.as_ref().or(usual);
        let waits = fields.list("wait").iter();
        let wait: Vec<Wait> = waits
            .map(|node| wait(node, usual))
            .collect::<Result<_, _>>()?;
        if action.is_none() && wait.is_empty() {
            let fix = "write one of exec, http, kubernetes, testbed, sleep, or `wait`";
            return Err(Problem::new(node.at, "a hook does nothing", fix));
        }
        let described = match &action {
            Some(action) => action.described(),
            None => "wait".to_owned(),
        };
        Ok(HookSpec {
            at: node.at,
            name: fields.text("name").unwrap_or(described),
            action,
            timeout: fields.duration("timeout")?.unwrap_or(TIMEOUT),
            retries: fields.count("retries")?.unwrap_or_default().min(1_000) as u32,
            wait,
        })
    }

    /// Its action as text, which differs between different hooks; position and name are not included.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("{:?} {:?}", self.action, self.wait)
    }
}

impl Action {
    fn described(&self) -> String {
        match self {
            Action::Exec(call) => match &call.words[..] {
                [shell, flag, text] if shell == "sh" && flag == "-c" => text.clone(),
                words => join(words),
            },
            Action::Http(call) => format!("{} {}", call.method, call.url),
            Action::Kubernetes(_, ClusterOrder::Restart(what)) => format!("restart {what}"),
            Action::Kubernetes(_, ClusterOrder::Scale(what, count)) => {
                format!("scale {what} to {count}")
            }
            Action::Kubernetes(_, ClusterOrder::Resources(what, _)) => {
                format!("resources of {what}")
            }
            Action::Kubernetes(_, ClusterOrder::Apply(what)) => format!("apply {what}"),
            Action::Kubernetes(_, ClusterOrder::Delete(what)) => format!("delete {what}"),
            Action::Testbed(TestbedAction {
                component, order, ..
            }) => match order {
                TestbedOrder::Scale(count) => format!("testbed: scale {component} to {count}"),
                TestbedOrder::Restart => format!("testbed: restart {component}"),
                TestbedOrder::Cold => format!("testbed: make {component} cold"),
                TestbedOrder::Degrade(_) => format!("testbed: degrade {component}"),
            },
            Action::Sleep(span) => format!("sleep {}", duration::text(*span)),
        }
    }
}

fn action(fields: Fields, usual: Option<&Cluster>) -> Result<Option<Action>, Problem> {
    const ACTIONS: [&str; 5] = ["exec", "http", "kubernetes", "testbed", "sleep"];
    let mut present = ACTIONS.iter().filter(|name| fields.get(name).is_some());
    let Some(first) = present.next() else {
        return Ok(None);
    };
    if let Some(second) = present.next() {
        let at = fields.get(second).map_or(fields.at(), |node| node.at);
        let what = format!("a hook does `{first}` and `{second}`");
        return Err(Problem::new(
            at,
            what,
            "write them as two hooks, in their order",
        ));
    }
    let node = fields.get(first);
    let node = node.ok_or_else(|| Problem::new(fields.at(), "a hook does nothing", "remove it"))?;
    let action = match *first {
        "exec" => Action::Exec(exec(node)?),
        "http" => Action::Http(http(node)?),
        "kubernetes" => kubernetes(Fields::of(node, &KUBERNETES)?, usual)?,
        "testbed" => Action::Testbed(testbed(Fields::of(node, &TESTBED)?)?),
        _ => Action::Sleep(fields.duration("sleep")?.unwrap_or_default()),
    };
    Ok(Some(action))
}

fn exec(node: &Node) -> Result<ExecCall, Problem> {
    if !matches!(node.value, Value::Map(_)) {
        return Ok(ExecCall {
            words: words(node),
            ..ExecCall::default()
        });
    }
    let fields = Fields::of(node, &EXEC)?;
    Ok(ExecCall {
        words: fields.get("run").map(words).unwrap_or_default(),
        env: fields.text_map("env"),
        cwd: fields.text("cwd"),
    })
}

fn status(fields: Fields, name: &str) -> Result<Option<u16>, Problem> {
    let Some(status) = fields.count(name)? else {
        return Ok(None);
    };
    if (100..=999).contains(&status) {
        return Ok(Some(status as u16));
    }
    let at = fields.get(name).map_or(fields.at(), |node| node.at);
    Err(Problem::new(
        at,
        format!("{status} is not a status"),
        "write one such as 204",
    ))
}

fn http(node: &Node) -> Result<HttpCall, Problem> {
    if let Some(url) = node.scalar() {
        return Ok(HttpCall::get(&url, None));
    }
    let fields = Fields::of(node, &HTTP)?;
    let body = fields.text("body").unwrap_or_default();
    let usual = if body.is_empty() { "GET" } else { "POST" };
    Ok(HttpCall {
        method: fields.text("method").unwrap_or_else(|| usual.to_owned()),
        url: fields.text("url").unwrap_or_default(),
        headers: fields.text_map("headers"),
        body,
        expect: status(fields, "expect")?,
    })
}

fn cluster(fields: Fields, usual: Option<&Cluster>) -> Result<Cluster, Problem> {
    let context = fields
        .text("context")
        .or_else(|| Some(usual?.context.clone()));
    let Some(context) = context else {
        let fix =
            "write `context: NAME`; there is no default, so that no cluster is changed by accident";
        return Err(Problem::new(fields.at(), "the cluster is not named", fix));
    };
    let namespace = fields
        .text("namespace")
        .or_else(|| usual.map(|usual| usual.namespace.clone()));
    Ok(Cluster {
        context,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
    })
}

fn kubernetes(fields: Fields, usual: Option<&Cluster>) -> Result<Action, Problem> {
    let cluster = cluster(fields, usual)?;
    let order = if let Some(workload) = fields.text("restart") {
        ClusterOrder::Restart(workload)
    } else if let Some(workload) = fields.text("scale") {
        scale(fields, workload)?
    } else if let Some(workload) = fields.text("resources") {
        resources(fields, workload)?
    } else if let Some(file) = fields.text("apply") {
        ClusterOrder::Apply(file)
    } else {
        ClusterOrder::Delete(fields.text("delete").unwrap_or_default())
    };
    Ok(Action::Kubernetes(cluster, order))
}

fn scale(fields: Fields, workload: String) -> Result<ClusterOrder, Problem> {
    let Some(replicas) = replicas(fields, "replicas")? else {
        let what = "`scale` needs a number of replicas";
        return Err(Problem::new(
            fields.at(),
            what,
            "write `replicas: 3` beside it",
        ));
    };
    Ok(ClusterOrder::Scale(workload, replicas))
}

/// A number of replicas; more than there can be are as many as there can be.
fn replicas(fields: Fields, key: &str) -> Result<Option<u32>, Problem> {
    let count = fields.count(key)?;
    Ok(count.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
}

fn resources(fields: Fields, workload: String) -> Result<ClusterOrder, Problem> {
    let amounts = |key: &str| {
        let amounts = fields.text_map(key).into_iter();
        let amounts = amounts.map(|(name, amount)| (name, Some(amount).filter(|a| a != "none")));
        amounts.collect::<BTreeMap<_, _>>()
    };
    let change = ResourceChange {
        container: fields.text("container").unwrap_or_default(),
        requests: amounts("requests"),
        limits: amounts("limits"),
    };
    if change.requests.is_empty() && change.limits.is_empty() {
        let what = "`resources` does not say what to change";
        return Err(Problem::new(
            fields.at(),
            what,
            "write `limits: {cpu: 500m}` or `requests: …` beside it",
        ));
    }
    Ok(ClusterOrder::Resources(workload, change))
}

fn testbed(fields: Fields) -> Result<TestbedAction, Problem> {
    let order = if let Some(replicas) = replicas(fields, "scale")? {
        TestbedOrder::Scale(replicas)
    } else if is_ordered(fields, "restart")? {
        TestbedOrder::Restart
    } else if is_ordered(fields, "cold")? {
        TestbedOrder::Cold
    } else {
        TestbedOrder::Degrade(fields.text_map("degrade"))
    };
    Ok(TestbedAction {
        control: fields.text("control").unwrap_or_default(),
        component: fields.text("component").unwrap_or_default(),
        order,
    })
}

/// Whether a change is ordered, of which there is nothing more to say.
fn is_ordered(fields: Fields, name: &str) -> Result<bool, Problem> {
    let said = fields.flag(name)?;
    if said == Some(false) {
        let at = fields.get(name).map_or(fields.at(), |node| node.at);
        let what = format!("`{name}` is false, and nothing else is changed");
        return Err(Problem::new(at, what, "write true, or remove the hook"));
    }
    Ok(said.is_some())
}

fn wait(node: &Node, usual: Option<&Cluster>) -> Result<Wait, Problem> {
    let fields = Fields::of(node, &WAIT)?;
    Ok(Wait {
        condition: condition(fields, usual)?,
        timeout: fields.duration("timeout")?.unwrap_or(WAIT_TIMEOUT),
    })
}

fn condition(fields: Fields, usual: Option<&Cluster>) -> Result<Condition, Problem> {
    if let Some(workload) = fields.text("rollout") {
        return Ok(Condition::Rollout(cluster(fields, usual)?, workload));
    }
    if let Some(within) = fields.object("replicas", &WAIT_REPLICAS)? {
        let workload = within.text("workload").unwrap_or_default();
        let count = replicas(within, "count")?.unwrap_or_default();
        return Ok(Condition::Replicas(
            cluster(fields, usual)?,
            workload,
            count,
        ));
    }
    if let Some(address) = fields.text("port") {
        return Ok(Condition::Port(address));
    }
    if let Some(node) = fields.get("http") {
        return wait_http(node);
    }
    if let Some(within) = fields.object("log", &WAIT_LOG)? {
        return wait_log(within);
    }
    if let Some(within) = fields.object("prometheus", &WAIT_PROMETHEUS)? {
        return wait_prometheus(within);
    }
    match fields.object("cpu_idle", &WAIT_CPU)? {
        Some(within) => wait_cpu(within),
        None => Err(Problem::new(
            fields.at(),
            "nothing is waited for",
            "write a condition",
        )),
    }
}

fn wait_http(node: &Node) -> Result<Condition, Problem> {
    if let Some(url) = node.scalar() {
        return Ok(Condition::Http(HttpCall::get(&url, None)));
    }
    let within = Fields::of(node, &WAIT_HTTP)?;
    let url = within.text("url").unwrap_or_default();
    Ok(Condition::Http(HttpCall::get(
        &url,
        status(within, "status")?,
    )))
}

fn wait_log(within: Fields) -> Result<Condition, Problem> {
    let pattern = within.text("match").unwrap_or_default();
    if let Err(error) = regex::Regex::new(&pattern) {
        let at = within.get("match").map_or(within.at(), |node| node.at);
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        let what = format!("{pattern:?} is not a regular expression: {why}");
        return Err(Problem::new(at, what, "fix it; \\ escapes a character"));
    }
    Ok(Condition::Log {
        file: within.text("file").unwrap_or_default(),
        pattern,
    })
}

fn wait_prometheus(within: Fields) -> Result<Condition, Problem> {
    let text = within.text("condition").unwrap_or_default();
    let Some(comparison) = Comparison::parse(&text) else {
        let at = within.get("condition").map_or(within.at(), |node| node.at);
        let what = format!("{text:?} is not a comparison");
        return Err(Problem::new(
            at,
            what,
            "write one such as `< 0.5` or `== 3`",
        ));
    };
    Ok(Condition::Prometheus {
        url: within.text("url").unwrap_or_default(),
        query: within.text("query").unwrap_or_default(),
        comparison,
    })
}

fn wait_cpu(within: Fields) -> Result<Condition, Problem> {
    let text = within.text("of").unwrap_or_else(|| "host".to_owned());
    let of = match text.split_once(':') {
        None if text == "host" => Some(CpuOf::Host),
        Some(("pid", pid)) => pid.parse().ok().map(CpuOf::Pid),
        Some(("name", name)) if !name.is_empty() => Some(CpuOf::Name(name.to_owned())),
        _ => None,
    };
    let Some(of) = of else {
        let at = within.get("of").map_or(within.at(), |node| node.at);
        let what = format!("`of` got {text:?}");
        return Err(Problem::new(at, what, "write host, pid:N or name:NAME"));
    };
    Ok(Condition::CpuIdle {
        of,
        below: within.number("below")?.unwrap_or_default(),
        span: within.duration("for")?.unwrap_or(CPU_IDLE),
    })
}
