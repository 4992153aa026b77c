//! The command lines of a row's phases: the front end's command with the row's load applied.
//!
//! Must not know files or state. Invariant: an option of the row replaces the same option of the command line,
//! so no option is given twice.

use std::time::Duration;

use loadline_model::duration;

use crate::file::Problem;

use super::said::Said;
use super::settings::{ExecutorSetting, Front, Rate, Settings};
use super::spans::{go_span, script_span};
use super::words::{Names, Style, peek, take};

/// The placeholder for the target's URL.
pub const TARGET_URL: &str = "${target.url}";
/// The environment variable that passes the target's URL to a script.
pub const TARGET_VARIABLE: &str = "TARGET_URL";

/// The options of a front end that say how much load.
struct LoadOptions {
    style: Style,
    vus: Names,
    rate: Names,
    duration: Names,
    requests: Names,
    stages: Names,
    /// Others that a single request does without.
    beside: &'static [Names],
}

const SCRIPT: LoadOptions = LoadOptions {
    style: Style::Gnu,
    vus: &["u", "vus"],
    rate: &[],
    duration: &["d", "duration"],
    requests: &["i", "iterations"],
    stages: &["s", "stage"],
    beside: &[],
};
const BENCH: LoadOptions = LoadOptions {
    style: Style::Gnu,
    vus: &["c", "connections"],
    rate: &["r", "rate"],
    duration: &["z", "d", "duration"],
    requests: &["n", "requests"],
    stages: &["stages"],
    beside: &[&["threshold"], &["warm-up"], &["pacing"], &["max-vus"]],
};
const HEY: LoadOptions = LoadOptions {
    style: Style::Go,
    vus: &["c"],
    rate: &["q"],
    duration: &["z"],
    requests: &["n"],
    stages: &[],
    beside: &[],
};
const BOMBARDIER: LoadOptions = LoadOptions {
    style: Style::Gnu,
    vus: &["c", "connections"],
    rate: &["r", "rate"],
    duration: &["d", "duration"],
    requests: &["n", "requests"],
    stages: &[],
    beside: &[],
};

/// A plan takes its load from properties.
const PLAN: LoadOptions = LoadOptions {
    style: Style::Gnu,
    vus: &[],
    rate: &[],
    duration: &[],
    requests: &[],
    stages: &[],
    beside: &[&["threshold"]],
};

impl Front {
    fn options(&self) -> &'static LoadOptions {
        match self {
            Front::Script { .. } => &SCRIPT,
            Front::Bench(_) => &BENCH,
            Front::Hey(_) => &HEY,
            Front::Bombardier(_) => &BOMBARDIER,
            Front::Plan { .. } => &PLAN,
        }
    }

    /// Its arguments, as written.
    #[must_use]
    pub fn arguments(&self) -> &Vec<String> {
        match self {
            Front::Script { args, .. } | Front::Plan { args, .. } => args,
            Front::Bench(words) | Front::Hey(words) | Front::Bombardier(words) => words,
        }
    }
}

/// The command for the measured load, starting with the front end's name.
///
/// # Errors
/// The row requires what its front end cannot do.
pub fn load(settings: &Settings, has_target: bool) -> Result<Vec<String>, Problem> {
    command(
        settings,
        settings.length(),
        settings.phases.ramp,
        has_target,
    )
}

/// The command for a warm-up: the same load with another duration, without a ramp.
///
/// # Errors
/// As [`load`].
pub fn warm_up(
    settings: &Settings,
    span: Duration,
    has_target: bool,
) -> Result<Vec<String>, Problem> {
    let mut without = settings.clone();
    without.thresholds.clear();
    command(&without, Some(span), None, has_target)
}

