//! The settings of a row, merged from several layers of a file, as types.
//!
//! Must not know axes or hooks. Invariant: a later layer wins; maps are merged key by key.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::secret::redacted_command_line;
use loadline_model::written_rate::WrittenRate;
use loadline_model::{FrontEnd, words};
use loadline_observe::ObserverSpecs;

use crate::file::{
    At, EXECUTOR, Entry, Fields, Node, PHASES, Problem, SCRIPT, SETTINGS, SMOKE, Value,
};
use crate::gates::Gates;

/// Keys that name a front end, of which a row has one.
const FRONTS: [&str; 5] = ["script", "bench", "hey", "bombardier", "jmeter"];
/// Keys whose maps are joined key by key.
const JOINED: [&str; 5] = ["env", "labels", "observe", "gates", "phases"];
/// Maximum repetitions of a row.
const REPEAT_MAX: u64 = 10_000;
/// Time that a smoke run may take.
const SMOKE_LIMIT: Duration = Duration::from_secs(60);

/// Merges maps of settings, the last taking precedence; other keys are ignored.
#[must_use]
pub fn overlay(layers: &[&Node]) -> Node {
    let is_front = |entry: &Entry| FRONTS.contains(&entry.key.as_str());
    let mut entries: Vec<Entry> = Vec::new();
    for layer in layers {
        if layer.entries().iter().any(is_front) {
            entries.retain(|known| !is_front(known));
        }
        lay(layer, &mut entries);
    }
    Node {
        at: layers.last().map_or_else(At::default, |layer| layer.at),
        value: Value::Map(entries),
    }
}

/// Lays the settings of one map over those that are there.
fn lay(layer: &Node, entries: &mut Vec<Entry>) {
    for entry in layer.entries() {
        if !SETTINGS.iter().any(|key| key.name == entry.key) {
            continue;
        }
        match entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) if JOINED.contains(&known.key.as_str()) => {
                known.node = joined(&known.node, &entry.node);
            }
            Some(known) => *known = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
}

fn joined(below: &Node, above: &Node) -> Node {
    let (Value::Map(under), Value::Map(over)) = (&below.value, &above.value) else {
        return above.clone();
    };
    let mut entries = under.clone();
    for entry in over {
        match entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => *known = entry.clone(),
            None => entries.push(entry.clone()),
        }
    }
    Node {
        at: above.at,
        value: Value::Map(entries),
    }
}

/// The settings of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How load is made.
    pub front: Front,
    /// The position of the front end.
    pub front_at: At,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Virtual users; `None`: set by the front end.
    pub vus: Option<u64>,
    /// Arrival rate; `None`: set by the front end.
    pub rate: Option<Rate>,
    /// Length of the load, as written and as time; `None`: set by the front end.
    pub duration: Option<(String, Duration)>,
    /// Executor of a script's scenario.
    pub executor: Option<ExecutorSetting>,
    /// The purpose of the row.
    pub mode: Mode,
    /// Phases.
    pub phases: PhaseSettings,
    /// Observers by name, as they are written.
    pub observe: Option<(At, serde_json::Value)>,
    /// Gates.
    pub gates: Gates,
    /// Thresholds.
    pub thresholds: Vec<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Repetitions, one at least.
    pub repeat: u32,
    /// A longer run is ended.
    pub time_limit: Option<Duration>,
}

/// How load is generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Front {
    /// A k6 script with further arguments.
    Script {
        /// The file, relative to the suite file.
        file: String,
        /// Arguments.
        args: Vec<String>,
    },
    /// Arguments of `loadline bench`.
    Bench(Vec<String>),
    /// Arguments of hey.
    Hey(Vec<String>),
    /// Arguments of bombardier.
    Bombardier(Vec<String>),
    /// A JMeter plan with further arguments of `loadline run`.
    Plan {
        /// The file, relative to the suite file.
        file: String,
        /// Arguments.
        args: Vec<String>,
    },
}

impl Front {
    /// A command of this front end for display, without its secrets.
    #[must_use]
    pub fn shown(&self, command: &[String]) -> String {
        let front_end = match self {
            Front::Plan { .. } => FrontEnd::JMeter,
            other => FrontEnd::of_command(other.name()),
        };
        words::join(&redacted_command_line(command, front_end))
    }

    /// The file that it runs, relative to the suite file; `None`: it is only a command line.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Front::Script { file, .. } | Front::Plan { file, .. } => Some(file),
            Front::Bench(_) | Front::Hey(_) | Front::Bombardier(_) => None,
        }
    }

    /// The command's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Front::Script { .. } | Front::Plan { .. } => "run",
            Front::Bench(_) => "bench",
            Front::Hey(_) => "hey",
            Front::Bombardier(_) => "bombardier",
        }
    }
}

