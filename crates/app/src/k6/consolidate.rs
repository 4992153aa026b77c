//! Merges the tiers of options, turns the shortcuts into scenarios, and finds problems in the outcome.
//!
//! Source of the rules and messages: k6's reference and its output. Must not know where a tier was read.
//! Invariant: consolidated options have scenarios, each of which can be planned.

use loadline_model::segment::SegmentSequence;
use loadline_model::system_tags::SystemTags;

use super::notice::Notice;
use super::options::K6Options;
use super::options::scenario::{ExecutorKind, ScenarioOptions, Scenarios};

/// Options by origin, lowest priority first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tiers {
    /// The JSON file of `--config`.
    pub config: K6Options,
    /// What the script exports.
    pub script: K6Options,
    /// Environment variables.
    pub env: K6Options,
    /// Flags.
    pub flags: K6Options,
}

/// Settings of scenarios on the command line beyond k6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrides {
    /// `--scenario name.key=value`: name, key, value.
    pub scenario: Vec<(String, String, String)>,
    /// `--once`: each scenario one iteration of one virtual user.
    pub once: bool,
}

/// The merged tiers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Consolidated {
    /// The options; scenarios are set.
    pub options: K6Options,
    /// Whether the scenarios were written as such, without shortcuts.
    pub has_scenarios: bool,
}

/// The statistics of trends that a summary shows.
pub(super) const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// Merges the tiers; `notices` gets messages for the user about that.
pub(super) fn merge(tiers: &Tiers, merge_tags: bool, notices: &mut Vec<Notice>) -> K6Options {
    let mut options = K6Options::default();
    for (name, tier) in [
        ("config", &tiers.config),
        ("script", &tiers.script),
        ("env", &tiers.env),
        ("cli", &tiers.flags),
    ] {
        let says_scenarios = tier.scenarios.is_some()
            || tier.duration.is_some()
            || tier.iterations.is_some()
            || tier.stages.is_some();
        if says_scenarios && options.scenarios.is_some() {
            notices.push(Notice::warning(format!(
                "\"{name}\" level configuration overrode scenarios configuration entirely"
            )));
        }
        options = tier.over(&options);
    }
    if merge_tags {
        options.tags = merged_tags(tiers);
    }
    options.tags = options.tags.filter(|tags| !tags.is_empty());
    let stats = || TREND_STATS.map(str::to_owned).to_vec();
    options.summary_trend_stats.get_or_insert_with(stats);
    options.system_tags.get_or_insert_with(SystemTags::default);
    options
}

/// Turns the shortcuts of merged tiers into scenarios; `notices` gets messages for the user about that.
///
/// # Errors
/// k6's message on options that exclude one another.
pub(super) fn derive(
    mut options: K6Options,
    notices: &mut Vec<Notice>,
) -> Result<Consolidated, String> {
    let scenarios = scenarios_of(&options, notices)?;
    let has_scenarios = options.scenarios.as_ref() == Some(&scenarios);
    options.scenarios = Some(scenarios);
    Ok(Consolidated {
        options,
        has_scenarios,
    })
}

fn merged_tags(tiers: &Tiers) -> Option<std::collections::BTreeMap<String, String>> {
    let mut tags = None;
    for tier in [&tiers.config, &tiers.script, &tiers.env, &tiers.flags] {
        if let Some(more) = &tier.tags {
            tags.get_or_insert_with(std::collections::BTreeMap::new)
                .extend(more.clone());
        }
    }
    tags
}

/// The scenarios of the options, or those that their shortcuts mean.
fn scenarios_of(options: &K6Options, notices: &mut Vec<Notice>) -> Result<Scenarios, String> {
    let stages = options.stages.as_deref().unwrap_or_default();
    let others = [
        ("stages", !stages.is_empty()),
        ("scenarios", options.scenarios.is_some()),
    ];
    let alone = |name: &str, others: &[(&str, bool)]| match others.iter().find(|other| other.1) {
        None => Ok(()),
        Some((other, _)) => Err(format!(
            "using `{name}` and `{other}` options simultaneously is not allowed"
        )),
    };
    if options.iterations.is_some() {
        alone("iterations", &others)?;
        return Ok(default_scenario(ScenarioOptions {
            vus: options.vus,
            iterations: options.iterations,
            max_duration: options.duration,
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        }));
    }
    if let Some(duration) = options.duration {
        alone("duration", &others)?;
        if duration.0 <= 0 {
            return Err(
                "`duration` option should be more than 0, for infinite duration use the \
                 externally-controlled executor"
                    .to_owned(),
            );
        }
        return Ok(default_scenario(ScenarioOptions {
            vus: options.vus,
            duration: options.duration,
            ..ScenarioOptions::new(ExecutorKind::ConstantVus)
        }));
    }
    if !stages.is_empty() {
        alone("stages", &others[1..])?;
        return Ok(default_scenario(ScenarioOptions {
            start_vus: options.vus,
            stages: options.stages.clone(),
            ..ScenarioOptions::new(ExecutorKind::RampingVus)
        }));
    }
    Ok(without_shortcut(options, notices))
}