/// The command for a smoke run: one iteration of one virtual user.
#[must_use]
pub fn smoke(settings: &Settings, has_target: bool) -> Vec<String> {
    let options = settings.front.options();
    let mut words = settings.front.arguments().clone();
    for names in [
        options.vus,
        options.rate,
        options.duration,
        options.requests,
        options.stages,
    ]
    .iter()
    .chain(options.beside)
    {
        take(&mut words, options.style, names);
    }
    let once: &[&str] = match settings.front {
        Front::Script { .. } | Front::Plan { .. } => &["--once"],
        _ => &["-n", "1", "-c", "1"],
    };
    let once = once.iter().map(|word| (*word).to_owned());
    let once = once.chain(properties_of_env(settings, has_target));
    with_load(&settings.front, once, words, has_target)
}

fn command(
    settings: &Settings,
    length: Option<Duration>,
    ramp: Option<Duration>,
    has_target: bool,
) -> Result<Vec<String>, Problem> {
    let mut words = settings.front.arguments().clone();
    let load = match &settings.front {
        Front::Script { .. } => script_load(settings, &mut words, length, ramp)?,
        Front::Bench(_) => bench_load(settings, &mut words, length, ramp)?,
        Front::Hey(_) => hey_load(settings, &mut words, length, ramp)?,
        Front::Bombardier(_) => bombardier_load(settings, &mut words, length, ramp)?,
        Front::Plan { .. } => plan_load(settings, length, ramp, has_target)?,
    };
    Ok(with_load(
        &settings.front,
        load.into_iter(),
        words,
        has_target,
    ))
}

/// The front end's name, the load, the other words, and the script or the target's URL.
fn with_load(
    front: &Front,
    load: impl Iterator<Item = String>,
    words: Vec<String>,
    has_target: bool,
) -> Vec<String> {
    let names_target = |word: &String| word.contains("://") || word.contains(TARGET_URL);
    let wants_target = has_target && !words.iter().any(names_target);
    let mut command = vec![front.name().to_owned()];
    command.extend(load);
    command.extend(words);
    match front {
        Front::Script { file, .. } | Front::Plan { file, .. } => command.push(file.clone()),
        _ if wants_target => command.push(TARGET_URL.to_owned()),
        _ => {}
    }
    command
}

