//! A row with everything substituted that is known before it is run.
//!
//! Must not know state. Invariant: secrets and the target's URL remain placeholders here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::matrix::Combination;
use super::settings::{Settings, overlay};
use super::sources::Scripts;
use super::{
    OuterHooks, PhaseKind, PlannedGroup, PlannedPhase, PlannedRow, RowHooks, Surroundings,
    TARGET_URL, TARGET_VARIABLE, command, identity,
};
use crate::file::{
    HookNodes, Meaning, Node, Problem, SuiteFile, Target, names_of, substitute, substitute_text,
};
use crate::hooks::{Cluster, HookSpec};

/// Makes a row of a combination.
pub(super) fn row(
    file: &SuiteFile,
    group: usize,
    combination: &Combination,
    surroundings: &Surroundings,
    scripts: &mut Scripts<'_>,
) -> Result<PlannedRow, Problem> {
    let layers: Vec<&Node> = combination.layers.iter().collect();
    let mut merged = overlay(&layers);
    if merged.at.line == 0 {
        merged.at = combination.at;
    }
    let meanings = Meanings::of(&merged, combination, file, surroundings)?;
    let filled = substitute(&merged, &|name| meanings.of_name(name))?;
    let settings = Settings::of(&filled)?;
    let hooks = row_hooks(file, group, &combination.hooks, &meanings)?;
    let title = title(combination, &meanings.labels);
    let group_name = file.groups[group].name.as_deref();
    let mut row = PlannedRow {
        id: identity::id(group_name, &title, &meanings.labels),
        title,
        group,
        labels: meanings.labels.clone(),
        env: settings.env.clone(),
        facts: BTreeMap::new(),
        phases: phases(&settings, file.target.is_some())?,
        settings,
        hooks,
        hash: String::new(),
    };
    row.facts = facts(&row);
    row.hash = hash(file, &row, scripts)?;
    Ok(row)
}

/// Fills the hooks around a suite or a group, where there is no row.
pub(super) fn outer_hooks(
    file: &SuiteFile,
    hooks: &HookNodes,
    surroundings: &Surroundings,
) -> Result<OuterHooks, Problem> {
    let meanings = Meanings {
        labels: BTreeMap::new(),
        axes: BTreeMap::new(),
        env: BTreeMap::new(),
        has_target: file.target.is_some(),
        surroundings,
    };
    Ok(OuterHooks {
        prepare: filled(&hooks.prepare, file, &meanings)?,
        cleanup: filled(&hooks.cleanup, file, &meanings)?,
    })
}

fn filled(nodes: &[Node], file: &SuiteFile, meanings: &Meanings) -> Result<Vec<HookSpec>, Problem> {
    let cluster = match &file.target {
        Some(Target::Kubernetes(target)) => Some(Cluster {
            context: target.context.clone(),
            namespace: target.namespace.clone(),
        }),
        _ => None,
    };
    let one = |node: &Node| {
        let node = substitute(node, &|name| meanings.of_name(name))?;
        HookSpec::of(&node, cluster.as_ref())
    };
    nodes.iter().map(one).collect()
}

/// Outer hooks come first before the load, and last after it.
fn row_hooks(
    file: &SuiteFile,
    group: usize,
    own: &HookNodes,
    meanings: &Meanings,
) -> Result<RowHooks, Problem> {
    let fill = |nodes: &[Node]| filled(nodes, file, meanings);
    let grouped = &file.groups[group].hooks;
    let inwards = |suite: &[Node], group: &[Node], row: &[Node]| {
        let nodes = [suite, group, row].concat();
        fill(&nodes)
    };
    let suite = &file.hooks;
    Ok(RowHooks {
        prepare: fill(&own.prepare)?,
        before: inwards(&suite.before, &grouped.before, &own.before)?,
        between: inwards(&suite.between, &grouped.between, &own.between)?,
        after: inwards(&own.after, &grouped.after, &suite.after)?,
        cleanup: fill(&own.cleanup)?,
    })
}