/// An arrival rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// As it was written, without spaces.
    pub text: String,
    /// The number before the slash.
    pub count: f64,
    /// The unit of time, as `1s`.
    pub unit: String,
    /// Per second.
    pub per_second: f64,
    /// Its position.
    pub at: At,
}

/// An executor of a script's scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorSetting {
    /// Its name, as k6 has it.
    pub kind: String,
    /// The scenario.
    pub scenario: String,
    /// Its other options.
    pub options: BTreeMap<String, String>,
    /// Its position.
    pub at: At,
}

/// The purpose of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Steady throughput.
    Sustained,
    /// The first responses of a cold service.
    Cold,
    /// Change over hours.
    Endurance,
}

/// Phases of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseSettings {
    /// The smoke run; `None`: none.
    pub smoke: Option<Smoke>,
    /// Load before the measured one.
    pub warm_up: Option<Duration>,
    /// Time to reach the load.
    pub ramp: Option<Duration>,
    /// Time to hold it.
    pub steady: Option<Duration>,
    /// Time that observers go on.
    pub tail: Option<Duration>,
    /// Their position.
    pub at: At,
}

/// A smoke run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoke {
    /// Whether every check must hold.
    pub checks: bool,
    /// Time it may take.
    pub limit: Duration,
}

impl Settings {
    /// Parses substituted settings.
    ///
    /// # Errors
    /// What is wrong, with its position.
    pub fn of(node: &Node) -> Result<Settings, Problem> {
        static OBJECT: crate::file::Object = crate::file::Object {
            name: "row",
            keys: &[SETTINGS],
            required: &[],
            one_of: &[],
            others: None,
        };
        let fields = Fields::of(node, &OBJECT)?;
        let (front, front_at) = front(fields)?;
        let mode = mode(fields);
        let observe = fields.get("observe");
        observe.map_or(Ok(()), check_observe)?;
        Ok(Settings {
            front,
            front_at,
            env: fields.text_map("env"),
            vus: positive(fields, "vus")?,
            rate: rate(fields)?,
            duration: fields
                .duration("duration")?
                .map(|span| (fields.text("duration").unwrap_or_default(), span)),
            executor: executor(fields)?,
            mode,
            phases: phases(fields, mode)?,
            observe: observe.map(|node| (node.at, node.to_json())),
            gates: Gates::of(fields)?,
            thresholds: fields.texts("thresholds"),
            labels: fields.text_map("labels"),
            repeat: repeat(fields)?,
            time_limit: fields.duration("time_limit")?,
        })
    }

    /// Duration of the load; `None`: as in the front end.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        match (self.phases.ramp, self.phases.steady, &self.duration) {
            (ramp, Some(steady), _) => Some(ramp.unwrap_or_default() + steady),
            (_, None, Some((_, span))) => Some(*span),
            (_, None, None) => None,
        }
    }

    /// The position for errors about phases.
    #[must_use]
    pub fn phases_at(&self) -> At {
        match self.phases.at {
            at if at == At::default() => self.front_at,
            at => at,
        }
    }
}

fn front(fields: Fields) -> Result<(Front, At), Problem> {
    let mut given = FRONTS
        .iter()
        .filter_map(|name| Some((*name, fields.get(name)?)));
    let Some((name, node)) = given.next() else {
        let fix = "write script: FILE or jmeter: FILE, or bench:, hey: or bombardier: with their arguments";
        return Err(Problem::new(
            fields.at(),
            "the row does not say how to generate load",
            fix,
        ));
    };
    if let Some((second, node)) = given.next() {
        let what = format!("the row has both {name}: and {second}:");
        return Err(Problem::new(node.at, what, "keep one of them"));
    }
    let text = node.scalar();
    let split = |text: &str| {
        words::split(text).map_err(|why| Problem::new(node.at, why, "close the quote"))
    };
    let line = text.clone().unwrap_or_default();
    let front = match name {
        "bench" => Front::Bench(split(&line)?),
        "hey" => Front::Hey(split(&line)?),
        "bombardier" => Front::Bombardier(split(&line)?),
        _ => {
            let (file, args) = match text {
                Some(file) => (file, Vec::new()),
                None => {
                    let given = Fields::of(node, &SCRIPT)?;
                    let args = split(&given.text("args").unwrap_or_default())?;
                    (given.text("file").unwrap_or_default(), args)
                }
            };
            match name {
                "jmeter" => Front::Plan { file, args },
                _ => Front::Script { file, args },
            }
        }
    };
    Ok((front, node.at))
}

fn positive(fields: Fields, name: &str) -> Result<Option<u64>, Problem> {
    let count = fields.count(name)?;
    if count == Some(0) {
        let at = fields.get(name).map_or(fields.at(), |node| node.at);
        return Err(Problem::new(
            at,
            format!("`{name}` is 0"),
            "write 1 or more",
        ));
    }
    Ok(count)
}