/// Removes from the words what the row sets itself.
///
/// # Errors
/// The value of the duration option is not a duration, such as a body after hey's `-d`: it would be lost silently.
fn take_load(
    settings: &Settings,
    words: &mut Vec<String>,
    has_length: bool,
) -> Result<(), Problem> {
    let options = settings.front.options();
    if settings.vus.is_some() {
        take(words, options.style, options.vus);
    }
    if settings.rate.is_some() {
        take(words, options.style, options.rate);
    }
    if has_length {
        let replaced = take(words, options.style, options.duration);
        if let Some(text) =
            replaced.filter(|text| !text.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        {
            return Err(no_duration(settings, &text));
        }
        for names in [options.requests, options.stages] {
            take(words, options.style, names);
        }
    }
    Ok(())
}

fn no_duration(settings: &Settings, text: &str) -> Problem {
    let front = settings.front.name();
    Problem::new(
        settings.front_at,
        format!("-d of {front} is the duration, and `{text}` is not one"),
        "write -b for the request's body",
    )
}

fn option(name: &str, value: &dyn std::fmt::Display) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

fn script_load(
    settings: &Settings,
    words: &mut Vec<String>,
    length: Option<Duration>,
    ramp: Option<Duration>,
) -> Result<Vec<String>, Problem> {
    no_thresholds(settings, "a script has its thresholds in its options")?;
    take_load(settings, words, length.is_some())?;
    if settings.rate.is_some() || settings.executor.is_some() {
        return script_scenario(settings, length, ramp);
    }
    let vus = settings.vus;
    let Some(ramp) = ramp else {
        let vus = vus.map(|vus| option("-u", &vus));
        let length = length.map(|length| option("-d", &script_span(length)));
        return Ok(vus.into_iter().chain(length).flatten().collect());
    };
    let (Some(vus), Some(length)) = (vus, length) else {
        return Err(ramp_wants(settings));
    };
    let legs = legs(ramp, length, &vus.to_string(), script_span);
    Ok(legs
        .into_iter()
        .flat_map(|leg| option("-s", &leg))
        .collect())
}

/// A ramp and what is held after it, as legs whose lengths are written by `text`.
fn legs(
    ramp: Duration,
    length: Duration,
    target: &str,
    text: fn(Duration) -> String,
) -> Vec<String> {
    let steady = length.saturating_sub(ramp);
    let leg = |span: Duration| format!("{}:{target}", text(span));
    vec![leg(ramp), leg(steady)]
}

fn ramp_wants(settings: &Settings) -> Problem {
    let fix = "write `vus` or `rate`, and `duration` or `phases: {steady: …}`";
    Problem::new(settings.phases_at(), "a ramp needs a target", fix)
}

fn no_thresholds(settings: &Settings, why: &str) -> Result<(), Problem> {
    if settings.thresholds.is_empty() {
        return Ok(());
    }
    let what = format!("`thresholds` are for bench: {why}");
    Err(Problem::new(
        settings.front_at,
        what,
        "remove them from this row",
    ))
}

/// Options of one scenario, where flags for virtual users would not do.
fn script_scenario(
    settings: &Settings,
    length: Option<Duration>,
    ramp: Option<Duration>,
) -> Result<Vec<String>, Problem> {
    let executor = executor_of(settings, ramp)?;
    let mut pairs: Vec<(&str, String)> = vec![("executor", executor.kind.clone())];
    let rated = executor.kind.ends_with("arrival-rate");
    match (&settings.rate, ramp) {
        (Some(rate), Some(ramp)) => {
            let length = length.ok_or_else(|| ramp_wants(settings))?;
            let legs = legs(ramp, length, &rate.count.to_string(), script_span);
            pairs.push(("startRate", "0".to_owned()));
            pairs.push(("stages", legs.join(",")));
            pairs.push(("timeUnit", rate.unit.clone()));
        }
        (Some(rate), None) => {
            pairs.push(("rate", rate.count.to_string()));
            pairs.push(("timeUnit", rate.unit.clone()));
        }
        (None, Some(ramp)) => {
            let (vus, length) = settings
                .vus
                .zip(length)
                .ok_or_else(|| ramp_wants(settings))?;
            let legs = legs(ramp, length, &vus.to_string(), script_span);
            pairs.push(("startVUs", "0".to_owned()));
            pairs.push(("stages", legs.join(",")));
        }
        (None, None) => {}
    }
    if let (Some(length), None) = (length, ramp) {
        pairs.push((length_key(&executor.kind), script_span(length)));
    }
    if let Some(vus) = settings.vus
        && (ramp.is_none() || rated)
    {
        pairs.push((
            if rated { "preAllocatedVUs" } else { "vus" },
            vus.to_string(),
        ));
    }
    let own = executor.options.iter();
    let own = own.map(|(key, value)| (key.as_str(), value.clone()));
    pairs.retain(|(key, _)| !executor.options.contains_key(*key));
    pairs.extend(own);
    let scenario = &executor.scenario;
    let words = pairs
        .into_iter()
        .flat_map(|(key, value)| option("--scenario", &format!("{scenario}.{key}={value}")));
    Ok(words.collect())
}

/// Executors that end with their iterations have a longest time.
fn length_key(executor: &str) -> &'static str {
    match executor {
        "shared-iterations" | "per-vu-iterations" => "maxDuration",
        _ => "duration",
    }
}

