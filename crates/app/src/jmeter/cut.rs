//! The parts of a plan that agents cannot divide as one process would run them: those that are refused, and
//! those that each agent does on its own.
//!
//! Must not know how agents are reached. Invariant: whatever would be another test on several processes is
//! reported before anything is sent.

use loadline_jmeter::parts::{Became, Part};
use loadline_jmeter::tree::{Property, Value};
use loadline_model::ThreadGroup;
use loadline_run::steps::GroupTimes;
use loadline_steps::listener::Listener;
use loadline_steps::program::{
    Applicable, Controller, ControllerRule, DataSource, Group, NodeKind, Program, ThroughputMode,
    Timer,
};
use loadline_steps::scope::Scope;
use loadline_steps::text::Text;

use super::plan_file::warn;
use super::world::World;
use crate::Ending;

/// Functions in texts of plans that act on all threads of one process, with the reason why agents cannot divide
/// them.
const WORDS_REFUSED: [(&str, &str); 3] = [
    (
        "__StringFromFile(",
        "each agent would read the file from its beginning",
    ),
    ("__XPath(", "each agent would start with the first node"),
    ("__tstFeedback(", "no agent knows what the others do"),
];
/// The same for those that each agent does on its own.
const WORDS_SAID: [(&str, &str); 2] = [
    (
        "__setProperty(",
        "other agents see it only from the next phase on",
    ),
    (
        "props.put",
        "other agents see it only from the next phase on",
    ),
];

/// The class of groups that end before the others start: properties that they set are then known to all agents.
const SET_UP: &str = "SetupThreadGroup";

/// The findings, each with the name of its element.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cut {
    /// What cannot be divided.
    refused: Vec<String>,
    /// What each agent does on its own.
    said: Vec<String>,
}