fn repeat(fields: Fields) -> Result<u32, Problem> {
    let repeat = positive(fields, "repeat")?.unwrap_or(1);
    if repeat > REPEAT_MAX {
        let what = format!("`repeat` is {repeat}");
        let fix = format!("write {REPEAT_MAX} or fewer");
        let at = fields.get("repeat").map_or(fields.at(), |node| node.at);
        return Err(Problem::new(at, what, fix));
    }
    Ok(repeat as u32)
}

fn rate(fields: Fields) -> Result<Option<Rate>, Problem> {
    let Some(node) = fields.get("rate") else {
        return Ok(None);
    };
    let said = node.scalar().unwrap_or_default();
    // As for bench, but people put spaces around the slash here.
    let parts: Vec<&str> = said.split('/').map(str::trim).collect();
    let text = parts.join("/");
    let read = WrittenRate::parse(&text);
    let Some(read) = read.ok().filter(|read| read.starts > 0.0) else {
        let fix = "write a number above 0, such as 500, 10k, 500/s or 30/m";
        return Err(Problem::new(node.at, format!("`rate` got {said:?}"), fix));
    };
    let unit = text.split_once('/').map_or("s", |(_, unit)| unit);
    Ok(Some(Rate {
        count: read.starts,
        unit: format!("1{unit}"),
        per_second: read.starts / f64::from(read.seconds),
        at: node.at,
        text,
    }))
}

fn executor(fields: Fields) -> Result<Option<ExecutorSetting>, Problem> {
    let Some(node) = fields.get("executor") else {
        return Ok(None);
    };
    let mut setting = ExecutorSetting {
        kind: node.scalar().unwrap_or_default(),
        scenario: "default".to_owned(),
        options: BTreeMap::new(),
        at: node.at,
    };
    if node.scalar().is_none() {
        let fields = Fields::of(node, &EXECUTOR)?;
        setting.kind = fields.text("type").unwrap_or_default();
        setting.scenario = fields.text("scenario").unwrap_or(setting.scenario);
        for entry in node.entries() {
            if EXECUTOR.key(&entry.key).is_none() {
                let value = entry.node.scalar().unwrap_or_default();
                setting.options.insert(entry.key.clone(), value);
            }
        }
    }
    Ok(Some(setting))
}

/// Observers are checked one by one, so that a message is about the right one; all together can only clash in number.
fn check_observe(node: &Node) -> Result<(), Problem> {
    for entry in node.entries() {
        let one = Node {
            at: entry.at,
            value: Value::Map(vec![entry.clone()]),
        };
        check_observers(&one)?;
    }
    if node.entries().is_empty() {
        check_observers(node)?;
    }
    Ok(())
}

fn check_observers(observers: &Node) -> Result<(), Problem> {
    // What is filled when the row is run is checked then, by whom it is for.
    if observers.to_json().to_string().contains("${") {
        return Ok(());
    }
    let read = observers.read::<ObserverSpecs>();
    let fix = "docs/observe.md has the observers and their settings";
    read.map(drop).map_err(|error| Problem::of_yaml(error, fix))
}

fn mode(fields: Fields) -> Mode {
    match fields.text("mode").as_deref() {
        Some("cold") => Mode::Cold,
        Some("endurance") => Mode::Endurance,
        _ => Mode::Sustained,
    }
}

fn phases(fields: Fields, mode: Mode) -> Result<PhaseSettings, Problem> {
    let usual = Smoke {
        checks: true,
        limit: SMOKE_LIMIT,
    };
    let Some(node) = fields.get("phases") else {
        return Ok(PhaseSettings {
            smoke: Some(usual),
            ..PhaseSettings::default()
        });
    };
    let within = Fields::of(node, &PHASES)?;
    let smoke = match within.get("smoke") {
        Some(node) if matches!(node.value, Value::Map(_)) => {
            let smoke = Fields::of(node, &SMOKE)?;
            Some(Smoke {
                checks: smoke.flag("checks")?.unwrap_or(true),
                limit: smoke.duration("time_limit")?.unwrap_or(SMOKE_LIMIT),
            })
        }
        _ => (within.flag("smoke")? != Some(false)).then_some(usual),
    };
    let phases = PhaseSettings {
        smoke,
        warm_up: within.duration("warm_up")?.filter(|span| !span.is_zero()),
        ramp: within.duration("ramp")?.filter(|span| !span.is_zero()),
        steady: within.duration("steady")?,
        tail: within.duration("tail")?,
        at: node.at,
    };
    if mode == Mode::Cold && phases.warm_up.is_some() {
        let fix = "remove `warm_up`, or write `mode: sustained`";
        return Err(Problem::new(node.at, "a cold row has no warm-up", fix));
    }
    Ok(phases)
}
