//! Problems that JMeter silently ignores but a user would want to know before the run: invalid numbers, missing
//! files, requests without a host, results that cannot be written.
//!
//! Must not know how a plan is run. Invariant: there are no findings about what is only known during the test.

use loadline_jmeter::parts::{Became, Part};
use loadline_jmeter::tree::Properties;
use loadline_steps::program::{NodeKind, Program, SamplerAction};
use loadline_steps::scope::Scope;
use loadline_steps::text::Text;

use super::named_files;
use super::plan_file::warn;
use super::world::World;

/// Maximum number of samplers named individually; the rest are counted.
const NAMED_MAX: usize = 10;

/// A likely mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The names of the parent elements and of the element.
    pub(crate) path: String,
    /// The problem.
    pub(crate) what: String,
}

/// Examines a plan, and reports the findings to the user.
pub(crate) fn tell(parts: &[Part<'_>], program: &Program, scope: &mut Scope<'_>, world: &World) {
    for found in find(parts, program, scope, world) {
        warn(world, &format!("{}: {}", found.path, found.what));
    }
}

/// Examines a plan.
pub(crate) fn find(
    parts: &[Part<'_>],
    program: &Program,
    scope: &mut Scope<'_>,
    world: &World,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for part in enabled(parts) {
        for (name, what) in NUMBERS {
            numbers(part, name, what, scope, &mut found);
        }
        endless(part, scope, &mut found);
    }
    for file in named_files::of(parts, scope, world) {
        if !file.is_there {
            let what = match file.is_written {
                true => "cannot be written: its directory cannot be created",
                false => "is missing",
            };
            found.push(Finding {
                what: format!("the file {:?} {what}", file.file),
                path: file.path,
            });
        }
    }
    hosts(program, scope, &mut found);
    found
}

/// The numbers of groups that JMeter treats as 0 if they are invalid.
const NUMBERS: &[(&str, &str)] = &[
    ("ThreadGroup.num_threads", "its number of threads"),
    ("ThreadGroup.ramp_time", "its ramp"),
    ("LoopController.loops", "its number of loops"),
];

/// The parts that are not disabled.
pub(super) fn enabled<'p, 'a>(parts: &'p [Part<'a>]) -> impl Iterator<Item = &'p Part<'a>> {
    let runs = |part: &&Part<'_>| !matches!(part.became, Became::Disabled);
    parts.iter().filter(runs)
}

fn numbers(
    part: &Part<'_>,
    name: &str,
    what: &str,
    scope: &mut Scope<'_>,
    found: &mut Vec<Finding>,
) {
    if !part.element.class.ends_with("ThreadGroup") {
        return;
    }
    let main = part.element.group("ThreadGroup.main_controller");
    let text = part.element.find_text(name);
    let Some(value) = text
        .or_else(|| main.find_text(name))
        .and_then(|text| known(text, scope))
    else {
        return;
    };
    if value.trim().parse::<i64>().is_err() {
        found.push(Finding {
            path: part.path.clone(),
            what: format!("{what} is {value:?}, which is not a number and counts as 0"),
        });
    }
}

/// A number of loops that is ignored: without the property, a group continues forever.
fn endless(part: &Part<'_>, scope: &mut Scope<'_>, found: &mut Vec<Finding>) {
    let group = part.element;
    let main = group.group("ThreadGroup.main_controller");
    let is_told = main.find_text("LoopController.continue_forever").is_some();
    if is_told || group.is_true("ThreadGroup.scheduler") {
        return;
    }
    let loops = main
        .find_text("LoopController.loops")
        .and_then(|text| known(text, scope));
    if let Some(loops) = loops.and_then(|text| text.trim().parse::<u32>().ok()) {
        found.push(Finding {
            path: part.path.clone(),
            what: format!(
                "runs forever, not {loops} loops: JMeter counts them only where LoopController.continue_forever is false"
            ),
        });
    }
}

/// Requests without a host.
fn hosts(program: &Program, scope: &mut Scope<'_>, found: &mut Vec<Finding>) {
    let mut without = Vec::new();
    for group in &program.groups {
        for node in &group.nodes {
            let NodeKind::Sampler(sampler) = &node.kind else {
                continue;
            };
            let SamplerAction::Http(http) = &sampler.action else {
                continue;
            };
            let is_whole_url = http.request.path.source().trim_start().starts_with("http");
            let host = known(http.request.domain.source(), scope);
            if !is_whole_url && host.is_some_and(|host| host.trim().is_empty()) {
                without.push(format!("{} > {}", group.name, node.name.source()));
            }
        }
    }
    let count = without.len();
    for path in without.into_iter().take(NAMED_MAX) {
        let what = "the request has no host, so it will fail: set it in its defaults, or with --host of loadline run";
        found.push(Finding {
            path,
            what: what.to_owned(),
        });
    }
    if count > NAMED_MAX {
        found.push(Finding {
            path: program.name.clone(),
            what: format!("{} more requests have no host", count - NAMED_MAX),
        });
    }
}

/// The value of a text, if it is known before the run.
pub(crate) fn known(source: &str, scope: &mut Scope<'_>) -> Option<String> {
    let text = Text::parse(source).ok()?;
    let value = text.evaluate(scope).into_owned();
    (text.constant().is_some() || !value.contains("${")).then_some(value)
}