/// Refuses what this number of agents cannot divide, and reports what each does on its own.
///
/// # Errors
/// What cannot be divided, by name.
pub(super) fn check(
    (parts, program, times): (&[Part<'_>], &Program, &[GroupTimes]),
    agents: u32,
    scope: &mut Scope<'_>,
    world: &World,
) -> Result<(), Ending> {
    let cut = Cut::new(parts, program, times, agents, scope);
    if !cut.refused.is_empty() {
        let what = cut.refused.iter().map(|one| format!("\n  {one}"));
        let what: String = what.collect();
        return Err(Ending::usage(&format!(
            "--agents: parts of the plan cannot be split over agents:{what}\nrun it without --agents, or without these"
        )));
    }
    for what in &cut.said {
        warn(world, &format!("--agents: {what}"));
    }
    Ok(())
}

impl Cut {
    /// Examines a plan for this number of agents.
    fn new(
        parts: &[Part<'_>],
        program: &Program,
        times: &[GroupTimes],
        agents: u32,
        scope: &mut Scope<'_>,
    ) -> Cut {
        let mut cut = Cut::default();
        let groups = program.groups.iter().zip(times);
        let groups = groups.filter(|(_, times)| times.shape.threads_max() > 0);
        for (group, times) in groups {
            let mut look = Look {
                cut: &mut cut,
                group,
                shape: &times.shape,
                agents,
            };
            look.group(scope);
        }
        for listener in &program.listeners {
            if let Listener::Saver(saver) = listener {
                let what = "responses are saved on the disk of the agent that got them";
                cut.said.push(format!("{}…: {what}", saver.prefix.source()));
            }
        }
        cut.words(parts);
        cut
    }

    /// Searches the texts of the elements that run.
    fn words(&mut self, parts: &[Part<'_>]) {
        // The depth of the setUp group that contains the element.
        let mut set_up = None;
        for part in parts {
            set_up = match part.element.class.as_str() {
                SET_UP => Some(part.depth),
                _ => set_up.filter(|depth| part.depth > *depth),
            };
            if !matches!(part.became, Became::Runs) {
                continue;
            }
            let has = |word: &str| has_word(&part.element.properties, word);
            for (word, why) in WORDS_REFUSED.iter().filter(|(word, _)| has(word)) {
                self.refused.push(format!("{}: {word}…): {why}", part.path));
            }
            if set_up.is_some() {
                continue;
            }
            for (word, why) in WORDS_SAID.iter().filter(|(word, _)| has(word)) {
                self.said.push(format!("{}: {word}…: {why}", part.path));
            }
        }
    }
}

/// The examination of a group.
struct Look<'a> {
    cut: &'a mut Cut,
    group: &'a Group,
    shape: &'a ThreadGroup,
    agents: u32,
}

impl Look<'_> {
    fn group(&mut self, scope: &mut Scope<'_>) {
        let group = self.group;
        for node in &group.nodes {
            let name = node.name.source();
            match &node.kind {
                NodeKind::Controller(controller) => {
                    self.controller(name, controller);
                    self.applies(name, &controller.applies, scope);
                }
                NodeKind::Sampler(sampler) => self.applies(name, &sampler.applies, scope),
            }
        }
    }

    fn refuse(&mut self, name: &str, why: &str) {
        let what = format!("{} > {name}: {why}", self.group.name);
        push(&mut self.cut.refused, what);
    }

    fn say(&mut self, name: &str, what: &str) {
        let what = format!("{} > {name}: {what}", self.group.name);
        push(&mut self.cut.said, what);
    }

    fn controller(&mut self, name: &str, controller: &Controller) {
        match &controller.rule {
            ControllerRule::Throughput {
                is_percent: false,
                per_thread: false,
                ..
            } => self.refuse(
                name,
                "total executions are counted over all threads; count them per user, or give a percentage",
            ),
            ControllerRule::Throughput {
                is_percent: true,
                per_thread: false,
                ..
            } => self.say(name, "the percentage is kept by each agent over its own threads"),
            ControllerRule::Interleave {
                across_threads: true,
                ..
            } => self.say(name, "the threads of each agent take turns for themselves"),
            ControllerRule::Critical(_) => {
                self.say(name, "only locks out threads of the same agent");
            }
            _ => {}
        }
        for source in &controller.at_pass {
            if let DataSource::RandomCsv(csv) = source
                && !(csv.per_thread && csv.is_random)
            {
                self.refuse(
                    csv.lines.file.source(),
                    "a Random CSV Data Set draws for all threads; give each thread its own order (independent list per thread)",
                );
            }
        }
    }

    fn applies(&mut self, name: &str, applies: &Applicable, scope: &mut Scope<'_>) {
        for timer in &applies.timers {
            self.timer(name, timer, scope);
        }
    }

    fn timer(&mut self, name: &str, timer: &Timer, scope: &mut Scope<'_>) {
        match timer {
            Timer::Precise(_) => self.refuse(
                name,
                "a Precise Throughput Timer draws its instants for all threads; use a Constant Throughput Timer",
            ),
            Timer::Shaping(_) => self.refuse(
                name,
                "a Throughput Shaping Timer shapes all threads; use a Free-Form Arrivals Thread Group",
            ),
            Timer::ConstantThroughput { mode, .. }
                if *mode != ThroughputMode::ThisThread && self.least() == 0 =>
            {
                let why = "a Constant Throughput Timer over several threads gives each agent its part of the rate, and not every \
                           agent has a thread; take fewer agents";
                self.refuse(name, why);
            }
            Timer::Synchronizing {
                size, timeout_ms, ..
            } => {
                let number = |text: &Text, scope: &mut Scope<'_>| {
                    loadline_java::numbers::long_or_zero(&text.evaluate(scope))
                };
                let (size, timeout_ms) = (number(size, scope), number(timeout_ms, scope));
                if size > i64::from(self.least()) && timeout_ms <= 0 {
                    let why = format!(
                        "a Synchronizing Timer would wait for {size} threads forever: an agent has {} of the group",
                        self.least()
                    );
                    return self.refuse(name, &why);
                }
                self.say(name, "a Synchronizing Timer only gathers threads of the same agent");
            }
            _ => {}
        }
    }

    /// Threads of the group on the agent with the fewest.
    fn least(&self) -> u32 {
        self.shape.threads_max() / self.agents.max(1)
    }
}

fn push(list: &mut Vec<String>, what: String) {
    if !list.contains(&what) {
        list.push(what);
    }
}

/// Whether a text of the properties contains a word.
fn has_word(properties: &[Property], word: &str) -> bool {
    properties.iter().any(|property| match &property.value {
        Value::Text(text) => text.contains(word),
        Value::Group(inner) => has_word(inner, word),
    })
}