/// What names mean in a row.
struct Meanings<'a> {
    labels: BTreeMap<String, String>,
    axes: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    has_target: bool,
    surroundings: &'a Surroundings<'a>,
}

impl<'a> Meanings<'a> {
    /// Labels may name axes; the environment may name both; all else may name all three.
    fn of(
        merged: &Node,
        combination: &Combination,
        file: &SuiteFile,
        surroundings: &'a Surroundings<'a>,
    ) -> Result<Meanings<'a>, Problem> {
        let mut meanings = Meanings {
            labels: combination.axes.clone(),
            axes: combination.axes.clone(),
            env: BTreeMap::new(),
            has_target: file.target.is_some(),
            surroundings,
        };
        for (of, is_label) in [("labels", true), ("env", false)] {
            let mut texts = BTreeMap::new();
            for entry in merged.get(of).map_or(&[][..], Node::entries) {
                let text = entry.node.scalar().unwrap_or_default();
                let name = |name: &str| meanings.of_name(name);
                texts.insert(
                    entry.key.clone(),
                    substitute_text(&text, entry.node.at, &name)?,
                );
            }
            let into = if is_label {
                &mut meanings.labels
            } else {
                &mut meanings.env
            };
            into.extend(texts);
        }
        Ok(meanings)
    }

    fn of_name(&self, name: &str) -> Meaning {
        let Some((kind, key)) = name.split_once('.') else {
            let fix = "write env.NAME, axis.NAME, label.NAME, secret.NAME or target.url";
            return Meaning::Unknown(format!("{fix}, or $${{ for the signs themselves"));
        };
        let known = |from: &BTreeMap<String, String>, what: &str| match from.get(key) {
            Some(text) => Meaning::Text(text.clone()),
            None if from.is_empty() => Meaning::Unknown(format!("there are no {what} here")),
            None => {
                let names: Vec<&str> = from.keys().map(String::as_str).collect();
                Meaning::Unknown(format!("the {what} are {}", names.join(", ")))
            }
        };
        match (kind, key) {
            ("axis", _) => known(&self.axes, "axes"),
            ("label", _) => known(&self.labels, "labels"),
            ("env", _) => match self.env.get(key) {
                Some(text) => Meaning::Text(text.clone()),
                None => (self.surroundings.variable)(key).map_or_else(
                    || Meaning::Unknown(format!("set the variable {key}, or give it in `env`")),
                    Meaning::Text,
                ),
            },
            ("secret", _) => Meaning::Later,
            ("target", "url") if self.has_target => Meaning::Later,
            ("target", "url") => Meaning::Unknown("write `target: URL` in the suite".to_owned()),
            _ => Meaning::Unknown(
                "write env.NAME, axis.NAME, label.NAME, secret.NAME or target.url".to_owned(),
            ),
        }
    }
}

/// A row's own name, else its axes in order, else its labels.
fn title(combination: &Combination, labels: &BTreeMap<String, String>) -> String {
    if let Some(name) = &combination.name {
        return name.clone();
    }
    let ordered = combination.order.iter();
    let mut parts: Vec<String> = ordered
        .filter_map(|axis| Some(format!("{axis}={}", combination.axes.get(axis)?)))
        .collect();
    if parts.is_empty() {
        parts = labels
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
    }
    if parts.is_empty() {
        parts.push("row".to_owned());
    }
    parts.join(" ")
}