fn executor_of(settings: &Settings, ramp: Option<Duration>) -> Result<ExecutorSetting, Problem> {
    if let Some(rate) = settings
        .rate
        .as_ref()
        .filter(|rate| rate.count.fract() != 0.0)
    {
        let fix = "write it of another unit of time, as 30/m for 0.5/s";
        return Err(Problem::new(rate.at, "a script's rate is whole", fix));
    }
    let at = |rate: &Rate| rate.at;
    let place = settings.rate.as_ref().map_or(settings.front_at, at);
    let usual = match (settings.rate.is_some(), ramp.is_some()) {
        (true, true) => "ramping-arrival-rate",
        (true, false) => "constant-arrival-rate",
        (false, true) => "ramping-vus",
        (false, false) => "constant-vus",
    };
    let executor = settings
        .executor
        .clone()
        .unwrap_or_else(|| ExecutorSetting {
            kind: usual.to_owned(),
            scenario: "default".to_owned(),
            options: std::collections::BTreeMap::new(),
            at: place,
        });
    if settings.rate.is_some() && !executor.kind.ends_with("arrival-rate") {
        let what = format!("{} has no arrival rate", executor.kind);
        let fix = "write `executor: constant-arrival-rate`, or remove `rate`";
        return Err(Problem::new(executor.at, what, fix));
    }
    if executor.kind.ends_with("arrival-rate")
        && settings.vus.is_none()
        && !executor.options.contains_key("preAllocatedVUs")
    {
        let what = "an arrival rate of a script needs preallocated virtual users";
        return Err(Problem::new(executor.at, what, "write `vus: 50`"));
    }
    Ok(executor)
}

fn no_executor(settings: &Settings) -> Result<(), Problem> {
    match &settings.executor {
        Some(executor) => Err(Problem::new(
            executor.at,
            format!("{} has no executors", settings.front.name()),
            "remove `executor`, or use a script",
        )),
        None => Ok(()),
    }
}

fn bench_load(
    settings: &Settings,
    words: &mut Vec<String>,
    length: Option<Duration>,
    ramp: Option<Duration>,
) -> Result<Vec<String>, Problem> {
    no_executor(settings)?;
    take_load(settings, words, length.is_some())?;
    let mut load: Vec<String> = Vec::new();
    let thresholds = settings.thresholds.iter();
    let thresholds = thresholds.flat_map(|condition| option("--threshold", &condition));
    if let Some(ramp) = ramp {
        let length = length.ok_or_else(|| ramp_wants(settings))?;
        let rate = settings
            .rate
            .as_ref()
            .map(|rate| format!("{}/s", rate.per_second));
        let target = rate
            .clone()
            .or_else(|| settings.vus.map(|vus| vus.to_string()))
            .ok_or_else(|| ramp_wants(settings))?;
        load.extend(option(
            "--stages",
            &legs(ramp, length, &target, duration::text).join(","),
        ));
        if let (Some(_), Some(vus)) = (rate, settings.vus) {
            load.extend(option("-c", &vus));
        }
    } else {
        load.extend(settings.vus.iter().flat_map(|vus| option("-c", vus)));
        let rate = settings.rate.iter();
        load.extend(rate.flat_map(|rate| option("-r", &rate.text)));
        load.extend(
            length
                .iter()
                .flat_map(|span| option("-z", &duration::text(*span))),
        );
    }
    load.extend(thresholds);
    Ok(load)
}

fn no_ramp(settings: &Settings, ramp: Option<Duration>) -> Result<(), Problem> {
    if ramp.is_none() {
        return Ok(());
    }
    let what = format!("{} cannot ramp", settings.front.name());
    Err(Problem::new(
        settings.phases_at(),
        what,
        "remove `ramp`, or use bench or a script",
    ))
}

fn hey_load(
    settings: &Settings,
    words: &mut Vec<String>,
    length: Option<Duration>,
    ramp: Option<Duration>,
) -> Result<Vec<String>, Problem> {
    no_executor(settings)?;
    no_ramp(settings, ramp)?;
    no_thresholds(settings, "hey has none")?;
    // hey's rate is per worker; it has 50 by default.
    let workers = match settings.vus {
        Some(vus) => vus as f64,
        None => peek(words, HEY.style, HEY.vus)
            .and_then(|text| text.parse().ok())
            .unwrap_or(50.0),
    };
    take_load(settings, words, length.is_some())?;
    let mut load: Vec<String> = Vec::new();
    load.extend(settings.vus.iter().flat_map(|vus| option("-c", vus)));
    let rate = settings.rate.iter();
    load.extend(rate.flat_map(|rate| option("-q", &(rate.per_second / workers))));
    load.extend(length.iter().flat_map(|span| option("-z", &go_span(*span))));
    Ok(load)
}