fn without_shortcut(options: &K6Options, notices: &mut Vec<Notice>) -> Scenarios {
    let written = options.scenarios.as_ref();
    let vus_alone = options.vus.filter(|_| options.stages.is_none());
    if let Some(vus) = vus_alone {
        if written.is_some() {
            notices.push(Notice::warning(format!(
                "`vus={vus}` overrides scenarios configuration"
            )));
        }
        return default_scenario(ScenarioOptions {
            vus: Some(vus),
            iterations: Some(vus),
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        });
    }
    match written {
        Some(scenarios) if !scenarios.is_empty() => return scenarios.clone(),
        _ => {}
    }
    for (name, is_set) in [
        ("stages", options.stages.is_some()),
        ("scenarios", written.is_some()),
    ] {
        if is_set {
            notices.push(Notice::warning(format!(
                "`{name}` was explicitly set to an empty value, running the script with 1 iteration in 1 VU"
            )));
        }
    }
    default_scenario(ScenarioOptions::new(ExecutorKind::PerVuIterations))
}

fn default_scenario(scenario: ScenarioOptions) -> Scenarios {
    Scenarios::from([("default".to_owned(), scenario)])
}

/// Applies the command line's settings of scenarios, last of all.
///
/// # Errors
/// Names a scenario that does not exist, or a value that cannot be read.
pub(super) fn apply(overrides: &Overrides, options: &mut K6Options) -> Result<(), String> {
    let scenarios = options.scenarios.get_or_insert_default();
    // Executors first, so that their keys can be set in any order.
    let (executors, others): (Vec<_>, Vec<_>) = overrides
        .scenario
        .iter()
        .partition(|(_, key, _)| key.eq_ignore_ascii_case("executor"));
    for (name, key, value) in executors.into_iter().chain(others) {
        let known: Vec<&str> = scenarios.keys().map(String::as_str).collect();
        let missing = format!(
            "--scenario {name}.{key}: there is no scenario {name}; the scenarios are: {}",
            known.join(", ")
        );
        let scenario = scenarios.get_mut(name).ok_or(missing)?;
        scenario
            .set(key, value)
            .map_err(|error| format!("--scenario {name}.{key}: {error}"))?;
    }
    if overrides.once {
        for scenario in scenarios.values_mut() {
            *scenario = once(scenario);
        }
    }
    Ok(())
}

fn once(scenario: &ScenarioOptions) -> ScenarioOptions {
    ScenarioOptions {
        env: scenario.env.clone(),
        exec: scenario.exec.clone(),
        tags: scenario.tags.clone(),
        options: scenario.options.clone(),
        vus: Some(1),
        iterations: Some(1),
        ..ScenarioOptions::new(ExecutorKind::PerVuIterations)
    }
}

/// Everything that prevents the options from running, in k6's words; `exports` are the functions of the script,
/// `None` if they are not known yet.
///
/// # Errors
/// One message with a line for each problem.
pub(super) fn validate(options: &K6Options, exports: Option<&[String]>) -> Result<(), String> {
    let scenarios = options.scenarios.iter().flatten();
    let mut found: Vec<String> = segment_error(options).into_iter().collect();
    for (name, scenario) in scenarios.clone() {
        let errors = scenario.errors(name);
        if !errors.is_empty() {
            let errors = errors.join(", ");
            found.push(format!(
                "scenario {name} has configuration errors: {errors}"
            ));
        }
    }
    if options.setup_timeout.is_some_and(|span| span.0 <= 0) {
        found.push("setupTimeout must be positive".to_owned());
    }
    if let Some(exports) = exports {
        for (name, scenario) in scenarios {
            let exec = scenario.exec.as_deref().unwrap_or("default");
            if !exec.is_empty() && !exports.iter().any(|export| export == exec) {
                found.push(format!(
                    "executor {name}: function '{exec}' not found in exports"
                ));
            }
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let lines: String = found.iter().map(|line| format!("\n\t- {line}")).collect();
    Err(format!(
        "There were problems with the specified script configuration:{lines}"
    ))
}

fn segment_error(options: &K6Options) -> Option<String> {
    let segment = options.execution_segment.unwrap_or_default();
    let sequence = match &options.execution_segment_sequence {
        Some(sequence) => sequence.clone(),
        None => SegmentSequence::new(vec![segment]).ok()?,
    };
    let missing = || format!("provided segment {segment} can't be found in sequence {sequence}");
    sequence.stripes(&segment).is_err().then(missing)
}

/// Checks the statistics of trends.
///
/// # Errors
/// k6's message about the first invalid one.
pub(super) fn check_trend_stats(stats: &[String]) -> Result<(), String> {
    for stat in stats {
        if ["avg", "min", "med", "max", "count"].contains(&stat.as_str()) {
            continue;
        }
        let Some(number) = stat.strip_prefix("p(").and_then(|s| s.strip_suffix(')')) else {
            return Err(format!("invalid trend stat '{stat}', unknown format"));
        };
        let in_range = number
            .parse::<f64>()
            .is_ok_and(|percent| (0.0..=100.0).contains(&percent));
        if !in_range {
            return Err(format!(
                "invalid percentile trend stat value '{stat}', provide a number between 0 and 100"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