fn phases(settings: &Settings, has_target: bool) -> Result<Vec<PlannedPhase>, Problem> {
    let mut phases = Vec::new();
    let mut env = settings.env.clone();
    if has_target && settings.front.file().is_some() {
        env.entry(TARGET_VARIABLE.to_owned())
            .or_insert_with(|| TARGET_URL.to_owned());
    }
    if let Some(smoke) = settings.phases.smoke {
        phases.push(PlannedPhase {
            kind: PhaseKind::Smoke,
            command: command::smoke(settings, has_target),
            env: env.clone(),
            time_limit: Some(smoke.limit),
            length: None,
        });
    }
    if let Some(span) = settings.phases.warm_up {
        phases.push(PlannedPhase {
            kind: PhaseKind::WarmUp,
            command: command::warm_up(settings, span, has_target)?,
            env: env.clone(),
            time_limit: settings.time_limit,
            length: Some(span),
        });
    }
    phases.push(PlannedPhase {
        kind: PhaseKind::Load,
        command: command::load(settings, has_target)?,
        env,
        time_limit: settings.time_limit,
        length: settings.length(),
    });
    Ok(phases)
}

fn facts(row: &PlannedRow) -> BTreeMap<String, String> {
    let line = row.phases.last();
    let line = line.map(|phase| row.settings.front.shown(&phase.command));
    let script = row.settings.front.file().map(str::to_owned);
    let facts = [
        ("command", line),
        ("front", Some(row.settings.front.name().to_owned())),
        ("script", script),
        ("mode", Some(mode_name(row).to_owned())),
        ("repeat", Some(row.settings.repeat.to_string())),
        ("title", Some(row.title.clone())),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let said = command::said(&row.settings).facts();
    known.chain(said).collect()
}

fn mode_name(row: &PlannedRow) -> &'static str {
    match row.settings.mode {
        super::Mode::Sustained => "sustained",
        super::Mode::Cold => "cold",
        super::Mode::Endurance => "endurance",
    }
}

/// Everything that affects what is measured: commands, environment, observers, hooks before the load, the target, and
/// the content of the script and of the files that it names.
fn hash(file: &SuiteFile, row: &PlannedRow, scripts: &mut Scripts<'_>) -> Result<String, Problem> {
    let script = match row.settings.front.file() {
        Some(file) => {
            let hash = scripts.hash(file).map_err(|error| {
                let what = format!("cannot read {file}: {error}");
                Problem::new(
                    row.settings.front_at,
                    what,
                    "check its name and permissions",
                )
            })?;
            Some(hash)
        }
        None => None,
    };
    let phases: Vec<_> = row
        .phases
        .iter()
        .map(|phase| json!([phase.kind.name(), phase.command, phase.env]))
        .collect();
    let hooks = [&row.hooks.prepare, &row.hooks.before];
    let hooks: Vec<String> = hooks
        .into_iter()
        .flatten()
        .map(HookSpec::identity)
        .collect();
    Ok(identity::hash(&json!({
        "phases": phases,
        "script": script,
        "observe": row.settings.observe.as_ref().map(|(_, observers)| observers),
        "tail": row.settings.phases.tail.map(|tail| tail.as_nanos().to_string()),
        "hooks": hooks,
        "target": format!("{:?}", file.target),
    })))
}

/// Names of the secrets that any text names.
pub(super) fn secrets(
    rows: &[PlannedRow],
    groups: &[PlannedGroup],
    hooks: &OuterHooks,
) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut look = |text: &str| {
        let secrets = names_of(text).filter_map(|name| name.strip_prefix("secret."));
        names.extend(secrets.map(str::to_owned));
    };
    for phase in rows.iter().flat_map(|row| &row.phases) {
        phase.command.iter().for_each(|word| look(word));
        phase.env.values().for_each(|value| look(value));
    }
    for row in rows {
        let RowHooks {
            prepare,
            before,
            between,
            after,
            cleanup,
        } = &row.hooks;
        for hook in [prepare, before, between, after, cleanup]
            .into_iter()
            .flatten()
        {
            look(&hook.identity());
        }
        if let Some((_, observers)) = &row.settings.observe {
            look(&observers.to_string());
        }
    }
    let outer = groups.iter().map(|group| &group.hooks).chain([hooks]);
    for hook in outer.flat_map(|hooks| hooks.prepare.iter().chain(&hooks.cleanup)) {
        look(&hook.identity());
    }
    names.into_iter().collect()
}