fn bombardier_load(
    settings: &Settings,
    words: &mut Vec<String>,
    length: Option<Duration>,
    ramp: Option<Duration>,
) -> Result<Vec<String>, Problem> {
    no_executor(settings)?;
    no_ramp(settings, ramp)?;
    no_thresholds(settings, "bombardier has none")?;
    take_load(settings, words, length.is_some())?;
    let mut load: Vec<String> = Vec::new();
    load.extend(settings.vus.iter().flat_map(|vus| option("-c", vus)));
    if let Some(rate) = &settings.rate {
        if rate.per_second.fract() != 0.0 {
            let fix = "write a whole number per second";
            return Err(Problem::new(rate.at, "bombardier's rate is whole", fix));
        }
        load.extend(option("-r", &rate.per_second));
    }
    load.extend(length.iter().flat_map(|span| option("-d", &go_span(*span))));
    Ok(load)
}

/// A plan has the row's load in properties, and so the row's environment: what is in it no command line shows.
fn plan_load(
    settings: &Settings,
    length: Option<Duration>,
    ramp: Option<Duration>,
    has_target: bool,
) -> Result<Vec<String>, Problem> {
    no_executor(settings)?;
    let seconds = |span: Duration| span.as_secs_f64().ceil().to_string();
    let vus = settings.vus.map(|vus| vus.to_string());
    let rate = settings.rate.as_ref();
    let properties = [
        ("vus", vus.clone()),
        ("threads", vus),
        ("rate", rate.map(|rate| rate.per_second.to_string())),
        ("duration", length.map(seconds)),
        ("ramp", ramp.map(seconds)),
    ];
    let set = properties
        .into_iter()
        .filter_map(|(name, value)| Some(format!("-J{name}={}", value?)));
    let conditions = settings.thresholds.iter();
    let conditions = conditions.flat_map(|condition| option("--threshold", condition));
    let of_env = properties_of_env(settings, has_target);
    Ok(set.chain(of_env).chain(conditions).collect())
}

/// The words that make properties of the row's environment, where the front end is a plan.
fn properties_of_env(settings: &Settings, has_target: bool) -> Vec<String> {
    if !matches!(settings.front, Front::Plan { .. }) {
        return Vec::new();
    }
    let target = has_target && !settings.env.contains_key(TARGET_VARIABLE);
    let target = target.then_some(TARGET_VARIABLE);
    let names = settings.env.keys().map(String::as_str).chain(target);
    names
        .flat_map(|name| option("--property-env", &name))
        .collect()
}

/// What the row and its command line say about the load.
#[must_use]
pub fn said(settings: &Settings) -> Said {
    let options = settings.front.options();
    let words = settings.front.arguments();
    let of = |names: Names| match names {
        [] => None,
        names => peek(words, options.style, names),
    };
    let length = settings.length().is_some();
    let ramp = settings.phases.ramp.zip(settings.length());
    let target = settings.rate.as_ref().map(|rate| rate.text.clone());
    let target = target.or_else(|| settings.vus.map(|vus| vus.to_string()));
    let stages = ramp.zip(target).map(|((ramp, length), target)| {
        let legs = legs(ramp, length, &target, duration::text);
        legs.join(", ")
    });
    let written = settings.duration.as_ref().map(|(text, _)| text.clone());
    let duration = match (&settings.phases.steady, written) {
        (Some(_), _) | (None, None) => settings.length().map(duration::text),
        (None, written) => written,
    };
    Said {
        users: settings
            .vus
            .map(|vus| vus.to_string())
            .or_else(|| of(options.vus)),
        rate: settings
            .rate
            .as_ref()
            .map(|rate| rate.text.clone())
            .or_else(|| of(options.rate)),
        duration: duration.or_else(|| of(options.duration)),
        requests: of(options.requests).filter(|_| !length),
        stages: stages.or_else(|| of(options.stages).filter(|_| !length)),
        executor: settings
            .executor
            .as_ref()
            .map(|executor| executor.kind.clone()),
    }
}
